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
ExprId Specialiser::truth(CodeId id) {
  const Partial value = eval(id);
  if (failed_) return kNoExpr;
  if (const auto* truth = value.get<Truth>()) return truth->id;
  fail();
  return kNoExpr;
}

// Evaluates `id` as code that runs only at the points where the condition holds. If it fails there,
// these points become unsure, and the evaluation of the rest goes on. Returns false in that case.
bool Specialiser::eval_under(ExprId condition, CodeId id, Partial* value) {
  Expressions& e = made_.expressions;
  const ExprId before = guard_;
  guard_ = e.logical_and(guard_, condition);
  *value = eval(id);
  const bool good = !failed_;
  if (!good && !hopeless_) {
    failed_ = false;
    note_failure(e.constant(1));
  }
  guard_ = before;
  return good;
}

// Evaluates `&&` or `||`. The right side is evaluated under the condition that the left side does
// not decide.
Partial Specialiser::logical(const Code& node) {
  Expressions& e = made_.expressions;
  const bool all = node.op == program::Op::kAnd;
  const ExprId left = truth(node.a);
  if (failed_) return {};
  if (const auto value = e.known(left)) {
    if ((*value != 0) != all) return {Truth{left}};
    const ExprId right = truth(node.b);
    return failed_ ? Partial{} : Partial{Truth{right}};
  }
  Partial right;
  const bool good = eval_under(all ? left : e.negation(left), node.b, &right);
  if (failed_) return {};
  const auto* truth = right.get<Truth>();
  if (good && truth == nullptr) return fail();
  // If the right side fails, that case is unsure. The left side then decides the sure cases.
  if (!good) return {Truth{e.constant(all ? 0 : 1)}};
  return {Truth{all ? e.logical_and(left, truth->id) : e.logical_or(left, truth->id)}};
}

// Evaluates `condition ? yes : no`. If the condition depends on the point, both sides are
// evaluated, each under its condition, and merged. If one side always fails, the other one is the
// value.
Partial Specialiser::conditional(const Code& node) {
  const ExprId condition = truth(node.a);
  if (failed_) return {};
  Expressions& e = made_.expressions;
  if (const auto value = e.known(condition)) return eval(*value != 0 ? node.b : node.c);
  Partial a, b;
  const bool first = eval_under(condition, node.b, &a);
  if (failed_) return {};
  const bool second = eval_under(e.negation(condition), node.c, &b);
  if (failed_ || (!first && !second)) return fail();
  if (!first || !second) return first ? a : b;
  return merge(condition, a, b);
}

// Returns the value that is `a` where the condition holds and `b` elsewhere. Fails if there is no
// such value, as for two different machines. Two results with different shapes become a number
// (Places).
Partial Specialiser::merge(ExprId condition, const Partial& a, const Partial& b) {
  Expressions& e = made_.expressions;
  const auto* left = a.get<PartialProcessor>();
  const auto* right = b.get<PartialProcessor>();
  if (left != nullptr && right != nullptr && left->kind == right->kind) {
    return {PartialProcessor{left->kind, e.select(condition, left->node, right->node),
                             e.select(condition, left->index, right->index)}};
  }
  const auto places_a = number_of_result(a), places_b = number_of_result(b);
  if (places_a && places_b) return {Places{e.select(condition, *places_a, *places_b)}};
  if (a.v.index() != b.v.index()) return fail();
  if (const auto* x = a.get<Number>()) {
    return {Number{e.select(condition, x->id, b.get<Number>()->id)}};
  }
  if (const auto* x = a.get<Truth>())
    return {Truth{e.select(condition, x->id, b.get<Truth>()->id)}};
  using Tuples = std::shared_ptr<const PartialTuple>;
  if (const auto* x = a.get<Tuples>()) return merge_tuples(condition, **x, **b.get<Tuples>());
  using Text = std::shared_ptr<const std::string>;
  if (const auto* x = a.get<Text>(); x != nullptr && **x == **b.get<Text>()) return a;
  if (a.machine() != nullptr && a.machine() == b.machine()) return a;
  if (const auto* x = a.get<ProcKind>(); x != nullptr && *x == *b.get<ProcKind>()) return a;
  if (const auto* x = a.get<MemKind>(); x != nullptr && *x == *b.get<MemKind>()) return a;
  if (const auto* x = a.get<TaskValue>(); x && x->parent == b.get<TaskValue>()->parent) return a;
  return fail();
}

