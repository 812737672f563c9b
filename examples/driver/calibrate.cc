// groma machines calibrate: measures this computer and writes a machine file.
#include "calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "commands.h"
#include "console.h"
#include "groma/calibrate.h"
#include "groma/diagnostics.h"
#include "groma/io.h"
#include "groma/program.h"
#include "groma/run_program.h"
#include "groma/source.h"
#include "groma/system.h"
#include "inputs.h"
#include "legion_app.h"
#include "run_map.h"

namespace driver {
namespace {

namespace fs = std::filesystem;

// If the measurements had a core for less than this fraction of the time, other programs disturbed
// them.
constexpr double kQuiet = 0.9;

// The values of the options of `groma machines calibrate`.
struct CalibrateArguments {
  // The file to write. Empty: the file that `local` reads.
  std::string file;
  // The output of benchmarks/gpu_figures.cu. Empty: there is none.
  std::string gpu;
  double seconds = groma::CalibrationOptions().seconds;
  bool force = false, json = false;
};

// Runs a Legion program with short tasks on one CPU, and returns how long the CPU stood still
// between two tasks. Fails if this build has no Legion, or if the run fails.
groma::Result<groma::MeasuredFigure> task_start_in_legion() {
  const auto program = legion_program("stencil", "");
  if (!program) return program.error();
  ProgramArguments arguments;
  // Each task of the program takes longer than Legion needs to map a task. So a mapped task always
  // waits for the CPU, and the CPU stands still only between two tasks.
  arguments.words = {*program, "-edge", "1000", "-loops", "50", "-ll:cpu", "1", "-ll:csize", "512"};
  arguments.checks = "never";
  arguments.timeout_s = 60;
  auto run = program_run(arguments);
  if (!run) return run.error();
  run->profile = true;
  // The output of the program is not shown; Ctrl-C ends the run.
  run->stop = interrupted;
  // The mapping is empty, so the default mapper decides.
  groma::Diagnostics none(groma::Source("the default mapper", ""));
  const auto result = groma::run_program(groma::compile(none.source(), none), *run);
  if (!result) return result.error();
  if (result->record == nullptr) {
    return groma::Error{groma::Error::Code::kUnreadable, result->why_no_record.empty()
                                                             ? "the Legion program failed"
                                                             : result->why_no_record};
  }
  return groma::measured_task_start(*result->record,
                                    "measured: in Legion, between two tasks of stencil on one CPU");
}

// Returns the figures of the GPUs that the file at `path` contains.
groma::Result<groma::GpuFigures> read_gpu_figures(const std::string& path) {
  const auto text = groma::read_file(path, groma::kMaxGpuFileBytes);
  if (!text) return text.error();
  return groma::gpu_figures_from_json(*text, shown_name(path));
}

// Returns the error if a file stands at the path and must not be replaced.
std::optional<groma::Error> already_there(const CalibrateArguments& arguments) {
  std::error_code code;
  if (arguments.file == "-" || arguments.force || !fs::exists(arguments.file, code))
    return std::nullopt;
  return groma::Error{groma::Error::Code::kUnreadable,
                      fmt::format("the file `{}` exists", arguments.file),
                      "`--force` replaces it; or name another file"};
}

// Writes the machine. The folder of the user's configuration is made if it does not exist.
std::optional<groma::Error> write_machine(const CalibrateArguments& arguments, bool makes_folder,
                                          const std::string& text) {
  std::error_code code;
  if (makes_folder) fs::create_directories(fs::path(arguments.file).parent_path(), code);
  if (auto error = already_there(arguments)) return error;
  return groma::write_file(arguments.file, text);
}

// Measures this computer and writes the machine file. Returns the exit code.
int run_calibrate(CalibrateArguments arguments) {
  const bool is_own_file = arguments.file.empty();
  if (is_own_file) arguments.file = groma::local_machine_file();
  if (arguments.file.empty()) {
    return refuse("there is no folder for the file, because HOME is not set",
                  "name a file: groma machines calibrate FILE");
  }
  check_written({{"FILE", arguments.file}}, {arguments.gpu});
  if (const auto error = already_there(arguments)) return refuse(*error);
  if (const auto error =
          is_own_file ? std::nullopt : first_unwritable_file({{"FILE", arguments.file}}))
    return refuse(error->message, "name another file: groma machines calibrate FILE");
  groma::CalibrationOptions options;
  options.seconds = arguments.seconds;
  if (!arguments.gpu.empty()) {
    auto gpu = read_gpu_figures(arguments.gpu);
    if (!gpu) {
      for (const groma::Error& more : gpu.error().more)
        print_error(fmt::format("groma: {}\n", more.message));
      return refuse(gpu.error());
    }
    options.gpu = std::move(gpu).value();
  }
  catch_interrupts();
  std::optional<groma::Calibration> calibration;
  std::string why_no_start;
  {
    ProgressLine progress("measuring this computer");
    progress.update("the start of tasks in Legion");
    if (auto start = task_start_in_legion()) {
      options.task_start = std::move(start).value();
    } else {
      why_no_start = start.error().message;
    }
    constexpr std::int64_t kAll = 1000;
    options.stop = interrupted;
    options.on_progress = [&](double done) {
      progress.update(static_cast<std::int64_t>(done * kAll), kAll);
    };
    auto measured = groma::calibrate(options);
    if (interrupted()) return kInterrupted;
    if (!measured) return refuse(measured.error());
    calibration = std::move(measured).value();
  }
  const groma::Machine& machine = calibration->machine;
  const std::string text = groma::machine_to_json(machine);
  if (!why_no_start.empty())
    print_error(fmt::format("groma: the start of a task is not measured: {}\n", why_no_start));
  if (calibration->share_of_time < kQuiet) {
    print_error(
        fmt::format("groma: other programs had the cores for {:.0f} % of the time; on a quiet "
                    "computer the figures are better\n",
                    100 * (1 - calibration->share_of_time)));
  }
  if (arguments.file == "-") return print(text);
  if (const auto error = write_machine(arguments, is_own_file, text)) return refuse(*error);
  if (arguments.json) return print(text);
  return print(fmt::format("{}\nwritten to {}{}\n", describe_measurement(machine),
                           visible(arguments.file),
                           is_own_file ? ", which `--machine local` reads" : ""));
}

}  // namespace

std::string describe_measurement(const groma::Machine& machine) {
  if (!machine.measurement()) return "";
  const auto& figures = machine.measurement()->figures;
  std::size_t width = 0;
  for (const groma::MeasuredFigure& figure : figures) width = std::max(width, figure.what.size());
  std::string text;
  for (const groma::MeasuredFigure& figure : figures) {
    const std::string spread =
        figure.repeats > 1 ? fmt::format("{} to {}", groma::figure_words(figure, figure.low),
                                         groma::figure_words(figure, figure.high))
                           : "";
    text += fmt::format("  {:<{}}  {:<16}{:<32}{}\n", visible(figure.what), width,
                        groma::figure_words(figure, figure.value), spread, visible(figure.source));
  }
  return text;
}

void add_calibrate(CLI::App& machines, int* exit_code) {
  auto arguments = std::make_shared<CalibrateArguments>();
  CLI::App* command = machines.add_subcommand(
      "calibrate", "Measure this computer and write a machine file for `local`");
  command
      ->add_option("FILE", arguments->file,
                   "The file to write; `-` is standard output. Without FILE it is the one that "
                   "`local` reads: $XDG_CONFIG_HOME/groma/local.machine.json")
      ->type_name(kFileType)
      ->check(not_empty);
  command
      ->add_option("--seconds", arguments->seconds,
                   "How long to measure, in seconds, not counting the Legion program. Each figure "
                   "is measured at least 5 times")
      ->check(is_number)
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  command
      ->add_option("--gpu", arguments->gpu,
                   "A file with the figures of the GPUs: the output of benchmarks/gpu_figures.cu")
      ->type_name(kFileType)
      ->check(not_empty);
  command->add_flag("--force", arguments->force, "Replace FILE if it exists");
  command->add_flag("--json", arguments->json,
                    "Print the machine as JSON instead of a list of its figures");
  command->footer(
      "Examples:\n"
      "  groma machines calibrate\n"
      "  groma machines calibrate --force --seconds 30\n"
      "  groma machines calibrate here.json --gpu gpu_figures.json");
  command->callback([arguments, exit_code] { *exit_code = run_calibrate(*arguments); });
}

}  // namespace driver
