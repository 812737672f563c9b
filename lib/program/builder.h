// CodeBuilder: translates functions and top-level actions from the syntax tree to typed code, and
// checks names and types.
#pragma once

#include "program/code_context.h"
#include "program/expression_builder.h"

namespace groma::program {

class CodeBuilder {
 public:
  // All arguments must outlive this object. data.functions and data.globals hold every
  // definition.
  CodeBuilder(const syntax::Tree& tree, const ProgramDefinitions& definitions, ProgramData& data,
              Diagnostics& diags);
  CodeBuilder(const CodeBuilder&) = delete;
  CodeBuilder& operator=(const CodeBuilder&) = delete;

  // Builds one function. The functions that it calls must be built before.
  void build_function(FunctionId function);
  // Builds an assignment of the global number `index`, or a `print`, at the top level of the
  // program.
  void build_top_assignment(const syntax::AssignStatement& node, std::uint32_t index, Range range);
  void build_top_print(const syntax::PrintStatement& node, Range range);
  // Builds the condition of the `when` statement with this number, counted from 1 among all
  // statements.
  void build_condition(const syntax::WhenStatement& node, std::uint32_t number, Range range);

 private:
  void build_body_statement(const syntax::Statement& statement, ProgramFunction& made);
  void build_local_assignment(const syntax::AssignStatement& node, Range range);
  ExecutableStatement build_print(const syntax::PrintStatement& node, Range range);
  void declare_parameters(ProgramFunction& made, const syntax::DefStatement& def);

  CodeContext context_;
  ExpressionBuilder expressions_;
};

}  // namespace groma::program
