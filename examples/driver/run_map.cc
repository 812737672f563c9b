// Runs a Legion program under a mapping, and adds the options for that to commands.
#include "run_map.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <optional>

#include "commands.h"
#include "console.h"
#include "groma/run.h"
#include "groma/run_program.h"
#include "groma/system.h"
#include "inputs.h"
#include "legion_app.h"

namespace driver {
namespace {

// Returns the value for ProgramRun::checked_file: a path in the user's cache folder, or an empty
// string if that folder is unknown.
std::string checked_file() {
  const auto variable = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  const std::string cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (!cache.empty()) return cache + "/groma/checked";
  return home.empty() ? "" : home + "/.cache/groma/checked";
}

}  // namespace

void add_program_options(CLI::App& command, ProgramArguments* arguments, const std::string& when) {
  command
      .add_option("--timeout", arguments->timeout_s,
                  when + "End the run after this many seconds; 0: no limit")
      ->check(is_number)
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  command
      .add_option(
          "--checks", arguments->checks,
          when +
              "When to turn on Legion's checks of the mapping and compare the program's output "
              "with a run without the mapping. first: until one run under this mapping has passed")
      ->check(CLI::IsMember({"first", "always", "never"}))
      ->capture_default_str();
  add_override_layouts_flag(command, &arguments->override_layouts);
  add_library_option(command, arguments, when);
}

void add_library_option(CLI::App& command, ProgramArguments* arguments, const std::string& when) {
  command
      .add_option("--library", arguments->library,
                  when +
                      "The libgroma_preload.so to load, from a Groma that was built with the "
                      "program's Legion")
      ->type_name(kFileType);
}

void add_results_options(CLI::App& command, ProgramArguments* arguments, const std::string& when) {
  command
      .add_option("--same", arguments->same,
                  when +
                      "Compare only the output lines that match this pattern (RE2), or only the "
                      "text of its group if it has one. May be given several times")
      ->allow_extra_args(false)
      ->check(not_empty);
  command
      .add_option("--tolerance", arguments->tolerance,
                  when +
                      "Let numbers in the compared output that are not integers differ by this "
                      "fraction of the larger one")
      ->check(is_number)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

groma::Result<groma::ProgramRun> program_run(const ProgramArguments& arguments) {
  groma::ProgramRun run;
  run.words = arguments.words;
  run.library = arguments.library;
  if (run.library.empty()) {
    // A program that was built with another Legion needs the library of another Groma, which
    // --library names.
    auto library = own_library();
    if (!library) {
      groma::Error error = library.error();
      error.help += ", or name the library: --library FILE";
      return error;
    }
    run.library = *std::move(library);
  }
  // A timeout of 0 means that the run has no time limit.
  run.timeout_ms = static_cast<std::int64_t>(std::ceil(arguments.timeout_s * 1000));
  run.checks = arguments.checks == "always"  ? groma::ProgramRun::Checks::kAlways
               : arguments.checks == "never" ? groma::ProgramRun::Checks::kNever
                                             : groma::ProgramRun::Checks::kFirst;
  run.checked_file = checked_file();
  run.override_layouts = arguments.override_layouts;
  // A closed pipe must not end this command while the program still runs.
  signal(SIGPIPE, SIG_IGN);
  catch_interrupts();
  return run;
}

groma::ResultsOptions results_options(const ProgramArguments& arguments) {
  return {.same = arguments.same, .measure = "", .tolerance = arguments.tolerance};
}

OutputRelay::OutputRelay(groma::ProgramRun& run, Output output) {
  run.on_output = [this, output](std::string_view bytes, bool is_error) {
    if (is_error || output == Output::kToErrors) {
      pass_on_error(bytes);
    } else if (output == Output::kOn) {
      // Once the reader has closed the pipe, nothing more is written.
      unheard_ = unheard_ || pass_on(bytes) != kFine;
    }
  };
  run.stop = [this] { return interrupted() || unheard_; };
}

void say_runs(const groma::ProgramResult& result, std::string_view what) {
  if (result.legion_runs < 2) return;
  print_error(fmt::format("groma: Legion was started {} times; {} from only one of these runs\n",
                          result.legion_runs, what));
}

std::optional<groma::Error> check_files(const MapArguments& arguments,
                                        const std::vector<std::string>& read) {
  const std::vector<WrittenFile> written = {{"--trace", arguments.files.trace},
                                            {"--report", arguments.files.report},
                                            {"--log", arguments.log}};
  // Standard output belongs to the program, so `-` is not allowed here.
  for (const WrittenFile& each : written) {
    if (each.path == "-") throw CLI::ValidationError(each.option, "expected a file name, not `-`");
  }
  check_written(written, read);
  return first_unwritable_file(written);
}

// Writes the trace and the report of the profile if their files are named. Tries to write the
// report even if the trace cannot be written.
bool write_files(const groma::Profile& profile, const groma::ProfileWords& words,
                 const groma::RunSummary& summary, const ProfileFiles& files) {
  const auto write = [](const std::string& path, const std::string& text) {
    const auto error = groma::write_file(path, text);
    if (error) print_error(fmt::format("groma: {}\n", error->message));
    return !error;
  };
  bool written = true;
  if (!files.trace.empty()) written = write(files.trace, groma::to_trace(profile, words));
  if (!files.report.empty()) {
    groma::RunSummary dated = summary;
    dated.inputs.emplace_back(
        "date", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr))));
    written = write(files.report, groma::to_html(profile, words, dated)) && written;
  }
  return written;
}

