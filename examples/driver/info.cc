// groma machines, groma strategies, groma grammar: show what comes with Groma.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "calibrate.h"
#include "commands.h"
#include "console.h"
#include "groma/dsl_files.h"
#include "groma/inspect.h"
#include "groma/io.h"
#include "groma/machine.h"
#include "groma/spelling.h"
#include "groma/syntax.h"
#include "inputs.h"
#include "json_list.h"

namespace driver {
namespace {

// Returns a size in GiB or MiB with four digits.
std::string bytes_text(std::int64_t bytes) {
  constexpr std::int64_t kGib = std::int64_t{1} << 30, kMib = std::int64_t{1} << 20;
  if (bytes >= kGib)
    return fmt::format("{:.4g} GiB", static_cast<double>(bytes) / static_cast<double>(kGib));
  return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / static_cast<double>(kMib));
}

// Returns the list of the presets, one on each line.
std::string list_machines() {
  std::string text;
  for (const groma::Preset& preset : groma::machine_presets()) {
    text += fmt::format("{:<16}{}\n", preset.name, preset.summary);
  }
  return text +
         "\nAlso a machine: `local` (this computer), a line of counts such as "
         "nodes=4,gpu=4,cpu=4,omp=2,\nor a JSON file. `groma machines NAME` shows one.\n";
}

// Lists the processors, memories and channels of a node type.
std::string describe_node(const groma::NodeType& node) {
  std::string text;
  for (const groma::ProcessorGroup& group : node.processors) {
    text += fmt::format("  {} {}\n", group.count, name_of(group.kind));
  }
  for (const groma::MemoryGroup& group : node.memories) {
    text += fmt::format("  {} {} of {}", group.count, name_of(group.kind),
                        bytes_text(group.capacity_bytes));
    // Name the kinds of processors that can address this memory.
    std::vector<std::string_view> kinds;
    for (const groma::Affinity& affinity : node.affinities) {
      if (affinity.memory == group.kind) kinds.push_back(name_of(affinity.processor));
    }
    text +=
        kinds.empty() ? "\n" : fmt::format(", addressed by {}\n", groma::join_names(kinds, "and"));
  }
  for (const groma::Channel& channel : node.channels) {
    using Scope = groma::Channel::Scope;
    const bool peer = channel.scope == Scope::kPeer;
    text += fmt::format("  {} from {} to {}{}{}: {} x {:.4g} GB/s{}, {:.4g} us\n", channel.name,
                        name_of(channel.from), peer ? "another " : "", name_of(channel.to),
                        channel.scope == Scope::kNetwork ? " of another node" : "", channel.links,
                        channel.bandwidth_bytes_per_s / 1e9, peer ? ", the mean of all pairs" : "",
                        channel.latency_s * 1e6);
  }
  return text;
}

// Describes the node types of a machine, and the parameters if it is a preset.
std::string describe_machine(const std::string& spec, const groma::Machine& machine) {
  std::string text = fmt::format("{}: {}\n", machine.name(), machine.description());
  // Nodes of the same type are described once, with their number.
  std::map<std::uint32_t, std::int64_t> counts;
  for (std::uint32_t type : machine.nodes()) ++counts[type];
  for (const auto& [type, count] : counts) {
    text += fmt::format("\n{} node{}, each with\n{}", count, count == 1 ? "" : "s",
                        describe_node(machine.node_types()[type]));
  }
  if (machine.measurement())
    text += "\nMeasured figures and where they come from\n" + describe_measurement(machine);
  for (const groma::Preset& preset : groma::machine_presets()) {
    if (spec.substr(0, spec.find(':')) != preset.name) continue;
    text += fmt::format("\nParameters (as in {}:nodes=2)\n", preset.name);
    for (const groma::PresetParameter& parameter : preset.parameters) {
      text += fmt::format("  {:<10}{} (default {})\n", parameter.name, parameter.meaning,
                          parameter.default_value);
    }
    text += "\nFigures and where they come from\n";
    for (const groma::PresetFigure& figure : preset.figures) {
      text += fmt::format("  {:<34}{:<20}{}\n", figure.what, figure.value, figure.source);
    }
  }
  return text;
}

// Lists the machines, or shows the named one. Returns the exit code.
int run_machines(const std::string& spec, bool json) {
  if (spec.empty()) {
    return print(json ? json_list("machines", groma::machine_presets()) : list_machines());
  }
  std::optional<groma::Diagnostics> diags;
  const auto inputs = read_inputs(spec, "", &diags);
  if (!inputs) return fail(*diags, json);
  const groma::Machine& machine = *inputs->machine;
  return print(json ? groma::machine_to_json(machine) : describe_machine(spec, machine));
}

// Lists the strategies, or prints the named one. Returns the exit code.
int run_strategies(const std::string& name, bool json) {
  if (name.empty() && json) return print(json_list("strategies", groma::strategies()));
  std::string text;
  std::vector<std::string_view> names;
  for (const groma::DslFile& file : groma::strategies()) {
    if (file.name == name && json) {
      return print(nlohmann::ordered_json{
                       {"name", file.name}, {"summary", file.summary}, {"text", file.text}}
                       .dump() +
                   "\n");
    }
    if (file.name == name) return print(file.text);
    names.push_back(file.name);
    text += fmt::format("{:<14}{}\n", file.name, file.summary);
  }
  if (name.empty()) return print(text);
  const auto near = groma::near_names(name, names);
  print_error(fmt::format("groma: no strategy is named `{}`\n", name));
  print_error(near.empty() ? "help: `groma strategies` lists them\n"
                           : fmt::format("help: did you mean {}?\n", groma::join_names(near)));
  return kWrongInput;
}

// The values of the options of `groma grammar`.
struct GrammarOptions {
  std::string format = "ebnf", app, machine;
};

// Prints the grammar, narrowed to the application and the machine. Returns the exit code.
int run_grammar(const GrammarOptions& options) {
  check_standard_input({options.app, options.machine});
  std::optional<groma::Diagnostics> diags;
  const auto with = read_inputs(options.machine, options.app, &diags);
  if (!with) return fail(*diags, false);
  // The option parser accepts only `ebnf`, `gbnf` and `lark`.
  const auto format = options.format == "gbnf"   ? groma::GrammarFormat::kGbnf
                      : options.format == "lark" ? groma::GrammarFormat::kLark
                                                 : groma::GrammarFormat::kEbnf;
  const groma::Workload* app = with->workload ? &*with->workload : nullptr;
  const groma::Machine* machine = with->machine ? &*with->machine : nullptr;
  return print(groma::grammar(format, groma::grammar_names(app, machine)));
}

}  // namespace

