// Specialises conditions, indices and slices of tuples, calls and members.
#include <algorithm>

#include "index_map/specialise.h"

namespace groma::mapper {

using program::kNoCode;
using program::Member;

namespace {

// An index that is not known may choose among at most this many items of a tuple.
constexpr std::size_t kMaxChoices = 64;

}  // namespace

// ------------------------------------------------------------------------------------- choices

// Returns the condition under which an expression is true. Fails if the expression is not a bool,
// and then returns kNoExpr.
ExprId FunctionSpecialiser::evaluate_truth(CodeId id) {
  const PartialValue value = evaluate_code(id);
  if (failed_) return kNoExpr;
  if (const auto* truth = value.get<PartialTruth>()) return truth->id;
  fail_expression();
  return kNoExpr;
}

// Evaluates `id` as code that runs only at the points where the condition holds. If it fails there,
// these points are left to the reference evaluator, and the evaluation of the rest goes on. Returns
// false in that case.
bool FunctionSpecialiser::evaluate_under_condition(ExprId condition, CodeId id,
                                                   PartialValue* value) {
  ExpressionGraph& e = made_.expressions;
  const ExprId before = current_condition_;
  current_condition_ = e.make_and(current_condition_, condition);
  *value = evaluate_code(id);
  const bool good = !failed_;
  if (!good && !gave_up_) {
    failed_ = false;
    note_failure(e.make_constant(1));
  }
  current_condition_ = before;
  return good;
}

// Evaluates `&&` or `||`. The right side is evaluated under the condition that the left side does
// not decide.
PartialValue FunctionSpecialiser::evaluate_logical(const Code& node) {
  ExpressionGraph& e = made_.expressions;
  const bool all = node.op == program::Op::kAnd;
  const ExprId left = evaluate_truth(node.a);
  if (failed_) return {};
  if (const auto value = e.known_value(left)) {
    if ((*value != 0) != all) return {PartialTruth{left}};
    const ExprId right = evaluate_truth(node.b);
    return failed_ ? PartialValue{} : PartialValue{PartialTruth{right}};
  }
  PartialValue right;
  const bool good = evaluate_under_condition(all ? left : e.make_not(left), node.b, &right);
  if (failed_) return {};
  const auto* truth = right.get<PartialTruth>();
  if (good && truth == nullptr) return fail_expression();
  // If the right side fails, the points at which it runs are left to the reference evaluator. At
  // all other points the left side decides: `&&` is false and `||` is true.
  if (!good) return {PartialTruth{e.make_constant(all ? 0 : 1)}};
  return {PartialTruth{all ? e.make_and(left, truth->id) : e.make_or(left, truth->id)}};
}

// Evaluates `condition ? yes : no`. If the condition depends on the point, both sides are
// evaluated, each under its condition, and merged. If one side always fails, the other one is the
// value.
PartialValue FunctionSpecialiser::evaluate_conditional(const Code& node) {
  const ExprId condition = evaluate_truth(node.a);
  if (failed_) return {};
  ExpressionGraph& e = made_.expressions;
  if (const auto value = e.known_value(condition))
    return evaluate_code(*value != 0 ? node.b : node.c);
  PartialValue a, b;
  const bool first = evaluate_under_condition(condition, node.b, &a);
  if (failed_) return {};
  const bool second = evaluate_under_condition(e.make_not(condition), node.c, &b);
  if (failed_ || (!first && !second)) return fail_expression();
  if (!first || !second) return first ? a : b;
  return merge_values(condition, a, b);
}

// Returns the value that is `a` where the condition holds and `b` elsewhere. Fails if there is no
// such value, as for two different machines. Two results with different shapes become a number
// (PartialProcessorChoice).
PartialValue FunctionSpecialiser::merge_values(ExprId condition, const PartialValue& a,
                                               const PartialValue& b) {
  ExpressionGraph& e = made_.expressions;
  const auto* left = a.get<PartialProcessor>();
  const auto* right = b.get<PartialProcessor>();
  if (left != nullptr && right != nullptr && left->kind == right->kind) {
    return {PartialProcessor{left->kind, e.make_select(condition, left->node, right->node),
                             e.make_select(condition, left->index, right->index)}};
  }
  const auto places_a = number_of_result(a), places_b = number_of_result(b);
  if (places_a && places_b)
    return {PartialProcessorChoice{e.make_select(condition, *places_a, *places_b)}};
  if (a.v.index() != b.v.index()) return fail_expression();
  if (const auto* x = a.get<PartialNumber>()) {
    return {PartialNumber{e.make_select(condition, x->id, b.get<PartialNumber>()->id)}};
  }
  if (const auto* x = a.get<PartialTruth>())
    return {PartialTruth{e.make_select(condition, x->id, b.get<PartialTruth>()->id)}};
  using Tuples = std::shared_ptr<const PartialTuple>;
  if (const auto* x = a.get<Tuples>()) return merge_tuples(condition, **x, **b.get<Tuples>());
  using Text = std::shared_ptr<const std::string>;
  if (const auto* x = a.get<Text>(); x != nullptr && **x == **b.get<Text>()) return a;
  if (a.as_machine() != nullptr && a.as_machine() == b.as_machine()) return a;
  if (const auto* x = a.get<ProcKind>(); x != nullptr && *x == *b.get<ProcKind>()) return a;
  if (const auto* x = a.get<MemKind>(); x != nullptr && *x == *b.get<MemKind>()) return a;
  if (const auto* x = a.get<TaskValue>(); x && x->is_parent == b.get<TaskValue>()->is_parent)
    return a;
  return fail_expression();
}

// Merges two tuples of one length item by item.
PartialValue FunctionSpecialiser::merge_tuples(ExprId condition, const PartialTuple& a,
                                               const PartialTuple& b) {
  if (a.values.size() != b.values.size()) return fail_expression();
  auto made = std::make_shared<PartialTuple>();
  for (std::size_t i = 0; i < a.values.size() && !failed_; ++i) {
    made->values.push_back(merge_values(condition, a.values[i], b.values[i]));
  }
  made->items = std::max(a.items, b.items);
  made->depth = std::max(a.depth, b.depth);
  if (failed_) return {};
  return {std::shared_ptr<const PartialTuple>(std::move(made))};
}

// -------------------------------------------------------------------------------------- indices

// Returns an item of a tuple, or a processor or a set of processors of a machine.
PartialValue FunctionSpecialiser::evaluate_index(const Code& node) {
  const PartialValue base = evaluate_code(node.c);
  if (failed_) return {};
  if (const auto* view = base.get<std::shared_ptr<const MachineView>>()) {
    return index_machine(node, *view);
  }
  const auto values = tuple_values(base);
  return values ? index_tuple(node, *values) : fail_expression();
}

// Returns an item of a tuple. If the index depends on the point, the item is a choice between all
// items, and points with an index outside the tuple are left to the reference evaluator.
PartialValue FunctionSpecialiser::index_tuple(const Code& node, const Values& values) {
  const std::vector<PartialElement> list = evaluate_elements(node.a, node.b);
  if (failed_ || list.size() != 1 || list[0].all) return fail_expression();
  const auto* at = list[0].value.get<PartialNumber>();
  if (at == nullptr || values.empty()) return fail_expression();
  ExpressionGraph& e = made_.expressions;
  const auto length = static_cast<std::int64_t>(values.size());
  if (const auto value = e.known_value(at->id)) {
    if (*value < -length || *value >= length) return fail_expression();
    return values[static_cast<std::size_t>(*value < 0 ? *value + length : *value)];
  }
  if (values.size() > kMaxChoices) return fail_expression();
  note_failure(e.make_or(e.make_less(at->id, e.make_constant(-length)),
                         e.make_less_equal(e.make_constant(length), at->id)));
  const ExprId from_end = e.make_less(at->id, e.make_constant(0));
  const ExprId place = e.make_select(from_end, e.make_add(at->id, e.make_constant(length)), at->id);
  PartialValue chosen = values.back();
  for (std::size_t i = values.size() - 1; i-- > 0 && !failed_;) {
    chosen = merge_values(e.make_equal(place, e.make_constant(static_cast<std::int64_t>(i))),
                          values[i], chosen);
  }
  return chosen;
}

// Computes the begin or the end of a slice of a tuple. It must be the same for every point,
// otherwise the length of the slice would depend on the point. If the program does not write it, it
// is `missing`.
bool FunctionSpecialiser::evaluate_slice_end(CodeId id, std::int64_t length, std::int64_t missing,
                                             std::int64_t* end) {
  *end = missing;
  if (id == kNoCode) return true;
  const PartialValue value = evaluate_code(id);
  const auto given = known_integer(value);
  if (failed_ || !given) return fail_expression(), false;
  *end = std::clamp<std::int64_t>(*given < 0 ? *given + length : *given, 0, length);
  return true;
}

// Returns a slice of a tuple or of the sizes of a machine.
PartialValue FunctionSpecialiser::evaluate_slice(const Code& node) {
  const PartialValue base = evaluate_code(node.c);
  if (failed_) return {};
  const auto values =
      base.as_machine() != nullptr ? sizes_as_values(*base.as_machine()) : tuple_values(base);
  if (!values) return fail_expression();
  const auto length = static_cast<std::int64_t>(values->size());
  std::int64_t from = 0, to = 0;
  if (!evaluate_slice_end(node.a, length, 0, &from) ||
      !evaluate_slice_end(node.b, length, length, &to))
    return {};
  if (from >= to) return make_tuple({});
  return make_tuple({values->begin() + from, values->begin() + to});
}

// Returns the extents of a machine as values, which are all known.
std::shared_ptr<const FunctionSpecialiser::Values> FunctionSpecialiser::sizes_as_values(
    const MachineView& view) {
  Values sizes;
  for (std::int64_t size : view.sizes()) sizes.push_back(make_number(size));
  return std::make_shared<const Values>(std::move(sizes));
}

// ---------------------------------------------------------------------------- calls and members

// Evaluates a call of a function of the program in a frame of its own.
PartialValue FunctionSpecialiser::evaluate_call(const Code& node) {
  const program::ProgramFunction& called = data_.functions[node.c];
  std::vector<PartialElement> args = evaluate_elements(node.a, node.b);
  if (failed_ || args.size() != called.parameters.count) return fail_expression();
  Values slots(called.slot_count);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i].all) return fail_expression();
    if (!check_parameter(data_.parameters[called.parameters.begin + i], args[i].value)) {
      return fail_expression();
    }
    slots[i] = std::move(args[i].value);
  }
  if (!count_steps(static_cast<std::int64_t>(slots.size()))) return {};
  frames_.push_back(std::move(slots));
  PartialValue result = run_function_body(called.body);
  frames_.pop_back();
  return result;
}

