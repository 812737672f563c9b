// run_program(): runs a Legion program under a mapping. It sets up the environment, runs the
// program and interprets its output.
#include "groma/run_program.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "app/data.h"
#include "explain/json.h"
#include "explain/words.h"
#include "groma/system.h"
#include "guide/words.h"
#include "legion_run/checked.h"
#include "legion_run/comparable.h"
#include "legion_run/program_name.h"
#include "profile/json_text.h"
#include "profile/record_text.h"

namespace groma {
namespace {

namespace fs = std::filesystem;
using End = CommandOutcome::End;
using Stage = ProgramResult::Stage;

// Texts that lib/legion/preload*.cc write or read.
constexpr std::string_view kMapped = "groma: mapped by ";
constexpr std::string_view kRecords = "groma: records, ";
constexpr std::string_view kElsewhere = "groma: the first process records";
constexpr std::string_view kNotMapped = "groma: not mapped: ";
constexpr std::string_view kOtherResults = "groma: other results than without the mapping: ";
constexpr const char* kCheckFlag = "-lg:safe_mapper";
constexpr std::size_t kMostTextBytes = 96 << 10;  // Linux allows 128 KB for one variable

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns "NAME=first", followed by the variable's present value.
std::string before(const char* name, const std::string& first, const char* between) {
  const std::string rest = variable(name);
  return fmt::format("{}={}{}{}", name, first, rest.empty() ? "" : between, rest);
}

// Returns the variable that hands over the mapping: its text, or its path if the text is too long.
Result<std::string> mapping_variable(const Source& source) {
  if (source.text().size() <= kMostTextBytes) {
    std::string name(source.name());
    std::replace(name.begin(), name.end(), '\n', '?');
    return fmt::format("GROMA_MAPPING={}\n{}", name, source.text());
  }
  std::error_code code;
  const fs::path path = fs::absolute(source.name(), code);
  if (!code && fs::is_regular_file(path, code)) return "GROMA_MAPPING=" + path.string();
  return Error{Error::Code::kTooLarge,
               fmt::format("`{}` has {} bytes: a mapping of more than {} is handed over as a file",
                           source.name(), source.text().size(), kMostTextBytes)};
}

// Returns true if a launcher started this process, once for each process of the program.
bool is_launched() {
  static constexpr std::array kRanks = {
      "OMPI_COMM_WORLD_RANK", "PMIX_RANK",      "PMI_RANK",    "MV2_COMM_WORLD_RANK",
      "SLURM_STEP_ID",        "FLUX_TASK_RANK", "ALPS_APP_PE", "JSM_NAMESPACE_RANK"};
  return std::any_of(kRanks.begin(), kRanks.end(),
                     [](const char* rank) { return std::getenv(rank) != nullptr; });
}

bool has_cuda_driver() {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver != nullptr) dlclose(driver);
  return driver != nullptr;
}

// Returns the absolute path. If there is no current folder, returns the path as it is.
fs::path absolute(const std::string& path) {
  std::error_code code;
  fs::path made = fs::absolute(path, code);
  return code ? fs::path(path) : made;
}

// If this computer has no CUDA driver and Legion needs one, adds a stand-in library.
void add_stand_in(const ProgramRun& run, std::vector<std::string>& environment) {
  std::error_code code;
  const fs::path stand_in = absolute(run.library).parent_path() / "no_driver";
  if (!starts_processes_elsewhere(run.words.front()) && fs::is_directory(stand_in, code) &&
      !has_cuda_driver()) {
    environment.push_back(before("LD_LIBRARY_PATH", stand_in.string(), ":"));
  }
}

// Returns the environment of the program. An entry without `=` removes the variable.
Result<std::vector<std::string>> environment(const Program* mapping, const ProgramRun& run,
                                             const std::string& profile_file, bool checked) {
  const fs::path library = absolute(run.library);
  std::error_code code;
  if (!fs::is_regular_file(library, code)) {
    return Error{Error::Code::kUnreadable, fmt::format("there is no `{}`", run.library)};
  }
  if (library.string().find_first_of(" :") != std::string::npos) {
    return Error{
        Error::Code::kMalformed,
        fmt::format("`{}` cannot be preloaded: its path has a space or a colon", library.string())};
  }
  std::vector<std::string> made = {before("LD_PRELOAD", library.string(), ":"),
                                   before("REALM_DEFAULT_ARGS", "-logfile stderr", " "),
                                   "GROMA_API_KEY"};
  if (mapping != nullptr) {
    auto text = mapping_variable(mapping->source());
    if (!text) return text.error();
    made.push_back(std::move(text).value());
  } else {
    made.emplace_back("GROMA_MAPPING");
  }
  const auto hand_over = [&made](const std::string& name, const std::string& file) {
    made.push_back(file.empty() ? name : name + "=" + absolute(file).string());
  };
  hand_over("GROMA_RECORD", run.record_file);
  hand_over("GROMA_LOG", run.log_file);
  hand_over("GROMA_PROFILE", profile_file);
  if (checked) made.push_back(before("LEGION_DEFAULT_ARGS", kCheckFlag, " "));
  const bool each = is_launched() && !starts_processes_elsewhere(run.words.front());
  made.emplace_back(each ? "GROMA_EACH_PROCESS=1" : "GROMA_EACH_PROCESS");
  const std::vector<std::string>& any_layout = run.override_layouts.tasks;
  made.push_back(any_layout.empty()
                     ? "GROMA_OVERRIDE_LAYOUTS"
                     : fmt::format("GROMA_OVERRIDE_LAYOUTS={}", fmt::join(any_layout, "\n")));
  add_stand_in(run, made);
  return made;
}

// Reads the lines that Groma's library writes to standard error, among any other output.
class Announcements {
 public:
  void read(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t end = std::min(bytes.find('\n'), bytes.size());
      line_ += bytes.substr(0, std::min(end, kLongest - line_.size()));
      if (end == bytes.size()) return;
      take();
      bytes.remove_prefix(end + 1);
    }
  }
  void end() { take(); }

