// Translates expressions of a mapping to typed C++, from the leaves up. The emitted code computes
// the same values as the interpreter.
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

// Returns the C++ for a literal. The two halves of a 64-bit integer are in two fields of the node.
CppExpr constant(const program::ProgramData& data, const CodeNode& node) {
  switch (node.op) {
    case Op::kInt: {
      CppExpr expr{std::to_string((std::uint64_t{node.b} << 32) | node.a), kInt};
      expr.literal = true;
      return expr;
    }
    case Op::kBool:
      return {node.a != 0 ? "true" : "false", kBool};
    case Op::kString:
      return {"std::string_view(" + string_literal(data.strings[node.a]) + ")", {Type::kString}};
    case Op::kProcKind:
      return {std::string(enumerator_of(static_cast<ProcKind>(node.a))), {Type::kProcKind}};
    default:
      return {std::string(enumerator_of(static_cast<MemKind>(node.a))), {Type::kMemKind}};
  }
}

}  // namespace

// ---- Constants and variables

// Returns the C++ expression for a node of the typed code. An operand that can only fail makes the
// whole expression fail, so each case checks its operands first.
CppExpr FunctionTranslator::translate_code(CodeId id) {
  const CodeNode& node = code_of(id);
  switch (node.op) {
    case Op::kInt:
    case Op::kBool:
    case Op::kString:
    case Op::kProcKind:
    case Op::kMemKind:
      return constant(data_, node);
    case Op::kLocal:
      return translate_variable(frames_.back().slots[node.a]);
    case Op::kGlobal:
      return translate_global(node);
    case Op::kTuple:
      return translate_tuple(node);
    case Op::kComprehension:
      return translate_comprehension(node);
    case Op::kNegate: {
      const CppExpr value = translate_code(node.a);
      return value.type.can_only_fail() ? value : negate_expr(emission_, value);
    }
    case Op::kNot:
      return logical_not_expr(translate_code(node.a));
    case Op::kAnd:
    case Op::kOr:
      return translate_logical(node);
    case Op::kConditional:
      return translate_conditional(node);
    case Op::kIndex:
      return translate_index(node);
    case Op::kSlice:
      return translate_slice(node);
    case Op::kCall:
      return translate_call(node);
    case Op::kMachine: {
      CppExpr kind = translate_code(node.a);
      if (kind.type.can_only_fail()) return kind;
      if (!kind.type.is_type(Type::kProcKind))
        return type_mismatch_expr("`Machine`", "a processor kind", kind);
      return {"machine_.grid(" + kind.text + ")", kMachine};
    }
    case Op::kMethod:
      return translate_method(node);
    case Op::kMember: {
      const CppExpr base = translate_code(node.a);
      return base.type.can_only_fail() ? base : member_expr(emission_, node.member, base);
    }
    case Op::kBroken:
      return translate_erroneous_code(node);
    case Op::kSplice:
    case Op::kAll:
      // Nodes of these kinds occur only in lists of items, which translate_items() handles.
      break;
    default:
      return translate_operation(node);
  }
  return failing_expr("not an expression");
}

// Returns the C++ for a local variable and notes that the variable is read. Variables that nothing
// reads get no name or an attribute, so that compilers do not warn.
CppExpr FunctionTranslator::translate_variable(CppVariable& variable) {
  variable.read = true;
  return {variable.name, variable.type};
}

// Returns the C++ for a global variable. In C++, globals are initialised in the order of the text.
// A function that is called before the statement of a global would read it too early, so this is
// reported.
CppExpr FunctionTranslator::translate_global(const CodeNode& node) {
  CppVariable& global = globals_[node.a];
  if (node.a >= known_globals_) {
    return emission_.report_no_cpp(node.range,
                                   fmt::format("`{}` before its statement", global.name),
                                   "move its statement above the one that calls this function");
  }
  return translate_variable(global);
}

// Returns an expression that fails, for code in which the checker found an error. That code may
// never run, so the checker reported the error as a warning.
CppExpr FunctionTranslator::translate_erroneous_code(const CodeNode& node) {
  const Diagnostic& known = data_.broken_code_diagnostics[node.a];
  return failing_expr(fmt::format("{} [{}]", known.message, name_of(known.id)));
}

// ---- Lists

// Returns the C++ for the items of a list: expressions, spliced tuples (`*t`) and `*`. Returns
// nothing if an item can only fail; `*failed` is then that item.
std::optional<std::vector<CppListItem>> FunctionTranslator::translate_items(std::uint32_t begin,
                                                                            std::uint32_t count,
                                                                            CppExpr* failed) {
  std::vector<CppListItem> made;
  for (std::uint32_t i = 0; i < count; ++i) {
    const CodeId id = data_.lists[begin + i];
    const CodeNode& node = code_of(id);
    CppListItem item;
    item.range = node.range;
    if (node.op == Op::kAll) {
      item.is_star = true;
    } else if (node.op == Op::kSplice) {
      CppExpr value = translate_code(node.a);
      const auto spliced = as_tuple(value);
      if (!spliced) {
        *failed = value.type.can_only_fail()
                      ? value
                      : type_mismatch_expr("`*` before an expression", "a tuple", value);
        return std::nullopt;
      }
      item.expr = *spliced;
      item.is_splice = true;
    } else {
      item.expr = translate_code(id);
      if (item.expr.type.can_only_fail()) {
        *failed = item.expr;
        return std::nullopt;
      }
    }
    made.push_back(std::move(item));
  }
  return made;
}

