// Runs of a real program for a verification: without a mapping, under a mapping, and recorded.
#pragma once

#include <string>

#include "groma/guide.h"
#include "groma/result.h"
#include "groma/results.h"
#include "groma/run_program.h"
#include "groma/verify.h"

namespace groma::tuning {

// Returns true if the program's value is a metric, not a time.
bool has_metric(const CommandEvaluatorOptions& metric);

// Returns the beginning of the first line, for a message.
std::string first_line(const std::string& text);

// Runs a program repeatedly and keeps the output of the last run.
class ProgramRuns {
 public:
  // `results` compares the program's output under a mapping with its output without one; null: no
  // comparison. `results` and `rules` must outlive the object.
  ProgramRuns(ProgramRun run, Results* results, const GuideRules& rules);
  ProgramRuns(const ProgramRuns&) = delete;
  ProgramRuns& operator=(const ProgramRuns&) = delete;

  // Runs the program under the mapping. If `checked`, Legion's checks are on.
  Result<ProgramResult> run_under(const VerifyCandidate& mapping, bool checked);
  // Runs the program with its own mapping and records it in the file.
  Result<ProgramResult> run_recorded(const std::string& file);
  // Runs the program without Groma, as a reference for the results. Returns why it failed, or an
  // empty string.
  Result<std::string> run_without_mapping();

  // The time and the end of the output of the last run.
  const CommandOutcome& outcome() const { return outcome_; }
  bool stopped() const { return run_.stop && run_.stop(); }

 private:
  ProgramRun run_;
  const GuideRules& rules_;
  CommandOutcome outcome_;
};

}  // namespace groma::tuning
