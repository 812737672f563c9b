// Builder: translates functions and top-level actions from the syntax tree to typed code, and
// checks names and types.
#pragma once

#include "program/code_context.h"
#include "program/expression_builder.h"

namespace groma::program {

class Builder {
 public:
  // All arguments must outlive this object. data.functions and data.globals hold every
  // definition.
  Builder(const syntax::Tree& tree, const Definitions& definitions, Data& data, Diagnostics& diags);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // Builds one function. The functions that it calls must be built before.
  void function(FunctionId function);
  // Builds a top-level assignment of the global `index`, or a print.
  void top_assign(const syntax::AssignStatement& node, std::uint32_t index, Range range);
  void top_print(const syntax::PrintStatement& node, Range range);

 private:
  void body_statement(const syntax::Statement& statement, Function& made);
  void assign_local(const syntax::AssignStatement& node, Range range);
  Action print_action(const syntax::PrintStatement& node, Range range);
  void bind_parameters(Function& made, const syntax::DefStatement& def);

  CodeContext context_;
  ExpressionBuilder expressions_;
};

}  // namespace groma::program