// Returns the C++ for a tuple. Its items must have one type, because the C++ type of a tuple names
// the type of its items.
CppExpr FunctionTranslator::translate_tuple(const CodeNode& node) {
  CppExpr failed;
  const auto list = translate_items(node.a, node.b, &failed);
  if (!list) return failed;
  if (list->empty()) return {"Tuple{}", kTuple};
  std::optional<CppValueType> of;
  for (const CppListItem& item : *list) {
    CppValueType type = item.expr.type;
    if (item.is_splice) --type.depth;
    if (!of) of = type;
    if (*of == type) continue;
    return emission_.report_no_cpp(
        node.range, fmt::format("a tuple with {} and {}", of->type_text(), type.type_text()),
        "give each a name of its own, or make all of them one type");
  }
  const CppValueType made{of->type, of->depth + 1};
  const bool splices = has_splice(*list);
  const std::string text = list_text(*list, of->cpp_type());
  return {splices ? text : made.cpp_type() + text, made};
}

// Returns the C++ for a comprehension: a call of `each` with a lambda. If an item can only fail,
// its type counts as integer.
CppExpr FunctionTranslator::translate_comprehension(const CodeNode& node) {
  CppExpr range = translate_code(node.b);
  if (range.type.can_only_fail()) return range;
  const auto through = as_tuple(range);
  if (!through)
    return type_mismatch_expr("`tuple(... for ... in ...)`", "a tuple to go through", range);
  // The typed code has no name for the loop variable. The name is taken from the source, where it
  // is between the item and the range: `tuple(item for name in range)`.
  const std::string_view between =
      data_.source.text({code_of(node.a).range.end, code_of(node.b).range.begin});
  const std::size_t at = between.rfind("for ");
  const std::string_view rest = at == std::string_view::npos ? "" : between.substr(at + 4);
  const std::string_view name = rest.substr(0, rest.find(" in"));
  const auto is_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  const bool named = !name.empty() && std::all_of(name.begin(), name.end(), is_name);
  const CppValueType item_type{through->type.type, through->type.depth - 1};
  {
    FunctionFrame& frame = frames_.back();
    frame.slots[node.c] = {frame.names.add_name(named ? name : "item"), item_type};
  }
  CppExpr item = translate_code(node.a);
  const CppVariable& slot = frames_.back().slots[node.c];
  const CppValueType made = item.type.can_only_fail() ? kInt : item.type;
  return {fmt::format("each({}, [&]({}{}) {{ return {}; }})", through->text,
                      item_type.cpp_parameter_type(), slot.read ? " " + slot.name : std::string(),
                      with_exact_type(item, made)),
          {made.type, made.depth + 1}};
}

// ---- Operators and parts of values

// Returns the C++ for an arithmetic operator or a comparison of two operands.
CppExpr FunctionTranslator::translate_operation(const CodeNode& node) {
  const CppExpr left = translate_code(node.a);
  const CppExpr right = translate_code(node.b);
  return binary_expr(emission_, node.op, node.range, left, right);
}

// Returns the C++ for `&&` or `||`. If the left side is not a bool, the right side is not
// translated.
CppExpr FunctionTranslator::translate_logical(const CodeNode& node) {
  const CppExpr left = translate_code(node.a);
  if (const auto failure = failure_of_left_operand(node.op, left)) return *failure;
  return emitting::logical_expr(node.op, left, translate_code(node.b));
}

// Returns the C++ for `condition ? yes : no`. If the condition is not a bool, the two sides are not
// translated.
CppExpr FunctionTranslator::translate_conditional(const CodeNode& node) {
  const CppExpr condition = translate_code(node.a);
  if (const auto failure = failure_of_condition(condition)) return *failure;
  const CppExpr yes = translate_code(node.b);
  const CppExpr no = translate_code(node.c);
  return emitting::conditional_expr(emission_, node.range, condition, yes, no);
}

// Returns the C++ for an item of a tuple, or for a processor of a machine. If the value cannot be
// indexed, the index is not translated.
CppExpr FunctionTranslator::translate_index(const CodeNode& node) {
  const CppExpr base = translate_code(node.c);
  if (base.type.can_only_fail()) return base;
  if (base.type != kMachine && !as_tuple(base)) {
    return type_mismatch_expr("an index", "a machine or a tuple before it", base);
  }
  CppExpr failed;
  const auto list = translate_items(node.a, node.b, &failed);
  return list ? emitting::index_expr(emission_, node.range, base, *list) : failed;
}

