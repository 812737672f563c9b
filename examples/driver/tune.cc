// groma tune: searches for a faster mapping, or for a better text of any other kind.
#include "groma/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.h"
#include "console.h"
#include "groma/benchmarks.h"
#include "groma/columns.h"
#include "groma/evaluators.h"
#include "groma/explain.h"
#include "groma/inspect.h"
#include "groma/io.h"
#include "groma/proposers.h"
#include "groma/run.h"
#include "groma/search_directory.h"
#include "groma/system.h"
#include "groma/verify.h"
#include "inputs.h"
#include "legion_app.h"
#include "run_map.h"
#include "tune_words.h"

namespace driver {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// Default limits for the number of evaluations. A simulated run takes only milliseconds.
constexpr std::int64_t kSimulatedEvaluations = 100, kMeasuredEvaluations = 10;

// The time in seconds for a search if reading its inputs used up all of --time.
constexpr double kLeastSeconds = 1e-3;

// Returns an event in JSON with all diagnostics and the first of the most severe.
std::string event_of(const char* event, const groma::Diagnostics& diags) {
  const ordered_json all = ordered_json::parse(groma::to_json({&diags}))["diagnostics"];
  const auto error = std::find_if(
      all.begin(), all.end(), [](const ordered_json& each) { return each["severity"] == "error"; });
  const ordered_json& first = error == all.end() ? all.front() : *error;
  return ordered_json{{"event", event}, {"message", first["message"]}, {"diagnostics", all}}
             .dump() +
         "\n";
}

// Shows the progress of a search. On a terminal, one line is overwritten: best value, trajectory,
// cost and current step.
class Display {
 public:
  // `notes` are shown when the search begins.
  Display(const groma::Evaluator& evaluator, std::vector<groma::Diagnostics> notes, bool json)
      : evaluator_(evaluator),
        notes_(std::move(notes)),
        json_(json),
        live_(!json && can_rewrite_lines()) {}
  ~Display() { clear(); }
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  void operator()(const groma::TuneEvent& event) {
    using Kind = groma::TuneEvent::Kind;
    for (const groma::Diagnostics& each : std::exchange(notes_, {})) {
      if (json_) say(event_of("note", each));
      if (!json_) show_diagnostics(each);
    }
    if (event.kind == Kind::kEstimating && !due()) return;
    if (json_) return say(groma::to_json(event));
    if (event.kind == Kind::kEvaluated) {
      scores_.push_back(event.step->evaluation.score);
      if (scores_.size() > kShown) scores_.erase(scores_.begin());
      if (event.is_best || event.within_noise) say_better(event);
    }
    if (!live_) return;
    rewrite_line(line(event));
    shown_ = true;
  }

  void clear() {
    if (shown_) rewrite_line("");
    shown_ = false;
  }
  // Returns true if everything could be printed. A failure to print is reported once.
  bool fine() const { return fine_; }
  void say(std::string_view text) { fine_ = fine_ && print(text) == kFine; }

 private:
  static constexpr std::size_t kShown = 30, kLeastShown = 5;  // steps (letters) of the trajectory
  // Columns for the current step; the trajectory gets shorter for them.
  static constexpr std::size_t kDoing = 24;

  // Limits how often estimates are shown: twice a second, ten times on a terminal. Hundreds may
  // come in a second.
  bool due() {
    const auto now = std::chrono::steady_clock::now();
    if (now < due_) return false;
    due_ = now + std::chrono::milliseconds(json_ ? 500 : 100);
    return true;
  }

  std::string line(const groma::TuneEvent& event) const {
    const std::size_t columns = error_columns() - 1;
    const double best = event.best_score;
    const std::string first = std::isfinite(best)
                                  ? fmt::format("best {} ", groma::value_words(evaluator_, best))
                                  : "no best yet ";
    const std::string last = fmt::format(" {}: ", cost(event.spent)), trying = doing(event);
    const std::size_t used =
        groma::columns_of(first + last) + std::min(groma::columns_of(trying), kDoing);
    const std::size_t letters = std::clamp(columns - std::min(used, columns), kLeastShown, kShown);
    return groma::fitting(
        first + groma::sparkline(scores_, letters, evaluator_.higher_is_better()) + last + trying,
        columns);
  }

  static std::string doing(const groma::TuneEvent& event) {
    using Kind = groma::TuneEvent::Kind;
    switch (event.kind) {
      case Kind::kProposed:
        return event.proposal->why;
      case Kind::kEvaluated:
        return event.step->proposal.why;
      case Kind::kAsking:
        return "asking the model";
      case Kind::kRejected:
        return event.text;
      case Kind::kResumed:
        return "going on";
      case Kind::kEstimating:
        return fmt::format("estimating {} of {}", event.spent.estimates, event.most_estimates);
    }
    return "";
  }

  static std::string cost(const groma::TuneSpending& spent) {
    std::string words =
        fmt::format("{} run{}", spent.evaluations, spent.evaluations == 1 ? "" : "s");
    if (spent.model_calls > 0) {
      words += fmt::format(", {} asked, ", spent.model_calls);
      words += spent.tokens < 10'000 ? fmt::format("{} tokens", spent.tokens)
                                     : fmt::format("{}k tokens", spent.tokens / 1000);
    }
    if (spent.money > 0) words += fmt::format(", {:.2f}", spent.money);
    return words + fmt::format(", {:.0f} s", spent.seconds);
  }

  void say_better(const groma::TuneEvent& event) {
    clear();
    const groma::Step& step = *event.step;
    const std::string not_taken =
        event.within_noise
            ? fmt::format(" (not taken: within the noise, {:.{}f} %)", 100 * step.evaluation.noise,
                          step.evaluation.noise < 0.1 ? 1 : 0)
            : "";
    const auto value = [&](int digits) {
      return groma::value_words(evaluator_, step.evaluation.score, digits);
    };
    const bool looks_alike = value(4) == std::exchange(said_, value(4));
    const std::string words = fmt::format("{:>5}  {}  {}{}", step.number,
                                          value(looks_alike ? 7 : 4), step.proposal.why, not_taken);
    say(groma::harmless(words) + "\n");
  }

