// Grades mappings by their decisions about the circuit on a dozen machines.
#include "support/strategy_grades.h"

#include <fmt/format.h>

#include <utility>

#include "groma/benchmarks.h"
#include "groma/inspect.h"

namespace groma::testing {
namespace {

// A machine, and the values of the circuit's parameters. The values set the points of each launch:
// `nodes` times `gpus`.
struct MachineAndValues {
  std::string_view machine, values;
};

// Launches with fewer points than there are GPUs, with as many, with more, and with numbers that
// the number of GPUs does not divide. Grids of GPUs with one row, with one column, and uneven ones.
constexpr MachineAndValues kCases[] = {
    {"p100x4", "nodes=1,gpus=4"},
    {"p100x4", "nodes=1,gpus=3"},
    {"p100x4:nodes=2", "nodes=2,gpus=4"},
    {"p100x4:nodes=2", "nodes=2,gpus=8"},
    {"p100x4:nodes=3", "nodes=3,gpus=5"},
    {"p100x4:nodes=4,gpu=1", "nodes=4,gpus=3"},
    {"p100x4:nodes=2,gpu=3", "nodes=2,gpus=10"},
    {"p100x4:nodes=5,gpu=2", "nodes=5,gpus=1"},
    {"lassen", "nodes=1,gpus=16"},
    {"lassen:nodes=4", "nodes=4,gpus=4"},
    {"nodes=1,gpu=1,cpu=4,omp=0", "nodes=1,gpus=7"},
    {"nodes=3,gpu=4,cpu=2,omp=2", "nodes=3,gpus=4"},
};

Workload circuit_with(std::string_view values) {
  return Workload::make(with_values(find_benchmark("circuit")->make(), values).value()).value();
}

// Binds the reference mapping, which has no errors on any of the machines.
BoundProgram bind_reference(const DslFile& strategy, const Machine& machine) {
  Diagnostics diags(Source(std::string(strategy.name), std::string(strategy.text)));
  return bind(compile(diags.source(), diags), machine, diags).value();
}

}  // namespace

StrategyGrader::GradingCase::GradingCase(const DslFile& strategy, std::string machine_of_case,
                                         std::string values_of_case)
    : machine_name(std::move(machine_of_case)),
      values(std::move(values_of_case)),
      machine(make_machine(machine_name).value()),
      workload(circuit_with(values)),
      reference(bind_reference(strategy, machine), workload) {}

StrategyGrader::StrategyGrader(const DslFile& strategy) {
  for (const auto& [machine, values] : kCases) {
    cases_.emplace_back(strategy, std::string(machine), "size=small," + std::string(values));
  }
}

StrategyGrade StrategyGrader::grade(const std::string& mapping) const {
  for (const GradingCase& each : cases_) {
    const auto failure = [&](std::string_view what) {
      return StrategyGrade{
          false, fmt::format("circuit:{} on {}: {}", each.values, each.machine_name, what)};
    };
    Diagnostics diags(Source("mapping", mapping));
    const auto bound = check(diags.source(), &each.machine, &each.workload, diags);
    for (const Diagnostic& diagnostic : diags.sorted()) {
      if (diagnostic.severity == Severity::kError) return failure(diagnostic.message);
    }
    const MappingDecisions decisions(*bound, each.workload);
    const auto difference = each.reference.first_difference_from(decisions);
    if (!difference) continue;
    return failure(fmt::format("{} of {}: expected `{}`, got `{}`", name_of(difference->what),
                               subject_of(*difference), difference->a.decision,
                               difference->b.decision));
  }
  return {true};
}

std::string fixed_statements_of(const DslFile& strategy) {
  std::string fixed =
      "Task * GPU,CPU; # for any task, run on GPU if supported\n"
      "Region * * GPU FBMEM; # for any task, any region, if mapped onto GPU, use FBMEM as default\n"
      "Region * * CPU SYSMEM; # if mapped onto CPU, use SYSMEM as default\n";
  // Strategies about layouts begin without a Layout statement.
  const std::string_view layout = "Layout * * * SOA C_order;\n";
  if (strategy.text.find(layout) != std::string_view::npos) fixed += layout;
  return fixed + "mcpu = Machine(CPU);\nmgpu = Machine(GPU);\n";
}

}  // namespace groma::testing
