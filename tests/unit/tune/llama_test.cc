// The proposers that ask a model, end to end with llama.cpp's own server and random weights: under
// the grammar whatever they propose is a program.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "groma/benchmarks.h"
#include "groma/evaluators.h"
#include "groma/proposers.h"
#include "groma/syntax.h"
#include "support/llama_server.h"
#include "support/temporary_folder.h"

namespace groma {
namespace {

bool parses(const std::string& text) {
  Diagnostics diags(Source("proposal", text));
  return format(diags.source(), diags).has_value();
}

constexpr int kProgramTokens = 240;  // of a program

tuning::SearchProblem stencil() {
  tuning::SearchProblem problem;
  problem.machine = std::make_shared<const Machine>(make_machine("p100x4").value());
  problem.inputs.push_back(Workload::make(find_benchmark("stencil")->make()).value());
  problem.start = "Task * GPU, CPU;\n";
  return problem;
}

// Programs under the grammar with fewer tokens than all else: the server takes the longer for each
// the more there are, and the scientist's designer writes more than a program has.
class ShortPrograms : public tuning::Proposer {
 public:
  explicit ShortPrograms(std::unique_ptr<tuning::Proposer> proposer)
      : proposer_(std::move(proposer)) {}
  std::string_view name() const override { return proposer_->name(); }
  GuideDetail reads() const override { return proposer_->reads(); }
  std::vector<tuning::Proposal> propose(tuning::SearchRound& round) override {
    Shortening shortening(round);
    return proposer_->propose(shortening);
  }
  void learn(const tuning::Step& step) override { proposer_->learn(step); }

 private:
  class Shortening : public tuning::SearchRound {
   public:
    explicit Shortening(tuning::SearchRound& round) : round_(round) {}
    const tuning::SearchProblem& problem() const override { return round_.problem(); }
    const tuning::History& history() const override { return round_.history(); }
    std::size_t max_proposals() const override { return round_.max_proposals(); }
    GuideDetail detail() const override { return round_.detail(); }
    const tuning::Evaluator& evaluator() const override { return round_.evaluator(); }
    std::vector<Result<llm::ChatReply, llm::ChatError>> ask(
        std::span<const llm::ChatRequest> requests) override {
      std::vector<llm::ChatRequest> shorter(requests.begin(), requests.end());
      for (llm::ChatRequest& request : shorter) {
        if (!request.constraint.gbnf.empty()) request.max_tokens = kProgramTokens;
      }
      return round_.ask(shorter);
    }
    bool has_estimates() const override { return round_.has_estimates(); }
    std::int64_t estimates_left() const override { return round_.estimates_left(); }
    std::vector<tuning::Evaluation> estimate(std::span<const std::string> texts,
                                             GuideDetail detail) override {
      return round_.estimate(texts, detail);
    }
    void reject(std::string why) override { round_.reject(std::move(why)); }
    bool stop() const override { return round_.stop(); }

   private:
    tuning::SearchRound& round_;
  };

  std::unique_ptr<tuning::Proposer> proposer_;
};

// Searches with the server until a program that it wrote was tried, or to an end; all of it in a
// directory, so as often as one likes.
class LlamaSearch {
 public:
  LlamaSearch(const testing::LlamaServer& server, std::string_view proposer, int seed,
              std::string directory)
      : server_(server), proposer_(proposer), seed_(seed) {
    options_.compare = true;  // so that what is refused counts
    options_.directory = std::move(directory);
  }

  tuning::TuneOutcome run(bool resume) {
    programs = resumed = 0;
    const auto evaluator = tuning::make_simulated_evaluator(problem_.machine, problem_.inputs);
    tuning::AskOptions ask;
    ask.constrain = true;
    ask.max_tokens = proposer_ == "scientist" ? 8'000 : kProgramTokens;
    ShortPrograms proposer(
        tuning::make_proposer(proposer_, problem_, static_cast<std::uint64_t>(seed_), ask).value());
    llm::ChatClient model = server_.client();
    options_.resume = resume;
    options_.stop = [this] { return programs > 0; };
    options_.on_event = [this](const tuning::TuneEvent& event) {
      if (event.kind == tuning::TuneEvent::Kind::kResumed) ++resumed;
      if (event.kind != tuning::TuneEvent::Kind::kEvaluated) return;
      const tuning::Proposal& proposal = event.step->proposal;
      EXPECT_TRUE(parses(proposal.text)) << proposer_ << proposal.text;
      const bool asked = event.spent.model_calls > 0 && !proposal.why.starts_with("guided");
      if (asked) ++programs;
    };
    auto outcome = tuning::tune(problem_, *evaluator, proposer, &model, nullptr, options_);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    if (!outcome) return {};
    EXPECT_NE(outcome->end, tuning::TuneOutcome::End::kModel) << outcome->why;
    requests = model.spent().requests;
    return *std::move(outcome);
  }

  int programs = 0, resumed = 0;
  std::int64_t requests = 0;  // of this run

 private:
  const testing::LlamaServer& server_;
  const tuning::SearchProblem problem_ = stencil();
  std::string proposer_;
  int seed_;
  tuning::TuneOptions options_;
};

TEST(LlamaTune, EachProposerProposesProgramsUnderTheGrammar) {
  const testing::LlamaServer server("65536");
  const test::TemporaryFolder folder;
  for (const tuning::ProposerInfo& info : tuning::proposers()) {
    if (!info.asks_model) continue;
    int programs = 0, seed = 0;
    for (; programs == 0 && seed < 10; ++seed) {
      LlamaSearch search(server, info.name, seed,
                         fmt::format("{}/{}-{}", folder.path(), info.name, seed));
      const tuning::TuneOutcome outcome = search.run(false);
      EXPECT_GT(outcome.spent.model_calls, 0) << info.name;
      EXPECT_EQ(search.requests, outcome.spent.model_calls) << info.name;
      programs = search.programs;
    }
    EXPECT_GT(programs, 0) << info.name;
    std::printf("%s: a program with the seed %d\n", std::string(info.name).c_str(), seed - 1);
  }
}

TEST(LlamaTune, ASearchIsResumed) {
  const testing::LlamaServer server("65536");
  const test::TemporaryFolder folder;
  LlamaSearch search(server, "trace", 0, folder.path() + "/search");
  const tuning::TuneOutcome first = search.run(false);
  const tuning::TuneOutcome second = search.run(true);
  EXPECT_EQ(search.resumed, 1);
  EXPECT_GE(second.steps, first.steps);
  EXPECT_EQ(second.spent.model_calls, first.spent.model_calls + search.requests);
  EXPECT_GE(second.spent.tokens, first.spent.tokens);
}

}  // namespace
}  // namespace groma
