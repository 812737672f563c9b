// Specialise: evaluates a mapping function once for a whole launch instead of once for each point.
// Everything except the point is known. Values that depend on the point become expressions of its
// coordinates.
//
// Every possible failure at some point becomes part of one condition, `unsure`. Where `unsure`
// holds, the result claims nothing and the reference evaluator decides. So `unsure` may hold too
// often but never too seldom.
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
struct Shape {
  bool is_set = false;
  ProcKind kind = ProcKind::kCpu;
  std::int64_t base = 0, stride = 0, count = 0;
  // For sets: the indexed view, and the dimensions of `*`.
  std::shared_ptr<const MachineView> view;
  std::vector<std::size_t> open;
};

// A mapping function that was specialised to a launch.
struct Specialised {
  Expressions expressions;
  // The number of the result. kNoExpr: the function cannot be specialised.
  ExprId id = kNoExpr;
  // The node of the result's first processor. Set only if there is one shape.
  ExprId node = kNoExpr;
  // The condition under which the reference evaluator must be asked.
  ExprId unsure = kNoExpr;
  // The shapes of the results. The first kProcKindCount are single processors by kind.
  std::vector<Shape> shapes;
};

// Returns the shapes of single processors on that machine.
std::vector<Shape> processor_shapes(const Machine& machine);

// Specialises a function to a launch. `launch.point` is ignored. `kind` is as in
// FunctionEvaluator::place. `diags` gets warnings that do not depend on the point.
Specialised specialise(const BoundProgram& bound, FunctionId function, const TaskPoint& launch,
                       std::optional<ProcKind> kind, Diagnostics& diags);

// ------------------------------------------------------------------------------- implementation

// A value that may depend on the point.
struct Partial;
struct PartialTuple {
  std::vector<Partial> values;
  std::int64_t items = 0;
  int depth = 1;
};
// An integer, a bool and a processor as expressions of the coordinates.
struct Number {
  ExprId id;
};
struct Truth {
  ExprId id;
};
struct PartialProcessor {
  ProcKind kind;
  ExprId node, index;
};
// A set, or a processor that may have one of several shapes. A function can return it, but nothing
// else can be done with it.
struct Places {
  ExprId id;
  // True if the result is a set of one shape.
  bool set = false;
};
struct Partial {
  std::variant<std::monostate, Number, Truth, std::shared_ptr<const PartialTuple>,
               std::shared_ptr<const std::string>, std::shared_ptr<const MachineView>, TaskValue,
               PartialProcessor, Places, ProcKind, MemKind>
      v;
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&v);
  }
  const MachineView* machine() const {
    const auto* shared = get<std::shared_ptr<const MachineView>>();
    return shared == nullptr ? nullptr : shared->get();
  }
};

// Evaluates a function with values that may depend on the point. The functions correspond to those
// of the Interpreter. A failure means that the reference evaluator must be asked.
class Specialiser {
 public:
  Specialiser(const BoundProgram& bound, FunctionId function, const TaskPoint& launch,
              Diagnostics& diags);
  void run(std::optional<ProcKind> kind);
  Specialised take() { return std::move(made_); }

 private:
  using Code = program::CodeNode;
  using CodeId = program::CodeId;
  struct Element {
    Partial value;
    bool all = false;
  };
  using Values = std::vector<Partial>;
  using Integers = std::vector<std::int64_t>;

  // fail() notes that this expression fails or cannot be specialised; the value then does not
  // matter. give_up() notes the same for the whole function.
  Partial fail();
  Partial give_up();
  bool tick(std::int64_t steps);
  const Code& code(CodeId id) const { return data_.code[id]; }
  Partial number(std::int64_t value) { return {Number{made_.expressions.constant(value)}}; }
  Partial from_value(const ProgramValue& value);
  // Adds the condition `fails`, as far as the current condition holds, to `unsure`.
  void note_failure(ExprId fails);

  Partial run_body(program::IndexRange body);
  void print(const program::ExecutableStatement& action);
  Partial eval(CodeId id);
  Partial eval_at(CodeId id, const Code& node);
  Partial constant(const Code& node);
  Partial make_tuple(Values values);
  Partial comprehension(const Code& node);
  Partial binary(const Code& node);
  Partial arithmetic(program::Op op, const Partial& left, const Partial& right);
  Partial integer_op(program::Op op, ExprId left, ExprId right);
  Partial compare(program::Op op, const Partial& left, const Partial& right);
  ExprId equal(const Partial& left, const Partial& right);

  // Choices. These functions are in specialise_choice.cc.
  ExprId truth(CodeId id);
  Partial logical(const Code& node);
  Partial conditional(const Code& node);
  // Evaluates `id` under `condition`. Returns true if there is a value.
  bool eval_under(ExprId condition, CodeId id, Partial* value);
  Partial merge(ExprId condition, const Partial& a, const Partial& b);
  Partial merge_tuples(ExprId condition, const PartialTuple& a, const PartialTuple& b);
  Partial index(const Code& node);
  Partial index_tuple(const Code& node, const Values& values);
  Partial slice(const Code& node);
  bool slice_end(CodeId id, std::int64_t length, std::int64_t missing, std::int64_t* end);
  Partial call(const Code& node);
  bool check_parameter(const program::FunctionParameter& parameter, const Partial& argument);
  Partial member(const Code& node);
  Partial task_member(const Code& node, TaskValue task);
  std::vector<Element> elements(std::uint32_t begin, std::uint32_t count);
  std::shared_ptr<const Values> tuple_values(const Partial& value) const;
  std::shared_ptr<const Values> sizes_of(const MachineView& view);
  std::optional<std::int64_t> known(const Partial& value) const;
  std::int64_t text_bytes(const Partial& value) const;

  // Machines. These functions are in specialise_machine.cc.
  Partial machine(const Code& node);
  Partial index_machine(const Code& node, const std::shared_ptr<const MachineView>& view);
  Partial set_of(const std::shared_ptr<const MachineView>& view, std::vector<ExprId> index,
                 std::vector<std::size_t> open);
  PartialProcessor processor_at(const MachineView& view, std::vector<ExprId> index);
  void step_back(const MachineView::ViewOperation& step, std::vector<ExprId>& index);
  Partial method(const Code& node);
  Partial machine_method(const Code& node, const MachineView& view,
                         const std::vector<Element>& args);
  std::optional<OperationArguments> operation_arguments(const Code& node, const MachineView& view,
                                                        const std::vector<Element>& args);
  std::optional<Integers> integers(const Partial& value);
  Partial has(const Partial& base, const Partial& memory);
  Partial task_processor(const Partial& base, const Partial& machine);
  Partial make_view(MachineView view);
  ExprId id_of(const Shape& shape, ExprId node, ExprId index);
  std::optional<ExprId> number_of_result(const Partial& value);

  const program::ProgramData& data_;
  const Machine& machine_;
  const std::vector<ProgramValue>& globals_;
  const TaskPoint& task_;
  FunctionId function_;
  Diagnostics& diags_;
  Specialised made_;
  std::vector<Values> frames_;
  ExprId guard_, unsure_;
  std::int64_t steps_ = 0;
  int depth_ = 0;
  bool failed_ = false, hopeless_ = false;
};

}  // namespace groma::mapper
