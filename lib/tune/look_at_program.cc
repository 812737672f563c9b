// look_at_program(): runs a program once before it is verified, and warns if the application that
// describes the program does not match that run.
#include <fmt/format.h>

#include <chrono>
#include <set>
#include <utility>
#include <variant>

#include "groma/harmless.h"
#include "groma/recording.h"
#include "groma/run.h"
#include "groma/source.h"
#include "groma/system.h"
#include "groma/verify.h"
#include "tune/program_runs.h"

namespace groma::tuning {
namespace {

// Time limit for counting the tasks of an application. If the count takes longer, the numbers of
// tasks are not compared.
constexpr std::chrono::seconds kMaxCountTime(10);

// Adds the names of all tasks that the statements launch, also inside loops and phases.
void add_launched(const std::vector<AppStatement>& body, std::set<std::string>& tasks) {
  for (const AppStatement& statement : body) {
    if (const auto* launch = std::get_if<AppLaunch>(&statement.node)) {
      tasks.insert(launch->task);
    } else if (const auto* loop = std::get_if<AppLoop>(&statement.node)) {
      add_launched(loop->body, tasks);
    } else if (const auto* phase = std::get_if<AppPhase>(&statement.node)) {
      add_launched(phase->body, tasks);
    }
  }
}

// Returns the names of all tasks that an application launches in any of its tasks.
std::set<std::string> launched_by(const Application& app) {
  std::set<std::string> tasks;
  for (const AppTask& task : app.tasks) add_launched(task.body, tasks);
  return tasks;
}

// Returns how many tasks a run of the application has; 0 if that cannot be determined in time. The
// simulator counts them under the default mapping, because the number is the same under every
// mapping.
std::int64_t tasks_of(const Application& app, const VerifyOptions& options) {
  const auto workload = Workload::make(app);
  if (!workload) return 0;
  Diagnostics ignored(Source("", ""));
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + kMaxCountTime;
  SimulateOptions simulate;
  simulate.stop = [&] { return (options.run.stop && options.run.stop()) || Clock::now() >= end; };
  const RunResult result = run_default(options.machine, *workload, simulate, ignored);
  return result.ok() ? result.tasks : 0;
}

// Returns the words in backquotes, separated by commas.
std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "`" : ", `") + visible(word) + "`";
  return text;
}

// Returns at most one warning about a difference between the recorded run and the application: no
// task in common, missing tasks, or another number of tasks. A difference means that the search may
// have tuned another run than the one that is verified.
std::vector<std::string> differences(const std::string& recorded, const VerifyOptions& options) {
  if (options.app == nullptr) return {};
  const auto ran = recorded_application(recorded, "the run");
  if (!ran) return {};
  const std::string program = visible(options.run.words.front());
  const std::string described = visible(options.app->name);
  const std::set<std::string> was = launched_by(ran->app);
  std::vector<std::string> missing, all;
  for (const std::string& task : launched_by(*options.app)) {
    all.push_back(task);
    if (!was.contains(task)) missing.push_back(task);
  }
  // A program that launches none of the tasks is probably the wrong program. If only some tasks are
  // missing, the arguments are probably wrong.
  if (!all.empty() && missing.size() == all.size()) {
    return {fmt::format("`{}` launched none of the tasks of `{}`: is it another program?", program,
                        described)};
  }
  if (!missing.empty()) {
    return {fmt::format("`{}` did not launch {}, which `{}` does: other arguments?", program,
                        join(missing), described)};
  }
  if (options.machine == nullptr) return {};
  const std::int64_t now = tasks_of(ran->app, options);
  const std::int64_t then = tasks_of(*options.app, options);
  if (now == 0 || then == 0 || now == then) return {};
  return {fmt::format("`{}` ran {} tasks, `{}` has {}: other arguments?", program, now, described,
                      then)};
}

}  // namespace

// Runs the program once without a mapping and records it. Fails if the program ends without using
// Legion or has no metric. A program that fails under its own mapper gives only a warning.
Result<std::vector<std::string>> look_at_program(const VerifyOptions& options) {
  if (auto error = wrong_verify_options(options)) return *std::move(error);
  const std::string& name = options.run.words.front();
  const auto rules = GuideRules::make();
  if (!rules) return rules.error();
  const auto folder = ScratchFolder::make();
  if (!folder) return folder.error();
  ProgramRunner runs(options.run, nullptr, *rules);
  const std::string file = folder->path() + "/events";
  const auto result = runs.run_and_record(file);
  if (!result) return result.error();
  const auto failure = [&](const std::string& why) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("`{}` cannot be verified: {}", visible(name), why),
                 "`groma record -- PROGRAM ARGS` shows what it says"};
  };
  if (!result->ok()) {
    const std::string& why = result->feedback.execution;
    const std::string words =
        why.empty() ? fmt::format("exit code {}", result->exit_code) : first_line(why);
    if (result->legion_runs == 0) return failure(words);
    // The failure gives only a warning, because the program may still run under another mapping.
    return std::vector{fmt::format("`{}` fails as it maps itself: {}", visible(name), words)};
  }
  if (has_metric(options.metric)) {
    const auto value = measured_value(options.metric, runs.outcome());
    if (!value) return failure(first_line(value.error().message));
  }
  const auto text = read_regular_file(file, kMaxRecordedBytes);
  std::vector<std::string> warnings;
  if (text) warnings = differences(*text, options);
  // A mapping that was found for other processors or memories may not fit the real machine.
  const auto real = make_machine(result->machine);
  if (real && options.machine && machine_line(*options.machine) != machine_line(*real)) {
    warnings.push_back(
        fmt::format("the search is for `{}`, `{}` has other processors or memories: --machine {}",
                    visible(options.machine->name()), visible(name), result->machine));
  }
  return warnings;
}

}  // namespace groma::tuning
