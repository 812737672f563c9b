// Counts the steps of an evaluation, reports its first failure, and limits the size of its tuples.
#include "evaluate/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace groma::mapper {
namespace {

// Returns a point as the language writes a tuple: "(1, 2)" or "(1,)".
std::string coordinates_text(const Point& point) {
  std::string text = "(";
  for (int i = 0; i < point.dimensions(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", point[i]);
  return text + (point.dimensions() == 1 ? ",)" : ")");
}

}  // namespace

// Begins the evaluation of a top-level statement. It belongs to no task, so messages name no task.
void Evaluation::begin_top_level(std::int64_t max_steps, Diagnostics& diags) {
  diags_ = &diags;
  task_ = nullptr;
  failed_ = false;
  max_steps_ = max_steps;
  frames_.clear();
}

// Begins the evaluation of a mapping function, which may take kMaxSteps steps.
void Evaluation::begin_function(FunctionId function, const TaskPoint& task, Diagnostics& diags) {
  diags_ = &diags;
  task_ = &task;
  mapping_function_ = function;
  failed_ = false;
  max_steps_ = kMaxSteps;
  frames_.clear();
}

void Evaluation::end_evaluation() {
  frames_.clear();
  all_steps_ += std::exchange(steps_, 0);
}

std::string_view Evaluation::function_name(FunctionId function) const {
  return data_.names.text(data_.functions[function].name);
}

// Describes the evaluation for a message. `ipoint` is the point relative to the launch's lower
// corner. It is named only if it differs from the point.
std::string Evaluation::describe_evaluation() const {
  if (task_ == nullptr) return "";
  const bool single = task_->parent || task_->processor;
  if (single && task_->name.empty()) {
    return fmt::format("`{}` maps a single task", mapping_function());
  }
  if (single) {
    return fmt::format("`{}` maps the single task `{}`", mapping_function(), task_->name);
  }
  std::string of =
      fmt::format("`{}` maps point {} of a launch of {}", mapping_function(),
                  coordinates_text(task_->point), coordinates_text(task_->domain.extents));
  const Point& lower = task_->domain.lower;
  Point ipoint = task_->point;
  for (int d = 0; d < ipoint.dimensions(); ++d) ipoint[d] -= lower[d];
  if (ipoint == task_->point) return of;
  return fmt::format("{} that begins at {}, where `ipoint` is {}", of, coordinates_text(lower),
                     coordinates_text(ipoint));
}

// Reports the first failure. The chain of running functions becomes a note, the innermost first,
// and the task becomes another.
Diagnostic& Evaluation::fail_with(DiagId id, Range range, std::vector<DiagArg> args) {
  if (failed_) return dropped_;
  failed_ = true;
  Diagnostic& diagnostic = diags_->add(id, range, std::move(args));
  std::vector<std::string> running;
  if (frames_.size() > 1) {
    std::string chain;
    const std::size_t first = task_ == nullptr ? 1 : 0;  // Frame 0 of the top level has no name.
    for (std::size_t i = frames_.size(); i-- > first;) {
      running.emplace_back(function_name(frames_[i].function));
      chain += fmt::format("{}`{}`", chain.empty() ? "in " : ", called by ", running.back());
    }
    diagnostic.note(chain);
  }
  if (task_ != nullptr) {
    running.emplace_back(mapping_function());
    diagnostic.notes.push_back({"while " + describe_evaluation(), {}, std::move(running)});
  }
  return diagnostic;
}

// Reports that a value has the wrong type. Returns monostate, which stands for the value of a
// failed evaluation.
ProgramValue Evaluation::fail_with_type(Range range, std::string_view what, std::string_view needs,
                                        const ProgramValue& found) {
  fail_with(DiagId::kTypeMismatch, range,
            {std::string(what), std::string(needs), std::string(describe_type(type_of(found)))});
  return {};
}

// Always returns false, so that count_steps() can return its result.
bool Evaluation::report_step_limit(Range range) {
  fail_with(DiagId::kStepLimit, range, {max_steps_})
      .help("compute less for each point, or compute it once in a global");
  return false;
}

// ---- Tuples

// Makes a tuple, or fails if it is too long or too deep. The cost is one step for each value. The
// items of nested tuples count against the limit on items.
ProgramValue make_tuple(Evaluation& run, std::vector<ProgramValue> values, Range range) {
  if (run.failed() || !run.count_steps(static_cast<std::int64_t>(values.size()), range)) return {};
  auto made = std::make_shared<TupleValue>();
  for (const ProgramValue& value : values) {
    const TupleValue* inner = value.as_tuple();
    made->items += inner == nullptr ? 1 : std::max<std::int64_t>(1, inner->items);
    made->depth = std::max(made->depth, inner == nullptr ? 1 : inner->depth + 1);
  }
  // Nested tuples are visited by recursion, so their depth has a lower limit of its own.
  constexpr int kMaxTupleDepth = 64;
  if (made->items > kMaxTupleItems || made->depth > kMaxTupleDepth) {
    const bool deep = made->items <= kMaxTupleItems;
    run.fail_with(deep ? DiagId::kNestingTooDeep : DiagId::kTupleTooLong, range,
                  {deep ? std::int64_t{kMaxTupleDepth} : kMaxTupleItems});
    return {};
  }
  made->values = std::move(values);
  return {std::shared_ptr<const TupleValue>(std::move(made))};
}

// Returns the items as integers. It stops at the first item that is not an integer, and reports it.
std::optional<std::vector<std::int64_t>> integers_of_tuple(Evaluation& run,
                                                           const ProgramValue& value, Range range,
                                                           std::string_view what) {
  if (run.failed()) return std::nullopt;
  std::vector<std::int64_t> made;
  const auto values = tuple_values(value);
  if (!values) {
    run.fail_with_type(range, what, "a tuple of integers", value);
    return std::nullopt;
  }
  if (!run.count_steps(static_cast<std::int64_t>(values->size()), range)) return std::nullopt;
  for (const ProgramValue& item : *values) {
    const auto* given = item.get<std::int64_t>();
    if (given == nullptr) {
      run.fail_with_type(range, what, "a tuple of integers", item);
      return std::nullopt;
    }
    made.push_back(*given);
  }
  return made;
}

}  // namespace groma::mapper
