// Reports about code under construction, and appends code.
#include "program/code_context.h"

#include <fmt/format.h>

#include "program/members.h"

namespace groma::program {

// Reports a diagnostic, as a warning if the code may never be evaluated. make_broken_code() then
// makes code that fails with this diagnostic if it is evaluated after all.
Diagnostic& CodeContext::report(DiagId id, Range range, std::vector<DiagArg> args) {
  Diagnostic& diagnostic = diags.add(id, range, std::move(args));
  last_diagnostic = diagnostic;
  if (diagnostic.severity != Severity::kError) return diagnostic;
  // The original language accepts mistakes in code that it never evaluates, so an error in such
  // code is lowered to a warning.
  if (function != nullptr && !function->used) {
    diagnostic.lower_to(Severity::kWarning);
    diagnostic.note(
        fmt::format("nothing uses `{}`, so this is not an error yet", name_text(function->name)));
  } else if (branch_depth > 0) {
    diagnostic.lower_to(Severity::kWarning);
    diagnostic.note("it is an error where this branch of `?:` is taken");
  }
  return diagnostic;
}

Diagnostic& CodeContext::report_type_mismatch(Range range, std::string_view what,
                                              std::string_view needs, Type found) {
  return report(DiagId::kTypeMismatch, range,
                {std::string(what), std::string(needs), std::string(describe_type(found))});
}

// Returns the expression inside any parentheses.
syntax::ExprId CodeContext::without_parentheses(syntax::ExprId id) const {
  while (expr_of(id).kind == syntax::ExprKind::kParen) id = expr_of(id).a;
  return id;
}

CodeId CodeContext::add_code(CodeNode code) {
  data.code.push_back(code);
  return static_cast<CodeId>(data.code.size() - 1);
}

// Appends an instruction. Messages about it point to its whole range.
CodeId CodeContext::make_code(Op op, Type type, Range range, std::uint32_t a, std::uint32_t b,
                              std::uint32_t c) {
  CodeNode code;
  code.op = op;
  code.type = type;
  code.range = code.focus = range;
  code.a = a, code.b = b, code.c = c;
  return add_code(code);
}

CodeId CodeContext::make_broken_code(Range range) {
  // The evaluation of this code fails with the diagnostic that was reported last. Only code whose
  // error was lowered to a warning can be evaluated. At most kMaxErrors diagnostics are stored for
  // such code.
  if (data.broken_code_diagnostics.size() < kMaxErrors)
    data.broken_code_diagnostics.push_back(last_diagnostic);
  return make_code(Op::kBroken, Type::kAny, range,
                   static_cast<std::uint32_t>(data.broken_code_diagnostics.size() - 1));
}

// Returns true if the value may have the wanted type. A processor fits as a tuple, and a task's
// parent as a task.
bool CodeContext::may_have_type(CodeId id, Type wanted) const {
  const Type found = type_of(id);
  if (is_unknown_type(wanted) || is_unknown_type(found) || found == wanted) return true;
  return (wanted == Type::kTuple && found == Type::kProcessor) ||
         (wanted == Type::kTask && found == Type::kParent);
}

// Only the first read is kept, because a message about the function points to it.
void CodeContext::note_task_member_read(TaskMemberRead ProgramFunction::*which,
                                        const TaskMemberRead& read) {
  if (function == nullptr || !read.reads) return;
  TaskMemberRead& known = function->*which;
  if (!known.reads) known = read;
}

}  // namespace groma::program
