// make_machine builds a machine from a line such as `NAME:a=1,b=2` or `a=1,b=2`. machine_line
// writes such a line for a machine.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "groma/machine.h"
#include "groma/spelling.h"
#include "machine/check.h"
#include "machine/figures.h"
#include "machine/node.h"
#include "machine/parameters.h"
#include "machine/quote.h"

namespace groma {
namespace {

constexpr std::size_t kLongestSpec = 1000;

// A parsed line that describes a machine. The values are in the order of parameter_rules(); a
// missing value means the default.
struct MachineSpec {
  const PresetEntry* preset = nullptr;
  // False if the line names no preset. The default preset is then used.
  bool named = false;
  std::vector<std::optional<std::int64_t>> values;
};

// Returns the text without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Returns a help text: similar names, or all names if none is similar.
std::string help_for(std::string_view word, std::span<const std::string_view> names,
                     std::string_view plural) {
  const std::vector<std::string_view> near = near_names(word, names);
  if (!near.empty()) return fmt::format("did you mean {}?", join_names(near));
  return fmt::format("{} are {}", plural, join_names(names, "and"));
}

// Returns the error for a name that is not a preset, with similar names as help.
Error unknown_preset(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PresetEntry& entry : preset_entries()) names.push_back(entry.name);
  return {Error::Code::kUnknown, fmt::format("there is no machine {}", in_quotes(name)),
          help_for(name, names, "the presets")};
}

Error unknown_parameter(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ParameterRule& parameter : parameter_rules()) names.push_back(parameter.name);
  return {Error::Code::kUnknown, fmt::format("a machine has no parameter {}", in_quotes(name)),
          help_for(name, names, "the parameters")};
}

// Returns the preset with this name, or null.
const PresetEntry* find_preset(std::string_view name) {
  for (const PresetEntry& entry : preset_entries()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

// Returns the value of a decimal number within the range of the parameter.
std::optional<std::int64_t> to_count(std::string_view text, const ParameterRule& parameter) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || value < parameter.least || value > parameter.most) return std::nullopt;
  return value;
}

// Reads one `name=value` into `spec`. A parameter must not occur twice.
std::optional<Error> read_item(std::string_view item, MachineSpec* spec) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos) {
    return malformed_machine(fmt::format("{} is not a parameter with a value", in_quotes(item)),
                             "parameters are written `nodes=4,gpu=2`");
  }
  const std::string_view name = trimmed(item.substr(0, equals));
  const std::string_view value = trimmed(item.substr(equals + 1));
  const auto all = parameter_rules();
  const auto parameter =
      std::find_if(all.begin(), all.end(), [name](const auto& p) { return p.name == name; });
  if (parameter == all.end()) return unknown_parameter(name);
  auto& slot = spec->values[static_cast<std::size_t>(parameter - all.begin())];
  if (slot)
    return malformed_machine(fmt::format("parameter `{}` stands there twice", parameter->name));
  slot = to_count(value, *parameter);
  if (slot) return std::nullopt;
  return malformed_machine(fmt::format("`{}` is {}, which is not a count ({} to {})",
                                       parameter->name, in_quotes(value), parameter->least,
                                       parameter->most));
}

// Reads the parameters between commas.
std::optional<Error> read_items(std::string_view text, MachineSpec* spec) {
  while (true) {
    const std::size_t comma = text.find(',');
    if (std::optional<Error> error = read_item(trimmed(text.substr(0, comma)), spec)) return error;
    if (comma == std::string_view::npos) return std::nullopt;
    text.remove_prefix(comma + 1);
  }
}

// Splits a line at its colon. A line without a colon is a preset's name, or parameters if it has a
// `=`.
Result<MachineSpec> read_spec(std::string_view text) {
  MachineSpec spec;
  spec.values.resize(parameter_rules().size());
  const std::size_t colon = text.find(':');
  // A colon always follows the name of a preset.
  const bool inline_form = colon == std::string_view::npos && text.find('=') != text.npos;
  spec.named = !inline_form;
  if (inline_form) {
    spec.preset = &preset_entries().front();
    if (std::optional<Error> error = read_items(text, &spec)) return *error;
    return spec;
  }
  const std::string_view name = trimmed(text.substr(0, colon));
  spec.preset = find_preset(name);
  if (spec.preset == nullptr) return unknown_preset(name);
  if (colon == std::string_view::npos) return spec;
  if (std::optional<Error> error = read_items(text.substr(colon + 1), &spec)) return *error;
  return spec;
}

