// The parents of steps: what proposers say, what a journal holds, and what a resumed search makes
// of it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "groma/benchmarks.h"
#include "groma/evaluators.h"
#include "groma/proposers.h"
#include "support/files.h"
#include "support/temporary_folder.h"
#include "support/tune_round.h"
#include "tune/recorded.h"

namespace groma {
namespace {

using test::TemporaryFolder;
using ::testing::ElementsAre;
using testing::FakeEvaluator;
using testing::FakeRound;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::read_text;
using tuning::Json;
using Parents = std::vector<std::int64_t>;

tuning::SearchProblem stencil_problem() {
  tuning::SearchProblem problem;
  problem.machine = std::make_shared<const Machine>(make_machine("p100x4").value());
  problem.inputs.push_back(Workload::make(find_benchmark("stencil")->make()).value());
  return problem;
}

// A model that writes a different mapping for each request, and selects steps 1 and 2.
constexpr std::string_view kLineageModel = R"sh(
asked=$(cat)
n=$(printf %s "$asked" | cksum | cut -d' ' -f1)
case $asked in
  *'\"avenues\"'*)
    printf '{"experiments": [{"description": "a", "rubric": "", "gain": [1, 2], "innovation": 3},'
    printf ' {"description": "b", "rubric": "", "gain": [0, 9], "innovation": 2}]}' ;;
  *'\"base\"'*) printf '{"base": 2, "reference": 1}' ;;
  *) printf 'PLAN: number %s.\n```task\nTask * GPU, CPU;\nTask stencil CPU;\n```\n' "$n"
     printf '```limit\nInstanceLimit increment %s;\n```\n' "$((n % 1000 + 1))" ;;
esac
)sh";

// Runs searches for a mapping of stencil in a temporary folder.
class StencilSearch {
 public:
  StencilSearch() { folder_.write("model.sh", std::string(kLineageModel)); }

  // Returns the error of the search, or an empty text.
  std::string run(std::string_view proposer, std::int64_t evaluations, bool resume) {
    llm::ChatOptions chat;
    chat.endpoint = "exec:sh " + folder_.path() + "/model.sh";
    llm::ChatClient model = llm::ChatClient::make(chat).value();
    const auto evaluator = tuning::make_simulated_evaluator(problem_.machine, problem_.inputs);
    auto made = tuning::make_proposer(proposer, problem_, 5).value();
    tuning::TuneOptions options;
    options.budget.evaluations = evaluations;
    options.directory = directory();
    options.resume = resume;
    options.on_event = [this](const tuning::TuneEvent& event) {
      if (event.kind == tuning::TuneEvent::Kind::kEvaluated) events.push_back(to_json(event));
    };
    if (!resume) std::filesystem::remove_all(directory());
    const auto outcome = tuning::tune(problem_, *evaluator, *made, &model, nullptr, options);
    return outcome ? "" : outcome.error().message;
  }
  std::string directory() const { return folder_.path() + "/search"; }
  std::string journal() const { return read_text(directory() + "/journal.jsonl"); }
  void write_journal(const std::string& text) const {
    std::ofstream(directory() + "/journal.jsonl", std::ios::binary) << text;
  }
  // Returns the steps of the journal.
  std::vector<tuning::Step> steps() const {
    std::vector<tuning::Step> all;
    std::istringstream lines(journal());
    for (std::string line; std::getline(lines, line);) {
      const Json json = Json::parse(line);
      if (!json.contains("step")) continue;
      const auto recorded = tuning::step_from_json(json["step"]);
      EXPECT_TRUE(recorded) << line;
      if (recorded) all.push_back(recorded->step);
    }
    return all;
  }

  std::vector<std::string> events;

 private:
  TemporaryFolder folder_;
  tuning::SearchProblem problem_ = stencil_problem();
};

