// groma run: runs an application in the embedded runtime, or a Legion program, under a mapping.
#include "groma/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "commands.h"
#include "console.h"
#include "groma/advise.h"
#include "groma/evaluate.h"
#include "groma/explain.h"
#include "groma/inspect.h"
#include "inputs.h"
#include "legion_app.h"
#include "run_map.h"

namespace driver {
namespace {

// The default of --time in seconds when --fit is given.
constexpr double kMostFitSeconds = 300;

// The values of the options of `groma run`.
struct RunArguments {
  std::string file, machine = "p100x4", app;
  groma::SimulateOptions simulate;
  bool fit = false;
  std::vector<std::string> grow;
  std::optional<double> time;
  std::string on = "simulator";
  // For --on legion and --map. A simulated run uses only `map.files` and
  // `map.program.override_layouts`.
  MapArguments map;
  bool json = false;
};

// Returns the largest problem that fits. If that cannot be found, returns nothing, with the reason
// in `diags`.
std::optional<groma::Fit> find_fit(const groma::Application& app, const groma::RunWorkload& run,
                                   const RunArguments& options, groma::Diagnostics& diags) {
  // The parameters to grow are those of --grow, or those by which the application's sizes differ.
  groma::Result<std::vector<std::string>> parameters =
      options.grow.empty() ? groma::growing_parameters(app)
                           : groma::Result<std::vector<std::string>>(options.grow);
  auto found =
      parameters ? groma::fit(app, *parameters, run, options.simulate.stop) : parameters.error();
  if (found) return std::move(found).value();
  groma::Diagnostic& diagnostic =
      diags.report(groma::DiagId::kBadApplication, std::nullopt, "--fit: " + found.error().message);
  if (!found.error().help.empty()) diagnostic.help(found.error().help);
  return std::nullopt;
}

// Returns true if the result depends on memory, so that a larger or smaller problem may behave
// differently.
bool memory_decides(const groma::RunResult& result) {
  return result.ok() || std::any_of(result.refusals.begin(), result.refusals.end(),
                                    [](const groma::Refusal& refusal) {
                                      return refusal.diagnostic.id == groma::DiagId::kOutOfMemory;
                                    });
}

// Runs the application in the embedded runtime and prints the result. Returns the exit code.
int run(RunArguments options) {
  check_standard_input({options.file, options.machine, options.app});
  if (const auto error = check_files(options.map, {options.file, options.machine, options.app})) {
    return refuse(*error);
  }
  catch_interrupts();
  // --time limits the whole command. The simulator calls `stop` regularly, and each call updates
  // the progress line.
  const Deadline deadline(options.time.value_or(options.fit ? kMostFitSeconds : HUGE_VAL));
  std::optional<ProgressLine> line("running");
  std::string at;
  options.simulate.stop = [&] {
    line->update(at);
    return interrupted() || deadline.over();
  };
  options.simulate.record = true;
  std::optional<groma::Diagnostics> diags;
  const auto with = read_inputs(options.machine, options.app, &diags,
                                {options.simulate.stop, options.map.program.override_layouts});
  if (interrupted()) return kInterrupted;
  if (!with) return fail(*diags, options.json);
  const auto shared = std::make_shared<const groma::Machine>(*with->machine);
  std::optional<groma::BoundProgram> bound;
  if (options.file.empty()) {
    diags.emplace(groma::Source(shown_name(options.app), ""));
  } else {
    bound = read_mapping(options.file, *with->machine, &diags);
  }
  groma::GuidedRun guided{&*with->workload, shared, bound ? &*bound : nullptr, options.simulate,
                          &*diags};
  // A mapping with errors is not run. The guide explains the errors instead.
  if (!bound && !options.file.empty()) {
    const groma::GuideFeedback feedback = groma::guide_run(guided);
    if (options.json) {
      print(groma::check_failed_json(*diags, &feedback));
    } else {
      fail(*diags, false);
      print_painted(groma::draw_advice(feedback, color_on_stdout()));
    }
    return kWrongInput;
  }
  // Runs a workload under the mapping, or under the default mapper if there is no mapping.
  const auto run_it = [&](const groma::Workload& of, const groma::SimulateOptions& how,
                          groma::Diagnostics& why) {
    return bound ? groma::run(*bound, of, how, why, &log())
                 : groma::run_default(shared, of, how, why);
  };
  groma::check_nodes(*with->machine, *with->app, *diags);
  if (bound) groma::check_names(bound->program(), *with->workload, *diags);
  groma::RunResult result = run_it(*with->workload, options.simulate, *diags);
  if (interrupted()) return kInterrupted;
  if (result.status == groma::RunStatus::kStopped) {
    result.raw = "the run takes longer than `--time` allows";
    diags->report(groma::DiagId::kCannotRun, std::nullopt, with->app->name, result.raw);
  }
  const groma::Program* const program = bound ? &bound->program() : nullptr;
  const groma::ProfileWords words =
      groma::profile_words_of(*with->workload, *with->machine, program);
  std::optional<groma::Profile> profile;
  if (result.ok()) profile = groma::make_profile(result.record);
  // The guide gives advice on the result. It may try changes in the simulator.
  guided.result = &result;
  guided.profile = profile ? &*profile : nullptr;
  groma::GuideLimits limits;
  // The guide may try changes of the mapping in the simulator. All its trial runs together may
  // execute as many point tasks as this run did, if that is more than the default limit.
  limits.tasks = std::max(limits.tasks, result.tasks);
  const groma::GuideFeedback feedback = groma::guide_run(guided, limits);
  bool fine = true;
  if (profile) {
    groma::RunSummary summary =
        groma::summary_of(result, *with->workload, *with->machine, program, feedback);
    std::vector<std::string> values;
    for (const auto& [parameter, value] : with->workload->values()) {
      values.push_back(fmt::format("{}={}", parameter, value));
    }
    summary.inputs = {{"application", options.app},
                      {"its parameters", fmt::format("{}", fmt::join(values, " "))},
                      {"machine", options.machine},
                      {"mapping", options.file.empty() ? "the default mapper" : options.file}};
    if (values.empty()) summary.inputs.erase(summary.inputs.begin() + 1);
    if (options.simulate.noise > 0) {
      summary.inputs.emplace_back(
          "noise", fmt::format("{}, seed {}", options.simulate.noise, options.simulate.seed));
    }
    fine = write_files(*profile, words, summary, options.map.files);
  }
  std::optional<groma::Fit> fit;
  // --fit runs the application many times with other sizes, and without a record.
  if (options.fit && memory_decides(result)) {
    groma::SimulateOptions how = options.simulate;
    how.record = false;
    int runs = 0;
    const auto quietly = [&](const groma::Workload& of) {
      at = fmt::format("--fit, run {}, ", ++runs);
      groma::Diagnostics ignored(diags->source());
      return run_it(of, how, ignored);
    };
    fit = find_fit(*with->app, quietly, options, *diags);
    fine = fine && fit;
  }
  // The progress line must be gone before anything is printed.
  line.reset();
  if (!options.json) show_diagnostics(*diags);
  const groma::Profile* shown = profile ? &*profile : nullptr;
  std::string text =
      options.json ? groma::to_json(result, &feedback, shown, fit ? &*fit : nullptr, *diags, words)
                   : groma::draw(result, shown, words, color_on_stdout()) +
                         groma::draw_advice(feedback, color_on_stdout());
  if (fit && !options.json) text += (text.empty() ? "" : "\n") + groma::draw(*fit, *with->app);
  fine = print_painted(text) == kFine && fine;
  if (interrupted()) return kInterrupted;
  return result.ok() && fine ? kFine : kWrongInput;
}

// Runs the Legion program of the benchmark that --app names, under the mapping. The parameters of
// the application become arguments of the program.
int run_on_legion(RunArguments options) {
  check_standard_input({options.file, options.app});
  const auto program =
      legion_program(options.app, "`groma run --map FILE -- PROGRAM` runs any Legion program");
  if (!program) return refuse(program.error());
  std::optional<groma::Diagnostics> diags;
  const auto with = read_inputs("", for_this_computer(options.app), &diags);
  if (!with) return fail(*diags, options.json);
  check_flags(options.app, *with->workload, options.map.program.words);
  // The words are the program, the parameters of the application, and Legion's flags.
  std::vector<std::string> words = {*program};
  for (const auto& more : {parameters_of(*with->workload), with_cpus(options.map.program.words)}) {
    words.insert(words.end(), more.begin(), more.end());
  }
  options.map.program.words = std::move(words);
  options.map.file = options.file;
  options.map.app = &*with->workload;
  return run_under_mapping(options.map);
}

}  // namespace

void add_run(CLI::App& app, const std::vector<std::string>& behind, int* exit_code) {
  auto options = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand(
      "run", "Run an application under a mapping, simulated or for real, and print the time");
  // A run is simulated by default. --on legion and --map run a Legion program instead.
  CLI::Option* const file =
      command
          ->add_option(
              "FILE", options->file,
              "A mapping program; `-` is standard input. Without FILE the default mapper is used")
          ->type_name(kMappingType);
  command
      ->add_option("--on", options->on,
                   "Where to run: simulator, or legion to measure on this computer with a Legion "
                   "program (circuit, stencil, cannon or johnson; the small size unless one is "
                   "given). Flags for Legion come after `--`, such as -ll:cpu 2")
      ->check(CLI::IsMember({"simulator", "legion"}))
      ->capture_default_str();
  add_machine_option(*command, &options->machine);
  CLI::Option* const app_option = add_app_option(*command, &options->app);
  command->add_option("--seed", options->simulate.seed, "The seed of the random noise")
      ->check(is_seed)
      ->capture_default_str();
  command
      ->add_option("--noise", options->simulate.noise,
                   "Make each task and copy longer or shorter by a random fraction of at most this")
      ->check(CLI::Range(0.0, 0.99))
      ->check(is_number)
      ->capture_default_str();
  add_memory_option(*command, &options->simulate.max_bytes);
  command->add_flag("--fit", options->fit, "Also find the largest problem that fits into memory");
  command
      ->add_option("--grow", options->grow,
                   "The parameters that --fit increases together (default: those that differ "
                   "between the application's last two sizes)")
      ->delimiter(',')
      ->needs("--fit");
  command
      ->add_option(
          "--time", options->time,
          "Stop after this many seconds and print what is known by then (default with --fit: 300)")
      ->check(is_above_0);
  command
      ->add_option("--trace", options->map.files.trace,
                   "Write a trace of the run for chrome://tracing or ui.perfetto.dev to this file")
      ->type_name(kFileType);
  command
      ->add_option("--report", options->map.files.report,
                   "Write the profile as an HTML page to this file")
      ->type_name(kFileType);
  add_json_flag(*command, &options->json);
  // Options for running a Legion program (--map).
  CLI::Option* const map = command
                               ->add_option("--map", options->map.file,
                                            "Run the Legion program after `--` under this mapping")
                               ->type_name(kMappingType);
  map->check(not_empty);
  app_option->excludes(map);
  command->get_option("--on")->excludes(map);
  command->add_flag("--profile", options->map.profile,
                    "With a Legion program: measure its tasks and copies and print where the time "
                    "went. Measuring costs time. --trace and --report do it too");
  command
      ->add_option("--log", options->map.log,
                   "With a Legion program: write the decisions of its mappers to this file, for "
                   "`groma explain --log`")
      ->type_name(kFileType)
      ->check(not_empty);
  add_program_options(*command, &options->map.program, "With a Legion program: ");
  add_results_options(*command, &options->map.program, "With a Legion program: ");
  add_behind(*command, "[-- FLAGS | --map FILE -- PROGRAM ARGS]");
  command->footer(
      "Examples:\n"
      "  groma run my.mapper --machine p100x4 --app circuit\n"
      "  groma run --app cannon:size=large,nodes=4 --machine lassen:nodes=4\n"
      "                                                 under the default mapper\n"
      "  groma run my.mapper --app circuit --fit        also the largest problem that fits\n"
      "  groma run my.mapper --app cosma --report cosma.html\n"
      "  groma run my.mapper --on legion --app cannon:n=512 -- -ll:cpu 2\n"
      "                                                 measured on this computer\n"
      "  groma run --map my.mapper -- ./my_legion_program -n 100 -ll:cpu 4\n"
      "  groma run --map my.mapper --profile --report run.html -- ./my_legion_program\n"
      "                                                 where its time went, measured\n"
      "  groma run --map my.mapper --log run.log -- ./my_legion_program\n"
      "                                                 then: groma explain my.mapper --log "
      "run.log");
  command->callback([=, &behind] {
    const bool on_legion = options->on == "legion";
    const bool has_map = map->count() > 0;
    if (has_map && file->count() > 0) {
      throw CLI::ValidationError("FILE", "put the program after `--`: --map " + options->map.file +
                                             " -- " + options->file);
    }
    if (has_map && behind.empty()) {
      throw CLI::ValidationError("--map", "put a program after `--`: --map FILE -- PROGRAM");
    }
    if (!has_map && !on_legion && !behind.empty()) {
      throw CLI::ValidationError("--",
                                 behind.front().starts_with('-')
                                     ? "flags for Legion are only valid with --on legion"
                                     : "a program is only valid with --map: --map FILE -- PROGRAM");
    }
    if (!has_map && app_option->count() == 0) throw CLI::RequiredError("--app or --map");
    // Options that only one of the two runtimes has.
    const bool with_program = on_legion || map->count() > 0;
    for (const char* name :
         {"--machine", "--seed", "--noise", "--fit", "--grow", "--time", "--memory", "--profile",
          "--log", "--timeout", "--checks", "--library", "--same", "--tolerance"}) {
      constexpr std::array<std::string_view, 7> kOfPrograms = {
          "--profile", "--log", "--timeout", "--checks", "--library", "--same", "--tolerance"};
      const bool of_program =
          std::find(kOfPrograms.begin(), kOfPrograms.end(), name) != kOfPrograms.end();
      if (command->get_option(name)->count() == 0 || of_program == with_program) continue;
      throw CLI::ValidationError(
          name, of_program ? "only valid for Legion programs, with --on legion or --map"
                           : "not valid for a Legion program, which runs on this computer");
    }
    options->map.program.words = behind;
    options->map.json = options->json;
    *exit_code = map->count() > 0 ? run_under_mapping(options->map)
                 : on_legion      ? run_on_legion(*options)
                                  : run(*options);
  });
}

}  // namespace driver
