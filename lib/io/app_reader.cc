// application_from_json, load_application.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "app/check.h"
#include "groma/io.h"
#include "groma/source.h"
#include "io/app_keys.h"
#include "io/json.h"
#include "machine/quote.h"

namespace groma {
namespace {

constexpr std::size_t kLongestDefaultName = 200;

class AppReader {
 public:
  explicit AppReader(std::string_view name) : name_(name), json_(name_) {}

  Result<Application> read(const JsonValue& root);

 private:
  // The members of an object that may be left out.
  std::string text_or(const JsonPlace& place, std::string_view key, std::string otherwise);
  std::int64_t integer_or(const JsonPlace& place, std::string_view key, std::int64_t otherwise);
  bool truth_or(const JsonPlace& place, std::string_view key, bool otherwise);
  std::optional<std::size_t> word_if(const JsonPlace& place, std::string_view key,
                                     std::span<const std::string_view> names,
                                     std::string_view what);
  // Calls read(element) for what the list `key` holds, if it is there, up to the first error.
  template <typename Item, typename Read>
  std::vector<Item> list(const JsonPlace& place, std::string_view key, std::size_t most,
                         const Read& read);

  AppTask read_task(const JsonPlace& place);
  AppVariant read_variant(const JsonPlace& place);
  LayoutDemand read_demand(const JsonPlace& place);
  AppRequirement read_requirement(const JsonPlace& place);
  AppField read_field(const JsonPlace& place);
  AppLaunch read_launch(const JsonPlace& place);

