// trace, opro, scientist, evolve through scripted replies: what each prompt contains is its
// source's rule, and each kind of bad reply is handled.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "groma/benchmarks.h"
#include "groma/diff.h"
#include "groma/dsl_files.h"
#include "groma/proposers.h"
#include "groma/segments.h"
#include "model/prompt.h"
#include "propose/winning_decisions.h"
#include "support/tune_round.h"

namespace groma {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FakeEvaluator;
using testing::FakeRound;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::size_t kPromptBytes = tuning::AskOptions().prompt_bytes;
const std::vector<std::string> kAsking = {"trace", "opro", "scientist", "evolve"};  // alone

tuning::SearchProblem mapping_problem() {
  tuning::SearchProblem problem;
  problem.machine = std::make_shared<const Machine>(make_machine("p100x4").value());
  problem.inputs.push_back(Workload::make(find_benchmark("stencil")->make()).value());
  problem.start = "Task * GPU, CPU;\nRegion * * GPU FBMEM;\n";
  return problem;
}

tuning::SearchProblem kernel_problem() {
  tuning::SearchProblem problem;
  problem.start =
      "int main() {\n// groma: begin sizes the tile\n  int tile = 8;\n// groma: end\n}\n";
  problem.about = "A kernel.";
  return problem;
}

// Says of each text how long it is, and all that a guide may.
class Telling : public FakeEvaluator {
 public:
  Telling()
      : FakeEvaluator([](const std::string& text) {
          if (text.find("FAIL") != text.npos) return -1.0;
          return 1.0 + 0.001 * static_cast<double>(text.size() % 100);
        }) {}
  tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
    tuning::Evaluation evaluation = FakeEvaluator::evaluate(request);
    GuideFeedback& feedback = evaluation.feedback;
    feedback.execution =
        evaluation.ok() ? "EXECUTED in /home/someone/run" : "it CRASHED in /home/someone/run";
    feedback.explain = {"EXPLAINED."};
    feedback.suggest = {"SUGGESTED."};
    ProfileFacts facts;
    facts.by_task = {{"PROFILED", "GPU", 0.5}};
    feedback.profile = facts;
    return evaluation;
  }
};

struct Play {
  tuning::SearchProblem problem;
  Telling evaluator;
  FakeRound round;
  std::unique_ptr<tuning::Proposer> proposer;

  explicit Play(const std::string& name, tuning::SearchProblem what = mapping_problem(),
                std::uint64_t seed = 1, const tuning::AskOptions& options = {})
      : problem(std::move(what)), round(problem, evaluator) {
    auto made = tuning::make_proposer(name, problem, seed, options);
    EXPECT_TRUE(made.ok()) << name;
    proposer = std::move(*made);
  }
  Play(const Play&) = delete;

  std::size_t go() { return round.play(*proposer); }
  void answer(const std::string& text) {
    round.model = [text](const llm::ChatRequest&) { return text; };
  }
  // As the loop does it before it asks for proposals.
  void evaluate_start() {
    tuning::Step step{0, {problem.start, "", 0}, evaluator.evaluate({problem.start})};
    round.past.add(step);
    proposer->learn(step);
  }
  void try_text(std::int64_t number, const std::string& text) {
    tuning::Step step{number, {text, "", 0}, evaluator.evaluate({text})};
    round.past.add(step);
    proposer->learn(step);
  }
};

std::string text_of(const llm::ChatRequest& request) {
  std::string text;
  for (const llm::ChatMessage& message : request.messages) text += message.text;
  return text;
}

// A model that gets on with every proposer: it looks at what it is asked for, and writes something
// else each time.
class Obliging {
 public:
  Result<std::string, llm::ChatError> operator()(const llm::ChatRequest& request) {
    const std::string asked = text_of(request);
    const int n = ++*count_;
    const bool kernel = asked.find("tile") != asked.npos;
    const std::string statement = kernel ? fmt::format("  int tile = {};\n", n + 100)
                                         : fmt::format("Task * GPU, CPU;\nTask t{} CPU;\n", n);
    const std::string name = kernel ? "sizes" : "task";
    if (asked.find("\"base\"") != asked.npos) return std::string(R"({"base": 0, "reference": 1})");
    if (asked.find("\"avenues\"") != asked.npos) return designs(n);
    if (asked.find("\"suggestion\"") != asked.npos) {
      std::string text = statement;
      for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2) {
        text.replace(at, 1, "\\n");
      }
      return fmt::format("{{\"reasoning\": \"r\", \"suggestion\": {{\"{}\": \"{}\"}}}}", name,
                         text);
    }
    return fmt::format("PLAN: number {}.\n```{}\n{}```\n", n, name, statement);
  }

 private:
  static std::string designs(int n) {
    std::string text = "{\"avenues\": [";
    for (int i = 0; i < 10; ++i) text += fmt::format("{}\"avenue {}\"", i == 0 ? "" : ", ", i);
    text += "], \"experiments\": [";
    for (int i = 0; i < 5; ++i) {
      text += fmt::format(
          "{}{{\"description\": \"experiment {}.{}\", \"rubric\": \"edits {}\", \"gain\": [{}, "
          "{}], "
          "\"innovation\": {}}}",
          i == 0 ? "" : ", ", n, i, i, i == 2 ? 9 : 1, i == 3 ? 50 : 20, i == 4 ? 90 : 10);
    }
    return text + "]}";
  }
  std::shared_ptr<int> count_ = std::make_shared<int>(0);
};

// -------------------------------------------------------------------------------- what all hold to

TEST(ModelProposers, AreListedAsSuch) {
  std::vector<std::string> names;
  for (const tuning::ProposerInfo& info : tuning::proposers()) {
    if (!info.asks_model) continue;
    names.emplace_back(info.name);
    EXPECT_FALSE(info.mappings_only) << info.name;
  }
  for (const std::string& name : kAsking) EXPECT_THAT(names, ::testing::Contains(name));
}

TEST(ModelProposers, SearchMappingsAndMarkedTexts) {
  for (const std::string& name : kAsking) {
    for (const tuning::SearchProblem& problem : {mapping_problem(), kernel_problem()}) {
      Play play(name, problem);
      play.round.model = Obliging();
      play.evaluate_start();
      while (play.round.left > 0 && play.go() > 0) {
      }
      EXPECT_EQ(play.round.left, 0U) << name;
      EXPECT_THAT(play.round.rejected, IsEmpty()) << name;
      for (const tuning::Step& step : play.round.past.recent()) {
        if (step.number == 0) continue;
        EXPECT_NE(step.proposal.text, problem.start) << name;
        EXPECT_FALSE(step.proposal.why.empty()) << name;
      }
    }
  }
}

TEST(ModelProposers, RefuseTextsWithWrongMarks) {
  tuning::SearchProblem problem;
  problem.start = "int main() {}\n// groma: end\n";
  for (const std::string& name : kAsking) {
    const auto made = tuning::make_proposer(name, problem, 1);
    ASSERT_FALSE(made.ok()) << name;
    EXPECT_THAT(made.error().message, HasSubstr("no segment begins before")) << name;
  }
}

// The model changes a file without marks by edits or as a whole.
TEST(ModelProposers, ChangeWholeFiles) {
  tuning::SearchProblem problem;
  problem.file = "here/kernel.cc";
  problem.start = "int main() {\n  int tile = 8;\n  int steps = 8;\n}\n";
  const std::string edit =
      "PLAN: a wider tile.\n<<<<<<< SEARCH\n  int tile = 8;\n=======\n  int tile = 9;\n"
      ">>>>>>> REPLACE\n";
  const std::string whole = "PLAN: a wider tile.\n```cpp\nint main() {\n  int tile = 9;\n}\n```\n";
  for (const std::string& name : {std::string("scientist"), std::string("evolve")}) {
    for (const std::string& reply : {edit, whole}) {
      Play play(name, problem);
      play.round.model =
          [&reply, obliging = Obliging()](
              const llm::ChatRequest& request) mutable -> Result<std::string, llm::ChatError> {
        if (text_of(request).find("\"avenues\"") != std::string::npos) return obliging(request);
        return reply;
      };
      ASSERT_GE(play.go(), 1U) << name << fmt::format("{}", fmt::join(play.round.rejected, "; "));
      EXPECT_THAT(play.round.past.last()->proposal.text, HasSubstr("  int tile = 9;\n")) << name;
      if (name == "evolve") continue;  // it shows the program as a whole
      EXPECT_THAT(text_of(play.round.asked.back()), HasSubstr("```kernel.cc\n"));
    }
  }
}