  const groma::Evaluator& evaluator_;
  std::vector<groma::Diagnostics> notes_;
  bool json_, live_, shown_ = false, fine_ = true;
  std::string said_;  // the last better value that was shown
  std::vector<double> scores_;
  std::chrono::steady_clock::time_point due_;  // when estimates may be shown again
};

// ---- Errors that prevent a search; with --json one line like everything else

int refuse_search(const groma::Error& error, bool json) {
  if (!json) return refuse(error);
  static_cast<void>(
      print(ordered_json{{"event", "error"}, {"message", error.message}, {"help", error.help}}.dump(
                -1, ' ', false, ordered_json::error_handler_t::replace) +
            "\n"));
  return kWrongInput;
}

int refuse_search(const groma::Diagnostics& diags, bool json) {
  if (!json) return fail(diags, false);
  static_cast<void>(print(event_of("error", diags)));
  return kWrongInput;
}

// Returns an error if the directory that the option names is not a directory.
std::optional<groma::Error> no_directory(const char* option, const std::string& name) {
  auto error = groma::not_a_directory(name);
  if (!error) return std::nullopt;
  error->message = fmt::format("{}: {}", option, error->message);
  error->help += fmt::format(": {} DIR", option);
  return error;
}

// ---- Subject of the search and its evaluators

struct Subject {
  groma::Problem problem;
  std::optional<groma::Application> app;                   // the first application, if there is one
  std::vector<std::pair<std::string, std::string>> marks;  // for TuneOptions
  std::vector<groma::Diagnostics> notes;                   // diagnostics of the inputs
  std::unique_ptr<groma::Evaluator> runtime;               // evaluates mappings
  std::unique_ptr<groma::Evaluator> command;  // evaluates with the command, if any; uses `runtime`

