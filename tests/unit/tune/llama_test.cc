// The proposers that ask a model, end to end with llama.cpp's own server and random weights: under
// the grammar whatever they propose is a program.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "groma/benchmarks.h"
#include "groma/evaluators.h"
#include "groma/syntax.h"
#include "support/llama_server.h"
#include "support/tune_round.h"

namespace groma {
namespace {

bool parses(const std::string& text) {
  Diagnostics diags(Source("proposal", text));
  return format(diags.source(), diags).has_value();
}

// Of a program; the server takes the longer for each the more there are.
constexpr int kProgramTokens = 240;

Problem stencil() {
  Problem problem;
  problem.machine = std::make_shared<const Machine>(make_machine("p100x4").value());
  problem.inputs.push_back(Workload::make(find_benchmark("stencil")->make()).value());
  problem.start = "Task * GPU, CPU;\n";
  return problem;
}

TEST(LlamaTune, EachProposerProposesProgramsUnderTheGrammar) {
  const testing::LlamaServer server("65536");
  const Problem problem = stencil();
  for (const ProposerInfo& info : proposers()) {
    if (!info.asks_model || info.name == "scientist") continue;
    int programs = 0, seed = 0;
    for (; programs == 0 && seed < 10; ++seed) {
      const auto evaluator = make_simulated_evaluator(problem.machine, problem.inputs);
      AskOptions ask;
      ask.constrain = true;
      ask.max_tokens = kProgramTokens;
      auto proposer =
          make_proposer(info.name, problem, static_cast<std::uint64_t>(seed), ask).value();
      ChatClient model = server.client();
      TuneOptions options;
      options.compare = true;  // so that what is refused counts
      options.stop = [&programs] { return programs > 0; };
      options.on_event = [&](const TuneEvent& event) {
        if (event.kind != TuneEvent::Kind::kEvaluated) return;
        const Proposal& proposal = event.step->proposal;
        EXPECT_TRUE(parses(proposal.text)) << info.name << proposal.text;
        const bool asked = event.spent.model_calls > 0 && !proposal.why.starts_with("guided");
        if (asked) ++programs;
      };
      const auto outcome = tune(problem, *evaluator, *proposer, &model, nullptr, options);
      ASSERT_TRUE(outcome.ok()) << outcome.error().message;
      EXPECT_NE(outcome->end, TuneOutcome::End::kModel) << outcome->why;
      EXPECT_GT(outcome->spent.model_calls, 0) << info.name;
      EXPECT_EQ(model.spent().requests, outcome->spent.model_calls) << info.name;
    }
    EXPECT_GT(programs, 0) << info.name;
    std::printf("%s: a program with the seed %d\n", std::string(info.name).c_str(), seed - 1);
  }
}

// Its designer writes more than a program has.
TEST(LlamaTune, TheScientistDesignsUnderASchema) {
  const testing::LlamaServer server("65536");
  const Problem problem = stencil();
  const auto evaluator = make_simulated_evaluator(problem.machine, problem.inputs);
  testing::FakeRound round(problem, *evaluator);
  AskOptions ask;
  ask.constrain = true;
  ask.max_tokens = 8'000;
  auto proposer = make_proposer("scientist", problem, 1, ask).value();
  ChatClient model = server.client();
  round.model = [&](ChatRequest request) -> Result<std::string, ChatError> {
    if (!request.constraint.gbnf.empty()) request.max_tokens = kProgramTokens;
    auto reply = model.ask(request);
    if (!reply) return reply.error();
    return std::move(reply->text);
  };
  for (int i = 0; i < 4 && round.past.recent().empty(); ++i) round.play(*proposer);
  EXPECT_GT(round.past.recent().size(), 0U) << ::testing::PrintToString(round.rejected);
  for (const Step& step : round.past.recent()) EXPECT_TRUE(parses(step.proposal.text));
}

}  // namespace
}  // namespace groma
