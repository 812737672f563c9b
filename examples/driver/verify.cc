// Runs a program without a mapping and under the mappings that a search found, and compares times
// and results.
#include "verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "console.h"
#include "groma/io.h"
#include "groma/recording.h"
#include "groma/run.h"
#include "groma/system.h"

namespace driver {
namespace {

// The forms in which programs print a measured time: `elapsed 12.34 ms` by Groma's own programs,
// `ELAPSED TIME = 0.012 s` by most of Legion's examples.
struct ElapsedForm {
  const char* pattern;
  double seconds;  // seconds in one unit
};
constexpr std::array<ElapsedForm, 3> kElapsed = {{
    {R"((?im)(?:^elapsed(?: time)?|\belapsed(?: time)? *[=:]) *([0-9.eE+-]+) *ms\b)", 1e-3},
    {R"((?im)(?:^elapsed(?: time)?|\belapsed(?: time)? *[=:]) *([0-9.eE+-]+) *(?:s|sec|seconds)\b)",
     1},
    {R"((?im)(?:^elapsed(?: time)?|\belapsed(?: time)? *[=:]) *([0-9.eE+-]+) *us\b)", 1e-6},
}};
// Limit for counting tasks; longer counts are not compared.
constexpr double kMostCountSeconds = 10;
constexpr std::size_t kMostOutput = std::size_t{1} << 20;  // bytes kept of the end of each output

std::string first_line(const std::string& text) {
  return visible(text.substr(0, std::min(text.find('\n'), std::size_t{160})));
}

std::string words_of(double value, const std::string& unit) {
  if (unit == "s" && value < 1) return fmt::format("{:.4g} ms", 1e3 * value);
  return fmt::format("{:.4g}{}{}", value, unit.empty() ? "" : " ", visible(unit));
}

// Runs a program repeatedly and reads the measurements that it prints.
class Runs {
 public:
  // `results` compares the program's output under a mapping with its output without one. It must
  // outlive the object.
  Runs(groma::ProgramRun run, groma::Results* results)
      : run_(std::move(run)), hearing_(run_, Output::kNowhere) {
    run_.checked_file.clear();
    run_.results = results;
    run_.on_output = [this](std::string_view bytes, bool is_error) {
      std::string& text = (is_error ? outcome_.err : outcome_.out).text;
      text += bytes;
      if (text.size() > 2 * kMostOutput) text.erase(0, text.size() - kMostOutput);
    };
  }
  groma::Result<groma::ProgramResult> one(const Candidate& of, bool checked,
                                          const groma::GuideRules& rules) {
    run_.checks = checked ? groma::ProgramRun::Checks::kAlways : groma::ProgramRun::Checks::kNever;
    outcome_ = {};
    std::string file = of.name + ".mapper";  // the name in messages
    std::replace(file.begin(), file.end(), ' ', '_');
    groma::Diagnostics diags(groma::Source(std::move(file), of.text));
    auto result = groma::run_program(groma::compile(diags.source(), diags), run_, &rules);
    if (result) outcome_.seconds = result->seconds;
    return result;
  }
  // Runs the program with its own mapping and records it.
  groma::Result<groma::ProgramResult> recorded(const std::string& file,
                                               const groma::GuideRules& rules) {
    run_.record_file = file;
    outcome_ = {};
    auto result = groma::run_program(run_, &rules);
    run_.record_file.clear();
    if (result) outcome_.seconds = result->seconds;
    return result;
  }
  // Runs the program without Groma, as a reference for the results. Returns why it failed, or an
  // empty string.
  groma::Result<std::string> without() {
    auto outcome = groma::run_without_mapping(run_);
    if (!outcome) return outcome.error();
    outcome_ = *std::move(outcome);
    using End = groma::CommandOutcome::End;
    if (outcome_.end == End::kDeadline) return std::string("it did not end in time");
    if (outcome_.end != End::kExited) return fmt::format("signal {} ended it", outcome_.code);
    return outcome_.code == 0 ? "" : fmt::format("exit code {}", outcome_.code);
  }
  const groma::CommandOutcome& outcome() const { return outcome_; }