  groma::Evaluator& evaluator() { return command ? *command : *runtime; }
};

// Sets the commands with which `groma run` measures a mapping, after a run under Legion's checks.
void measure_on_legion(TuneArguments* arguments) {
  std::error_code ignored;
  const std::string self = fs::read_symlink("/proc/self/exe", ignored).string();
  groma::CommandEvaluatorOptions& command = arguments->command;
  command =
      groma::with_legion_commands(std::move(command), self, arguments->apps, arguments->flags);
  // Wrong flags are reported by read_problem.
  const auto machine = machine_of(arguments->flags);
  if (machine) command.lacking = groma::lacking_kinds(*machine);
}

// Returns the diagnostics if some task can run on no processor of the machine under any mapping,
// otherwise nothing.
std::optional<groma::Diagnostics> cannot_begin(const groma::Machine& machine,
                                               const groma::Workload& workload,
                                               const std::string& app,
                                               groma::CheckOptions options) {
  groma::Diagnostics diags(groma::Source(shown_name(app), ""));
  const auto bound = groma::bind(groma::compile(diags.source(), diags), machine, diags);
  if (!bound) return diags;
  diags.clear();  // drops the warning that there are no statements
  options.first_error = true;
  groma::check_run(*bound, workload, diags, options);
  const auto& all = diags.all();
  const bool without = std::any_of(all.begin(), all.end(), [](const groma::Diagnostic& each) {
    return each.id == groma::DiagId::kNoVariant;
  });
  return without ? std::optional(std::move(diags)) : std::nullopt;
}

// If a start fails only for lack of memory, which a search may cure, returns its errors as
// warnings.
std::optional<groma::Diagnostics> want_of_room(const groma::Diagnostics& said) {
  groma::Diagnostics warnings(said.source());
  for (const groma::Diagnostic& each : said.all()) {
    const bool is_error = each.severity == groma::Severity::kError;
    if (is_error && each.id != groma::DiagId::kOutOfMemory) return std::nullopt;
    groma::Diagnostic& warning = warnings.add(each.id, each.range, each.args);
    warning.lower_to(groma::Severity::kWarning);
    warning.notes = each.notes;
  }
  return warnings;
}

// Reads the machine and the applications. Returns false after reporting the reason if that fails.
bool read_problem(const TuneArguments& arguments, std::optional<groma::Diagnostics> start,
                  Subject* subject) {
  groma::Problem* problem = &subject->problem;
  std::optional<groma::Diagnostics> diags;
  groma::CheckOptions check;
  check.max_bytes = arguments.simulate.max_bytes;
  check.stop = arguments.simulate.stop;
  for (const std::string& app : arguments.apps) {
    if (arguments.simulate.stop()) {
      refuse_search({groma::Error::Code::kStopped,
                     "the time was over before all applications were read", "give more `--time`"},
                    arguments.json);
      return false;
    }
    auto with = read_inputs(arguments.machine, app, &diags,
                            {arguments.simulate.stop, arguments.program.override_layouts});
    if (!with) {
      refuse_search(*diags, arguments.json);
      return false;
    }
    if (arguments.on == "legion") {
      check_flags(app, *with->workload, arguments.flags);
      auto machine = machine_of(arguments.flags);
      if (!machine) {
        refuse_search(machine.error(), arguments.json);
        return false;
      }
      with->machine = std::move(machine).value();
      with->app = groma::on_cpus(*std::move(with->app));
      with->workload = groma::Workload::make(*with->app).value();
    }
    if (!problem->machine) {
      problem->machine = std::make_shared<const groma::Machine>(*with->machine);
      subject->marks.emplace_back(arguments.machine.empty() ? "legion" : arguments.machine,
                                  groma::machine_to_json(*with->machine));
    }
    subject->marks.emplace_back(app, groma::application_to_json(*with->app));
    problem->inputs.push_back(*with->workload);
    if (!subject->app) subject->app = with->app;
    if (const auto why = cannot_begin(*with->machine, *with->workload, app, check)) {
      refuse_search(*why, arguments.json);
      return false;
    }
    groma::Diagnostics notes(groma::Source(shown_name(app), ""));
    groma::check_nodes(*with->machine, *with->app, notes);
    if (!notes.all().empty()) subject->notes.push_back(std::move(notes));
    if (!start) continue;
    groma::check(start->source(), &*with->machine, &*with->workload, *start, nullptr, check);
    if (start->has_errors()) {
      auto short_of_room = want_of_room(*start);
      if (!short_of_room) {
        refuse_search(*start, arguments.json);
        return false;
      }
      subject->notes.push_back(*std::move(short_of_room));
    }
    start->clear();
    if (arguments.apps.size() > 1) continue;  // the name may belong to another application
    groma::Diagnostics names(start->source());
    groma::check_names(groma::compile(start->source(), *start), *with->workload, names);
    start->clear();
    if (!names.all().empty()) subject->notes.push_back(std::move(names));
  }
  return true;
}

// Makes the evaluator of the command. Fails if the options contradict each other.
groma::Result<std::unique_ptr<groma::Evaluator>> read_command(const TuneArguments& arguments) {
  groma::CommandEvaluatorOptions options = arguments.command;
  options.file_suffix = arguments.file.empty() ? std::string(".mapper")
                                               : fs::path(arguments.file).extension().string();
  // It is unknown what is printed for a text that is not a mapping, and which lines of JSON are
  // results.
  const bool has_lines = arguments.file.empty() && options.metric_pointer.empty();
  // These programs check their results themselves.
  const bool own_programs = arguments.on == "legion";
  if (arguments.program.checks != "never" && !own_programs &&
      (has_lines || !arguments.program.same.empty())) {
    options.results = results_options(arguments.program);
  }
  auto command = groma::make_command_evaluator(std::move(options));
  const bool meant = command || command.error().code != groma::Error::Code::kMalformed;
  if (meant || arguments.tune.resume) return command;
  const groma::Error& error = command.error();
  throw CLI::ValidationError("--command",
                             error.message + (error.help.empty() ? "" : "; " + error.help));
}

// Reads everything that is searched. Returns nothing after reporting the reason if that fails.
std::optional<Subject> read_subject(const TuneArguments& arguments,
                                    const std::string& recorded_start) {
  Subject subject;
  if (!arguments.command.command.empty()) {
    auto command = read_command(arguments);
    if (!command) {
      refuse_search(command.error(), arguments.json);
      return std::nullopt;
    }
    subject.command = std::move(command).value();
  }
  std::optional<groma::Diagnostics> start;
  const std::string& path = arguments.file.empty() ? arguments.start : arguments.file;
  if (arguments.tune.resume) {
    subject.problem.start = recorded_start;
  } else if (!path.empty()) {
    if (!read_source(path, &start)) {
      refuse_search(*start, arguments.json);
      return std::nullopt;
    }
    subject.problem.start = std::string(start->source().text());
  }
  subject.problem.about = arguments.about;
  if (!arguments.file.empty()) subject.problem.file = shown_name(arguments.file);
  if (!read_problem(arguments, std::move(start), &subject)) return std::nullopt;
  if (subject.problem.is_mapping()) {
    groma::SimulateOptions simulate = arguments.simulate;
    if (subject.command) simulate.max_bytes = groma::SimulateOptions().max_bytes;
    subject.runtime =
        groma::make_simulated_evaluator(subject.problem.machine, subject.problem.inputs, simulate);
  }
  if (subject.command && subject.runtime) {
    subject.command =
        groma::make_measured_mappings_evaluator(std::move(subject.command), *subject.runtime);
  }
  return subject;
}

// Returns the proposer with this name, or null.
const groma::ProposerInfo* info_of(std::string_view proposer) {
  const auto infos = groma::proposers();
  const auto found =
      std::find_if(infos.begin(), infos.end(),
                   [proposer](const groma::ProposerInfo& info) { return info.name == proposer; });
  return found == infos.end() ? nullptr : &*found;
}

// Returns the exit code for the way in which the search ended.
int exit_code_of(const groma::TuneOutcome& outcome) {
  using End = groma::TuneOutcome::End;
  if (outcome.end == End::kStopped) return kInterrupted;
  return outcome.best && outcome.end != End::kModel ? kFine : kWrongInput;
}

// ---- Resumed searches

// Names the commands of a search's directory, so that the user can judge them: they may come from a
// stranger.
std::string commands_of(const groma::CommandEvaluatorOptions& options) {
  std::string words = "`" + visible(options.command) + "`";
  if (!options.check_command.empty()) words += " and `" + visible(options.check_command) + "`";
  for (const std::string& input : options.inputs) {
    words +=
        fmt::format("{}`{}`", &input == options.inputs.data() ? " with " : ", ", visible(input));
  }
  return words + " in `" + visible(options.folder) + "`";
}

// Returns true if the name (perhaps followed by parameters) is standard input, a pipe, a device, or
// a file that the system generates while it is read.
bool may_never_end(const fs::path& folder, const std::string& name) {
  if (name == "-" || name.starts_with("-:")) return true;
  for (std::size_t end = name.size(); end != name.npos && end > 0; end = name.rfind(':', end - 1)) {
    std::error_code ignored;
    const fs::path path = folder / name.substr(0, end);
    const fs::file_status status = fs::status(path, ignored);
    if (!fs::exists(status)) continue;
    if (!fs::is_regular_file(status) && !fs::is_directory(status)) return true;
    const std::string real = fs::canonical(path, ignored).string() + "/";
    for (const char* made_up : {"/dev/", "/proc/", "/sys/"}) {
      if (real.starts_with(made_up)) return true;
    }
  }
  return false;
}

// Sets *arguments to those with which the search in the directory began, and *start to the text of
// its start. Anything in the directory may come from a stranger. So nothing in it decides what is
// run, where, or what is written outside of the directory, unless --trust allows that.
std::optional<groma::Error> read_search(TuneArguments* arguments, std::string* start) {
  if (auto error = no_directory("--resume", arguments->resume)) return error;
  if (auto error = groma::link_in_search(arguments->resume)) return error;
  const auto before = groma::recorded_search(arguments->resume);
  if (!before) return before.error();
  *start = before->start;
  const groma::CommandEvaluatorOptions of_verify = std::exchange(arguments->command, {});
  const ProgramArguments program = std::exchange(arguments->program, {});
  if (auto error = read_words(before->fingerprint, arguments)) return error;
  arguments->tune.fingerprint = before->fingerprint;
  const groma::LayoutOverrides overrides = arguments->program.override_layouts;
  if (arguments->on == "legion") measure_on_legion(arguments);
  groma::CommandEvaluatorOptions& command = arguments->command;
  const auto wrong = [&](const std::string& message, std::string help) {
    return groma::Error{groma::Error::Code::kMalformed,
                        fmt::format("the search in `{}` {}", arguments->resume, message),
                        std::move(help)};
  };
  if (arguments->chat.temperature && arguments->chat.temperature != arguments->ask.temperature) {
    return wrong("was begun with another temperature", "leave out `--temperature`");
  }
  if (const auto& given = program.override_layouts.tasks; given != overrides.tasks) {
    if (!given.empty()) return wrong("was begun with another `--override-layouts`", "leave it out");
    // What the directory says must not decide how the user's program runs.
    if (arguments->verify && !arguments->trust) {
      const std::string recorded =
          fmt::format("{}", fmt::join(overrides.tasks, " --override-layouts="));
      return wrong(fmt::format("was begun with `--override-layouts={}`", visible(recorded)),
                   "its mappings may change what the program computes: give the option again if "
                   "the tasks work with any layout");
    }
  }
  std::vector<std::string> files = arguments->apps;
  files.push_back(arguments->machine);
  for (const std::string& file : files) {
    if (may_never_end(fs::path(command.folder), file)) {
      return wrong(fmt::format("has no file for `{}`", visible(file)),
                   "a pipe or a device cannot be read again: put a file in its place");
    }
  }
  const bool runs_commands = !command.command.empty();
  if (runs_commands && arguments->verify) {
    return wrong("measured what it searched for already", "leave out `--verify`");
  }
  if (runs_commands && !arguments->trust) {
    return wrong(
        "runs " + commands_of(command),
        "the directory is as trustworthy as who made it: `--trust` runs what stands there");
  }
  if (runs_commands && of_verify.memory_bytes > 0) {
    return wrong("has its own memory for a run", "leave out `--memory`");
  }
  if (runs_commands) print_error(fmt::format("groma: runs {}\n", commands_of(command)));
  if (arguments->verify) {
    const std::string folder = command.folder;
    command = of_verify;
    arguments->program = program;
    arguments->program.override_layouts = overrides;
    command.folder = folder;  // folder of the machine's and the applications' files
  }
  return std::nullopt;
}

// Returns true if a resumed search may ask a model: the command line names the model or trusts the
// directory. A key in the environment is not a reason to spend money.
bool names_model(const TuneArguments& arguments) {
  const ChatArguments& chat = arguments.chat;
  return arguments.trust || !chat.endpoint.empty() || !chat.model.empty() ||
         !chat.key_file.empty() || !chat.replay.empty();
}

// Fails with wrong usage if an input is given twice, or if the options do not say what is searched.
void check_usage(const TuneArguments& arguments) {
  std::vector<std::string> inputs = arguments.apps;
  for (const std::string& input : {arguments.machine, arguments.start, arguments.file}) {
    inputs.push_back(input);
  }
  check_standard_input(inputs);
  for (auto app = arguments.apps.begin(); app != arguments.apps.end(); ++app) {
    if (std::find(arguments.apps.begin(), app, *app) != app) {
      throw CLI::ValidationError("--app", fmt::format("`{}` is there twice", visible(*app)));
    }
  }
  if (!arguments.resume.empty()) return;
  if (arguments.apps.empty() && arguments.file.empty()) {
    throw CLI::ValidationError("--app, --file", "one of them says what is searched");
  }
  if (!arguments.apps.empty() && !arguments.file.empty()) {
    throw CLI::ValidationError("--app, --file",
                               "of an application a mapping is searched, and a mapping to begin "
                               "with is `--start`; `--file` is any other text");
  }
}

// Fills in the values that no option sets.
void complete(TuneArguments* arguments) {
  groma::TuneBudget& budget = arguments->tune.budget;
  if (!arguments->tune.resume) {
    std::error_code ignored;
    arguments->command.folder = fs::current_path(ignored).string();
    arguments->ask.temperature = arguments->chat.temperature;
    budget.evaluations =
        arguments->command.command.empty() ? kSimulatedEvaluations : kMeasuredEvaluations;
    if (arguments->proposer.empty()) {
      arguments->proposer = arguments->file.empty() ? "guided" : "marks";
    }
  }
  if (arguments->evaluations) budget.evaluations = *arguments->evaluations;
  if (arguments->seconds) budget.seconds = *arguments->seconds;
  if (arguments->tokens) budget.tokens = *arguments->tokens;
  if (arguments->money) budget.money = *arguments->money;
  arguments->tune.feedback = *groma::guide_detail(arguments->feedback);
}

// ---- Verification with the real program

// Returns what the search's program is and how it is measured. Fails if the program or the metric
// cannot be used, or if this build has no library for Legion programs.
groma::Result<groma::VerifyOptions> verify_options(const TuneArguments& arguments,
                                                   const Subject& subject, ProgramArguments program,
                                                   groma::CommandEvaluatorOptions metric) {
  groma::VerifyOptions options;
  options.run.words = program.words;
  options.metric = std::move(metric);
  if (auto error = groma::wrong_verify_options(options)) return *std::move(error);
  program.timeout_s = static_cast<double>(arguments.command.timeout_ms) / 1e3;
  auto run = program_run(program);
  if (!run) return run.error();
  options.run = *std::move(run);
  options.run.compare_failures_only = program.checks == "never";
  options.run.stop = [] { return interrupted(); };
  options.results = results_options(program);
  options.repeats = arguments.command.repeats;
  options.app = &*subject.app;
  options.machine = subject.problem.machine;
  return options;
}

// Runs the program before the search and prints warnings if it is not what the search is for.
groma::Result<std::vector<std::string>> look_at_program(const TuneArguments& arguments,
                                                        const Subject& subject) {
  const auto options = verify_options(arguments, subject, arguments.program, arguments.command);
  if (!options) return options.error();
  auto warnings = groma::look_at_program(*options);
  if (interrupted() || !warnings || arguments.json) return warnings;
  for (const std::string& warning : *warnings) {
    print_error(fmt::format("groma: warning: {}\n", warning));
  }
  return warnings;
}

// Verifies the mappings and shows the progress.
groma::Result<groma::Verification> verify(const std::vector<groma::VerifyCandidate>& candidates,
                                          groma::VerifyOptions options, bool json) {
  if (!json) {
    print_error(fmt::format(
        "groma: runs the program without a mapping and under {} mapping{} for real, each "
        "{} times, the first not counted\n",
        candidates.size(), candidates.size() == 1 ? "" : "s", options.repeats + 1));
  }
  ProgressLine line("verifying");
  options.on_run = [&line, repeats = options.repeats](const std::string& name, int run) {
    line.update(fmt::format("{}, run {} of {}", name, run, repeats));
  };
  return groma::verify(candidates, options);
}

// Verifies the best mappings and returns the exit code. The fastest one is written to
// verified.mapper in the search's directory.
int verify_search(const TuneArguments& arguments, const groma::TuneOutcome& outcome,
                  const groma::BestSteps& best, const Subject& subject,
                  const groma::Evaluator& evaluator, const std::vector<std::string>& warnings) {
  auto options = verify_options(arguments, subject, arguments.program, arguments.command);
  if (!options) return refuse_search(options.error(), arguments.json);
  const auto verified =
      verify(groma::candidates_of(outcome, best, evaluator), *std::move(options), arguments.json);
  if (interrupted()) return kInterrupted;
  if (!verified) return refuse_search(verified.error(), arguments.json);
  const groma::VerifiedMapping* const winner = verified->fastest();
  std::string text = arguments.json ? groma::to_json(*verified, warnings)
                                    : groma::draw(*verified, arguments.program.words.front(),
                                                  evaluator.unit(), subject.app->metric.phase);
  if (winner != nullptr) {
    const std::string file = arguments.tune.directory + "/" + groma::kVerifiedFile;
    if (const auto error = groma::replace_file(file, winner->candidate.text)) {
      return refuse_search(*error, arguments.json);
    }
    if (!arguments.json) text += fmt::format("in     {}\n", file);
  }
  return print(text) == kFine && winner != nullptr ? kFine : kWrongInput;
}

// Returns how to tune a Legion program that does not come with Groma.
std::string for_other_programs(const std::string& app) {
  const std::string recorded = app.ends_with(".json") ? visible(app) : "APP.json";
  return fmt::format(
      "any other program: `groma tune --app {0} --machine M --verify -- PROGRAM ARGS` simulates "
      "the mappings and then runs the best ones; `groma tune --app {0} --command 'groma run --map "
      "{{file}} -- PROGRAM ARGS'` runs each one (`groma record` writes {0})",
      recorded);
}

// After a search on Legion: measures the start and the best mapping beside the program without a
// mapping, for each application. Returns the exit code.
int compare_without_mapping(const TuneArguments& arguments, const groma::TuneOutcome& outcome,
                            const Subject& subject) {
  const std::vector<groma::VerifyCandidate> candidates = groma::candidates_of(outcome);
  for (std::size_t i = 0; i < arguments.apps.size(); ++i) {
    const auto path = legion_program(arguments.apps[i], for_other_programs(arguments.apps[i]));
    if (!path) return refuse_search(path.error(), arguments.json);
    ProgramArguments program = arguments.program;
    program.words = {*path};
    for (const auto& more : {parameters_of(subject.problem.inputs[i]), arguments.flags}) {
      program.words.insert(program.words.end(), more.begin(), more.end());
    }
    program.checks = "never";  // these programs check their results themselves
    auto options = verify_options(arguments, subject, std::move(program), {});
    if (!options) return refuse_search(options.error(), arguments.json);
    const auto verified = verify(candidates, *std::move(options), arguments.json);
    if (interrupted()) return kInterrupted;
    if (!verified) return refuse_search(verified.error(), arguments.json);
    const std::string text = arguments.json ? groma::to_json(*verified, {})
                                            : groma::draw(*verified, arguments.apps[i], "", "");
    if (print(text) != kFine) return kWrongInput;
  }
  return kFine;
}

// Starts or resumes a search and shows its progress. Returns the exit code.
int run(TuneArguments arguments) {
  check_usage(arguments);
  catch_interrupts();
  const bool json = arguments.json;
  if (const auto error = no_directory("--out", arguments.out)) return refuse_search(*error, json);
  if (arguments.on == "legion" && arguments.resume.empty()) {
    arguments.flags = with_cpus(arguments.flags);
    arguments.machine.clear();
    for (std::string& app : arguments.apps) {
      if (const auto program = legion_program(app, for_other_programs(app)); !program) {
        return refuse_search(program.error(), json);
      }
      app = for_this_computer(app);
    }
    measure_on_legion(&arguments);
  }
  std::string recorded_start;
  arguments.tune.resume = !arguments.resume.empty();
  if (arguments.tune.resume) {
    if (const auto error = read_search(&arguments, &recorded_start))
      return refuse_search(*error, json);
  }
  complete(&arguments);
  groma::TuneOptions& options = arguments.tune;
  // The time for reading and checking the inputs counts, too.
  const Deadline deadline(options.budget.seconds > 0 ? options.budget.seconds : HUGE_VAL);
  arguments.simulate.stop = [&deadline] { return interrupted() || deadline.over(); };
  std::error_code ignored;
  const fs::path here = fs::current_path(ignored);
  fs::current_path(arguments.command.folder, ignored);  // the folder in which the search began
  auto subject = read_subject(arguments, recorded_start);
  fs::current_path(here, ignored);
  if (interrupted()) return kInterrupted;
  if (!subject) return kWrongInput;
  groma::Problem& problem = subject->problem;
  auto proposer = groma::make_proposer(arguments.proposer, problem, options.seed, arguments.ask);
  const groma::ProposerInfo* info = info_of(arguments.proposer);
  const bool usable = info != nullptr && (problem.is_mapping() || !info->mappings_only) &&
                      // There is no start.
                      !(problem.is_mapping() && problem.start.empty() && info->name == "marks");
  if (!usable && !options.resume) {
    throw CLI::ValidationError("--proposer",
                               proposer.error().message + "; " + proposer.error().help);
  }
  if (!proposer) return refuse_search(proposer.error(), json);
  for (const auto& [name, given] : {std::pair("--tokens", arguments.tokens.has_value()),
                                    {"--money", arguments.money.has_value()}}) {
    if (info->asks_model || !given) continue;
    throw CLI::ValidationError(name, fmt::format("`{}` asks no model", info->name));
  }
  std::optional<groma::ChatClient> model;
  if (info->asks_model) {
    if (options.resume && !names_model(arguments)) {
      return refuse_search(
          {groma::Error::Code::kMalformed,
           fmt::format("the search in `{}` asks a model", arguments.resume),
           "say which: `--endpoint` or `--model`; `--trust` asks the public one of the API"},
          json);
    }
    if (options.budget.money > 0 && arguments.chat.price.empty()) {
      throw CLI::ValidationError("--price", "the search has a budget of money, which needs it");
    }
    groma::ChatOptions chat;
    chat.max_tokens = options.budget.tokens;
    chat.max_money = options.budget.money;
    auto client = make_chat_client(arguments.chat, std::move(chat));
    if (!client) return refuse_search(client.error(), json);
    model = std::move(client).value();
  }
  std::vector<std::string> warnings;
  if (arguments.verify) {
    auto looked = look_at_program(arguments, *subject);
    if (interrupted()) return kInterrupted;
    if (!looked) return refuse_search(looked.error(), json);
    warnings = std::move(looked).value();
  }
  options.directory = options.resume          ? arguments.resume
                      : arguments.out.empty() ? groma::make_search_directory()
                                              : arguments.out;
  if (!options.resume) {
    options.fingerprint = words_of(arguments);
    for (const auto& error :
         {groma::link_in_search(options.directory), groma::replaced_by_search(options.directory)}) {
      if (error) return refuse_search(*error, json);
    }
  }
  if (options.compare) options.evaluate_start = !problem.start.empty();
  options.marks = subject->marks;
  groma::Evaluator& evaluator = subject->evaluator();
  const groma::TuneBudget& budget = options.budget;
  const bool unbounded =
      budget.evaluations == 0 && budget.tokens == 0 && !(budget.seconds > 0) && !(budget.money > 0);
  if (unbounded && !json) {
    print_error("groma: there is no bound: Ctrl-C ends the search, and leaves the best so far\n");
  }
  Display display(evaluator, std::move(subject->notes), json);
  groma::BestSteps best;
  options.on_event = [&](const groma::TuneEvent& event) {
    display(event);
    if (event.kind == groma::TuneEvent::Kind::kEvaluated) best.add(*event.step);
  };
  options.stop = [] { return interrupted(); };
  const bool estimates = subject->command && options.budget.estimates > 0;
  if (options.budget.seconds > 0) {  // 0 would mean no limit
    options.budget.seconds = std::max(kLeastSeconds, deadline.seconds_left());
  }
  const auto outcome = groma::tune(problem, evaluator, **proposer, model ? &*model : nullptr,
                                   estimates ? subject->runtime.get() : nullptr, options);
  display.clear();
  if (!outcome) return refuse_search(outcome.error(), json);
  std::string left;
  if (outcome->best) left = problem.is_mapping() ? "best.mapper, " : "best.txt, ";
  display.say(json ? groma::to_json(*outcome)
                   : fmt::format("\n{}in     {}: {}report.txt, steps.txt, journal.jsonl\n",
                                 groma::draw(*outcome, evaluator), options.directory, left));
  const bool stopped = outcome->end == groma::TuneOutcome::End::kStopped;
  if ((stopped || outcome->spent_before) && !json) {
    // Each budget has the name of its option.
    const std::string more =
        stopped ? "" : fmt::format(" --{} N, with a larger N", outcome->budget);
    display.say(fmt::format("go on  groma tune --resume {}{}{}\n", options.directory,
                            subject->command ? " --trust" : "", more));
  }
  if (!display.fine()) return kWrongInput;
  const bool is_other =
      outcome->best && outcome->start && outcome->best->number != outcome->start->number;
  const bool is_checked =
      !arguments.program.same.empty() || !arguments.command.check_command.empty();
  if (is_other && !arguments.file.empty() && !is_checked && !json) {
    print_error(
        "groma: nothing checked whether what the command prints is right: `--same RE` names lines "
        "that must stay, `--check-command` judges a text\n");
  }
  const int code = exit_code_of(*outcome);
  if (arguments.on == "legion" && outcome->best && !outcome->spent_before && code == kFine &&
      !deadline.over()) {
    return compare_without_mapping(arguments, *outcome, *subject);
  }
  if (arguments.program.words.empty() || code == kInterrupted || !outcome->best) return code;
  return verify_search(arguments, *outcome, best, *subject, evaluator, warnings);
}

// ---- The command line.

constexpr const char* kModelGroup = "A language model";
// Options for measuring runs: with --command and --verify, also of a resumed search.
constexpr std::array kMeasuring = {
    "--metric",          "--metric-json", "--unit", "--higher-is-better", "--repeats",
    "--timeout",         "--checks",      "--same", "--tolerance",        "--library",
    "--override-layouts"};

// Adds the options for searches that a command judges.
void add_command_options(CLI::App& command, TuneArguments* arguments) {
  constexpr const char* kGroup = "Judged by a command";
  groma::CommandEvaluatorOptions& how = arguments->command;
  auto* run = command.add_option("--command", how.command,
                                 "For sh: builds and measures `{file}`, with one of `--input` as "
                                 "`{input}`");
  run->check(not_empty)->group(kGroup);
  auto* file = command.add_option("--file", arguments->file,
                                  "Instead of a mapping a text with `groma: begin NAME` and "
                                  "`groma: end` in lines around each segment that may be changed");
  file->check(not_empty)->group(kGroup)->needs(run);
  for (const char* said : {"--machine", "--start"}) file->excludes(said);
  const auto add = [&](const char* name, auto& value, const char* what) {
    return command.add_option(name, value, what)->group(kGroup)->needs(run);
  };
  add("--about", arguments->about, "What the text is and must do, in words for a model")
      ->needs(file);
  add("--check-command", how.check_command, "Run first: unless it exits with 0 the text is wrong")
      ->check(not_empty);
  add("--input", how.inputs, "What `{input}` stands for; several make a vector");
  // Also valid with --on legion or --verify; the command line's callback checks that.
  const auto measured = [&](const char* name, auto& value, const char* what) {
    return command.add_option(name, value, what)->group(kGroup);
  };
  auto* metric = measured(
      "--metric", how.metric_pattern,
      "A regular expression with one group, the value, in what the command, or the program of "
      "--verify, prints; without one the seconds it takes");
  metric->check(not_empty);
  measured("--metric-json", how.metric_pointer, "A JSON pointer to the value in what it prints")
      ->check(not_empty)
      ->excludes(metric);
  measured("--unit", how.unit, "Of the value")->capture_default_str();
  command.add_flag("--higher-is-better", how.higher_is_better, "Of the value")->group(kGroup);
  measured("--repeats", how.repeats, "Runs of which the median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      .add_option("--checks", arguments->program.checks,
                  "Whether what the program prints is compared with what it prints without the "
                  "mapping (--verify), or under the first one (--command; with --file or "
                  "--metric-json only the lines of --same)")
      ->check(CLI::IsMember({"first", "never"}))
      ->capture_default_str()
      ->group(kGroup);
  add_results_options(command, &arguments->program, "");
  add_library_option(command, &arguments->program, "With --verify: ");
  for (const char* name : {"--same", "--tolerance", "--library"}) {
    command.get_option(name)->group(kGroup);
  }
  measured("--warmup", how.warmup, "Runs before, which do not count")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command
      .add_option_function<double>(
          "--timeout",
          [&how](double seconds) { how.timeout_ms = static_cast<std::int64_t>(1000 * seconds); },
          "Seconds after which a run is ended; 600 unless given")
      ->check(is_number)
      ->check(CLI::Range(0.001, 1e6))
      ->group(kGroup);
  command
      .add_option_function<std::int64_t>(
          "--memory",
          [arguments, &how](std::int64_t megabytes) {
            how.memory_bytes = arguments->simulate.max_bytes = megabytes << 20;
          },
          "MiB that each process of a run may have; without a command a simulated run, then 2048 "
          "unless given")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  measured(
      "--estimates", arguments->tune.budget.estimates,
      "Of a mapping: at most so many simulated runs that say what is worth the command; 0: none")
      ->check(is_count)
      ->excludes(file)
      ->capture_default_str();
}

}  // namespace