// Merges two tuples of one length item by item.
Partial Specialiser::merge_tuples(ExprId condition, const PartialTuple& a, const PartialTuple& b) {
  if (a.values.size() != b.values.size()) return fail();
  auto made = std::make_shared<PartialTuple>();
  for (std::size_t i = 0; i < a.values.size() && !failed_; ++i) {
    made->values.push_back(merge(condition, a.values[i], b.values[i]));
  }
  made->items = std::max(a.items, b.items);
  made->depth = std::max(a.depth, b.depth);
  if (failed_) return {};
  return {std::shared_ptr<const PartialTuple>(std::move(made))};
}

// -------------------------------------------------------------------------------------- indices

// Returns an item of a tuple, or a processor or a set of processors of a machine.
Partial Specialiser::index(const Code& node) {
  const Partial base = eval(node.c);
  if (failed_) return {};
  if (const auto* view = base.get<std::shared_ptr<const MachineView>>()) {
    return index_machine(node, *view);
  }
  const auto values = tuple_values(base);
  return values ? index_tuple(node, *values) : fail();
}

// Returns an item of a tuple. If the index depends on the point, the item is a choice between all
// items, and points with an index outside the tuple become unsure.
Partial Specialiser::index_tuple(const Code& node, const Values& values) {
  const std::vector<Element> list = elements(node.a, node.b);
  if (failed_ || list.size() != 1 || list[0].all) return fail();
  const auto* at = list[0].value.get<Number>();
  if (at == nullptr || values.empty()) return fail();
  Expressions& e = made_.expressions;
  const auto length = static_cast<std::int64_t>(values.size());
  if (const auto value = e.known(at->id)) {
    if (*value < -length || *value >= length) return fail();
    return values[static_cast<std::size_t>(*value < 0 ? *value + length : *value)];
  }
  if (values.size() > kMaxChoices) return fail();
  note_failure(
      e.logical_or(e.less(at->id, e.constant(-length)), e.less_equal(e.constant(length), at->id)));
  const ExprId from_end = e.less(at->id, e.constant(0));
  const ExprId place = e.select(from_end, e.add(at->id, e.constant(length)), at->id);
  Partial chosen = values.back();
  for (std::size_t i = values.size() - 1; i-- > 0 && !failed_;) {
    chosen = merge(e.equal(place, e.constant(static_cast<std::int64_t>(i))), values[i], chosen);
  }
  return chosen;
}

// Computes one end of a slice. It must not depend on the point, because the length of the slice
// would. An end that is not written becomes `missing`.
bool Specialiser::slice_end(CodeId id, std::int64_t length, std::int64_t missing,
                            std::int64_t* end) {
  *end = missing;
  if (id == kNoCode) return true;
  const Partial value = eval(id);
  const auto given = known(value);
  if (failed_ || !given) return fail(), false;
  *end = std::clamp<std::int64_t>(*given < 0 ? *given + length : *given, 0, length);
  return true;
}

// Returns a slice of a tuple or of the sizes of a machine.
Partial Specialiser::slice(const Code& node) {
  const Partial base = eval(node.c);
  if (failed_) return {};
  const auto values = base.machine() != nullptr ? sizes_of(*base.machine()) : tuple_values(base);
  if (!values) return fail();
  const auto length = static_cast<std::int64_t>(values->size());
  std::int64_t from = 0, to = 0;
  if (!slice_end(node.a, length, 0, &from) || !slice_end(node.b, length, length, &to)) return {};
  if (from >= to) return make_tuple({});
  return make_tuple({values->begin() + from, values->begin() + to});
}

// Returns the extents of a machine as values, which are all known.
std::shared_ptr<const Specialiser::Values> Specialiser::sizes_of(const MachineView& view) {
  Values sizes;
  for (std::int64_t size : view.sizes()) sizes.push_back(number(size));
  return std::make_shared<const Values>(std::move(sizes));
}

