// Evaluation of a program on a machine: bind its globals, then ask where a task's point goes. This
// is the reference: plain, and what every faster way is compared with.
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
#include "groma/program.h"

namespace groma {

namespace mapper {
struct Binding;
}

// Steps of one evaluation: operations carried out and tuple items made. A mapping function of the
// paper takes 10 to 40; a million take some 0.1 s.
inline constexpr std::int64_t kMaxSteps = 1'000'000;
// Items of one tuple, those of the tuples in it counted too.
inline constexpr std::int64_t kMaxTupleItems = 65'536;
// Dimensions of a machine view, and operations that made it one of another.
inline constexpr int kMaxViewDimensions = 32;
inline constexpr int kMaxViewOperations = 256;
// Lines that `print` writes before it falls silent, for a binding and for an FunctionEvaluator
// each.
inline constexpr int kMaxPrintLines = 1'000;

// A program whose globals have their values on one machine. Cheap to copy; immutable; safe to read
// from any thread.
class BoundProgram {
 public:
  const Program& program() const;
  const Machine& machine() const;
  std::shared_ptr<const Machine> shared_machine() const;  // the same, as a MapperSite wants it

  const mapper::Binding& binding() const { return *binding_; }  // lib/mapper/binding.h
  explicit BoundProgram(std::shared_ptr<const mapper::Binding> binding)
      : binding_(std::move(binding)) {}

 private:
  std::shared_ptr<const mapper::Binding> binding_;
};

// Carries out the program's assignments and prints, in order. Nothing when the program has errors
// or one of them fails, which `diags` (of program.source()) then says. `log` may be null.
std::optional<BoundProgram> bind(const Program& program, Machine machine, Diagnostics& diags,
                                 LogSink* log = nullptr);

// What a mapping function can ask of its task.
struct TaskPoint {
  std::string_view name;
  // Of an index launch: its domain and the point in it, both with lower corners as launched.
  Rect domain;
  Point point;
  // Of a single task: the processor on which it stands before it is mapped, and its parent's.
  std::optional<Processor> processor;
  std::optional<Processor> parent;
  std::string_view parent_name;
};

// Where a function sends a point: a processor, or several of which the first decides node and
// shard.
struct Placed {
  std::vector<Processor> processors;  // never empty
  // Whether the function returned a set (`m[0, *]`), be it of one.
  bool is_set = false;
};

// Evaluates mapping functions of one bound program. Keeps what it needs between points, so make one
// and ask it often. Not thread-safe; make one for each thread.
class FunctionEvaluator {
 public:
  explicit FunctionEvaluator(BoundProgram bound, LogSink* log = nullptr);
  ~FunctionEvaluator();
  FunctionEvaluator(FunctionEvaluator&&) noexcept;
  FunctionEvaluator& operator=(FunctionEvaluator&&) noexcept;

  // Where `function`, which must be a mapping function, sends that point. Nothing when the
  // evaluation fails or takes more than kMaxSteps; `diags` then has one error with the function and
  // the point. `kind`, where known, is what the task runs on: another kind is
  // `processor-kind-mismatch`.
  std::optional<Placed> place(FunctionId function, const TaskPoint& task,
                              std::optional<ProcKind> kind, Diagnostics& diags);

  // Steps of all evaluations so far.
  std::int64_t steps() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace groma
