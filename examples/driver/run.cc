// groma run: an application under a mapping, in the embedded runtime.
#include "groma/run.h"

#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "groma/evaluate.h"
#include "groma/system.h"

namespace driver {
namespace {

struct Options {
  std::string file, machine = "p100x4", app;
  groma::SimulateOptions simulate;
  std::string trace, report;
  bool json = false;
};

// False, with the reason on standard error, where it cannot be written.
bool write(const std::string& path, const std::string& text) {
  if (path.empty()) return true;
  const auto error = groma::write_file(path, text);
  if (error) print_error(fmt::format("groma: {}\n", error->message));
  return !error;
}

int show(const groma::RunResult& result, const groma::Diagnostics& diags,
         const groma::ProfileWords& words, const Options& options) {
  if (result.status == groma::RunStatus::kStopped) return kInterrupted;
  bool written = true;
  if (result.ok() && !(options.trace.empty() && options.report.empty())) {
    const groma::Profile profile = groma::make_profile(result.record);
    if (!options.trace.empty()) written = write(options.trace, groma::to_trace(profile, words));
    if (!options.report.empty()) {
      written = write(options.report, groma::to_html(profile, words)) && written;
    }
  }
  if (!options.json) print_error(render(diags, color_on_stderr()));
  const std::string text = options.json ? groma::to_json(result, diags, words)
                                        : groma::draw(result, words, color_on_stdout());
  const bool printed = print(text) == kFine;
  return result.ok() && written && printed ? kFine : kWrongInput;
}

int run(Options options) {
  check_standard_input({options.file, options.machine, options.app});
  catch_interrupts();
  options.simulate.stop = [] { return interrupted(); };
  options.simulate.record = true;
  groma::Diagnostics machine_diags(groma::Source(options.machine, ""));
  groma::Diagnostics app_diags(groma::Source(options.app, ""));
  const auto machine = read_machine(options.machine, machine_diags);
  if (!machine) return fail(machine_diags, options.json);
  const auto workload = read_application(options.app, app_diags);
  if (!workload) return fail(app_diags, options.json);
  if (options.file.empty()) {
    const auto result = groma::run_default(std::make_shared<const groma::Machine>(*machine),
                                           *workload, options.simulate, app_diags);
    return show(result, app_diags, groma::words_of(*workload, *machine, nullptr), options);
  }
  std::optional<groma::Diagnostics> diags;
  const auto bound = read_mapping(options.file, *machine, &diags);
  if (!bound) return fail(*diags, options.json);
  const auto result = groma::run(*bound, *workload, options.simulate, *diags, &log());
  return show(result, *diags, groma::words_of(*workload, *machine, &bound->program()), options);
}

}  // namespace

void add_run(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("run", "How fast an application runs under a mapping, simulated");
  command->add_option("FILE", options->file,
                      "A mapping program, `-` is standard input; without it the default mapper");
  add_machine_option(*command, &options->machine, "The machine");
  command->add_option("--app", options->app, "The application: its name or a JSON file")
      ->required();
  command->add_option("--seed", options->simulate.seed, "Of the noise")->capture_default_str();
  command
      ->add_option("--noise", options->simulate.noise,
                   "Tasks and copies take up to this fraction longer or shorter")
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str();
  command->add_option("--trace", options->trace,
                      "Write the run as a trace for chrome://tracing and ui.perfetto.dev");
  command->add_option("--report", options->report, "Write the profile as one HTML page");
  command->add_flag("--json", options->json, "One JSON document instead of text");
  command->footer(
      "Examples:\n"
      "  groma run my.mapper --machine p100x4 --app circuit\n"
      "  groma run --app cannon:size=large,nodes=4 --machine lassen:nodes=4\n"
      "                                                 under the default mapper\n"
      "  groma run my.mapper --app cosma --report cosma.html");
  command->callback([options, exit_code] { *exit_code = run(*options); });
}

}  // namespace driver
