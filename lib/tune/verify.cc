// verify(): runs a real program without a mapping and under several mappings, in turn, and compares
// the measured times.
#include "groma/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "groma/harmless.h"
#include "groma/system.h"
#include "tune/program_runs.h"

namespace groma::tuning {
namespace {

using Measure = Verification::ComparedValue;

// The forms in which programs print a measured time. Groma's own programs print `elapsed 12.34 ms`,
// most of Legion's examples `ELAPSED TIME = 0.012 s`.
struct ElapsedForm {
  const char* pattern;
  // The number of seconds in one unit of the printed time.
  double seconds;
};
constexpr std::array<ElapsedForm, 3> kElapsed = {{
    {R"((?im)(?:^elapsed(?: time)?|\belapsed(?: time)? *[=:]) *([0-9.eE+-]+) *ms\b)", 1e-3},
    {R"((?im)(?:^elapsed(?: time)?|\belapsed(?: time)? *[=:]) *([0-9.eE+-]+) *(?:s|sec|seconds)\b)",
     1},
    {R"((?im)(?:^elapsed(?: time)?|\belapsed(?: time)? *[=:]) *([0-9.eE+-]+) *us\b)", 1e-6},
}};

// Runs the mappings in turn and keeps the measured values. The first round is not measured; it
// checks the mappings and finds out what the program prints.
class MeasurementRounds {
 public:
  MeasurementRounds(ProgramRunner* runs, CommandEvaluatorOptions metric, Verification* verified)
      : runs_(*runs), metric_(std::move(metric)), verified_(*verified) {}

  // Runs the mapping once, unless it failed before. The value of a run in round 0 is not kept.
  // Returns an error only if the program cannot be started.
  std::optional<Error> run(VerifiedMapping& mapping, int round) {
    if (!mapping.why.empty()) return std::nullopt;
    const auto why =
        &mapping == &verified_.without ? runs_.run_without_mapping() : under(mapping, round == 0);
    if (!why) return why.error();
    if (!why->empty()) {
      fail(mapping, *why);
      return std::nullopt;
    }
    if (round == 0) look_for_elapsed();
    const auto value = measured_value(metric_, runs_.outcome());
    if (!value) {
      fail(mapping, value.error().message);
    } else if (round > 0) {
      mapping.runs.push_back(*value * unit_seconds_);
    }
    return std::nullopt;
  }

 private:
  // A mapping that failed once is not run again, and its earlier values do not count.
  static void fail(VerifiedMapping& mapping, const std::string& why) {
    mapping.why = first_line(why);
    mapping.runs.clear();
  }

  // Runs the program under the mapping. Returns why it failed; an empty text if it succeeded.
  Result<std::string> under(VerifiedMapping& mapping, bool checked) {
    const auto result = runs_.run_under_mapping(mapping.candidate, checked);
    if (!result) return result.error();
    if (result->ok()) return std::string();
    mapping.is_wrong = result->same_results == ProgramResult::ResultComparison::kDifferent;
    const std::string& why = result->feedback.execution;
    return why.empty() ? fmt::format("exit code {}", result->exit_code) : why;
  }

  // Looks in the output for a time that the program prints, unless a metric is given or a time was
  // found before. A printed time is better than the time of the process, which includes the start
  // of the program.
  void look_for_elapsed() {
    for (const ElapsedForm& form : kElapsed) {
      if (verified_.measure != Measure::kProcess) return;
      CommandEvaluatorOptions elapsed = metric_;
      elapsed.metric_pattern = form.pattern;
      if (!measured_value(elapsed, runs_.outcome())) continue;
      verified_.measure = Measure::kElapsed;
      metric_ = elapsed;
      unit_seconds_ = form.seconds;
    }
  }

  ProgramRunner& runs_;
  CommandEvaluatorOptions metric_;
  Verification& verified_;
  // The number of seconds in one unit of the printed time.
  double unit_seconds_ = 1;
};

// Returns the mappings in the order in which they run in this round. Every other round runs them in
// reverse, so that a machine that gets slower affects all of them equally.
std::vector<VerifiedMapping*> turn_of(Verification* verified, int round) {
  std::vector<VerifiedMapping*> turn = {&verified->without};
  for (VerifiedMapping& each : verified->all) turn.push_back(&each);
  // In round 0, the run without a mapping comes first, because it gives the expected results. The
  // first candidate follows, and then the others from the last to the second.
  if (round % 2 == 0 && round > 0) std::reverse(turn.begin(), turn.end());
  if (round == 0) std::reverse(std::min(turn.begin() + 2, turn.end()), turn.end());
  return turn;
}

}  // namespace

// Checks that the program exists and that the metric is valid, before anything runs. Reading an
// empty output shows whether the metric is malformed.
std::optional<Error> wrong_verify_options(const VerifyOptions& options) {
  GROMA_REQUIRE(!options.run.words.empty(), "VerifyOptions::run names a program");
  if (const std::string& name = options.run.words.front(); !find_program(name)) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("there is no program `{}` that can be run", visible(name))};
  }
  const CommandEvaluatorOptions& metric = options.metric;
  const auto value = measured_value(metric, {});
  if (!value && value.error().code == Error::Code::kMalformed) return value.error();
  if (has_metric(metric) || !metric.higher_is_better) return std::nullopt;
  return Error{Error::Code::kMalformed, "of seconds fewer are better; a metric is missing"};
}

// Round 0 runs the program under Legion's checks and is not measured. If the user stops, returns
// what was measured so far.
Result<Verification> verify(const std::vector<VerifyCandidate>& candidates,
                            const VerifyOptions& options) {
  GROMA_REQUIRE(options.repeats >= 1, "VerifyOptions::repeats is at least 1");
  if (auto error = wrong_verify_options(options)) return *std::move(error);
  const auto rules = GuideRules::make();
  if (!rules) return rules.error();
  const CommandEvaluatorOptions& metric = options.metric;
  const bool measures = has_metric(metric);
  Verification verified;
  verified.measure = measures ? Measure::kMetric : Measure::kProcess;
  verified.unit = measures ? metric.unit : "s";
  verified.higher_is_better = measures && metric.higher_is_better;
  verified.repeats = options.repeats;
  verified.without.candidate.name = "without a mapping";
  for (const VerifyCandidate& each : candidates) verified.all.push_back({each});
  ResultsOptions what = options.results;
  what.measure = metric.metric_pattern;
  auto results = Results::make(std::move(what));
  if (!results) return results.error();
  ProgramRunner runs(options.run, &*results, *rules);
  MeasurementRounds rounds(&runs, metric, &verified);
  for (int round = 0; round <= options.repeats; ++round) {
    for (VerifiedMapping* const each : turn_of(&verified, round)) {
      if (runs.has_user_stopped()) return verified;
      if (options.on_run) options.on_run(each->candidate.name, round);
      if (auto error = rounds.run(*each, round)) return *std::move(error);
    }
  }
  verified.unsteady = results->unsteady();
  return verified;
}

}  // namespace groma::tuning