TEST(ModelProposers, DependOnTheirSeedAndTheRepliesAlone) {
  const auto asked_by = [](const std::string& name, std::uint64_t seed) {
    Play play(name, mapping_problem(), seed);
    play.round.model = Obliging();
    play.evaluate_start();
    while (play.round.left > 0 && play.go() > 0) {
    }
    std::vector<std::string> asked;
    for (const llm::ChatRequest& request : play.round.asked) {
      asked.push_back(fmt::format("{} {} {}", text_of(request), request.seed.value(),
                                  request.temperature.value()));
    }
    for (const tuning::Step& step : play.round.past.recent()) asked.push_back(step.proposal.text);
    return asked;
  };
  for (const std::string& name : kAsking) {
    EXPECT_EQ(asked_by(name, 7), asked_by(name, 7)) << name;
    EXPECT_NE(asked_by(name, 7), asked_by(name, 8)) << name;
  }
}

TEST(ModelProposers, AskEachTimeWithAnotherSeed) {
  for (const std::string& name : kAsking) {
    Play play(name);
    play.round.model = Obliging();
    while (play.round.left > 0 && play.go() > 0) {
    }
    std::set<std::int64_t> seeds;
    for (const llm::ChatRequest& request : play.round.asked) {
      EXPECT_GE(request.seed.value(), 0);
      EXPECT_LT(request.seed.value(), std::int64_t{1} << 31);
      EXPECT_TRUE(seeds.insert(*request.seed).second) << name;
      EXPECT_EQ(request.max_tokens, 4096);
    }
  }
}

