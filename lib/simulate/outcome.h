// Outcome: the result of a run while the run is under way, and everything that ends a run early:
// refused answers of mappers, faults of the application, and the limits of memory and work.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "groma/simulate.h"

namespace groma::sim {

class Outcome {
 public:
  static constexpr int kBetweenCounts = 16;

  struct Limits {
    std::int64_t max_bytes = 0;
    // Returns the approximate memory of the run in bytes.
    std::function<std::int64_t()> bytes;
    // Returns true if the run must end for another reason than memory.
    std::function<bool()> stops;
  };

  // `application` is the name of the application, for error messages. It must outlive the object.
  Outcome(std::string_view application, Limits limits);
  Outcome(const Outcome&) = delete;
  Outcome& operator=(const Outcome&) = delete;

  // Returns true if an error or a limit has ended the run.
  bool over() const { return over_; }
  RunResult& result() { return result_; }
  const RunResult& result() const { return result_; }
  Budget& budget() { return budget_; }
  const Budget& budget() const { return budget_; }
  // Returns the memory that the run may still take, in bytes. It may be negative.
  std::int64_t bytes_left() const { return limits_.max_bytes - limits_.bytes(); }

  // Counts work on the budget of the run. Returns false if a limit has ended the run.
  bool spend(std::int64_t units) {
    if (!budget_.spend(units)) return true;
    end_by_budget();
    return false;
  }
  // Returns true if the run may go on with `more` additional bytes of memory: the memory is within
  // the limit, and nothing ends the run. Otherwise ends the run with a message that names `task`.
  // If `more` is 0, only one of kBetweenCounts calls adds up the memory of the run, since adding it
  // up takes longer than mapping a requirement.
  bool within_limits(std::string_view task, std::int64_t more = 0);
  // Ends the run because it needs more memory than allowed. Returns false.
  bool fail_of_memory(std::string_view task);
  // Ends the run with these refusals, or, if the budget is exceeded, for that reason. Only the
  // first end of a run counts. Returns true if the refusals are now those of the run.
  bool refuse(RunStatus status, std::vector<Refusal> refusals, std::string raw);
  // Ends the run with the diagnostic `cannot-run`. `place` is the faulty part of the application.
  // Returns false.
  bool fail(std::string_view task, const std::string& why, std::string_view place = {},
            RunStatus status = RunStatus::kExecuteError);
  // Forgets the end of the run and its refusals, so that the run goes on.
  void resume();

 private:
  void end_by_budget();

  const std::string_view application_;
  const Limits limits_;
  Budget budget_;
  RunResult result_;
  bool over_ = false;
  // The number of calls of within_limits() since the memory was last added up.
  int calls_since_count_ = 0;
};

}  // namespace groma::sim
