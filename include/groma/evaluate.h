// Evaluation of a program on a machine: bind its globals, then ask where a task's point goes. This
// is the plain reference implementation, with which every faster one is compared.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/geometry.h"
#include "groma/log.h"
#include "groma/machine.h"
#include "groma/point_set.h"
#include "groma/program.h"

namespace groma {

namespace mapper {
struct ProgramBinding;
}

// Limit on the steps of one evaluation. A step is one operation or one tuple item. A mapping
// function of the paper takes 10 to 40 steps; a million steps take about 0.1 s.
inline constexpr std::int64_t kMaxSteps = 1'000'000;
// Limit on the items of one tuple. The items of nested tuples count too.
inline constexpr std::int64_t kMaxTupleItems = 65'536;
// Limits on the dimensions of a machine view and on the operations that derived it from another
// view.
inline constexpr int kMaxViewDimensions = 32;
inline constexpr int kMaxViewOperations = 256;
// Limit on the lines that `print` writes; further lines are dropped. It holds for each binding and
// for each FunctionEvaluator.
inline constexpr int kMaxPrintLines = 1'000;

// A program whose globals have their values on one machine. Cheap to copy, immutable, and safe to
// read from any thread.
class BoundProgram {
 public:
  const Program& program() const;
  const Machine& machine() const;
  // Returns machine() as the shared pointer that a MapperSite needs.
  std::shared_ptr<const Machine> shared_machine() const;

  const mapper::ProgramBinding& binding() const { return *binding_; }  // lib/evaluate/binding.h
  explicit BoundProgram(std::shared_ptr<const mapper::ProgramBinding> binding)
      : binding_(std::move(binding)) {}

 private:
  std::shared_ptr<const mapper::ProgramBinding> binding_;
};

// Executes the program's assignments and prints, in order. Returns nullopt if the program has
// errors or an assignment or print fails; `diags` (of program.source()) then has the reason. `log`
// may be null.
std::optional<BoundProgram> bind(const Program& program, Machine machine, Diagnostics& diags,
                                 LogSink* log = nullptr);

// The task properties that a mapping function can read.
struct TaskPoint {
  std::string_view name;
  // For an index launch: its domain and the point in it. Both have the lower corners of the launch.
  Rect domain;
  Point point;
  // The points of the launch. Null: every point of `domain`. Otherwise `domain` is a box around
  // them, and `point` is one of them.
  const PointSet* points = nullptr;
  LaunchDomain launch_domain() const { return {domain, points}; }
  // For a single task: the processor that holds the task before it is mapped, and the parent's
  // processor.
  std::optional<Processor> processor;
  std::optional<Processor> parent;
  std::string_view parent_name;
};

// The place to which a function sends a point: one processor, or a set of them. The first processor
// of a set decides node and shard.
struct PointTarget {
  // The processors that the function chose. The list is never empty.
  std::vector<Processor> processors;
  // True if the function returned a set (`m[0, *]`), even a set of one processor.
  bool is_set = false;
};

// Evaluates mapping functions of one bound program. It keeps its buffers between points, so make
// one evaluator and call it often. Not thread-safe: make one for each thread.
class FunctionEvaluator {
 public:
  // `log` receives what the functions print. It may be null, and must outlive the evaluator.
  explicit FunctionEvaluator(BoundProgram bound, LogSink* log = nullptr);
  ~FunctionEvaluator();
  FunctionEvaluator(FunctionEvaluator&&) noexcept;
  FunctionEvaluator& operator=(FunctionEvaluator&&) noexcept;

  // Returns where `function` sends this point. `function` must be a mapping function. Returns
  // nullopt if the evaluation fails or takes more than kMaxSteps steps; `diags` then has one error
  // with the function and the point. `kind`, if known, is the processor kind of the task: a result
  // of another kind is the error `processor-kind-mismatch`.
  std::optional<PointTarget> place(FunctionId function, const TaskPoint& task,
                                   std::optional<ProcKind> kind, Diagnostics& diags);

  // Returns the steps of all evaluations so far.
  std::int64_t steps() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace groma
