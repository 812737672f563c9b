// The Pareto front of a search: its outcome, its files, its report, and that a resumed search has
// the same front.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "groma/evaluators.h"
#include "groma/pareto_front.h"
#include "support/files.h"
#include "support/temporary_folder.h"
#include "support/tune_round.h"

namespace groma {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::read_text;
using testing::without_times;

// A text is two numbers, its values for two inputs. A text that begins with "fail" fails.
class TwoInputs : public testing::FakeEvaluator {
 public:
  TwoInputs() : FakeEvaluator([](const std::string&) { return -1.0; }) {}
  std::vector<std::string> inputs() const override { return names; }
  int parallel() const override { return 4; }
  tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
    if (request.text.starts_with("fail")) return FakeEvaluator::evaluate(request);
    tuning::Evaluation made;
    made.status = tuning::Evaluation::Status::kOk;
    made.values.resize(2);
    std::istringstream(request.text) >> made.values[0] >> made.values[1];
    made.score = tuning::geometric_mean(made.values);
    made.noise = noise;
    return made;
  }

  std::vector<std::string> names = {"small", "large"};
  double noise = 0;
};

// Proposes these texts, three in a round.
class ListedTexts : public tuning::Proposer {
 public:
  explicit ListedTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {}
  std::string_view name() const override { return "listed"; }
  std::vector<tuning::Proposal> propose(tuning::SearchRound&) override {
    std::vector<tuning::Proposal> round;
    for (; next_ < texts_.size() && round.size() < 3; ++next_) round.push_back({texts_[next_], ""});
    return round;
  }

 private:
  std::vector<std::string> texts_;
  std::size_t next_ = 0;
};

// Step 1 is the start. Steps 2, 4, 8 and 9 join the front; 9 makes 4 leave.
const std::vector<std::string> kTexts = {"2 9",  "5 7", "4 4", "fail", "2 9",
                                         "4 4 ", "9 1", "4 3", "4 5"};

tuning::TuneOptions options_in(const std::string& directory) {
  tuning::TuneOptions options;
  options.pareto = true;
  options.directory = directory;
  return options;
}

Result<tuning::TuneOutcome> search(const tuning::TuneOptions& options, double noise = 0) {
  tuning::SearchProblem problem;
  problem.start = "5 5";
  TwoInputs evaluator;
  evaluator.noise = noise;
  ListedTexts proposer(kTexts);
  return tuning::tune(problem, evaluator, proposer, nullptr, nullptr, options);
}

std::vector<std::int64_t> numbers(const tuning::TuneOutcome& outcome) {
  std::vector<std::int64_t> all;
  for (const tuning::Step& step : outcome.front) all.push_back(step.number);
  return all;
}

// Returns the files of the front, by name.
std::map<std::string, std::string> files(const std::string& directory) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::directory_iterator(directory + "/front")) {
    all[entry.path().filename().string()] = read_text(entry.path().string());
  }
  return all;
}

const std::map<std::string, std::string> kFiles = {
    {"2.txt", "2 9"}, {"8.txt", "9 1"}, {"9.txt", "4 3"}};

