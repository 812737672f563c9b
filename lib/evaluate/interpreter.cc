// Evaluates expressions and functions directly from their typed code, without any preparation.
// Every other form of evaluation must give the same results.
#include "evaluate/interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "evaluate/members.h"
#include "evaluate/operators.h"

namespace groma::mapper {

using program::ExecutableStatement;
using program::kNoCode;
using program::Method;
using program::Op;
using program::Type;

namespace {

// The largest nesting of expressions, including those of called functions. Each level takes some
// 700 bytes of stack, so the limit keeps the stack small.
constexpr int kMaxDepth = 1024;

// Returns the value of a literal. An integer of 64 bits is stored in two fields of the node: its
// low half in `a`, its high half in `b`.
ProgramValue constant(const program::ProgramData& data, const program::CodeNode& node) {
  switch (node.op) {
    case Op::kInt:
      return {static_cast<std::int64_t>((std::uint64_t{node.b} << 32) | node.a)};
    case Op::kBool:
      return {node.a != 0};
    case Op::kString:
      // The string is not copied. The program owns it and outlives the values of its evaluation.
      return {std::shared_ptr<const std::string>(std::shared_ptr<void>(), &data.strings[node.a])};
    case Op::kProcKind:
      return {static_cast<ProcKind>(node.a)};
    default:
      return {static_cast<MemKind>(node.a)};
  }
}

// Returns an item of a tuple. A negative index counts from the end: -1 is the last item. `place` is
// the range of the whole index in the source.
ProgramValue item_of(Evaluation& run, const std::vector<ProgramValue>& values,
                     const std::vector<EvaluatedItem>& index, Range place) {
  if (index.size() != 1) {
    run.fail_with(
        DiagId::kWrongIndexCount, place,
        {fmt::format("{} indices", index.size()), std::string("a tuple, which takes one")});
    return {};
  }
  if (index[0].is_star) {
    run.fail_with(DiagId::kStrayStar, index[0].range, {}).note("a bare `*` indexes machines only");
    return {};
  }
  const auto* at = index[0].value.get<std::int64_t>();
  if (at == nullptr) {
    return run.fail_with_type(index[0].range, "an index", "an integer", index[0].value);
  }
  const auto length = static_cast<std::int64_t>(values.size());
  if (*at < -length || *at >= length) {
    run.fail_with(DiagId::kIndexOutOfRange, index[0].range, {*at, length});
    return {};
  }
  return values[static_cast<std::size_t>(*at < 0 ? *at + length : *at)];
}

// Returns true if an argument has the type that its parameter declares. Otherwise reports an error.
// An `ipoint` or `ispace` parameter takes a tuple of integers or a processor.
bool check_parameter(Evaluation& run, const program::FunctionParameter& parameter,
                     const EvaluatedItem& argument, std::string_view callee) {
  using syntax::ParamType;
  const Type type = type_of(argument.value);
  bool fits = true;
  ProgramValue found = argument.value;
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
      if (!run.count_steps(static_cast<std::int64_t>(values->size()), argument.range)) return false;
      const auto other =
          std::find_if(values->begin(), values->end(),
                       [](const ProgramValue& value) { return type_of(value) != Type::kInt; });
      fits = other == values->end();
      if (!fits) found = *other;
    }
  }
  if (fits) return true;
  const bool tuple = parameter.type == ParamType::kIPoint || parameter.type == ParamType::kISpace;
  run.fail_with_type(argument.range, fmt::format("an argument of `{}`", callee),
                     tuple
                         ? "a tuple of integers"
                         : fmt::format("a value of type `{}`", syntax::spelling_of(parameter.type)),
                     found);
  return false;
}

}  // namespace

Interpreter::Interpreter(const Program& program, const Machine& machine,
                         std::vector<ProgramValue>& globals, LogSink* log)
    : data_(program.data()),
      globals_(globals),
      log_(log),
      run_(data_),
      machines_(data_, machine, run_) {}