// Returns the number of the best of the steps from the index `first` to before `end`, as a search
// chooses it.
Parents best_of(const std::vector<tuning::Step>& steps, std::size_t first, std::size_t end) {
  tuning::History history;
  for (std::size_t i = first; i < end; ++i) history.add(steps[i]);
  return history.best() == nullptr ? Parents() : Parents{history.best()->number};
}

// -------------------------------------------------------------------------------------- the
// journal

TEST(Parents, AreInTheJsonOfAStep) {
  tuning::RecordedStep recorded;
  recorded.step.number = 9;
  recorded.step.proposal = {"text", "why", 3, {7, 2}};
  const Json json = tuning::json_of(recorded);
  EXPECT_EQ(json["parents"], Json::parse("[7,2]"));
  EXPECT_EQ(tuning::step_from_json(json)->step.proposal.parents, (Parents{7, 2}));
  recorded.step.proposal.parents = {};
  EXPECT_FALSE(tuning::json_of(recorded).contains("parents"));
}

TEST(Parents, ThatAreForgedAreRefused) {
  Json json = Json::parse(R"({"number":9,"text":"","why":"","status":"failed","values":[]})");
  ASSERT_TRUE(tuning::step_from_json(json));
  for (const char* good : {"[]", "[8]", "[1,8]", "[1,2,3,4,5,6,7,8]"}) {
    json["parents"] = Json::parse(good);
    EXPECT_TRUE(tuning::step_from_json(json)) << good;
  }
  for (const char* bad : {"[9]", "[10]", "[0]", "[-1]", "[1,1]", "[1.5]", "[\"1\"]", "[null]",
                          "[[1]]", "1", "\"1\"", "{}", "{\"1\":1}", "null", "true", "[1e300]",
                          "[9223372036854775808]", "[1,2,3,4,5,6,7,8,8]", "[1,2,3,4,5,6,7,8,9]"}) {
    json["parents"] = Json::parse(bad);
    EXPECT_FALSE(tuning::step_from_json(json)) << bad;
  }
}

// A proposer of another person may say anything.
TEST(Parents, ThatAProposerCannotMeanAreIgnored) {
  class Claims : public tuning::Proposer {
   public:
    std::string_view name() const override { return "claims"; }
    std::vector<tuning::Proposal> propose(tuning::SearchRound&) override {
      if (++asked_ > 2) return {};
      return {{std::to_string(asked_), "", 0, {2, 1, 1, 0, -5, 99, asked_ + 1}}};
    }

   private:
    std::int64_t asked_ = 0;
  } proposer;
  FakeEvaluator numbers([](const std::string& text) { return 1 + std::stod(text); });
  std::vector<Parents> parents;
  tuning::TuneOptions options;
  options.on_event = [&](const tuning::TuneEvent& event) {
    if (event.step != nullptr) parents.push_back(event.step->proposal.parents);
  };
  tuning::SearchProblem problem;
  problem.start = "20";
  ASSERT_TRUE(tuning::tune(problem, numbers, proposer, nullptr, nullptr, options).ok());
  EXPECT_THAT(parents, ElementsAre(IsEmpty(), ElementsAre(1), ElementsAre(2, 1)));
}

// Returns a journal without what differs from run to run: the times, and the order in which the
// replies to concurrent questions arrive.
std::string comparable(const std::string& journal) {
  std::istringstream lines(testing::without_times(journal));
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("{\"reply\"")) kept += line + "\n";
  }
  return kept;
}

TEST(Parents, AreTheSameInTheJournalOfAResumedSearch) {
  StencilSearch search;
  for (const char* proposer :
       {"evolve", "scientist", "trace", "hybrid", "guided", "anneal", "ccd"}) {
    ASSERT_EQ(search.run(proposer, 9, false), "") << proposer;
    const std::string whole = search.journal();
    EXPECT_THAT(whole, HasSubstr("\"parents\":[")) << proposer;
    // The process may end after any step.
    for (const int after : {1, 3, 6}) {
      const std::size_t begin = whole.find(fmt::format("{{\"step\":{{\"number\":{},", after));
      ASSERT_NE(begin, whole.npos) << proposer;
      search.write_journal(whole.substr(0, whole.find('\n', begin) + 1));
      ASSERT_EQ(search.run(proposer, 9, true), "") << proposer;
      EXPECT_TRUE(comparable(search.journal()) == comparable(whole)) << proposer << after;
    }
  }
}

