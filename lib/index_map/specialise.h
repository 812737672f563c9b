// Evaluates a mapping function once for a whole launch instead of once for each point. Everything
// except the point is known. Values that depend on the point become expressions of its coordinates.
//
// Every possible failure at some point becomes part of one condition, `needs_reference`. Where it
// holds, the result claims nothing and the reference evaluator decides. So the condition may hold
// too often but never too seldom.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "evaluate/binding.h"
#include "evaluate/machine_view.h"
#include "evaluate/value.h"
#include "evaluate/view_operations.h"
#include "groma/evaluate.h"
#include "index_map/expressions.h"

namespace groma::mapper {

// The result of a function: a processor of a kind, or a set that an index with `*` makes. The
// numbers (ids) of its results begin at `base`: base + node * stride + index, for the node and
// index of the first processor. The first processor identifies a set among all sets of its shape,
// since different indices of a view lead to different processors.
struct ResultShape {
  bool is_set = false;
  ProcKind kind = ProcKind::kCpu;
  std::int64_t base = 0, stride = 0, count = 0;
  // For a set of processors: the view that the mapping function indexed. `star_dimensions` has the
  // dimensions whose index was `*`.
  std::shared_ptr<const MachineView> view;
  std::vector<std::size_t> star_dimensions;
};

// A mapping function that was specialised to a launch.
struct SpecialisedFunction {
  ExpressionGraph expressions;
  // The expression for the number (id) of the result. kNoExpr if the function cannot be
  // specialised.
  ExprId result_number = kNoExpr;
  // The expression for the node of the result's first processor. Set only if all results have one
  // shape.
  ExprId node = kNoExpr;
  // The expression for the condition under which the result is not known, so that the reference
  // evaluator must evaluate the point.
  ExprId needs_reference = kNoExpr;
  // The shapes of the results. The first kProcKindCount are single processors by kind.
  std::vector<ResultShape> shapes;
};

// Returns the shapes of single processors on that machine.
std::vector<ResultShape> shapes_of_single_processors(const Machine& machine);

// Specialises a function to a launch. `launch.point` is ignored. `kind` is as in
// FunctionEvaluator::place. `diags` gets warnings that do not depend on the point.
SpecialisedFunction specialise_function(const BoundProgram& bound, FunctionId function,
                                        const TaskPoint& launch, std::optional<ProcKind> kind,
                                        Diagnostics& diags);

// ------------------------------------------------------------------------------- implementation

// A value that may depend on the point.
struct PartialValue;
struct PartialTuple {
  std::vector<PartialValue> values;
  std::int64_t items = 0;
  int depth = 1;
};
// The next structs hold an integer, a truth value and a processor as expressions of the
// coordinates.
struct PartialNumber {
  ExprId id;
};
struct PartialTruth {
  ExprId id;
};
struct PartialProcessor {
  ProcKind kind;
  ExprId node, index;
};
// A set of processors, or a processor that may have one of several shapes. A function can return
// such a value, but nothing else can be done with it.
struct PartialProcessorChoice {
  ExprId id;
  // True if the result is a set of one shape.
  bool set = false;
};
struct PartialValue {
  std::variant<std::monostate, PartialNumber, PartialTruth, std::shared_ptr<const PartialTuple>,
               std::shared_ptr<const std::string>, std::shared_ptr<const MachineView>, TaskValue,
               PartialProcessor, PartialProcessorChoice, ProcKind, MemKind>
      v;
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&v);
  }
  const MachineView* as_machine() const {
    const auto* shared = get<std::shared_ptr<const MachineView>>();
    return shared == nullptr ? nullptr : shared->get();
  }
};

// Evaluates a mapping function with values that may depend on the point. Its functions correspond
// to those of Interpreter. A failure means that the reference evaluator must evaluate the points.
class FunctionSpecialiser {
 public:
  FunctionSpecialiser(const BoundProgram& bound, FunctionId function, const TaskPoint& launch,
                      Diagnostics& diags);
  void run_function(std::optional<ProcKind> kind);
  SpecialisedFunction take() { return std::move(made_); }

 private:
  using Code = program::CodeNode;
  using CodeId = program::CodeId;
  struct PartialElement {
    PartialValue value;
    bool all = false;
  };
  using Values = std::vector<PartialValue>;
  using Integers = std::vector<std::int64_t>;