// Returns the C++ for a slice of a tuple or of a machine's size. An omitted first end is 0; an
// omitted second end means the end of the tuple.
CppExpr FunctionTranslator::translate_slice(const CodeNode& node) {
  CppExpr base = translate_code(node.c);
  if (base.type.can_only_fail()) return base;
  if (base.type == kMachine) base = {operand_text(base, 9) + ".size()", kTuple};
  const auto tuple = as_tuple(base);
  if (!tuple) return type_mismatch_expr("a slice", "a tuple or a machine before it", base);
  std::string ends;
  for (const CodeId id : {node.a, node.b}) {
    if (id == kNoCode) {
      if (id == node.a && ends.empty()) ends = "0";
      continue;
    }
    CppExpr end = translate_code(id);
    if (end.type.can_only_fail()) return end;
    if (end.type != kInt) return type_mismatch_expr("the end of a slice", "an integer", end);
    ends += (ends.empty() ? "" : ", ") + end.text;
  }
  return {fmt::format("{}.slice({})", operand_text(*tuple, 9), ends), tuple->type};
}

// ---- Calls

// Returns the C++ for the arguments of a call. A spliced argument is not emitted, because the
// number of arguments has to be known.
std::optional<std::vector<CppExpr>> FunctionTranslator::translate_arguments(const CodeNode& node,
                                                                            std::string_view callee,
                                                                            CppExpr* failed) {
  auto list = translate_items(node.a, node.b, failed);
  if (!list) return std::nullopt;
  std::vector<CppExpr> made;
  for (CppListItem& item : *list) {
    if (item.is_splice) {
      *failed =
          emission_.report_no_cpp(item.range, fmt::format("a spliced argument of `{}`", callee),
                                  "write the arguments one by one: `t[0], t[1]`");
      return std::nullopt;
    }
    made.push_back(std::move(item.expr));
  }
  return made;
}

// Returns the C++ for a call of a function of the program. The function is translated once for each
// list of argument types. An argument of a wrong type becomes an expression that fails.
CppExpr FunctionTranslator::translate_call(const CodeNode& node) {
  using syntax::ParamType;
  const program::ProgramFunction& called = data_.functions[node.c];
  const std::string_view callee = program_.function_name(node.c);
  CppExpr failed;
  const auto args = translate_arguments(node, callee, &failed);
  if (!args) return failed;
  if (args->size() != called.parameters.count) {
    return failing_expr(fmt::format("`{}` takes {}, not {} [wrong-argument-count]", callee,
                                    count_and_noun(called.parameters.count, "argument"),
                                    args->size()));
  }
  std::vector<CppValueType> types;
  std::string text;
  for (std::size_t i = 0; i < args->size(); ++i) {
    const CppExpr& arg = (*args)[i];
    const ParamType wanted = data_.parameters[called.parameters.begin + i].type;
    const bool pair = wanted == ParamType::kIPoint || wanted == ParamType::kISpace;
    const bool fits = wanted == ParamType::kAny ||
                      (wanted == ParamType::kInt && arg.type == kInt) ||
                      (wanted == ParamType::kBool && arg.type == kBool) ||
                      (wanted == ParamType::kMSpace && arg.type == kMachine) ||
                      (wanted == ParamType::kTask &&
                       (arg.type.is_type(Type::kTask) || arg.type.is_type(Type::kParent))) ||
                      (pair && (arg.type.is_integer_tuple() || arg.type.is_type(Type::kProcessor)));
    if (!fits) {
      return type_mismatch_expr(
          fmt::format("an argument of `{}`", callee),
          pair ? std::string("a tuple of integers")
               : fmt::format("a value of type `{}`", syntax::spelling_of(wanted)),
          arg);
    }
    types.push_back(arg.type);
    text += (i == 0 ? "" : ", ") + arg.text;
  }
  const FunctionInstance& instance = this->instance_of(node.c, types);
  if (!instance.failure.empty()) {
    CppExpr expr;
    expr.failure = instance.failure;
    return expr;
  }
  return {fmt::format("{}({})", instance.name, text), instance.result};
}

// Returns the C++ for a call of a method. The number of arguments is checked here, their types in
// accesses.cc.
CppExpr FunctionTranslator::translate_method(const CodeNode& node) {
  const CppExpr base = translate_code(node.c);
  if (base.type.can_only_fail()) return base;
  const std::string_view name = name_of(node.method);
  CppExpr failed;
  const auto args = translate_arguments(node, name, &failed);
  if (!args) return failed;
  const std::size_t wanted = syntax::info_of(node.method).parameter_count();
  if (args->size() != wanted) {
    return failing_expr(fmt::format("`{}` takes {}, not {} [wrong-argument-count]", name,
                                    count_and_noun(wanted, "argument"), args->size()));
  }
  std::function<CppExpr()> option;
  if (node.option != kNoCode) option = [&] { return translate_code(node.option); };
  return emitting::method_expr(emission_, node.method, base, *args, option);
}

}  // namespace groma::emitting
