// ProgramRunner: starts a real program for a verification and keeps what the last run printed.
#include "tune/program_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "groma/harmless.h"
#include "groma/program.h"

namespace groma::tuning {
namespace {

// The least number of bytes that are kept from the end of a longer output.
constexpr std::size_t kMaxOutput = std::size_t{1} << 20;

}  // namespace

bool has_metric(const CommandEvaluatorOptions& metric) {
  return !metric.metric_pattern.empty() || !metric.metric_pointer.empty();
}

std::string first_line(const std::string& text) {
  return visible(text.substr(0, std::min(text.find('\n'), std::size_t{160})));
}

// Keeps the end of both outputs of each run, because programs print their times last.
ProgramRunner::ProgramRunner(ProgramRun run, Results* results, const GuideRules& rules)
    : run_(std::move(run)), rules_(rules) {
  run_.checked_file.clear();
  run_.results = results;
  run_.on_output = [this](std::string_view bytes, bool is_error) {
    std::string& text = (is_error ? outcome_.err : outcome_.out).text;
    text += bytes;
    if (text.size() > 2 * kMaxOutput) text.erase(0, text.size() - kMaxOutput);
  };
}

// Compiles the mapping again for each run. The mapping has no file, so messages show its name with
// the suffix ".mapper".
Result<ProgramResult> ProgramRunner::run_under_mapping(const VerifyCandidate& mapping,
                                                       bool checked) {
  run_.checks = checked ? ProgramRun::Checks::kAlways : ProgramRun::Checks::kNever;
  outcome_ = {};
  // The name that messages show for the mapping.
  std::string file = mapping.name + ".mapper";
  std::replace(file.begin(), file.end(), ' ', '_');
  Diagnostics diags(Source(std::move(file), mapping.text));
  auto result = run_program(compile(diags.source(), diags), run_, &rules_);
  if (result) outcome_.seconds = result->seconds;
  return result;
}

// `record_file` is set for this run only, because recording makes a program slower.
Result<ProgramResult> ProgramRunner::run_and_record(const std::string& file) {
  run_.record_file = file;
  outcome_ = {};
  auto result = run_program(run_, &rules_);
  run_.record_file.clear();
  if (result) outcome_.seconds = result->seconds;
  return result;
}

// Runs the program by the function of the same name in `groma`, and describes how the program
// ended.
Result<std::string> ProgramRunner::run_without_mapping() {
  auto outcome = groma::run_without_mapping(run_);
  if (!outcome) return outcome.error();
  outcome_ = *std::move(outcome);
  using End = CommandOutcome::End;
  if (outcome_.end == End::kDeadline) return std::string("it did not end in time");
  if (outcome_.end != End::kExited) return fmt::format("signal {} ended it", outcome_.code);
  return outcome_.code == 0 ? "" : fmt::format("exit code {}", outcome_.code);
}

}  // namespace groma::tuning