// Returns true if an argument has the type that its parameter declares.
bool FunctionSpecialiser::check_parameter(const program::FunctionParameter& parameter,
                                          const PartialValue& argument) {
  using syntax::ParamType;
  switch (parameter.type) {
    case ParamType::kAny:
      return argument.get<std::monostate>() == nullptr;
    case ParamType::kInt:
      return argument.get<PartialNumber>() != nullptr;
    case ParamType::kBool:
      return argument.get<PartialTruth>() != nullptr;
    case ParamType::kMSpace:
      return argument.as_machine() != nullptr;
    case ParamType::kTask:
      return argument.get<TaskValue>() != nullptr;
    case ParamType::kIPoint:
    case ParamType::kISpace: {
      const auto values = tuple_values(argument);
      return values && count_steps(static_cast<std::int64_t>(values->size())) &&
             std::all_of(values->begin(), values->end(), [](const PartialValue& value) {
               return value.get<PartialNumber>() != nullptr;
             });
    }
  }
  return false;
}

// Returns a member of a task, a tuple, a processor or a machine.
PartialValue FunctionSpecialiser::evaluate_member(const Code& node) {
  const PartialValue base = evaluate_code(node.a);
  if (failed_) return {};
  if (const auto* task = base.get<TaskValue>()) return evaluate_task_member(node, *task);
  const auto values =
      base.as_machine() != nullptr ? sizes_as_values(*base.as_machine()) : tuple_values(base);
  if (!values || node.member > Member::kLen) return fail_expression();
  if (node.member == Member::kLen) return make_number(static_cast<std::int64_t>(values->size()));
  if (node.member == Member::kSize) return make_tuple(*values);
  if (!count_steps(2 * static_cast<std::int64_t>(values->size()))) return {};
  PartialValue volume = make_number(1);
  for (const PartialValue& size : *values) {
    if (size.get<PartialNumber>() == nullptr) return fail_expression();
    volume = apply_integer_op(program::Op::kMultiply, volume.get<PartialNumber>()->id,
                              size.get<PartialNumber>()->id);
    if (failed_) return {};
  }
  return volume;
}

