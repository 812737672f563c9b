// ProgramRunner: runs of a real program that verify a mapping: without a mapping, under a mapping,
// or recorded.
#pragma once

#include <string>

#include "groma/guide.h"
#include "groma/result.h"
#include "groma/results.h"
#include "groma/run_program.h"
#include "groma/verify.h"

namespace groma::tuning {

// Returns true if the options name a metric that the program prints. Otherwise the value is the run
// time.
bool has_metric(const CommandEvaluatorOptions& metric);

// Returns at most 160 bytes of the first line of the text, for a message.
std::string first_line(const std::string& text);

// Runs a program repeatedly and keeps the output of the last run.
class ProgramRunner {
 public:
  // `results` compares the program's output under a mapping with its output without one. With null,
  // nothing is compared. `results` and `rules` must outlive the object.
  ProgramRunner(ProgramRun run, Results* results, const GuideRules& rules);
  ProgramRunner(const ProgramRunner&) = delete;
  ProgramRunner& operator=(const ProgramRunner&) = delete;

  // Runs the program under the mapping. If `checked` is true, Legion's own checks are on, which
  // makes the run slower.
  Result<ProgramResult> run_under_mapping(const VerifyCandidate& mapping, bool checked);
  // Runs the program with its own mapper and writes the recording of the run to the file.
  Result<ProgramResult> run_and_record(const std::string& file);
  // Runs the program without Groma, as a reference for the results. Returns why the run failed; an
  // empty string if it succeeded.
  Result<std::string> run_without_mapping();

  // Returns the time of the last run and the end of its output.
  const CommandOutcome& outcome() const { return outcome_; }
  // Returns true if the user asked to stop.
  bool has_user_stopped() const { return run_.stop && run_.stop(); }

 private:
  ProgramRun run_;
  const GuideRules& rules_;
  CommandOutcome outcome_;
};

}  // namespace groma::tuning
