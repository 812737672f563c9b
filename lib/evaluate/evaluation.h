// Evaluation: the state of the evaluation of one function or top-level statement: its task, the
// calls that are running, the steps so far, and the first failure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evaluate/value.h"
#include "groma/evaluate.h"
#include "program/data.h"

namespace groma::mapper {

// An evaluated item of an index list or of an argument list.
struct EvaluatedItem {
  ProgramValue value;
  Range range;
  // True if the item is a bare `*`, which has no value.
  bool is_star = false;
};

class Evaluation {
 public:
  explicit Evaluation(const program::ProgramData& data) : data_(data) {}

  // Begins the evaluation of a top-level statement or of a mapping function for a task. `task` and
  // `diags` are used until the next call.
  void begin_top_level(std::int64_t max_steps, Diagnostics& diags);
  void begin_function(FunctionId function, const TaskPoint& task, Diagnostics& diags);
  // Ends the evaluation. Its steps no longer count for the step limit.
  void end_evaluation();

  // Return the task and the mapping function of the evaluation. There is no task at top level.
  bool has_task() const { return task_ != nullptr; }
  const TaskPoint& task() const { return *task_; }
  std::string_view task_name() const { return task_ == nullptr ? "" : task_->name; }
  std::string_view mapping_function() const { return function_name(mapping_function_); }
  std::string_view function_name(FunctionId function) const;

  // Add or remove the frame of a called function, which holds the values of its variables. The top
  // level counts as function 0.
  void push_frame(FunctionId function, std::vector<ProgramValue> slots) {
    frames_.push_back({function, std::move(slots)});
  }
  void pop_frame() { frames_.pop_back(); }
  std::vector<ProgramValue>& local_slots() { return frames_.back().slots; }
  FunctionId running_function() const { return frames_.back().function; }

  // Counts evaluation steps. Returns false after a failure or if the step limit is exceeded. The
  // error about the limit points to `range`.
  bool count_steps(std::int64_t steps, Range range) {
    steps_ += steps;
    return steps_ <= max_steps_ ? !failed_ : report_step_limit(range);
  }
  // Returns the number of steps of all evaluations so far.
  std::int64_t steps_so_far() const { return all_steps_ + steps_; }

  bool failed() const { return failed_; }
  // Reports the first failure, with the functions and the point in which it happened, and returns
  // its diagnostic. A later failure is dropped: the caller gets a diagnostic that is never shown.
  Diagnostic& fail_with(DiagId id, Range range, std::vector<DiagArg> args);
  // Reports that a value has the wrong type. Returns monostate.
  ProgramValue fail_with_type(Range range, std::string_view what, std::string_view needs,
                              const ProgramValue& found);
  // Returns the diagnostics that receive the warnings and the first failure of the evaluation.
  Diagnostics& diags() { return *diags_; }

  // Describes the evaluation for a message: "`f` maps point (1, 5) of a launch of (11, 11) that
  // begins at (1, 1), where `ipoint` is (0, 4)" and similar.
  std::string describe_evaluation() const;

 private:
  struct FunctionFrame {
    FunctionId function;
    std::vector<ProgramValue> slots;
  };
  bool report_step_limit(Range range);

  const program::ProgramData& data_;
  Diagnostics* diags_ = nullptr;
  const TaskPoint* task_ = nullptr;
  FunctionId mapping_function_ = 0;
  std::vector<FunctionFrame> frames_;
  std::int64_t steps_ = 0, max_steps_ = kMaxSteps, all_steps_ = 0;
  bool failed_ = false;
  Diagnostic dropped_;
};

// Returns a tuple of the values. Fails if the tuple has too many items or is nested too deep.
ProgramValue make_tuple(Evaluation& run, std::vector<ProgramValue> values, Range range);
// Returns the items of a tuple of integers, or nullopt after it has reported an error. The error
// calls the value `what`.
std::optional<std::vector<std::int64_t>> integers_of_tuple(Evaluation& run,
                                                           const ProgramValue& value, Range range,
                                                           std::string_view what);

}  // namespace groma::mapper
