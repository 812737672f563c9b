// groma write as a user runs it. Shell commands and a recording answer in place of a model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "command/run.h"

namespace groma {
namespace {

using nlohmann::json;
using test::Outcome;
using test::run;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kSentence =
    "'Place ghost/shared regions (rp_shared and rp_ghost) onto GPU zero-copy memory'";
// The arguments of the example in docs/commands.md.
const std::string kExample = "groma write " + kSentence + " --app circuit";
const std::string kGood =
    " --endpoint 'exec:cat > /dev/null; echo \"Task * GPU, CPU;\"' --app circuit:size=small ";
const std::string kBad =
    " --endpoint 'exec:cat > /dev/null; echo \"Task * GPU;\"' --app circuit:size=small ";

// With GROMA_UPDATE=1 the recording is made anew. Run this test before Documents then, because the
// example in docs/commands.md replays the recording. A change of a prompt makes that necessary.
TEST(Write, TheRecordingOfTheDocumentIsCurrent) {
  const std::string recording = "docs/examples/write.jsonl";
  if (std::getenv("GROMA_UPDATE") != nullptr) {
    std::filesystem::remove(std::string(GROMA_SOURCE_DIR) + "/" + recording);
    const Outcome made = run(
        kExample + " --endpoint 'exec:sh tests/support/write_replies.sh' --record " + recording);
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  const Outcome replayed = run(kExample + " --replay " + recording);
  EXPECT_EQ(replayed.exit_code, 0);
  EXPECT_THAT(replayed.err,
              AllOf(HasSubstr("round 2 of at most 4, because the mapping has 1 error: unknown "
                              "memory kind `ZEROCOPY`\n"),
                    HasSubstr("(2 rounds, about ")));
}

TEST(Write, PrintsTheMappingAndSaysWhatItDecides) {
  const Outcome outcome = run("groma write 'All tasks onto GPUs' --machine p100x4:gpu=2" + kGood);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "# All tasks onto GPUs\n\nTask * GPU, CPU;\n");
  EXPECT_THAT(outcome.err,
              AllOf(StartsWith("This mapping decides for circuit on p100x4:gpu=2:\nTasks\n"),
                    HasSubstr("on each of 2 GPU"), HasSubstr("(1 round, about ")));
}

TEST(Write, ReadsTheSentenceFromStandardInput) {
  EXPECT_EQ(run("groma write -" + kGood, "two\nlines\n").out,
            "# two\n# lines\n\nTask * GPU, CPU;\n");
  EXPECT_EQ(run("groma write -" + kGood, " \n").exit_code, 1);
  EXPECT_THAT(run("groma write -" + kGood, std::string(20'000, 'x')).err, HasSubstr("16384"));
  EXPECT_EQ(run("groma write - --start -" + kGood, "x").exit_code, 2);
}

TEST(Write, WritesAFileThatDoesNotExistYet) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/my.mapper", to_file = " --output " + file;
  const Outcome made = run("groma write one" + kGood + to_file);
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.out, "");
  EXPECT_EQ(test::read_text(file), "# one\n\nTask * GPU, CPU;\n");
  const Outcome again = run("groma write two" + kGood + to_file);
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, AllOf(HasSubstr("exists already"), HasSubstr("help: --force replaces")));
  EXPECT_EQ(run("groma write two" + kGood + to_file + " --force").exit_code, 0);
  EXPECT_THAT(test::read_text(file), StartsWith("# two\n"));
  // A mapping with errors leaves the file as it is.
  EXPECT_EQ(run("groma write three --repairs 0" + kBad + to_file + " --force").exit_code, 1);
  EXPECT_THAT(test::read_text(file), StartsWith("# two\n"));
  EXPECT_EQ(run("groma write x" + kGood + to_file + " --force --start " + file).exit_code, 2);
}

TEST(Write, SaysWhyThereIsNoMapping) {
  const Outcome errors = run("groma write x --repairs 0" + kBad);
  EXPECT_EQ(errors.exit_code, 1);
  EXPECT_EQ(errors.out, "");
  EXPECT_THAT(errors.err, AllOf(StartsWith("<mapping>:3:1: error: `toplevel` can run on none"),
                                HasSubstr("groma: the model's last mapping has errors (1 round")));
  const Outcome prose =
      run("groma write x --repairs 1 --endpoint 'exec:cat > /dev/null; echo No.' --app cannon");
  EXPECT_EQ(prose.exit_code, 1);
  EXPECT_THAT(prose.err, HasSubstr("groma: the model wrote no mapping: "));
  const Outcome nobody = run("groma write x --app cannon --endpoint exec:false");
  EXPECT_EQ(nobody.exit_code, 1);
  EXPECT_THAT(nobody.err, StartsWith("groma: "));
}

TEST(Write, WithoutAnApplicationOnlyTheTextIsChecked) {
  const Outcome outcome =
      run("groma write x --endpoint 'exec:cat > /dev/null; echo \"Task a GPU;\"'");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "# x\n\nTask a GPU;\n");
  EXPECT_THAT(outcome.err, AllOf(StartsWith("Only the text of this mapping was checked."),
                                 HasSubstr("help: --app names the application")));
}

TEST(Write, PrintsOneJsonDocument) {
  const json good = json::parse(run("groma write x --json" + kGood).out);
  EXPECT_EQ(good["status"], "ok");
  EXPECT_EQ(good["mapping"], "# x\n\nTask * GPU, CPU;\n");
  EXPECT_EQ(good["decisions"]["machine"], "p100x4");
  const Outcome bad = run("groma write x --json --repairs 0" + kBad);
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_EQ(json::parse(bad.out)["status"], "invalid");
  const Outcome nobody = run("groma write x --json --endpoint http://user@example.com");
  EXPECT_EQ(nobody.exit_code, 1);
  EXPECT_EQ(json::parse(nobody.out)["status"], "error");
}

TEST(Write, RefusesWrongUsage) {
  for (const char* wrong : {"", "''", "x --repairs -1", "x --repairs many", "x --app ''",
                            "x --record a --replay b", "x --output ''", "x y"}) {
    EXPECT_EQ(run(std::string("groma write ") + wrong).exit_code, 2) << wrong;
  }
}

}  // namespace
}  // namespace groma