void add_machines(CLI::App& app, int* exit_code) {
  auto name = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("machines", "List the built-in machines, or describe one machine");
  command
      ->add_option("NAME", *name,
                   "The machine to describe: a preset with parameters, `local`, a list of "
                   "counts, or a JSON file")
      ->type_name(kMachineType);
  command->add_flag("--json", *json,
                    "Print the machine as the JSON that --machine reads; without NAME, the names "
                    "of all machines");
  command->footer(
      "Examples:\n"
      "  groma machines\n"
      "  groma machines lassen:nodes=16\n"
      "  groma machines local --json > here.json\n"
      "  groma machines calibrate                       measures this computer for `local`");
  add_calibrate(*command, exit_code);
  // CLI11 also calls this callback after the callback of the subcommand `calibrate`. Nothing is
  // listed then.
  command->callback([command, name, json, exit_code] {
    if (command->get_subcommands().empty()) *exit_code = run_machines(*name, *json);
  });
}

void add_strategies(CLI::App& app, int* exit_code) {
  auto name = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "strategies", "List the paper's ten mapping strategies, or print one of them");
  command->add_option("NAME", *name, "The strategy to print, such as strategy01")
      ->type_name(kStrategyType);
  add_json_flag(*command, json.get());
  command->footer(
      "Examples:\n"
      "  groma strategies\n"
      "  groma strategies strategy10 > my.mapper");
  command->callback([name, json, exit_code] { *exit_code = run_strategies(*name, *json); });
}

void add_grammar(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<GrammarOptions>();
  CLI::App* command = app.add_subcommand(
      "grammar", "Print the grammar of the mapping language, also for constrained decoding");
  command
      ->add_option("--format", options->format,
                   "The notation: ebnf (for people), gbnf (for llama.cpp) or lark (for Lark)")
      ->capture_default_str()
      ->check(CLI::IsMember({"ebnf", "gbnf", "lark"}));
  add_app_option(
      *command, &options->app,
      "Allow only names of tasks and regions of this application: its name or a JSON file");
  add_machine_option(*command, &options->machine,
                     "Allow only processor and memory kinds of this machine: a preset, `local`, a "
                     "list of counts, or a JSON file");
  command->footer(
      "Examples:\n"
      "  groma grammar\n"
      "  groma grammar --format gbnf > groma.gbnf\n"
      "  groma grammar --format gbnf --app circuit --machine p100x4 > circuit.gbnf");
  command->callback([options, exit_code] { *exit_code = run_grammar(*options); });
}

}  // namespace driver
