// Specialises the expressions that make, change and index machines. Machines never depend on the
// point, but an index into one may.
#include <algorithm>

#include "evaluate/processors.h"
#include "index_map/specialise.h"

namespace groma::mapper {

using program::Method;

namespace {

// The largest number of shapes of results. Each index with `*` makes one more.
constexpr std::size_t kMaxShapes = 64;

}  // namespace

// Returns a machine as a value of the program. Counts as many steps as the interpreter counts.
PartialValue FunctionSpecialiser::make_machine_value(MachineView view) {
  if (!count_steps(static_cast<std::int64_t>(2 * view.operation_count() + view.sizes().size())))
    return {};
  return {std::make_shared<const MachineView>(std::move(view))};
}

// Evaluates `Machine(KIND)`. Unequal nodes cause the same warning as in the interpreter.
PartialValue FunctionSpecialiser::evaluate_machine(const Code& node) {
  const PartialValue value = evaluate_code(node.a);
  const auto* kind = value.get<ProcKind>();
  if (failed_ || kind == nullptr) return fail_expression();
  warn_of_unequal_nodes(machine_, *kind, node.range, diags_);
  return make_machine_value({*kind, machine_.node_count(), machine_.processors_per_node(*kind)});
}

// ------------------------------------------------------------------------------------ indexing

// Returns the processor at an index, or a set of processors if some dimensions of the index are
// `*`. Points whose index lies outside the machine are left to the reference evaluator.
PartialValue FunctionSpecialiser::index_machine(const Code& node,
                                                const std::shared_ptr<const MachineView>& view) {
  std::vector<PartialElement> index = evaluate_elements(node.a, node.b);
  if (failed_) return {};
  if (index.size() == 1 && !index[0].all) {
    if (const auto values = tuple_values(index[0].value)) {
      index.clear();
      for (const PartialValue& value : *values) index.push_back({value});
    }
  }
  if (index.size() != view->sizes().size()) return fail_expression();
  if (machine_.processors_per_node(view->kind()) == 0) return fail_expression();
  ExpressionGraph& e = made_.expressions;
  std::vector<ExprId> at;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::int64_t size = view->sizes()[i];
    const auto* given = index[i].value.get<PartialNumber>();
    if (size == 0 || (given == nullptr && !index[i].all)) return fail_expression();
    at.push_back(index[i].all ? e.make_constant(0) : given->id);
    if (index[i].all) {
      open.push_back(i);
      continue;
    }
    const ExprId outside = e.make_or(e.make_less(given->id, e.make_constant(0)),
                                     e.make_less_equal(e.make_constant(size), given->id));
    if (e.has_value(outside, 1)) return fail_expression();
    note_failure(outside);
  }
  if (!open.empty()) return make_processor_set(view, std::move(at), std::move(open));
  if (!count_steps(static_cast<std::int64_t>(view->operation_count()))) return {};
  return {processor_at(*view, std::move(at))};
}

// Returns the set of processors of an index that is `*` in the dimensions `open`. Each such index
// makes a new shape.
PartialValue FunctionSpecialiser::make_processor_set(const std::shared_ptr<const MachineView>& view,
                                                     std::vector<ExprId> index,
                                                     std::vector<std::size_t> open) {
  std::int64_t count = 1;
  for (std::size_t i : open) {
    count = std::min(count, kMaxTupleItems) * std::min(view->sizes()[i], kMaxTupleItems + 1);
  }
  if (count > kMaxTupleItems || made_.shapes.size() >= kMaxShapes) return fail_expression();
  if (!count_steps(count * static_cast<std::int64_t>(2 * view->operation_count() + 1))) return {};
  const PartialProcessor first = processor_at(*view, std::move(index));
  ResultShape shape = made_.shapes[static_cast<std::size_t>(view->kind())];
  shape.is_set = true;
  shape.base = made_.shapes.back().base + made_.shapes.back().count;
  shape.view = view;
  shape.star_dimensions = std::move(open);
  made_.shapes.push_back(shape);
  return {PartialProcessorChoice{number_of_processor(shape, first.node, first.index), true}};
}