  // fail_expression() records that this expression fails or cannot be specialised; the returned
  // value then does not matter. fail_function() records the same for the whole function.
  PartialValue fail_expression();
  PartialValue fail_function();
  bool count_steps(std::int64_t steps);
  const Code& code_of(CodeId id) const { return data_.code[id]; }
  PartialValue make_number(std::int64_t value) {
    return {PartialNumber{made_.expressions.make_constant(value)}};
  }
  PartialValue partial_value_of(const ProgramValue& value);
  // Adds `fails` to the condition `unsure_`, limited to the points at which the current code is
  // evaluated.
  void note_failure(ExprId fails);

  PartialValue run_function_body(program::IndexRange body);
  void run_print(const program::ExecutableStatement& action);
  PartialValue evaluate_code(CodeId id);
  PartialValue evaluate_node(CodeId id, const Code& node);
  PartialValue evaluate_constant(const Code& node);
  PartialValue make_tuple(Values values);
  PartialValue evaluate_comprehension(const Code& node);
  PartialValue evaluate_binary(const Code& node);
  PartialValue apply_arithmetic(program::Op op, const PartialValue& left,
                                const PartialValue& right);
  PartialValue apply_integer_op(program::Op op, ExprId left, ExprId right);
  PartialValue compare_values(program::Op op, const PartialValue& left, const PartialValue& right);
  ExprId make_equal(const PartialValue& left, const PartialValue& right);

  // The next functions evaluate conditions, indices, slices, calls and members
  // (specialise_choice.cc).
  ExprId evaluate_truth(CodeId id);
  PartialValue evaluate_logical(const Code& node);
  PartialValue evaluate_conditional(const Code& node);
  // Evaluates the code `id` for the points at which the condition holds, and writes its value to
  // `value`. Returns false if it fails there.
  bool evaluate_under_condition(ExprId condition, CodeId id, PartialValue* value);
  PartialValue merge_values(ExprId condition, const PartialValue& a, const PartialValue& b);
  PartialValue merge_tuples(ExprId condition, const PartialTuple& a, const PartialTuple& b);
  PartialValue evaluate_index(const Code& node);
  PartialValue index_tuple(const Code& node, const Values& values);
  PartialValue evaluate_slice(const Code& node);
  bool evaluate_slice_end(CodeId id, std::int64_t length, std::int64_t missing, std::int64_t* end);
  PartialValue evaluate_call(const Code& node);
  bool check_parameter(const program::FunctionParameter& parameter, const PartialValue& argument);
  PartialValue evaluate_member(const Code& node);
  PartialValue rank_of_point();
  PartialValue evaluate_task_member(const Code& node, TaskValue task);
  std::vector<PartialElement> evaluate_elements(std::uint32_t begin, std::uint32_t count);
  std::shared_ptr<const Values> tuple_values(const PartialValue& value) const;
  std::shared_ptr<const Values> sizes_as_values(const MachineView& view);
  std::optional<std::int64_t> known_integer(const PartialValue& value) const;
  std::int64_t printed_bytes(const PartialValue& value) const;

  // The next functions evaluate expressions with machines (specialise_machine.cc).
  PartialValue evaluate_machine(const Code& node);
  PartialValue index_machine(const Code& node, const std::shared_ptr<const MachineView>& view);
  PartialValue make_processor_set(const std::shared_ptr<const MachineView>& view,
                                  std::vector<ExprId> index, std::vector<std::size_t> open);
  PartialProcessor processor_at(const MachineView& view, std::vector<ExprId> index);
  void undo_operation(const MachineView::ViewOperation& step, std::vector<ExprId>& index);
  PartialValue evaluate_method(const Code& node);
  PartialValue evaluate_machine_method(const Code& node, const MachineView& view,
                                       const std::vector<PartialElement>& args);
  std::optional<OperationArguments> operation_arguments(const Code& node, const MachineView& view,
                                                        const std::vector<PartialElement>& args);
  std::optional<Integers> known_integers(const PartialValue& value);
  PartialValue has_memory(const PartialValue& base, const PartialValue& memory);
  PartialValue index_of_task_processor(const PartialValue& base, const PartialValue& machine);
  PartialValue make_machine_value(MachineView view);
  ExprId number_of_processor(const ResultShape& shape, ExprId node, ExprId index);
  std::optional<ExprId> number_of_result(const PartialValue& value);

  const program::ProgramData& data_;
  const Machine& machine_;
  const std::vector<ProgramValue>& globals_;
  const TaskPoint& task_;
  FunctionId function_;
  Diagnostics& diags_;
  SpecialisedFunction made_;
  std::vector<Values> frames_;
  ExprId current_condition_, unsure_;
  std::int64_t steps_ = 0;
  int depth_ = 0;
  bool failed_ = false, gave_up_ = false;
};

}  // namespace groma::mapper
