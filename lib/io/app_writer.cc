// Writes an application as JSON. Members that have the value which the reader takes by default are
// left out, as a person would do.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "groma/io.h"
#include "io/app_defaults.h"
#include "io/app_keys.h"
#include "io/json.h"

namespace groma {
namespace {

// A JSON object under construction, with its members as JSON text.
class Object {
 public:
  // Adds a member whose value is JSON already. text(), flag() and items() leave out a member that
  // has its default value.
  Object& raw(std::string_view key, const std::string& value) {
    members_.push_back(fmt::format("\"{}\": {}", key, value));
    return *this;
  }
  Object& text(std::string_view key, std::string_view value, std::string_view unless = {}) {
    return value == unless ? *this : raw(key, json_string(value));
  }
  Object& number(std::string_view key, std::int64_t value) {
    return raw(key, std::to_string(value));
  }
  Object& flag(std::string_view key, bool value) { return value ? raw(key, "true") : *this; }
  Object& items(std::string_view key, const std::vector<std::string>& values) {
    return values.empty() ? *this : raw(key, fmt::format("[{}]", fmt::join(values, ", ")));
  }

  std::string on_one_line() const { return fmt::format("{{{}}}", fmt::join(members_, ", ")); }
  std::string on_lines(int indent) const {
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    return fmt::format("{{\n{}  {}\n{}}}", margin, fmt::join(members_, ",\n  " + margin), margin);
  }

