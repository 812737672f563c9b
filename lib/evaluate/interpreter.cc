// Evaluates expressions and functions as they are written. machine_ops.cc has the operations on
// machines.
#include "evaluate/interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "groma/spelling.h"

namespace groma::mapper {

using program::Action;
using program::kNoCode;
using program::Member;
using program::Op;
using program::Type;

namespace {

// The deepest nesting of expressions, through calls, too. Each level takes some 700 bytes of stack.
constexpr int kMaxDepth = 1024;

// Returns a tuple for a message: "(1, 2)", or only its length if it is long.
std::string tuple_text(const Value& tuple, std::size_t length) {
  constexpr std::int64_t kLongest = 100;  // bytes
  return text_bytes(tuple) > kLongest ? fmt::format("one of {} items", length)
                                      : to_string(tuple, "the task");
}

std::string coordinates_text(const Point& point) {
  std::string text = "(";
  for (int i = 0; i < point.dimensions(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", point[i]);
  return text + (point.dimensions() == 1 ? ",)" : ")");
}

// Returns the operator as the language writes it.
std::string_view sign_of(Op op) {
  constexpr std::string_view kSigns[] = {
      "-", "!", "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"};
  return kSigns[static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::kNegate)];
}

Value number(std::int64_t value) { return {value}; }

// Returns the extents of a machine as values.
std::shared_ptr<const std::vector<Value>> sizes_of(const MachineView& view) {
  std::vector<Value> sizes;
  for (std::int64_t size : view.sizes()) sizes.push_back(number(size));
  return std::make_shared<const std::vector<Value>>(std::move(sizes));
}

}  // namespace

Interpreter::Interpreter(const Program& program, const Machine& machine,
                         std::vector<Value>& globals, LogSink* log)
    : data_(program.data()), machine_(machine), globals_(globals), log_(log) {}

std::string_view Interpreter::function_name(FunctionId function) const {
  return data_.names.text(data_.functions[function].name);
}

// Returns a description of the present evaluation, as in interpreter.h.
std::string Interpreter::where() const {
  if (task_ == nullptr) return "";
  const bool single = task_->parent || task_->processor;
  if (single && task_->name.empty()) {
    return fmt::format("`{}` maps a single task", function_name(mapping_function_));
  }
  if (single) {
    return fmt::format("`{}` maps the single task `{}`", function_name(mapping_function_),
                       task_->name);
  }
  std::string of =
      fmt::format("`{}` maps point {} of a launch of {}", function_name(mapping_function_),
                  coordinates_text(task_->point), coordinates_text(task_->domain.extents));
  const Point& lower = task_->domain.lower;
  Point ipoint = task_->point;
  for (int d = 0; d < ipoint.dimensions(); ++d) ipoint[d] -= lower[d];
  if (ipoint == task_->point) return of;
  return fmt::format("{} that begins at {}, where `ipoint` is {}", of, coordinates_text(lower),
                     coordinates_text(ipoint));
}

// Reports the first failure, with the functions and the point in which it happened. Later failures
// go to a diagnostic that nobody sees.
Diagnostic& Interpreter::fail(DiagId id, Range range, std::vector<DiagArg> args) {
  if (failed_) return dropped_;
  failed_ = true;
  Diagnostic& diagnostic = diags_->add(id, range, std::move(args));
  std::vector<std::string> running;
  if (frames_.size() > 1) {
    std::string chain;
    const std::size_t first = task_ == nullptr ? 1 : 0;  // the top level is not a function
    for (std::size_t i = frames_.size(); i-- > first;) {
      running.emplace_back(function_name(frames_[i].function));
      chain += fmt::format("{}`{}`", chain.empty() ? "in " : ", called by ", running.back());
    }
    diagnostic.note(chain);
  }
  if (task_ != nullptr) {
    running.emplace_back(function_name(mapping_function_));
    diagnostic.notes.push_back({"while " + where(), {}, std::move(running)});
  }
  return diagnostic;
}

// Reports that a value has the wrong type.
Value Interpreter::fail_type(Range range, std::string_view what, std::string_view needs,
                             const Value& found) {
  fail(DiagId::kTypeMismatch, range,
       {std::string(what), std::string(needs), std::string(describe(type_of(found)))});
  return {};
}

// Counts steps. Returns false after a failure or if the step limit is exceeded.
bool Interpreter::tick(std::int64_t steps, Range range) {
  steps_ += steps;
  if (steps_ <= max_steps_) return !failed_;
  fail(DiagId::kStepLimit, range, {max_steps_})
      .help("compute less for each point, or compute it once in a global");
  return false;
}

// Each statement has a frame of its own. The step limit counts for all statements together.
bool Interpreter::top_level(std::int64_t max_steps, Diagnostics& diags) {
  diags_ = &diags;
  task_ = nullptr;
  failed_ = false;
  max_steps_ = max_steps;
  for (const Action& action : data_.top) {
    frames_.clear();
    frames_.push_back({0, std::vector<Value>(data_.top_slots)});
    if (action.kind == Action::Kind::kPrint) {
      print(action);
    } else {
      Value value = eval(action.value);
      if (!failed_) globals_[action.target] = std::move(value);
    }
    if (failed_) break;
  }
  frames_.clear();
  all_steps_ += std::exchange(steps_, 0);
  max_steps_ = kMaxSteps;
  return !failed_;
}

// Evaluates the function with the task as its argument.
Value Interpreter::map(FunctionId function, const TaskPoint& task, Diagnostics& diags) {
  diags_ = &diags;
  task_ = &task;
  mapping_function_ = function;
  failed_ = false;
  const program::Function& called = data_.functions[function];
  frames_.clear();
  frames_.push_back({function, std::vector<Value>(called.slots)});
  frames_.back().slots[0] = Value{TaskValue{}};
  Value result = run_body(called.body);
  frames_.clear();
  all_steps_ += std::exchange(steps_, 0);
  return failed_ ? Value{} : result;
}

// Runs the statements of a function up to its `return`. A function without a `return` fails.
Value Interpreter::run_body(program::List body) {
  for (std::uint32_t i = 0; i < body.count && !failed_; ++i) {
    const Action& action = data_.actions[body.begin + i];
    switch (action.kind) {
      case Action::Kind::kReturn:
        return eval(action.value);
      case Action::Kind::kPrint:
        print(action);
        break;
      case Action::Kind::kAssign: {
        Value value = eval(action.value);
        frames_.back().slots[action.target] = std::move(value);
      }
    }
  }
  if (!failed_) {
    const FunctionId function = frames_.back().function;
    fail(DiagId::kMissingReturn, data_.functions[function].name_range,
         {std::string(function_name(function))});
  }
  return {};
}

// Evaluates the arguments and logs the line. After kMaxPrintLines lines, a warning is reported and
// nothing more is logged.
void Interpreter::print(const Action& action) {
  std::vector<std::string> args;
  for (std::uint32_t i = 0; i < action.args.count; ++i) {
    const Value value = eval(data_.lists[action.args.begin + i]);
    if (failed_ || !tick(text_bytes(value) / 8, action.range)) return;
    args.push_back(to_string(value, task_ == nullptr ? "" : task_->name));
  }
  if (log_ == nullptr || printed_lines_ > kMaxPrintLines) return;
  if (++printed_lines_ > kMaxPrintLines) {
    diags_->report(DiagId::kPrintLimit, action.range, kMaxPrintLines);
    return;
  }
  std::string line;
  std::string_view rest = data_.strings[action.text];
  for (const std::string& arg : args) {
    const std::size_t hole = rest.find("{}");
    if (hole == std::string_view::npos) break;
    line += rest.substr(0, hole);
    line += arg;
    rest.remove_prefix(hole + 2);
  }
  log_->log(LogLevel::kInfo, line.append(rest));
}

// Returns the value of an expression. Counts one step and the depth.
Value Interpreter::eval(CodeId id) {
  const Code& node = code(id);
  if (!tick(1, node.range)) return {};
  if (depth_ >= kMaxDepth) {
    fail(DiagId::kNestingTooDeep, node.range, {kMaxDepth})
        .help("give parts of it names in statements of their own");
    return {};
  }
  ++depth_;
  Value value = eval_at(id, node);
  --depth_;
  return failed_ ? Value{} : value;
}

// Evaluates a node by its kind. eval() has counted the step.
Value Interpreter::eval_at(CodeId id, const Code& node) {
  switch (node.op) {
    case Op::kInt:
    case Op::kBool:
    case Op::kString:
    case Op::kProcKind:
    case Op::kMemKind:
      return constant(node);
    case Op::kLocal:
      return frames_.back().slots[node.a];
    case Op::kGlobal:
      return global(node);
    case Op::kTuple:
      return tuple(node);
    case Op::kComprehension:
      return comprehension(node);
    case Op::kNegate:
      return negate(node);
    case Op::kNot:
      return {!truth(node.a, "`!`")};
    case Op::kAnd:
      return {truth(node.a, "`&&`") && truth(node.b, "`&&`")};
    case Op::kOr:
      return {truth(node.a, "`||`") || truth(node.b, "`||`")};
    case Op::kConditional:
      return conditional(node);
    case Op::kIndex:
      return index(node);
    case Op::kSlice:
      return slice(node);
    case Op::kCall:
      return call(node);
    case Op::kMachine:
      return machine(node);
    case Op::kMethod:
      return method(id, node);
    case Op::kMember:
      return member(node);
    case Op::kBroken:
      return broken(node);
    case Op::kSplice:
    case Op::kAll:
      break;  // these stand only in lists, which elements() handles
    default:
      return binary(node);
  }
  return {};
}

// Returns the value of a literal.
Value Interpreter::constant(const Code& node) const {
  switch (node.op) {
    case Op::kInt:
      return number(static_cast<std::int64_t>((std::uint64_t{node.b} << 32) | node.a));
    case Op::kBool:
      return {node.a != 0};
    case Op::kString:
      // The text is not copied. The program owns it and outlives its values.
      return {std::shared_ptr<const std::string>(std::shared_ptr<void>(), &data_.strings[node.a])};
    case Op::kProcKind:
      return {static_cast<ProcKind>(node.a)};
    default:
      return {static_cast<MemKind>(node.a)};
  }
}

// Fails with an error that the check reported as a warning, because the code might never run.
Value Interpreter::broken(const Code& node) {
  const Diagnostic& known = data_.failures[node.a];
  fail(known.id, known.range.value_or(node.range), known.args);
  return {};
}

// Returns a global. Fails if its statement has not run yet.
Value Interpreter::global(const Code& node) {
  const Value& value = globals_[node.a];
  if (value.get<std::monostate>() == nullptr) return value;
  const program::Global& known = data_.globals[node.a];
  fail(DiagId::kUseBeforeStatement, node.range, {std::string(data_.names.text(known.name))})
      .note("it is assigned here", known.range);
  return {};
}

// Returns the items of a list, with spliced tuples (`*t`) opened.
std::vector<Interpreter::Element> Interpreter::elements(std::uint32_t begin, std::uint32_t count) {
  std::vector<Element> made;
  for (std::uint32_t i = 0; i < count && !failed_; ++i) {
    const CodeId id = data_.lists[begin + i];
    const Code& node = code(id);
    if (node.op == Op::kAll) {
      made.push_back({{}, node.range, true});
    } else if (node.op == Op::kSplice) {
      const Value value = eval(node.a);
      const auto values = tuple_values(value);
      if (failed_) break;
      if (!values) {
        fail_type(node.range, "`*` before an expression", "a tuple", value);
        break;
      }
      if (!tick(static_cast<std::int64_t>(values->size()), node.range)) break;
      for (const Value& item : *values) made.push_back({item, node.range});
    } else {
      made.push_back({eval(id), node.range});
    }
    if (static_cast<std::int64_t>(made.size()) > kMaxTupleItems) {
      fail(DiagId::kTupleTooLong, node.range, {kMaxTupleItems});
    }
  }
  return made;
}

Value Interpreter::tuple(const Code& node) {
  std::vector<Value> values;
  for (Element& element : elements(node.a, node.b)) values.push_back(std::move(element.value));
  return make_tuple(std::move(values), node.range);
}

// Returns a tuple, unless it is too long or too deep.
Value Interpreter::make_tuple(std::vector<Value> values, Range range) {
  if (failed_ || !tick(static_cast<std::int64_t>(values.size()), range)) return {};
  auto made = std::make_shared<Tuple>();
  for (const Value& value : values) {
    const Tuple* inner = value.tuple();
    made->items += inner == nullptr ? 1 : std::max<std::int64_t>(1, inner->items);
    made->depth = std::max(made->depth, inner == nullptr ? 1 : inner->depth + 1);
  }
  // Nested tuples are visited by recursion, so their depth has a lower limit of its own.
  constexpr int kMaxTupleDepth = 64;
  if (made->items > kMaxTupleItems || made->depth > kMaxTupleDepth) {
    const bool deep = made->items <= kMaxTupleItems;
    fail(deep ? DiagId::kNestingTooDeep : DiagId::kTupleTooLong, range,
         {deep ? std::int64_t{kMaxTupleDepth} : kMaxTupleItems});
    return {};
  }
  made->values = std::move(values);
  return {std::shared_ptr<const Tuple>(std::move(made))};
}

// Evaluates `tuple(item for x in range)`.
Value Interpreter::comprehension(const Code& node) {
  const Value range = eval(node.b);
  if (failed_) return {};
  const auto values = tuple_values(range);
  if (!values) {
    return fail_type(code(node.b).range, "`tuple(... for ... in ...)`", "a tuple to go through",
                     range);
  }
  std::vector<Value> made;
  for (const Value& item : *values) {
    frames_.back().slots[node.c] = item;
    made.push_back(eval(node.a));
    if (failed_) return {};
  }
  return make_tuple(std::move(made), node.range);
}

// Negates an integer or each item of a tuple.
Value Interpreter::negate(const Code& node) {
  const Value value = eval(node.a);
  if (failed_) return {};
  if (type_of(value) != Type::kInt && !tuple_values(value)) {
    return fail_type(code(node.a).range, "`-`", "an integer or a tuple", value);
  }
  return arithmetic(node, number(0), value);
}

// Returns the bool that an expression computes. `what` names the place in the error.
bool Interpreter::truth(CodeId id, std::string_view what) {
  const Value value = eval(id);
  if (failed_) return false;
  if (const bool* truth = value.get<bool>()) return *truth;
  fail_type(code(id).range, what, "a bool", value);
  return false;
}

Value Interpreter::conditional(const Code& node) {
  const bool condition = truth(node.a, "the condition of `?:`");
  if (failed_) return {};
  return eval(condition ? node.b : node.c);
}

// Evaluates both sides of an operator, then applies it.
Value Interpreter::binary(const Code& node) {
  const Value left = eval(node.a);
  const Value right = eval(node.b);
  if (failed_) return {};
  if (node.op >= Op::kAdd && node.op <= Op::kModulo) return arithmetic(node, left, right);
  return compare(node, left, right);
}

// Applies an operator to integers, to the items of two tuples of one length, or to an integer and
// each item. Negation is 0 - x.
Value Interpreter::arithmetic(const Code& node, const Value& left, const Value& right) {
  const auto* a = left.get<std::int64_t>();
  const auto* b = right.get<std::int64_t>();
  if (a != nullptr && b != nullptr) return integer_op(node, *a, *b);
  const auto left_values = tuple_values(left);
  const auto right_values = tuple_values(right);
  const std::string sign = fmt::format("`{}`", sign_of(node.op));
  if (a == nullptr && !left_values) {
    return fail_type(code(node.a).range, sign, "integers or tuples", left);
  }
  if (b == nullptr && !right_values) {
    const CodeId side = node.op == Op::kNegate ? node.a : node.b;
    return fail_type(code(side).range, sign, "integers or tuples", right);
  }
  if (left_values && right_values && left_values->size() != right_values->size()) {
    fail(DiagId::kLengthMismatch, node.focus,
         {std::string(sign_of(node.op)), tuple_text(left, left_values->size()),
          tuple_text(right, right_values->size())});
    return {};
  }
  const std::size_t length = left_values ? left_values->size() : right_values->size();
  if (!tick(static_cast<std::int64_t>(length), node.range)) return {};
  std::vector<Value> made;
  for (std::size_t i = 0; i < length && !failed_; ++i) {
    made.push_back(arithmetic(node, left_values ? (*left_values)[i] : left,
                              right_values ? (*right_values)[i] : right));
  }
  return make_tuple(std::move(made), node.range);
}

// Applies an operator to two integers. An overflow or a division by zero fails.
Value Interpreter::integer_op(const Code& node, std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  bool overflow = false;
  switch (node.op) {
    case Op::kAdd:
      overflow = __builtin_add_overflow(left, right, &result);
      break;
    case Op::kNegate:
    case Op::kSubtract:
      overflow = __builtin_sub_overflow(left, right, &result);
      break;
    case Op::kMultiply:
      overflow = __builtin_mul_overflow(left, right, &result);
      break;
    default:
      if (right == 0) {
        fail(DiagId::kDivisionByZero, node.focus, {left, std::string(sign_of(node.op))});
        return {};
      }
      overflow = left == INT64_MIN && right == -1;
      if (!overflow) result = node.op == Op::kDivide ? left / right : left % right;
  }
  if (!overflow) return number(result);
  const std::string shown = node.op == Op::kNegate
                                ? fmt::format("-({})", right)
                                : fmt::format("{} {} {}", left, sign_of(node.op), right);
  fail(DiagId::kOverflow, node.focus, {shown}).note("the original wraps around at 32 bits (D2)");
  return {};
}

// Compares two values for equality, or two integers for order.
Value Interpreter::compare(const Code& node, const Value& left, const Value& right) {
  if (node.op == Op::kEqual || node.op == Op::kNotEqual) {
    const bool same = equal(node, left, right);
    return {same == (node.op == Op::kEqual)};
  }
  const auto* a = left.get<std::int64_t>();
  const auto* b = right.get<std::int64_t>();
  if (a == nullptr || b == nullptr) {
    return fail_type(code(a == nullptr ? node.a : node.b).range,
                     fmt::format("`{}`", sign_of(node.op)), "integers",
                     a == nullptr ? left : right);
  }
  switch (node.op) {
    case Op::kLess:
      return {*a < *b};
    case Op::kLessEqual:
      return {*a <= *b};
    case Op::kGreater:
      return {*a > *b};
    default:
      return {*a >= *b};
  }
}

// Compares whole values of one type. A processor also equals the pair of its node and index.
bool Interpreter::equal(const Code& node, const Value& left, const Value& right) {
  const auto left_values = tuple_values(left);
  const auto right_values = tuple_values(right);
  const auto* left_processor = left.get<Processor>();
  const auto* right_processor = right.get<Processor>();
  if (left_processor != nullptr && right_processor != nullptr) {
    return *left_processor == *right_processor;
  }
  if (left_values && right_values) {
    if (left_values->size() != right_values->size()) {
      fail(DiagId::kLengthMismatch, node.focus,
           {std::string(sign_of(node.op)), tuple_text(left, left_values->size()),
            tuple_text(right, right_values->size())});
      return false;
    }
    if (!tick(static_cast<std::int64_t>(left_values->size()), node.range)) return false;
    bool same = true;
    for (std::size_t i = 0; i < left_values->size() && !failed_; ++i) {
      same = equal(node, (*left_values)[i], (*right_values)[i]) && same;
    }
    return same;
  }
  const Type a = type_of(left), b = type_of(right);
  const bool comparable = a == Type::kInt || a == Type::kBool || a == Type::kString ||
                          a == Type::kProcKind || a == Type::kMemKind;
  if (a != b || !comparable) {
    fail(DiagId::kTypeMismatch, node.focus,
         {fmt::format("`{}`", sign_of(node.op)), std::string("two values of one type"),
          fmt::format("{} and {}", describe(a), describe(b))});
    return false;
  }
  if (a == Type::kString) {
    if (!tick(text_bytes(left) / 256, node.range)) return false;
    return **left.get<std::shared_ptr<const std::string>>() ==
           **right.get<std::shared_ptr<const std::string>>();
  }
  if (a == Type::kInt) return *left.get<std::int64_t>() == *right.get<std::int64_t>();
  if (a == Type::kBool) return *left.get<bool>() == *right.get<bool>();
  if (a == Type::kProcKind) return *left.get<ProcKind>() == *right.get<ProcKind>();
  return *left.get<MemKind>() == *right.get<MemKind>();
}

// Returns an item of a tuple, or a processor or set of a machine.
Value Interpreter::index(const Code& node) {
  const Value base = eval(node.c);
  if (failed_) return {};
  if (const MachineView* view = base.machine()) return index_machine(node, *view);
  const auto values = tuple_values(base);
  if (!values) {
    return fail_type(code(node.c).range, "an index", "a machine or a tuple before it", base);
  }
  return index_tuple(node, *values);
}

// Returns an item of a tuple. A negative index counts from the end.
Value Interpreter::index_tuple(const Code& node, const std::vector<Value>& values) {
  const std::vector<Element> list = elements(node.a, node.b);
  if (failed_) return {};
  if (list.size() != 1) {
    fail(DiagId::kWrongIndexCount, node.focus,
         {fmt::format("{} indices", list.size()), std::string("a tuple, which takes one")});
    return {};
  }
  if (list[0].all) {
    fail(DiagId::kStrayStar, list[0].range, {}).note("a bare `*` indexes machines only");
    return {};
  }
  const auto* at = list[0].value.get<std::int64_t>();
  if (at == nullptr) return fail_type(list[0].range, "an index", "an integer", list[0].value);
  const auto length = static_cast<std::int64_t>(values.size());
  if (*at < -length || *at >= length) {
    fail(DiagId::kIndexOutOfRange, list[0].range, {*at, length});
    return {};
  }
  return values[static_cast<std::size_t>(*at < 0 ? *at + length : *at)];
}

// Computes one end of a slice, as Python does: a negative end counts from the back, and the end is
// cut to the length. A missing end is `missing`.
bool Interpreter::slice_end(CodeId id, std::int64_t length, std::int64_t missing,
                            std::int64_t* end) {
  *end = missing;
  if (id == kNoCode) return true;
  const Value value = eval(id);
  if (failed_) return false;
  const auto* given = value.get<std::int64_t>();
  if (given == nullptr) {
    fail_type(code(id).range, "the end of a slice", "an integer", value);
    return false;
  }
  *end = std::clamp<std::int64_t>(*given < 0 ? *given + length : *given, 0, length);
  return true;
}

// Returns a slice of a tuple or of the sizes of a machine.
Value Interpreter::slice(const Code& node) {
  const Value base = eval(node.c);
  if (failed_) return {};
  const auto values = base.machine() != nullptr ? sizes_of(*base.machine()) : tuple_values(base);
  if (!values) {
    return fail_type(code(node.c).range, "a slice", "a tuple or a machine before it", base);
  }
  const auto length = static_cast<std::int64_t>(values->size());
  std::int64_t from = 0, to = 0;
  if (!slice_end(node.a, length, 0, &from) || !slice_end(node.b, length, length, &to)) return {};
  if (from >= to) return make_tuple({}, node.range);
  return make_tuple({values->begin() + from, values->begin() + to}, node.range);
}

// Evaluates a call of a function of the program in a frame of its own.
Value Interpreter::call(const Code& node) {
  const program::Function& called = data_.functions[node.c];
  std::vector<Element> args = elements(node.a, node.b);
  if (failed_) return {};
  if (args.size() != called.parameters.count) {
    fail(DiagId::kWrongArgumentCount, node.range,
         {std::string(function_name(node.c)),
          fmt::format("{} argument{}", called.parameters.count,
                      called.parameters.count == 1 ? "" : "s"),
          std::to_string(args.size())});
    return {};
  }
  std::vector<Value> slots(called.slots);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const auto& parameter = data_.parameters[called.parameters.begin + i];
    if (!check_parameter(parameter, args[i], function_name(node.c))) return {};
    slots[i] = std::move(args[i].value);
  }
  if (!tick(static_cast<std::int64_t>(slots.size()), node.range)) return {};
  frames_.push_back({node.c, std::move(slots)});
  Value result = run_body(called.body);
  frames_.pop_back();
  return result;
}

// Returns whether an argument has the type of its parameter. Reports the error if not.
bool Interpreter::check_parameter(const program::Parameter& parameter, const Element& argument,
                                  std::string_view callee) {
  using syntax::ParamType;
  const Type type = type_of(argument.value);
  bool fits = true;
  Value found = argument.value;
  switch (parameter.type) {
    case ParamType::kAny:
      break;
    case ParamType::kInt:
      fits = type == Type::kInt;
      break;
    case ParamType::kBool:
      fits = type == Type::kBool;
      break;
    case ParamType::kMSpace:
      fits = type == Type::kMachine;
      break;
    case ParamType::kTask:
      fits = type == Type::kTask || type == Type::kParent;
      break;
    case ParamType::kIPoint:
    case ParamType::kISpace: {
      const auto values = tuple_values(argument.value);
      fits = values != nullptr;
      if (!fits) break;
      if (!tick(static_cast<std::int64_t>(values->size()), argument.range)) return false;
      const auto other = std::find_if(values->begin(), values->end(), [](const Value& value) {
        return type_of(value) != Type::kInt;
      });
      fits = other == values->end();
      if (!fits) found = *other;
    }
  }
  if (fits) return true;
  const bool tuple = parameter.type == ParamType::kIPoint || parameter.type == ParamType::kISpace;
  fail_type(argument.range, fmt::format("an argument of `{}`", callee),
            tuple ? "a tuple of integers"
                  : fmt::format("a value of type `{}`", syntax::spelling(parameter.type)),
            found);
  return false;
}

// Returns a member of a task, a tuple, a processor or a machine.
Value Interpreter::member(const Code& node) {
  const Value base = eval(node.a);
  if (failed_) return {};
  if (const auto* task = base.get<TaskValue>()) return task_member(node, *task);
  const auto values = base.machine() != nullptr ? sizes_of(*base.machine()) : tuple_values(base);
  if (!values || node.member > Member::kLen) {
    fail(DiagId::kUnknownMember, node.focus,
         {std::string(describe(type_of(base))), std::string(name_of(node.member))});
    return {};
  }
  if (node.member == Member::kLen) return number(static_cast<std::int64_t>(values->size()));
  if (node.member == Member::kSize) return make_tuple(*values, node.range);
  const auto sizes = integers(base.machine() != nullptr ? make_tuple(*values, node.range) : base,
                              code(node.a).range, "`volume`");
  if (!sizes) return {};
  std::int64_t volume = 1;
  for (std::int64_t size : *sizes) {
    if (__builtin_mul_overflow(volume, size, &volume)) {
      fail(DiagId::kOverflow, node.focus, {std::string("the volume")});
      return {};
    }
  }
  return number(volume);
}

// Returns a member of a task or of its parent. Fails if this kind of task does not have the member.
Value Interpreter::task_member(const Code& node, TaskValue task) {
  const auto tuple_of = [&](std::span<const std::int64_t> coordinates) {
    std::vector<Value> values;
    for (std::int64_t coordinate : coordinates) values.push_back(number(coordinate));
    return make_tuple(std::move(values), node.range);
  };
  const auto name = [](std::string_view text) -> Value {
    return {std::make_shared<const std::string>(text)};
  };
  const bool needs_index = node.member >= Member::kIpoint && node.member <= Member::kIlo;
  if (task.parent && node.member != Member::kName) {
    fail(DiagId::kParentMember, node.focus, {std::string(name_of(node.member))});
    return {};
  }
  if (needs_index && (task_->processor || task_->parent)) {
    fail(DiagId::kNeedsIndexTask, node.focus,
         {std::string(function_name(mapping_function_)),
          fmt::format("task.{}", name_of(node.member))});
    return {};
  }
  switch (node.member) {
    case Member::kName:
      return name(task.parent ? task_->parent_name : task_->name);
    case Member::kIspace:
      return tuple_of(task_->domain.extents.coordinates());
    case Member::kIlo:
      return tuple_of(task_->domain.lower.coordinates());
    case Member::kIpoint: {
      Point relative = task_->point;
      for (int i = 0; i < relative.dimensions(); ++i) relative[i] -= task_->domain.lower[i];
      return tuple_of(relative.coordinates());
    }
    case Member::kParent:
      if (task_->parent) return {TaskValue{true}};
      fail(DiagId::kNeedsSingleTask, node.focus,
           {std::string(function_name(mapping_function_)), std::string("task.parent")});
      return {};
    default:
      fail(DiagId::kUnknownMember, node.focus,
           {std::string(describe(Type::kTask)), std::string(name_of(node.member))});
      return {};
  }
}

}  // namespace groma::mapper