 private:
  groma::ProgramRun run_;
  Hearing hearing_;
  groma::CommandOutcome outcome_;
};

// ---- Comparison of the program with the application's description

// Adds the names of all tasks that the statements launch.
void add_launched(const std::vector<groma::AppStatement>& body, std::set<std::string>& tasks) {
  for (const groma::AppStatement& statement : body) {
    if (const auto* launch = std::get_if<groma::AppLaunch>(&statement.node)) {
      tasks.insert(launch->task);
    } else if (const auto* loop = std::get_if<groma::AppLoop>(&statement.node)) {
      add_launched(loop->body, tasks);
    } else if (const auto* phase = std::get_if<groma::AppPhase>(&statement.node)) {
      add_launched(phase->body, tasks);
    }
  }
}

std::set<std::string> launched_by(const groma::Application& app) {
  std::set<std::string> tasks;
  for (const groma::AppTask& task : app.tasks) add_launched(task.body, tasks);
  return tasks;
}

// Returns the number of tasks that run (the same under every mapping), or 0 if it cannot be
// determined.
std::int64_t tasks_of(const groma::Application& app,
                      std::shared_ptr<const groma::Machine> machine) {
  const auto workload = groma::Workload::make(app);
  if (!workload) return 0;
  groma::Diagnostics ignored(groma::Source("", ""));
  const Deadline deadline(kMostCountSeconds);
  groma::SimulateOptions options;
  options.stop = [&] { return interrupted() || deadline.over(); };
  const groma::RunResult result =
      groma::run_default(std::move(machine), *workload, options, ignored);
  return result.ok() ? result.tasks : 0;
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "`" : ", `") + visible(word) + "`";
  return text;
}

// Returns warnings about differences between the recorded run and the application.
std::vector<std::string> differences(const std::string& recorded, const VerifyOptions& options) {
  if (options.app == nullptr) return {};
  const auto ran = groma::recorded_application(recorded, "the run");
  if (!ran) return {};
  const std::string program = visible(options.program.words.front());
  const std::string described = visible(options.app->name);
  const std::set<std::string> was = launched_by(ran->app);
  std::vector<std::string> missing, all;
  for (const std::string& task : launched_by(*options.app)) {
    all.push_back(task);
    if (!was.contains(task)) missing.push_back(task);
  }
  if (!all.empty() && missing.size() == all.size()) {
    return {fmt::format("`{}` launched none of the tasks of `{}`: is it another program?", program,
                        described)};
  }
  if (!missing.empty()) {
    return {fmt::format("`{}` did not launch {}, which `{}` does: other arguments?", program,
                        join(missing), described)};
  }
  const std::int64_t now = tasks_of(ran->app, options.machine);
  const std::int64_t then = tasks_of(*options.app, options.machine);
  if (now == 0 || then == 0 || now == then) return {};
  return {fmt::format("`{}` ran {} tasks, `{}` has {}: other arguments?", program, now, described,
                      then)};
}

bool has_metric(const groma::CommandEvaluatorOptions& metric) {
  return !metric.metric_pattern.empty() || !metric.metric_pointer.empty();
}

std::optional<groma::Error> wrong_metric(const groma::CommandEvaluatorOptions& metric) {
  const auto value = groma::measured_value(metric, {});
  if (!value && value.error().code == groma::Error::Code::kMalformed) return value.error();
  if (has_metric(metric) || !metric.higher_is_better) return std::nullopt;
  return groma::Error{groma::Error::Code::kMalformed,
                      "of seconds fewer are better; a metric is missing"};
}

std::optional<groma::Error> wrong_program(const std::string& name) {
  if (groma::find_program(name)) return std::nullopt;
  return groma::Error{groma::Error::Code::kUnreadable,
                      fmt::format("there is no program `{}` that can be run", visible(name))};
}

std::string range_of(const std::vector<double>& runs, const std::string& unit) {
  const auto [least, most] = std::minmax_element(runs.begin(), runs.end());
  return fmt::format("{} to {}", words_of(*least, unit), words_of(*most, unit));
}

// ---- Measurements

// Measures the contenders in turn.
class Rounds {
 public:
  Rounds(Runs* runs, groma::CommandEvaluatorOptions metric, const groma::GuideRules& rules,
         Verification* verified)
      : runs_(*runs), metric_(std::move(metric)), rules_(rules), verified_(*verified) {}

