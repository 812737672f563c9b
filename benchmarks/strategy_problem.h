// The question that a language model gets for a strategy of the paper (A.7): its sentence, the
// statements that the paper fixes, and the circuit on two nodes.
#pragma once

#include <memory>

#include "groma/benchmarks.h"
#include "groma/dsl_files.h"
#include "groma/machine.h"
#include "groma/workload.h"
#include "groma/write.h"
#include "support/strategy_grades.h"

namespace groma::bench {

// Returns the problem for write_mapping(). It refers to constants of the program. The circuit runs
// on two nodes with four GPUs each, because some sentences speak of the two dimensions of nodes and
// GPUs.
inline tuning::WritingProblem writing_problem_of(const DslFile& strategy) {
  static const auto machine =
      std::make_shared<const Machine>(make_machine("p100x4:nodes=2").value());
  static const Workload circuit =
      Workload::make(find_benchmark("circuit")->make(), {{"nodes", 2}}).value();
  tuning::WritingProblem problem;
  problem.sentence = strategy.sentence;
  problem.machine = machine;
  problem.app = &circuit;
  problem.start = testing::fixed_statements_of(strategy);
  return problem;
}

}  // namespace groma::bench
