// verify(): runs a program without a mapping and under several mappings, in turn, and measures
// them.
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

using Measure = Verification::Measure;

// The forms in which programs print a measured time: `elapsed 12.34 ms` by Groma's own programs,
// `ELAPSED TIME = 0.012 s` by most of Legion's examples.
struct ElapsedForm {
  const char* pattern;
  double seconds;  // how many seconds one unit of the printed time has
};
constexpr std::array<ElapsedForm, 3> kElapsed = {{
    {R"((?im)(?:^elapsed(?: time)?|\belapsed(?: time)? *[=:]) *([0-9.eE+-]+) *ms\b)", 1e-3},
    {R"((?im)(?:^elapsed(?: time)?|\belapsed(?: time)? *[=:]) *([0-9.eE+-]+) *(?:s|sec|seconds)\b)",
     1},
    {R"((?im)(?:^elapsed(?: time)?|\belapsed(?: time)? *[=:]) *([0-9.eE+-]+) *us\b)", 1e-6},
}};

// Runs the mappings in turn and keeps the measured values.
class Rounds {
 public:
  Rounds(ProgramRuns* runs, CommandEvaluatorOptions metric, Verification* verified)
      : runs_(*runs), metric_(std::move(metric)), verified_(*verified) {}

  // Runs the mapping once, unless it failed before. The values of round 0 are not kept. Fails if
  // the program cannot be started.
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
  static void fail(VerifiedMapping& mapping, const std::string& why) {
    mapping.why = first_line(why);
    mapping.runs.clear();
  }

  // Runs the program under the mapping. Returns why it failed, or an empty string.
  Result<std::string> under(VerifiedMapping& mapping, bool checked) {
    const auto result = runs_.run_under(mapping.candidate, checked);
    if (!result) return result.error();
    if (result->ok()) return std::string();
    mapping.is_wrong = result->same_results == ProgramResult::Same::kDifferent;
    const std::string& why = result->feedback.execution;
    return why.empty() ? fmt::format("exit code {}", result->exit_code) : why;
  }

  // Looks for a time that the program prints, unless a metric is given or a time was found before.
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

  ProgramRuns& runs_;
  CommandEvaluatorOptions metric_;
  Verification& verified_;
  double unit_seconds_ = 1;  // seconds in one unit of the printed time
};

// Returns the mappings in the order in which they run.
std::vector<VerifiedMapping*> turn_of(Verification* verified, int round) {
  std::vector<VerifiedMapping*> turn = {&verified->without};
  for (VerifiedMapping& each : verified->all) turn.push_back(&each);
  // The run without a mapping comes first, as a reference for the results, then the start.
  if (round % 2 == 0 && round > 0) std::reverse(turn.begin(), turn.end());
  if (round == 0) std::reverse(std::min(turn.begin() + 2, turn.end()), turn.end());
  return turn;
}

}  // namespace

// Checks that the program exists and that the options of the metric are valid.
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

// Round 0 runs under Legion's checks and is not measured.
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
  ProgramRuns runs(options.run, &*results, *rules);
  Rounds rounds(&runs, metric, &verified);
  for (int round = 0; round <= options.repeats; ++round) {
    for (VerifiedMapping* const each : turn_of(&verified, round)) {
      if (runs.stopped()) return verified;
      if (options.on_run) options.on_run(each->candidate.name, round);
      if (auto error = rounds.run(*each, round)) return *std::move(error);
    }
  }
  verified.unsteady = results->unsteady();
  return verified;
}

}  // namespace groma::tuning
