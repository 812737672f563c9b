// Translates expressions to typed C++. The emitted code computes the same values as the
// interpreter.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "emit/functions.h"

namespace groma::emitting {

using program::Code;
using program::CodeId;
using program::kNoCode;
using program::Member;
using program::Method;
using program::Op;
using program::Type;

namespace {

constexpr ValueType kInt{Type::kInt};
constexpr ValueType kBool{Type::kBool};
constexpr ValueType kTuple{Type::kInt, 1};
constexpr ValueType kMachine{Type::kMachine};

// Returns the operator as C++ writes it.
std::string_view sign_of(Op op) {
  constexpr std::string_view kSigns[] = {
      "-", "!", "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"};
  return kSigns[static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::kNegate)];
}

// Returns the precedence of a binary operator. Higher numbers bind tighter.
int precedence_of(Op op) {
  switch (op) {
    case Op::kOr:
      return 2;
    case Op::kAnd:
      return 3;
    case Op::kEqual:
    case Op::kNotEqual:
      return 4;
    case Op::kAdd:
    case Op::kSubtract:
      return 6;
    case Op::kMultiply:
    case Op::kDivide:
    case Op::kModulo:
      return 7;
    default:
      return 5;
  }
}

// Returns the feature whose parts hold the operator for tuples.
std::string_view feature_of(Op op) {
  constexpr std::string_view kFeatures[] = {"add", "subtract", "multiply", "divide", "modulo"};
  return kFeatures[static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::kAdd)];
}

std::string counted(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace

// ---- What expressions are made with

// Returns the expression, in parentheses if it binds less than `precedence`.
std::string Functions::operand(const Expr& expr, int precedence) {
  return expr.precedence < precedence ? "(" + expr.text + ")" : expr.text;
}

std::string Functions::integer(const Expr& expr) {
  return expr.literal ? "Int(" + expr.text + ")" : expr.text;
}

// Returns the expression with its exact type in C++. An expression that can only fail becomes a
// call that fails and has that type.
std::string Functions::full(const Expr& expr, ValueType type) {
  if (expr.type.never()) return fmt::format("failed<{}>({})", type.cpp(), expr.failure);
  return integer(expr);
}

Functions::Expr Functions::failing(const std::string& why) const {
  Expr expr;
  expr.failure = quoted(why);
  return expr;
}

// Returns an expression that fails with `type-mismatch`.
Functions::Expr Functions::mismatch(std::string_view what, std::string_view needs,
                                    const Expr& found) const {
  return failing(
      fmt::format("{} needs {}, not {} [type-mismatch]", what, needs, found.type.text()));
}

// Reports an expression that C++ types cannot express. It then counts as an expression that fails.
Functions::Expr Functions::no_cpp(Range range, std::string_view what, std::string_view help) {
  diags_.report(DiagId::kNotEmitted, range, what).help(std::string(help));
  return failing("not emitted");
}

// Returns the expression as a tuple: a processor gives its pair of indices. Returns nothing if it
// is no tuple.
std::optional<Functions::Expr> Functions::as_tuple(const Expr& expr) const {
  if (expr.type.tuple()) return expr;
  if (!expr.type.is(Type::kProcessor)) return std::nullopt;
  return Expr{operand(expr, 9) + ".pair()", kTuple};
}

// ---- Values

// Returns the C++ expression for a node of the typed code.
Functions::Expr Functions::eval(CodeId id) {
  const Code& node = code(id);
  switch (node.op) {
    case Op::kInt:
    case Op::kBool:
    case Op::kString:
    case Op::kProcKind:
    case Op::kMemKind:
      return constant(node);
    case Op::kLocal:
      return variable(frames_.back().slots[node.a]);
    case Op::kGlobal:
      return global(node);
    case Op::kTuple:
      return tuple(node);
    case Op::kComprehension:
      return comprehension(node);
    case Op::kNegate:
      return negate(node);
    case Op::kNot: {
      Expr value = eval(node.a);
      if (value.type.never()) return value;
      if (!value.type.is(Type::kBool)) return mismatch("`!`", "a bool", value);
      return {"!" + operand(value, 8), kBool, 8};
    }
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
      if (!kind.type.is(Type::kProcKind)) return mismatch("`Machine`", "a processor kind", kind);
      return {"machine_.grid(" + kind.text + ")", kMachine};
    }
    case Op::kMethod:
      return method(node);
    case Op::kMember:
      return member(node);
    case Op::kBroken:
      return broken(node);
    case Op::kSplice:
    case Op::kAll:
      break;  // these stand only in lists, which items() handles
    default:
      return node.op <= Op::kModulo ? arithmetic(node) : compare(node);
  }
  return failing("not an expression");
}