  // Runs one round; round 0 is not measured.
  groma::Result<bool> run(Verified& contender, int round) {
    if (!contender.why.empty()) return true;
    const auto why =
        &contender == &verified_.without ? runs_.without() : mapped(contender, round == 0);
    if (!why) return why.error();
    if (!why->empty()) {
      fail(contender, *why);
      return true;
    }
    if (round == 0) look_for_elapsed();
    const auto value = groma::measured_value(metric_, runs_.outcome());
    if (!value) {
      fail(contender, value.error().message);
    } else if (round > 0) {
      contender.runs.push_back(*value * unit_seconds_);
    }
    return true;
  }

 private:
  static void fail(Verified& contender, const std::string& why) {
    contender.why = first_line(why);
    contender.runs.clear();
  }

  // Runs the program under the mapping. Returns why it failed, or an empty string.
  groma::Result<std::string> mapped(Verified& contender, bool checked) {
    const auto result = runs_.one(contender.candidate, checked, rules_);
    if (!result) return result.error();
    if (result->ok()) return std::string();
    contender.is_wrong = result->same_results == groma::ProgramResult::Same::kDifferent;
    const std::string& why = result->feedback.execution;
    return why.empty() ? fmt::format("exit code {}", result->exit_code) : why;
  }

  // Looks for a time that the program prints, unless a metric is given or a time was found before.
  void look_for_elapsed() {
    for (const ElapsedForm& form : kElapsed) {
      if (verified_.measure != "process") return;
      groma::CommandEvaluatorOptions elapsed = metric_;
      elapsed.metric_pattern = form.pattern;
      if (!groma::measured_value(elapsed, runs_.outcome())) continue;
      verified_.measure = "elapsed";
      metric_ = elapsed;
      unit_seconds_ = form.seconds;
    }
  }

  Runs& runs_;
  groma::CommandEvaluatorOptions metric_;
  const groma::GuideRules& rules_;
  Verification& verified_;
  double unit_seconds_ = 1;  // seconds in one unit of the printed time
};

// ---- Words

// Returns how the first mapping compares with the other, such as "1.21 times as fast as `start`".
std::string words_of(const Comparison& compared, const std::string& other) {
  if (!compared.differs) {
    return fmt::format("no difference from {} beyond the noise (±{:.2g} %)", other,
                       100 * compared.noise);
  }
  const std::string words =
      compared.speedup >= 1
          ? fmt::format("{:.3g} times as fast as {}", compared.speedup, other)
          : fmt::format("{:.3g} times as slow as {}", 1 / compared.speedup, other);
  return compared.one_run ? words + " in one run each" : words;
}

// Returns the conclusions about the fastest mapping, one a line.
std::string conclusion(const Verification& verified, int repeats) {
  std::string text;
  if (const Verified* const best = verified.fastest()) {
    const Verified* const start = verified.start();
    const auto beside = verified.compare(*best, verified.without);
    text += fmt::format("the fastest mapping is {}", best->candidate.name);
    if (beside) text += ": " + words_of(*beside, "without a mapping");
    if (start != nullptr && start != best) {
      text += (beside ? ", " : ": ") + words_of(*verified.compare(*best, *start), "the start");
    }
    text += '\n';
    if (beside && !(beside->differs && beside->speedup > 1)) {
      text += "nothing that was found is faster for real than the program without a mapping\n";
    } else if (best == start && verified.all.size() > 1) {
      text += "nothing that was found is faster for real than the start\n";
    }
    if (repeats == 1) text += "one run each does not show the noise: --repeats 3\n";
  }
  if (verified.unsteady.lines == 0) return text;
  return text + fmt::format("not compared: {}\n", groma::to_text(verified.unsteady));
}

nlohmann::ordered_json runs_of(const Verified& of) {
  if (of.runs.empty()) return {{"error", of.why}};
  return {{"value", of.median()}, {"runs", of.runs}};
}

nlohmann::ordered_json to_json(const Comparison& compared) {
  return {{"speedup", compared.speedup}, {"noise", compared.noise}, {"differs", compared.differs}};
}

}  // namespace

