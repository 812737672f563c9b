// CodeContext: what the builders of functions, expressions and calls share: the program under
// construction, the place in it, and the reports about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "groma/diagnostics.h"
#include "program/calls.h"
#include "program/data.h"
#include "program/scope.h"
#include "syntax/tree.h"

namespace groma::program {

struct CodeContext {
  CodeContext(const syntax::Tree& of, const ProgramDefinitions& all, ProgramData& made,
              Diagnostics& reports)
      : tree(of), definitions(all), data(made), diags(reports), scope(of.name_table.size()) {}

  const syntax::Tree& tree;
  const ProgramDefinitions& definitions;
  ProgramData& data;
  Diagnostics& diags;

  // The local variables that are visible in the code under construction.
  LocalScope scope;
  // The function under construction. Null at the top level.
  ProgramFunction* function = nullptr;
  // At the top level, only globals with a smaller index may be read.
  std::uint32_t current_global = 0;
  // The number of branches of `?:` in which the code under construction lies. Code in a branch may
  // never be evaluated.
  int branch_depth = 0;

  // Reports a diagnostic. An error becomes a warning if the code may never be evaluated: in a
  // function that nothing uses, or in a branch of `?:`. The original language accepts such code.
  Diagnostic& report(DiagId id, Range range, std::vector<DiagArg> args);
  // Reports that `what` needs one type and found another.
  Diagnostic& report_type_mismatch(Range range, std::string_view what, std::string_view needs,
                                   Type found);
  // The diagnostic that was reported last.
  Diagnostic last_diagnostic;

  std::string_view name_text(NameId id) const { return tree.name_table.text(id); }
  const syntax::Expr& expr_of(syntax::ExprId id) const { return tree.exprs[id]; }
  // Returns the expression `id` without any parentheses around it.
  syntax::ExprId without_parentheses(syntax::ExprId id) const;
  Type type_of(CodeId id) const { return data.code[id].type; }
  Range range_of(CodeId id) const { return data.code[id].range; }
  // Returns true if a value may have the wanted type: unknown types fit, a processor fits as a
  // tuple, and a task's parent fits as a task.
  bool may_have_type(CodeId id, Type wanted) const;

  // Appends an instruction to the program's code and returns its id.
  CodeId add_code(CodeNode code);
  // Appends an instruction with the given operands. Messages about it point to its whole range.
  CodeId make_code(Op op, Type type, Range range, std::uint32_t a = 0, std::uint32_t b = 0,
                   std::uint32_t c = 0);
  // Appends an instruction that fails, when it is evaluated, with the last diagnostic.
  CodeId make_broken_code(Range range);

  // Remembers that the function under construction reads a member of its task. Only the first read
  // of each sort is kept, for the message at the statement that binds the function.
  void note_task_member_read(TaskMemberRead ProgramFunction::*which, const TaskMemberRead& read);
};

}  // namespace groma::program