  int mapped = 0, records = 0, not_mapped = 0, elsewhere = 0;
  std::string machine;  // `nodes=1,gpu=0,cpu=4,omp=0,sysmem=512`, from the first record

 private:
  void take() {
    mapped += line_.starts_with(kMapped) ? 1 : 0;
    not_mapped += line_.starts_with(kNotMapped) ? 1 : 0;
    elsewhere += line_.starts_with(kElsewhere) ? 1 : 0;
    if (line_.starts_with(kRecords) && records++ == 0) {
      const std::size_t begin = line_.rfind("nodes=");
      if (begin != line_.npos) machine = line_.substr(begin);
      const bool plain =
          machine.find_first_not_of("abcdefghijklmnopqrstuvwxyz=,0123456789") == machine.npos;
      if (!plain) machine.clear();
    }
    line_.clear();
  }

  static constexpr std::size_t kLongest = 400;
  std::string line_;  // beginning of the current line
};

bool has_word(const ProgramRun& run, std::string_view word) {
  return std::find(run.words.begin(), run.words.end(), word) != run.words.end();
}

// Returns the kinds that Legion provides only with a flag and that the command lacks. Only known
// for an application, whose flags are all known.
std::vector<std::string> lacking(const ProgramRun& run) {
  std::vector<std::string> kinds;
  if (run.app == nullptr) return kinds;
  for (const char* kind : {"GPU", "FBMEM", "ZCMEM", "OMP", "SOCKMEM", "RDMEM"}) {
    const std::string_view flag = guide::legion_flag(kind);
    if (!has_word(run, flag.substr(0, flag.find(' ')))) kinds.emplace_back(kind);
  }
  return kinds;
}

// Describes how a program ended if no Legion runtime said more.
std::string words_of_end(const CommandOutcome& outcome) {
  if (outcome.end == End::kDeadline) return " before its time limit";
  if (outcome.end == End::kSignalled) return fmt::format("; signal {} ended it", outcome.code);
  if (outcome.end == End::kExited && outcome.code != 0) {
    return fmt::format("; it ended with exit code {}", outcome.code);
  }
  return "";
}