// Returns a literal.
Functions::Expr Functions::constant(const Code& node) {
  switch (node.op) {
    case Op::kInt: {
      Expr expr{std::to_string((std::uint64_t{node.b} << 32) | node.a), kInt};
      expr.literal = true;
      return expr;
    }
    case Op::kBool:
      return {node.a != 0 ? "true" : "false", kBool};
    case Op::kString:
      return {"std::string_view(" + quoted(data_.strings[node.a]) + ")", {Type::kString}};
    case Op::kProcKind:
      return {std::string(enumerator(static_cast<ProcKind>(node.a))), {Type::kProcKind}};
    default:
      return {std::string(enumerator(static_cast<MemKind>(node.a))), {Type::kMemKind}};
  }
}

Functions::Expr Functions::variable(Variable& variable) {
  variable.read = true;
  return {variable.name, variable.type};
}

// A global that is read before its statement ran is not emitted.
Functions::Expr Functions::global(const Code& node) {
  Variable& global = globals_[node.a];
  if (node.a >= known_globals_) {
    return no_cpp(node.range, fmt::format("`{}` before its statement", global.name),
                  "move its statement above the one that calls this function");
  }
  return variable(global);
}

// Returns a failure for an error that the check reported as a warning, because the code may never
// run.
Functions::Expr Functions::broken(const Code& node) {
  const Diagnostic& known = data_.failures[node.a];
  return failing(fmt::format("{} [{}]", known.message, name_of(known.id)));
}

// ---- Lists

