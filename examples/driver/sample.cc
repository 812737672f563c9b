// groma sample: draws a random mapping from the search space.
#include <memory>
#include <string>

#include "commands.h"
#include "console.h"
#include "groma/diagnostics.h"
#include "groma/search_space.h"
#include "inputs.h"

namespace driver {
namespace {

// The values of the options of `groma sample`.
struct SampleArguments {
  std::string machine = "p100x4", app, grain = "regions";
  std::uint64_t seed = 0;
  groma::LayoutOverrides override_layouts;
};

// Prints a mapping that is drawn at random. Layout statements that would contradict the application
// are left out of it. Returns the exit code.
int run(const SampleArguments& options) {
  check_standard_input({options.machine, options.app});
  std::optional<groma::Diagnostics> diags;
  const auto with = read_inputs(options.machine, options.app, &diags,
                                {.override_layouts = options.override_layouts});
  if (!with) return fail(*diags, false);
  // The grain says whether each region or each argument of a task has its own memory decision.
  const groma::tuning::SearchGranularity grain = options.grain == "regions"
                                                     ? groma::tuning::SearchGranularity::kRegions
                                                     : groma::tuning::SearchGranularity::kArguments;
  const groma::tuning::SearchSpace space(*with->machine, *with->workload, grain);
  return print(groma::tuning::without_contradicted_layouts(space.sample_text(options.seed),
                                                           *with->machine, *with->workload));
}

}  // namespace

void add_sample(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<SampleArguments>();
  CLI::App* command = app.add_subcommand(
      "sample", "Print a random mapping from the search space; most of them do not run");
  add_app_option(*command, &options->app)->required();
  add_override_layouts_flag(*command, &options->override_layouts);
  add_machine_option(*command, &options->machine);
  command
      ->add_option("--seed", options->seed,
                   "The seed; a seed gives the same mapping on every computer")
      ->check(is_seed)
      ->capture_default_str();
  command
      ->add_option("--grain", options->grain,
                   "Draw a memory for each region, or for each region argument of each task")
      ->check(CLI::IsMember({"regions", "arguments"}))
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  groma sample --app cannon --seed 7 > random.mapper\n"
      "  groma sample --app circuit --seed 3 | groma check - --app circuit --machine p100x4\n"
      "                                                 why it does not run");
  command->callback([options, exit_code] { *exit_code = run(*options); });
}

}  // namespace driver