// Returns the guide's feedback from both outputs and the profile (null: none). `silent`: nothing
// was taken over and no message said why. `differs`: how the results differ from those without the
// mapping; empty: they do not.
Feedback explain(const GuideRules& rules, const CommandOutcome& outcome, const Program* mapping,
                 const ProgramRun& run, const ProfileFacts* profile, const ProgramResult& result,
                 bool silent, int exit_code, const std::string& differs) {
  GuideReader reader(rules);
  if (!differs.empty()) {
    reader.begin("groma run");
    reader.read(fmt::format("{}{}\n", kOtherResults, differs));
  }
  for (const CommandOutput* output : {&outcome.out, &outcome.err}) {
    reader.begin(output == &outcome.out ? "standard output" : "standard error");
    reader.read(std::string_view(output->text).substr(0, output->cut_at));
    if (output->left_out_bytes > 0) reader.read("\n");
    reader.read(std::string_view(output->text).substr(output->cut_at));
  }
  // Exit code 127: the command was not found, and the output says so.
  const bool never_began = outcome.end == End::kExited && outcome.code == 127;
  if (silent && !never_began) {
    reader.begin("groma run");
    reader.read(
        fmt::format("groma: no Legion: the program started no Legion that could be taken over{}\n",
                    words_of_end(outcome)));
  }
  GuideContext context;
  context.exit_code = exit_code;
  context.timed_out = outcome.end == End::kDeadline;
  context.program = mapping;
  context.profile = profile;
  context.lacking = lacking(run);
  if (result.checked || has_word(run, kCheckFlag)) {
    context.checks = "";
  } else if (mapping != nullptr) {
    context.checks = "`--checks always`";
  }
  context.maps_itself = mapping == nullptr;
  return reader.feedback(context);
}

// Reads the last line `elapsed 12.34 ms`; nullopt if there is none.
std::optional<ProgramResult::Measured> measured(std::string_view text, const Workload& app) {
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
  return ProgramResult::Measured{ms / 1000, work / (ms / 1000), app.data().unit};
}

// Returns true if Groma refused the mapping; such a refusal ends the process with a diagnostic.
bool is_refusal(const Feedback& feedback) {
  return !feedback.matches.empty() && feedback.matches.front().from == GuideMatch::From::kGroma;
}

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

// Returns the modification time of a file; nullopt if there is no file.
std::optional<fs::file_time_type> written(const std::string& file) {
  std::error_code code;
  const auto time = fs::last_write_time(file, code);
  return code ? std::nullopt : std::optional(time);
}

// ---- Results

constexpr int kMostReferences = 3;  // reference runs before a difference counts

bool ended_well(const CommandOutcome& outcome) {
  return outcome.end == End::kExited && outcome.code == 0;
}

// Compares the results with those of runs without the mapping. Returns how they differ; "" if they
// do not, or if they cannot be compared.
Result<std::string> other_results(const CommandOutcome& outcome, const ProgramRun& run,
                                  ProgramResult& result) {
  using Same = ProgramResult::Same;
  const auto cannot = [&result](Same why) {
    result.same_results = why;
    return std::string();
  };
  if (!inspect::is_comparable(outcome)) return cannot(Same::kTooLong);
  std::optional<ResultsDifference> difference;
  for (int references = run.results->has_reference() ? 1 : 0;; ++references) {
    if (references > 0) {
      difference = run.results->compare(outcome.out.text, outcome.err.text);
      if (!difference || references == kMostReferences) break;
    }
    const auto without = run_without_mapping(run);
    if (!without) return without.error();
    if (without->end == End::kStopped) {
      result.stopped = true;
      return cannot(Same::kUnknown);
    }
    // The program may fail sometimes; the first reference run succeeded.
    if (!ended_well(*without) && references > 0) break;
    if (!ended_well(*without)) return cannot(Same::kUnknown);
    if (!inspect::is_comparable(*without)) return cannot(Same::kTooLong);
  }
  if (!difference && !run.results->has_results()) return cannot(Same::kNothing);
  result.unsteady = run.results->unsteady();
  result.same_results = difference ? Same::kDifferent : Same::kSame;
  return difference ? to_text(*difference) : "";
}