// Returns the place of the point among the points of its launch. The coordinate of a map over ranks
// is this place.
PartialValue FunctionSpecialiser::rank_of_point() {
  if (task_.points != nullptr) {
    return {PartialNumber{made_.expressions.make_coordinate(0, task_.points->count())}};
  }
  PartialValue rank = make_number(0);
  for (int d = 0; d < task_.domain.dimensions() && !failed_; ++d) {
    const std::int64_t extent = task_.domain.extents[d];
    const PartialValue rows =
        apply_integer_op(program::Op::kMultiply, rank.get<PartialNumber>()->id,
                         make_number(extent).get<PartialNumber>()->id);
    if (failed_) break;
    rank = apply_integer_op(program::Op::kAdd, rows.get<PartialNumber>()->id,
                            made_.expressions.make_coordinate(d, extent));
  }
  return rank;
}

// Returns a member of the task or of its parent. Only `ipoint` and `irank` depend on the point.
// Neither the coordinates of `ipoint` nor `irank` can be expressed by the other, so a map over
// ranks cannot specialise `ipoint`.
PartialValue FunctionSpecialiser::evaluate_task_member(const Code& node, TaskValue task) {
  const auto tuple_of = [&](const Point& point) {
    Values values;
    for (std::int64_t coordinate : point.coordinates()) values.push_back(make_number(coordinate));
    return make_tuple(std::move(values));
  };
  if (task.is_parent && node.member != Member::kName) return fail_expression();
  if (program::needs_index_launch(node.member) && (task_.processor || task_.parent))
    return fail_expression();
  switch (node.member) {
    case Member::kName:
      return {std::make_shared<const std::string>(task.is_parent ? task_.parent_name : task_.name)};
    case Member::kIspace:
      return tuple_of(task_.domain.extents);
    case Member::kIlo:
      return tuple_of(task_.domain.lower);
    case Member::kIrank:
      return rank_of_point();
    case Member::kIvolume:
      return make_number(task_.points == nullptr ? task_.domain.volume() : task_.points->count());
    case Member::kIpoint: {
      if (task_.points != nullptr) return fail_expression();
      Values values;
      for (int i = 0; i < task_.domain.dimensions(); ++i) {
        values.push_back(
            {PartialNumber{made_.expressions.make_coordinate(i, task_.domain.extents[i])}});
      }
      return make_tuple(std::move(values));
    }
    case Member::kParent:
      return task_.parent ? PartialValue{TaskValue{true}} : fail_expression();
    default:
      return fail_expression();
  }
}

}  // namespace groma::mapper
