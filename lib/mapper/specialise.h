// Specialising: a mapping function carried out once for a whole launch. Everything but the point is
// known; what depends on the point becomes expressions of its coordinates.
//
// What might fail at some point becomes part of one truth, `unsure`: where it holds nothing else is
// claimed, and the reference evaluation decides. So it may hold too often, never too seldom.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "groma/evaluate.h"
#include "mapper/binding.h"
#include "mapper/expressions.h"
#include "mapper/machine_view.h"
#include "mapper/value.h"
#include "mapper/view_operations.h"

namespace groma::mapper {

// What a function returns: a processor of a kind, or a set that an index with `*` makes. Numbers
// (ids) for its results begin at `base`: base + node * stride + index of the first processor. The
// first processor tells a set apart from all others of its shape, since no two indices of a view
// lead to one processor.
struct Shape {
  bool is_set = false;
  ProcKind kind = ProcKind::kCpu;
  std::int64_t base = 0, stride = 0, count = 0;
  std::shared_ptr<const MachineView> view;  // sets: what was indexed, and the dimensions of `*`
  std::vector<std::size_t> open;
};

struct Specialised {
  Expressions expressions;
  ExprId id = kNoExpr;        // kNoExpr: the function cannot be specialised
  ExprId node = kNoExpr;      // of the first processor, where one shape is all there is
  ExprId unsure = kNoExpr;    // the truth that the reference has to be asked
  std::vector<Shape> shapes;  // the first kProcKindCount: single processors by kind
};

// The shapes of single processors on that machine.
std::vector<Shape> processor_shapes(const Machine& machine);

// `launch.point` is not read. `kind`: as FunctionEvaluator::place. `diags` gets warnings that do
// not depend on the point.
Specialised specialise(const BoundProgram& bound, FunctionId function, const TaskPoint& launch,
                       std::optional<ProcKind> kind, Diagnostics& diags);

// ------------------------------------------------------------------------------- how it is done

// A value that may depend on the point.
struct Partial;
struct PartialTuple {
  std::vector<Partial> values;
  std::int64_t items = 0;
  int depth = 1;
};
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
// A set, or one of processors of several shapes: good for being returned.
struct Places {
  ExprId id;
  bool set = false;  // of one shape, a set
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

// Follows the interpreter, function by function. A failure means: ask the reference.
class Specialiser {
 public:
  Specialiser(const BoundProgram& bound, FunctionId function, const TaskPoint& launch,
              Diagnostics& diags);
  void run(std::optional<ProcKind> kind);
  Specialised take() { return std::move(made_); }

 private:
  using Code = program::Code;
  using CodeId = program::CodeId;
  struct Element {
    Partial value;
    bool all = false;
  };
  using Values = std::vector<Partial>;
  using Integers = std::vector<std::int64_t>;

  // The value of a function that failed: nothing.
  Partial fail();
  Partial hopeless();
  bool tick(std::int64_t steps);
  const Code& code(CodeId id) const { return data_.code[id]; }
  Partial number(std::int64_t value) { return {Number{made_.expressions.constant(value)}}; }
  Partial from_value(const Value& value);
  void check(ExprId fails);  // on the way to where we are

  Partial run_body(program::List body);
  void print(const program::Action& action);
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

  // Choices: specialise_choice.cc.
  ExprId truth(CodeId id);
  Partial logical(const Code& node);
  Partial conditional(const Code& node);
  // The value of `id` where `condition` holds; whether there is one.
  bool guarded(ExprId condition, CodeId id, Partial* value);
  Partial merge(ExprId condition, const Partial& a, const Partial& b);
  Partial merge_tuples(ExprId condition, const PartialTuple& a, const PartialTuple& b);
  Partial index(const Code& node);
  Partial index_tuple(const Code& node, const Values& values);
  Partial slice(const Code& node);
  bool slice_end(CodeId id, std::int64_t length, std::int64_t missing, std::int64_t* end);
  Partial call(const Code& node);
  bool check_parameter(const program::Parameter& parameter, const Partial& argument);
  Partial member(const Code& node);
  Partial task_member(const Code& node, TaskValue task);
  std::vector<Element> elements(std::uint32_t begin, std::uint32_t count);
  std::shared_ptr<const Values> tuple_values(const Partial& value) const;
  std::shared_ptr<const Values> sizes_of(const MachineView& view);
  std::optional<std::int64_t> known(const Partial& value) const;
  std::int64_t text_bytes(const Partial& value) const;

  // Machines: specialise_machine.cc.
  Partial machine(const Code& node);
  Partial index_machine(const Code& node, const std::shared_ptr<const MachineView>& view);
  Partial set_of(const std::shared_ptr<const MachineView>& view, std::vector<ExprId> index,
                 std::vector<std::size_t> open);
  PartialProcessor processor_at(const MachineView& view, std::vector<ExprId> index);
  void step_back(const MachineView::Step& step, std::vector<ExprId>& index);
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
  std::optional<ExprId> places(const Partial& value);

  const program::Data& data_;
  const Machine& machine_;
  const std::vector<Value>& globals_;
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