// Executes the statements of the top level, each in a new frame. The step limit holds for all
// statements together. A global keeps no value if its statement fails.
bool Interpreter::run_top_level(std::int64_t max_steps, Diagnostics& diags) {
  run_.begin_top_level(max_steps, diags);
  for (const ExecutableStatement& action : data_.top_level_actions) {
    run_.push_frame(0, std::vector<ProgramValue>(data_.top_level_slot_count));
    if (action.kind == ExecutableStatement::Kind::kPrint) {
      run_print(action);
    } else if (action.kind == ExecutableStatement::Kind::kWhen) {
      if (evaluate_truth(action.value, "the condition of `when`")) holding_.insert(action.target);
    } else {
      ProgramValue value = evaluate_code(action.value);
      if (!run_.failed()) globals_[action.target] = std::move(value);
    }
    if (run_.failed()) break;
    run_.pop_frame();
  }
  run_.end_evaluation();
  return !run_.failed();
}

// Evaluates the function with the task as its only argument.
ProgramValue Interpreter::evaluate_function(FunctionId function, const TaskPoint& task,
                                            Diagnostics& diags) {
  run_.begin_function(function, task, diags);
  const program::ProgramFunction& called = data_.functions[function];
  std::vector<ProgramValue> slots(called.slot_count);
  slots[0] = ProgramValue{TaskValue{}};
  run_.push_frame(function, std::move(slots));
  ProgramValue result = run_function_body(called.body);
  run_.end_evaluation();
  return run_.failed() ? ProgramValue{} : result;
}

// Runs the statements of a function up to its `return`. A function that ends without a `return`
// fails.
ProgramValue Interpreter::run_function_body(program::IndexRange body) {
  for (std::uint32_t i = 0; i < body.count && !run_.failed(); ++i) {
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
        ProgramValue value = evaluate_code(action.value);
        run_.local_slots()[action.target] = std::move(value);
      }
    }
  }
  if (!run_.failed()) {
    const FunctionId function = run_.running_function();
    run_.fail_with(DiagId::kMissingReturn, data_.functions[function].name_range,
                   {std::string(run_.function_name(function))});
  }
  return {};
}

