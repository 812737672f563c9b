// Interpreter: evaluates typed code directly. It makes one evaluation at a time, which ends at the
// first failure.
#pragma once

#include <string>
#include <vector>

#include "evaluate/evaluation.h"
#include "evaluate/machine_expressions.h"
#include "groma/evaluate.h"
#include "program/data.h"

namespace groma::mapper {

class Interpreter {
 public:
  // All arguments must outlive the interpreter. The interpreter reads `globals`; top_level() also
  // writes them.
  Interpreter(const Program& program, const Machine& machine, std::vector<Value>& globals,
              LogSink* log);
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // Executes the top level in at most `max_steps` steps. Returns false after a failure, which is
  // then in `diags`.
  bool top_level(std::int64_t max_steps, Diagnostics& diags);

  // Returns the value of `function` for that task. Returns monostate after a failure, which is then
  // in `diags`.
  Value map(FunctionId function, const TaskPoint& task, Diagnostics& diags);

  // Describes the last evaluation for a message (Evaluation::where).
  std::string where() const { return run_.where(); }
  std::int64_t steps() const { return run_.steps(); }

 private:
  using Code = program::Code;
  using CodeId = program::CodeId;

  const Code& code(CodeId id) const { return data_.code[id]; }

  Value run_body(program::List body);
  void print(const program::Action& action);
  Value eval(CodeId id);
  Value eval_at(CodeId id, const Code& node);
  Value broken(const Code& node);
  Value global(const Code& node);
  Value tuple(const Code& node);
  Value comprehension(const Code& node);
  Value negate(const Code& node);
  Value binary(const Code& node);
  bool truth(CodeId id, std::string_view what);
  Value conditional(const Code& node);
  Value index(const Code& node);
  Value slice(const Code& node);
  bool slice_end(CodeId id, std::int64_t length, std::int64_t missing, std::int64_t* end);
  Value call(const Code& node);
  Value method(CodeId id, const Code& node);
  std::vector<ListItem> elements(std::uint32_t begin, std::uint32_t count);

  const program::Data& data_;
  std::vector<Value>& globals_;
  LogSink* log_;
  Evaluation run_;
  MachineExpressions machines_;
  int printed_lines_ = 0;
  // The number of eval() calls that are running, through expressions and calls.
  int depth_ = 0;
};

}  // namespace groma::mapper