  std::string name_;
  JsonReader json_;
};

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
  return found ? json_.truth(*found) : otherwise;
}

std::optional<std::size_t> AppReader::word_if(const JsonPlace& place, std::string_view key,
                                              std::span<const std::string_view> names,
                                              std::string_view what) {
  const auto found = JsonReader::member(place, key);
  if (!found) return std::nullopt;
  return json_.word(*found, names, what);
}

template <typename Item, typename Read>
std::vector<Item> AppReader::list(const JsonPlace& place, std::string_view key, std::size_t most,
                                  const Read& read) {
  std::vector<Item> items;
  const auto found = JsonReader::member(place, key);
  if (!found) return items;
  const JsonValue::Array& values = json_.array(*found);
  if (values.size() > most) {
    json_.fail(*found, fmt::format("it has {} items, at most {} may be", values.size(), most));
  }
  for (std::size_t i = 0; i < values.size() && json_.ok(); ++i) {
    items.push_back(read(JsonPlace{&values[i], &*found, {}, i}));
  }
  return items;
}

LayoutDemand AppReader::read_demand(const JsonPlace& place) {
  LayoutDemand demand;
  if (!json_.is_object(place, keys::kDemandKeys)) return demand;
  if (const auto position = json_.required(place, keys::kRequirement)) {
    const std::int64_t value = json_.integer(*position);
    if (value < 0 || value >= static_cast<std::int64_t>(kMaxAppRequirements)) {
      json_.fail(*position, fmt::format("{} is no position of a requirement", value));
      return demand;
    }
    demand.requirement = static_cast<std::uint32_t>(value);
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
  const auto align = JsonReader::member(place, keys::kAlign);
  if (!align || !json_.is_object(*align, keys::kAlignKeys)) return demand;
  const auto word = word_if(*align, keys::kAlignOperator, keys::kAlignNames, "operator");
  demand.align_op = static_cast<AlignOp>(word.value_or(0) + 1);
  if (const auto bytes = json_.required(*align, keys::kBytes)) {
    demand.align_bytes = json_.integer(*bytes);
  }
  return demand;
}

AppVariant AppReader::read_variant(const JsonPlace& place) {
  AppVariant variant;
  if (!json_.is_object(place, keys::kVariantKeys)) return variant;
  if (const auto kind = json_.required(place, keys::kProcKind)) {
    variant.kind = static_cast<ProcKind>(json_.word(*kind, kProcKindNames, "processor kind"));
  }
  variant.leaf = truth_or(place, keys::kLeaf, false);
  variant.inner = truth_or(place, keys::kInner, false);
  variant.replicable = truth_or(place, keys::kReplicable, false);
  variant.demands = list<LayoutDemand>(place, keys::kDemands, kMaxAppRequirements,
                                       [&](const JsonPlace& at) { return read_demand(at); });
  return variant;
}

AppField AppReader::read_field(const JsonPlace& place) {
  AppField field;
  if (!json_.is_object(place, keys::kFieldKeys)) return field;
  field.name = text_or(place, keys::kAppName, {});
  field.bytes = integer_or(place, keys::kBytes, field.bytes);
  return field;
}

// Without `fields` it has one, of 8 bytes.
AppRequirement AppReader::read_requirement(const JsonPlace& place) {
  AppRequirement requirement;
  if (!json_.is_object(place, keys::kRequirementKeys)) return requirement;
  requirement.names = list<std::string>(place, keys::kNames, kMaxAppAliases,
                                        [&](const JsonPlace& at) { return json_.text(at); });
  if (const auto privilege = json_.required(place, keys::kPrivilege)) {
    requirement.privilege =
        static_cast<Privilege>(json_.word(*privilege, kPrivilegeNames, "privilege"));
  }
  if (const auto word =
          word_if(place, keys::kCoherence, keys::kCoherenceNames, "kind of coherence")) {
    requirement.coherence = static_cast<Coherence>(*word);
  }
  const std::int64_t dimensions = integer_or(place, keys::kDimensions, 1);
  requirement.dimensions =
      static_cast<int>(std::clamp<std::int64_t>(dimensions, -1, kMaxDimensions + 1));
  requirement.fields = list<AppField>(place, keys::kFields, kMaxAppFields,
                                      [&](const JsonPlace& at) { return read_field(at); });
  if (!JsonReader::member(place, keys::kFields)) requirement.fields.emplace_back();
  return requirement;
}

AppLaunch AppReader::read_launch(const JsonPlace& place) {
  AppLaunch launch;
  if (!json_.is_object(place, keys::kLaunchKeys)) return launch;
  launch.parent = text_or(place, keys::kParent, {});
  const auto coordinates = [&](std::string_view key) {
    return list<std::int64_t>(place, key, kMaxDimensions,
                              [&](const JsonPlace& at) { return json_.integer(at); });
  };
  const std::vector<std::int64_t> extents = coordinates(keys::kDomain);
  std::vector<std::int64_t> lower = coordinates(keys::kLower);
  const auto domain = JsonReader::member(place, keys::kDomain);
  const auto corner = JsonReader::member(place, keys::kLower);
  if (!json_.ok()) return launch;
  if (!domain) {
    if (corner) json_.fail(*corner, "a launch without a `domain` is a single task");
    return launch;
  }
  if (!corner) lower.assign(extents.size(), 0);
  if (lower.size() != extents.size()) {
    json_.fail(*corner,
               fmt::format("it has {} coordinates, the domain {}", lower.size(), extents.size()));
  } else if (extents.empty()) {
    json_.fail(*domain, "an index launch has at least one dimension");
  } else {
    launch.domain = Rect::make(Point(lower), Point(extents));
    if (!launch.domain) {
      json_.fail(*domain, "an extent is negative, or there are more than 2^63-1 points");
    }
  }
  return launch;
}

AppTask AppReader::read_task(const JsonPlace& place) {
  AppTask task;
  if (!json_.is_object(place, keys::kTaskKeys)) return task;
  if (const auto name = json_.required(place, keys::kAppName)) task.name = json_.text(*name);
  json_.required(place, keys::kVariants);
  if (!json_.ok()) return task;
  task.variants = list<AppVariant>(place, keys::kVariants, kMaxAppVariants,
                                   [&](const JsonPlace& at) { return read_variant(at); });
  task.requirements =
      list<AppRequirement>(place, keys::kRequirements, kMaxAppRequirements,
                           [&](const JsonPlace& at) { return read_requirement(at); });
  task.launches = list<AppLaunch>(place, keys::kLaunches, kMaxAppLaunches,
                                  [&](const JsonPlace& at) { return read_launch(at); });
  return task;
}

Result<Application> AppReader::read(const JsonValue& root) {
  const JsonPlace place{&root};
  Application app;
  if (json_.is_object(place, keys::kAppKeys)) json_.required(place, keys::kTasks);
  if (!json_.ok()) return json_.error();
  app.tasks = list<AppTask>(place, keys::kTasks, kMaxAppTasks,
                            [&](const JsonPlace& at) { return read_task(at); });
  app.name = text_or(place, keys::kAppName, name_.substr(0, kLongestDefaultName));
  app.description = text_or(place, keys::kAppDescription, {});
  app.top_level = text_or(place, keys::kTopLevel, {});
  if (!json_.ok()) return json_.error();
  if (auto fault = find_fault(app)) json_.fail(place, fault->message, fault->help, fault->path);
  if (!json_.ok()) return json_.error();
  return app;
}

}  // namespace

Result<Application> application_from_json(std::string_view text, std::string_view name) {
  if (text.size() > kMaxApplicationFileBytes) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("`{}` has {} bytes; an application has at most {}", name, text.size(),
                             kMaxApplicationFileBytes)};
  }
  const Result<JsonValue> root = parse_json(text, name);
  if (!root) return root.error();
  return AppReader(name).read(*root);
}

Result<Application> load_application(const std::string& spec) {
  struct stat status {};
  const bool path = spec == "-" || spec.find('/') != spec.npos || spec.ends_with(".json");
  if (!path && stat(spec.c_str(), &status) != 0) {
    return Error{Error::Code::kUnknown, fmt::format("no application {}", in_quotes(spec)),
                 "an application is a JSON file"};
  }
  const Result<std::string> text = read_file(spec, kMaxApplicationFileBytes);
  if (!text) return text.error();
  return application_from_json(*text, spec == "-" ? "<stdin>" : spec);
}

}  // namespace groma
