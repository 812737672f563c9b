// ExpressionBuilder: translates expressions from the syntax tree to typed code. A type that cannot
// fit is reported here, once. A value of unknown type (kAny) is checked during evaluation.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "program/call_builder.h"
#include "program/code_context.h"

namespace groma::program {

// The typed code for the elements of a tuple or an index, or for the arguments of a call.
struct ElementList {
  IndexRange list;
  // The code for the value of the call's option, such as `halo`. kNoCode if the call has no option.
  CodeId option = kNoCode;
  // True if the call has an option that the callee does not know. It was reported.
  bool unknown_option = false;
};

class ExpressionBuilder {
 public:
  // `context` must outlive the builder.
  explicit ExpressionBuilder(CodeContext& context) : context_(context), calls_(context, *this) {}

  // Builds an expression and returns the id of its code. A broken expression becomes kBroken.
  CodeId build_expression(syntax::ExprId id);
  // Builds each expression of a list.
  IndexRange build_expressions(std::span<const syntax::ExprId> exprs);
  // Builds the elements of a tuple, an index or a call:
  //
  // * `*t` becomes kSplice and a bare `*` becomes kAll.
  // * Options other than `option_name` are an error.
  // * An empty `callee` means that the called function is unknown, so options are not checked.
  ElementList build_elements(const syntax::Expr& expr, std::string_view option_name = "",
                             std::string_view callee = "");
  // Returns true if the list has a spliced item, so that its length is unknown before evaluation.
  bool has_splice(IndexRange list) const;
  // Must be called when a function is complete. Forgets which unknown names were reported, so that
  // a name that is also unknown in the next function is reported again.
  void forget_unknown_names() { unknown_.clear(); }

 private:
  CodeId build_name(const syntax::Expr& expr);
  CodeId report_unknown_name(const syntax::Expr& expr);
  CodeId build_tuple(const syntax::Expr& expr);
  CodeId build_comprehension(const syntax::Expr& expr);
  CodeId build_unary(const syntax::Expr& expr);
  CodeId build_binary(const syntax::Expr& expr);
  CodeId build_conditional(const syntax::Expr& expr);
  CodeId build_index(const syntax::Expr& expr);
  CodeId build_slice(const syntax::Expr& expr);
  IndexRange take_pending(std::size_t first);
  Type arithmetic_type(CodeId left, CodeId right, std::string_view sign);
  Type comparison_type(const CodeNode& code, CodeId left, CodeId right, std::string_view sign);

  CodeContext& context_;
  CallBuilder calls_;
  // The unknown names that were reported for this function. The second member is true if the name
  // was reported outside of branches.
  std::vector<std::pair<NameId, bool>> unknown_;
  // The code of the entries of all lists that are not complete yet. The entries of an inner list
  // come after those of the list around it.
  std::vector<CodeId> pending_;
};

}  // namespace groma::program