TEST(Front, HoldsWhatNothingElseBeats) {
  const TemporaryFolder folder;
  tuning::TuneOptions options = options_in(folder.path() + "/search");
  std::vector<std::int64_t> joined;
  options.on_event = [&](const tuning::TuneEvent& event) {
    EXPECT_EQ(to_json(event).find("\"front\":true") != std::string::npos, event.in_front);
    if (event.in_front) joined.push_back(event.step->number);
  };
  const auto outcome = search(options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(joined, ElementsAre(1, 2, 4, 8, 9));
  EXPECT_THAT(numbers(*outcome), ElementsAre(2, 9, 8));
  EXPECT_EQ(files(options.directory), kFiles);
  EXPECT_THAT(to_json(*outcome), HasSubstr("\"front\":[{\"number\":2,\"score\":"));
  EXPECT_THAT(to_json(*outcome), HasSubstr(",\"values\":[9.0,1.0],\"text\":\"9 1\"}]"));
}

TEST(Front, IsATableInTheReport) {
  const TemporaryFolder folder;
  const tuning::TuneOptions options = options_in(folder.path() + "/search");
  const auto outcome = search(options);
  ASSERT_TRUE(outcome.ok());
  const std::string table =
      "front  3 texts that no other one beats on all inputs\n"
      "       step  small  large  mean\n"
      "          1  5 s    5 s    5 s      start, not one of them\n"
      "          2  2 s    9 s    4.243 s\n"
      "          9  4 s    3 s    3.464 s\n"
      "          8  9 s    1 s    3 s      best\n";
  TwoInputs evaluator;
  EXPECT_EQ(tuning::draw_front(*outcome, evaluator), table);
  EXPECT_THAT(read_text(options.directory + "/report.txt"), HasSubstr(table));
  evaluator.names = {"small", "an input with a long name\x1b"};
  EXPECT_THAT(tuning::draw_front(*outcome, evaluator),
              AllOf(HasSubstr("step  input 1  input 2  mean\n"),
                    HasSubstr("       input 1: small\n"
                              "       input 2: an input with a long name\\u001b\n")));
}

TEST(Front, ADifferenceWithinTheNoiseAddsNothing) {
  const auto outcome = search(options_in(""), 0.15);
  ASSERT_TRUE(outcome.ok());
  // A text must be 30 % better on one input than each text of the front, or 15 % in the score. So
  // step 9 does not join beside step 4.
  EXPECT_THAT(numbers(*outcome), ElementsAre(2, 4, 8));
}

TEST(Front, ChangesNothingInTheSearch) {
  const TemporaryFolder folder;
  tuning::TuneOptions options = options_in(folder.path() + "/with");
  ASSERT_TRUE(search(options).ok());
  options.directory = folder.path() + "/without";
  options.pareto = false;
  const auto outcome = search(options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(outcome->front, IsEmpty());
  EXPECT_THAT(to_json(*outcome), Not(HasSubstr("front")));
  EXPECT_FALSE(fs::exists(options.directory + "/front"));
  EXPECT_THAT(read_text(options.directory + "/report.txt"), Not(HasSubstr("front")));
  EXPECT_EQ(without_times(read_text(folder.path() + "/with/journal.jsonl")),
            without_times(read_text(folder.path() + "/without/journal.jsonl")));
  // The front may be asked for later.
  options.pareto = options.resume = true;
  EXPECT_THAT(numbers(*search(options)), ElementsAre(2, 9, 8));
  EXPECT_EQ(files(options.directory), kFiles);
}

TEST(Front, IsTheSameForAnyNumberOfThreads) {
  for (const int threads : {1, 2, 4}) {
    tuning::TuneOptions options = options_in("");
    options.threads = threads;
    const auto outcome = search(options);
    ASSERT_TRUE(outcome.ok());
    EXPECT_THAT(numbers(*outcome), ElementsAre(2, 9, 8)) << threads;
  }
}

// Whatever line of its journal the killed search had reached, and whatever it left in the folder.
TEST(Front, IsTheSameAfterTheSearchWasKilledAnywhere) {
  const TemporaryFolder folder;
  tuning::TuneOptions options = options_in(folder.path() + "/search");
  ASSERT_TRUE(search(options).ok());
  const std::string journal = read_text(options.directory + "/journal.jsonl");
  options.resume = true;
  std::size_t resumed = 0;
  for (std::size_t end = 0; (end = journal.find('\n', end)) != std::string::npos; ++end) {
    options.directory = folder.path() + "/resumed." + std::to_string(end);
    fs::create_directories(options.directory + "/front");
    // A half-written line follows the whole ones.
    const std::string half = journal.substr(end + 1, 5);
    folder.write(options.directory.substr(folder.path().size() + 1) + "/journal.jsonl",
                 journal.substr(0, end + 1) + half);
    for (const char* name : {"4.txt", "77.txt", "9.txt.groma-abc123"}) {
      std::ofstream(options.directory + "/front/" + name) << "old";
    }
    const auto outcome = search(options);
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    EXPECT_THAT(numbers(*outcome), ElementsAre(2, 9, 8)) << end;
    EXPECT_EQ(files(options.directory), kFiles) << end;
    ++resumed;
  }
  EXPECT_GT(resumed, 10U);
}

TEST(Front, KeepsFilesOfTheUser) {
  const TemporaryFolder folder;
  const tuning::TuneOptions options = options_in(folder.path());
  fs::create_directory(folder.path() + "/front");
  auto all = kFiles;
  for (const char* name : {"notes", "4.mapper", "4.txt.backup", "a4.txt"}) {
    folder.write(std::string("front/") + name, all[name] = "mine");
  }
  ASSERT_TRUE(search(options).ok());
  EXPECT_EQ(files(folder.path()), all);
}

TEST(Front, IsNotWrittenThroughALink) {
  const TemporaryFolder folder, elsewhere;
  elsewhere.write("77.txt", "mine");
  fs::create_directory_symlink(elsewhere.path(), folder.path() + "/front");
  const auto outcome = search(options_in(folder.path()));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().message, "`" + folder.path() + "/front` is not a directory");
  EXPECT_EQ(read_text(elsewhere.path() + "/77.txt"), "mine");
  EXPECT_FALSE(fs::exists(elsewhere.path() + "/1.txt"));
}

}  // namespace
}  // namespace groma
