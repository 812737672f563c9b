// groma sample: draws a random mapping from the search space.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "console.h"
#include "groma/app.h"
#include "groma/diagnostics.h"
#include "groma/inspect.h"
#include "groma/kinds.h"
#include "groma/search_space.h"
#include "groma/source.h"
#include "inputs.h"

namespace driver {
namespace {

struct Options {
  std::string machine = "p100x4", app, grain = "regions";
  std::uint64_t seed = 0;
  groma::LayoutOverrides override_layouts;
};

// Returns true if the program's own mapper demands a layout for some task.
bool has_demands_of_mapper(const groma::Application& app) {
  for (const groma::AppTask& task : app.tasks) {
    for (const groma::AppVariant& variant : task.variants) {
      const auto is_of_mapper = [](const groma::LayoutDemand& demand) {
        return demand.source == groma::DemandSource::kMapper;
      };
      if (std::any_of(variant.demands.begin(), variant.demands.end(), is_of_mapper)) return true;
    }
  }
  return false;
}

// Replaces each Layout statement that contradicts a demand of the program's own mapper by a
// comment, because such a mapping never runs. Each check rehearses a run of the application.
std::string without_demanded_layouts(std::string text, const groma::Machine& machine,
                                     const groma::Workload& app) {
  while (true) {
    const groma::Source source("sample", text);
    groma::Diagnostics diags(source);
    groma::check(source, &machine, &app, diags);
    std::vector<groma::Fix> fixes;
    for (const groma::Diagnostic& diagnostic : diags.all()) {
      if (diagnostic.id != groma::DiagId::kLayoutDemanded || !diagnostic.range) continue;
      const groma::Range line = *diagnostic.range;
      fixes.push_back({"", {{line, "# The program's own mapper asks for another layout."}}, true});
    }
    std::size_t removed = 0;
    text = groma::apply_fixes(source, fixes, &removed);
    if (removed == 0) return text;  // otherwise one contradiction less remains
  }
}

int run(const Options& options) {
  check_standard_input({options.machine, options.app});
  std::optional<groma::Diagnostics> diags;
  const auto with = read_inputs(options.machine, options.app, &diags,
                                {.override_layouts = options.override_layouts});
  if (!with) return fail(*diags, false);
  const groma::SpaceGrain grain =
      options.grain == "regions" ? groma::SpaceGrain::kRegions : groma::SpaceGrain::kArguments;
  const groma::SearchSpace space(*with->machine, *with->workload, grain);
  std::string text = space.sample_text(options.seed);
  if (has_demands_of_mapper(*with->app)) {
    text = without_demanded_layouts(std::move(text), *with->machine, *with->workload);
  }
  return print(text);
}

}  // namespace

void add_sample(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "sample", "A mapping drawn at random from the search space; most of them do not run");
  add_app_option(*command, &options->app)->required();
  add_override_layouts_flag(*command, &options->override_layouts);
  add_machine_option(*command, &options->machine);
  command->add_option("--seed", options->seed, "One seed gives one mapping, on every computer")
      ->check(is_seed)
      ->capture_default_str();
  command
      ->add_option("--grain", options->grain,
                   "What a memory is decided for: each region, or each argument of each task")
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