// Returns the processor at an index of the view, by undoing its operations from the last to the
// first.
PartialProcessor FunctionSpecialiser::processor_at(const MachineView& view,
                                                   std::vector<ExprId> index) {
  const auto& steps = view.operations();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) undo_operation(*step, index);
  return {view.kind(), index[0], index[1]};
}

// Changes `index` from an index after an operation to that before it. Does the same as
// MachineView::undo_operation, with expressions instead of numbers.
void FunctionSpecialiser::undo_operation(const MachineView::ViewOperation& step,
                                         std::vector<ExprId>& index) {
  using Kind = MachineView::ViewOperation::Kind;
  ExpressionGraph& e = made_.expressions;
  const auto a = static_cast<std::size_t>(step.a), b = static_cast<std::size_t>(step.b);
  const auto at = [&](std::size_t i) { return index.begin() + static_cast<std::ptrdiff_t>(i); };
  switch (step.kind) {
    case Kind::kSplit: {
      ExprId flat = e.make_constant(0);
      for (std::size_t i = step.parts.size(); i-- > 0;) {
        flat = e.make_add(e.make_multiply(flat, e.make_constant(step.parts[i])), index[a + i]);
      }
      index.erase(at(a), at(a + step.parts.size()));
      index.insert(at(a), flat);
      break;
    }
    case Kind::kMerge: {
      const ExprId flat = index[a > b ? a - 1 : a];
      const ExprId size = e.make_constant(step.size_b);
      index.insert(at(b), e.make_modulo(flat, size));
      index[a] = e.make_divide(flat, size);
      break;
    }
    case Kind::kSwap:
      std::swap(index[a], index[b]);
      break;
    case Kind::kReverse:
      index[a] = e.make_subtract(e.make_constant(step.size_a - 1), index[a]);
      break;
    case Kind::kRotate:
      index[a] = e.make_modulo(e.make_add(index[a], e.make_constant(step.size_a)),
                               e.make_constant(step.size_b));
      break;
    case Kind::kSlice:
      index[a] = e.make_add(index[a], e.make_constant(step.size_a));
      break;
  }
}

// Returns the number that stands for a processor in a shape, from its node and its index there.
ExprId FunctionSpecialiser::number_of_processor(const ResultShape& shape, ExprId node,
                                                ExprId index) {
  ExpressionGraph& e = made_.expressions;
  const ExprId within = e.make_add(e.make_multiply(node, e.make_constant(shape.stride)), index);
  return e.make_add(within, e.make_constant(shape.base));
}

// Returns the number of a processor or set. Returns nothing for any other value, which is no valid
// result of a mapping function.
std::optional<ExprId> FunctionSpecialiser::number_of_result(const PartialValue& value) {
  if (const auto* places = value.get<PartialProcessorChoice>()) return places->id;
  const auto* processor = value.get<PartialProcessor>();
  if (processor == nullptr) return std::nullopt;
  const ResultShape& shape = made_.shapes[static_cast<std::size_t>(processor->kind)];
  return number_of_processor(shape, processor->node, processor->index);
}

// ---------------------------------------------------------------------------------- operations

// Evaluates a method: `has`, `processor`, or an operation on a machine.
PartialValue FunctionSpecialiser::evaluate_method(const Code& node) {
  const PartialValue base = evaluate_code(node.c);
  if (failed_) return {};
  const std::vector<PartialElement> args = evaluate_elements(node.a, node.b);
  if (failed_ || args.size() != syntax::info_of(node.method).parameter_count())
    return fail_expression();
  if (node.method == Method::kHas) return has_memory(base, args[0].value);
  if (node.method == Method::kProcessor) return index_of_task_processor(base, args[0].value);
  const MachineView* view = base.as_machine();
  return view == nullptr ? fail_expression() : evaluate_machine_method(node, *view, args);
}