// Returns why a successful run is not compared; kUnknown if it is compared.
ProgramResult::Same comparison(const Program* mapping, const ProgramRun& run, bool is_known) {
  using Same = ProgramResult::Same;
  if (mapping == nullptr || run.results == nullptr) return Same::kNotCompared;
  if (is_launched()) return Same::kLaunched;
  if (run.compare_failures_only) return Same::kNotCompared;
  return run.checks == ProgramRun::Checks::kFirst && is_known ? Same::kKnown : Same::kUnknown;
}

// Runs the program and judges the result. `mapping` is null if the program maps itself. `rules` may
// be null.
Result<ProgramResult> run(const Program* mapping, const ProgramRun& run, const GuideRules* rules) {
  GROMA_CHECK(!run.words.empty());
  std::optional<inspect::Checked> before;
  if (mapping != nullptr) before.emplace(*mapping, run, !is_launched());
  ProgramResult result;
  using Checks = ProgramRun::Checks;
  result.checked = before && (run.checks == Checks::kAlways ||
                              (run.checks == Checks::kFirst && !before->known()));
  std::optional<ScratchFolder> folder;
  if (run.profile) {
    auto made = ScratchFolder::make();
    if (!made) return made.error();
    folder.emplace(std::move(made).value());
  }
  const std::string profile_file = folder ? folder->path() + "/profile" : "";
  auto own = environment(mapping, run, profile_file, result.checked);
  if (!own) return own.error();
  std::optional<GuideRules> those_of_groma;
  if (rules == nullptr) {
    auto made = GuideRules::make();
    if (!made) return made.error();
    those_of_groma = std::move(made).value();
  }

  Command command;
  command.words = run.words;
  command.environment = std::move(own).value();
  command.deadline_ms = run.timeout_ms;
  command.stop = run.stop;
  Announcements announced;
  command.on_output = [&](std::string_view bytes, bool is_error) {
    if (is_error) announced.read(bytes);
    if (run.on_output) run.on_output(bytes, is_error);
  };
  const auto log_before = written(run.log_file);
  const auto outcome = run_command(command);
  if (!outcome) return outcome.error();
  announced.end();

  result.legion_runs = mapping == nullptr ? announced.records : announced.mapped;
  result.recorded_elsewhere = announced.elsewhere > 0;
  const bool taken_over = result.legion_runs > 0 || result.recorded_elsewhere;
  result.machine = announced.machine;
  result.stopped = outcome->end == End::kStopped;
  result.timed_out = outcome->end == End::kDeadline;
  result.seconds = outcome->seconds;
  result.exit_code = outcome->end == End::kExited      ? outcome->code
                     : outcome->end == End::kSignalled ? 128 + outcome->code
                                                       : 128 + 9;
  const int judged = result.exit_code == 0 && !taken_over ? 1 : result.exit_code;
  std::string differs;
  const auto compare = [&]() -> std::optional<Error> {
    auto said = other_results(*outcome, run, result);
    if (!said) return said.error();
    differs = std::move(said).value();
    return std::nullopt;
  };
  using Same = ProgramResult::Same;
  if (judged == 0) {
    result.same_results = comparison(mapping, run, before && before->known());
    if (result.same_results == Same::kUnknown) {
      if (auto error = compare()) return *error;
    }
  }
  if (judged == 0 && run.profile) read_record(profile_file, result);
  std::optional<ProfileFacts> profile;
  if (result.record != nullptr) {
    profile = facts_of(make_profile(result.record), words_of(title_of(run), mapping));
  }
  const auto feedback = [&] {
    return explain(rules == nullptr ? *those_of_groma : *rules, *outcome, mapping, run,
                   profile ? &*profile : nullptr, result, !taken_over && announced.not_mapped == 0,
                   judged, differs);
  };
  result.feedback = feedback();
  // The guide recognised a failure, but the program continued. If the program prints the same
  // without the mapping, the failure is normal for it.
  const auto fails = [&] {
    return judged == 0 && result.feedback.status == Feedback::Status::kError &&
           result.same_results != Same::kSame;
  };
  const bool may_compare = mapping != nullptr && run.results != nullptr && !is_launched();
  const bool was_compared =
      result.same_results != Same::kKnown && result.same_results != Same::kNotCompared;
  if (fails() && may_compare && !was_compared) {
    if (auto error = compare()) return *error;
    result.feedback = feedback();
  }
  if (!differs.empty()) {
    result.stage = Stage::kExecute;
    return result;
  }
  if (fails()) {
    result.stage = Stage::kExecute;
    return result;
  }
  if (judged != 0) {
    result.stage = !taken_over || is_refusal(result.feedback) ? Stage::kMap : Stage::kExecute;
    return result;
  }
  if (result.checked) before->remember();
  if (!run.log_file.empty() && written(run.log_file) == log_before) {
    result.stage = Stage::kExecute;
    result.feedback.execution = fmt::format(
        "`{}` ended well, but wrote no log to `{}`: does its launcher hand GROMA_LOG on?",
        run.words.front(), run.log_file);
    return result;
  }
  if (run.app == nullptr) return result;
  result.measured = measured(outcome->out.text, *run.app);
  if (!result.measured) {
    result.stage = Stage::kExecute;
    result.feedback.execution =
        fmt::format("`{}` ended well, but said no `elapsed` time", run.words.front());
  }
  return result;
}