TEST(Parents, AreMissingInAnOlderJournalWhichIsResumed) {
  StencilSearch search;
  ASSERT_EQ(search.run("evolve", 5, false), "");
  const std::string old =
      std::regex_replace(search.journal(), std::regex(",\"parents\":\\[[0-9,]*\\]"), "");
  ASSERT_NE(old, search.journal());
  search.write_journal(old);
  search.events.clear();
  EXPECT_EQ(search.run("evolve", 7, true), "");
  EXPECT_TRUE(search.journal().starts_with(old));
  ASSERT_EQ(search.events.size(), 2U);
  for (const std::string& event : search.events) {
    EXPECT_FALSE(Json::parse(event).at("parents").empty()) << event;
  }
}

TEST(Parents, ThatAreForgedEndAResumedSearch) {
  StencilSearch search;
  ASSERT_EQ(search.run("trace", 3, false), "");
  const std::string journal = search.journal();
  for (const char* forged : {"[2]", "[7]", "7", "[\"1\"]"}) {
    std::string text = journal;
    text.replace(text.find("\"parents\":[1]"), 13, fmt::format("\"parents\":{}", forged));
    search.write_journal(text);
    EXPECT_THAT(search.run("trace", 3, true), HasSubstr("it should be step 2")) << forged;
  }
}

// ------------------------------------------------------------------------------------- the
// proposers

// Returns the part of a prompt between a title and the end of the fenced block below it.
std::string block_after(const std::string& prompt, const std::string& title) {
  const std::size_t begin = prompt.find("```\n", prompt.find(title)) + 4;
  return prompt.substr(begin, prompt.find("```", begin) - begin);
}

std::string text_of(const llm::ChatRequest& request) {
  std::string text;
  for (const llm::ChatMessage& message : request.messages) text += message.text;
  return text;
}

TEST(Parents, OfEvolveAreThePrograms) {
  const tuning::SearchProblem problem = stencil_problem();
  FakeEvaluator evaluator([](const std::string& text) {
    return text.find("Task FAIL") != text.npos ? -1 : 1 + static_cast<double>(text.size() % 7);
  });
  FakeRound round(problem, evaluator);
  round.left = 80;
  // Every reply is a program with a number. The number tells which program the prompt showed.
  std::map<int, std::string> shown;
  round.model = [&](const llm::ChatRequest& request) -> Result<std::string, llm::ChatError> {
    const int n = static_cast<int>(shown.size()) + 1;
    shown[n] = block_after(text_of(request), "CURRENT PROGRAM\n");
    return fmt::format("```\nTask * GPU, CPU;\nTask {}{} CPU;\n```", n % 9 == 0 ? "FAIL" : "t", n);
  };
  auto proposer = tuning::make_proposer("evolve", problem, 1).value();
  std::vector<tuning::Step> steps = {{1, {problem.start, "", -1}, evaluator.evaluate({""})}};
  round.past.add_start(steps.front());
  proposer->learn(steps.front());
  std::size_t generations = 0;
  while (round.left > 0 && round.play(*proposer) > 0) {
    for (const tuning::Step& step : round.past.recent()) {
      if (step.number > steps.back().number) steps.push_back(step);
    }
  }
  ASSERT_EQ(steps.size(), 81U);
  for (const tuning::Step& step : steps) {
    if (step.number == 1) continue;
    ASSERT_EQ(step.proposal.parents.size(), 1U) << step.number;
    const tuning::Step& parent = steps[static_cast<std::size_t>(step.proposal.parents[0] - 1)];
    EXPECT_LT(parent.number, step.number);
    EXPECT_TRUE(parent.evaluation.ok());
    std::smatch number;
    ASSERT_TRUE(std::regex_search(step.proposal.text, number, std::regex("Task [A-Za-z]+(\\d+)")));
    EXPECT_EQ(shown.at(std::stoi(number[1])), parent.proposal.text) << step.number;
    generations += parent.number > 1;
  }
  EXPECT_GT(generations, 20U);
}

