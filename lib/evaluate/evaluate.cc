// Binds programs to machines, and evaluates mapping functions point by point. This is the public
// interface of the interpreter.
#include "groma/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "evaluate/binding.h"
#include "evaluate/interpreter.h"

namespace groma {
namespace {

// The largest number of steps of the top level. It is higher than that of one evaluation, because
// generated programs have many globals.
constexpr std::int64_t kMaxBindSteps = 10 * kMaxSteps;

// Reports statements that this machine cannot carry out: a Task statement if the machine lacks all
// processor kinds that it lists, and a Region statement if no processor of its kind can address one
// of its memory kinds.
void check_statements(const Program& program, const Machine& machine, Diagnostics& diags) {
  const auto is_there = [&machine](MemKind memory) {
    const std::vector<NodeType>& types = machine.node_types();
    return std::any_of(types.begin(), types.end(),
                       [memory](const NodeType& node) { return node.find(memory) != nullptr; });
  };
  for (const program::StatementRow& row : program.data().rows) {
    const Range range = program.range({row.statement});
    if (row.key.table == program::TableId::kTask) {
      const auto present = [&](std::uint8_t kind) {
        return machine.has(static_cast<ProcKind>(kind));
      };
      const auto end = row.kinds.begin() + row.kind_count;
      if (std::none_of(row.kinds.begin(), end, present)) {
        diags.report(DiagId::kKindNotOnMachine, range, machine.name(),
                     name_of(static_cast<ProcKind>(row.kinds[0])));
      }
    } else if (row.key.table == program::TableId::kRegion && row.key.place != program::kAnyPlace) {
      // The key of a Region statement stores the processor kind as its enumerator plus 1.
      const auto kind = static_cast<ProcKind>(row.key.place - 1);
      for (std::size_t i = 0; i < row.kind_count && machine.has(kind); ++i) {
        const auto memory = static_cast<MemKind>(row.kinds[i]);
        bool addressable = memory == MemKind::kVirtual;
        for (std::int64_t n = 0; n < machine.node_count() && !addressable; ++n) {
          addressable = machine.can_address(n, kind, memory);
        }
        if (!addressable) {
          diags.report(DiagId::kUnaddressableMemory, range, name_of(kind), machine.name(),
                       name_of(memory), is_there(memory) ? "" : ", it has none");
        }
      }
    }
  }
}

}  // namespace

const Program& BoundProgram::program() const { return binding_->program; }
const Machine& BoundProgram::machine() const { return binding_->machine; }
std::shared_ptr<const Machine> BoundProgram::shared_machine() const {
  return {binding_, &binding_->machine};
}

// Checks the statements, then runs the top level once to compute the globals. Returns nothing if
// the program has errors or if the top level fails. Warnings do not prevent the binding. The
// conditions of `when` blocks decide which statements the bound program has.
std::optional<BoundProgram> bind(const Program& given, Machine machine, Diagnostics& diags,
                                 LogSink* log) {
  if (given.data().has_errors) return std::nullopt;
  const Program program = given.data().unbound ? Program(given.data().unbound) : given;
  auto binding = std::make_shared<mapper::ProgramBinding>(
      mapper::ProgramBinding{program, std::move(machine),
                             std::vector<mapper::ProgramValue>(program.data().globals.size())});
  const bool conditions = program.has_conditions();
  if (!conditions) check_statements(program, binding->machine, diags);
  mapper::Interpreter interpreter(program, binding->machine, binding->globals, log);
  if (!interpreter.run_top_level(kMaxBindSteps, diags)) return std::nullopt;
  if (conditions) {
    binding->program = Program(
        program::with_conditions(program.shared_data(), interpreter.holding_conditions(), diags));
    check_statements(binding->program, binding->machine, diags);
  }
  return BoundProgram(std::move(binding));
}

// The state of one evaluator. It copies the globals, so that several evaluators can work in
// different threads.
struct FunctionEvaluator::State {
  BoundProgram bound;
  std::vector<mapper::ProgramValue> globals;
  mapper::Interpreter interpreter;

