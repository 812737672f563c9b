// run_program(): runs a Legion program under a mapping as a child process, and reads its output,
// its profile and its log.
#include "groma/run_program.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/data.h"
#include "explain/words.h"
#include "groma/system.h"
#include "legion_run/announcements.h"
#include "legion_run/checked.h"
#include "legion_run/comparable.h"
#include "legion_run/judge_run.h"
#include "legion_run/run_environment.h"
#include "profile/record_text.h"

namespace groma {
namespace {

namespace fs = std::filesystem;
using End = CommandOutcome::End;

// Reads the time that an application of Groma printed in its last line `elapsed 12.34 ms`, and
// computes the rate. Returns nullopt if there is no such line.
std::optional<ProgramResult::MeasuredPart> measured(std::string_view text, const Workload& app) {
  constexpr std::string_view kElapsed = "elapsed ";
  const std::size_t begin = text.rfind(kElapsed);
  if (begin == text.npos || (begin > 0 && text[begin - 1] != '\n')) return std::nullopt;
  const char* const number = text.data() + begin + kElapsed.size();
  double ms = 0;
  const auto [end, code] = std::from_chars(number, text.data() + text.size(), ms);
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (code != std::errc() || !rest.starts_with(" ms\n") || !(ms > 0)) return std::nullopt;
  app::FormulaFault fault = app::FormulaFault::kNone;
  const auto work = static_cast<double>(app.data().work.value({}, fault));
  return ProgramResult::MeasuredPart{ms / 1000, work / (ms / 1000), app.data().unit};
}

// Returns the title of the run's profile: the name of the application or of the program.
std::string title_of(const ProgramRun& run) {
  return (run.app == nullptr ? run.words.front() : run.app->name()) + " on Legion";
}

// Reads the run's profile into `result`, or the reason that there is none.
void read_record(const std::string& file, ProgramResult& result) {
  const auto text = read_regular_file(file, profile::kMaxRecordBytes);
  if (!text) {
    result.why_no_record =
        text.error().code == Error::Code::kTooLarge
            ? "what was measured of the run is more than 128 MiB"
            : "the run left no profile behind: Legion did not come to its end, or a "
              "launcher did not hand GROMA_PROFILE on";
    return;
  }
  auto record = profile::run_record_from(*text);
  if (record) {
    result.record = std::make_shared<const RunRecord>(std::move(record).value());
  } else {
    result.why_no_record = record.error().message;
  }
}

// Returns the modification time of a file, or nullopt if the file does not exist.
std::optional<fs::file_time_type> written(const std::string& file) {
  std::error_code code;
  const auto time = fs::last_write_time(file, code);
  return code ? std::nullopt : std::optional(time);
}

// Returns the exit code as a shell reports it: 128 plus the signal if a signal ended the program. A
// program that Groma ended counts as killed by signal 9.
int shell_code(const CommandOutcome& outcome) {
  constexpr int kSignal = 128, kKill = 9;
  if (outcome.end == End::kExited) return outcome.code;
  return kSignal + (outcome.end == End::kSignalled ? outcome.code : kKill);
}

// Runs the program with these environment variables. `announced` reads the messages of Groma's
// library, which are on standard error. `run.on_output` gets all output.
Result<CommandOutcome> execute(const ProgramRun& run, std::vector<std::string> environment,
                               inspect::LibraryMessages& announced) {
  Command command;
  command.words = run.words;
  command.environment = std::move(environment);
  command.deadline_ms = run.timeout_ms;
  command.stop = run.stop;
  command.on_output = [&](std::string_view bytes, bool is_error) {
    if (is_error) announced.read(bytes);
    if (run.on_output) run.on_output(bytes, is_error);
  };
  auto outcome = run_command(command);
  announced.end();
  return outcome;
}

// Checks that a successful run wrote the log that the caller asked for and, for an application of
// Groma, that it printed its time. Otherwise the run counts as failed. `log_before`: the
// modification time of the log before the run, so that an old log does not count.
void read_results(const ProgramRun& run, const CommandOutcome& outcome,
                  const std::optional<fs::file_time_type>& log_before, ProgramResult& result) {
  const auto fail = [&](std::string why) {
    result.stage = ProgramResult::Stage::kExecute;
    result.feedback.execution = std::move(why);
  };
  if (!run.log_file.empty() && written(run.log_file) == log_before) {
    return fail(fmt::format(
        "`{}` ended well, but wrote no log to `{}`: does its launcher hand GROMA_LOG on?",
        run.words.front(), run.log_file));
  }
  if (run.app == nullptr) return;
  result.measured = measured(outcome.out.text, *run.app);
  if (!result.measured) {
    fail(fmt::format("`{}` ended well, but said no `elapsed` time", run.words.front()));
  }
}

// Runs the program and judges the result. `mapping` is null if the program maps itself. Fails if
// the program cannot be started; a program that fails gives a result.
Result<ProgramResult> run(const Program* mapping, const ProgramRun& run, const GuideRules& rules) {
  GROMA_CHECK(!run.words.empty());
  std::optional<inspect::SuccessfulRuns> before;
  if (mapping != nullptr) before.emplace(*mapping, run, !inspect::was_started_by_launcher());
  const bool was_checked = before && before->has_recent_success();
  using Checks = ProgramRun::Checks;
  ProgramResult result;
  // Legion's checks cost time, so the default is to check only a program that has not run well
  // recently.
  result.checked =
      before && (run.checks == Checks::kAlways || (run.checks == Checks::kFirst && !was_checked));
  std::optional<ScratchFolder> folder;
  if (run.profile) {
    auto made = ScratchFolder::make();
    if (!made) return made.error();
    folder.emplace(std::move(made).value());
  }
  const std::string profile_file = folder ? folder->path() + "/profile" : "";
  auto environment = inspect::environment_of(mapping, run, profile_file, result.checked);
  if (!environment) return environment.error();

  inspect::LibraryMessages announced;
  const auto log_before = written(run.log_file);
  const auto outcome = execute(run, *std::move(environment), announced);
  if (!outcome) return outcome.error();
  result.legion_runs = mapping == nullptr ? announced.records : announced.mapped;
  result.recorded_elsewhere = announced.elsewhere > 0;
  result.machine = announced.machine;
  result.stopped = outcome->end == End::kStopped;
  result.timed_out = outcome->end == End::kDeadline;
  result.seconds = outcome->seconds;
  result.exit_code = shell_code(*outcome);

  inspect::EndedRun ended{mapping,
                          run,
                          *outcome,
                          result.legion_runs > 0 || result.recorded_elsewhere,
                          announced.not_mapped > 0,
                          was_checked};
  if (ended.is_well() && run.profile) read_record(profile_file, result);
  std::optional<ProfileFacts> profile;
  if (result.record != nullptr) {
    profile = facts_of(make_profile(result.record), profile_words_of(title_of(run), mapping));
    ended.profile = &*profile;
  }
  if (auto error = inspect::judge_run(ended, rules, result)) return *error;
  if (!result.ok()) return result;
  if (result.checked) before->add_success();
  read_results(run, *outcome, log_before, result);
  return result;
}

// Runs the program and judges the run by these rules of the guide. `rules` may be null, which means
// the rules that come with Groma.
Result<ProgramResult> run_by(const Program* mapping, const ProgramRun& how,
                             const GuideRules* rules) {
  if (rules != nullptr) return run(mapping, how, *rules);
  const auto made = GuideRules::make();
  if (!made) return made.error();
  return run(mapping, how, *made);
}

}  // namespace

Result<ProgramResult> run_program(const Program& mapping, const ProgramRun& how,
                                  const GuideRules* rules) {
  return run_by(&mapping, how, rules);
}

Result<ProgramResult> run_program(const ProgramRun& how, const GuideRules* rules) {
  return run_by(nullptr, how, rules);
}

// Runs the program without the mapping and adds its results as a reference. A run that fails adds
// no reference, because its results are incomplete.
Result<CommandOutcome> run_without_mapping(const ProgramRun& run) {
  Command command;
  command.words = run.words;
  command.deadline_ms = run.timeout_ms;
  command.stop = run.stop;
  command.environment = inspect::environment_without_groma(run);
  auto outcome = run_command(command);
  if (outcome && run.results != nullptr && outcome->ended_well() &&
      inspect::is_comparable(*outcome)) {
    run.results->add_reference(outcome->out.text, outcome->err.text);
  }
  return outcome;
}

ProfileWords profile_words_of(const ProgramRun& run, const Program& mapping) {
  return profile_words_of(title_of(run), &mapping);
}

}  // namespace groma