// Returns the line in a normal form: no spaces, parameters in the order of the table. Messages call
// the machine by this name.
std::string name_of(const MachineSpec& spec) {
  std::string values;
  for (std::size_t i = 0; i < spec.values.size(); ++i) {
    if (!spec.values[i]) continue;
    values += fmt::format("{}{}={}", values.empty() ? "" : ",", parameter_rules()[i].name,
                          *spec.values[i]);
  }
  if (!spec.named) return values;
  return fmt::format("{}{}{}", spec.preset->name, values.empty() ? "" : ":", values);
}

// Returns the description that the machine gets: the summary of the preset if the line names one,
// otherwise a text that says that counts were given.
std::string description_of(const MachineSpec& spec) {
  if (spec.named) return std::string(spec.preset->summary);
  return fmt::format("counts as given, the rest as `{}`", spec.preset->name);
}

// Builds the machine of a parsed line. All nodes are of one type.
Result<Machine> build(const MachineSpec& spec) {
  const auto all = parameter_rules();
  const auto sockets =
      std::find_if(all.begin(), all.end(), [](const auto& p) { return p.name == kSockets; });
  NodeCounts counts = default_counts(spec.preset->figures,
                                     spec.values[static_cast<std::size_t>(sockets - all.begin())]);
  std::int64_t nodes = 1;
  for (std::size_t i = 0; i < spec.values.size(); ++i) {
    const ParameterRule& parameter = parameter_rules()[i];
    if (!spec.values[i]) continue;
    if (parameter.name == kNodes) nodes = *spec.values[i];
    if (parameter.processors) counts.processor_count_of(*parameter.processors) = *spec.values[i];
    if (parameter.memory) counts.memory_bytes_of(*parameter.memory) = *spec.values[i] << 20;
  }
  return Machine::make(name_of(spec), description_of(spec),
                       {make_node(spec.preset->figures, counts)},
                       std::vector<std::uint32_t>(static_cast<std::size_t>(nodes), 0));
}

}  // namespace

// Builds a machine from a line. A line of more than kLongestSpec bytes is refused.
Result<Machine> make_machine(std::string_view spec) {
  if (spec.size() > kLongestSpec) {
    return malformed_machine(fmt::format("the machine {} has {} bytes; at most {}", in_quotes(spec),
                                         spec.size(), kLongestSpec));
  }
  const std::string_view text = trimmed(spec);
  if (text.empty()) {
    return malformed_machine("the machine is empty",
                             "write a preset such as `p100x4`, or `nodes=4,gpu=4`");
  }
  Result<MachineSpec> parts = read_spec(text);
  if (!parts) return parts.error();
  return build(*parts);
}

// Describes a machine as a line for make_machine. Counts are the smallest over all nodes; sockets
// and sizes are those of node 0. Parameters that do not apply are left out.
std::string machine_line(const Machine& machine) {
  const NodeType& node = machine.node(0);
  const MemoryGroup* sockets = node.find(MemKind::kSockmem);
  std::string line;
  for (const ParameterRule& parameter : parameter_rules()) {
    std::int64_t value = machine.node_count();
    if (parameter.name == kSockets) {
      if (sockets == nullptr) continue;
      value = sockets->count;
    } else if (parameter.processors) {
      value = machine.processors_per_node(*parameter.processors);
      // Few machines have IO and PY processors, so a count of 0 is not written.
      const bool rare =
          parameter.processors == ProcKind::kIo || parameter.processors == ProcKind::kPy;
      if (rare && value == 0) continue;
    } else if (parameter.memory) {
      const bool of_gpus = can_address(ProcKind::kGpu, *parameter.memory);
      if (of_gpus && !machine.has(ProcKind::kGpu)) continue;
      const MemoryGroup* group = node.find(*parameter.memory);
      value = std::max(parameter.least, group == nullptr ? 0 : group->capacity_bytes >> 20);
    }
    line += fmt::format("{}{}={}", line.empty() ? "" : ",", parameter.name, value);
  }
  return line;
}

}  // namespace groma
