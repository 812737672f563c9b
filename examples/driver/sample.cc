// groma sample: draws a random mapping from the search space, lists the space, or writes a chosen
// mapping of it.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

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
  groma::tuning::Choice choice;  // empty: the choice that the seed draws
  groma::LayoutOverrides override_layouts;
  bool json = false;
};

// Returns why the choice does not belong to the space, or "" if it does.
std::string mistake_of(const groma::tuning::Choice& choice,
                       const groma::tuning::SearchSpace& space) {
  const auto& decisions = space.decisions();
  if (choice.size() != decisions.size()) {
    return fmt::format("--choice has {} numbers, but the search space has {} decisions",
                       choice.size(), decisions.size());
  }
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const std::size_t count = decisions[i].options.size();
    if (choice[i] < count) continue;
    return fmt::format("decision {} of --choice is {}, but `{}` has {} options", i, choice[i],
                       decisions[i].head, count);
  }
  return "";
}

// Returns the decisions of the space with their options, a choice, and the mapping that the choice
// stands for.
std::string json_of(const groma::tuning::SearchSpace& space, const groma::tuning::Choice& choice,
                    const std::string& mapping) {
  nlohmann::ordered_json json = {{"decisions", nlohmann::ordered_json::array()}};
  for (const groma::tuning::Decision& decision : space.decisions())
    json["decisions"].push_back({{"head", decision.head}, {"options", decision.options}});
  json["choice"] = choice;
  json["mapping"] = mapping;
  return json.dump() + "\n";
}

// Prints a mapping that is drawn at random or chosen. Layout statements that would contradict the
// application are left out of it. Returns the exit code.
int run(const SampleArguments& options) {
  check_standard_input({options.machine, options.app});
  std::optional<groma::Diagnostics> diags;
  const auto with = read_inputs(options.machine, options.app, &diags,
                                {.override_layouts = options.override_layouts});
  if (!with) return fail(*diags, options.json);
  // The grain says whether each region or each argument of a task has its own memory decision.
  const groma::tuning::SearchGranularity grain = options.grain == "regions"
                                                     ? groma::tuning::SearchGranularity::kRegions
                                                     : groma::tuning::SearchGranularity::kArguments;
  const groma::tuning::SearchSpace space(*with->machine, *with->workload, grain);
  const bool chosen = !options.choice.empty();
  if (chosen) {
    const std::string mistake = mistake_of(options.choice, space);
    if (!mistake.empty())
      return refuse(mistake, "`groma sample --json` lists the decisions and their options");
  }
  std::string text = chosen ? space.text_of(options.choice) : space.sample_text(options.seed);
  text =
      groma::tuning::without_contradicted_layouts(std::move(text), *with->machine, *with->workload);
  if (!options.json) return print(text);
  return print(json_of(space, chosen ? options.choice : space.sample(options.seed), text));
}

}  // namespace

void add_sample(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<SampleArguments>();
  CLI::App* command = app.add_subcommand(
      "sample", "Print a random mapping from the search space; most of them do not run");
  add_app_option(*command, &options->app)->required();
  add_override_layouts_flag(*command, &options->override_layouts);
  add_machine_option(*command, &options->machine);
  CLI::Option* seed = command
                          ->add_option("--seed", options->seed,
                                       "The seed; a seed gives the same mapping on every computer")
                          ->check(is_seed)
                          ->capture_default_str();
  command
      ->add_option("--choice", options->choice,
                   "Write this mapping instead of a random one: for each decision of the search "
                   "space the number of an option, such as 0,2,1,...")
      ->delimiter(',')
      ->excludes(seed);
  command
      ->add_option("--grain", options->grain,
                   "Draw a memory for each region, or for each region argument of each task")
      ->check(CLI::IsMember({"regions", "arguments"}))
      ->capture_default_str();
  add_json_flag(*command, &options->json);
  command->footer(
      "Examples:\n"
      "  groma sample --app cannon --seed 7 > random.mapper\n"
      "  groma sample --app circuit --seed 3 | groma check - --app circuit --machine p100x4\n"
      "                                                 why it does not run\n"
      "  groma sample --app cannon --json               the decisions, their options and a choice");
  command->callback([options, exit_code] { *exit_code = run(*options); });
}

}  // namespace driver