double Verified::median() const {
  std::vector<double> sorted = runs;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

const Verified* Verification::fastest() const {
  const Verified* best = nullptr;
  for (const Verified& each : all) {
    if (each.runs.empty()) continue;
    const bool better = best == nullptr || (higher_is_better ? each.median() > best->median()
                                                             : each.median() < best->median());
    if (better) best = &each;
  }
  return best;
}

const Verified* Verification::start() const {
  if (all.empty() || all.front().candidate.name != "start" || all.front().runs.empty()) {
    return nullptr;
  }
  return &all.front();
}

std::optional<Comparison> Verification::compare(const Verified& one, const Verified& other) const {
  if (one.runs.empty() || other.runs.empty()) return std::nullopt;
  Comparison compared;
  const double quotient = other.median() / one.median();
  compared.speedup = higher_is_better ? 1 / quotient : quotient;
  compared.one_run = one.runs.size() == 1 || other.runs.size() == 1;
  const auto interval = groma::interval_of(one.runs), others = groma::interval_of(other.runs);
  compared.noise =
      std::max(groma::half_width(interval, one.runs), groma::half_width(others, other.runs));
  compared.differs = interval.second < others.first || others.second < interval.first;
  return compared;
}

groma::Result<std::vector<std::string>> look_at_program(const VerifyOptions& options) {
  const std::string& name = options.program.words.front();
  if (const auto error = wrong_program(name)) return *error;
  if (auto error = wrong_metric(options.metric)) return *error;
  auto run = program_run(options.program);
  if (!run) return run.error();
  const auto rules = groma::GuideRules::make();
  if (!rules) return rules.error();
  const auto folder = groma::ScratchFolder::make();
  if (!folder) return folder.error();
  Runs runs(*std::move(run), nullptr);
  ProgressLine line("looking at the program");
  line.update("as it maps itself");
  const std::string file = folder->path() + "/events";
  const auto result = runs.recorded(file, *rules);
  if (!result) return result.error();
  const auto failure = [&](const std::string& why) {
    return groma::Error{groma::Error::Code::kUnreadable,
                        fmt::format("`{}` cannot be verified: {}", visible(name), why),
                        "`groma record -- PROGRAM ARGS` shows what it says"};
  };
  if (!result->ok()) {
    const std::string& why = result->feedback.execution;
    const std::string words =
        why.empty() ? fmt::format("exit code {}", result->exit_code) : first_line(why);
    if (result->legion_runs == 0) return failure(words);
    // The program may run under another mapping.
    return std::vector{fmt::format("`{}` fails as it maps itself: {}", visible(name), words)};
  }
  if (has_metric(options.metric)) {
    const auto value = groma::measured_value(options.metric, runs.outcome());
    if (!value) return failure(first_line(value.error().message));
  }
  const auto text = groma::read_regular_file(file, groma::kMaxRecordedBytes);
  std::vector<std::string> warnings;
  if (text) warnings = differences(*text, options);
  const auto real = groma::make_machine(result->machine);
  if (real && options.machine &&
      groma::machine_line(*options.machine) != groma::machine_line(*real)) {
    warnings.push_back(
        fmt::format("the search is for `{}`, `{}` has other processors or memories: --machine {}",
                    visible(options.machine->name()), visible(name), result->machine));
  }
  return warnings;
}

groma::Result<Verification> verify(const std::vector<Candidate>& candidates,
                                   const VerifyOptions& options) {
  auto run = program_run(options.program);
  if (!run) return run.error();
  const auto rules = groma::GuideRules::make();
  if (!rules) return rules.error();
  groma::CommandEvaluatorOptions metric = options.metric;
  const bool measures = has_metric(metric);
  Verification verified;
  verified.measure = measures ? "metric" : "process";
  verified.unit = measures ? metric.unit : "s";
  verified.higher_is_better = measures && metric.higher_is_better;
  verified.without.candidate.name = "without a mapping";
  for (const Candidate& each : candidates) verified.all.push_back({each, {}, {}});
  groma::ResultsOptions what = results_options(options.program);
  what.measure = metric.metric_pattern;
  auto results = groma::Results::make(std::move(what));
  if (!results) return results.error();
  run->compare_failures_only = options.program.checks == "never";
  Runs runs(*std::move(run), &*results);
  Rounds rounds(&runs, metric, *rules, &verified);
  ProgressLine line("verifying");
  for (int round = 0; round <= options.repeats; ++round) {
    std::vector<Verified*> turn = {&verified.without};
    for (Verified& each : verified.all) turn.push_back(&each);
    // First without a mapping, as a reference for the results, then the start.
    if (round % 2 == 0 && round > 0) std::reverse(turn.begin(), turn.end());
    if (round == 0) std::reverse(std::min(turn.begin() + 2, turn.end()), turn.end());
    for (Verified* const each : turn) {
      if (interrupted()) return verified;
      line.update(fmt::format("{}, run {} of {}", each->candidate.name, round, options.repeats));
      if (const auto ran = rounds.run(*each, round); !ran) return ran.error();
    }
  }
  verified.unsteady = results->unsteady();
  return verified;
}

std::string draw(const Verification& verified, const std::string& program, int repeats,
                 const std::string& unit, const std::string& phase) {
  const std::string what = verified.measure == "elapsed" ? "of the `elapsed` time that it says"
                           : verified.measure == "process"
                               ? "of the whole process, its start included"
                               : "of what --metric finds";
  const bool was_simulated = std::isfinite(verified.all.front().candidate.simulated);
  std::string simulated = "; simulated is ";
  simulated += phase.empty() ? "the whole run" : fmt::format("its phase `{}`", visible(phase));
  std::string text = fmt::format(
      "\n{} for real, medians of {} run{} each in turn, {}{}\n  {:<18}{:>12}  {:<26}{}",
      visible(program), repeats, repeats == 1 ? "" : "s", what, was_simulated ? simulated : "", "",
      "measured", "least to most", was_simulated ? "simulated" : "");
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
  const auto row = [&](const Verified& of, const std::string& in_simulation) {
    text += fmt::format("  {:<18}", of.candidate.name);
    if (of.runs.empty()) {
      text += fmt::format("{:>12}  {}", of.is_wrong ? "wrong" : "failed", of.why);
    } else {
      text += fmt::format("{:>12}  {:<26}{:<14}", words_of(of.median(), verified.unit),
                          range_of(of.runs, verified.unit), in_simulation);
      text.erase(text.find_last_not_of(' ') + 1);
    }
  };
  row(verified.without, "");
  text += '\n';
  for (const Verified& each : verified.all) {
    row(each, was_simulated ? fmt::format("{:.4g} {}", each.candidate.simulated, unit) : "");
    const auto beside = verified.compare(each, verified.without);
    if (beside) text += "  " + words_of(*beside, "without a mapping");
    text += '\n';
  }
  return text + conclusion(verified, repeats);
}

std::string to_json(const Verification& verified, const std::vector<std::string>& warnings) {
  using nlohmann::ordered_json;
  const Verified* const best = verified.fastest();
  ordered_json json = {{"event", "verified"},
                       {"measure", verified.measure},
                       {"unit", verified.unit},
                       {"without_mapping", runs_of(verified.without)},
                       {"candidates", ordered_json::array()}};
  for (const Verified& each : verified.all) {
    ordered_json one = {{"name", each.candidate.name}};
    if (std::isfinite(each.candidate.simulated)) one["simulated"] = each.candidate.simulated;
    one.update(runs_of(each));
    if (each.runs.empty()) one["wrong"] = each.is_wrong;
    const auto beside = verified.compare(each, verified.without);
    if (beside) one["beside_without"] = to_json(*beside);
    const Verified* const start = verified.start();
    const auto beside_start =
        start == nullptr || start == &each ? std::nullopt : verified.compare(each, *start);
    if (beside_start) one["within_spread"] = !beside_start->differs;
    json["candidates"].push_back(std::move(one));
  }
  json["fastest"] = best == nullptr ? ordered_json() : ordered_json(best->candidate.name);
  json["unsteady_lines"] = verified.unsteady.lines;
  json["warnings"] = warnings;
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace driver