void add_tune(CLI::App& app, const std::vector<std::string>& behind, int* exit_code) {
  auto options = std::make_shared<TuneArguments>();
  CLI::App* command = app.add_subcommand(
      "tune", "Searches for a faster mapping, or for a better text of another kind");
  add_chat_options(*command, &options->chat);
  const auto of_model = command->get_options(
      [command](const CLI::Option* each) { return each != command->get_help_ptr(); });
  std::vector<CLI::Option*> resumable = of_model;  // options that may be given with --resume
  for (CLI::Option* option : of_model) option->group(kModelGroup);
  command
      ->add_flag("--constrain", options->ask.constrain,
                 "Has the endpoint keep replies to their form, where it can")
      ->group(kModelGroup);
  command
      ->add_option("--reply-tokens", options->ask.max_tokens, "At most so many tokens of a reply")
      ->check(CLI::Range(16, 1 << 20))
      ->capture_default_str()
      ->group(kModelGroup);
  add_machine_option(*command, &options->machine);
  command
      ->add_option(
          "--on", options->on,
          "Where mappings run: simulated, or measured on this computer as Legion programs, "
          "as `groma run --on legion`, with Legion's flags behind `--`")
      ->check(CLI::IsMember({"simulator", "legion"}))
      ->capture_default_str();
  command
      ->add_option("--app", options->apps,
                   "The application, as of `groma run`; several make a vector of inputs, which "
                   "count alike")
      ->allow_extra_args(false)  // one value each time
      ->check(not_empty);
  std::string names;
  for (const groma::ProposerInfo& info : groma::proposers()) {
    names += fmt::format("\n{}: {}", info.name, info.what);
  }
  command
      ->add_option("--proposer", options->proposer,
                   "Who proposes what to try; guided unless given, marks of a --file:" + names)
      ->check(not_empty);
  resumable.push_back(
      command
          ->add_option("--evaluations", options->evaluations,
                       "At most so many runs; what was tried before and what is refused without a "
                       "run are further steps, and free; 0: no bound. 100 unless given, 10 of a "
                       "command")
          ->check(is_count));
  resumable.push_back(command->add_option("--time", options->seconds, "At most so many seconds")
                          ->check(is_above_0));
  resumable.push_back(
      command->add_option("--tokens", options->tokens, "At most so many of the model")
          ->check(is_count)
          ->check(is_above_0));
  resumable.push_back(
      command->add_option("--money", options->money, "At most so much for the model; needs --price")
          ->check(is_above_0)
          ->needs("--price"));
  command->add_option("--seed", options->tune.seed, "Of the proposer")
      ->check(is_seed)
      ->capture_default_str();
  command
      ->add_option("--feedback", options->feedback,
                   "How much the proposer sees of a run's feedback")
      ->check(CLI::IsMember({"none", "execution", "explain", "suggest", "profile"}))
      ->capture_default_str();
  command
      ->add_option("--start", options->start,
                   "A mapping to begin with; without one the default mapper")
      ->check(not_empty);
  resumable.push_back(command->add_flag("--verify", options->verify,
                                        "Then run the Legion program behind `--` under the "
                                        "best mappings and the start; the fastest "
                                        "becomes verified.mapper"));
  add_override_layouts_flag(*command, &options->program.override_layouts);
  command->add_flag("--compare", options->tune.compare,
                    "Every proposal counts, none is repaired, and nothing is known at first");
  command
      ->add_option("--out", options->out,
                   "A directory for best.mapper, report and journal that has none of them yet; "
                   "tune, tune.2, ... unless given")
      ->check(not_empty);
  CLI::Option* resume = command
                            ->add_option("--resume", options->resume,
                                         "Goes on with the search in this directory, as it was "
                                         "begun; budgets may be others, the model's endpoint is "
                                         "given again")
                            ->check(not_empty);
  resumable.push_back(
      command
          ->add_flag("--trust", options->trust,
                     "Run the commands that stand in the directory of --resume, in the folder that "
                     "stands there: it is as trustworthy as who made it")
          ->needs(resume));
  resumable.push_back(
      command->add_flag("--json", options->json, "A line of JSON for each event instead of text"));
  add_command_options(*command, options.get());
  resumable.push_back(command->get_option("--memory"));
  for (const char* name : kMeasuring) resumable.push_back(command->get_option(name));
  resumable.push_back(resume);
  add_behind(*command, "[-- FLAGS | --verify -- PROGRAM ARGS]");
  command->footer(
      "Examples:\n"
      "  groma tune --app solomonik                     a hundred simulated runs, no model\n"
      "  groma tune --app circuit --machine lassen:nodes=4 --evaluations 400 --out circuit\n"
      "  groma tune --resume circuit --evaluations 900  goes on\n"
      "  groma tune --app pennant --proposer trace --endpoint http://127.0.0.1:8080/v1\n"
      "  groma tune --app recorded.json --verify \\\n"
      "      --machine nodes=1,gpu=0,cpu=4,omp=0,sysmem=512,sockmem=0,rdmem=0 \\\n"
      "      -- ./my_program -ll:cpu 4\n"
      "                                                 simulated, then for real (groma record)\n"
      "  groma tune --on legion --app cannon -- -ll:cpu 2\n"
      "                                                 measured on this computer\n"
      "  groma tune --app my.json --command './my_program --mapping {file}' \\\n"
      "      --metric 'time: (\\S+) s'                   of a real program\n"
      "  groma tune --file kernel.cc --command 'g++ -O2 {file} -o {file}.out && {file}.out' \\\n"
      "      --metric '([0-9.]+) GFLOPS' --higher-is-better --proposer evolve \\\n"
      "      --endpoint http://127.0.0.1:8080/v1        any other text");
  command->callback([=, &behind] {
    // Checked here instead of with excludes(), which --help would repeat at each option.
    for (const CLI::Option* option : command->get_options()) {
      const bool with = std::count(resumable.begin(), resumable.end(), option) > 0;
      if (with || resume->count() == 0 || option->count() == 0) continue;
      throw CLI::ExcludesError(resume->get_name(), option->get_name());
    }
    const bool on_legion = options->on == "legion";
    const bool verifies = options->verify;
    if (verifies && (on_legion || command->get_option("--command")->count() > 0)) {
      throw CLI::ValidationError("--verify", "what was searched for was measured already");
    }
    if (verifies && behind.empty()) {
      throw CLI::ValidationError("--verify", "it takes a program, behind `--`");
    }
    if (!behind.empty() && !on_legion && !verifies) {
      throw CLI::ValidationError("--",
                                 "flags of Legion are for --on legion, a program for --verify");
    }
    for (const char* name : {"--machine", "--command"}) {
      if (!on_legion || command->get_option(name)->count() == 0) continue;
      throw CLI::ValidationError(name, "--on legion measures on this computer by itself");
    }
    for (const char* name : kMeasuring) {
      if (verifies || resume->count() == 0 || command->get_option(name)->count() == 0) continue;
      throw CLI::ValidationError(name,
                                 "a search goes on with its own; with --verify it is of that");
    }
    if (!verifies && !options->program.library.empty()) {
      throw CLI::ValidationError("--library", "it is of --verify");
    }
    if (!options->program.override_layouts.tasks.empty() && (on_legion || !options->file.empty())) {
      throw CLI::ValidationError("--override-layouts",
                                 "it is for programs that have a mapper of their own");
    }
    for (const char* name : {"--metric", "--metric-json", "--unit", "--higher-is-better",
                             "--checks", "--same", "--tolerance"}) {
      if (verifies || command->get_option(name)->count() == 0) continue;
      if (command->get_option("--command")->count() > 0) continue;
      throw CLI::ValidationError(name, "it is of --command or --verify");
    }
    const auto given = [command](const char* name) {
      return command->get_option(name)->count() > 0;
    };
    const bool has_metric = given("--metric") || given("--metric-json");
    // The unit of the program's number is unknown, so it is shown without a unit.
    if (verifies && has_metric && !given("--unit")) options->command.unit.clear();
    for (const char* name : {"--repeats", "--warmup", "--timeout", "--estimates"}) {
      if (on_legion || command->get_option(name)->count() == 0) continue;
      if (command->get_option("--command")->count() > 0) continue;
      const std::string_view which = name;
      if (verifies && (which == "--repeats" || which == "--timeout")) continue;
      throw CLI::ValidationError(name, "it is of --command or --on legion");
    }
    (verifies ? options->program.words : options->flags) = behind;
    *exit_code = run(*options);
  });
}

}  // namespace driver
