// Builder: translates expressions, functions and top-level actions from the syntax tree to typed
// code, and checks names and types.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "groma/diagnostics.h"
#include "program/calls.h"
#include "program/data.h"
#include "syntax/tree.h"

namespace groma::program {

class Builder {
 public:
  // All arguments are used until the last call. data.functions and data.globals hold every
  // definition.
  Builder(const syntax::Tree& tree, const Definitions& definitions, Data& data, Diagnostics& diags);

  // Builds one function. The functions that it calls must be built before.
  void function(FunctionId function);
  // Builds a top-level assignment of the global `index`, or a print.
  void top_assign(const syntax::AssignStatement& node, std::uint32_t index, Range range);
  void top_print(const syntax::PrintStatement& node, Range range);

 private:
  using ExprId = syntax::ExprId;

  // The slot of a variable, and what is known about its value.
  struct Local {
    NameId name;
    std::uint32_t slot;
    Type type;
    std::uint32_t hidden;  // the previous local of the same name, or kNoLocal
  };
  static constexpr std::uint32_t kNoLocal = 0xFFFFFFFF;

  Diagnostic& report(DiagId id, Range range, std::vector<DiagArg> args);
  Diagnostic& mismatch(Range range, std::string_view what, std::string_view needs, Type found);

  std::string_view text(NameId id) const { return tree_.table.text(id); }
  const syntax::Expr& expr_of(ExprId id) const { return tree_.exprs[id]; }
  ExprId bare(ExprId id) const;  // without parentheses
  Type type_of(CodeId id) const { return data_.code[id].type; }
  Range range_of(CodeId id) const { return data_.code[id].range; }

  void body_statement(const syntax::Statement& statement, Function& made);
  void assign_local(const syntax::AssignStatement& node, Range range);
  Action print_action(const syntax::PrintStatement& node, Range range);
  void bind_parameters(Function& made, const syntax::DefStatement& def);
  const Local* find_local(NameId name) const;
  void push_local(NameId name, std::uint32_t slot, Type type);
  void pop_local();
  void note_read(TaskRead Function::*which, const TaskRead& read);

  CodeId add(Code code);
  CodeId make(Op op, Type type, Range range, std::uint32_t a = 0, std::uint32_t b = 0,
              std::uint32_t c = 0);
  CodeId build(ExprId id);
  CodeId name(const syntax::Expr& expr);
  CodeId tuple(const syntax::Expr& expr);
  CodeId comprehension(const syntax::Expr& expr);
  CodeId unary(const syntax::Expr& expr);
  CodeId binary(const syntax::Expr& expr);
  CodeId conditional(const syntax::Expr& expr);
  CodeId index(const syntax::Expr& expr);
  CodeId slice(const syntax::Expr& expr);
  CodeId member(const syntax::Expr& expr);
  CodeId call(const syntax::Expr& expr);
  CodeId call_function(const syntax::Expr& expr, FunctionId function);
  CodeId call_machine(const syntax::Expr& expr);
  CodeId call_method(const syntax::Expr& expr, const syntax::Expr& callee);
  CodeId broken_call(const syntax::Expr& expr);
  CodeId broken(Range range);  // stands for the error that was reported last

  // Builds the elements of a tuple, an index or a call. `*option` receives the value of `halo=..`
  // if that option is allowed.
  List elements(const syntax::Expr& expr, std::string_view option_name, std::string_view callee,
                CodeId* option);
  List take_pending(std::size_t first);
  bool has_splice(List list) const;
  bool check_arguments(std::string_view callee, List args, std::size_t wanted, Range range);
  bool fits(CodeId id, Type wanted) const;
  void check_type(CodeId id, std::string_view callee, Type wanted);
  std::string owner_words(CodeId base) const;
  CodeId no_member(CodeId base, std::string_view spelled, Range focus, Range range);
  Type arithmetic_type(const Code& code, CodeId left, CodeId right, std::string_view sign);
  Type comparison_type(const Code& code, CodeId left, CodeId right, std::string_view sign);

  const syntax::Tree& tree_;
  const Definitions& definitions_;
  Data& data_;
  Diagnostics& diags_;
  Function* current_ = nullptr;       // null at top level
  std::uint32_t current_global_ = 0;  // at top level: only globals before this one may be read
  std::uint32_t slots_ = 0;
  int branches_ = 0;  // nesting in branches of `?:`; the code may never be evaluated
  Diagnostic last_;   // the diagnostic that was reported last
  // Unknown names that were reported for this function, and whether outside of branches.
  std::vector<std::pair<NameId, bool>> unknown_;
  bool unknown_option_ = false;            // in the list that elements() read last
  std::vector<Local> locals_;              // the last one of a name is visible
  std::vector<std::uint32_t> last_local_;  // by NameId: index into locals_, or kNoLocal
  std::vector<CodeId> pending_;            // items of the lists under construction
};

}  // namespace groma::program
