// Translates expressions to typed C++, from the leaves up. The emitted code computes the same
// values as the interpreter.
#include <fmt/format.h>

#include <algorithm>

#include "emit/accesses.h"
#include "emit/functions.h"
#include "emit/operators.h"

namespace groma::emitting {

using program::CodeId;
using program::CodeNode;
using program::kNoCode;
using program::Op;
using program::Type;

namespace {

// Returns a literal. The two halves of a 64-bit integer stand in two fields of the node.
Expr constant(const program::ProgramData& data, const CodeNode& node) {
  switch (node.op) {
    case Op::kInt: {
      Expr expr{std::to_string((std::uint64_t{node.b} << 32) | node.a), kInt};
      expr.literal = true;
      return expr;
    }
    case Op::kBool:
      return {node.a != 0 ? "true" : "false", kBool};
    case Op::kString:
      return {"std::string_view(" + quoted(data.strings[node.a]) + ")", {Type::kString}};
    case Op::kProcKind:
      return {std::string(enumerator(static_cast<ProcKind>(node.a))), {Type::kProcKind}};
    default:
      return {std::string(enumerator(static_cast<MemKind>(node.a))), {Type::kMemKind}};
  }
}

}  // namespace

// ---- Values

// Returns the C++ expression for a node of the typed code. An operand that can only fail makes the
// whole expression fail, so each case checks its operands first.
Expr Functions::eval(CodeId id) {
  const CodeNode& node = code(id);
  switch (node.op) {
    case Op::kInt:
    case Op::kBool:
    case Op::kString:
    case Op::kProcKind:
    case Op::kMemKind:
      return constant(data_, node);
    case Op::kLocal:
      return variable(frames_.back().slots[node.a]);
    case Op::kGlobal:
      return global(node);
    case Op::kTuple:
      return tuple(node);
    case Op::kComprehension:
      return comprehension(node);
    case Op::kNegate: {
      const Expr value = eval(node.a);
      return value.type.never() ? value : negate(emission_, value);
    }
    case Op::kNot:
      return negate_truth(eval(node.a));
    case Op::kAnd:
    case Op::kOr:
      return logical(node);
    case Op::kConditional:
      return conditional(node);
    case Op::kIndex:
      return index(node);
    case Op::kSlice:
      return slice(node);
    case Op::kCall:
      return call(node);
    case Op::kMachine: {
      Expr kind = eval(node.a);
      if (kind.type.never()) return kind;
      if (!kind.type.is(Type::kProcKind))
        return type_mismatch("`Machine`", "a processor kind", kind);
      return {"machine_.grid(" + kind.text + ")", kMachine};
    }
    case Op::kMethod:
      return method(node);
    case Op::kMember: {
      const Expr base = eval(node.a);
      return base.type.never() ? base : member(node.member, base);
    }
    case Op::kBroken:
      return broken(node);
    case Op::kSplice:
    case Op::kAll:
      break;  // These nodes stand only in lists, which items() handles.
    default:
      return operation(node);
  }
  return failing("not an expression");
}

// Returns the variable and notes that it is read. Variables that nothing reads get no name or an
// attribute, so that compilers do not warn.
Expr Functions::variable(Variable& variable) {
  variable.read = true;
  return {variable.name, variable.type};
}

// Returns a global variable. In C++, globals are initialised in the order of the text. A function
// that is called before the statement of a global would read it too early, so this is reported.
Expr Functions::global(const CodeNode& node) {
  Variable& global = globals_[node.a];
  if (node.a >= known_globals_) {
    return emission_.no_cpp(node.range, fmt::format("`{}` before its statement", global.name),
                            "move its statement above the one that calls this function");
  }
  return variable(global);
}

// Returns an expression that fails. The checker found an error in code that may never run, and
// reported it as a warning.
Expr Functions::broken(const CodeNode& node) {
  const Diagnostic& known = data_.failures[node.a];
  return failing(fmt::format("{} [{}]", known.message, name_of(known.id)));
}

// ---- Lists

// Returns the items of a list: expressions, spliced tuples (`*t`) and `*`. Returns nothing if an
// item can only fail; `*failed` is then that item.
std::optional<std::vector<ListItem>> Functions::items(std::uint32_t begin, std::uint32_t count,
                                                      Expr* failed) {
  std::vector<ListItem> made;
  for (std::uint32_t i = 0; i < count; ++i) {
    const CodeId id = data_.lists[begin + i];
    const CodeNode& node = code(id);
    ListItem item;
    item.range = node.range;
    if (node.op == Op::kAll) {
      item.all = true;
    } else if (node.op == Op::kSplice) {
      Expr value = eval(node.a);
      const auto spliced = as_tuple(value);
      if (!spliced) {
        *failed = value.type.never() ? value
                                     : type_mismatch("`*` before an expression", "a tuple", value);
        return std::nullopt;
      }
      item.expr = *spliced;
      item.splice = true;
    } else {
      item.expr = eval(id);
      if (item.expr.type.never()) {
        *failed = item.expr;
        return std::nullopt;
      }
    }
    made.push_back(std::move(item));
  }
  return made;
}

// Returns a tuple. Its items must have one type, because the C++ type of a tuple names the type of
// its items.
Expr Functions::tuple(const CodeNode& node) {
  Expr failed;
  const auto list = items(node.a, node.b, &failed);
  if (!list) return failed;
  if (list->empty()) return {"Tuple{}", kTuple};
  std::optional<ValueType> of;
  for (const ListItem& item : *list) {
    ValueType type = item.expr.type;
    if (item.splice) --type.depth;
    if (!of) of = type;
    if (*of == type) continue;
    return emission_.no_cpp(node.range,
                            fmt::format("a tuple with {} and {}", of->text(), type.text()),
                            "give each a name of its own, or make all of them one type");
  }
  const ValueType made{of->type, of->depth + 1};
  const bool splices = has_splice(*list);
  const std::string text = list_text(*list, of->cpp());
  return {splices ? text : made.cpp() + text, made};
}

// Returns a comprehension as a call of `each` with a lambda. If an item can only fail, its type
// counts as integer.
Expr Functions::comprehension(const CodeNode& node) {
  Expr range = eval(node.b);
  if (range.type.never()) return range;
  const auto through = as_tuple(range);
  if (!through) return type_mismatch("`tuple(... for ... in ...)`", "a tuple to go through", range);
  // The typed code has no name for the loop variable. The name is taken from the source, where it
  // stands between the item and the range: `tuple(item for name in range)`.
  const std::string_view between =
      data_.source.text({code(node.a).range.end, code(node.b).range.begin});
  const std::size_t at = between.rfind("for ");
  const std::string_view rest = at == std::string_view::npos ? "" : between.substr(at + 4);
  const std::string_view name = rest.substr(0, rest.find(" in"));
  const auto is_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  const bool named = !name.empty() && std::all_of(name.begin(), name.end(), is_name);
  const ValueType item_type{through->type.type, through->type.depth - 1};
  {
    Frame& frame = frames_.back();
    frame.slots[node.c] = {frame.names.add(named ? name : "item"), item_type};
  }
  Expr item = eval(node.a);
  const Variable& slot = frames_.back().slots[node.c];
  const ValueType made = item.type.never() ? kInt : item.type;
  return {fmt::format("each({}, [&]({}{}) {{ return {}; }})", through->text, item_type.parameter(),
                      slot.read ? " " + slot.name : std::string(), with_exact_type(item, made)),
          {made.type, made.depth + 1}};
}

// ---- Operators and parts of values

// Returns an arithmetic operator or a comparison of two operands.
Expr Functions::operation(const CodeNode& node) {
  const Expr left = eval(node.a);
  const Expr right = eval(node.b);
  return binary(emission_, node.op, node.range, left, right);
}

// Returns `&&` or `||`. If the left side is not a bool, the right side is not translated.
Expr Functions::logical(const CodeNode& node) {
  const Expr left = eval(node.a);
  if (const auto failure = failure_of_left(node.op, left)) return *failure;
  return emitting::logical(node.op, left, eval(node.b));
}

// Returns `condition ? yes : no`. If the condition is not a bool, the two sides are not translated.
Expr Functions::conditional(const CodeNode& node) {
  const Expr condition = eval(node.a);
  if (const auto failure = failure_of_condition(condition)) return *failure;
  const Expr yes = eval(node.b);
  const Expr no = eval(node.c);
  return emitting::conditional(emission_, node.range, condition, yes, no);
}

// Returns an item of a tuple, or a processor of a machine. If the value cannot be indexed, the
// index is not translated.
Expr Functions::index(const CodeNode& node) {
  const Expr base = eval(node.c);
  if (base.type.never()) return base;
  if (base.type != kMachine && !as_tuple(base)) {
    return type_mismatch("an index", "a machine or a tuple before it", base);
  }
  Expr failed;
  const auto list = items(node.a, node.b, &failed);
  return list ? emitting::index(emission_, node.range, base, *list) : failed;
}

// Returns a slice of a tuple or of a machine's size. An omitted first end is 0; an omitted second
// end means the end of the tuple.
Expr Functions::slice(const CodeNode& node) {
  Expr base = eval(node.c);
  if (base.type.never()) return base;
  if (base.type == kMachine) base = {operand(base, 9) + ".size()", kTuple};
  const auto tuple = as_tuple(base);
  if (!tuple) return type_mismatch("a slice", "a tuple or a machine before it", base);
  std::string ends;
  for (const CodeId id : {node.a, node.b}) {
    if (id == kNoCode) {
      if (id == node.a && ends.empty()) ends = "0";
      continue;
    }
    Expr end = eval(id);
    if (end.type.never()) return end;
    if (end.type != kInt) return type_mismatch("the end of a slice", "an integer", end);
    ends += (ends.empty() ? "" : ", ") + end.text;
  }
  return {fmt::format("{}.slice({})", operand(*tuple, 9), ends), tuple->type};
}

// ---- Calls

// Returns the arguments of a call. A spliced argument is not emitted, because the number of
// arguments has to be known.
std::optional<std::vector<Expr>> Functions::arguments(const CodeNode& node, std::string_view callee,
                                                      Expr* failed) {
  auto list = items(node.a, node.b, failed);
  if (!list) return std::nullopt;
  std::vector<Expr> made;
  for (ListItem& item : *list) {
    if (item.splice) {
      *failed = emission_.no_cpp(item.range, fmt::format("a spliced argument of `{}`", callee),
                                 "write the arguments one by one: `t[0], t[1]`");
      return std::nullopt;
    }
    made.push_back(std::move(item.expr));
  }
  return made;
}

// Returns a call of a function of the program. The function is translated once for each list of
// argument types. An argument of a wrong type becomes an expression that fails.
Expr Functions::call(const CodeNode& node) {
  using syntax::ParamType;
  const program::ProgramFunction& called = data_.functions[node.c];
  const std::string_view callee = program_.function_name(node.c);
  Expr failed;
  const auto args = arguments(node, callee, &failed);
  if (!args) return failed;
  if (args->size() != called.parameters.count) {
    return failing(fmt::format("`{}` takes {}, not {} [wrong-argument-count]", callee,
                               counted(called.parameters.count, "argument"), args->size()));
  }
  std::vector<ValueType> types;
  std::string text;
  for (std::size_t i = 0; i < args->size(); ++i) {
    const Expr& arg = (*args)[i];
    const ParamType wanted = data_.parameters[called.parameters.begin + i].type;
    const bool pair = wanted == ParamType::kIPoint || wanted == ParamType::kISpace;
    const bool fits =
        wanted == ParamType::kAny || (wanted == ParamType::kInt && arg.type == kInt) ||
        (wanted == ParamType::kBool && arg.type == kBool) ||
        (wanted == ParamType::kMSpace && arg.type == kMachine) ||
        (wanted == ParamType::kTask && (arg.type.is(Type::kTask) || arg.type.is(Type::kParent))) ||
        (pair && (arg.type.integers() || arg.type.is(Type::kProcessor)));
    if (!fits) {
      return type_mismatch(fmt::format("an argument of `{}`", callee),
                           pair ? std::string("a tuple of integers")
                                : fmt::format("a value of type `{}`", syntax::spelling_of(wanted)),
                           arg);
    }
    types.push_back(arg.type);
    text += (i == 0 ? "" : ", ") + arg.text;
  }
  const Instance& instance = this->instance(node.c, types);
  if (!instance.failure.empty()) {
    Expr expr;
    expr.failure = instance.failure;
    return expr;
  }
  return {fmt::format("{}({})", instance.name, text), instance.result};
}

// Returns a call of a method. The number of arguments is checked here, their types in accesses.cc.
Expr Functions::method(const CodeNode& node) {
  const Expr base = eval(node.c);
  if (base.type.never()) return base;
  const std::string_view name = name_of(node.method);
  Expr failed;
  const auto args = arguments(node, name, &failed);
  if (!args) return failed;
  const std::size_t wanted = syntax::info_of(node.method).parameter_count();
  if (args->size() != wanted) {
    return failing(fmt::format("`{}` takes {}, not {} [wrong-argument-count]", name,
                               counted(wanted, "argument"), args->size()));
  }
  std::function<Expr()> option;
  if (node.option != kNoCode) option = [&] { return eval(node.option); };
  return emitting::method(emission_, node.method, base, *args, option);
}

}  // namespace groma::emitting
