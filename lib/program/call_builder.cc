// Builds calls and members, with suggestions for names that do not exist.
#include "program/call_builder.h"

#include <fmt/format.h>

#include <vector>

#include "groma/spelling.h"
#include "program/expression_builder.h"
#include "program/members.h"

namespace groma::program {

using syntax::Expr;
using syntax::ExprKind;

// Returns words that describe a value in a message about a wrong member: its type, or its text if
// the type is unknown. A text of more than 40 bytes or several lines is "this value".
std::string CallBuilder::describe_member_base(CodeId base) const {
  if (!is_unknown_type(context_.type_of(base)))
    return std::string(describe_type(context_.type_of(base)));
  constexpr std::size_t kLongest = 40;
  const std::string_view text = context_.tree.source.text(context_.range_of(base));
  const bool is_short = text.size() <= kLongest && text.find('\n') == std::string_view::npos;
  return is_short ? fmt::format("`{}`", text) : "this value";
}

// Reports that the value has no such member, and lists the members that it has.
CodeId CallBuilder::report_unknown_member(CodeId base, std::string_view spelled, Range focus,
                                          Range range) {
  const Type type = context_.type_of(base);
  Diagnostic& diagnostic = context_.report(DiagId::kUnknownMember, focus,
                                           {describe_member_base(base), std::string(spelled)});
  // Suggest a member with a similar name. If there is none, list all members and methods of the
  // type.
  const auto names = member_and_method_names(type);
  if (!suggest(diagnostic, spelled, names, focus) && !names.empty()) {
    diagnostic.note(fmt::format("it has {}", join_names(names, "and")));
  }
  return context_.make_broken_code(range);
}

// Builds the read of a member. If the name is a method's, the report says that a method must be
// called.
CodeId CallBuilder::build_member_read(const Expr& expr) {
  const CodeId base = expressions_.build_expression(expr.a);
  const Type type = context_.type_of(base);
  const std::string_view spelled = context_.name_text(expr.c);
  const Range focus{expr.focus_offset, expr.range.end};
  const auto found = find_member(spelled);
  if (!found || !type_has_member(type, *found)) {
    const auto method = find_method(spelled);
    if (type == Type::kParent && (found || (method && !type_has_method(type, *method)))) {
      context_.report(DiagId::kParentMember, focus, {std::string(spelled)});
      return context_.make_broken_code(expr.range);
    }
    if (!method || !type_has_method(type, *method))
      return report_unknown_member(base, spelled, focus, expr.range);
    context_
        .report(DiagId::kUnknownMember, focus, {describe_member_base(base), std::string(spelled)})
        .help(fmt::format("call it: `{}(...)`", spelled));
    return context_.make_broken_code(expr.range);
  }
  // Remember the member that the function reads. It decides whether the function can be bound for
  // index launches or for single tasks.
  if (is_task_member(*found) && type != Type::kParent && *found != Member::kName) {
    const TaskMemberRead read{true, *found, false, focus};
    context_.note_task_member_read(*found == Member::kParent ? &ProgramFunction::single_task_read
                                                             : &ProgramFunction::index_launch_read,
                                   read);
  }
  // Every function may read the name of its task, whether it is for index launches or single tasks.
  if (*found == Member::kName && context_.function != nullptr) context_.function->reads_name = true;
  if ((*found == Member::kIrank || *found == Member::kIvolume) && context_.function != nullptr) {
    context_.function->reads_rank = true;
  }
  CodeNode code;
  code.op = Op::kMember;
  code.type = type_of(*found);
  code.member = *found;
  code.range = expr.range;
  code.focus = focus;
  code.a = base;
  return context_.add_code(code);
}

// Builds a call of the word `Machine`, of a method after a dot, or of a function by its name.
CodeId CallBuilder::build_call(const Expr& expr) {
  const Expr& callee = context_.expr_of(expr.c);
  if (callee.kind == ExprKind::kMachine) return build_machine_call(expr);
  if (callee.kind == ExprKind::kMember) return build_method_call(expr, callee);
  if (callee.kind != ExprKind::kName) {
    context_.report(DiagId::kNotCallable, callee.range, {std::string("an expression")})
        .note("functions are called by their names");
    return build_broken_call(expr);
  }
  const std::string_view spelled = context_.name_text(callee.a);
  const Symbol symbol = context_.definitions.symbols[callee.a];
  const bool global = symbol.kind == Symbol::Kind::kGlobal;
  // A variable cannot be called. But a global that only a statement with an error defines may be
  // meant as a function, so a call of it is not reported again.
  if (context_.scope.find_local(callee.a) != nullptr || global) {
    if (!global || !context_.data.globals[symbol.index].implied) {
      context_.report(DiagId::kNotCallable, callee.range,
                      {fmt::format("the variable `{}`", spelled)});
    }
    return build_broken_call(expr);
  }
  if (symbol.kind == Symbol::Kind::kFunction) return build_function_call(expr, symbol.index);
  return report_unknown_function(expr, callee);
}

// Reports a call of an unknown function, with a suggestion.
CodeId CallBuilder::report_unknown_function(const Expr& expr, const Expr& callee) {
  const std::string_view spelled = context_.name_text(callee.a);
  if (context_.diags.full()) return context_.make_broken_code(expr.range);
  Diagnostic& diagnostic =
      context_.report(DiagId::kUnknownFunction, callee.range, {std::string(spelled)});
  std::vector<std::string_view> candidates = {"Machine", "tuple"};
  for (const ProgramFunction& function : context_.data.functions)
    candidates.push_back(context_.name_text(function.name));
  // Some mistakes get a better help than a similar name: `not x`, and a member that is written as a
  // function, such as size(m).
  const auto args = context_.tree.elements_of(expr);
  if (spelled == "not") {
    diagnostic.help("write `!`");
  } else if ((find_member(spelled) && args.size() == 1) ||
             (find_method(spelled) && !args.empty())) {
    const std::string_view base = context_.tree.source.text(context_.expr_of(args[0]).range);
    diagnostic.help(fmt::format("write `{}.{}{}`", base.size() <= 40 ? base : "...", spelled,
                                find_member(spelled) ? "" : "(...)"));
  } else {
    suggest(diagnostic, spelled, candidates, callee.range);
  }
  return build_broken_call(expr);
}

// Builds the arguments of a call whose callee has a mistake, so that mistakes in the arguments are
// reported too. An evaluation of the call fails with the diagnostic about the callee.
CodeId CallBuilder::build_broken_call(const Expr& expr) {
  const Diagnostic about = context_.last_diagnostic;
  expressions_.build_elements(expr);
  context_.last_diagnostic = about;
  return context_.make_broken_code(expr.range);
}

// Builds a call of a function of the program and checks its arguments against the parameters.
CodeId CallBuilder::build_function_call(const Expr& expr, FunctionId id) {
  const std::string_view callee = context_.name_text(context_.data.functions[id].name);
  const ElementList args = expressions_.build_elements(expr, "", callee);
  const syntax::DefStatement& def = *context_.definitions.defs[id];
  if (def.head_broken) return context_.make_broken_code(expr.range);
  const bool count_fits = check_argument_count(callee, args, def.params.count, expr.range);
  const auto params = syntax::Tree::entries_of(context_.tree.params, def.params);
  for (std::uint32_t i = 0;
       count_fits && i < args.list.count && !expressions_.has_splice(args.list); ++i) {
    constexpr Type kTypes[] = {Type::kAny,   Type::kInt,     Type::kBool, Type::kTuple,
                               Type::kTuple, Type::kMachine, Type::kTask};
    // The types of arguments and parameters are compared only if the arguments contain no spliced
    // tuple `*t`, which would shift them.
    const CodeId argument = context_.data.lists[args.list.begin + i];
    const Type wanted = kTypes[static_cast<std::size_t>(params[i].type)];
    if (context_.may_have_type(argument, wanted)) continue;
    context_.report_type_mismatch(
        context_.range_of(argument),
        fmt::format("`{}` of `{}`", context_.name_text(params[i].name.id), callee),
        describe_type(wanted), context_.type_of(argument));
  }
  // The caller counts as reading every member of the task that the called function reads.
  context_.note_task_member_read(&ProgramFunction::index_launch_read,
                                 context_.data.functions[id].index_launch_read);
  context_.note_task_member_read(&ProgramFunction::single_task_read,
                                 context_.data.functions[id].single_task_read);
  if (context_.function != nullptr && context_.data.functions[id].reads_name)
    context_.function->reads_name = true;
  if (context_.function != nullptr && context_.data.functions[id].reads_rank)
    context_.function->reads_rank = true;
  const CodeId made = context_.make_code(Op::kCall, context_.data.functions[id].result, expr.range,
                                         args.list.begin, args.list.count, id);
  context_.data.code[made].focus = context_.expr_of(expr.c).range;
  return made;
}

// Builds `Machine(KIND)`.
CodeId CallBuilder::build_machine_call(const Expr& expr) {
  const ElementList args = expressions_.build_elements(expr, "", "Machine");
  check_argument_count("Machine", args, 1, expr.range);
  if (args.list.count != 1) return context_.make_broken_code(expr.range);
  const CodeId kind = context_.data.lists[args.list.begin];
  if (context_.data.code[kind].op == Op::kSplice) {
    context_.report(DiagId::kStrayStar, context_.range_of(kind), {});
    return context_.make_broken_code(expr.range);
  }
  check_argument_type(kind, "Machine", Type::kProcKind);
  return context_.make_code(Op::kMachine, Type::kMachine, expr.range, kind);
}

// Builds a method call such as `m.split(0, 2)` and checks its arguments against the table kMethods.
CodeId CallBuilder::build_method_call(const Expr& expr, const Expr& callee) {
  const std::string_view spelled = context_.name_text(callee.c);
  const Range focus{callee.focus_offset, callee.range.end};
  const auto method = find_method(spelled);
  const CodeId base = expressions_.build_expression(callee.a);
  const Type type = context_.type_of(base);
  if (!method || !type_has_method(type, *method)) {
    const auto known = find_member(spelled);
    if (!known || !type_has_member(type, *known)) {
      report_unknown_member(base, spelled, focus, expr.range);
    } else {
      context_.report(DiagId::kNotCallable, focus, {fmt::format("the member `{}`", spelled)})
          .help(fmt::format("write `.{}` without parentheses", spelled));
    }
    return build_broken_call(expr);
  }
  // A method has a fixed number of arguments, and at most one option.
  const syntax::MethodInfo& info = syntax::info_of(*method);
  const ElementList args = expressions_.build_elements(expr, info.option, spelled);
  const Range call{callee.focus_offset, expr.range.end};
  const bool count_fits = check_argument_count(spelled, args, info.parameter_count(), call);
  for (std::uint32_t i = 0;
       count_fits && i < args.list.count && !expressions_.has_splice(args.list); ++i) {
    check_argument_type(context_.data.lists[args.list.begin + i], spelled,
                        type_of(info.parameters[i].type));
  }
  // The only option, `halo`, is a tuple.
  if (args.option != kNoCode) check_argument_type(args.option, info.option, Type::kTuple);
  if (*method == Method::kProcessor && type != Type::kParent) {
    context_.note_task_member_read(&ProgramFunction::single_task_read,
                                   {true, Member::kParent, true, focus});
  }
  CodeNode code;
  code.op = Op::kMethod;
  code.method = *method;
  code.type = type_of(info.result);
  code.range = expr.range;
  code.focus = focus;
  code.a = args.list.begin, code.b = args.list.count, code.c = base;
  code.option = args.option;
  return context_.add_code(code);
}

// Returns false after it has reported that a call has a wrong number of arguments. The caller then
// does not check the types of the arguments, because it is not known which argument is missing.
bool CallBuilder::check_argument_count(std::string_view callee, const ElementList& args,
                                       std::size_t wanted, Range range) {
  if (args.list.count == wanted || expressions_.has_splice(args.list)) return true;
  if (args.unknown_option) return false;
  const auto count = [](std::size_t n) {
    return fmt::format("{} argument{}", n, n == 1 ? "" : "s");
  };
  context_.report(DiagId::kWrongArgumentCount, range,
                  {std::string(callee), count(wanted), std::to_string(args.list.count)});
  return false;
}

// Reports an argument that cannot have the wanted type.
void CallBuilder::check_argument_type(CodeId id, std::string_view callee, Type wanted) {
  if (!context_.may_have_type(id, wanted))
    context_.report_type_mismatch(context_.range_of(id), fmt::format("`{}`", callee),
                                  describe_type(wanted), context_.type_of(id));
}

}  // namespace groma::program
