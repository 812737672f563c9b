// groma record: describes what a Legion program does, as an application that --app reads.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "commands.h"
#include "console.h"
#include "groma/inspect.h"
#include "groma/io.h"
#include "groma/recording.h"
#include "groma/run.h"
#include "groma/run_program.h"
#include "groma/system.h"
#include "groma/workload.h"
#include "inputs.h"
#include "run_map.h"

namespace driver {
namespace {

namespace fs = std::filesystem;

// The limit on the notes that are shown.
constexpr std::size_t kMostNotes = 40;
// Time limit for a trial run of the recorded application in the embedded runtime.
constexpr double kMostTrySeconds = 10;

// The values of the options of `groma record`.
struct RecordArguments {
  std::string out;
  // The path of the mapping. If it is empty, the program's own mapper decides.
  std::string map;
  ProgramArguments program;
};

// Returns the number of launch statements, including those in loops.
std::size_t count_launches(const std::vector<groma::AppStatement>& body) {
  std::size_t launches = 0;
  for (const groma::AppStatement& statement : body) {
    if (const auto* loop = std::get_if<groma::AppLoop>(&statement.node)) {
      launches += count_launches(loop->body);
    } else {
      ++launches;
    }
  }
  return launches;
}

// Returns a sentence that counts the tasks, regions and launches of the application.
std::string summary(const groma::Application& app) {
  std::size_t launches = 0;
  for (const groma::AppTask& task : app.tasks) launches += count_launches(task.body);
  const auto counted = [](std::size_t n, std::string_view one) {
    const bool hisses = one.ends_with("h");
    return fmt::format("{} {}{}", n, one, n == 1 ? "" : hisses ? "es" : "s");
  };
  return fmt::format("{}, {}, {}, {}", counted(app.tasks.size(), "task"),
                     counted(launches, "launch"), counted(app.regions.size(), "region"),
                     counted(app.partitions.size(), "partition"));
}

// Returns the program and its arguments as a user types them, or `PROGRAM ARGS` if a shell would
// change one of the words.
std::string as_typed(const std::vector<std::string>& words) {
  std::string typed;
  for (const std::string& word : words) {
    // Only characters that no shell treats specially are shown as they are.
    const bool plain = std::all_of(word.begin(), word.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 ||
             std::string_view("_-+=./,:%@").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (!plain || word.empty()) return "PROGRAM ARGS";
    typed += (typed.empty() ? "" : " ") + word;
  }
  return typed;
}

// The result of a trial run of the recorded application in the embedded runtime under the default
// mapper. Both texts are empty if the trial succeeded.
struct Tried {
  // Why the recorded application does not run. Empty if it runs.
  std::string refused;
  // Why the trial run was incomplete. Empty if it was complete.
  std::string unsure;
};

// Returns the message with the id of the diagnostic.
std::string words_of(const groma::Diagnostic& diagnostic) {
  return fmt::format("{} [{}]", diagnostic.message, groma::name_of(diagnostic.id));
}

// Tries the recorded application under the default mapper. A check finds most problems. A simulated
// run finds the others, unless the run takes too long.
Tried try_out(const groma::Application& app, const std::string& machine) {
  const auto workload = groma::Workload::make(app);
  if (!workload) return {workload.error().message, {}};
  const auto made = groma::make_machine(machine);
  if (!made) return {};
  const groma::Source source("default", "");
  groma::Diagnostics diags(source);
  groma::check(source, &*made, &*workload, diags, nullptr, {.first_error = true});
  std::string unsure;
  for (const groma::Diagnostic& diagnostic : diags.sorted()) {
    if (diagnostic.severity == groma::Severity::kError) return {words_of(diagnostic), {}};
    if (diagnostic.id == groma::DiagId::kCheckIncomplete) unsure = words_of(diagnostic);
  }
  if (unsure.empty()) return {};
  // The check could not decide everything, so a simulated run decides. A run that was stopped or
  // that exceeded a limit proves nothing.
  const Deadline deadline(kMostTrySeconds);
  groma::SimulateOptions options;
  options.stop = [&] { return interrupted() || deadline.over(); };
  groma::Diagnostics ignored(source);
  const groma::RunResult result = groma::run_default(std::make_shared<const groma::Machine>(*made),
                                                     *workload, options, ignored);
  if (result.ok()) return {};
  const bool ended =
      result.status != groma::RunStatus::kTooLarge && result.status != groma::RunStatus::kStopped;
  if (!ended) return {{}, unsure};
  return {result.refusals.empty() ? result.raw : words_of(result.refusals.front().diagnostic), {}};
}

// Saves the recording in the folder for temporary files. This is called when the recording could
// not be written to its own file, so that a long run is not lost. Returns the exit code.
int keep(const std::string& json, const groma::Error& error) {
  const int code = refuse(error);
  std::error_code ignored;
  std::string path = (fs::temp_directory_path(ignored) / "groma-recorded-XXXXXX").string();
  const int file = mkostemp(path.data(), O_CLOEXEC);
  if (file >= 0) close(file);
  if (file < 0 || groma::write_file(path, json)) {
    print_error(
        "groma: the recording is lost: it could not be written, and TMPDIR has no space for it "
        "either\n");
  } else {
    print_error(fmt::format("groma: the recording was saved in {}\n", path));
  }
  return code;
}

// Records the program, writes the application and tries it out. Returns the exit code.
int run(const RecordArguments& options) {
  std::optional<groma::Diagnostics> diags;
  std::optional<groma::Program> mapping;
  if (!options.map.empty()) {
    check_standard_input({options.map});
    if (!read_source(options.map, &diags)) return fail(*diags, false);
    mapping = groma::compile(diags->source(), *diags);
    if (diags->has_errors()) return fail(*diags, false);
  }
  // Without --out, an existing file is not replaced.
  const std::string name = groma::program_name(options.program.words);
  const std::string out = options.out.empty() ? name + ".json" : options.out;
  std::error_code code;
  const bool replaces = out != "-" && fs::exists(out, code);
  if (replaces && options.out.empty()) {
    return refuse(fmt::format("`{}` exists already", out),
                  fmt::format("`--out {}` replaces it", out));
  }
  check_written({{"--out", out}},
                {options.map, options.program.words.front(), options.program.library});
  if (const auto error = first_unwritable_file({{"--out", out}})) return refuse(*error);
  auto run = program_run(options.program);
  if (!run) return refuse(run.error());
  // The library in the program writes its events to a temporary folder.
  static_cast<void>(fs::temp_directory_path(code));
  const auto folder = groma::ScratchFolder::make();
  if (code || !folder) {
    return refuse("there is no disk space for the output of the run",
                  "set TMPDIR to a folder with free space");
  }
  run->record_file = folder->path() + "/events";
  const OutputRelay hearing(*run, out == "-" ? Output::kToErrors : Output::kOn);
  const auto result = mapping ? groma::run_program(*mapping, *run) : groma::run_program(*run);
  if (interrupted()) return kInterrupted;
  if (!result) return refuse(result.error());
  // A program that fails is not recorded. The guide explains its output.
  if (!result->ok()) {
    print_painted_error(draw(result->feedback, color_on_stderr()));
    return kWrongInput;
  }
  if (result->recorded_elsewhere) return kFine;
  // Turn the events into an application, and show what could not be described.
  const auto text = groma::read_regular_file(run->record_file, groma::kMaxRecordedBytes);
  if (!text)
    return refuse("the run wrote no recording, because Legion did not shut down normally", "");
  const auto recording = groma::recorded_application(*text, name);
  if (!recording) return refuse(recording.error());
  say_runs(*result, "what was recorded is");
  for (std::size_t i = 0; i < std::min(recording->notes.size(), kMostNotes); ++i) {
    print_error(fmt::format("groma: {}\n", visible(recording->notes[i])));
  }
  if (recording->notes.size() > kMostNotes) {
    print_error(fmt::format("groma: and {} more\n", recording->notes.size() - kMostNotes));
  }
  const std::string json = groma::application_to_json(recording->app);
  // With `-`, standard output has only the JSON, so nothing else is said.
  if (out == "-") return hearing.reader_closed_pipe() ? kWrongInput : print(json);
  if (const auto error = groma::write_file(out, json)) return keep(json, *error);
  if (hearing.reader_closed_pipe()) return kWrongInput;
  // Try the application, so that the user learns now whether a search can use it.
  const std::string machine = result->machine.empty() ? "local" : result->machine;
  const Tried tried = try_out(recording->app, machine);
  if (!tried.unsure.empty()) print_error(fmt::format("groma: {}\n", visible(tried.unsure)));
  if (!tried.refused.empty()) {
    print_error(fmt::format("groma: the simulator cannot run the recorded application: {}\n",
                            visible(tried.refused)));
  } else {
    print_error(fmt::format(
        "groma: recorded on this computer. Next: groma tune --app {} --machine {} --verify -- {}\n",
        visible(out), machine, as_typed(options.program.words)));
  }
  return print(
      fmt::format("{}{}: {}\n", out, replaces ? ", replaced" : "", summary(recording->app)));
}

}  // namespace

void add_record(CLI::App& app, const std::vector<std::string>& behind, int* exit_code) {
  auto options = std::make_shared<RecordArguments>();
  CLI::App* command = app.add_subcommand(
      "record", "Run a Legion program and write what it does as an application for --app");
  command
      ->add_option(
          "--out", options->out,
          "The file to write; an existing one is replaced. Default: a new file PROGRAM.json. `-` "
          "is standard output; the program's own output then goes to standard error")
      ->type_name(kFileType)
      ->check(not_empty);
  CLI::Option* const map =
      command
          ->add_option("--map", options->map, "Run the program under this mapping while recording")
          ->type_name(kMappingType)
          ->check(not_empty);
  add_program_options(*command, &options->program, "");
  for (const char* name : {"--checks", "--override-layouts"}) command->get_option(name)->needs(map);
  add_behind(*command, "-- PROGRAM ARGS");
  command->footer(
      "Examples:\n"
      "  groma record -- ./my_program -n 100 -ll:cpu 4       writes my_program.json\n"
      "  groma tune --app my_program.json --machine nodes=1,gpu=0,cpu=4,omp=0,sysmem=512 \\\n"
      "      --verify -- ./my_program -n 100 -ll:cpu 4\n"
      "  groma record --out app.json --map my.mapper -- ./my_program");
  command->callback([=, &behind] {
    if (behind.empty())
      throw CLI::RequiredError("put a program after `--`: groma record -- PROGRAM");
    options->program.words = behind;
    *exit_code = run(*options);
  });
}

}  // namespace driver
