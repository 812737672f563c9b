// Translates to C++ the expressions that read a part of a value (indices, members, methods), and
// checks the types of their operands. A wrong type becomes an expression that fails when it is
// evaluated, with the message that the interpreter gives.
#include "emit/accesses.h"

#include <fmt/format.h>

namespace groma::emitting {

using program::Member;
using program::Method;
using program::Type;

namespace {

// Returns the C++ for the processor at an index of a machine, or for a set of processors if an
// index is `*`. Example: `m[0, *]` becomes `machine.all({0, kAll})`.
CppExpr index_machine(EmissionOutput& emission, const CppExpr& base,
                      const std::vector<CppListItem>& items) {
  const std::string machine = operand_text(base, 9);
  if (items.size() == 1 && !items.front().is_star && !items.front().is_splice) {
    // The index in `m[t]` may be a whole tuple t.
    if (const auto whole = as_tuple(items.front().expr)) {
      if (!whole->type.is_integer_tuple())
        return type_mismatch_expr("an index", "an integer", *whole);
      return {fmt::format("{}.at({})", machine, whole->text), {Type::kProcessor}};
    }
  }
  // Any other index of a machine is an integer, a spliced tuple of integers, or `*`.
  bool all = false;
  for (const CppListItem& item : items) {
    all = all || item.is_star;
    const bool fits = item.is_star ||
                      (item.is_splice ? item.expr.type.is_integer_tuple() : item.expr.type == kInt);
    if (!fits) return type_mismatch_expr("an index", "an integer", item.expr);
  }
  if (!all) {
    return {fmt::format("{}.at({})", machine, list_text(items, "Int")), {Type::kProcessor}};
  }
  emission.features.insert("sets");
  return {fmt::format("{}.all({})", machine, list_text(items, "Axis")), {Type::kProcessors}};
}

// Returns the C++ for a member of a task or of its parent task. Of a parent only the name is a
// member here, and the processor is a method. The checker has made sure that a mapping function
// reads only members that its tasks have.
CppExpr task_member(Member member, const CppExpr& base) {
  const std::string_view name = name_of(member);
  if (base.type.is_type(Type::kParent) && member != Member::kName) {
    return failing_expr(fmt::format(
        "of a parent task only `processor` and `name` can be read, not `{}` [parent-member]",
        name));
  }
  const std::string text = fmt::format("{}.{}", operand_text(base, 9), name);
  switch (member) {
    case Member::kIpoint:
    case Member::kIspace:
    case Member::kIlo:
      return {text, kTuple};
    case Member::kIrank:
    case Member::kIvolume:
      return {text, kInt};
    case Member::kName:
      return {text, {Type::kString}};
    case Member::kParent:
      return {text, {Type::kParent}};
    default:
      return failing_expr(fmt::format("a task has no member `{}` [unknown-member]", name));
  }
}

}  // namespace

// Returns the C++ for an item of a tuple, or for the processors of a machine at an index. An item
// of a tuple needs exactly one index. A spliced index is not emitted, because the number of indices
// is then unknown.
CppExpr index_expr(EmissionOutput& emission, Range range, const CppExpr& base,
                   const std::vector<CppListItem>& items) {
  if (base.type == kMachine) return index_machine(emission, base, items);
  const auto tuple = as_tuple(base);
  if (has_splice(items)) {
    return emission.report_no_cpp(range, "a spliced index of a tuple",
                                  "write the one index: `t[i]`");
  }
  if (items.size() != 1) {
    return failing_expr(
        fmt::format("wrong number of indices: {} for a tuple, which takes one [wrong-index-count]",
                    count_and_noun(items.size(), "index")));
  }
  const CppListItem& at = items.front();
  if (at.is_star) return failing_expr("`*` cannot stand here [stray-star]");
  if (at.expr.type != kInt) return type_mismatch_expr("an index", "an integer", at.expr);
  return {fmt::format("{}[{}]", operand_text(*tuple, 9), at.expr.text),
          {tuple->type.type, tuple->type.depth - 1}};
}

// Returns the C++ for a call of a method. Adds to the features the name of the optional block of
// the emitted text that defines the method. The value before the dot is a processor (method `has`),
// a task (`processor`) or a machine (all other methods).
CppExpr method_expr(EmissionOutput& emission, Method method, const CppExpr& base,
                    const std::vector<CppExpr>& args, const std::function<CppExpr()>& option) {
  const std::string_view name = name_of(method);
  const syntax::MethodInfo& info = syntax::info_of(method);
  if (method == Method::kHas) {
    if (!base.type.is_type(Type::kProcessor))
      return type_mismatch_expr("`has`", "a processor before it", base);
    if (!args[0].type.is_type(Type::kMemKind)) {
      return type_mismatch_expr("`has`", "a memory kind", args[0]);
    }
    emission.features.insert("reaches");
    return {fmt::format("machine_.reaches({}, {})", base.text, args[0].text), kBool};
  }
  if (method == Method::kProcessor) {
    const bool task = base.type.is_type(Type::kTask) || base.type.is_type(Type::kParent);
    if (!task) {
      return failing_expr(
          fmt::format("{} has no member `processor` [unknown-member]", base.type.type_text()));
    }
    if (args[0].type != kMachine) return type_mismatch_expr("`processor`", "a machine", args[0]);
    emission.features.insert("processor");
    return {
        fmt::format("{}.place_of({}.processor)", operand_text(args[0], 9), operand_text(base, 9)),
        kTuple};
  }
  if (base.type != kMachine) {
    return failing_expr(
        fmt::format("{} has no member `{}` [unknown-member]", base.type.type_text(), name));
  }
  // The methods of machines take integers and tuples of integers. The catalogue of methods tells
  // which argument is which.
  std::string text;
  for (std::size_t i = 0; i < args.size(); ++i) {
    CppExpr arg = args[i];
    if (info.parameters[i].type == syntax::OperandType::kIntegers) {
      const auto tuple = as_tuple(arg);
      if (!tuple || !tuple->type.is_integer_tuple()) {
        return type_mismatch_expr(fmt::format("`{}`", name), "a tuple of integers", arg);
      }
      arg = *tuple;
    } else if (arg.type != kInt) {
      return type_mismatch_expr(fmt::format("`{}`", name), "an integer", arg);
    }
    text += (i == 0 ? "" : ", ") + arg.text;
  }
  if (option) {
    const CppExpr given = option();
    if (given.type.can_only_fail()) return given;
    const auto tuple = as_tuple(given);
    if (!tuple || !tuple->type.is_integer_tuple()) {
      return type_mismatch_expr(fmt::format("`{}`", info.option), "a tuple of integers", given);
    }
    text += ", " + tuple->text;
  }
  emission.features.insert(std::string(name));
  return {fmt::format("{}.{}({})", operand_text(base, 9), name, text), kMachine};
}

// Returns the C++ for a member of a value. The emitted C++ types have members with the names of the
// mapping language; those that need more code add it to the features. The size of a tuple is the
// tuple itself.
CppExpr member_expr(EmissionOutput& emission, Member member, const CppExpr& base) {
  if (base.type.is_type(Type::kTask) || base.type.is_type(Type::kParent)) {
    if (member == Member::kIrank || member == Member::kIvolume) emission.features.insert("ranks");
    return task_member(member, base);
  }
  const auto tuple = base.type == kMachine ? std::optional(base) : as_tuple(base);
  if (!tuple || member > Member::kLen) {
    return failing_expr(fmt::format("{} has no member `{}` [unknown-member]", base.type.type_text(),
                                    name_of(member)));
  }
  if (member == Member::kSize && base.type != kMachine) return *tuple;
  if (member == Member::kVolume && base.type != kMachine && !tuple->type.is_integer_tuple()) {
    return type_mismatch_expr("`volume`", "a tuple of integers", *tuple);
  }
  return {fmt::format("{}.{}()", operand_text(*tuple, 9), name_of(member)),
          member == Member::kSize ? kTuple : kInt};
}

}  // namespace groma::emitting