// Returns why results were not compared, for JSON; "" if they were compared or comparison was not
// requested.
std::string_view reason(ProgramResult::Same same) {
  using Same = ProgramResult::Same;
  switch (same) {
    case Same::kUnknown:
      return "fails";
    case Same::kTooLong:
      return "too_long";
    case Same::kNothing:
      return "nothing";
    case Same::kKnown:
      return "known";
    case Same::kLaunched:
      return "launcher";
    case Same::kNotCompared:
    case Same::kSame:
    case Same::kDifferent:
      return "";
  }
  return "";
}

// Returns the same for people, to stand after the run's time.
std::string_view comparison_words(ProgramResult::Same same) {
  using Same = ProgramResult::Same;
  switch (same) {
    case Same::kSame:
      return "; it prints what it prints without it";
    case Same::kUnknown:
      return "; without it the program fails";
    case Same::kTooLong:
      return "; it prints too much to be compared with what it prints without it";
    case Same::kNothing:
      return "; whether its results are right is not known, since it prints none but times: use "
             "`--check-command`";
    case Same::kKnown:
      return "; not compared with a run without it, since the program ran well under it in the "
             "last 7 days (`--checks always` compares)";
    case Same::kLaunched:
      return "; not compared with a run without it, since a launcher started Groma";
    case Same::kNotCompared:
    case Same::kDifferent:
      return "";
  }
  return "";
}

// Returns what was not compared, to stand after comparison_words().
std::string unsteady_words(const UnsteadyResults& unsteady) {
  return unsteady.lines == 0 ? "" : ", except for " + to_text(unsteady);
}

}  // namespace

Result<ProgramResult> run_program(const Program& mapping, const ProgramRun& how,
                                  const GuideRules* rules) {
  return run(&mapping, how, rules);
}

Result<ProgramResult> run_program(const ProgramRun& how, const GuideRules* rules) {
  return run(nullptr, how, rules);
}