// Compiles the mapping, runs the program under it and prints the profile. Returns the exit code.
int run_under_mapping(const MapArguments& arguments) {
  check_standard_input({arguments.file});
  const ProgramArguments& program = arguments.program;
  if (const auto error =
          check_files(arguments, {arguments.file, program.words.front(), program.library})) {
    return refuse(*error);
  }
  std::optional<groma::Diagnostics> diags;
  if (arguments.file.empty()) {
    diags.emplace(groma::Source("the default mapper", ""));
  } else if (!read_source(arguments.file, &diags)) {
    return fail(*diags, arguments.json);
  }
  const groma::Program mapping = groma::compile(diags->source(), *diags);
  // Drops the warning that there are no statements.
  if (arguments.file.empty()) diags->clear();
  if (diags->has_errors()) {
    if (!arguments.json) return fail(*diags, false);
    print(groma::check_failed_json(*diags));
    return kWrongInput;
  }

  auto run = program_run(program);
  if (!run) return refuse(run.error());
  auto results = groma::Results::make(results_options(program));
  if (!results) return refuse(results.error());
  // The program of a benchmark checks its results itself.
  if (arguments.app == nullptr) run->results = &*results;
  run->compare_failures_only = program.checks == "never";
  run->app = arguments.app;
  run->profile = arguments.profile || arguments.files.any();
  run->log_file = arguments.log;
  // With --json, standard output is kept for the JSON. A benchmark's own output is not shown.
  const OutputRelay relay(*run, arguments.json             ? Output::kToErrors
                                : arguments.app == nullptr ? Output::kOn
                                                           : Output::kNowhere);
  const auto result = groma::run_program(mapping, *run);
  if (interrupted()) return kInterrupted;
  if (!result) return refuse(result.error());
  if (run->profile) say_runs(*result, "the profile is");
  if (!run->log_file.empty()) say_runs(*result, "the log is");
  // A run that succeeded but gave no record counts as a failure if a profile was requested.
  std::optional<groma::Profile> profile;
  const groma::ProfileWords words = groma::profile_words_of(*run, mapping);
  if (result->record != nullptr) profile = groma::make_profile(result->record);
  bool fine = result->ok() && (profile || !run->profile);
  if (result->ok() && !fine) print_error(fmt::format("groma: {}\n", result->why_no_record));
  if (profile) {
    groma::RunSummary summary = groma::summary_of(*result, mapping, *run);
    summary.inputs = {{"program", fmt::format("{}", fmt::join(run->words, " "))},
                      {"mapping", arguments.file.empty() ? "the default mapper" : arguments.file}};
    fine = write_files(*profile, words, summary, arguments.files) && fine;
  }
  const groma::Profile* const shown = profile && arguments.profile ? &*profile : nullptr;
  std::string text;
  if (arguments.json) {
    text = groma::to_json(*result, *diags, shown, words);
  } else {
    std::string time = groma::run_time_text(*result, mapping, *run);
    text = groma::draw(*result, mapping, *run, shown, color_on_stdout());
    if (arguments.app != nullptr) {
      text = time + text;
    } else if (!time.empty()) {
      print_error(fmt::format("{}{}", groma::kOwnLine, time));
    }
  }
  const bool printed = !relay.reader_closed_pipe() && print_painted(text) == kFine;
  return fine && printed ? kFine : kWrongInput;
}

}  // namespace driver
