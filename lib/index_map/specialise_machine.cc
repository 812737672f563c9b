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

// Returns a machine as a value. The steps are those that the interpreter counts.
Partial Specialiser::make_view(MachineView view) {
  if (!tick(static_cast<std::int64_t>(2 * view.operation_count() + view.sizes().size()))) return {};
  return {std::make_shared<const MachineView>(std::move(view))};
}

// Evaluates `Machine(KIND)`. Unequal nodes cause the same warning as in the interpreter.
Partial Specialiser::machine(const Code& node) {
  const Partial value = eval(node.a);
  const auto* kind = value.get<ProcKind>();
  if (failed_ || kind == nullptr) return fail();
  warn_of_unequal_nodes(machine_, *kind, node.range, diags_);
  return make_view({*kind, machine_.node_count(), machine_.processors_per_node(*kind)});
}

// ------------------------------------------------------------------------------------ indexing

// Returns the processor at an index, or a set of processors if some dimensions of the index are
// `*`. Points whose index lies outside the machine become unsure.
Partial Specialiser::index_machine(const Code& node,
                                   const std::shared_ptr<const MachineView>& view) {
  std::vector<Element> index = elements(node.a, node.b);
  if (failed_) return {};
  if (index.size() == 1 && !index[0].all) {
    if (const auto values = tuple_values(index[0].value)) {
      index.clear();
      for (const Partial& value : *values) index.push_back({value});
    }
  }
  if (index.size() != view->sizes().size()) return fail();
  if (machine_.processors_per_node(view->kind()) == 0) return fail();
  Expressions& e = made_.expressions;
  std::vector<ExprId> at;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::int64_t size = view->sizes()[i];
    const auto* given = index[i].value.get<Number>();
    if (size == 0 || (given == nullptr && !index[i].all)) return fail();
    at.push_back(index[i].all ? e.constant(0) : given->id);
    if (index[i].all) {
      open.push_back(i);
      continue;
    }
    const ExprId outside =
        e.logical_or(e.less(given->id, e.constant(0)), e.less_equal(e.constant(size), given->id));
    if (e.is(outside, 1)) return fail();
    note_failure(outside);
  }
  if (!open.empty()) return set_of(view, std::move(at), std::move(open));
  if (!tick(static_cast<std::int64_t>(view->operation_count()))) return {};
  return {processor_at(*view, std::move(at))};
}

// Returns the set of processors of an index that is `*` in the `open` dimensions. Each such index
// makes a new shape.
Partial Specialiser::set_of(const std::shared_ptr<const MachineView>& view,
                            std::vector<ExprId> index, std::vector<std::size_t> open) {
  std::int64_t count = 1;
  for (std::size_t i : open) {
    count = std::min(count, kMaxTupleItems) * std::min(view->sizes()[i], kMaxTupleItems + 1);
  }
  if (count > kMaxTupleItems || made_.shapes.size() >= kMaxShapes) return fail();
  if (!tick(count * static_cast<std::int64_t>(2 * view->operation_count() + 1))) return {};
  const PartialProcessor first = processor_at(*view, std::move(index));
  Shape shape = made_.shapes[static_cast<std::size_t>(view->kind())];
  shape.is_set = true;
  shape.base = made_.shapes.back().base + made_.shapes.back().count;
  shape.view = view;
  shape.open = std::move(open);
  made_.shapes.push_back(shape);
  return {Places{id_of(shape, first.node, first.index), true}};
}

// Returns the processor at an index of the view, by undoing its operations from the last to the
// first.
PartialProcessor Specialiser::processor_at(const MachineView& view, std::vector<ExprId> index) {
  const auto& steps = view.operations();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) step_back(*step, index);
  return {view.kind(), index[0], index[1]};
}

// Changes `index` from an index after an operation to that before it. Does the same as
// MachineView::step_back, with expressions instead of numbers.
void Specialiser::step_back(const MachineView::ViewOperation& step, std::vector<ExprId>& index) {
  using Kind = MachineView::ViewOperation::Kind;
  Expressions& e = made_.expressions;
  const auto a = static_cast<std::size_t>(step.a), b = static_cast<std::size_t>(step.b);
  const auto at = [&](std::size_t i) { return index.begin() + static_cast<std::ptrdiff_t>(i); };
  switch (step.kind) {
    case Kind::kSplit: {
      ExprId flat = e.constant(0);
      for (std::size_t i = step.parts.size(); i-- > 0;) {
        flat = e.add(e.multiply(flat, e.constant(step.parts[i])), index[a + i]);
      }
      index.erase(at(a), at(a + step.parts.size()));
      index.insert(at(a), flat);
      break;
    }
    case Kind::kMerge: {
      const ExprId flat = index[a > b ? a - 1 : a];
      const ExprId size = e.constant(step.size_b);
      index.insert(at(b), e.modulo(flat, size));
      index[a] = e.divide(flat, size);
      break;
    }
    case Kind::kSwap:
      std::swap(index[a], index[b]);
      break;
    case Kind::kReverse:
      index[a] = e.subtract(e.constant(step.size_a - 1), index[a]);
      break;
    case Kind::kRotate:
      index[a] = e.modulo(e.add(index[a], e.constant(step.size_a)), e.constant(step.size_b));
      break;
    case Kind::kSlice:
      index[a] = e.add(index[a], e.constant(step.size_a));
      break;
  }
}

