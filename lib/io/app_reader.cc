// Reads an application from JSON.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/builder.h"
#include "app/formula.h"
#include "groma/io.h"
#include "groma/spelling.h"
#include "groma/workload.h"
#include "io/app_defaults.h"
#include "io/app_keys.h"
#include "io/json.h"
#include "machine/quote.h"

namespace groma {
namespace {

// Limit on the nesting of the JSON. Each body within a body takes two levels. The constant part is
// for the values in a statement and for the values around the first body.
constexpr std::size_t kMaxAppJsonDepth = 16 + 2 * static_cast<std::size_t>(kMaxAppDepth);

// Returns the allowed names, as the help of an error about a wrong or missing word.
std::string one_of(std::span<const std::string_view> names) {
  return fmt::format("one of {}", join_names(names, "and"));
}

// Reads one application and collects all errors. Each read_...() function reads the object of its
// type, and returns what it could read.
class AppReader {
 public:
  explicit AppReader(std::string_view name) : name_(name), json_(name_) {}

  Result<Application> read(const JsonValue& root, const std::function<bool()>& stop);

 private:
  // Return the value of a member that may be left out, or `otherwise`.
  std::string text_or(const JsonPlace& place, std::string_view key, std::string otherwise);
  std::int64_t integer_or(const JsonPlace& place, std::string_view key, std::int64_t otherwise);
  bool truth_or(const JsonPlace& place, std::string_view key, bool otherwise);
  Formula formula_or(const JsonPlace& place, std::string_view key, Formula otherwise);
  std::optional<std::size_t> word_if(const JsonPlace& place, std::string_view key,
                                     std::span<const std::string_view> names,
                                     std::string_view what);
  std::string required_text(const JsonPlace& place, std::string_view key);
  Formula required_formula(const JsonPlace& place, std::string_view key);
  // Returns read(element) for each element of the list `key`. The list may be left out.
  template <typename Item, typename Read>
  std::vector<Item> list(const JsonPlace& place, std::string_view key, std::size_t most,
                         const Read& read);
  std::vector<std::string> texts(const JsonPlace& place, std::string_view key, std::size_t most);
  Formulas formulas(const JsonPlace& place, std::string_view key, std::size_t most);

  Formula read_formula(const JsonPlace& place);
  AppParameter read_parameter(const JsonPlace& place);
  AppDefinition read_definition(const JsonPlace& place);
  AppSize read_size(const JsonPlace& place);
  AppMetric read_metric(const JsonPlace& place);
  RuntimeCosts read_runtime(const JsonPlace& place);
  AppRegion read_region(const JsonPlace& place);
  AppPartition read_partition(const JsonPlace& place);
  AppBox read_box(const JsonPlace& place);
  AppField read_field(const JsonPlace& place, std::string_view of);
  AppData read_data(const JsonPlace& place);
  AppTask read_task(const JsonPlace& place);
  AppVariant read_variant(const JsonPlace& place);
  LayoutDemand read_demand(const JsonPlace& place);
  AppTraffic read_traffic(const JsonPlace& place);
  std::uint32_t read_position(const JsonPlace& place);
  AppRequirement read_requirement(const JsonPlace& place);
  std::vector<AppStatement> read_body(const JsonPlace& place);
  AppStatement read_statement(const JsonPlace& place);
  AppLaunch read_launch(const JsonPlace& place);
  AppLoop read_loop(const JsonPlace& place);
  AppPhase read_phase(const JsonPlace& place);