// Executes a `print` statement: evaluates its arguments and logs its text, in which each argument
// replaces the next `{}`. After kMaxPrintLines logged lines, a warning is reported and nothing more
// is logged. Without a log, the arguments are still evaluated, since they may fail.
void Interpreter::run_print(const ExecutableStatement& action) {
  std::vector<std::string> args;
  for (std::uint32_t i = 0; i < action.args.count; ++i) {
    const ProgramValue value = evaluate_code(data_.lists[action.args.begin + i]);
    if (run_.failed() || !run_.count_steps(printed_bytes(value) / 8, action.range)) return;
    args.push_back(to_string(value, run_.task_name()));
  }
  if (log_ == nullptr || printed_lines_ > kMaxPrintLines) return;
  if (++printed_lines_ > kMaxPrintLines) {
    run_.diags().report(DiagId::kPrintLimit, action.range, kMaxPrintLines);
    return;
  }
  // Each argument replaces the next `{}` of the text.
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

// Returns the value of an expression, or monostate after a failure. Each expression costs one step
// and is one level deep.
ProgramValue Interpreter::evaluate_code(CodeId id) {
  const Code& node = code_of(id);
  if (!run_.count_steps(1, node.range)) return {};
  if (depth_ >= kMaxDepth) {
    run_.fail_with(DiagId::kNestingTooDeep, node.range, {kMaxDepth})
        .help("give parts of it names in statements of their own");
    return {};
  }
  ++depth_;
  ProgramValue value = evaluate_node(id, node);
  --depth_;
  return run_.failed() ? ProgramValue{} : value;
}

// Evaluates a node of typed code by the kind of its operation. evaluate_code() has already counted
// the evaluation step. `&&`, `||` and `?:` evaluate only the operands that they need.
ProgramValue Interpreter::evaluate_node(CodeId id, const Code& node) {
  switch (node.op) {
    case Op::kInt:
    case Op::kBool:
    case Op::kString:
    case Op::kProcKind:
    case Op::kMemKind:
      return constant(data_, node);
    case Op::kLocal:
      return run_.local_slots()[node.a];
    case Op::kGlobal:
      return read_global(node);
    case Op::kTuple:
      return evaluate_tuple(node);
    case Op::kComprehension:
      return evaluate_comprehension(node);
    case Op::kNegate:
      return evaluate_negation(node);
    case Op::kNot:
      return {!evaluate_truth(node.a, "`!`")};
    case Op::kAnd:
      return {evaluate_truth(node.a, "`&&`") && evaluate_truth(node.b, "`&&`")};
    case Op::kOr:
      return {evaluate_truth(node.a, "`||`") || evaluate_truth(node.b, "`||`")};
    case Op::kConditional:
      return evaluate_conditional(node);
    case Op::kIndex:
      return evaluate_index(node);
    case Op::kSlice:
      return evaluate_slice(node);
    case Op::kCall:
      return evaluate_call(node);
    case Op::kMachine: {
      const ProgramValue kind = evaluate_code(node.a);
      return run_.failed() ? ProgramValue{} : machines_.make_machine(node, kind);
    }
    case Op::kMethod:
      return evaluate_method(id, node);
    case Op::kMember: {
      const ProgramValue base = evaluate_code(node.a);
      return run_.failed() ? ProgramValue{} : read_member(run_, node, base, code_of(node.a).range);
    }
    case Op::kBroken:
      return fail_broken_code(node);
    case Op::kSplice:
    case Op::kAll:
      break;  // `*t` and `*` occur only in lists, which evaluate_elements() handles.
    default:
      return evaluate_binary(node);
  }
  return {};
}

// Fails because the code has an error. The checker reported this error only as a warning, because
// the code might never be evaluated.
ProgramValue Interpreter::fail_broken_code(const Code& node) {
  const Diagnostic& known = data_.broken_code_diagnostics[node.a];
  run_.fail_with(known.id, known.range.value_or(node.range), known.args);
  return {};
}

// Returns the value of a global. Fails if the statement that assigns the global has not run yet,
// because a function was called above it.
ProgramValue Interpreter::read_global(const Code& node) {
  const ProgramValue& value = globals_[node.a];
  if (value.get<std::monostate>() == nullptr) return value;
  const program::GlobalVariable& known = data_.globals[node.a];
  run_.fail_with(DiagId::kUseBeforeStatement, node.range,
                 {std::string(data_.names.text(known.name))})
      .note("it is assigned here", known.range);
  return {};
}

// Returns the items of a list. The items of a spliced tuple (`*t`) are inserted one by one.
std::vector<EvaluatedItem> Interpreter::evaluate_elements(std::uint32_t begin,
                                                          std::uint32_t count) {
  std::vector<EvaluatedItem> made;
  for (std::uint32_t i = 0; i < count && !run_.failed(); ++i) {
    const CodeId id = data_.lists[begin + i];
    const Code& node = code_of(id);
    if (node.op == Op::kAll) {
      made.push_back({{}, node.range, true});
    } else if (node.op == Op::kSplice) {
      const ProgramValue value = evaluate_code(node.a);
      const auto values = tuple_values(value);
      if (run_.failed()) break;
      if (!values) {
        run_.fail_with_type(node.range, "`*` before an expression", "a tuple", value);
        break;
      }
      if (!run_.count_steps(static_cast<std::int64_t>(values->size()), node.range)) break;
      for (const ProgramValue& item : *values) made.push_back({item, node.range});
    } else {
      made.push_back({evaluate_code(id), node.range});
    }
    if (static_cast<std::int64_t>(made.size()) > kMaxTupleItems) {
      run_.fail_with(DiagId::kTupleTooLong, node.range, {kMaxTupleItems});
    }
  }
  return made;
}

// Evaluates a tuple. evaluate_elements() has reported any failure, which make_tuple() notices.
ProgramValue Interpreter::evaluate_tuple(const Code& node) {
  std::vector<ProgramValue> values;
  for (EvaluatedItem& element : evaluate_elements(node.a, node.b))
    values.push_back(std::move(element.value));
  return make_tuple(run_, std::move(values), node.range);
}

// Evaluates `tuple(item for x in range)`. The variable x has a slot of its own, which gets one
// value after the other.
ProgramValue Interpreter::evaluate_comprehension(const Code& node) {
  const ProgramValue range = evaluate_code(node.b);
  if (run_.failed()) return {};
  const auto values = tuple_values(range);
  if (!values) {
    return run_.fail_with_type(code_of(node.b).range, "`tuple(... for ... in ...)`",
                               "a tuple to go through", range);
  }
  std::vector<ProgramValue> made;
  for (const ProgramValue& item : *values) {
    run_.local_slots()[node.c] = item;
    made.push_back(evaluate_code(node.a));
    if (run_.failed()) return {};
  }
  return make_tuple(run_, std::move(made), node.range);
}

// Negates an integer, or each item of a tuple, by subtracting it from 0.
ProgramValue Interpreter::evaluate_negation(const Code& node) {
  const ProgramValue value = evaluate_code(node.a);
  if (run_.failed()) return {};
  if (type_of(value) != Type::kInt && !tuple_values(value)) {
    return run_.fail_with_type(code_of(node.a).range, "`-`", "an integer or a tuple", value);
  }
  const Range range = code_of(node.a).range;
  return apply_operator(run_, {node.op, node.range, node.focus, range, range},
                        ProgramValue{std::int64_t{0}}, value);
}

// Returns the bool that an expression computes, and false after a failure. `what` names the
// expression in the error.
bool Interpreter::evaluate_truth(CodeId id, std::string_view what) {
  const ProgramValue value = evaluate_code(id);
  if (run_.failed()) return false;
  if (const bool* truth = value.get<bool>()) return *truth;
  run_.fail_with_type(code_of(id).range, what, "a bool", value);
  return false;
}

// Evaluates `condition ? yes : no`. Only the chosen side is evaluated.
ProgramValue Interpreter::evaluate_conditional(const Code& node) {
  const bool condition = evaluate_truth(node.a, "the condition of `?:`");
  if (run_.failed()) return {};
  return evaluate_code(condition ? node.b : node.c);
}

// Evaluates both sides of an operator, then applies it.
ProgramValue Interpreter::evaluate_binary(const Code& node) {
  const ProgramValue left = evaluate_code(node.a);
  const ProgramValue right = evaluate_code(node.b);
  if (run_.failed()) return {};
  return apply_operator(
      run_, {node.op, node.range, node.focus, code_of(node.a).range, code_of(node.b).range}, left,
      right);
}

// Returns an item of a tuple, or a processor or a set of processors of a machine.
ProgramValue Interpreter::evaluate_index(const Code& node) {
  const ProgramValue base = evaluate_code(node.c);
  if (run_.failed()) return {};
  const MachineView* view = base.as_machine();
  const auto values = tuple_values(base);
  if (view == nullptr && !values) {
    return run_.fail_with_type(code_of(node.c).range, "an index", "a machine or a tuple before it",
                               base);
  }
  std::vector<EvaluatedItem> list = evaluate_elements(node.a, node.b);
  if (run_.failed()) return {};
  if (view != nullptr) return machines_.index_machine(node, *view, std::move(list));
  return item_of(run_, *values, list, node.focus);
}

// Computes one end of a slice, as Python does: a negative end counts from the back, and an end
// beyond the length means the length. An end that is not written becomes `missing`. Returns false
// after a failure.
bool Interpreter::evaluate_slice_end(CodeId id, std::int64_t length, std::int64_t missing,
                                     std::int64_t* end) {
  *end = missing;
  if (id == kNoCode) return true;
  const ProgramValue value = evaluate_code(id);
  if (run_.failed()) return false;
  const auto* given = value.get<std::int64_t>();
  if (given == nullptr) {
    run_.fail_with_type(code_of(id).range, "the end of a slice", "an integer", value);
    return false;
  }
  *end = std::clamp<std::int64_t>(*given < 0 ? *given + length : *given, 0, length);
  return true;
}

// Returns a slice of a tuple, or of the tuple of a machine's extents. The slice is empty if its
// first end is not before its second end.
ProgramValue Interpreter::evaluate_slice(const Code& node) {
  const ProgramValue base = evaluate_code(node.c);
  if (run_.failed()) return {};
  // A machine is sliced as the tuple of its extents.
  const auto values =
      base.as_machine() != nullptr ? sizes_as_values(*base.as_machine()) : tuple_values(base);
  if (!values) {
    return run_.fail_with_type(code_of(node.c).range, "a slice", "a tuple or a machine before it",
                               base);
  }
  const auto length = static_cast<std::int64_t>(values->size());
  std::int64_t from = 0, to = 0;
  if (!evaluate_slice_end(node.a, length, 0, &from) ||
      !evaluate_slice_end(node.b, length, length, &to))
    return {};
  if (from >= to) return make_tuple(run_, {}, node.range);
  return make_tuple(run_, {values->begin() + from, values->begin() + to}, node.range);
}

// Evaluates a call of a function of the program. The function runs in a new frame; one step for
// each of its variables pays for the frame.
ProgramValue Interpreter::evaluate_call(const Code& node) {
  const program::ProgramFunction& called = data_.functions[node.c];
  std::vector<EvaluatedItem> args = evaluate_elements(node.a, node.b);
  if (run_.failed()) return {};
  if (args.size() != called.parameters.count) {
    run_.fail_with(DiagId::kWrongArgumentCount, node.range,
                   {std::string(run_.function_name(node.c)),
                    fmt::format("{} argument{}", called.parameters.count,
                                called.parameters.count == 1 ? "" : "s"),
                    std::to_string(args.size())});
    return {};
  }
  std::vector<ProgramValue> slots(called.slot_count);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const auto& parameter = data_.parameters[called.parameters.begin + i];
    if (!check_parameter(run_, parameter, args[i], run_.function_name(node.c))) return {};
    slots[i] = std::move(args[i].value);
  }
  if (!run_.count_steps(static_cast<std::int64_t>(slots.size()), node.range)) return {};
  run_.push_frame(node.c, std::move(slots));
  ProgramValue result = run_function_body(called.body);
  run_.pop_frame();
  return result;
}