// Returns the number that stands for a processor in a shape, from its node and its index there.
ExprId Specialiser::id_of(const Shape& shape, ExprId node, ExprId index) {
  Expressions& e = made_.expressions;
  const ExprId within = e.add(e.multiply(node, e.constant(shape.stride)), index);
  return e.add(within, e.constant(shape.base));
}

// Returns the number of a processor or set. Returns nothing for any other value, which is no valid
// result of a mapping function.
std::optional<ExprId> Specialiser::number_of_result(const Partial& value) {
  if (const auto* places = value.get<Places>()) return places->id;
  const auto* processor = value.get<PartialProcessor>();
  if (processor == nullptr) return std::nullopt;
  const Shape& shape = made_.shapes[static_cast<std::size_t>(processor->kind)];
  return id_of(shape, processor->node, processor->index);
}

// ---------------------------------------------------------------------------------- operations

// Evaluates a method: `has`, `processor`, or an operation on a machine.
Partial Specialiser::method(const Code& node) {
  const Partial base = eval(node.c);
  if (failed_) return {};
  const std::vector<Element> args = elements(node.a, node.b);
  if (failed_ || args.size() != syntax::info_of(node.method).parameter_count()) return fail();
  if (node.method == Method::kHas) return has(base, args[0].value);
  if (node.method == Method::kProcessor) return task_processor(base, args[0].value);
  const MachineView* view = base.machine();
  return view == nullptr ? fail() : machine_method(node, *view, args);
}

// Applies an operation to a machine. Fails if an argument depends on the point or is not valid.
Partial Specialiser::machine_method(const Code& node, const MachineView& view,
                                    const std::vector<Element>& args) {
  const auto given = operation_arguments(node, view, args);
  // Count the steps that the interpreter counts.
  if (!given || !tick(search_steps(node.method, view, *given))) return fail();
  Applied applied = apply_method(node.method, view, *given);
  auto* made = std::get_if<MachineView>(&applied);
  return made == nullptr ? fail() : make_view(std::move(*made));
}

// Returns the arguments of an operation, or nothing if one of them depends on the point or is not
// valid.
std::optional<OperationArguments> Specialiser::operation_arguments(
    const Code& node, const MachineView& view, const std::vector<Element>& args) {
  const syntax::MethodInfo& info = syntax::info_of(node.method);
  OperationArguments given;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (info.parameters[i].type == syntax::OperandType::kIntegers) {
      const auto numbers = integers(args[i].value);
      if (!numbers) return std::nullopt;
      given.tuple = *numbers;
      continue;
    }
    const auto number = known(args[i].value);
    const bool dimension = info.parameters[i].type == syntax::OperandType::kDimension;
    if (!number || (dimension && !has_dimension(view, *number))) return std::nullopt;
    given.numbers[i] = *number;
  }
  if (node.option != program::kNoCode) {
    given.option = integers(eval(node.option));
    if (!given.option) return std::nullopt;
  }
  return given;
}

// Returns a tuple of integers, or nothing if an item is not an integer or depends on the point.
std::optional<Specialiser::Integers> Specialiser::integers(const Partial& value) {
  const auto values = tuple_values(value);
  if (failed_ || !values || !tick(static_cast<std::int64_t>(values->size()))) return std::nullopt;
  Integers made;
  for (const Partial& item : *values) {
    const auto given = known(item);
    if (!given) return std::nullopt;
    made.push_back(*given);
  }
  return made;
}

// Evaluates `p.has(MEMORY)`. If all nodes are alike, the answer does not depend on the node.
// Otherwise it becomes an expression of the node.
Partial Specialiser::has(const Partial& base, const Partial& memory) {
  Expressions& e = made_.expressions;
  const auto* processor = base.get<PartialProcessor>();
  const auto* kind = memory.get<MemKind>();
  if (processor == nullptr || kind == nullptr) return fail();
  const auto can = [&](std::int64_t node) {
    return machine_.can_address(node, processor->kind, *kind) ? 1 : 0;
  };
  if (const auto node = e.known(processor->node)) {
    const bool inside = *node >= 0 && *node < machine_.node_count();
    return inside ? Partial{Truth{e.constant(can(*node))}} : fail();
  }
  if (machine_.node_types().size() == 1) return {Truth{e.constant(can(0))}};
  const auto which = 16 * static_cast<std::int64_t>(processor->kind) + static_cast<int>(*kind);
  return {Truth{e.addressable(processor->node, which)}};
}

// Evaluates `task.processor(m)`. The processors of a single task and of its parent are known, so
// the result is, too.
Partial Specialiser::task_processor(const Partial& base, const Partial& machine_arg) {
  const auto* task = base.get<TaskValue>();
  const MachineView* view = machine_arg.machine();
  if (task == nullptr || view == nullptr) return fail();
  const auto& processor = task->parent ? task_.parent : task_.processor;
  if (!processor || processor->node >= machine_.node_count() ||
      processor->index >= machine_.processors_per_node(view->kind())) {
    return fail();
  }
  MachineView::SliceCut cut;
  const auto index = view->index_of_processor(processor->node, processor->index, &cut);
  if (!index) return fail();
  Values values;
  for (std::int64_t coordinate : *index) values.push_back(number(coordinate));
  return make_tuple(std::move(values));
}

}  // namespace groma::mapper