  std::string name_;
  JsonReader json_;
  std::optional<AppDefaults> defaults_;
  // The number of fields of all requirements so far.
  std::size_t fields_ = 0;
};

// ---- Members

std::string AppReader::text_or(const JsonPlace& place, std::string_view key,
                               std::string otherwise) {
  const auto found = JsonReader::member(place, key);
  return found ? json_.text(*found) : std::move(otherwise);
}

std::int64_t AppReader::integer_or(const JsonPlace& place, std::string_view key,
                                   std::int64_t otherwise) {
  const auto found = JsonReader::member(place, key);
  return found ? json_.integer(*found) : otherwise;
}

bool AppReader::truth_or(const JsonPlace& place, std::string_view key, bool otherwise) {
  const auto found = JsonReader::member(place, key);
  return found ? json_.boolean(*found) : otherwise;
}

Formula AppReader::formula_or(const JsonPlace& place, std::string_view key, Formula otherwise) {
  const auto found = JsonReader::member(place, key);
  return found ? read_formula(*found) : std::move(otherwise);
}

std::optional<std::size_t> AppReader::word_if(const JsonPlace& place, std::string_view key,
                                              std::span<const std::string_view> names,
                                              std::string_view what) {
  const auto found = JsonReader::member(place, key);
  if (!found) return std::nullopt;
  return json_.index_of_word(*found, names, what);
}

std::string AppReader::required_text(const JsonPlace& place, std::string_view key) {
  const auto found = json_.required(place, key);
  return found ? json_.text(*found) : std::string();
}

Formula AppReader::required_formula(const JsonPlace& place, std::string_view key) {
  const auto found = json_.required(place, key);
  return found ? read_formula(*found) : Formula();
}

template <typename Item, typename Read>
// Reads a list of at most `most` items. A list that is left out is empty.
std::vector<Item> AppReader::list(const JsonPlace& place, std::string_view key, std::size_t most,
                                  const Read& read) {
  std::vector<Item> items;
  const auto found = JsonReader::member(place, key);
  if (!found) return items;
  const JsonValue::Array& values = json_.array(*found);
  if (values.size() > most) {
    json_.fail(*found, fmt::format("it has {} items, at most {} may be", values.size(), most));
    return items;
  }
  for (std::size_t i = 0; i < values.size() && !json_.has_max_errors(); ++i) {
    items.push_back(read(JsonPlace{&values[i], &*found, {}, i}));
  }
  return items;
}

std::vector<std::string> AppReader::texts(const JsonPlace& place, std::string_view key,
                                          std::size_t most) {
  return list<std::string>(place, key, most, [&](const JsonPlace& at) { return json_.text(at); });
}

Formulas AppReader::formulas(const JsonPlace& place, std::string_view key, std::size_t most) {
  return list<Formula>(place, key, most, [&](const JsonPlace& at) { return read_formula(at); });
}

// Reads a formula, which may be a number or a text.
Formula AppReader::read_formula(const JsonPlace& place) {
  if (const auto* text = std::get_if<std::string>(&place.value->data)) return *text;
  if (std::holds_alternative<std::int64_t>(place.value->data) ||
      std::holds_alternative<double>(place.value->data)) {
    return json_.integer(place);
  }
  json_.fail_wrong_type(place, "a whole number or a formula");
  return 0;
}

// ---- Parameters and data

// Reads a parameter: its name, default, range and meaning.
AppParameter AppReader::read_parameter(const JsonPlace& place) {
  AppParameter parameter;
  if (!json_.is_object(place, keys::kParameterKeys)) return parameter;
  parameter.name = required_text(place, keys::kAppName);
  if (const auto value = json_.required(place, keys::kValue)) {
    parameter.value = json_.integer(*value);
  }
  parameter.least = integer_or(place, keys::kLeast, parameter.least);
  parameter.most = integer_or(place, keys::kMost, parameter.most);
  parameter.meaning = text_or(place, keys::kMeaning, {});
  parameter.counts_nodes = truth_or(place, keys::kCountsNodes, false);
  return parameter;
}

// Reads a definition: a name for a formula, which later formulas may use.
AppDefinition AppReader::read_definition(const JsonPlace& place) {
  AppDefinition definition;
  if (!json_.is_object(place, keys::kDefinitionKeys)) return definition;
  definition.name = required_text(place, keys::kAppName);
  definition.value = required_formula(place, keys::kValue);
  return definition;
}

// Reads a named set of parameter values.
AppSize AppReader::read_size(const JsonPlace& place) {
  AppSize size;
  if (!json_.is_object(place, keys::kSizeKeys)) return size;
  size.name = required_text(place, keys::kAppName);
  size.reason = text_or(place, keys::kReason, {});
  const auto values = json_.required(place, keys::kValues);
  if (!values) return size;
  // The keys of the values are the parameters of this application, so they are not checked against
  // a fixed list.
  const JsonValue::Object* members = values->value->object();
  if (members == nullptr) {
    // is_object() reports that the value is not an object.
    json_.is_object(*values, {});
    return size;
  }
  for (const JsonMember& member : *members) {
    if (!app::is_formula_name(member.key)) {
      json_.fail(*values, fmt::format("{} is not a parameter's name", in_quotes(member.key)));
    }
    size.values.emplace_back(member.key,
                             json_.integer(JsonPlace{&member.value, &*values, member.key, 0}));
  }
  return size;
}

// Reads how the speed of the application is stated: its unit, its work, and the phase that is
// measured.
AppMetric AppReader::read_metric(const JsonPlace& place) {
  AppMetric metric;
  if (!json_.is_object(place, keys::kMetricKeys)) return metric;
  metric.unit = text_or(place, keys::kUnit, metric.unit);
  metric.work = formula_or(place, keys::kWork, metric.work);
  metric.phase = text_or(place, keys::kPhase, {});
  return metric;
}

// Reads the runtime costs. A cost that is left out has its default.
RuntimeCosts AppReader::read_runtime(const JsonPlace& place) {
  RuntimeCosts costs;
  if (!json_.is_object(place, keys::kRuntimeKeys)) return costs;
  const auto read = [&](std::string_view key, double& cost) {
    const auto found = JsonReader::member(place, key);
    if (!found) return;
    const std::int64_t nanoseconds = json_.integer(*found);
    // The JSON has nanoseconds, the application seconds.
    constexpr auto kMost = static_cast<std::int64_t>(kMaxRuntimeCost * 1e9);
    if (nanoseconds < 0 || nanoseconds > kMost) {
      json_.fail(*found, fmt::format("it is {}, from 0 to {} may be", nanoseconds, kMost));
    }
    cost = static_cast<double>(nanoseconds) / 1e9;
  };
  read(keys::kIssueCost, costs.issue_s);
  read(keys::kMapCost, costs.map_s);
  read(keys::kReplayCost, costs.replay_s);
  read(keys::kRemoteCost, costs.remote_s);
  read(keys::kFutureCost, costs.future_s);
  read(keys::kCopyCost, costs.copy_s);
  return costs;
}

// Reads a region: its names, its extents as formulas, and its fields.
AppRegion AppReader::read_region(const JsonPlace& place) {
  AppRegion region;
  if (!json_.is_object(place, keys::kRegionKeys)) return region;
  region.name = required_text(place, keys::kAppName);
  region.aliases = texts(place, keys::kAliases, kMaxAppAliases);
  region.unnamed = truth_or(place, keys::kUnnamed, false);
  json_.required(place, keys::kExtents);
  region.extents = formulas(place, keys::kExtents, kMaxDimensions);
  region.fields = list<AppField>(place, keys::kFields, kMaxAppFields,
                                 [&](const JsonPlace& at) { return read_field(at, {}); });
  return region;
}

// Reads a partition, whose pieces are blocks, formulas or lists of boxes.
AppPartition AppReader::read_partition(const JsonPlace& place) {
  AppPartition partition;
  if (!json_.is_object(place, keys::kPartitionKeys)) return partition;
  partition.name = required_text(place, keys::kAppName);
  partition.aliases = texts(place, keys::kAliases, kMaxAppAliases);
  partition.unnamed = truth_or(place, keys::kUnnamed, false);
  partition.of = required_text(place, keys::kOf);
  json_.required(place, keys::kColors);
  partition.colors = formulas(place, keys::kColors, kMaxDimensions);
  partition.index = texts(place, keys::kIndex, kMaxDimensions);
  partition.lower = formulas(place, keys::kLower, kMaxDimensions);
  partition.extents = formulas(place, keys::kExtents, kMaxDimensions);
  partition.halo = formulas(place, keys::kHalo, kMaxDimensions);
  partition.boxes = list<AppBox>(place, keys::kBoxes, kMaxAppBoxes,
                                 [&](const JsonPlace& at) { return read_box(at); });
  return partition;
}

// Reads one box of a partition: the color that it belongs to, its lower corner and its extents.
AppBox AppReader::read_box(const JsonPlace& place) {
  AppBox box;
  if (!json_.is_object(place, keys::kBoxKeys)) return box;
  box.color = formulas(place, keys::kColor, kMaxDimensions);
  json_.required(place, keys::kLower);
  box.lower = formulas(place, keys::kLower, kMaxDimensions);
  json_.required(place, keys::kExtents);
  box.extents = formulas(place, keys::kExtents, kMaxDimensions);
  return box;
}

// Reads a field: a name, or an object. Without a size it has the size that the region gives the
// field.
AppField AppReader::read_field(const JsonPlace& place, std::string_view of) {
  AppField field;
  const bool name_alone = std::holds_alternative<std::string>(place.value->data);
  if (name_alone) {
    field.name = json_.text(place);
  } else if (json_.is_object(place, keys::kFieldKeys)) {
    field.name = text_or(place, keys::kAppName, {});
  }
  if (defaults_) field.bytes = defaults_->bytes(of, field.name);
  if (!name_alone) field.bytes = integer_or(place, keys::kBytes, field.bytes);
  return field;
}

// Reads the data of a requirement: the name of a region or partition, or an object.
AppData AppReader::read_data(const JsonPlace& place) {
  AppData data;
  if (const auto* name = std::get_if<std::string>(&place.value->data)) {
    data.of = *name;
  } else if (place.value->object() == nullptr) {
    json_.fail_wrong_type(place, "a region, a partition or an object");
  } else if (json_.is_object(place, keys::kDataKeys)) {
    data.of = text_or(place, keys::kOf, {});
    data.color = formulas(place, keys::kColor, kMaxDimensions);
    data.fields = texts(place, keys::kFields, kMaxAppFields);
    if (const auto word = word_if(place, keys::kPrivilege, kPrivilegeNames, "privilege")) {
      data.privilege = static_cast<Privilege>(*word);
    }
  }
  return data;
}

// ---- Tasks

// Returns the position of a requirement among those of the task. Returns 0 after reporting an
// error.
std::uint32_t AppReader::read_position(const JsonPlace& place) {
  const auto position = json_.required(place, keys::kRequirement);
  if (!position) return 0;
  const std::int64_t value = json_.integer(*position);
  if (value >= 0 && value < static_cast<std::int64_t>(kMaxAppRequirements)) {
    return static_cast<std::uint32_t>(value);
  }
  json_.fail(*position, fmt::format("{} is not a position of a requirement", value));
  return 0;
}

// Reads a demand on a layout.
LayoutDemand AppReader::read_demand(const JsonPlace& place) {
  LayoutDemand demand;
  if (!json_.is_object(place, keys::kDemandKeys)) return demand;
  demand.requirement = read_position(place);
  if (const auto word = word_if(place, keys::kDemandedBy, keys::kDemandSourceNames, "source")) {
    demand.source = static_cast<DemandSource>(*word);
  }
  if (const auto word = word_if(place, keys::kOrderOfDimensions, keys::kDimensionOrderNames,
                                "order of dimensions")) {
    demand.dimensions = static_cast<DimensionOrder>(*word);
  }
  if (const auto word =
          word_if(place, keys::kOrderOfFields, keys::kFieldOrderNames, "order of fields")) {
    demand.fields = static_cast<FieldOrder>(*word);
  }
  if (const auto word = word_if(place, keys::kMemoryKind, kMemKindNames, "memory kind")) {
    demand.memory = static_cast<MemKind>(*word);
  }
  demand.exact = truth_or(place, keys::kExact, false);
  const bool says_exact = JsonReader::member(place, keys::kExact).has_value();
  // A demand of a mapper may be that an instance is not exact. A variant with `"exact": false`
  // demands nothing.
  demand.not_exact = says_exact && !demand.exact && demand.source == DemandSource::kMapper;
  const auto align = JsonReader::member(place, keys::kAlign);
  if (!align || !json_.is_object(*align, keys::kAlignKeys)) return demand;
  const auto word = word_if(*align, keys::kAlignOperator, keys::kAlignNames, "operator");
  demand.align_op = static_cast<AlignOp>(word.value_or(0) + 1);
  if (const auto bytes = json_.required(*align, keys::kBytes)) {
    demand.align_bytes = json_.integer(*bytes);
  }
  return demand;
}

// Reads the bytes that a run of a variant moves for one requirement.
AppTraffic AppReader::read_traffic(const JsonPlace& place) {
  AppTraffic traffic;
  if (!json_.is_object(place, keys::kTrafficKeys)) return traffic;
  traffic.requirement = read_position(place);
  traffic.bytes = required_formula(place, keys::kBytes);
  if (const auto word = word_if(place, keys::kAccess, keys::kAccessNames, "way of access")) {
    traffic.access = static_cast<Access>(*word);
  }
  return traffic;
}

// Reads a variant of a task with its costs.
AppVariant AppReader::read_variant(const JsonPlace& place) {
  AppVariant variant;
  if (!json_.is_object(place, keys::kVariantKeys)) return variant;
  if (const auto kind = json_.required(place, keys::kProcKind, one_of(kProcKindNames))) {
    variant.kind =
        static_cast<ProcKind>(json_.index_of_word(*kind, kProcKindNames, "processor kind"));
  }
  variant.leaf = truth_or(place, keys::kLeaf, false);
  variant.inner = truth_or(place, keys::kInner, false);
  variant.replicable = truth_or(place, keys::kReplicable, false);
  variant.chosen_by_mapper = truth_or(place, keys::kChosen, false);
  variant.demands = list<LayoutDemand>(place, keys::kDemands, kMaxAppRequirements,
                                       [&](const JsonPlace& at) { return read_demand(at); });
  variant.flops = formula_or(place, keys::kFlopsOfRun, variant.flops);
  variant.single = truth_or(place, keys::kSingle, false);
  variant.efficiency = formula_or(place, keys::kEfficiency, variant.efficiency);
  variant.kernels = formula_or(place, keys::kKernels, variant.kernels);
  variant.nanoseconds = formula_or(place, keys::kNanoseconds, variant.nanoseconds);
  variant.traffic = list<AppTraffic>(place, keys::kTraffic, 4 * kMaxAppRequirements,
                                     [&](const JsonPlace& at) { return read_traffic(at); });
  if (const auto word =
          word_if(place, keys::kLoops, keys::kDimensionOrderNames, "order of dimensions")) {
    variant.loops = static_cast<DimensionOrder>(*word);
  }
  return variant;
}

// Reads a requirement. Without fields it has those of its data.
AppRequirement AppReader::read_requirement(const JsonPlace& place) {
  AppRequirement requirement;
  if (!json_.is_object(place, keys::kRequirementKeys)) return requirement;
  requirement.names = texts(place, keys::kNames, kMaxAppAliases);
  if (const auto privilege = json_.required(place, keys::kPrivilege, one_of(kPrivilegeNames))) {
    requirement.privilege =
        static_cast<Privilege>(json_.index_of_word(*privilege, kPrivilegeNames, "privilege"));
  }
  if (const auto word =
          word_if(place, keys::kCoherence, keys::kCoherenceNames, "kind of coherence")) {
    requirement.coherence = static_cast<Coherence>(*word);
  }
  if (const auto data = JsonReader::member(place, keys::kData)) requirement.data = read_data(*data);
  const std::string& of = requirement.data.of;
  const std::int64_t dimensions = integer_or(place, keys::kDimensions, defaults_->dimensions(of));
  requirement.dimensions =
      static_cast<int>(std::clamp<std::int64_t>(dimensions, -1, kMaxDimensions + 1));
  if (JsonReader::member(place, keys::kFields)) {
    requirement.fields = list<AppField>(place, keys::kFields, kMaxAppFields,
                                        [&](const JsonPlace& at) { return read_field(at, of); });
  } else {
    // An earlier requirement has already reported that there are too many fields.
    if (fields_ > kMaxAppAllFields) return requirement;
    const std::vector<AppField>& all = defaults_->fields(of);
    fields_ += all.size();
    if (fields_ > kMaxAppAllFields) {
      json_.fail(place,
                 fmt::format("more than {} fields of requirements in all", kMaxAppAllFields));
    } else {
      requirement.fields = all;
    }
  }
  return requirement;
}

// ---- What tasks launch

// Reads a launch of a task.
AppLaunch AppReader::read_launch(const JsonPlace& place) {
  AppLaunch launch;
  if (!json_.is_object(place, keys::kLaunchKeys)) return launch;
  launch.task = required_text(place, keys::kLaunchOf);
  launch.domain = formulas(place, keys::kDomain, kMaxDimensions);
  const auto domain = JsonReader::member(place, keys::kDomain);
  if (domain && domain->value->array() != nullptr && domain->value->array()->empty()) {
    json_.fail(*domain, "an index launch has at least one dimension");
  }
  launch.lower = formulas(place, keys::kLower, kMaxDimensions);
  launch.index = texts(place, keys::kIndex, kMaxDimensions);
  launch.where = formula_or(place, keys::kWhere, launch.where);
  launch.arguments = formulas(place, keys::kArguments, kMaxAppNames);
  launch.data = list<AppData>(place, keys::kData, kMaxAppRequirements,
                              [&](const JsonPlace& at) { return read_data(at); });
  launch.gives = text_or(place, keys::kGives, {});
  launch.takes = texts(place, keys::kTakes, kMaxAppNames);
  launch.same_address_space = truth_or(place, keys::kSameAddressSpace, false);
  return launch;
}

// Reads a loop: the number of repetitions, the variable that counts them, and the body.
AppLoop AppReader::read_loop(const JsonPlace& place) {
  AppLoop loop;
  if (!json_.is_object(place, keys::kLoopKeys)) return loop;
  loop.count = required_formula(place, keys::kRepeat);
  loop.variable = text_or(place, keys::kVariable, {});
  loop.traced = truth_or(place, keys::kTraced, false);
  loop.body = read_body(place);
  return loop;
}

// Reads a phase: a name for the statements in its body.
AppPhase AppReader::read_phase(const JsonPlace& place) {
  AppPhase phase;
  if (!json_.is_object(place, keys::kPhaseKeys)) return phase;
  phase.name = required_text(place, keys::kPhase);
  phase.body = read_body(place);
  return phase;
}

// Reads a statement. Its first key decides which one it is.
AppStatement AppReader::read_statement(const JsonPlace& place) {
  if (JsonReader::member(place, keys::kLaunchOf)) return {read_launch(place)};
  if (JsonReader::member(place, keys::kRepeat)) return {read_loop(place)};
  if (JsonReader::member(place, keys::kPhase)) return {read_phase(place)};
  AppWait wait;
  if (JsonReader::member(place, keys::kWait)) {
    if (json_.is_object(place, keys::kWaitKeys)) wait.future = required_text(place, keys::kWait);
  } else if (json_.is_object(place, keys::kStatementKeys) && !json_.has_wrong_keys(place)) {
    json_.fail(place, "a statement has one of the keys `launch`, `repeat`, `phase` and `wait`");
  }
  return {wait};
}

std::vector<AppStatement> AppReader::read_body(const JsonPlace& place) {
  return list<AppStatement>(place, keys::kBody, kMaxAppParts,
                            [&](const JsonPlace& at) { return read_statement(at); });
}

// Reads a task with its variants, requirements and body.
AppTask AppReader::read_task(const JsonPlace& place) {
  AppTask task;
  if (!json_.is_object(place, keys::kTaskKeys)) return task;
  task.name = required_text(place, keys::kAppName);
  json_.required(place, keys::kVariants, "such as `[{\"kind\": \"CPU\"}]`");
  task.arguments = texts(place, keys::kArguments, kMaxAppNames);
  task.variants = list<AppVariant>(place, keys::kVariants, kMaxAppVariants,
                                   [&](const JsonPlace& at) { return read_variant(at); });
  task.requirements =
      list<AppRequirement>(place, keys::kRequirements, kMaxAppRequirements,
                           [&](const JsonPlace& at) { return read_requirement(at); });
  task.body = read_body(place);
  return task;
}

// Reads the application: the data before the tasks, which need its fields. Then checks it as a
// whole.
Result<Application> AppReader::read(const JsonValue& root, const std::function<bool()>& stop) {
  const JsonPlace place{&root};
  Application app;
  if (!json_.is_object(place, keys::kAppKeys)) return json_.error();
  json_.required(place, keys::kTasks, "an application has at least `{\"tasks\": [...]}`");
  app.name = text_or(place, keys::kAppName, name_.substr(0, kLongestDefaultName));
  app.description = text_or(place, keys::kAppDescription, {});
  app.parameters = list<AppParameter>(place, keys::kParameters, kMaxAppParameters,
                                      [&](const JsonPlace& at) { return read_parameter(at); });
  app.definitions = list<AppDefinition>(place, keys::kDefinitions, kMaxAppNames,
                                        [&](const JsonPlace& at) { return read_definition(at); });
  app.sizes = list<AppSize>(place, keys::kSizes, kMaxAppNames,
                            [&](const JsonPlace& at) { return read_size(at); });
  if (const auto metric = JsonReader::member(place, keys::kMetric)) {
    app.metric = read_metric(*metric);
  }
  if (const auto runtime = JsonReader::member(place, keys::kRuntime)) {
    app.runtime = read_runtime(*runtime);
  }
  app.regions = list<AppRegion>(place, keys::kRegions, kMaxAppRegions,
                                [&](const JsonPlace& at) { return read_region(at); });
  app.partitions = list<AppPartition>(place, keys::kPartitions, kMaxAppRegions,
                                      [&](const JsonPlace& at) { return read_partition(at); });
  app.top_level = text_or(place, keys::kTopLevel, {});
  defaults_.emplace(app);
  app.tasks = list<AppTask>(place, keys::kTasks, kMaxAppTasks,
                            [&](const JsonPlace& at) { return read_task(at); });
  if (!json_.ok()) return json_.error();
  // Building the application checks what concerns several parts, such as names that do not exist.
  app::Data unused;
  for (const app::AppError& fault : app::build(app, {}, unused, stop)) {
    if (fault.code == Error::Code::kStopped) return Error{fault.code, fault.message};
    json_.fail(place, fault.message, fault.help,
               JsonReader::existing_pointer_prefix(place, fault.path));
  }
  if (!json_.ok()) return json_.error();
  return app;
}

}  // namespace

// Parses the text and reads the application in it.
Result<Application> application_from_json(std::string_view text, std::string_view name,
                                          const std::function<bool()>& stop) {
  if (text.size() > kMaxApplicationFileBytes) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("`{}` has {} bytes; an application has at most {}", name, text.size(),
                             kMaxApplicationFileBytes)};
  }
  const Result<JsonValue> root = parse_json(text, name, kMaxAppJsonDepth);
  if (!root) return root.error();
  return AppReader(name).read(*root, stop);
}

}  // namespace groma