 private:
  std::vector<std::string> members_;
};

// Returns the list of the results of write(item), one for each item.
template <typename Item, typename Write>
std::vector<std::string> each(const std::vector<Item>& items, const Write& write) {
  std::vector<std::string> texts;
  for (const Item& item : items) texts.push_back(write(item));
  return texts;
}

// Returns a JSON list with one item on each line.
std::string lines(const std::vector<std::string>& items, int indent) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  return fmt::format("[\n{}  {}\n{}]", margin, fmt::join(items, ",\n  " + margin), margin);
}

// Returns a formula as JSON: a number if it is one, otherwise a text.
std::string formula_text(const Formula& formula) {
  const std::string& text = formula.text();
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::to_string(value) == text ? text : json_string(text);
}

std::vector<std::string> formula_texts(const Formulas& formulas) {
  return each(formulas, formula_text);
}

// Returns each text as a JSON string.
std::vector<std::string> strings(const std::vector<std::string>& texts) {
  return each(texts, [](const std::string& text) { return json_string(text); });
}

// Returns the word that the JSON uses for an enumerator.
template <typename Names, typename Enum>
std::string_view word(const Names& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

// ---- Parameters and data

// Returns a parameter as JSON. Bounds that are the default are left out.
std::string parameter_text(const AppParameter& parameter) {
  const AppParameter usual;
  Object object;
  object.raw(keys::kAppName, json_string(parameter.name)).number(keys::kValue, parameter.value);
  if (parameter.least != usual.least) object.number(keys::kLeast, parameter.least);
  if (parameter.most != usual.most) object.number(keys::kMost, parameter.most);
  return object.text(keys::kMeaning, parameter.meaning)
      .flag(keys::kCountsNodes, parameter.counts_nodes)
      .on_one_line();
}

// Returns a definition, a name for a formula, as JSON.
std::string definition_text(const AppDefinition& definition) {
  return Object()
      .raw(keys::kAppName, json_string(definition.name))
      .raw(keys::kValue, formula_text(definition.value))
      .on_one_line();
}

// Returns a named set of parameter values as JSON.
std::string size_text(const AppSize& size) {
  Object values;
  for (const auto& [name, value] : size.values) values.number(name, value);
  return Object()
      .raw(keys::kAppName, json_string(size.name))
      .text(keys::kReason, size.reason)
      .raw(keys::kValues, values.on_one_line())
      .on_one_line();
}

// Returns the metric as JSON.
std::string metric_text(const AppMetric& metric) {
  return Object()
      .raw(keys::kUnit, json_string(metric.unit))
      .raw(keys::kWork, formula_text(metric.work))
      .text(keys::kPhase, metric.phase)
      .on_one_line();
}

// Returns the costs of the runtime as JSON, in nanoseconds.
std::string runtime_text(const RuntimeCosts& costs) {
  const auto nanoseconds = [](double seconds) {
    return static_cast<std::int64_t>(std::llround(seconds * 1e9));
  };
  return Object()
      .number(keys::kIssueCost, nanoseconds(costs.issue_s))
      .number(keys::kMapCost, nanoseconds(costs.map_s))
      .number(keys::kReplayCost, nanoseconds(costs.replay_s))
      .number(keys::kRemoteCost, nanoseconds(costs.remote_s))
      .number(keys::kFutureCost, nanoseconds(costs.future_s))
      .number(keys::kCopyCost, nanoseconds(costs.copy_s))
      .on_one_line();
}

std::string field_text(const AppField& field) {
  return Object().text(keys::kAppName, field.name).number(keys::kBytes, field.bytes).on_one_line();
}

// Returns a region as JSON, with its extents as formulas.
std::string region_text(const AppRegion& region) {
  return Object()
      .raw(keys::kAppName, json_string(region.name))
      .items(keys::kAliases, strings(region.aliases))
      .flag(keys::kUnnamed, region.unnamed)
      .items(keys::kExtents, formula_texts(region.extents))
      .items(keys::kFields, each(region.fields, field_text))
      .on_one_line();
}

std::string box_text(const AppBox& box) {
  return Object()
      .items(keys::kColor, formula_texts(box.color))
      .items(keys::kLower, formula_texts(box.lower))
      .items(keys::kExtents, formula_texts(box.extents))
      .on_one_line();
}

// Returns a partition as JSON.
std::string partition_text(const AppPartition& partition) {
  constexpr int kIndent = 4;
  Object object;
  object.raw(keys::kAppName, json_string(partition.name))
      .items(keys::kAliases, strings(partition.aliases))
      .flag(keys::kUnnamed, partition.unnamed)
      .raw(keys::kOf, json_string(partition.of))
      .items(keys::kColors, formula_texts(partition.colors))
      .items(keys::kIndex, strings(partition.index))
      .items(keys::kLower, formula_texts(partition.lower))
      .items(keys::kExtents, formula_texts(partition.extents))
      .items(keys::kHalo, formula_texts(partition.halo));
  if (!partition.boxes.empty()) {
    object.raw(keys::kBoxes, lines(each(partition.boxes, box_text), kIndent));
  }
  return object.on_one_line();
}

// Returns the data of a requirement as JSON: only the name if there is nothing else.
std::string data_text(const AppData& data) {
  if (data == AppData{data.of} && !data.of.empty()) return json_string(data.of);
  return Object()
      .text(keys::kOf, data.of)
      .items(keys::kColor, formula_texts(data.color))
      .items(keys::kFields, strings(data.fields))
      .text(keys::kPrivilege, data.privilege ? name_of(*data.privilege) : std::string_view())
      .on_one_line();
}

// ---- Tasks

// Returns a demand on a layout as JSON.
std::string demand_text(const LayoutDemand& demand) {
  Object object;
  object.number(keys::kRequirement, demand.requirement);
  if (demand.source == DemandSource::kMapper) {
    object.text(keys::kDemandedBy, word(keys::kDemandSourceNames, demand.source));
  }
  if (demand.dimensions) {
    object.text(keys::kOrderOfDimensions, word(keys::kDimensionOrderNames, *demand.dimensions));
  }
  if (demand.fields)
    object.text(keys::kOrderOfFields, word(keys::kFieldOrderNames, *demand.fields));
  if (demand.memory) object.text(keys::kMemoryKind, name_of(*demand.memory));
  object.flag(keys::kExact, demand.exact);
  if (demand.not_exact) object.raw(keys::kExact, "false");
  if (demand.align_op != AlignOp::kNone) {
    Object align;
    align.text(keys::kAlignOperator,
               keys::kAlignNames[static_cast<std::size_t>(demand.align_op) - 1]);
    align.number(keys::kBytes, demand.align_bytes);
    object.raw(keys::kAlign, align.on_one_line());
  }
  return object.on_one_line();
}

// Returns the bytes that a run of the task moves for one requirement, as JSON. The way of access is
// written unless it is streaming, which is the default.
std::string traffic_text(const AppTraffic& traffic) {
  return Object()
      .number(keys::kRequirement, traffic.requirement)
      .raw(keys::kBytes, formula_text(traffic.bytes))
      .text(keys::kAccess, word(keys::kAccessNames, traffic.access), keys::kAccessNames[0])
      .on_one_line();
}

// Returns a variant as JSON, without the costs that have their default.
std::string variant_text(const AppVariant& variant) {
  const AppVariant usual;
  Object object;
  const auto formula = [&](std::string_view key, const Formula& value, const Formula& otherwise) {
    if (value != otherwise) object.raw(key, formula_text(value));
  };
  object.text(keys::kProcKind, name_of(variant.kind));
  object.flag(keys::kLeaf, variant.leaf).flag(keys::kInner, variant.inner);
  object.flag(keys::kReplicable, variant.replicable);
  object.flag(keys::kChosen, variant.chosen_by_mapper);
  formula(keys::kFlopsOfRun, variant.flops, usual.flops);
  object.flag(keys::kSingle, variant.single);
  formula(keys::kEfficiency, variant.efficiency, usual.efficiency);
  formula(keys::kKernels, variant.kernels, usual.kernels);
  formula(keys::kNanoseconds, variant.nanoseconds, usual.nanoseconds);
  object.items(keys::kTraffic, each(variant.traffic, traffic_text));
  if (variant.loops) object.text(keys::kLoops, word(keys::kDimensionOrderNames, *variant.loops));
  return object.items(keys::kDemands, each(variant.demands, demand_text)).on_one_line();
}

// Returns a requirement as JSON, without the fields and names that its data gives it.
std::string requirement_text(const AppRequirement& requirement, const AppDefaults& defaults) {
  Object object;
  const std::string& of = requirement.data.of;
  object.items(keys::kNames, strings(requirement.names));
  object.text(keys::kPrivilege, name_of(requirement.privilege));
  object.text(keys::kCoherence, word(keys::kCoherenceNames, requirement.coherence),
              keys::kCoherenceNames[0]);
  if (requirement.data != AppData{}) object.raw(keys::kData, data_text(requirement.data));
  if (requirement.dimensions != defaults.dimensions(of)) {
    object.number(keys::kDimensions, requirement.dimensions);
  }
  // A field whose size is that of the region is written as its name.
  if (requirement.fields != defaults.fields(of)) {
    const auto names = each(requirement.fields, [&](const AppField& field) {
      const bool alone = !field.name.empty() && field.bytes == defaults.bytes(of, field.name);
      return alone ? json_string(field.name) : field_text(field);
    });
    object.raw(keys::kFields, fmt::format("[{}]", fmt::join(names, ", ")));
  }
  return object.on_one_line();
}

// ---- What tasks launch

// Returns a launch as JSON. Members that have their default are left out.
std::string launch_text(const AppLaunch& launch) {
  Object object;
  object.raw(keys::kLaunchOf, json_string(launch.task))
      .items(keys::kDomain, formula_texts(launch.domain))
      .items(keys::kLower, formula_texts(launch.lower))
      .items(keys::kIndex, strings(launch.index));
  if (launch.where != AppLaunch().where) object.raw(keys::kWhere, formula_text(launch.where));
  return object.items(keys::kArguments, formula_texts(launch.arguments))
      .items(keys::kData, each(launch.data, data_text))
      .text(keys::kGives, launch.gives)
      .items(keys::kTakes, strings(launch.takes))
      .flag(keys::kSameAddressSpace, launch.same_address_space)
      .on_one_line();
}

std::string body_text(const std::vector<AppStatement>& body, int indent);

// Returns a statement as JSON, on several lines if it has a body.
std::string statement_text(const AppStatement& statement, int indent) {
  if (const auto* launch = std::get_if<AppLaunch>(&statement.node)) return launch_text(*launch);
  Object object;
  if (const auto* wait = std::get_if<AppWait>(&statement.node)) {
    return object.raw(keys::kWait, json_string(wait->future)).on_one_line();
  }
  // The statements that are left are loops and phases, and both have a body.
  const std::vector<AppStatement>* body = nullptr;
  if (const auto* loop = std::get_if<AppLoop>(&statement.node)) {
    object.raw(keys::kRepeat, formula_text(loop->count)).text(keys::kVariable, loop->variable);
    object.flag(keys::kTraced, loop->traced);
    body = &loop->body;
  } else {
    const auto& phase = std::get<AppPhase>(statement.node);
    object.raw(keys::kPhase, json_string(phase.name));
    body = &phase.body;
  }
  if (!body->empty()) object.raw(keys::kBody, body_text(*body, indent));
  return object.on_one_line();
}

// Returns statements as a JSON list with one on each line.
std::string body_text(const std::vector<AppStatement>& body, int indent) {
  return lines(
      each(body,
           [&](const AppStatement& statement) { return statement_text(statement, indent + 2); }),
      indent);
}

// Returns a task as JSON, with one statement on each line.
std::string task_text(const AppTask& task, const AppDefaults& defaults) {
  constexpr int kIndent = 6;
  Object object;
  object.raw(keys::kAppName, json_string(task.name));
  object.items(keys::kArguments, strings(task.arguments));
  object.raw(keys::kVariants, lines(each(task.variants, variant_text), kIndent));
  if (!task.requirements.empty()) {
    const auto write = [&](const AppRequirement& each) { return requirement_text(each, defaults); };
    object.raw(keys::kRequirements, lines(each(task.requirements, write), kIndent));
  }
  if (!task.body.empty()) object.raw(keys::kBody, body_text(task.body, kIndent));
  return object.on_lines(kIndent - 2);
}

}  // namespace

// Returns the application as JSON, with one item of each list on a line.
std::string application_to_json(const Application& app) {
  const AppDefaults defaults(app);
  Object object;
  const auto group = [&](std::string_view key, const std::vector<std::string>& items) {
    if (!items.empty()) object.raw(key, lines(items, 2));
  };
  object.raw(keys::kAppName, json_string(app.name));
  object.text(keys::kAppDescription, app.description);
  group(keys::kParameters, each(app.parameters, parameter_text));
  group(keys::kDefinitions, each(app.definitions, definition_text));
  group(keys::kSizes, each(app.sizes, size_text));
  if (!app.metric.empty()) object.raw(keys::kMetric, metric_text(app.metric));
  if (app.runtime) object.raw(keys::kRuntime, runtime_text(*app.runtime));
  group(keys::kRegions, each(app.regions, region_text));
  group(keys::kPartitions, each(app.partitions, partition_text));
  object.text(keys::kTopLevel, app.top_level);
  group(keys::kTasks,
        each(app.tasks, [&](const AppTask& task) { return task_text(task, defaults); }));
  return object.on_lines(0) + "\n";
}

}  // namespace groma