Result<CommandOutcome> run_without_mapping(const ProgramRun& run) {
  Command command;
  command.words = run.words;
  command.deadline_ms = run.timeout_ms;
  command.stop = run.stop;
  command.environment = {before("REALM_DEFAULT_ARGS", "-logfile stderr", " "), "GROMA_API_KEY"};
  for (const char* ours : {"GROMA_MAPPING", "GROMA_RECORD", "GROMA_LOG", "GROMA_PROFILE"}) {
    command.environment.emplace_back(ours);
  }
  add_stand_in(run, command.environment);
  auto outcome = run_command(command);
  if (outcome && run.results != nullptr && ended_well(*outcome) &&
      inspect::is_comparable(*outcome)) {
    run.results->add_reference(outcome->out.text, outcome->err.text);
  }
  return outcome;
}

ProfileWords words_of(const ProgramRun& run, const Program& mapping) {
  return words_of(title_of(run), &mapping);
}

std::string to_json(const ProgramResult& result, const Diagnostics& diags, const Profile* profile,
                    const ProfileWords& words) {
  OrderedJson json;
  const Feedback& feedback = result.feedback;
  json["status"] = result.ok() ? "ok" : "error";
  if (!result.ok()) {
    json["stage"] = result.stage == Stage::kMap ? "map" : "execute";
    json["raw"] = feedback.execution;
  }
  if (result.measured) {
    json["seconds"] = result.measured->seconds;
    json["throughput"] = result.measured->throughput;
    json["unit"] = result.measured->unit;
    json["runtime"] = "legion";
    json["total_seconds"] = result.seconds;
  } else {
    json["seconds"] = result.seconds;
    json["runtime"] = "legion";
  }
  json["exit_code"] = result.exit_code;
  json["timed_out"] = result.timed_out;
  json["checked"] = result.checked;
  using Same = ProgramResult::Same;
  const bool compared =
      result.same_results == Same::kSame || result.same_results == Same::kDifferent;
  json["same_results"] = compared ? OrderedJson(result.same_results == Same::kSame) : OrderedJson();
  const std::string_view why = reason(result.same_results);
  json["not_compared"] = why.empty() ? OrderedJson() : OrderedJson(why);
  json["unsteady_lines"] = result.unsteady.lines;
  json["score"] = nullptr;
  if (feedback.score) {
    json["score"] = {{"value", feedback.score->value},
                     {"unit", feedback.score->unit},
                     {"higher_is_better", feedback.score->higher_is_better}};
  }
  json["explain"] = feedback.explain;
  json["suggest"] = feedback.suggest;
  json["tried"] = false;
  json["fixes"] = OrderedJson::array();
  for (const Fix& fix : feedback.fixes) json["fixes"].push_back(json_of(diags.source(), fix));
  if (profile != nullptr) json["profile"] = profile::json_of(*profile, words);
  json["diagnostics"] = json_of(diags);
  return json_line(json);
}

std::string time_line(const ProgramResult& result, const Program& mapping, const ProgramRun& run) {
  if (!result.ok()) return "";
  const std::string checks =
      fmt::format("{}{}{}", result.checked ? ", with Legion's checks" : "",
                  comparison_words(result.same_results), unsteady_words(result.unsteady));
  const std::string mapper = harmless(mapping.source().name());
  if (!result.measured) {
    return fmt::format("{} under {}: {}{}\n", harmless(run.words.front()), mapper,
                       seconds_words(result.seconds), checks);
  }
  return fmt::format("{} on Legion by {}: {} measured, {}{}\n", harmless(run.app->name()), mapper,
                     seconds_words(result.measured->seconds),
                     rate_words(result.measured->throughput, harmless(result.measured->unit)),
                     checks);
}

std::string draw(const ProgramResult& result, const Program& mapping, const ProgramRun& run,
                 const Profile* profile, bool color) {
  if (!result.ok()) return draw(result.feedback, color);
  std::string text = draw_advice(result.feedback, color);
  if (profile == nullptr) return text;
  ProfileWords words = words_of(run, mapping);
  words.title = profile->record->is_beginning ? "the tasks and copies of the run's beginning"
                                              : "the tasks and copies of the run";
  return text + "\n" + groma::draw(*profile, words, color);
}

}  // namespace groma
