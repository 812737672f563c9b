// Makes machines, applies operations to them, and looks up their processors by index.
#include "evaluate/machine_expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "evaluate/processors.h"
#include "program/dimensions.h"

namespace groma::mapper {

using program::Method;

namespace {

// Returns a machine as text for a message, for example "GPU (2, 4)": its processor kind and its
// extents.
std::string view_text(const MachineView& view) {
  return to_string({std::make_shared<const MachineView>(view)}, "");
}

}  // namespace

// Returns a machine as a value. The copy of a machine with many operations costs more, so it counts
// more steps.
ProgramValue MachineExpressions::make_machine_value(const Code& node, MachineView view) {
  const auto cost = static_cast<std::int64_t>(2 * view.operation_count() + view.sizes().size());
  if (!run_.count_steps(cost, node.range)) return {};
  return {std::make_shared<const MachineView>(std::move(view))};
}

// Evaluates Machine(KIND): a grid of the nodes and the processors in each. If nodes have different
// numbers of processors, the grid is as wide as the machine's processors_per_node() says, and a
// warning is reported once for each kind.
ProgramValue MachineExpressions::make_machine(const Code& node, const ProgramValue& kind_value) {
  const auto* kind = kind_value.get<ProcKind>();
  if (kind == nullptr) {
    return run_.fail_with_type(range_of(node.a), "`Machine`", "a processor kind", kind_value);
  }
  if (!std::exchange(checked_kinds_[static_cast<std::size_t>(*kind)], true)) {
    warn_of_unequal_nodes(machine_, *kind, node.range, run_.diags());
  }
  return make_machine_value(node,
                            {*kind, machine_.node_count(), machine_.processors_per_node(*kind)});
}

// ------------------------------------------------------------------------------------ indexing

// Returns the processor at an index. If some dimensions are `*`, returns the set of all processors
// in these dimensions, in row-major order.
ProgramValue MachineExpressions::index_machine(const Code& node, const MachineView& view,
                                               std::vector<EvaluatedItem> index) {
  if (index.size() == 1 && !index[0].is_star) {
    // m[t] takes a whole tuple as the index.
    if (const auto values = tuple_values(index[0].value)) {
      const Range range = index[0].range;
      index.clear();
      for (const ProgramValue& value : *values) index.push_back({value, range});
    }
  }
  if (!check_index(node, view, index)) return {};
  Coordinates at;
  std::vector<std::size_t> open;  // The dimensions that are given as `*`.
  std::int64_t count = 1;
  for (std::size_t i = 0; i < index.size(); ++i) {
    at.push_back(index[i].is_star ? 0 : *index[i].value.get<std::int64_t>());
    if (!index[i].is_star) continue;
    open.push_back(i);
    count = std::min(count, kMaxTupleItems) * std::min(view.sizes()[i], kMaxTupleItems + 1);
  }
  if (count > kMaxTupleItems) {
    run_.fail_with(DiagId::kTupleTooLong, node.focus, {kMaxTupleItems});
    return {};
  }
  if (open.empty()) {
    const auto processor = processor_at(node, view, at);
    return processor ? ProgramValue{*processor} : ProgramValue{};
  }
  auto set = std::make_shared<ProcessorSet>();
  const auto cost = static_cast<std::int64_t>(view.operation_count() + 1);
  for (std::int64_t k = 0; k < count; ++k) {
    if (!run_.count_steps(cost, node.range)) return {};
    // Converts the number k to a position in the dimensions that are given as `*`, in row-major
    // order.
    std::int64_t rest = k;
    for (std::size_t i = open.size(); i-- > 0;) {
      at[open[i]] = rest % view.sizes()[open[i]];
      rest /= view.sizes()[open[i]];
    }
    const auto processor = processor_at(node, view, at);
    if (!processor) return {};
    set->processors.push_back(*processor);
  }
  return {std::shared_ptr<const ProcessorSet>(std::move(set))};
}

// Returns true if the index has one item for each dimension of the machine and every item lies
// within its dimension. Otherwise reports an error. Notes tell where the original language would
// behave differently (differences D5 and D6 in docs/language.md).
bool MachineExpressions::check_index(const Code& node, const MachineView& view,
                                     const std::vector<EvaluatedItem>& index) {
  if (index.size() != view.sizes().size()) {
    run_.fail_with(DiagId::kWrongIndexCount, node.focus,
                   {program::indices_text(static_cast<std::int64_t>(index.size())),
                    fmt::format("a machine with {}", program::dimensions_text(view.dimensions()))})
        .note(fmt::format("the machine is {}", view_text(view)));
    return false;
  }
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::int64_t size = view.sizes()[i];
    std::int64_t value = 0;
    if (index[i].is_star) {
      if (size > 0) continue;
    } else {
      const auto* given = index[i].value.get<std::int64_t>();
      if (given == nullptr) {
        run_.fail_with_type(index[i].range, "an index", "an integer", index[i].value);
        return false;
      }
      if (*given >= 0 && *given < size) continue;
      value = *given;
    }
    Diagnostic& diagnostic = run_.fail_with(DiagId::kSliceIndexOutOfBound, index[i].range,
                                            {static_cast<std::int64_t>(i), value, size});
    diagnostic.note(fmt::format("the machine is {}", view_text(view)));
    if (size == 0 && machine_.processors_per_node(view.kind()) == 0) {
      diagnostic.note(fmt::format("`{}` has no {}", machine_.name(), name_of(view.kind())));
    } else if (value == -1) {
      diagnostic.note("the original takes a computed -1 for `*` (D6)");
    } else if (view.operation_count() > 0) {
      diagnostic.note("the original may take another processor instead (D5)");
    }
    return false;
  }
  return true;
}

