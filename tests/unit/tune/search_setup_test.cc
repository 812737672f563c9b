// What a search was begun with, stored in its directory and read from an untrusted one.
#include "groma/search_setup.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>

#include "support/temporary_folder.h"
#include "support/tune_round.h"

namespace groma {
namespace {

using test::TemporaryFolder;
using ::testing::ElementsAre;
using testing::FakeEvaluator;
using ::testing::HasSubstr;

class NoProposals : public tuning::Proposer {
 public:
  std::string_view name() const override { return "none"; }
  std::vector<tuning::Proposal> propose(tuning::SearchRound& /*round*/) override { return {}; }
};

tuning::SearchSetup of_application() {
  tuning::SearchSetup setup;
  setup.apps = {"cannon:size=small"};
  setup.proposer = "guided";
  return setup;
}

TEST(SearchSetup, IsTheSameAfterItWasStored) {
  tuning::SearchSetup setup;
  setup.machine = "a\nb\\n \\\\ c";
  setup.files = {"text.cc", "tile.h"};
  setup.hardware = "one core\nslow";
  setup.knowledge = {"notes.md"};
  setup.about = "two\nlines";
  setup.command.command = "make {file} && \\";
  setup.command.check_command = "true\n";
  setup.command.inputs = {"x y", "", "back\\slash\n"};
  setup.command.metric_pattern = "(.*)";
  setup.command.unit = "";
  setup.command.higher_is_better = true;
  setup.command.repeats = 7;
  setup.command.folder = "/tmp";
  setup.override_layouts.tasks = {"*"};
  setup.compare_results = false;
  setup.results.same = {"^a", "b$"};
  setup.results.tolerance = 1e-7;
  setup.budget.seconds = 0.1;
  setup.seed = 18446744073709551615U;
  setup.ask.temperature = 0.375;
  const std::string text = to_text(setup);
  const auto read = tuning::search_setup(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(to_text(*read), text);
  EXPECT_EQ(read->machine, setup.machine);
  EXPECT_EQ(read->command.inputs, setup.command.inputs);
  EXPECT_EQ(read->command.unit, "");
  EXPECT_FALSE(read->compare_results);
  EXPECT_THAT(read->results.same, ElementsAre("^a", "b$"));
  EXPECT_EQ(read->results.tolerance, 1e-7);
  EXPECT_EQ(read->seed, setup.seed);
  EXPECT_EQ(read->ask.temperature, 0.375);
  EXPECT_FALSE(tuning::search_setup(to_text(of_application()))->ask.temperature);
}

TEST(SearchSetup, AnyOtherTextIsRefused) {
  const std::string good = to_text(of_application());
  EXPECT_TRUE(tuning::search_setup(good).ok());
  for (const std::string line :
       {"unknown 1", "repeats many", "repeats 3x", "repeats", "on elsewhere", "checks sometimes",
        "compare 2", "feedback everything", "", "seed -1"}) {
    const auto read = tuning::search_setup(good + line + "\n");
    ASSERT_FALSE(read.ok()) << line;
    EXPECT_EQ(read.error().code, Error::Code::kMalformed);
    EXPECT_EQ(read.error().message, "what the search was begun with cannot be read");
  }
  for (const std::string& text :
       {std::string(), good + "file a.cc\n", std::string("on legion\n")}) {
    EXPECT_EQ(tuning::search_setup(text).error().message,
              "the search was not begun by `groma tune`");
  }
  EXPECT_EQ(tuning::search_setup("file a.cc\n").error().message,
            "the search has a text, but no command");
  EXPECT_EQ(tuning::search_setup(good + "pareto 1\n").error().message,
            "the search has a Pareto front, but only one input");
  EXPECT_TRUE(tuning::search_setup(good + "app cannon\npareto 1\n")->pareto);
}

TEST(SearchSetup, CountsTheInputs) {
  tuning::SearchSetup setup = of_application();
  EXPECT_EQ(setup.input_count(), 1U);
  setup.apps.emplace_back("cannon");
  EXPECT_EQ(setup.input_count(), 2U);
  // The command runs once for all applications.
  setup.command.command = "measure {file}";
  EXPECT_EQ(setup.input_count(), 1U);
  setup.command.inputs = {"1", "2", "3"};
  EXPECT_EQ(setup.input_count(), 3U);
}

TEST(StoredSearch, IsReadFromADirectory) {
  const TemporaryFolder folder;
  EXPECT_EQ(tuning::stored_search(folder.path()).error().message,
            "there is no search in `" + folder.path() + "`");
  tuning::SearchProblem problem;
  problem.start = "1";
  FakeEvaluator evaluator([](const std::string&) { return 1.0; });
  tuning::TuneOptions options;
  options.directory = folder.path() + "/found";
  options.fingerprint = to_text(of_application());
  options.budget.evaluations = 1;
  NoProposals proposer;
  ASSERT_TRUE(tuning::tune(problem, evaluator, proposer, nullptr, nullptr, options).ok());
  const auto stored = tuning::stored_search(options.directory);
  ASSERT_TRUE(stored.ok()) << stored.error().message;
  EXPECT_EQ(stored->start, "1");
  EXPECT_EQ(stored->fingerprint, options.fingerprint);
  EXPECT_THAT(stored->setup.apps, ElementsAre("cannon:size=small"));
  std::filesystem::create_symlink("elsewhere", options.directory + "/verified.mapper");
  EXPECT_THAT(tuning::stored_search(options.directory).error().message,
              HasSubstr("has a link for its `verified.mapper`"));
}

TEST(StoredSearch, CommandsNeedTrust) {
  tuning::StoredSearch search{"found", of_application(), {}, {}};
  EXPECT_FALSE(tuning::needs_trust(search));
  search.setup.command.command = "rm -r {input}\x1b";
  search.setup.command.inputs = {"a", "b"};
  search.setup.command.folder = "/home";
  const auto error = tuning::needs_trust(search);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message,
            "the search in `found` runs `rm -r {input}\\u001b` with `a`, `b` in `/home`");
  EXPECT_THAT(error->help, HasSubstr("--trust"));
  search.setup.command.command.clear();
  search.setup.on_legion = true;  // a Legion program runs, with flags of the directory
  EXPECT_TRUE(tuning::needs_trust(search));
}

TEST(StoredSearch, InputsAreFilesThatEnd) {
  const TemporaryFolder folder;
  tuning::StoredSearch search{"found", of_application(), {}, {}};
  search.setup.command.folder = folder.path();
  folder.write("app.json", "{}");
  ASSERT_EQ(mkfifo((folder.path() + "/pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder.path() + "/zero.json");
  for (const char* good : {"cannon", "cannon:n=64", "app.json", "app.json:n=64", "absent.json"}) {
    search.setup.apps = {good};
    EXPECT_FALSE(tuning::never_ending_input(search)) << good;
  }
  for (const char* bad :
       {"-", "-:n=64", "pipe", "pipe:n=64", "zero.json", "/dev/zero", "/proc/self/environ:n=1"}) {
    search.setup.apps = {"cannon", bad};
    const auto error = tuning::never_ending_input(search);
    ASSERT_TRUE(error) << bad;
    EXPECT_THAT(error->message, HasSubstr("the search in `found` has no file for `"));
  }
  search.setup.apps = {"cannon"};
  search.setup.machine = "-";
  EXPECT_TRUE(tuning::never_ending_input(search));
}

}  // namespace
}  // namespace groma