TEST(Parents, OfScientistAreTheBaseAndTheReference) {
  StencilSearch search;
  ASSERT_EQ(search.run("scientist", 7, false), "");
  const std::vector<tuning::Step> steps = search.steps();
  ASSERT_EQ(steps.size(), 7U);
  // At first the start is the only base. Then the model selects step 2, and 1 as the reference.
  EXPECT_EQ(steps[0].proposal.parents, Parents());
  EXPECT_EQ(steps[1].proposal.parents, Parents{1});
  EXPECT_EQ(steps[2].proposal.parents, Parents{1});
  for (std::size_t i = 3; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].proposal.parents, (Parents{2, 1})) << i;
  }
}

// A start that fails is still what the model changes.
TEST(Parents, OfChangesOfAStartThatFailedAreTheStart) {
  const tuning::SearchProblem problem = stencil_problem();
  FakeEvaluator evaluator([](const std::string&) { return -1.0; });
  for (const char* name : {"evolve", "hybrid", "trace"}) {
    FakeRound round(problem, evaluator);
    int asked = 0;
    round.model = [&](const llm::ChatRequest&) -> Result<std::string, llm::ChatError> {
      return fmt::format("PLAN: a.\n```task\nTask t{} CPU;\n```", ++asked);
    };
    const tuning::Step start{1, {problem.start, "", -1}, evaluator.evaluate({""})};
    round.past.add_start(start);
    auto proposer = tuning::make_proposer(name, problem, 1).value();
    proposer->learn(start);
    for (int i = 0; i < 3; ++i) round.play(*proposer);
    ASSERT_GT(round.past.last()->number, 1) << name;
    const tuning::Step* first = &round.past.recent()[1];
    EXPECT_EQ(first->proposal.parents, Parents{1}) << name;
  }
}

TEST(Parents, OfASearchThatChangesTheBestAreTheBest) {
  StencilSearch search;
  for (const char* proposer : {"ccd", "trace", "hybrid"}) {
    ASSERT_EQ(search.run(proposer, 12, false), "");
    const std::vector<tuning::Step> steps = search.steps();
    for (std::size_t i = 1; i < steps.size(); ++i) {
      // The part `guided` of `hybrid` has tests of its own.
      if (steps[i].proposal.why.starts_with("guided")) continue;
      // `ccd` searches its own space and does not change the start.
      const std::size_t first = std::string_view(proposer) == "ccd" ? 1 : 0;
      EXPECT_EQ(steps[i].proposal.parents, best_of(steps, first, i)) << proposer << i;
    }
  }
}

TEST(Parents, OfLocalSearchesAreStepsThatRan) {
  StencilSearch search;
  for (const char* proposer : {"anneal", "guided"}) {
    ASSERT_EQ(search.run(proposer, 60, false), "");
    const std::vector<tuning::Step> steps = search.steps();
    std::size_t with_parent = 0, of_others = 0;
    for (const tuning::Step& step : steps) {
      for (const std::int64_t parent : step.proposal.parents) {
        EXPECT_TRUE(steps[static_cast<std::size_t>(parent - 1)].evaluation.ok()) << proposer;
        ++with_parent;
        of_others += parent > 1;
      }
    }
    EXPECT_GT(with_parent, steps.size() * 3 / 4) << proposer;
    EXPECT_GT(of_others, 10U) << proposer;
  }
}

}  // namespace
}  // namespace groma