  State(BoundProgram program, LogSink* log)
      : bound(std::move(program)),
        globals(bound.binding().globals),
        interpreter(bound.program(), bound.machine(), globals, log) {}
};

FunctionEvaluator::FunctionEvaluator(BoundProgram bound, LogSink* log)
    : state_(std::make_unique<State>(std::move(bound), log)) {}
FunctionEvaluator::~FunctionEvaluator() = default;
FunctionEvaluator::FunctionEvaluator(FunctionEvaluator&&) noexcept = default;
FunctionEvaluator& FunctionEvaluator::operator=(FunctionEvaluator&&) noexcept = default;

std::int64_t FunctionEvaluator::steps() const { return state_->interpreter.steps_so_far(); }

// Evaluates the mapping function for one task and checks the result: it must be a processor or a
// set of processors. If `kind` is given, it is the processor kind on which the task runs, and the
// result must be of this kind. A set with processors of several nodes gets a warning. Returns
// nothing after an error.
std::optional<PointTarget> FunctionEvaluator::place(FunctionId function, const TaskPoint& task,
                                                    std::optional<ProcKind> kind,
                                                    Diagnostics& diags) {
  const Program& program = state_->bound.program();
  GROMA_REQUIRE(program.is_mapping_function(function),
                "only a mapping function of the bound program can be evaluated");
  const mapper::ProgramValue value = state_->interpreter.evaluate_function(function, task, diags);
  if (value.get<std::monostate>() != nullptr) return std::nullopt;
  const std::string_view name = program.function_name(function);
  PointTarget placed;
  if (const auto* processor = value.get<Processor>()) {
    placed.processors = {*processor};
  } else if (const auto* set = value.get<std::shared_ptr<const mapper::ProcessorSet>>()) {
    placed.processors = (*set)->processors;
    placed.is_set = true;
  } else {
    std::string found(describe_type(mapper::type_of(value)));
    if (mapper::printed_bytes(value) <= 200) {
      found += fmt::format(", `{}`", mapper::to_string(value, task.name));
    }
    Diagnostic& diagnostic =
        diags.report(DiagId::kNotAProcessor, program.function_source_range(function), name, found);
    diagnostic.notes.push_back(
        {"while " + state_->interpreter.describe_evaluation(), {}, {std::string(name)}});
    const mapper::TupleValue* tuple = value.as_tuple();
    if (tuple != nullptr && tuple->values.size() == 2) {
      diagnostic.note("the original takes a pair of integers for a processor (D16)");
    }
    diagnostic.help("index a machine: `m[node, index]`, with `m = Machine(GPU)` or the like");
    return std::nullopt;
  }
  const Processor& first = placed.processors.front();
  if (kind && first.kind != *kind) {
    Diagnostic& diagnostic =
        diags.report(DiagId::kProcessorKindMismatch, program.function_source_range(function), name,
                     name_of(first.kind), task.name, name_of(*kind));
    // Selectors may give launches of a task other kinds, which are not known here.
    const auto decision = program.task(task.name);
    const auto says_kind = [&] {
      return std::find(decision->kinds.begin(), decision->kinds.end(), *kind) !=
             decision->kinds.end();
    };
    if (decision && says_kind()) {
      diagnostic.note(fmt::format("`{}` runs on {} on `{}` by this statement", task.name,
                                  name_of(*kind), state_->bound.machine().name()),
                      program.range(decision->origin));
    }
    diagnostic.help(fmt::format("bind it by kind: `{} {} {}`",
                                task.parent ? "SingleTaskMap" : "IndexTaskMap", name_of(first.kind),
                                name));
    return std::nullopt;
  }
  // A task runs on one node, so the processors of other nodes are never used.
  const auto elsewhere = [&](const Processor& p) { return p.node != first.node; };
  if (std::any_of(placed.processors.begin(), placed.processors.end(), elsewhere)) {
    diags.report(DiagId::kProcessorsOnSeveralNodes, program.function_source_range(function), name,
                 first.node);
  }
  return placed;
}

}  // namespace groma