// Returns the items of a list: expressions, spliced tuples (`*t`) and `*`. Returns nothing if an
// item can only fail; `*failed` is then that item.
std::optional<std::vector<Functions::Item>> Functions::items(std::uint32_t begin,
                                                             std::uint32_t count, Expr* failed) {
  std::vector<Item> made;
  for (std::uint32_t i = 0; i < count; ++i) {
    const CodeId id = data_.lists[begin + i];
    const Code& node = code(id);
    Item item;
    item.range = node.range;
    if (node.op == Op::kAll) {
      item.all = true;
    } else if (node.op == Op::kSplice) {
      Expr value = eval(node.a);
      const auto spliced = as_tuple(value);
      if (!spliced) {
        *failed =
            value.type.never() ? value : mismatch("`*` before an expression", "a tuple", value);
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

// Returns "{a, b}", or "join<Int>(a, b)" if an item is spliced.
std::string Functions::list_text(const std::vector<Item>& items, std::string_view type) const {
  std::string text;
  const bool splices =
      std::any_of(items.begin(), items.end(), [](const Item& item) { return item.splice; });
  for (const Item& item : items) {
    text += text.empty() ? "" : ", ";
    text += item.all ? "kAll" : splices ? integer(item.expr) : item.expr.text;
  }
  if (!splices) return "{" + text + "}";
  if (items.size() == 1 && type == "Int") return items.front().expr.text;  // (*t) is t
  return fmt::format("join<{}>({})", type, text);
}

// Returns a tuple. Its items need one type.
Functions::Expr Functions::tuple(const Code& node) {
  Expr failed;
  const auto list = items(node.a, node.b, &failed);
  if (!list) return failed;
  if (list->empty()) return {"Tuple{}", kTuple};
  std::optional<ValueType> of;
  for (const Item& item : *list) {
    ValueType type = item.expr.type;
    if (item.splice) --type.depth;
    if (!of) of = type;
    if (*of == type) continue;
    return no_cpp(node.range, fmt::format("a tuple with {} and {}", of->text(), type.text()),
                  "give each a name of its own, or make all of them one type");
  }
  const ValueType made{of->type, of->depth + 1};
  const bool splices =
      std::any_of(list->begin(), list->end(), [](const Item& item) { return item.splice; });
  const std::string text = list_text(*list, of->cpp());
  return {splices ? text : made.cpp() + text, made};
}

// Returns `each(...)` with a lambda. An item that can only fail counts as an integer.
Functions::Expr Functions::comprehension(const Code& node) {
  Expr range = eval(node.b);
  if (range.type.never()) return range;
  const auto through = as_tuple(range);
  if (!through) return mismatch("`tuple(... for ... in ...)`", "a tuple to go through", range);
  // The code has no name for the variable. The source has it between the item and the range.
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
                      slot.read ? " " + slot.name : std::string(), full(item, made)),
          {made.type, made.depth + 1}};
}

// ---- Operators

// Negates an integer or each item of a tuple.
Functions::Expr Functions::negate(const Code& node) {
  Expr value = eval(node.a);
  if (value.type.never()) return value;
  if (value.type == kInt) {
    const bool nested = value.literal && value.text.front() == '-';
    Expr made{"-" + (nested ? integer(value) : operand(value, 9)), kInt, 8};
    made.literal = value.literal && !nested;
    return made;
  }
  const auto tuple = as_tuple(value);
  if (!tuple || tuple->type.type != Type::kInt) {
    return mismatch("`-`", "an integer or a tuple", value);
  }
  features_.insert("subtract");
  return {"Int(0) - " + operand(*tuple, 7), tuple->type, 6};
}

// Applies an operator to integers or tuples, item by item. A processor counts as a tuple.
Functions::Expr Functions::arithmetic(const Code& node) {
  Expr left = eval(node.a);
  Expr right = eval(node.b);
  if (left.type.never()) return left;
  if (right.type.never()) return right;
  const int precedence = precedence_of(node.op);
  const std::string_view sign = sign_of(node.op);
  const auto text = [&](const Expr& a, const Expr& b) {
    const std::string first = a.literal && b.literal ? integer(a) : operand(a, precedence);
    return fmt::format("{} {} {}", first, sign, operand(b, precedence + 1));
  };
  if (left.type == kInt && right.type == kInt) return {text(left, right), kInt, precedence};
  const auto a = left.type == kInt ? std::optional(left) : as_tuple(left);
  const auto b = right.type == kInt ? std::optional(right) : as_tuple(right);
  for (const auto& [side, expr] : {std::pair(&a, &left), std::pair(&b, &right)}) {
    if (*side && (*side)->type.type == Type::kInt) continue;
    if (*side && (*side)->type.type == Type::kProcessor) {
      return no_cpp(node.range, fmt::format("`{}` of tuples of processors", sign),
                    "take the processors apart first: `p[0]`, `p[1]`");
    }
    return mismatch(fmt::format("`{}`", sign), "integers or tuples", *expr);
  }
  features_.insert(std::string(feature_of(node.op)));
  return {text(*a, *b), {Type::kInt, std::max(a->type.depth, b->type.depth)}, precedence};
}

// Orders integers, and compares two values of one type for equality.
Functions::Expr Functions::compare(const Code& node) {
  Expr left = eval(node.a);
  Expr right = eval(node.b);
  if (left.type.never()) return left;
  if (right.type.never()) return right;
  const std::string sign = fmt::format("`{}`", sign_of(node.op));
  const auto made = [&](const Expr& a, const Expr& b) {
    // A comparison within another gets parentheses, so that compilers do not warn.
    const std::string first = a.literal && b.literal ? integer(a) : operand(a, 6);
    return Expr{fmt::format("{} {} {}", first, sign_of(node.op), operand(b, 6)), kBool,
                precedence_of(node.op)};
  };
  if (node.op != Op::kEqual && node.op != Op::kNotEqual) {
    if (left.type != kInt) return mismatch(sign, "integers", left);
    if (right.type != kInt) return mismatch(sign, "integers", right);
    return made(left, right);
  }
  const bool processors = left.type.is(Type::kProcessor) && right.type.is(Type::kProcessor);
  const auto a = as_tuple(left), b = as_tuple(right);
  if (a && b && !processors) {
    if (a->type == b->type) return made(*a, *b);
    return no_cpp(node.range, fmt::format("{} of {} and {}", sign, a->type.text(), b->type.text()),
                  "compare their items");
  }
  constexpr std::array kComparable = {Type::kInt, Type::kBool, Type::kString, Type::kProcKind,
                                      Type::kMemKind};
  const bool comparable =
      processors || (left.type.depth == 0 && std::find(kComparable.begin(), kComparable.end(),
                                                       left.type.type) != kComparable.end());
  if (left.type == right.type && comparable) return made(left, right);
  return failing(fmt::format("{} needs two values of one type, not {} and {} [type-mismatch]", sign,
                             left.type.text(), right.type.text()));
}

// Returns `&&` or `||`. The right side may be an expression that can only fail, since it may not
// run.
Functions::Expr Functions::logical(const Code& node) {
  const std::string sign = fmt::format("`{}`", sign_of(node.op));
  Expr left = eval(node.a);
  if (left.type.never()) return left;
  if (!left.type.is(Type::kBool)) return mismatch(sign, "a bool", left);
  Expr right = eval(node.b);
  if (!right.type.never() && !right.type.is(Type::kBool)) {
    right = mismatch(sign, "a bool", right);
  }
  const int precedence = precedence_of(node.op);
  // `a && b || c` gets parentheses, so that compilers do not warn.
  const int least = node.op == Op::kOr ? 4 : 3;
  const auto side = [&](const Expr& expr) {
    if (expr.type.never()) return full(expr, kBool);
    return expr.precedence == precedence ? expr.text : operand(expr, least);
  };
  return {fmt::format("{} {} {}", side(left), sign_of(node.op), side(right)), kBool, precedence};
}

// Returns `?:`. A side that can only fail takes the type of the other side.
Functions::Expr Functions::conditional(const Code& node) {
  Expr condition = eval(node.a);
  if (condition.type.never()) return condition;
  if (!condition.type.is(Type::kBool)) {
    return mismatch("the condition of `?:`", "a bool", condition);
  }
  Expr yes = eval(node.b);
  Expr no = eval(node.c);
  if (yes.type.never() && no.type.never()) return yes;
  const ValueType type = yes.type.never() ? no.type : yes.type;
  if (!yes.type.never() && !no.type.never() && yes.type != no.type) {
    return no_cpp(node.range, fmt::format("`?:` with {} and {}", yes.type.text(), no.type.text()),
                  "make both sides one type, or write a function for each and bind them apart");
  }
  const auto branch = [&](const Expr& expr) {
    return expr.precedence > 1 ? full(expr, type) : "(" + full(expr, type) + ")";
  };
  return {fmt::format("{} ? {} : {}", operand(condition, 2), branch(yes), branch(no)), type, 1};
}

// ---- Parts of values

// Returns an item of a tuple, or a processor of a machine.
Functions::Expr Functions::index(const Code& node) {
  Expr base = eval(node.c);
  if (base.type.never()) return base;
  if (base.type == kMachine) return index_machine(node, base);
  const auto tuple = as_tuple(base);
  if (!tuple) return mismatch("an index", "a machine or a tuple before it", base);
  Expr failed;
  const auto list = items(node.a, node.b, &failed);
  if (!list) return failed;
  const bool splices =
      std::any_of(list->begin(), list->end(), [](const Item& item) { return item.splice; });
  if (splices) {
    return no_cpp(node.range, "a spliced index of a tuple", "write the one index: `t[i]`");
  }
  if (list->size() != 1) {
    return failing(fmt::format("{} for a tuple, which takes one [wrong-index-count]",
                               counted(list->size(), "index")));
  }
  const Item& at = list->front();
  if (at.all) return failing("`*` cannot stand here [stray-star]");
  if (at.expr.type != kInt) return mismatch("an index", "an integer", at.expr);
  return {fmt::format("{}[{}]", operand(*tuple, 9), at.expr.text),
          {tuple->type.type, tuple->type.depth - 1}};
}

// Returns the processor at an index, or the set of processors if an index is `*`.
Functions::Expr Functions::index_machine(const Code& node, const Expr& base) {
  Expr failed;
  const auto list = items(node.a, node.b, &failed);
  if (!list) return failed;
  const std::string machine = operand(base, 9);
  if (list->size() == 1 && !list->front().all && !list->front().splice) {
    // m[t] takes a whole tuple as the index.
    if (const auto whole = as_tuple(list->front().expr)) {
      if (!whole->type.integers()) return mismatch("an index", "an integer", *whole);
      return {fmt::format("{}.at({})", machine, whole->text), {Type::kProcessor}};
    }
  }
  bool all = false;
  for (const Item& item : *list) {
    all = all || item.all;
    const bool fits =
        item.all || (item.splice ? item.expr.type.integers() : item.expr.type == kInt);
    if (!fits) return mismatch("an index", "an integer", item.expr);
  }
  if (!all) {
    return {fmt::format("{}.at({})", machine, list_text(*list, "Int")), {Type::kProcessor}};
  }
  features_.insert("sets");
  return {fmt::format("{}.all({})", machine, list_text(*list, "Axis")), {Type::kProcessors}};
}

// Returns a slice of a tuple or of a machine's size.
Functions::Expr Functions::slice(const Code& node) {
  Expr base = eval(node.c);
  if (base.type.never()) return base;
  if (base.type == kMachine) base = {operand(base, 9) + ".size()", kTuple};
  const auto tuple = as_tuple(base);
  if (!tuple) return mismatch("a slice", "a tuple or a machine before it", base);
  std::string ends;
  for (const CodeId id : {node.a, node.b}) {
    if (id == kNoCode) {
      if (id == node.a && ends.empty()) ends = "0";
      continue;
    }
    Expr end = eval(id);
    if (end.type.never()) return end;
    if (end.type != kInt) return mismatch("the end of a slice", "an integer", end);
    ends += (ends.empty() ? "" : ", ") + end.text;
  }
  return {fmt::format("{}.slice({})", operand(*tuple, 9), ends), tuple->type};
}

// ---- Calls

// Returns the arguments of a call. A spliced argument is not emitted, because the number of
// arguments has to be known.
std::optional<std::vector<Functions::Expr>> Functions::arguments(const Code& node,
                                                                 std::string_view callee,
                                                                 Expr* failed) {
  auto list = items(node.a, node.b, failed);
  if (!list) return std::nullopt;
  std::vector<Expr> made;
  for (Item& item : *list) {
    if (item.splice) {
      *failed = no_cpp(item.range, fmt::format("a spliced argument of `{}`", callee),
                       "write the arguments one by one: `t[0], t[1]`");
      return std::nullopt;
    }
    made.push_back(std::move(item.expr));
  }
  return made;
}

// Returns a call of a function of the program, which is translated for the types of the arguments.
Functions::Expr Functions::call(const Code& node) {
  using syntax::ParamType;
  const program::Function& called = data_.functions[node.c];
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
      return mismatch(fmt::format("an argument of `{}`", callee),
                      pair ? std::string("a tuple of integers")
                           : fmt::format("a value of type `{}`", syntax::spelling(wanted)),
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

// Returns a call of a method: `has` of a processor, `processor` of a task, or a transformation of a
// machine.
Functions::Expr Functions::method(const Code& node) {
  Expr base = eval(node.c);
  if (base.type.never()) return base;
  const std::string_view name = name_of(node.method);
  Expr failed;
  const auto args = arguments(node, name, &failed);
  if (!args) return failed;
  const syntax::MethodInfo& info = syntax::info_of(node.method);
  const std::size_t wanted = info.parameter_count();
  if (args->size() != wanted) {
    return failing(fmt::format("`{}` takes {}, not {} [wrong-argument-count]", name,
                               counted(wanted, "argument"), args->size()));
  }
  if (node.method == Method::kHas) {
    if (!base.type.is(Type::kProcessor)) return mismatch("`has`", "a processor before it", base);
    if (!(*args)[0].type.is(Type::kMemKind)) {
      return mismatch("`has`", "a memory kind", (*args)[0]);
    }
    features_.insert("reaches");
    return {fmt::format("machine_.reaches({}, {})", base.text, (*args)[0].text), kBool};
  }
  if (node.method == Method::kProcessor) {
    const bool task = base.type.is(Type::kTask) || base.type.is(Type::kParent);
    if (!task) {
      return failing(
          fmt::format("{} has no member `processor` [unknown-member]", base.type.text()));
    }
    if ((*args)[0].type != kMachine) return mismatch("`processor`", "a machine", (*args)[0]);
    features_.insert("processor");
    return {fmt::format("{}.place_of({}.processor)", operand((*args)[0], 9), operand(base, 9)),
            kTuple};
  }
  if (base.type != kMachine) {
    return failing(fmt::format("{} has no member `{}` [unknown-member]", base.type.text(), name));
  }
  std::string text;
  for (std::size_t i = 0; i < args->size(); ++i) {
    Expr arg = (*args)[i];
    if (info.parameters[i].type == syntax::Operand::kIntegers) {
      const auto tuple = as_tuple(arg);
      if (!tuple || !tuple->type.integers()) {
        return mismatch(fmt::format("`{}`", name), "a tuple of integers", arg);
      }
      arg = *tuple;
    } else if (arg.type != kInt) {
      return mismatch(fmt::format("`{}`", name), "an integer", arg);
    }
    text += (i == 0 ? "" : ", ") + arg.text;
  }
  if (node.option != kNoCode) {
    Expr halo = eval(node.option);
    if (halo.type.never()) return halo;
    const auto tuple = as_tuple(halo);
    if (!tuple || !tuple->type.integers()) {
      return mismatch(fmt::format("`{}`", info.option), "a tuple of integers", halo);
    }
    text += ", " + tuple->text;
  }
  features_.insert(std::string(name));
  return {fmt::format("{}.{}({})", operand(base, 9), name, text), kMachine};
}

// Returns a member of a task, a tuple, a processor or a machine.
Functions::Expr Functions::member(const Code& node) {
  Expr base = eval(node.a);
  if (base.type.never()) return base;
  if (base.type.is(Type::kTask) || base.type.is(Type::kParent)) return task_member(node, base);
  const auto tuple = base.type == kMachine ? std::optional(base) : as_tuple(base);
  if (!tuple || node.member > Member::kLen) {
    return failing(fmt::format("{} has no member `{}` [unknown-member]", base.type.text(),
                               name_of(node.member)));
  }
  if (node.member == Member::kSize && base.type != kMachine) return *tuple;
  if (node.member == Member::kVolume && base.type != kMachine && !tuple->type.integers()) {
    return mismatch("`volume`", "a tuple of integers", *tuple);
  }
  return {fmt::format("{}.{}()", operand(*tuple, 9), name_of(node.member)),
          node.member == Member::kSize ? kTuple : kInt};
}

// Returns a member of a task or of its parent. The check has made sure that a mapping function
// reads nothing that its tasks do not have.
Functions::Expr Functions::task_member(const Code& node, const Expr& base) {
  const std::string_view name = name_of(node.member);
  if (base.type.is(Type::kParent) && node.member != Member::kName) {
    return failing(fmt::format(
        "of a parent task only `processor` and `name` can be read, not `{}` [parent-member]",
        name));
  }
  const std::string text = fmt::format("{}.{}", operand(base, 9), name);
  switch (node.member) {
    case Member::kIpoint:
    case Member::kIspace:
    case Member::kIlo:
      return {text, kTuple};
    case Member::kName:
      return {text, {Type::kString}};
    case Member::kParent:
      return {text, {Type::kParent}};
    default:
      return failing(fmt::format("a task has no member `{}` [unknown-member]", name));
  }
}

}  // namespace groma::emitting
