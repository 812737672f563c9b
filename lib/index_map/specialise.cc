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
std::vector<ResultShape> shapes_of_single_processors(const Machine& machine) {
  std::vector<ResultShape> shapes;
  std::int64_t base = 0;
  for (std::size_t i = 0; i < kProcKindCount; ++i) {
    ResultShape shape;
    shape.kind = static_cast<ProcKind>(i);
    shape.base = base;
    shape.stride = machine.processors_per_node(shape.kind);
    shape.count = shape.stride * machine.node_count();
    base += shape.count;
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

// Specialises the function. If it cannot be specialised, the `result_number` of the returned value
// is kNoExpr.
SpecialisedFunction specialise_function(const BoundProgram& bound, FunctionId function,
                                        const TaskPoint& launch, std::optional<ProcKind> kind,
                                        Diagnostics& diags) {
  FunctionSpecialiser specialiser(bound, function, launch, diags);
  specialiser.run_function(kind);
  return specialiser.take();
}

// At the beginning, the code is evaluated at all points (current_condition_ is true), and no
// failure is possible (unsure_ is false).
FunctionSpecialiser::FunctionSpecialiser(const BoundProgram& bound, FunctionId function,
                                         const TaskPoint& launch, Diagnostics& diags)
    : data_(bound.program().data()),
      machine_(bound.machine()),
      globals_(bound.binding().globals),
      task_(launch),
      function_(function),
      diags_(diags) {
  made_.shapes = shapes_of_single_processors(machine_);
  current_condition_ = made_.expressions.make_constant(1);
  unsure_ = made_.expressions.make_constant(0);
}

// Specialises the function and sets its result. Leaves the result empty if the function always
// fails or cannot be specialised. A result of another kind than `kind` is a failure.
void FunctionSpecialiser::run_function(std::optional<ProcKind> kind) {
  const program::ProgramFunction& called = data_.functions[function_];
  frames_.emplace_back(called.slot_count);
  frames_.back()[0] = {TaskValue{}};
  const PartialValue result = run_function_body(called.body);
  if (failed_ || gave_up_) return;
  const auto id = number_of_result(result);
  if (!id) return;
  ExpressionGraph& e = made_.expressions;
  for (const ResultShape& shape : made_.shapes) {
    if (!kind || shape.kind == *kind) continue;
    const ExprId inside = e.make_and(e.make_less_equal(e.make_constant(shape.base), *id),
                                     e.make_less(*id, e.make_constant(shape.base + shape.count)));
    if (shape.count > 0) note_failure(inside);
  }
  if (const auto* processor = result.get<PartialProcessor>()) made_.node = processor->node;
  if (const auto* set = result.get<PartialProcessorChoice>(); set != nullptr && set->set) {
    const ResultShape& shape = made_.shapes.back();
    made_.node = e.make_divide(e.make_subtract(*id, e.make_constant(shape.base)),
                               e.make_constant(shape.stride));
  }
  if (e.is_full() || e.has_value(unsure_, 1)) return;
  made_.result_number = *id;
  made_.needs_reference = unsure_;
}

// Notes that the evaluation fails here, or needs something that is not supported. The reference
// evaluator then decides.
PartialValue FunctionSpecialiser::fail_expression() {
  failed_ = true;
  return {};
}

// Gives up on the whole function. Unlike after fail_expression(), no enclosing choice can go on
// with its other side.
PartialValue FunctionSpecialiser::fail_function() {
  gave_up_ = failed_ = true;
  return {};
}

// Counts steps. Both sides of a choice count, and every search for a split counts as if no result
// were cached. So the evaluation of a single point never takes more steps than are counted here.
bool FunctionSpecialiser::count_steps(std::int64_t steps) {
  steps_ += steps;
  if (steps_ > kMaxSteps || made_.expressions.is_full()) fail_function();
  return !failed_;
}

// Adds a possible failure to `unsure_`, for those points at which the current code is evaluated.
void FunctionSpecialiser::note_failure(ExprId fails) {
  ExpressionGraph& e = made_.expressions;
  unsure_ = e.make_or(unsure_, e.make_and(current_condition_, fails));
}

// Returns the value of a global. It does not depend on the point, so all its numbers are constants.
PartialValue FunctionSpecialiser::partial_value_of(const ProgramValue& value) {
  if (const auto* given = value.get<std::int64_t>()) return make_number(*given);
  if (const auto* given = value.get<bool>()) {
    return {PartialTruth{made_.expressions.make_constant(*given ? 1 : 0)}};
  }
  if (const TupleValue* tuple = value.as_tuple()) {
    auto made = std::make_shared<PartialTuple>();
    for (const ProgramValue& item : tuple->values) made->values.push_back(partial_value_of(item));
    made->items = tuple->items;
    made->depth = tuple->depth;
    return {std::shared_ptr<const PartialTuple>(std::move(made))};
  }
  if (const auto* text = value.get<std::shared_ptr<const std::string>>()) return {*text};
  if (const auto* view = value.get<std::shared_ptr<const MachineView>>()) return {*view};
  if (const auto* kind = value.get<ProcKind>()) return {*kind};
  if (const auto* kind = value.get<MemKind>()) return {*kind};
  if (const auto* processor = value.get<Processor>()) {
    ExpressionGraph& e = made_.expressions;
    return {PartialProcessor{processor->kind, e.make_constant(processor->node),
                             e.make_constant(processor->index)}};
  }
  return fail_expression();  // Sets of processors in globals are rare and not supported.
}

// Runs the statements of a function up to its `return`. Fails without a `return`, as the
// interpreter does.
PartialValue FunctionSpecialiser::run_function_body(program::IndexRange body) {
  for (std::uint32_t i = 0; i < body.count && !failed_; ++i) {
    const ExecutableStatement& action = data_.actions[body.begin + i];
    switch (action.kind) {
      case ExecutableStatement::Kind::kReturn:
        return evaluate_code(action.value);
      case ExecutableStatement::Kind::kPrint:
        run_print(action);
        break;
      case ExecutableStatement::Kind::kWhen:  // Only at top level.
        break;
      case ExecutableStatement::Kind::kAssign: {
        PartialValue value = evaluate_code(action.value);
        frames_.back()[action.target] = std::move(value);
      }
    }
  }
  return fail_expression();
}

// Evaluates the arguments of a print, because they may fail. Nothing is printed here.
void FunctionSpecialiser::run_print(const ExecutableStatement& action) {
  for (std::uint32_t i = 0; i < action.args.count; ++i) {
    const PartialValue value = evaluate_code(data_.lists[action.args.begin + i]);
    if (failed_ || !count_steps(printed_bytes(value) / 8)) return;
  }
}

// Returns a length of the value's text, in bytes, that is at least the length which the interpreter
// counts.
std::int64_t FunctionSpecialiser::printed_bytes(const PartialValue& value) const {
  if (const auto* text = value.get<std::shared_ptr<const std::string>>()) {
    return static_cast<std::int64_t>((*text)->size());
  }
  if (value.get<PartialProcessorChoice>() != nullptr) return 8 * kMaxTupleItems;
  std::int64_t bytes = 8;
  if (const auto* tuple = value.get<std::shared_ptr<const PartialTuple>>()) {
    for (const PartialValue& item : (*tuple)->values) bytes += printed_bytes(item);
  }
  return bytes;
}

// Returns the value of an expression. Counts one step and the depth.
PartialValue FunctionSpecialiser::evaluate_code(CodeId id) {
  if (!count_steps(1)) return {};
  if (depth_ >= kMaxDepth) return fail_function();
  ++depth_;
  PartialValue value = evaluate_node(id, code_of(id));
  --depth_;
  return failed_ ? PartialValue{} : value;
}

// Evaluates a node by its kind. evaluate_code() has counted the step.
PartialValue FunctionSpecialiser::evaluate_node(CodeId id, const Code& node) {
  switch (node.op) {
    case program::Op::kInt:
    case program::Op::kBool:
    case program::Op::kString:
    case program::Op::kProcKind:
    case program::Op::kMemKind:
      return evaluate_constant(node);
    case program::Op::kLocal:
      return frames_.back()[node.a];
    case program::Op::kGlobal:
      return partial_value_of(globals_[node.a]);
    case program::Op::kTuple: {
      Values values;
      for (PartialElement& element : evaluate_elements(node.a, node.b))
        values.push_back(std::move(element.value));
      return make_tuple(std::move(values));
    }
    case program::Op::kComprehension:
      return evaluate_comprehension(node);
    case program::Op::kNegate: {
      const PartialValue value = evaluate_code(node.a);
      return failed_ ? PartialValue{} : apply_arithmetic(node.op, make_number(0), value);
    }
    case program::Op::kNot: {
      const ExprId value = evaluate_truth(node.a);
      return failed_ ? PartialValue{}
                     : PartialValue{PartialTruth{made_.expressions.make_not(value)}};
    }
    case program::Op::kAnd:
    case program::Op::kOr:
      return evaluate_logical(node);
    case program::Op::kConditional:
      return evaluate_conditional(node);
    case program::Op::kIndex:
      return evaluate_index(node);
    case program::Op::kSlice:
      return evaluate_slice(node);
    case program::Op::kCall:
      return evaluate_call(node);
    case program::Op::kMachine:
      return evaluate_machine(node);
    case program::Op::kMethod:
      return evaluate_method(node);
    case program::Op::kMember:
      return evaluate_member(node);
    case program::Op::kBroken:
    case program::Op::kSplice:
    case program::Op::kAll:
      return fail_expression();
    default:
      static_cast<void>(id);
      return evaluate_binary(node);
  }
}

// Returns the value of a literal.
PartialValue FunctionSpecialiser::evaluate_constant(const Code& node) {
  switch (node.op) {
    case program::Op::kInt:
      return make_number(static_cast<std::int64_t>((std::uint64_t{node.b} << 32) | node.a));
    case program::Op::kBool:
      return {PartialTruth{made_.expressions.make_constant(node.a != 0 ? 1 : 0)}};
    case program::Op::kString:
      return {std::shared_ptr<const std::string>(std::shared_ptr<void>(), &data_.strings[node.a])};
    case program::Op::kProcKind:
      return {static_cast<ProcKind>(node.a)};
    default:
      return {static_cast<MemKind>(node.a)};
  }
}

// Returns the items of a list, with spliced tuples opened.
std::vector<FunctionSpecialiser::PartialElement> FunctionSpecialiser::evaluate_elements(
    std::uint32_t begin, std::uint32_t count) {
  std::vector<PartialElement> made;
  made.reserve(count);
  for (std::uint32_t i = 0; i < count && !failed_; ++i) {
    const CodeId id = data_.lists[begin + i];
    const Code& node = code_of(id);
    if (node.op == program::Op::kAll) {
      made.push_back({{}, true});
    } else if (node.op == program::Op::kSplice) {
      const PartialValue value = evaluate_code(node.a);
      const auto values = tuple_values(value);
      if (!values) fail_expression();
      if (failed_ || !count_steps(static_cast<std::int64_t>(values->size()))) break;
      for (const PartialValue& item : *values) made.push_back({item});
    } else {
      made.push_back({evaluate_code(id)});
    }
    if (static_cast<std::int64_t>(made.size()) > kMaxItems) fail_function();
  }
  return made;
}

// Returns the items of a tuple, or the node and index of a processor, or null for other values.
std::shared_ptr<const FunctionSpecialiser::Values> FunctionSpecialiser::tuple_values(
    const PartialValue& value) const {
  if (const auto* tuple = value.get<std::shared_ptr<const PartialTuple>>()) {
    return {*tuple, &(*tuple)->values};
  }
  if (const auto* processor = value.get<PartialProcessor>()) {
    return std::make_shared<const Values>(
        Values{{PartialNumber{processor->node}}, {PartialNumber{processor->index}}});
  }
  return nullptr;
}

// Returns the integer if it is the same for every point, otherwise nothing.
std::optional<std::int64_t> FunctionSpecialiser::known_integer(const PartialValue& value) const {
  const auto* given = value.get<PartialNumber>();
  return given == nullptr ? std::nullopt : made_.expressions.known_value(given->id);
}

// Returns a tuple. Gives up if it is too long or too deep, because the interpreter may still accept
// it.
PartialValue FunctionSpecialiser::make_tuple(Values values) {
  if (failed_ || !count_steps(static_cast<std::int64_t>(values.size()))) return {};
  auto made = std::make_shared<PartialTuple>();
  for (const PartialValue& value : values) {
    const auto* shared = value.get<std::shared_ptr<const PartialTuple>>();
    const PartialTuple* inner = shared == nullptr ? nullptr : shared->get();
    made->items += inner == nullptr ? 1 : std::max<std::int64_t>(1, inner->items);
    made->depth = std::max(made->depth, inner == nullptr ? 1 : inner->depth + 1);
  }
  if (made->items > kMaxItems || made->depth > kMaxTupleDepth) return fail_function();
  made->values = std::move(values);
  return {std::shared_ptr<const PartialTuple>(std::move(made))};
}

// Evaluates `tuple(item for x in range)`. The items of the range may depend on the point, but not
// their number.
PartialValue FunctionSpecialiser::evaluate_comprehension(const Code& node) {
  const PartialValue range = evaluate_code(node.b);
  const auto values = tuple_values(range);
  if (failed_ || !values) return fail_expression();
  Values made;
  for (const PartialValue& item : *values) {
    frames_.back()[node.c] = item;
    made.push_back(evaluate_code(node.a));
    if (failed_) return {};
  }
  return make_tuple(std::move(made));
}

// Evaluates both sides of an operator and applies it. The left side is evaluated first, so its
// failure comes first.
PartialValue FunctionSpecialiser::evaluate_binary(const Code& node) {
  const PartialValue left = evaluate_code(node.a);
  if (failed_) return {};
  const PartialValue right = evaluate_code(node.b);
  if (failed_) return {};
  if (node.op >= program::Op::kAdd && node.op <= program::Op::kModulo)
    return apply_arithmetic(node.op, left, right);
  return compare_values(node.op, left, right);
}

// Applies an operator to integers or tuples, item by item, as the interpreter does.
PartialValue FunctionSpecialiser::apply_arithmetic(program::Op op, const PartialValue& left,
                                                   const PartialValue& right) {
  const auto* a = left.get<PartialNumber>();
  const auto* b = right.get<PartialNumber>();
  if (a != nullptr && b != nullptr) return apply_integer_op(op, a->id, b->id);
  const auto left_values = tuple_values(left);
  const auto right_values = tuple_values(right);
  if ((a == nullptr && !left_values) || (b == nullptr && !right_values)) return fail_expression();
  if (left_values && right_values && left_values->size() != right_values->size())
    return fail_expression();
  const std::size_t length = left_values ? left_values->size() : right_values->size();
  if (!count_steps(static_cast<std::int64_t>(length))) return {};
  Values made;
  made.reserve(length);
  for (std::size_t i = 0; i < length && !failed_; ++i) {
    made.push_back(apply_arithmetic(op, left_values ? (*left_values)[i] : left,
                                    right_values ? (*right_values)[i] : right));
  }
  return make_tuple(std::move(made));
}

// Applies an operator to two integers. Points at which it overflows or divides by zero are left to
// the reference evaluator. A division that fails at every point fails.
PartialValue FunctionSpecialiser::apply_integer_op(program::Op op, ExprId left, ExprId right) {
  ExpressionGraph& e = made_.expressions;
  switch (op) {
    case program::Op::kAdd:
      note_failure(e.add_overflows(left, right));
      return {PartialNumber{e.make_add(left, right)}};
    case program::Op::kNegate:
    case program::Op::kSubtract:
      note_failure(e.subtract_overflows(left, right));
      return {PartialNumber{e.make_subtract(left, right)}};
    case program::Op::kMultiply:
      note_failure(e.multiply_overflows(left, right));
      return {PartialNumber{e.make_multiply(left, right)}};
    default: {
      const ExprId fails = e.division_fails(left, right);
      if (e.has_value(fails, 1)) return fail_expression();
      note_failure(fails);
      return {PartialNumber{op == program::Op::kDivide ? e.make_divide(left, right)
                                                       : e.make_modulo(left, right)}};
    }
  }
}

// Compares two values for equality, or two integers for order. The result is an expression whose
// values are 0 and 1.
PartialValue FunctionSpecialiser::compare_values(program::Op op, const PartialValue& left,
                                                 const PartialValue& right) {
  ExpressionGraph& e = made_.expressions;
  if (op == program::Op::kEqual || op == program::Op::kNotEqual) {
    const ExprId same = make_equal(left, right);
    if (failed_) return {};
    return {PartialTruth{op == program::Op::kEqual ? same : e.make_not(same)}};
  }
  const auto* a = left.get<PartialNumber>();
  const auto* b = right.get<PartialNumber>();
  if (a == nullptr || b == nullptr) return fail_expression();
  switch (op) {
    case program::Op::kLess:
      return {PartialTruth{e.make_less(a->id, b->id)}};
    case program::Op::kLessEqual:
      return {PartialTruth{e.make_less_equal(a->id, b->id)}};
    case program::Op::kGreater:
      return {PartialTruth{e.make_less(b->id, a->id)}};
    default:
      return {PartialTruth{e.make_less_equal(b->id, a->id)}};
  }
}

// Returns the condition under which two values are equal. Values of different types fail, as in the
// interpreter. Returns kNoExpr after a failure.
ExprId FunctionSpecialiser::make_equal(const PartialValue& left, const PartialValue& right) {
  ExpressionGraph& e = made_.expressions;
  const auto* a = left.get<PartialProcessor>();
  const auto* b = right.get<PartialProcessor>();
  if (a != nullptr && b != nullptr) {
    if (a->kind != b->kind) return e.make_constant(0);
    return e.make_and(e.make_equal(a->node, b->node), e.make_equal(a->index, b->index));
  }
  const auto left_values = tuple_values(left);
  const auto right_values = tuple_values(right);
  if (left_values && right_values) {
    if (left_values->size() != right_values->size()) return fail_expression(), kNoExpr;
    if (!count_steps(static_cast<std::int64_t>(left_values->size()))) return kNoExpr;
    ExprId same = e.make_constant(1);
    for (std::size_t i = 0; i < left_values->size() && !failed_; ++i) {
      const ExprId item = make_equal((*left_values)[i], (*right_values)[i]);
      if (!failed_) same = e.make_and(same, item);
    }
    return same;
  }
  if (left.v.index() != right.v.index()) return fail_expression(), kNoExpr;
  if (const auto* number = left.get<PartialNumber>())
    return e.make_equal(number->id, right.get<PartialNumber>()->id);
  if (const auto* truth = left.get<PartialTruth>())
    return e.make_equal(truth->id, right.get<PartialTruth>()->id);
  using Text = std::shared_ptr<const std::string>;
  if (const auto* text = left.get<Text>()) {
    if (!count_steps(printed_bytes(left) / 256)) return kNoExpr;
    return e.make_constant(**text == **right.get<Text>() ? 1 : 0);
  }
  if (const auto* kind = left.get<ProcKind>()) {
    return e.make_constant(*kind == *right.get<ProcKind>() ? 1 : 0);
  }
  if (const auto* kind = left.get<MemKind>()) {
    return e.make_constant(*kind == *right.get<MemKind>() ? 1 : 0);
  }
  return fail_expression(), kNoExpr;
}

}  // namespace groma::mapper
