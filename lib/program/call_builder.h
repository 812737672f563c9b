// CallBuilder: translates calls of functions and methods, and reads of members, to typed code.
#pragma once

#include <string>
#include <string_view>

#include "program/code_context.h"

namespace groma::program {

class ExpressionBuilder;
struct ElementList;

class CallBuilder {
 public:
  // `context` and `expressions`, which builds the arguments of calls, must outlive the builder.
  CallBuilder(CodeContext& context, ExpressionBuilder& expressions)
      : context_(context), expressions_(expressions) {}

  // Builds a call of `Machine`, a method or a function. A name that cannot be called is reported,
  // with a suggestion if it looks like a member written as a function.
  CodeId build_call(const syntax::Expr& expr);
  // Builds the read of a member. Reads of task members are noted, because some are valid only for
  // index launches and others only for single tasks.
  CodeId build_member_read(const syntax::Expr& expr);

 private:
  CodeId build_function_call(const syntax::Expr& expr, FunctionId function);
  CodeId build_machine_call(const syntax::Expr& expr);
  CodeId build_method_call(const syntax::Expr& expr, const syntax::Expr& callee);
  CodeId report_unknown_function(const syntax::Expr& expr, const syntax::Expr& callee);
  CodeId build_broken_call(const syntax::Expr& expr);
  CodeId report_unknown_member(CodeId base, std::string_view spelled, Range focus, Range range);
  std::string describe_member_base(CodeId base) const;
  bool check_argument_count(std::string_view callee, const ElementList& args, std::size_t wanted,
                            Range range);
  void check_argument_type(CodeId id, std::string_view callee, Type wanted);

  CodeContext& context_;
  ExpressionBuilder& expressions_;
};

}  // namespace groma::program
