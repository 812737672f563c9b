// Interpreter: evaluates typed code directly. It makes one evaluation at a time, which ends at the
// first failure.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "evaluate/value.h"
#include "evaluate/view_operations.h"
#include "groma/evaluate.h"
#include "program/data.h"

namespace groma::mapper {

class Interpreter {
 public:
  // All arguments are used until the last call. `globals` are read, and written by top_level.
  Interpreter(const Program& program, const Machine& machine, std::vector<Value>& globals,
              LogSink* log);

  // Executes the top level in at most `max_steps` steps. Returns false after a failure, which is
  // then in `diags`.
  bool top_level(std::int64_t max_steps, Diagnostics& diags);

  // Returns the value of `function` for that task. Returns monostate after a failure, which is then
  // in `diags`.
  Value map(FunctionId function, const TaskPoint& task, Diagnostics& diags);

  // Describes the current evaluation for a message: "`f` maps point (1, 5) of a launch of (11, 11)
  // that begins at (1, 1), where `ipoint` is (0, 4)" and similar.
  std::string where() const;
  std::int64_t steps() const { return all_steps_ + steps_; }

 private:
  using Code = program::Code;
  using CodeId = program::CodeId;

  // An item of an index list or of an argument list.
  struct Element {
    Value value;
    Range range;
    bool all = false;
  };
  struct Frame {
    FunctionId function;
    std::vector<Value> slots;
  };
  // Cache of the last result at a place that searches for a split. Mapping functions split the same
  // way for every point.
  struct SplitMemo {  // the extent that is split
    CodeId code = program::kNoCode;
    std::int64_t n = 0;  // the extent that is split
    OperationArguments given;
    Coordinates parts;
  };

  Diagnostic& fail(DiagId id, Range range, std::vector<DiagArg> args);
  Value fail_type(Range range, std::string_view what, std::string_view needs, const Value& found);
  bool tick(std::int64_t steps, Range range);
  const Code& code(CodeId id) const { return data_.code[id]; }
  std::string_view function_name(FunctionId function) const;

  Value run_body(program::List body);
  void print(const program::Action& action);
  Value eval(CodeId id);
  Value eval_at(CodeId id, const Code& node);
  Value constant(const Code& node) const;
  Value broken(const Code& node);
  Value global(const Code& node);
  Value tuple(const Code& node);
  Value make_tuple(std::vector<Value> values, Range range);
  Value comprehension(const Code& node);
  Value negate(const Code& node);
  Value binary(const Code& node);
  Value arithmetic(const Code& node, const Value& left, const Value& right);
  Value integer_op(const Code& node, std::int64_t left, std::int64_t right);
  Value compare(const Code& node, const Value& left, const Value& right);
  bool equal(const Code& node, const Value& left, const Value& right);
  bool truth(CodeId id, std::string_view what);
  Value conditional(const Code& node);
  Value index(const Code& node);
  Value index_tuple(const Code& node, const std::vector<Value>& values);
  Value slice(const Code& node);
  bool slice_end(CodeId id, std::int64_t length, std::int64_t missing, std::int64_t* end);
  Value call(const Code& node);
  bool check_parameter(const program::Parameter& parameter, const Element& argument,
                       std::string_view callee);
  Value member(const Code& node);
  Value task_member(const Code& node, TaskValue task);
  std::vector<Element> elements(std::uint32_t begin, std::uint32_t count);

  // Machines: machine_ops.cc.
  Value machine(const Code& node);
  Value index_machine(const Code& node, const MachineView& view);
  bool check_index(const Code& node, const MachineView& view, const std::vector<Element>& index);
  std::optional<Processor> processor_at(const Code& node, const MachineView& view,
                                        const Coordinates& index);
  Value method(CodeId id, const Code& node);
  Value machine_method(CodeId id, const Code& node, const MachineView& view,
                       const std::vector<Element>& args);
  std::optional<OperationArguments> operation_arguments(const Code& node, const MachineView& view,
                                                        const std::vector<Element>& args);
  Value result_of(const Code& node, const std::vector<Element>& args, Applied applied);
  std::optional<std::vector<std::int64_t>> integers(const Value& value, Range range,
                                                    std::string_view what);
  Value has(const Code& node, const Value& base, const Element& memory);
  Value task_processor(const Code& node, const Value& base, const Element& machine);
  Value make_view(const Code& node, MachineView view);

  const program::Data& data_;
  const Machine& machine_;
  std::vector<Value>& globals_;
  LogSink* log_;
  Diagnostics* diags_ = nullptr;
  const TaskPoint* task_ = nullptr;
  FunctionId mapping_function_ = 0;
  std::vector<Frame> frames_;
  std::array<SplitMemo, 8> memos_;
  std::size_t next_memo_ = 0;
  std::int64_t steps_ = 0, max_steps_ = kMaxSteps, all_steps_ = 0;
  int printed_lines_ = 0;
  int depth_ = 0;  // nesting of eval, through expressions and calls
  bool failed_ = false;
  std::array<bool, kProcKindCount> looked_at_{};  // see warn_of_unequal_nodes
  Diagnostic dropped_;
};

}  // namespace groma::mapper