// ---------------------------------------------------------------------------- calls and members

// Evaluates a call of a function of the program in a frame of its own.
Partial Specialiser::call(const Code& node) {
  const program::ProgramFunction& called = data_.functions[node.c];
  std::vector<Element> args = elements(node.a, node.b);
  if (failed_ || args.size() != called.parameters.count) return fail();
  Values slots(called.slots);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i].all) return fail();
    if (!check_parameter(data_.parameters[called.parameters.begin + i], args[i].value)) {
      return fail();
    }
    slots[i] = std::move(args[i].value);
  }
  if (!tick(static_cast<std::int64_t>(slots.size()))) return {};
  frames_.push_back(std::move(slots));
  Partial result = run_body(called.body);
  frames_.pop_back();
  return result;
}

// Returns true if an argument has the type that its parameter declares.
bool Specialiser::check_parameter(const program::FunctionParameter& parameter,
                                  const Partial& argument) {
  using syntax::ParamType;
  switch (parameter.type) {
    case ParamType::kAny:
      return argument.get<std::monostate>() == nullptr;
    case ParamType::kInt:
      return argument.get<Number>() != nullptr;
    case ParamType::kBool:
      return argument.get<Truth>() != nullptr;
    case ParamType::kMSpace:
      return argument.machine() != nullptr;
    case ParamType::kTask:
      return argument.get<TaskValue>() != nullptr;
    case ParamType::kIPoint:
    case ParamType::kISpace: {
      const auto values = tuple_values(argument);
      return values && tick(static_cast<std::int64_t>(values->size())) &&
             std::all_of(values->begin(), values->end(),
                         [](const Partial& value) { return value.get<Number>() != nullptr; });
    }
  }
  return false;
}

// Returns a member of a task, a tuple, a processor or a machine.
Partial Specialiser::member(const Code& node) {
  const Partial base = eval(node.a);
  if (failed_) return {};
  if (const auto* task = base.get<TaskValue>()) return task_member(node, *task);
  const auto values = base.machine() != nullptr ? sizes_of(*base.machine()) : tuple_values(base);
  if (!values || node.member > Member::kLen) return fail();
  if (node.member == Member::kLen) return number(static_cast<std::int64_t>(values->size()));
  if (node.member == Member::kSize) return make_tuple(*values);
  if (!tick(2 * static_cast<std::int64_t>(values->size()))) return {};
  Partial volume = number(1);
  for (const Partial& size : *values) {
    if (size.get<Number>() == nullptr) return fail();
    volume = integer_op(program::Op::kMultiply, volume.get<Number>()->id, size.get<Number>()->id);
    if (failed_) return {};
  }
  return volume;
}

// Returns a member of the task or of its parent. Only `ipoint` depends on the point: it consists of
// the coordinates, which count from the launch's lower corner.
Partial Specialiser::task_member(const Code& node, TaskValue task) {
  const auto tuple_of = [&](const Point& point) {
    Values values;
    for (std::int64_t coordinate : point.coordinates()) values.push_back(number(coordinate));
    return make_tuple(std::move(values));
  };
  const bool needs_index = node.member >= Member::kIpoint && node.member <= Member::kIlo;
  if (task.parent && node.member != Member::kName) return fail();
  if (needs_index && (task_.processor || task_.parent)) return fail();
  switch (node.member) {
    case Member::kName:
      return {std::make_shared<const std::string>(task.parent ? task_.parent_name : task_.name)};
    case Member::kIspace:
      return tuple_of(task_.domain.extents);
    case Member::kIlo:
      return tuple_of(task_.domain.lower);
    case Member::kIpoint: {
      Values values;
      for (int i = 0; i < task_.domain.dimensions(); ++i) {
        values.push_back({Number{made_.expressions.coordinate(i, task_.domain.extents[i])}});
      }
      return make_tuple(std::move(values));
    }
    case Member::kParent:
      return task_.parent ? Partial{TaskValue{true}} : fail();
    default:
      return fail();
  }
}

}  // namespace groma::mapper