// Applies an operation to a machine. Fails if an argument depends on the point or is not valid.
PartialValue FunctionSpecialiser::evaluate_machine_method(const Code& node, const MachineView& view,
                                                          const std::vector<PartialElement>& args) {
  const auto given = operation_arguments(node, view, args);
  // Count the steps that the interpreter counts.
  if (!given || !count_steps(search_steps(node.method, view, *given))) return fail_expression();
  OperationResult applied = apply_method(node.method, view, *given);
  auto* made = std::get_if<MachineView>(&applied);
  return made == nullptr ? fail_expression() : make_machine_value(std::move(*made));
}

// Returns the arguments of an operation, or nothing if one of them depends on the point or is not
// valid.
std::optional<OperationArguments> FunctionSpecialiser::operation_arguments(
    const Code& node, const MachineView& view, const std::vector<PartialElement>& args) {
  const syntax::MethodInfo& info = syntax::info_of(node.method);
  OperationArguments given;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (info.parameters[i].type == syntax::OperandType::kIntegers) {
      const auto numbers = known_integers(args[i].value);
      if (!numbers) return std::nullopt;
      given.tuple = *numbers;
      continue;
    }
    const auto number = known_integer(args[i].value);
    const bool dimension = info.parameters[i].type == syntax::OperandType::kDimension;
    if (!number || (dimension && !has_dimension(view, *number))) return std::nullopt;
    given.numbers[i] = *number;
  }
  if (node.option != program::kNoCode) {
    given.option = known_integers(evaluate_code(node.option));
    if (!given.option) return std::nullopt;
  }
  return given;
}

// Returns a tuple of integers, or nothing if an item is not an integer or depends on the point.
std::optional<FunctionSpecialiser::Integers> FunctionSpecialiser::known_integers(
    const PartialValue& value) {
  const auto values = tuple_values(value);
  if (failed_ || !values || !count_steps(static_cast<std::int64_t>(values->size())))
    return std::nullopt;
  Integers made;
  for (const PartialValue& item : *values) {
    const auto given = known_integer(item);
    if (!given) return std::nullopt;
    made.push_back(*given);
  }
  return made;
}

// Evaluates `p.has(MEMORY)`. If all nodes are alike, the answer does not depend on the node.
// Otherwise it becomes an expression of the node.
PartialValue FunctionSpecialiser::has_memory(const PartialValue& base, const PartialValue& memory) {
  ExpressionGraph& e = made_.expressions;
  const auto* processor = base.get<PartialProcessor>();
  const auto* kind = memory.get<MemKind>();
  if (processor == nullptr || kind == nullptr) return fail_expression();
  const auto can = [&](std::int64_t node) {
    return machine_.can_address(node, processor->kind, *kind) ? 1 : 0;
  };
  if (const auto node = e.known_value(processor->node)) {
    const bool inside = *node >= 0 && *node < machine_.node_count();
    return inside ? PartialValue{PartialTruth{e.make_constant(can(*node))}} : fail_expression();
  }
  if (machine_.node_types().size() == 1) return {PartialTruth{e.make_constant(can(0))}};
  const auto which = 16 * static_cast<std::int64_t>(processor->kind) + static_cast<int>(*kind);
  return {PartialTruth{e.make_addressable(processor->node, which)}};
}

// Evaluates `task.processor(m)`. The processors of a single task and of its parent are known, so
// the result is, too.
PartialValue FunctionSpecialiser::index_of_task_processor(const PartialValue& base,
                                                          const PartialValue& machine_arg) {
  const auto* task = base.get<TaskValue>();
  const MachineView* view = machine_arg.as_machine();
  if (task == nullptr || view == nullptr) return fail_expression();
  const auto& processor = task->is_parent ? task_.parent : task_.processor;
  if (!processor || processor->node >= machine_.node_count() ||
      processor->index >= machine_.processors_per_node(view->kind())) {
    return fail_expression();
  }
  MachineView::CuttingSlice cut;
  const auto index = view->index_of_processor(processor->node, processor->index, &cut);
  if (!index) return fail_expression();
  Values values;
  for (std::int64_t coordinate : *index) values.push_back(make_number(coordinate));
  return make_tuple(std::move(values));
}

}  // namespace groma::mapper
