// groma run: an application under a mapping, in the embedded runtime.
#include "groma/run.h"

#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "groma/evaluate.h"

namespace driver {
namespace {

struct Options {
  std::string file, machine = "p100x4", app;
  groma::SimulateOptions simulate;
  bool json = false;
};

void check_usage(const Options& options) {
  const int standard_inputs = (options.file == "-" ? 1 : 0) + (options.machine == "-" ? 1 : 0) +
                              (options.app.starts_with('-') ? 1 : 0);
  if (standard_inputs > 1) throw CLI::ValidationError("FILE", "standard input can be read once");
}

int show(const groma::RunResult& result, const groma::Diagnostics& diags,
         const groma::Workload& workload, const groma::Machine& machine, bool json) {
  if (result.status == groma::RunStatus::kStopped) return kInterrupted;
  int written = kFine;
  if (json) {
    written = print(groma::to_json(result, diags));
  } else {
    print_error(render(diags, color_on_stderr()));
    written = print(groma::draw(result, workload, machine));
  }
  return result.ok() ? written : kWrongInput;
}

int run(Options options) {
  check_usage(options);
  catch_interrupts();
  options.simulate.stop = [] { return interrupted(); };
  groma::Diagnostics machine_diags(groma::Source(options.machine, ""));
  groma::Diagnostics app_diags(groma::Source(options.app, ""));
  const auto machine = read_machine(options.machine, machine_diags);
  if (!machine) return fail(machine_diags, options.json);
  const auto workload = read_application(options.app, app_diags);
  if (!workload) return fail(app_diags, options.json);
  if (options.file.empty()) {
    const auto result = groma::run_default(std::make_shared<const groma::Machine>(*machine),
                                           *workload, options.simulate, app_diags);
    return show(result, app_diags, *workload, *machine, options.json);
  }
  std::optional<groma::Diagnostics> diags;
  if (!read_source(options.file, &diags)) return fail(*diags, options.json);
  const groma::Program program = groma::compile(diags->source(), *diags);
  const auto bound = groma::bind(program, *machine, *diags, &log());
  if (!bound) return fail(*diags, options.json);
  const auto result = groma::run(*bound, *workload, options.simulate, *diags, &log());
  return show(result, *diags, *workload, *machine, options.json);
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
  command->add_flag("--json", options->json, "One JSON document instead of text");
  command->footer(
      "Examples:\n"
      "  groma run my.mapper --machine p100x4 --app circuit\n"
      "  groma run --app cannon:size=large,nodes=4 --machine lassen:nodes=4\n"
      "                                                 under the default mapper");
  command->callback([options, exit_code] { *exit_code = run(*options); });
}

}  // namespace driver