// Returns the processor at an index that check_index() has accepted. Each operation of the machine
// costs a step.
std::optional<Processor> MachineExpressions::processor_at(const Code& node, const MachineView& view,
                                                          const Coordinates& index) {
  if (machine_.processors_per_node(view.kind()) == 0) {
    // If the machine has no processor of this kind, a split of its extent 0 still makes extents of
    // 1, which accept an index. So the missing processors are reported here.
    run_.fail_with(DiagId::kSliceIndexOutOfBound, node.focus,
                   {std::int64_t{0}, index[0], std::int64_t{0}})
        .note(fmt::format("`{}` has no {}", machine_.name(), name_of(view.kind())));
    return std::nullopt;
  }
  if (!run_.count_steps(static_cast<std::int64_t>(view.operation_count()), node.range))
    return std::nullopt;
  const Coordinates base = view.to_base_index(index);
  return Processor{view.kind(), base[0], base[1]};
}

// ------------------------------------------------------------------------------------ operations

// Evaluates an operation on a machine. The results of the last eight searches for a split are
// cached, since mapping functions split in the same way for every point.
ProgramValue MachineExpressions::apply_operation(program::CodeId id, const Code& node,
                                                 const MachineView& view,
                                                 const std::vector<EvaluatedItem>& args,
                                                 const OperationArguments& given) {
  if (!searches_for_split(node.method))
    return value_of_operation(node, args, apply_method(node.method, view, given));
  const std::int64_t n = view.sizes()[given.dimension_argument(0)];
  for (const CachedSplit& memo : cached_splits_) {
    if (memo.code != id || memo.n != n || memo.given != given) continue;
    return value_of_operation(node, args,
                              split_view(view, static_cast<int>(given.numbers[0]), memo.parts));
  }
  if (!run_.count_steps(search_steps(node.method, view, given), node.range)) return {};
  OperationResult applied = apply_method(node.method, view, given);
  if (const auto* made = std::get_if<MachineView>(&applied)) {
    cached_splits_[next_memo_++ % cached_splits_.size()] = {id, n, given,
                                                            made->operations().back().parts};
  }
  return value_of_operation(node, args, std::move(applied));
}

// Returns the machine that an operation made. If it made none, reports why, at the argument, the
// option or the call that is to blame.
ProgramValue MachineExpressions::value_of_operation(const Code& node,
                                                    const std::vector<EvaluatedItem>& args,
                                                    OperationResult applied) {
  if (auto* made = std::get_if<MachineView>(&applied))
    return make_machine_value(node, std::move(*made));
  const RefusedOperation& why = std::get<RefusedOperation>(applied);
  Range range = node.focus;
  if (why.argument_position == RefusedOperation::kOption) range = range_of(node.option);
  if (why.argument_position >= 0)
    range = args[static_cast<std::size_t>(why.argument_position)].range;
  Diagnostic& diagnostic = run_.fail_with(why.id, range, why.arguments);
  if (!why.note.empty()) diagnostic.note(why.note);
  if (!why.help.empty()) diagnostic.help(why.help);
  return {};
}

