// Specialises functions and operators: evaluates typed code with values that may depend on the
// point. The order of evaluation and the failures are those of the interpreter.
#include "index_map/specialise.h"

#include <algorithm>

namespace groma::mapper {

using program::ExecutableStatement;

namespace {

// These limits are lower than those of the interpreter. A function that exceeds one of them is left
// to the interpreter.
constexpr int kMaxDepth = 256;
constexpr std::int64_t kMaxItems = 16'384;
constexpr int kMaxTupleDepth = 32;

}  // namespace

// Numbers all processors of the machine: kind by kind, in a kind node by node, and in a node by
// index.
std::vector<Shape> processor_shapes(const Machine& machine) {
  std::vector<Shape> shapes;
  std::int64_t base = 0;
  for (std::size_t i = 0; i < kProcKindCount; ++i) {
    Shape shape;
    shape.kind = static_cast<ProcKind>(i);
    shape.base = base;
    shape.stride = machine.processors_per_node(shape.kind);
    shape.count = shape.stride * machine.node_count();
    base += shape.count;
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

// The result has no id if the function cannot be specialised.
Specialised specialise(const BoundProgram& bound, FunctionId function, const TaskPoint& launch,
                       std::optional<ProcKind> kind, Diagnostics& diags) {
  Specialiser specialiser(bound, function, launch, diags);
  specialiser.run(kind);
  return specialiser.take();
}

// Begins with no condition (guard_ is true) and no possible failure (unsure_ is false).
Specialiser::Specialiser(const BoundProgram& bound, FunctionId function, const TaskPoint& launch,
                         Diagnostics& diags)
    : data_(bound.program().data()),
      machine_(bound.machine()),
      globals_(bound.binding().globals),
      task_(launch),
      function_(function),
      diags_(diags) {
  made_.shapes = processor_shapes(machine_);
  guard_ = made_.expressions.constant(1);
  unsure_ = made_.expressions.constant(0);
}

// Specialises the function and sets its result. Leaves the result empty if the function always
// fails or cannot be specialised. A result of another kind than `kind` is a failure.
void Specialiser::run(std::optional<ProcKind> kind) {
  const program::ProgramFunction& called = data_.functions[function_];
  frames_.emplace_back(called.slots);
  frames_.back()[0] = {TaskValue{}};
  const Partial result = run_body(called.body);
  if (failed_ || hopeless_) return;
  const auto id = number_of_result(result);
  if (!id) return;
  Expressions& e = made_.expressions;
  for (const Shape& shape : made_.shapes) {
    if (!kind || shape.kind == *kind) continue;
    const ExprId inside = e.logical_and(e.less_equal(e.constant(shape.base), *id),
                                        e.less(*id, e.constant(shape.base + shape.count)));
    if (shape.count > 0) note_failure(inside);
  }
  if (const auto* processor = result.get<PartialProcessor>()) made_.node = processor->node;
  if (const auto* set = result.get<Places>(); set != nullptr && set->set) {
    const Shape& shape = made_.shapes.back();
    made_.node = e.divide(e.subtract(*id, e.constant(shape.base)), e.constant(shape.stride));
  }
  if (e.full() || e.is(unsure_, 1)) return;
  made_.id = *id;
  made_.unsure = unsure_;
}

// Notes that the evaluation fails here, or needs something that is not supported. The reference
// evaluator then decides.
Partial Specialiser::fail() {
  failed_ = true;
  return {};
}

// Gives up on the whole function. Unlike after fail(), no enclosing choice can go on with its other
// side.
Partial Specialiser::give_up() {
  hopeless_ = failed_ = true;
  return {};
}

// Counts steps. Both sides of a choice count, and every search for a split counts as if no result
// were cached. So the evaluation of a single point never takes more steps than are counted here.
bool Specialiser::tick(std::int64_t steps) {
  steps_ += steps;
  if (steps_ > kMaxSteps || made_.expressions.full()) give_up();
  return !failed_;
}

// Adds a possible failure to `unsure`, under the condition under which this code is evaluated.
void Specialiser::note_failure(ExprId fails) {
  Expressions& e = made_.expressions;
  unsure_ = e.logical_or(unsure_, e.logical_and(guard_, fails));
}

// Returns the value of a global. It does not depend on the point, so all its numbers are constants.
Partial Specialiser::from_value(const ProgramValue& value) {
  if (const auto* given = value.get<std::int64_t>()) return number(*given);
  if (const auto* given = value.get<bool>()) {
    return {Truth{made_.expressions.constant(*given ? 1 : 0)}};
  }
  if (const TupleValue* tuple = value.as_tuple()) {
    auto made = std::make_shared<PartialTuple>();
    for (const ProgramValue& item : tuple->values) made->values.push_back(from_value(item));
    made->items = tuple->items;
    made->depth = tuple->depth;
    return {std::shared_ptr<const PartialTuple>(std::move(made))};
  }
  if (const auto* text = value.get<std::shared_ptr<const std::string>>()) return {*text};
  if (const auto* view = value.get<std::shared_ptr<const MachineView>>()) return {*view};
  if (const auto* kind = value.get<ProcKind>()) return {*kind};
  if (const auto* kind = value.get<MemKind>()) return {*kind};
  if (const auto* processor = value.get<Processor>()) {
    Expressions& e = made_.expressions;
    return {PartialProcessor{processor->kind, e.constant(processor->node),
                             e.constant(processor->index)}};
  }
  return fail();  // Sets in globals are rare and not supported.
}

// Runs the statements of a function up to its `return`. Fails without a `return`, as the
// interpreter does.
Partial Specialiser::run_body(program::IndexRange body) {
  for (std::uint32_t i = 0; i < body.count && !failed_; ++i) {
    const ExecutableStatement& action = data_.actions[body.begin + i];
    switch (action.kind) {
      case ExecutableStatement::Kind::kReturn:
        return eval(action.value);
      case ExecutableStatement::Kind::kPrint:
        print(action);
        break;
      case ExecutableStatement::Kind::kAssign: {
        Partial value = eval(action.value);
        frames_.back()[action.target] = std::move(value);
      }
    }
  }
  return fail();
}

// Evaluates the arguments of a print, because they may fail. Nothing is printed here.
void Specialiser::print(const ExecutableStatement& action) {
  for (std::uint32_t i = 0; i < action.args.count; ++i) {
    const Partial value = eval(data_.lists[action.args.begin + i]);
    if (failed_ || !tick(text_bytes(value) / 8)) return;
  }
}

// Returns a length of the value's text, in bytes, that is at least the length which the interpreter
// counts.
std::int64_t Specialiser::text_bytes(const Partial& value) const {
  if (const auto* text = value.get<std::shared_ptr<const std::string>>()) {
    return static_cast<std::int64_t>((*text)->size());
  }
  if (value.get<Places>() != nullptr) return 8 * kMaxTupleItems;
  std::int64_t bytes = 8;
  if (const auto* tuple = value.get<std::shared_ptr<const PartialTuple>>()) {
    for (const Partial& item : (*tuple)->values) bytes += text_bytes(item);
  }
  return bytes;
}

// Returns the value of an expression. Counts one step and the depth.
Partial Specialiser::eval(CodeId id) {
  if (!tick(1)) return {};
  if (depth_ >= kMaxDepth) return give_up();
  ++depth_;
  Partial value = eval_at(id, code(id));
  --depth_;
  return failed_ ? Partial{} : value;
}

// Evaluates a node by its kind. eval() has counted the step.
Partial Specialiser::eval_at(CodeId id, const Code& node) {
  switch (node.op) {
    case program::Op::kInt:
    case program::Op::kBool:
    case program::Op::kString:
    case program::Op::kProcKind:
    case program::Op::kMemKind:
      return constant(node);
    case program::Op::kLocal:
      return frames_.back()[node.a];
    case program::Op::kGlobal:
      return from_value(globals_[node.a]);
    case program::Op::kTuple: {
      Values values;
      for (Element& element : elements(node.a, node.b)) values.push_back(std::move(element.value));
      return make_tuple(std::move(values));
    }
    case program::Op::kComprehension:
      return comprehension(node);
    case program::Op::kNegate: {
      const Partial value = eval(node.a);
      return failed_ ? Partial{} : arithmetic(node.op, number(0), value);
    }
    case program::Op::kNot: {
      const ExprId value = truth(node.a);
      return failed_ ? Partial{} : Partial{Truth{made_.expressions.negation(value)}};
    }
    case program::Op::kAnd:
    case program::Op::kOr:
      return logical(node);
    case program::Op::kConditional:
      return conditional(node);
    case program::Op::kIndex:
      return index(node);
    case program::Op::kSlice:
      return slice(node);
    case program::Op::kCall:
      return call(node);
    case program::Op::kMachine:
      return machine(node);
    case program::Op::kMethod:
      return method(node);
    case program::Op::kMember:
      return member(node);
    case program::Op::kBroken:
    case program::Op::kSplice:
    case program::Op::kAll:
      return fail();
    default:
      static_cast<void>(id);
      return binary(node);
  }
}

// Returns the value of a literal.
Partial Specialiser::constant(const Code& node) {
  switch (node.op) {
    case program::Op::kInt:
      return number(static_cast<std::int64_t>((std::uint64_t{node.b} << 32) | node.a));
    case program::Op::kBool:
      return {Truth{made_.expressions.constant(node.a != 0 ? 1 : 0)}};
    case program::Op::kString:
      return {std::shared_ptr<const std::string>(std::shared_ptr<void>(), &data_.strings[node.a])};
    case program::Op::kProcKind:
      return {static_cast<ProcKind>(node.a)};
    default:
      return {static_cast<MemKind>(node.a)};
  }
}

// Returns the items of a list, with spliced tuples opened.
std::vector<Specialiser::Element> Specialiser::elements(std::uint32_t begin, std::uint32_t count) {
  std::vector<Element> made;
  made.reserve(count);
  for (std::uint32_t i = 0; i < count && !failed_; ++i) {
    const CodeId id = data_.lists[begin + i];
    const Code& node = code(id);
    if (node.op == program::Op::kAll) {
      made.push_back({{}, true});
    } else if (node.op == program::Op::kSplice) {
      const Partial value = eval(node.a);
      const auto values = tuple_values(value);
      if (!values) fail();
      if (failed_ || !tick(static_cast<std::int64_t>(values->size()))) break;
      for (const Partial& item : *values) made.push_back({item});
    } else {
      made.push_back({eval(id)});
    }
    if (static_cast<std::int64_t>(made.size()) > kMaxItems) give_up();
  }
  return made;
}

// Returns the items of a tuple, or the node and index of a processor, or null for other values.
std::shared_ptr<const Specialiser::Values> Specialiser::tuple_values(const Partial& value) const {
  if (const auto* tuple = value.get<std::shared_ptr<const PartialTuple>>()) {
    return {*tuple, &(*tuple)->values};
  }
  if (const auto* processor = value.get<PartialProcessor>()) {
    return std::make_shared<const Values>(
        Values{{Number{processor->node}}, {Number{processor->index}}});
  }
  return nullptr;
}

// Returns the integer if it is the same for every point, otherwise nothing.
std::optional<std::int64_t> Specialiser::known(const Partial& value) const {
  const auto* given = value.get<Number>();
  return given == nullptr ? std::nullopt : made_.expressions.known(given->id);
}

// Returns a tuple. Gives up if it is too long or too deep, because the interpreter may still accept
// it.
Partial Specialiser::make_tuple(Values values) {
  if (failed_ || !tick(static_cast<std::int64_t>(values.size()))) return {};
  auto made = std::make_shared<PartialTuple>();
  for (const Partial& value : values) {
    const auto* shared = value.get<std::shared_ptr<const PartialTuple>>();
    const PartialTuple* inner = shared == nullptr ? nullptr : shared->get();
    made->items += inner == nullptr ? 1 : std::max<std::int64_t>(1, inner->items);
    made->depth = std::max(made->depth, inner == nullptr ? 1 : inner->depth + 1);
  }
  if (made->items > kMaxItems || made->depth > kMaxTupleDepth) return give_up();
  made->values = std::move(values);
  return {std::shared_ptr<const PartialTuple>(std::move(made))};
}

// Evaluates `tuple(item for x in range)`. The items of the range may depend on the point, but not
// their number.
Partial Specialiser::comprehension(const Code& node) {
  const Partial range = eval(node.b);
  const auto values = tuple_values(range);
  if (failed_ || !values) return fail();
  Values made;
  for (const Partial& item : *values) {
    frames_.back()[node.c] = item;
    made.push_back(eval(node.a));
    if (failed_) return {};
  }
  return make_tuple(std::move(made));
}

// The left side is evaluated first, so its failure comes first.
Partial Specialiser::binary(const Code& node) {
  const Partial left = eval(node.a);
  if (failed_) return {};
  const Partial right = eval(node.b);
  if (failed_) return {};
  if (node.op >= program::Op::kAdd && node.op <= program::Op::kModulo)
    return arithmetic(node.op, left, right);
  return compare(node.op, left, right);
}

// Applies an operator to integers or tuples, item by item, as the interpreter does.
Partial Specialiser::arithmetic(program::Op op, const Partial& left, const Partial& right) {
  const auto* a = left.get<Number>();
  const auto* b = right.get<Number>();
  if (a != nullptr && b != nullptr) return integer_op(op, a->id, b->id);
  const auto left_values = tuple_values(left);
  const auto right_values = tuple_values(right);
  if ((a == nullptr && !left_values) || (b == nullptr && !right_values)) return fail();
  if (left_values && right_values && left_values->size() != right_values->size()) return fail();
  const std::size_t length = left_values ? left_values->size() : right_values->size();
  if (!tick(static_cast<std::int64_t>(length))) return {};
  Values made;
  made.reserve(length);
  for (std::size_t i = 0; i < length && !failed_; ++i) {
    made.push_back(arithmetic(op, left_values ? (*left_values)[i] : left,
                              right_values ? (*right_values)[i] : right));
  }
  return make_tuple(std::move(made));
}

// Applies an operator to two integers. Points at which it overflows or divides by zero become
// unsure. A division that fails at every point fails.
Partial Specialiser::integer_op(program::Op op, ExprId left, ExprId right) {
  Expressions& e = made_.expressions;
  switch (op) {
    case program::Op::kAdd:
      note_failure(e.add_overflows(left, right));
      return {Number{e.add(left, right)}};
    case program::Op::kNegate:
    case program::Op::kSubtract:
      note_failure(e.subtract_overflows(left, right));
      return {Number{e.subtract(left, right)}};
    case program::Op::kMultiply:
      note_failure(e.multiply_overflows(left, right));
      return {Number{e.multiply(left, right)}};
    default: {
      const ExprId fails = e.division_fails(left, right);
      if (e.is(fails, 1)) return fail();
      note_failure(fails);
      return {Number{op == program::Op::kDivide ? e.divide(left, right) : e.modulo(left, right)}};
    }
  }
}

// Compares two values for equality, or two integers for order. The result is an expression whose
// values are 0 and 1.
Partial Specialiser::compare(program::Op op, const Partial& left, const Partial& right) {
  Expressions& e = made_.expressions;
  if (op == program::Op::kEqual || op == program::Op::kNotEqual) {
    const ExprId same = equal(left, right);
    if (failed_) return {};
    return {Truth{op == program::Op::kEqual ? same : e.negation(same)}};
  }
  const auto* a = left.get<Number>();
  const auto* b = right.get<Number>();
  if (a == nullptr || b == nullptr) return fail();
  switch (op) {
    case program::Op::kLess:
      return {Truth{e.less(a->id, b->id)}};
    case program::Op::kLessEqual:
      return {Truth{e.less_equal(a->id, b->id)}};
    case program::Op::kGreater:
      return {Truth{e.less(b->id, a->id)}};
    default:
      return {Truth{e.less_equal(b->id, a->id)}};
  }
}

// Returns the condition under which two values are equal. Values of different types fail, as in the
// interpreter. Returns kNoExpr after a failure.
ExprId Specialiser::equal(const Partial& left, const Partial& right) {
  Expressions& e = made_.expressions;
  const auto* a = left.get<PartialProcessor>();
  const auto* b = right.get<PartialProcessor>();
  if (a != nullptr && b != nullptr) {
    if (a->kind != b->kind) return e.constant(0);
    return e.logical_and(e.equal(a->node, b->node), e.equal(a->index, b->index));
  }
  const auto left_values = tuple_values(left);
  const auto right_values = tuple_values(right);
  if (left_values && right_values) {
    if (left_values->size() != right_values->size()) return fail(), kNoExpr;
    if (!tick(static_cast<std::int64_t>(left_values->size()))) return kNoExpr;
    ExprId same = e.constant(1);
    for (std::size_t i = 0; i < left_values->size() && !failed_; ++i) {
      const ExprId item = equal((*left_values)[i], (*right_values)[i]);
      if (!failed_) same = e.logical_and(same, item);
    }
    return same;
  }
  if (left.v.index() != right.v.index()) return fail(), kNoExpr;
  if (const auto* number = left.get<Number>()) return e.equal(number->id, right.get<Number>()->id);
  if (const auto* truth = left.get<Truth>()) return e.equal(truth->id, right.get<Truth>()->id);
  using Text = std::shared_ptr<const std::string>;
  if (const auto* text = left.get<Text>()) {
    if (!tick(text_bytes(left) / 256)) return kNoExpr;
    return e.constant(**text == **right.get<Text>() ? 1 : 0);
  }
  if (const auto* kind = left.get<ProcKind>()) {
    return e.constant(*kind == *right.get<ProcKind>() ? 1 : 0);
  }
  if (const auto* kind = left.get<MemKind>()) {
    return e.constant(*kind == *right.get<MemKind>() ? 1 : 0);
  }
  return fail(), kNoExpr;
}

}  // namespace groma::mapper
