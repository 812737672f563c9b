// Interpreter: evaluates typed code directly. It makes one evaluation at a time, which ends at the
// first failure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "evaluate/evaluation.h"
#include "evaluate/machine_expressions.h"
#include "groma/evaluate.h"
#include "program/data.h"

namespace groma::mapper {

class Interpreter {
 public:
  // All arguments must outlive the interpreter. The interpreter reads `globals`; run_top_level()
  // also writes them.
  Interpreter(const Program& program, const Machine& machine, std::vector<ProgramValue>& globals,
              LogSink* log);
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // Executes the top level in at most `max_steps` steps. Returns false after a failure, which is
  // then in `diags`.
  bool run_top_level(std::int64_t max_steps, Diagnostics& diags);
  // Returns the numbers of the `when` statements whose conditions were true at the top level.
  const std::set<std::uint32_t>& holding_conditions() const { return holding_; }

  // Returns the value of `function` for that task. Returns monostate after a failure, which is then
  // in `diags`.
  ProgramValue evaluate_function(FunctionId function, const TaskPoint& task, Diagnostics& diags);

  // Describes the last evaluation for a message (Evaluation::describe_evaluation).
  std::string describe_evaluation() const { return run_.describe_evaluation(); }
  std::int64_t steps_so_far() const { return run_.steps_so_far(); }

 private:
  using Code = program::CodeNode;
  using CodeId = program::CodeId;

  const Code& code_of(CodeId id) const { return data_.code[id]; }

  ProgramValue run_function_body(program::IndexRange body);
  void run_print(const program::ExecutableStatement& action);
  ProgramValue evaluate_code(CodeId id);
  ProgramValue evaluate_node(CodeId id, const Code& node);
  ProgramValue fail_broken_code(const Code& node);
  ProgramValue read_global(const Code& node);
  ProgramValue evaluate_tuple(const Code& node);
  ProgramValue evaluate_comprehension(const Code& node);
  ProgramValue evaluate_negation(const Code& node);
  ProgramValue evaluate_binary(const Code& node);
  bool evaluate_truth(CodeId id, std::string_view what);
  ProgramValue evaluate_conditional(const Code& node);
  ProgramValue evaluate_index(const Code& node);
  ProgramValue evaluate_slice(const Code& node);
  bool evaluate_slice_end(CodeId id, std::int64_t length, std::int64_t missing, std::int64_t* end);
  ProgramValue evaluate_call(const Code& node);
  ProgramValue evaluate_method(CodeId id, const Code& node);
  std::vector<EvaluatedItem> evaluate_elements(std::uint32_t begin, std::uint32_t count);

  const program::ProgramData& data_;
  std::vector<ProgramValue>& globals_;
  LogSink* log_;
  Evaluation run_;
  MachineExpressions machines_;
  std::set<std::uint32_t> holding_;
  int printed_lines_ = 0;
  // The number of evaluate_code() calls that are running, through expressions and calls.
  int depth_ = 0;
};

}  // namespace groma::mapper