// What stands behind a segment's name, and what stands around the segments, as far as there is
// room.
TEST(ModelProposers, TellWhatASegmentIsAndWhatStandsAroundIt) {
  for (const std::string& name : kAsking) {
    tuning::SearchProblem problem = kernel_problem();
    problem.start = "// the first line\n" + std::string(20'000, '-') + "\n" + problem.start +
                    "// behind it\n" + std::string(20'000, '+') + "\n// the last line\n";
    if (name == "evolve") problem.start = kernel_problem().start;  // which shows whole texts
    Play play(name, problem);
    play.round.model = Obliging();
    play.evaluate_start();
    play.go();
    ASSERT_FALSE(play.round.asked.empty());
    const std::string text = text_of(play.round.asked.front());
    EXPECT_THAT(text, AnyOf(HasSubstr("sizes: the tile\n"), HasSubstr("begin sizes the tile")))
        << name;
    EXPECT_THAT(text, HasSubstr("int main() {")) << name;
    if (name == "evolve") continue;
    EXPECT_THAT(text, AllOf(HasSubstr("[the segment sizes]\n"), HasSubstr("// behind it"),
                            Not(HasSubstr("the first line")), Not(HasSubstr("the last line"))))
        << name;
    EXPECT_LT(text.size(), kPromptBytes) << name;
  }
}

TEST(ModelProposers, AskAtTheTemperatureThatIsGiven) {
  for (const std::string& name : kAsking) {
    tuning::AskOptions options;
    Play own(name);
    options.temperature = 0.25;
    Play given(name, mapping_problem(), 1, options);
    for (Play* play : {&own, &given}) {
      play->round.model = Obliging();
      for (int i = 0; i < 2; ++i) play->go();
      ASSERT_FALSE(play->round.asked.empty());
      for (const llm::ChatRequest& request : play->round.asked) {
        EXPECT_EQ(request.temperature == 0.25, play == &given) << name;
      }
    }
  }
}

// What a prompt may hold of a run: levels of feedback, each with what those before it have.
TEST(ModelProposers, ShowTheFeedbackOfTheLevelThatIsWanted) {
  const std::vector<std::string> words = {"EXECUTED", "EXPLAINED", "SUGGESTED", "PROFILED"};
  for (const std::string name : {"trace", "opro", "evolve"}) {
    for (int level = 0; level <= 4; ++level) {
      Play play(name);
      play.round.shown = static_cast<GuideDetail>(level);
      play.round.model = Obliging();
      play.evaluate_start();
      play.go();
      ASSERT_FALSE(play.round.asked.empty());
      const std::string text = text_of(play.round.asked.front());
      for (int i = 0; i < 4; ++i) {
        // opro has a line beside each score, without a profile.
        const bool there = i < level && !(name == "opro" && i == 3);
        EXPECT_EQ(text.find(words[static_cast<std::size_t>(i)]) != text.npos, there)
            << name << " at level " << level << ": " << words[static_cast<std::size_t>(i)];
      }
      EXPECT_THAT(text, AnyOf(HasSubstr("1.052 s"), HasSubstr("1.0"))) << name;  // the score
    }
  }
}

TEST(ModelProposers, NameNoFolderBudgetOrTime) {
  for (const std::string& name : kAsking) {
    Play play(name);
    play.round.model = Obliging();
    play.evaluate_start();
    play.try_text(1, "FAIL");
    while (play.round.left > 0 && play.go() > 0) {
    }
    for (const llm::ChatRequest& request : play.round.asked) {
      const std::string text = text_of(request);
      for (const char* word :
           {"/home", "someone", "budget", "evaluations left", "deadline", "of 10", "tokens"}) {
        EXPECT_THAT(text, Not(HasSubstr(word))) << name;
      }
    }
  }
}

// The mappings that people wrote are what is measured against.
TEST(ModelProposers, ShowNoMappingThatPeopleWrote) {
  std::set<std::string> lines;
  for (const DslFile& file : mappers()) {
    std::istringstream text{std::string(file.text)};
    for (std::string line; std::getline(text, line);) {
      const bool says_little = line.size() < 20 || line.starts_with("Task *") ||
                               line.starts_with("Region * *") || line.starts_with("Layout * * *") ||
                               line.starts_with("def ") || line.ends_with("= Machine(GPU);");
      if (!says_little) lines.insert(line);
    }
  }
  ASSERT_GT(lines.size(), 100U);
  std::string all;
  for (const std::string& name : kAsking) {
    for (const Benchmark& benchmark : benchmarks()) {
      tuning::SearchProblem problem = mapping_problem();
      problem.inputs = {Workload::make(benchmark.make()).value()};
      Play play(name, problem);
      play.round.model = Obliging();
      play.evaluate_start();
      play.go();
      for (const llm::ChatRequest& request : play.round.asked) all += text_of(request);
    }
  }
  ASSERT_GT(all.size(), 100'000U);
  for (const std::string& line : lines) EXPECT_THAT(all.find(line), all.npos) << line;
}

TEST(ModelProposers, KeepPromptsShort) {
  for (const std::string& name : kAsking) {
    Play play(name);
    play.round.left = 300;
    play.round.model = Obliging();
    play.evaluate_start();
    while (play.round.left > 0 && play.go() > 0) {
    }
    std::size_t longest = 0;
    for (const llm::ChatRequest& request : play.round.asked) {
      longest = std::max(longest, text_of(request).size());
    }
    EXPECT_GT(longest, 2'000U) << name;
    EXPECT_LE(longest, kPromptBytes) << name;
  }
}

// A model whose window is small is asked again, shorter, in the same round.
TEST(ModelProposers, AskAgainWithLessWhereAPromptIsTooLong) {
  for (const std::string& name : kAsking) {
    Play play(name);
    auto obliging = std::make_shared<Obliging>();
    play.round.model =
        [obliging](const llm::ChatRequest& request) -> Result<std::string, llm::ChatError> {
      if (text_of(request).size() > 6'500 || request.max_tokens > 1'500) {
        llm::ChatError error{llm::ChatError::Code::kContextTooLong, "too long"};
        error.context_tokens = 4'096;
        return error;
      }
      return (*obliging)(request);
    };
    for (int i = 1; i < 30; ++i) {
      play.try_text(i, fmt::format("Task a{} CPU;\nTask b CPU;\nTask c CPU;\nTask d CPU;\n", i));
    }
    EXPECT_GT(play.go(), 0U) << name;
    EXPECT_THAT(play.round.rejected, IsEmpty()) << name;
  }
}

TEST(ModelProposers, SayThatThereIsNoModel) {
  for (const std::string& name : kAsking) {
    Play play(name);
    EXPECT_EQ(play.go(), 0U);
    ASSERT_FALSE(play.round.rejected.empty()) << name;
    EXPECT_THAT(play.round.rejected.front(), HasSubstr("no model"));
  }
}

// ------------------------------------------------------------------------------------- bad replies

TEST(ModelProposers, RefuseBadRepliesAndSayWhy) {
  const std::vector<std::string> bad = {
      "",
      "I am sorry, I cannot do that.",
      "<think>hm",
      "```region\nRegion * * GPU ZC",
      "```python\nimport os; os.system('touch /tmp/groma')\n```",
      "{\"suggestion\": {\"task\": 7}}",
      std::string(3'000'000, '{'),
      "```\nTask * NOWHERE;\n```",
  };
  for (const std::string& name : kAsking) {
    for (const std::string& reply : bad) {
      Play play(name);
      play.answer(reply);
      EXPECT_EQ(play.go(), 0U) << name << ": " << reply.substr(0, 80);
      ASSERT_FALSE(play.round.rejected.empty()) << name << ": " << reply.substr(0, 80);
      for (const std::string& why : play.round.rejected) {
        EXPECT_FALSE(why.empty());
        EXPECT_LT(why.size(), 2'500U);
      }
      // The next prompt says so, once.
      const std::size_t before = play.round.asked.size();
      play.round.model = Obliging();
      play.go();
      play.go();
      const auto told = std::count_if(
          play.round.asked.begin() + static_cast<std::ptrdiff_t>(before), play.round.asked.end(),
          [](const llm::ChatRequest& request) {
            return text_of(request).find("YOUR LAST REPLY could not be used") != std::string::npos;
          });
      // opro asks its samples the same.
      EXPECT_TRUE(name == "opro" ? told == 8 : told == 1 || (name == "evolve" && told == 2))
          << name << " " << told << ": " << reply.substr(0, 80);
    }
  }
}

// Counts the replies that should have been proposals.
class CountingRound : public FakeRound {
 public:
  using FakeRound::FakeRound;
  void reject_proposal(std::string why) override {
    ++unusable;
    reject(std::move(why));
  }
  int unusable = 0;
};

TEST(ModelProposers, CountRepliesWithoutTextLikeUnreadableOnes) {
  using Code = llm::ChatError::Code;
  const tuning::SearchProblem problem = mapping_problem();
  Telling evaluator;
  for (const char* name : {"trace", "opro"}) {
    auto proposer = tuning::make_proposer(name, problem, 1);
    for (const auto& [code, counts] :
         {std::pair{Code::kNoText, true}, {Code::kRefusal, true}, {Code::kServer, false}}) {
      CountingRound round(problem, evaluator);
      round.model = [code = code](const llm::ChatRequest&) { return llm::ChatError{code, "none"}; };
      EXPECT_EQ(round.play(**proposer), 0U);
      EXPECT_EQ(round.unusable, counts ? static_cast<int>(round.asked.size()) : 0) << name;
      EXPECT_THAT(round.rejected.back(), HasSubstr("no reply: none"));
    }
  }
}

TEST(ModelProposers, TryNothingTwice) {
  for (const std::string name : {"trace", "opro", "evolve"}) {
    Play play(name);
    play.answer(name == "trace" ? "{\"suggestion\": {\"task\": \"Task * CPU;\"}}"
                                : "```\nTask * CPU;\n```\n");
    EXPECT_EQ(play.go(), 1U) << name;
    play.round.rejected.clear();
    EXPECT_EQ(play.go(), 0U) << name;
    ASSERT_FALSE(play.round.rejected.empty()) << name;
    EXPECT_THAT(play.round.rejected.front(),
                HasSubstr("the same text was tried before: #1 valid, 1.0"))
        << name;
  }
}

// ------------------------------------------------------------------------------------------- trace

TEST(Trace, AsksInTheSectionsOfItsSource) {
  Play play("trace");
  play.answer("{\"suggestion\": {\"task\": \"Task * CPU;\"}}");
  play.evaluate_start();
  play.go();
  ASSERT_EQ(play.round.asked.size(), 1U);
  const llm::ChatRequest& request = play.round.asked.front();
  ASSERT_EQ(request.messages.size(), 2U);
  EXPECT_DOUBLE_EQ(request.temperature.value(), 0.7);
  EXPECT_TRUE(request.constraint.gbnf.empty());
  EXPECT_TRUE(request.constraint.json_schema.empty());
  const std::string& system = request.messages[0].text;
  const std::string& user = request.messages[1].text;
  for (const char* key : {"\"reasoning\"", "\"change\"", "\"suggestion\"", "TERMINATE"}) {
    EXPECT_THAT(system, HasSubstr(key));
  }
  std::size_t at = 0;
  for (const char* section :
       {"#Instruction\n", "#Code\n", "#Documentation\n", "#Variables\n", "#Constraints\n",
        "#Inputs\n", "#Others\n", "#Outputs\n", "#Feedback\n", "Your response:\n"}) {
    const std::size_t found = user.find(section);
    ASSERT_NE(found, user.npos) << section;
    EXPECT_GE(found, at) << section;
    at = found;
    EXPECT_EQ(user.find(section, found + 1), user.npos) << section;
  }
  const auto section = [&](const std::string& from, const std::string& to) {
    const std::size_t begin = user.find(from + "\n");
    return user.substr(begin, user.find(to, begin) - begin);
  };
  // The graph, from the segments to the run.
  EXPECT_THAT(
      section("#Code", "#Documentation"),
      HasSubstr(
          "program = put_together(task, region, layout, limit, functions, index, single, other)\n"
          "decisions = decide(program, application, machine)\n"
          "result = run(decisions)"));
  EXPECT_THAT(section("#Documentation", "#Variables"), HasSubstr("REFERENCE CARD"));
  EXPECT_THAT(section("#Variables", "#Constraints"),
              AllOf(HasSubstr("(code) task:\nTask * GPU, CPU;\n"),
                    HasSubstr("(code) region:\nRegion * * GPU FBMEM;\n"),
                    HasSubstr("(code) layout: (empty)\n")));
  EXPECT_THAT(section("#Constraints", "#Inputs"), HasSubstr("(code) layout: How the data"));
  EXPECT_THAT(section("#Inputs", "#Others"), AllOf(HasSubstr("MACHINE"), HasSubstr("TASKS")));
  EXPECT_THAT(section("#Others", "#Outputs"), HasSubstr("(code) decisions:\nstencil: GPU; "));
  EXPECT_THAT(section("#Outputs", "#Feedback"), HasSubstr("result = valid, 1.0"));
  EXPECT_THAT(section("#Feedback", "Your response"), HasSubstr("SUGGEST: SUGGESTED."));
}

// A model without memory could not return to the best text otherwise.
TEST(Trace, ChangesTheBestAndTellsOfTheLastTry) {
  Play play("trace");
  play.evaluate_start();
  play.try_text(1, "Task * OMP;\n");
  play.try_text(2, "Task FAIL CPU;\n");
  play.answer(
      "{\"change\": \"fields together\", \"suggestion\": {\"layout\": \"Layout * * * AOS;\"}}");
  ASSERT_EQ(play.go(), 1U);
  const std::string text = text_of(play.round.asked.front());
  EXPECT_THAT(text, AllOf(HasSubstr("(code) task:\nTask * OMP;\n"), HasSubstr("it CRASHED in run"),
                          HasSubstr("THE LAST TRY, #2"), HasSubstr("    + Task FAIL CPU;\n")));
  EXPECT_EQ(play.round.past.last()->proposal.text, "Task * OMP;\n\nLayout * * * AOS;\n");
  EXPECT_EQ(play.round.past.last()->proposal.why, "fields together");
}

TEST(Trace, ShowsTheBudgetAndEveryTry) {
  Play play("trace");
  play.try_text(1, "Task eldest CPU;\n");
  play.try_text(2, "Task second CPU;\n");
  play.round.left = 7;
  play.answer("{}");
  play.go();
  EXPECT_THAT(text_of(play.round.asked.front()),
              AllOf(HasSubstr("BUDGET: 7 more runs. "), HasSubstr("\nBEST SO FAR: #1"),
                    HasSubstr("\n#1 valid"), HasSubstr("\n#2 valid"),
                    HasSubstr("`Task eldest CPU` decides nothing")));
}

// A round that neither proposes nor rejects anything ends the search.
TEST(Trace, EndsTheSearchWhereTheReplyIsTheWordAlone) {
  for (const char* end : {"TERMINATE", " TERMINATE.\n", "`TERMINATE`", "\"TERMINATE\""}) {
    Play play("trace");
    play.answer(end);
    EXPECT_EQ(play.go(), 0U) << end;
    EXPECT_THAT(play.round.rejected, IsEmpty()) << end;
    EXPECT_THAT(play.round.end_reason, HasSubstr("finds nothing to change")) << end;
  }
  Play play("trace");
  play.answer(
      "{\"reasoning\": \"I could TERMINATE but\", \"suggestion\": {\"task\": \"Task * CPU;\"}}");
  EXPECT_EQ(play.go(), 1U);
  play.answer("I would TERMINATE here.");
  EXPECT_EQ(play.go(), 0U);
  EXPECT_EQ(play.round.rejected.size(), 1U);
}

// The simulator tells without a run that nothing changes, so no run is spent on it.
TEST(Trace, IsToldThatAChangeDecidesNothing) {
  const tuning::SearchProblem problem = mapping_problem();
  const auto evaluator =
      tuning::make_simulated_evaluator(problem.machine, problem.inputs, SimulateOptions());
  FakeRound round(problem, *evaluator);
  const auto proposer = tuning::make_proposer("trace", problem, 1, {}).value();
  round.past.add({1, {problem.start, "the start", 0}, evaluator->evaluate({problem.start})});
  for (const char* reply :
       {"{\"suggestion\": {\"limit\": \"InstanceLimit no_such_task 3;\"}}",
        "{\"suggestion\": {\"region\": \"Region * * GPU FBMEM;\\nRegion * * OMP ZCMEM;\"}}"}) {
    round.model = [reply](const llm::ChatRequest&) { return std::string(reply); };
    EXPECT_EQ(round.play(*proposer), 0U) << reply;
    ASSERT_FALSE(round.rejected.empty());
    EXPECT_THAT(round.rejected.back(), HasSubstr("it makes the same decisions as #1 (valid, "));
  }
  // The next prompt says so, too.
  EXPECT_THAT(text_of(round.asked.back()), HasSubstr("YOUR LAST REPLY could not be used: it makes "
                                                     "the same decisions as #1"));
  // A name that no task has is told even if the rest of the reply is tried.
  round.model = [](const llm::ChatRequest&) {
    return std::string("{\"suggestion\": {\"task\": \"Task stencl CPU;\\nTask * CPU;\"}}");
  };
  EXPECT_EQ(round.play(*proposer), 1U);
  round.play(*proposer);
  EXPECT_THAT(text_of(round.asked.back()),
              HasSubstr("OF YOUR LAST REPLY: the application `stencil` has no task `stencl`"));
}

TEST(Trace, ShowsWhereDataAndPointsGo) {
  const tuning::SearchProblem problem = mapping_problem();
  const auto evaluator =
      tuning::make_simulated_evaluator(problem.machine, problem.inputs, SimulateOptions());
  FakeRound round(problem, *evaluator);
  const auto proposer = tuning::make_proposer("trace", problem, 1, {}).value();
  const std::string text = "InstanceLimit stencil 4;\nControlReplicate main;\nTask * GPU, CPU;\n";
  round.past.add({1, {text, "the start", 0}, evaluator->evaluate({text, GuideDetail::kProfile})});
  round.model = [](const llm::ChatRequest&) { return std::string("TERMINATE"); };
  round.play(*proposer);
  const std::string prompt = text_of(round.asked.back());
  EXPECT_THAT(prompt, HasSubstr("BANDWIDTHS in GB/s: processors reach CPU-SYSMEM "));
  EXPECT_THAT(prompt, HasSubstr("RUNTIME: mapping a task costs 300 us"));
  EXPECT_THAT(prompt, HasSubstr(" stencil | CPU GPU | 22 launches of 4 points | private (part of "
                                "points) {input input1 output} read-write 217"));
  EXPECT_THAT(prompt, HasSubstr("(CPU and GPU demand SOA F_order)"));
  EXPECT_THAT(prompt, HasSubstr("points by the default mapper (blocks over all GPU), 1 of 4 "
                                "processors used, one of them with 4 points (mean 1); at most 4 "
                                "instances at a time on a processor"));
  EXPECT_THAT(prompt, HasSubstr("(the node where the runtime starts it); replicated\n"));
  EXPECT_THAT(prompt,
              HasSubstr("read_config: CPU; a single task by the default mapper (each CPU of "
                        "the machine in its turn)"));
  EXPECT_THAT(prompt, HasSubstr("the tasks take "));
  EXPECT_THAT(prompt, Not(HasSubstr("SUGGEST: Fewer")));
}

TEST(Trace, OfAnyOtherTextHasItsMarkedSegments) {
  Play play("trace", kernel_problem());
  play.answer("{\"suggestion\": {\"sizes\": \"  int tile = 16;\\n\"}}");
  ASSERT_EQ(play.go(), 1U);
  EXPECT_EQ(play.round.past.last()->proposal.text,
            "int main() {\n// groma: begin sizes the tile\n  int tile = 16;\n// groma: end\n}\n");
  const std::string text = text_of(play.round.asked.front());
  EXPECT_THAT(text, AllOf(HasSubstr("text = put_together(sizes)"), HasSubstr("A kernel."),
                          HasSubstr("(code) sizes: the tile"), Not(HasSubstr("decide")),
                          Not(HasSubstr("Region"))));
}

// -------------------------------------------------------------------------------------------- opro

TEST(Opro, ShowsTheBestTwentyTheBestLast) {
  Play play("opro");
  for (int i = 1; i <= 30; ++i) {
    play.try_text(i, "Task a CPU;\n" + std::string(static_cast<std::size_t>(i), '#') + "\n");
  }
  play.answer("no");
  play.go();
  const std::string text = text_of(play.round.asked.front());
  std::size_t at = text.find("the best last");
  ASSERT_NE(at, text.npos);
  // A text is the better the shorter it is.
  int shown = 0;
  for (int i = 20; i >= 1; --i, ++shown) {
    const std::string line = "\n" + std::string(static_cast<std::size_t>(i), '#') + "\n";
    const std::size_t found = text.find(line, at);
    ASSERT_NE(found, text.npos) << i;
    at = found;
  }
  EXPECT_EQ(shown, 20);
  EXPECT_EQ(text.find(std::string(21, '#')), text.npos);
  EXPECT_THAT(text, HasSubstr(" s\nfeedback: EXECUTED in run EXPLAINED. SUGGESTED.\n"));
  EXPECT_THAT(text, HasSubstr("different from all of the above and has a better result"));
}

TEST(Opro, DrawsEightSamplesOfOnePrompt) {
  Play play("opro");
  play.round.left = 20;
  play.round.model = Obliging();
  EXPECT_EQ(play.go(), 8U);
  ASSERT_EQ(play.round.asked.size(), 8U);
  for (const llm::ChatRequest& request : play.round.asked) {
    EXPECT_DOUBLE_EQ(request.temperature.value(), 1.0);
    EXPECT_EQ(text_of(request), text_of(play.round.asked.front()));
  }
  play.round.left = 3;
  EXPECT_EQ(play.go(), 3U);
}

TEST(Opro, DrawsAsManySamplesAsTheOptionsSay) {
  tuning::AskOptions options;
  options.samples = 1;
  Play play("opro", mapping_problem(), 1, options);
  play.round.left = 20;
  play.round.model = Obliging();
  EXPECT_EQ(play.go(), 1U);
  EXPECT_EQ(play.round.asked.size(), 1U);
}

TEST(Opro, DropsWhatItHasAndWhatIsOfNoUse) {
  Play play("opro");
  int n = 0;
  play.round.model = [&n](const llm::ChatRequest&) {
    ++n;
    return std::string(n % 4 == 0   ? "prose"
                       : n % 2 == 0 ? "```\nTask a CPU;\n```"
                                    : "```\nTask b CPU;\n```");
  };
  EXPECT_EQ(play.go(), 2U);
  EXPECT_EQ(play.round.rejected.size(), 6U);
}

TEST(Opro, WritesWholeTexts) {
  Play play("opro");
  play.answer("```\nTask * CPU;\n```");
  ASSERT_EQ(play.go(), 1U);
  EXPECT_EQ(play.round.past.last()->proposal.text, "Task * CPU;\n");  // no Region of the start
}

// --------------------------------------------------------------------------------------- scientist

// Requests by what they ask for.
std::vector<std::string> kinds_of(const FakeRound& round) {
  std::vector<std::string> kinds;
  for (const llm::ChatRequest& request : round.asked) {
    const std::string text = text_of(request);
    kinds.emplace_back(text.find("\"base\"") != text.npos      ? "selector"
                       : text.find("\"avenues\"") != text.npos ? "designer"
                                                               : "writer");
  }
  return kinds;
}

TEST(Scientist, SelectsDesignsAndWritesThreeOfFive) {
  Play play("scientist");
  play.round.left = 20;
  play.round.model = Obliging();
  play.evaluate_start();
  EXPECT_EQ(play.go(), 3U);
  // Of one there is nothing to select.
  EXPECT_THAT(kinds_of(play.round), ElementsAre("designer", "writer", "writer", "writer"));
  play.round.asked.clear();
  EXPECT_EQ(play.go(), 3U);
  EXPECT_THAT(kinds_of(play.round),
              ElementsAre("selector", "designer", "writer", "writer", "writer"));
}

TEST(Scientist, PicksTheMostInnovativeTheHighestAndTheSurest) {
  Play play("scientist");
  play.round.model = Obliging();
  play.go();
  std::vector<std::string> plans;
  for (const llm::ChatRequest& request : play.round.asked) {
    const std::string text = text_of(request);
    const std::size_t at = text.find("EXPERIMENT, to be carried out on the base: ");
    if (at != text.npos) plans.push_back(text.substr(at + 43));
  }
  EXPECT_THAT(plans,
              ElementsAre("experiment 1.4\nRUBRIC: edits 4\n", "experiment 1.3\nRUBRIC: edits 3\n",
                          "experiment 1.2\nRUBRIC: edits 2\n"));
}

TEST(Scientist, RepeatsNoExperimentThatIsBestInAll) {
  Play play("scientist");
  play.round.model = [n = 0](const llm::ChatRequest& request) mutable {
    if (text_of(request).find("\"avenues\"") == std::string::npos) {
      return fmt::format("```task\nTask t{} CPU;\n```", ++n);
    }
    return std::string(
        R"({"avenues": [], "experiments": [
          {"description": "all", "rubric": ["x", "y"], "gain": [90, 99], "innovation": 100},
          {"description": "next", "rubric": "", "gain": [30, 10], "innovation": 2},
          {"description": "bad", "gain": "much", "innovation": 99},
          {"description": "worse", "gain": [0, "1"], "innovation": 99},
          {"description": "last", "rubric": "", "gain": [1, 2], "innovation": 3}]})");
  };
  EXPECT_EQ(play.go(), 3U);
  std::vector<std::string> tried;
  for (const tuning::Step& step : play.round.past.recent()) tried.push_back(step.proposal.why);
  EXPECT_THAT(tried, ElementsAre("all", "next", "last"));
  EXPECT_THAT(text_of(play.round.asked[1]), HasSubstr("RUBRIC: x; y\n"));
}

TEST(Scientist, SelectsByTheTimingsOfAllInputs) {
  class Two : public Telling {
   public:
    std::vector<std::string> inputs() const override { return {"small", "large"}; }
    tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
      tuning::Evaluation evaluation = Telling::evaluate(request);
      if (evaluation.ok()) evaluation.values = {evaluation.score, 2 * evaluation.score};
      return evaluation;
    }
  };
  const tuning::SearchProblem problem = mapping_problem();
  Two evaluator;
  FakeRound round(problem, evaluator);
  auto proposer = tuning::make_proposer("scientist", problem, 1).value();
  round.model = Obliging();
  round.left = 30;
  for (int i = 0; i < 3; ++i) round.play(*proposer);
  std::string last;
  for (const llm::ChatRequest& request : round.asked) {
    if (text_of(request).find("\"base\"") != std::string::npos) last = text_of(request);
  }
  EXPECT_THAT(last, HasSubstr("POPULATION id | parents | time for each input\n"));
  EXPECT_THAT(last,
              ::testing::ContainsRegex(" #1 \\| none \\| small 1.[0-9]+ s, large 2.[0-9]+ s\n"));
  EXPECT_THAT(last, ::testing::ContainsRegex(" #4 \\| #[0-9], #[0-9] \\| small"));
  // Only that: neither texts nor a card.
  EXPECT_THAT(last, Not(HasSubstr("Task t")));
  EXPECT_THAT(last, Not(HasSubstr("REFERENCE CARD")));
}

TEST(Scientist, SeesTimingsAndNothingElseOfARunThatWorked) {
  Play play("scientist");
  play.round.left = 40;
  play.round.model = Obliging();
  play.evaluate_start();
  play.try_text(1, "FAIL");
  for (int i = 0; i < 4; ++i) play.go();
  EXPECT_EQ(play.proposer->reads(), GuideDetail::kExplain);
  for (const llm::ChatRequest& request : play.round.asked) {
    for (const char* word : {"EXECUTED", "CRASHED", "EXPLAINED", "SUGGESTED", "PROFILED"}) {
      EXPECT_THAT(text_of(request), Not(HasSubstr(word)));
    }
  }
  EXPECT_THAT(text_of(play.round.asked[4]), HasSubstr("did not run"));  // the selector's
}

// The writer of a text that does not compile must learn why, or it writes the same again.
TEST(Scientist, FindingsSayWhyAnExperimentFailed) {
  class Compiler : public Telling {
   public:
    tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
      tuning::Evaluation evaluation = Telling::evaluate(request);
      if (request.text.find("Task t") == std::string::npos) return evaluation;
      evaluation = {};
      evaluation.status = tuning::Evaluation::Status::kFailed;
      GuideFeedback& feedback = evaluation.feedback;
      feedback.execution = "Execution Error: the command ended with exit code 1";
      feedback.last_lines = {"/home/someone/kernel.cc:3:5: error: 'y' was not declared",
                             "    3 |   y = 1;", std::string(5'000, '^')};
      for (int i = 0; i < 20; ++i) feedback.last_lines.push_back(fmt::format("note {}", i));
      feedback.explain = {"What it printed last may say why."};
      feedback.suggest = {"SUGGESTED."};
      return evaluation;
    }
  };
  const tuning::SearchProblem problem = mapping_problem();
  Compiler evaluator;
  for (const GuideDetail detail :
       {GuideDetail::kProfile, GuideDetail::kExecution, GuideDetail::kNone}) {
    FakeRound round(problem, evaluator);
    round.shown = detail;
    round.left = 30;
    round.model = Obliging();
    auto proposer = tuning::make_proposer("scientist", problem, 1).value();
    round.play(*proposer);
    const std::size_t asked = round.asked.size();
    round.play(*proposer);
    const std::string why =
        "- \"experiment 1.4\" on #0: it did not run.\n"
        "  Execution Error: the command ended with exit code 1\n"
        "  kernel.cc:3:5: error: 'y' was not declared\n"
        "      3 |   y = 1;\n";
    ASSERT_EQ(round.asked.size(), asked + 4);  // nothing ran, so there is nothing to select
    for (std::size_t i = asked; i < round.asked.size(); ++i) {
      const std::string text = text_of(round.asked[i]);
      if (detail == GuideDetail::kNone) {
        EXPECT_THAT(text, HasSubstr("\"experiment 1.4\" on #0: it did not run.\n- \"experiment"));
        EXPECT_THAT(text, Not(HasSubstr("error")));
        continue;
      }
      EXPECT_THAT(text, AllOf(HasSubstr(why), HasSubstr("note 2"), Not(HasSubstr("note 3")),
                              Not(HasSubstr("someone")), Not(HasSubstr("SUGGESTED"))));
      EXPECT_EQ(text.find("may say why") != text.npos, detail == GuideDetail::kProfile);
    }
    EXPECT_LT(proposer->findings().size(), 8'000U);
  }
}

// A finding is shown with all its lines or not at all.
TEST(Scientist, CutsFindingsBetweenTwoOfThem) {
  Play play("scientist");
  play.round.left = 1'000;
  play.round.model = [n = 0, obliging = Obliging()](const llm::ChatRequest& request) mutable {
    if (text_of(request).find("\"avenues\"") != std::string::npos) return obliging(request);
    return Result<std::string, llm::ChatError>(fmt::format("```task\nTask FAIL{} CPU;\n```", ++n));
  };
  for (int i = 0; i < 60; ++i) play.go();
  EXPECT_GT(play.proposer->findings().size(), 10'000U);
  const std::string text = text_of(play.round.asked.back());
  const std::string_view heading = "FINDINGS of earlier experiments\n";
  const std::size_t begin = text.find(heading);
  ASSERT_NE(begin, text.npos);
  EXPECT_THAT(text.substr(begin + heading.size(), 13), "- \"experiment");
  EXPECT_THAT(text, HasSubstr(": it did not run.\n  it CRASHED in run\n  EXPLAINED.\n"));
}

// The designer learns what was wrong with its design, the writer what was wrong with its text.
TEST(Scientist, TellsEachRoleAboutItsOwnReplies) {
  Play play("scientist");
  play.round.left = 40;
  int round = 0;
  play.round.model =
      [&round, obliging = Obliging()](
          const llm::ChatRequest& request) mutable -> Result<std::string, llm::ChatError> {
    const bool designs = text_of(request).find("\"avenues\"") != std::string::npos;
    if (round == 1 && !designs) return std::string("I am sorry, I cannot do that.");
    if (round == 2 && designs) return std::string("I have no idea.");
    return obliging(request);
  };
  const auto prompts = [&play, &round](bool designer) {
    std::string text;
    for (const llm::ChatRequest& request : play.round.asked) {
      const bool designs = text_of(request).find("\"avenues\"") != std::string::npos;
      if (designs == designer) text += text_of(request);
    }
    return text;
  };
  const std::string remark = "YOUR LAST REPLY could not be used: ";
  round = 1;
  EXPECT_EQ(play.go(), 0U);
  EXPECT_THAT(play.proposer->findings(),
              HasSubstr("\n- \"experiment 1.4\" was not carried out: no "));
  play.round.asked.clear();
  round = 2;
  EXPECT_EQ(play.go(), 0U);  // only the designer is asked, and it has no design
  EXPECT_THAT(prompts(true), Not(HasSubstr(remark)));
  EXPECT_EQ(prompts(false), "");
  play.round.asked.clear();
  round = 3;
  EXPECT_EQ(play.go(), 3U);
  EXPECT_THAT(prompts(true), HasSubstr(remark + "it is not a JSON object"));
  EXPECT_THAT(prompts(false), AllOf(HasSubstr(remark), Not(HasSubstr("JSON object"))));
  play.round.asked.clear();
  EXPECT_EQ(play.go(), 3U);
  EXPECT_THAT(prompts(true) + prompts(false), Not(HasSubstr(remark)));
}

TEST(Scientist, KeepsFindings) {
  Play play("scientist");
  play.round.left = 1'000;
  play.round.model = Obliging();
  play.evaluate_start();
  play.go();
  play.go();
  const auto designer = [&play] {
    std::string text;
    for (const llm::ChatRequest& request : play.round.asked) {
      if (text_of(request).find("\"avenues\"") != std::string::npos) text = text_of(request);
    }
    return text;
  };
  EXPECT_THAT(designer(),
              AllOf(HasSubstr("FINDINGS of earlier experiments\n"),
                    ::testing::ContainsRegex("\"experiment 1.4\" on #0: [+-].*% time.")));
  for (int i = 0; i < 200; ++i) {
    play.round.asked.clear();
    play.go();
  }
  EXPECT_LT(designer().size(), kPromptBytes + 1);
  EXPECT_THAT(designer(), Not(HasSubstr("\"experiment 1.4\"")));
}

// All of them are kept, of which a prompt shows the last.
TEST(Scientist, HasMoreFindingsThanItShows) {
  Play play("scientist");
  play.round.left = 1'000;
  play.round.model = Obliging();
  play.evaluate_start();
  for (int i = 0; i < 60; ++i) play.go();
  EXPECT_THAT(play.proposer->findings(),
              ::testing::StartsWith("- Plan: base #0, reference none\n  avenue: avenue 0\n"));
  EXPECT_THAT(play.proposer->findings(),
              AllOf(HasSubstr("\n  not carried out: experiment 1.0; expects 1 to 20 %, innovation "
                              "10; edits 0\n"),
                    HasSubstr("\n- \"experiment 1.4\" on #0: ")));
  EXPECT_GT(play.proposer->findings().size(), 6'000U);
}

// The scientist names the unit of the evaluator, and counts a higher rate as a gain.
TEST(Scientist, SpeaksOfWhatIsMeasured) {
  class Rate : public Telling {
   public:
    std::string unit() const override { return "GFLOP/s"; }
    bool higher_is_better() const override { return true; }
    tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
      tuning::Evaluation evaluation = Telling::evaluate(request);
      evaluation.score = request.text == mapping_problem().start ? 1 : 0.5;
      evaluation.values = {1 / evaluation.score};
      return evaluation;
    }
  };
  const tuning::SearchProblem problem = mapping_problem();
  Rate evaluator;
  FakeRound round(problem, evaluator);
  auto proposer = tuning::make_proposer("scientist", problem, 1).value();
  round.model = Obliging();
  round.left = 30;
  tuning::Step step{0, {problem.start, "", 0}, evaluator.evaluate({problem.start})};
  round.past.add(step);
  proposer->learn(step);
  round.play(*proposer);
  round.play(*proposer);
  EXPECT_THAT(proposer->findings(), HasSubstr("\"experiment 1.4\" on #0: +100.0 % GFLOP/s.\n"));
  std::string all;
  for (const llm::ChatRequest& request : round.asked) all += text_of(request);
  EXPECT_THAT(all, HasSubstr("POPULATION id | parents | GFLOP/s for each input\n"));
  EXPECT_THAT(all, Not(HasSubstr("% time")));
}

TEST(Scientist, SaysThatADesignIsShort) {
  Play play("scientist");
  auto obliging = std::make_shared<Obliging>();
  play.round.model =
      [obliging](const llm::ChatRequest& request) -> Result<std::string, llm::ChatError> {
    if (text_of(request).find("\"avenues\"") == std::string::npos) return (*obliging)(request);
    return std::string(
        R"({"avenues": ["a", "b"], "experiments": [)"
        R"({"description": "one", "rubric": "", "gain": [1, 2], "innovation": 3}]})");
  };
  EXPECT_EQ(play.go(), 1U);
  EXPECT_EQ(play.go(), 1U);
  std::string last;
  for (const llm::ChatRequest& request : play.round.asked) {
    if (text_of(request).find("\"avenues\"") != std::string::npos) last = text_of(request);
  }
  EXPECT_THAT(last, HasSubstr("YOUR LAST DESIGN was short: 2 avenues instead of ten, 1 experiments "
                              "of use instead of five.\n"));
  EXPECT_THAT(play.proposer->findings(), HasSubstr("A design had 2 avenues and 1 experiments"));
}

TEST(Scientist, GoesOnWhereTheSelectorSaysNothing) {
  Play play("scientist");
  play.try_text(1, "Task a CPU;\n");
  play.try_text(2, "Task a CPU;\nLayout * * * AOS;\nRegion * * * SYSMEM;\n");
  play.try_text(3, "Task bb CPU;\n");
  auto obliging = std::make_shared<Obliging>();
  play.round.model =
      [obliging](const llm::ChatRequest& request) -> Result<std::string, llm::ChatError> {
    if (text_of(request).find("\"base\"") != std::string::npos) return std::string("the first one");
    return (*obliging)(request);
  };
  EXPECT_EQ(play.go(), 3U);
  // The best, and the one that differs from it in most segments.
  const std::string text = text_of(play.round.asked.back());
  EXPECT_THAT(text, HasSubstr("BASE: #1,"));
  EXPECT_THAT(text, HasSubstr("REFERENCE: #2,"));
}

TEST(Scientist, TakesTheBaseAndTheReferenceThatAreSelected) {
  Play play("scientist");
  for (int i = 1; i <= 4; ++i) play.try_text(i, fmt::format("Task a{} CPU;\n", i));
  auto obliging = std::make_shared<Obliging>();
  play.round.model =
      [obliging](const llm::ChatRequest& request) -> Result<std::string, llm::ChatError> {
    if (text_of(request).find("\"base\"") == std::string::npos) return (*obliging)(request);
    return std::string("```json\n{\"base\": 3, \"reference\": 4, \"reason\": \"x\"}\n```");
  };
  ASSERT_EQ(play.go(), 3U);
  EXPECT_THAT(text_of(play.round.asked.back()),
              AllOf(HasSubstr("BASE: #3,"), HasSubstr("REFERENCE: #4,")));
}

// ------------------------------------------------------------------------------------------ evolve

std::string edit(const std::string& search, const std::string& replacement) {
  return "A change.\n<<<<<<< SEARCH\n" + search + "=======\n" + replacement + ">>>>>>> REPLACE\n";
}

TEST(Evolve, AsksForEditsOfTheCurrentProgram) {
  Play play("evolve");
  play.evaluate_start();
  play.answer(edit("Region * * GPU FBMEM;\n", "Region * * GPU ZCMEM;\n"));
  ASSERT_EQ(play.go(), 1U);  // the other worker's is the same
  EXPECT_EQ(play.round.past.last()->proposal.text, "Task * GPU, CPU;\n\nRegion * * GPU ZCMEM;\n");
  EXPECT_EQ(play.round.past.last()->proposal.why, "A change.");
  const std::string text = text_of(play.round.asked.front());
  std::size_t at = 0;
  for (const char* part :
       {"REFERENCE CARD", "MACHINE", "FITNESS of the current program (#0): 1.0", "FEATURES: length",
        "LAST EXECUTION OUTPUT\nEXECUTION: EXECUTED in run",
        "CURRENT PROGRAM\n```\nTask * GPU, CPU;", "TASK: make the current program better",
        "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"}) {
    const std::size_t found = text.find(part, at);
    ASSERT_NE(found, text.npos) << part;
    at = found;
  }
}

TEST(Evolve, ShowsAttemptsAndOtherPrograms) {
  Play play("evolve");
  play.round.left = 60;
  play.round.model = Obliging();
  play.evaluate_start();
  while (play.round.left > 0 && play.go() > 0) {
  }
  const std::string text = text_of(play.round.asked.back());
  std::size_t at = 0;
  for (const char* part : {"FOCUS: it is", "PREVIOUS ATTEMPTS\n#", "THE BEST PROGRAMS\n#",
                           "PROGRAMS THAT DIFFER\n#", "CURRENT PROGRAM\n"}) {
    const std::size_t found = text.find(part, at);
    ASSERT_NE(found, text.npos) << part;
    at = found;
  }
  EXPECT_THAT(text, ::testing::ContainsRegex(
                        "#[0-9]+ number [0-9]+.: 1.[0-9]+ s .(improved|regressed).\n"));
}

TEST(Evolve, RefusesEditsThatDoNotFitThenAsksForWholePrograms) {
  Play play("evolve");
  play.answer(edit("Region rp * GPU FBMEM;\n", ""));
  EXPECT_EQ(play.go(), 0U);
  ASSERT_EQ(play.round.rejected.size(), 2U);
  EXPECT_THAT(play.round.rejected.front(), HasSubstr("is not in the program"));
  play.round.asked.clear();
  play.answer("```\nTask * CPU;\n```");
  EXPECT_EQ(play.go(), 1U);
  const std::string text = text_of(play.round.asked.front());
  EXPECT_THAT(text, AllOf(HasSubstr("`Region rp * GPU FBMEM;` is not in the program"),
                          HasSubstr("write a better one"), Not(HasSubstr("SEARCH\n"))));
}

TEST(Evolve, OnlyWhatRunsHasChildren) {
  Play play("evolve");
  play.evaluate_start();
  for (int i = 1; i <= 20; ++i) play.try_text(i, fmt::format("Task FAIL{} CPU;\n", i));
  play.round.model = Obliging();
  for (int i = 0; i < 3; ++i) play.go();
  for (const llm::ChatRequest& request : play.round.asked) {
    const std::string text = text_of(request);
    EXPECT_THAT(text.substr(text.find("CURRENT PROGRAM")), Not(HasSubstr("Task FAIL")));
  }
}

// As many programs as are kept, and many more: nothing grows with them but what is seen here.
TEST(Evolve, LivesLong) {
  Play play("evolve");
  play.round.left = 6'000;
  play.round.model = Obliging();
  play.evaluate_start();
  std::size_t longest = 0;
  while (play.round.left > 0 && play.go() > 0) {
    longest = std::max(longest, text_of(play.round.asked.back()).size());
    play.round.asked.clear();
  }
  EXPECT_EQ(play.round.left, 0U);
  EXPECT_LE(longest, kPromptBytes);
}

// ------------------------------------------------------------------------------------------ hybrid

TEST(Hybrid, TakesTurnsWithGuided) {
  Play play("hybrid");
  play.round.model = Obliging();
  play.evaluate_start();
  while (play.round.left > 0 && play.go() > 0) {
  }
  std::string turns;
  for (const tuning::Step& step : play.round.past.recent()) {
    if (step.number > 0) turns += step.proposal.why.starts_with("guided: ") ? 'g' : 'm';
  }
  EXPECT_EQ(turns, "gmgmgmgmgm");
}

TEST(Hybrid, GoesOnWithGuidedAloneWhereThereIsNoModel) {
  Play play("hybrid");
  play.evaluate_start();
  while (play.round.left > 0 && play.go() > 0) {
  }
  EXPECT_EQ(play.round.left, 0U);
  EXPECT_EQ(play.round.asked.size(), 2U);  // then not for a while
}

TEST(Hybrid, AsksAgainLaterAModelThatWasNoUse) {
  Play play("hybrid");
  play.round.left = 40;
  play.round.model = [obliging = Obliging(), n = 0](const llm::ChatRequest& request) mutable {
    return ++n <= 2 ? Result<std::string, llm::ChatError>("I cannot help with that.")
                    : obliging(request);
  };
  play.evaluate_start();
  while (play.round.left > 0 && play.go() > 0) {
  }
  const auto count = [&](std::string_view begin) {
    const auto& steps = play.round.past.recent();
    return std::count_if(steps.begin(), steps.end(), [&](const tuning::Step& step) {
      return step.proposal.why.starts_with(begin);
    });
  };
  EXPECT_GE(play.round.asked.size(), 10U);
  EXPECT_GE(count("guided, the model was no use lately: "), 8);
  EXPECT_GE(count("guided: "), 8);
}

TEST(Hybrid, GoesOnWithTheModelAloneWhereThereIsNoMapping) {
  Play play("hybrid", kernel_problem());
  play.round.model = Obliging();
  while (play.round.left > 0 && play.go() > 0) {
  }
  EXPECT_EQ(play.round.asked.size(), 10U);
  EXPECT_EQ(play.round.left, 0U);
}

TEST(Hybrid, ShowsTheStepsInOrderWithChangeAndVerdict) {
  Play play("hybrid");
  play.evaluate_start();
  play.try_text(1, "Task a CPU;\n");
  play.try_text(2, "Task a CPU;\n\nLayout * * * AOS;\n");
  play.try_text(3, "Task FAIL CPU;\n");
  play.try_text(4, "# again\nTask a CPU;\n");
  play.round.model = Obliging();
  play.go();  // guided's
  play.go();
  const std::string text = text_of(play.round.asked.front());
  std::size_t at = 0;
  for (const char* part :
       {"REFERENCE CARD", "MACHINE",
        "CURRENT (#1, the best)\n```task\nTask a CPU;\n```\n```region\nNONE",
        "DECISIONS of CURRENT\n",
        "HISTORY (the steps in their order; each difference is against the best text before it)\n",
        "#0 valid, 1.039 s, the first that ran\n",
        "#1 valid, 1.012 s, BETTER than #0, the best before it (1.039 s) (the best so far)\n",
        "  task:\n    - Task * GPU, CPU;\n    + Task a CPU;\n  region:\n    - Region * * GPU "
        "FBMEM;\n",
        "#2 valid, 1.031 s, WORSE than #1, the best before it (1.012 s)\n",
        "  layout:\n    + Layout * * * AOS;\n",
        "#3 failed: it CRASHED in run EXPLAINED.\n  task:\n    - Task a CPU;\n    + Task FAIL "
        "CPU;\n",
        "#4 valid, ", "#5 valid, ", "; change: guided: ", "BUDGET: ", "RESULT: valid, 1.012 s",
        "SUGGEST: SUGGESTED.", "PROFILE: ", "You may change all segments"}) {
    const std::size_t found = text.find(part, at);
    ASSERT_NE(found, text.npos) << part << "\n" << text.substr(at);
    at = found;
  }
  EXPECT_THAT(text, Not(HasSubstr("left out")));
}

// The history of a long search says how many steps it leaves out. The best step is old and stays.
TEST(Hybrid, SaysHowManyStepsAreLeftOut) {
  Play play("hybrid", kernel_problem());
  play.evaluate_start();
  play.try_text(1, "// groma: begin sizes the tile\n1\n// groma: end\n");
  for (std::int64_t step = 2; step < 100; ++step) {
    const std::string length(static_cast<std::size_t>(20 + step % 30), 'x');
    play.try_text(
        step, fmt::format("// groma: begin sizes the tile\n{}{}\n// groma: end\n", step, length));
  }
  play.round.model = Obliging();
  ASSERT_EQ(play.go(), 1U);
  const std::string text = text_of(play.round.asked.front());
  EXPECT_THAT(text, HasSubstr(" of 100 steps are left out for space. Shown are the last 16, the "
                              "best 4, the last 4 that were the best when they were tried, and the "
                              "last 6 that failed for different reasons.)\n"));
  std::int64_t shown = 0;
  for (std::int64_t step = 0, last = -1; step < 100; ++step) {
    const std::size_t at = text.find(fmt::format("\n#{} ", step));
    if (at == text.npos) continue;
    ++shown;
    EXPECT_GT(static_cast<std::int64_t>(at), last);
    last = static_cast<std::int64_t>(at);
  }
  EXPECT_THAT(text, HasSubstr(fmt::format("\n({} of 100 steps", 100 - shown)));
  EXPECT_THAT(text, HasSubstr("\n#84 "));
  EXPECT_THAT(text, HasSubstr("(the best so far)"));
}

// So many texts are as good as the record, within the noise, that the history drops the record. A
// verdict must name the best step of its time, not the best one that is still kept.
TEST(Hybrid, ComparesWithTheBestOfItsTimeIfThatIsNoLongerKept) {
  Play play("hybrid", kernel_problem());
  const auto text_of_step = [](std::int64_t step) {
    return fmt::format("// groma: begin sizes the tile\n{}\n// groma: end\n", step);
  };
  const auto add = [&](std::int64_t number, double score) {
    tuning::Step step{number, {text_of_step(number), "", 0}, {}};
    step.evaluation.status = tuning::Evaluation::Status::kOk;
    step.evaluation.score = score;
    step.evaluation.noise = 0.1;
    step.evaluation.values = {score};
    play.round.past.add(step);
  };
  // #1 is the record. The scores of the next 80 steps are better, but only within the noise, and
  // they fill the list of the best steps. #100 is a record again.
  add(1, 1.0);
  for (std::int64_t step = 2; step < 82; ++step) {
    add(step, 0.99 - 0.0001 * static_cast<double>(step));
  }
  ASSERT_EQ(play.round.past.best()->number, 1);
  add(82, 0.5);
  for (std::int64_t step = 83; step < 90; ++step) add(step, 0.49);
  play.round.model = Obliging();
  ASSERT_EQ(play.go(), 1U);
  const std::string text = text_of(play.round.asked.front());
  EXPECT_THAT(text, HasSubstr("#82 valid, 0.5 s, BETTER than #1, the best before it (1 s)"));
  EXPECT_THAT(text, HasSubstr("  (the difference is unknown: the text of #1 is no longer kept)\n"));
}

// Values only that both tasks of stencil are on CPUs, which no single change of `guided` reaches.
// Compares decisions.
class LikesTasksOnCpus : public FakeEvaluator {
 public:
  explicit LikesTasksOnCpus(const tuning::SearchProblem& problem)
      : FakeEvaluator([](const std::string& text) { return are_on_cpus(text) ? 0.5 : 1.0; }),
        problem_(problem) {}
  static bool are_on_cpus(const std::string& text) {
    Diagnostics diags(Source("", text));
    const Program program = compile(diags.source(), diags);
    const auto is_on_cpus = [&](std::string_view task) {
      const auto decision = program.task(task);
      return decision && !decision->kinds.empty() && decision->kinds.front() == ProcKind::kCpu;
    };
    return is_on_cpus("stencil") && is_on_cpus("increment");
  }
  bool acts_alike(const std::string& a, const std::string& b) const override {
    return decisions(a).are_same_as(decisions(b));
  }

 private:
  MappingDecisions decisions(const std::string& text) const {
    Diagnostics diags(Source("", text));
    const auto bound = bind(compile(diags.source(), diags), *problem_.machine, diags);
    return MappingDecisions(bound.value(), problem_.inputs.front());
  }
  const tuning::SearchProblem& problem_;
};

// Only what the mappings decide counts, not how they name or write it.
TEST(WinningDecisions, AreComparedByWhatTheyDo) {
  const tuning::SearchProblem problem = mapping_problem();
  const auto mapping = [](const std::string& function, const std::string& processor) {
    return fmt::format(
        "Task * CPU;\ndef {0}(Task task) {{ return Machine(CPU)[0, {1}]; }}\n"
        "IndexTaskMap stencil {0};\n",
        function, processor);
  };
  const std::string before = mapping("f", "0"), best = mapping("g", "task.ipoint[0] % 4");
  const auto won = tuning::WinningDecisions::between(problem, before, best);
  ASSERT_TRUE(won);
  EXPECT_TRUE(won->are_undone_by(before));
  EXPECT_FALSE(won->are_undone_by(best));
  // The same places under another name.
  EXPECT_TRUE(won->are_undone_by(mapping("h", "0")));
  // Other places under the name that was there before.
  EXPECT_FALSE(won->are_undone_by(mapping("f", "task.ipoint[0] % 4 + 4")));
}

TEST(Hybrid, GuidedDoesNotTakeBackWhatTheModelWon) {
  for (const bool estimates : {false, true}) {
    const tuning::SearchProblem problem = [] {
      tuning::SearchProblem made = mapping_problem();
      made.start = "";
      return made;
    }();
    LikesTasksOnCpus evaluator(problem);
    FakeRound round(problem, evaluator);
    round.estimates = estimates;
    const auto proposer = tuning::make_proposer("hybrid", problem, 1, {}).value();
    // The model wins with its first replies, and then is no use.
    round.model = [n = 0](const llm::ChatRequest&) mutable -> Result<std::string, llm::ChatError> {
      if (++n > 3) return std::string("I cannot help.");
      return fmt::format(
          "```task\nTask stencil, increment CPU;\n```\n```limit\nInstanceLimit * {};\n```\n",
          7 + n);
    };
    round.left = estimates ? 10 : 40;
    const auto start = evaluator.evaluate({problem.start});
    round.past.add({0, {problem.start, "", 0}, start});
    proposer->learn({0, {problem.start, "", 0}, start});
    bool has_won = false;
    int later = 0;
    while (round.left > 0 && round.play(*proposer) > 0) {
      const tuning::Step& last = *round.past.last();
      const bool is_guided = last.proposal.why.starts_with("guided");
      if (!is_guided && last.evaluation.score < 1) has_won = true;
      if (!has_won || !is_guided) continue;
      ++later;
      EXPECT_TRUE(LikesTasksOnCpus::are_on_cpus(last.proposal.text))
          << last.number << (estimates ? " with estimates: " : ": ") << last.proposal.why << "\n"
          << last.proposal.text;
    }
    EXPECT_GE(later, estimates ? 5 : 20);
  }
}

// A mapping that the model tried without success is not tried again under another text.
TEST(Hybrid, GuidedDoesNotRepeatWhatTheModelTried) {
  const tuning::SearchProblem problem = [] {
    tuning::SearchProblem made = mapping_problem();
    made.start = "";
    return made;
  }();
  LikesTasksOnCpus evaluator(problem);
  FakeRound round(problem, evaluator);
  const auto proposer = tuning::make_proposer("hybrid", problem, 1, {}).value();
  const char* const kTried[] = {"Task stencil OMP;", "Task increment OMP;",
                                "Region stencil * GPU ZCMEM;", "Region * * GPU ZCMEM;"};
  round.model = [&, n = 0](const llm::ChatRequest&) mutable -> Result<std::string, llm::ChatError> {
    if (n == 4) return std::string("I cannot help.");
    const std::string text = kTried[n++];
    return fmt::format("```{}\n{}\n```\n", text.starts_with("Task") ? "task" : "region", text);
  };
  round.left = 60;
  const auto start = evaluator.evaluate({problem.start});
  round.past.add({0, {problem.start, "", 0}, start});
  proposer->learn({0, {problem.start, "", 0}, start});
  std::vector<std::string> tried;
  while (round.left > 0 && round.play(*proposer) > 0) {
    const tuning::Proposal& last = round.past.last()->proposal;
    if (!last.why.starts_with("guided")) {
      tried.push_back(last.text);
      continue;
    }
    for (const std::string& text : tried) {
      EXPECT_FALSE(evaluator.acts_alike(text, last.text)) << last.why << "\n" << text;
    }
  }
  EXPECT_GE(tried.size(), 2U);
}

TEST(Hybrid, TriesTheSampleThatTheEstimatesLikeBest) {
  Play play("hybrid", kernel_problem());
  play.round.estimates = true;
  play.round.model = [n = 0](const llm::ChatRequest&) mutable {
    const int lengths[] = {7, 3, 5};
    const auto length = static_cast<std::size_t>(lengths[n++]);
    return "```sizes\n" + std::string(length, 'x') + "\n```\n";
  };
  ASSERT_EQ(play.go(), 1U);
  EXPECT_EQ(play.round.asked.size(), 3U);
  EXPECT_THAT(play.round.past.last()->proposal.text, HasSubstr("\nxxx\n"));
  // The others were not tried, so they are no old ones.
  play.round.estimates = false;
  play.round.model = [](const llm::ChatRequest&) { return std::string("```sizes\nxxxxx\n```\n"); };
  ASSERT_EQ(play.go(), 1U);
  EXPECT_THAT(play.round.past.last()->proposal.text, HasSubstr("\nxxxxx\n"));
}

// ------------------------------------------------------------------------------------- constrained

TEST(Constrained, AProgramIsAskedForUnderTheGrammarOfTheNamesThatThereAre) {
  tuning::AskOptions options;
  options.constrain = true;
  options.max_tokens = 200;
  for (const std::string& name : kAsking) {
    Play play(name, mapping_problem(), 1, options);
    auto obliging = std::make_shared<Obliging>();
    int programs = 0;
    play.round.model =
        [&, n = 0](const llm::ChatRequest& request) mutable -> Result<std::string, llm::ChatError> {
      EXPECT_EQ(request.max_tokens, 200);
      const llm::ChatConstraint& constraint = request.constraint;
      EXPECT_NE(constraint.gbnf.empty(), constraint.json_schema.empty()) << name;
      if (constraint.gbnf.empty()) return (*obliging)(request);
      ++programs;
      EXPECT_THAT(constraint.gbnf, HasSubstr("\"stencil\""));
      EXPECT_THAT(constraint.lark, HasSubstr("\"stencil\""));
      EXPECT_THAT(text_of(request), HasSubstr("nothing else"));
      return fmt::format("Task stencil CPU;\nInstanceLimit stencil {};\n", ++n);
    };
    play.evaluate_start();
    EXPECT_GT(play.go(), 0U) << name;
    EXPECT_GT(programs, 0) << name;
    // A whole program: nothing of the start stays.
    EXPECT_THAT(play.round.past.last()->proposal.text, Not(HasSubstr("Region"))) << name;
  }
}

}  // namespace
}  // namespace groma