// Evaluates a method: `has` of a processor, `processor` of a task, or an operation on a machine.
// The option of an operation is evaluated after its arguments.
ProgramValue Interpreter::evaluate_method(CodeId id, const Code& node) {
  const ProgramValue base = evaluate_code(node.c);
  if (run_.failed()) return {};
  const std::vector<EvaluatedItem> args = evaluate_elements(node.a, node.b);
  if (run_.failed()) return {};
  const std::size_t wanted = syntax::info_of(node.method).parameter_count();
  if (args.size() != wanted) {
    run_.fail_with(DiagId::kWrongArgumentCount, node.range,
                   {std::string(name_of(node.method)),
                    fmt::format("{} argument{}", wanted, wanted == 1 ? "" : "s"),
                    std::to_string(args.size())});
    return {};
  }
  if (node.method == Method::kHas) return machines_.has_memory(node, base, args[0]);
  if (node.method == Method::kProcessor)
    return machines_.index_of_task_processor(node, base, args[0]);
  const MachineView* view = base.as_machine();
  if (view == nullptr) {
    run_.fail_with(DiagId::kUnknownMember, node.focus,
                   {std::string(describe_type(type_of(base))), std::string(name_of(node.method))});
    return {};
  }
  auto given = machines_.convert_arguments(node, *view, args);
  if (!given) return {};
  if (node.option != kNoCode) {
    const std::string name = fmt::format("`{}`", syntax::info_of(node.method).option);
    given->option =
        integers_of_tuple(run_, evaluate_code(node.option), code_of(node.option).range, name);
    if (!given->option) return {};
  }
  return machines_.apply_operation(id, node, *view, args, *given);
}

}  // namespace groma::mapper
