// A search for a faster mapping of a benchmark, without a model.
#include <groma/benchmarks.h>
#include <groma/evaluators.h>
#include <groma/proposers.h>
#include <groma/tune.h>

#include <cstdio>
#include <memory>

int main() {
  groma::tuning::SearchProblem problem;
  problem.machine = std::make_shared<const groma::Machine>(groma::make_machine("p100x4").value());
  problem.inputs.push_back(
      groma::Workload::make(groma::find_benchmark("solomonik")->make()).value());
  const auto evaluator = groma::tuning::make_simulated_evaluator(problem.machine, problem.inputs);
  auto proposer = groma::tuning::make_proposer("guided", problem, 1);
  if (!proposer) return 1;
  const auto outcome = groma::tuning::tune(problem, *evaluator, **proposer, nullptr, nullptr, {});
  if (!outcome || !outcome->best) return 1;
  std::printf("%s", outcome->best->proposal.text.c_str());
  return outcome->best->evaluation.score < outcome->start->evaluation.score ? 0 : 1;
}