// Checks the types of an operation's arguments against the table of methods and converts them. A
// dimension must exist in the machine. Returns nothing after an error.
std::optional<OperationArguments> MachineExpressions::convert_arguments(
    const Code& node, const MachineView& view, const std::vector<EvaluatedItem>& args) {
  const syntax::MethodInfo& info = syntax::info_of(node.method);
  const auto name = [&info] { return fmt::format("`{}`", info.name); };
  OperationArguments given;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (info.parameters[i].type == syntax::OperandType::kIntegers) {
      const auto numbers = integers_of_tuple(run_, args[i].value, args[i].range, name());
      if (!numbers) return std::nullopt;
      given.tuple = *numbers;
      continue;
    }
    const bool dimension = info.parameters[i].type == syntax::OperandType::kDimension;
    const auto* number = args[i].value.get<std::int64_t>();
    if (number == nullptr) {
      run_.fail_with_type(args[i].range, name(),
                          dimension ? "a dimension, an integer" : "an integer", args[i].value);
      return std::nullopt;
    }
    if (dimension && !has_dimension(view, *number)) {
      run_.fail_with(DiagId::kBadDimension, args[i].range,
                     {std::string(info.name), *number, program::dimensions_text(view.dimensions())})
          .note(fmt::format("the machine is {}; dimensions count from 0", view_text(view)));
      return std::nullopt;
    }
    given.numbers[i] = *number;
  }
  return given;
}

// Returns true if the processor can address a memory of that kind on its node.
ProgramValue MachineExpressions::has_memory(const Code& node, const ProgramValue& base,
                                            const EvaluatedItem& memory) {
  const auto* processor = base.get<Processor>();
  const auto* kind = memory.value.get<MemKind>();
  if (processor == nullptr) {
    return run_.fail_with_type(range_of(node.c), "`has`", "a processor before it", base);
  }
  if (kind == nullptr)
    return run_.fail_with_type(memory.range, "`has`", "a memory kind", memory.value);
  return {machine_.can_address(processor->node, processor->kind, *kind)};
}

// Evaluates `task.processor(m)`: takes the node of the task's processor and the processor's index
// on that node, and returns the index in the view `m` that leads to this place. Fails if a slice
// has cut the place off.
ProgramValue MachineExpressions::index_of_task_processor(const Code& node, const ProgramValue& base,
                                                         const EvaluatedItem& machine_arg) {
  const auto* task = base.get<TaskValue>();
  const MachineView* view = machine_arg.value.as_machine();
  if (task == nullptr) {
    run_.fail_with(DiagId::kUnknownMember, node.focus,
                   {std::string(describe_type(type_of(base))), std::string("processor")});
    return {};
  }
  if (view == nullptr) {
    return run_.fail_with_type(machine_arg.range, "`processor`", "a machine", machine_arg.value);
  }
  const auto& processor = task->is_parent ? run_.task().parent : run_.task().processor;
  if (!processor) {
    run_.fail_with(DiagId::kNeedsSingleTask, node.focus,
                   {std::string(run_.mapping_function()), std::string("task.processor")});
    return {};
  }
  const std::int64_t extents[] = {machine_.node_count(),
                                  machine_.processors_per_node(view->kind())};
  const std::int64_t at[] = {processor->node, processor->index};
  for (std::int64_t i = 0; i < 2; ++i) {
    if (at[i] < extents[i]) continue;
    run_.fail_with(DiagId::kSliceIndexOutOfBound, machine_arg.range, {i, at[i], extents[i]})
        .note(fmt::format("{} stands on node {}, index {} of its kind",
                          task->is_parent ? "the parent task" : "the task", at[0], at[1]));
    return {};
  }
  MachineView::CuttingSlice cut;
  const auto index = view->index_of_processor(at[0], at[1], &cut);
  if (!index) {
    run_.fail_with(DiagId::kSliceIndexOutOfBound, machine_arg.range,
                   {std::int64_t{cut.dimension}, cut.index, cut.size})
        .note(fmt::format("node {}, processor {} is cut off by a slice; the machine is {}", at[0],
                          at[1], view_text(*view)));
    return {};
  }
  std::vector<ProgramValue> values;
  for (std::int64_t coordinate : *index) values.push_back({coordinate});
  return make_tuple(run_, std::move(values), node.range);
}

}  // namespace groma::mapper
