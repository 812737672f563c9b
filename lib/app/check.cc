// Faults of an application, from the top down.
#include "app/check.h"

#include <fmt/format.h>

#include <unordered_map>
#include <vector>

#include "groma/spelling.h"

namespace groma {
namespace {

constexpr std::int64_t kMaxFieldBytes = std::int64_t{1} << 40;

using MaybeFault = std::optional<AppFault>;

MaybeFault too_many(const std::string& path, std::size_t count, std::size_t most,
                    std::string_view what) {
  if (count <= most) return std::nullopt;
  return AppFault{path, fmt::format("{} {}; at most {}", count, what, most)};
}

MaybeFault bad_name(const std::string& path, std::string_view name) {
  if (name.empty()) return AppFault{path, "a name is empty"};
  if (name.size() <= kMaxAppNameBytes) return std::nullopt;
  return AppFault{path,
                  fmt::format("a name of {} bytes; at most {}", name.size(), kMaxAppNameBytes)};
}

bool power_of_two(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

class Checker {
 public:
  explicit Checker(const Application& app) : app_(app) {}

  MaybeFault check() {
    if (auto fault = too_many("/tasks", app_.tasks.size(), kMaxAppTasks, "tasks")) return fault;
    if (app_.tasks.empty()) return AppFault{"/tasks", "an application has at least one task"};
    for (std::size_t i = 0; i < app_.tasks.size(); ++i) {
      const std::string& name = app_.tasks[i].name;
      const std::string path = fmt::format("/tasks/{}/name", i);
      if (auto fault = bad_name(path, name)) return fault;
      const auto [known, is_new] = index_.emplace(name, i);
      if (is_new) continue;
      return AppFault{path, fmt::format("task {} has this name already", known->second)};
    }
    if (!app_.top_level.empty()) {
      if (auto fault = known_task("/top_level", app_.top_level)) return fault;
    }
    std::size_t requirements = 0, launches = 0;
    for (const AppTask& task : app_.tasks) {
      requirements += task.requirements.size();
      launches += task.launches.size();
    }
    if (auto fault = too_many("/tasks", requirements, kMaxAppParts, "requirements in all")) {
      return fault;
    }
    if (auto fault = too_many("/tasks", launches, kMaxAppParts, "launches in all")) return fault;
    for (std::size_t i = 0; i < app_.tasks.size(); ++i) {
      if (auto fault = task(fmt::format("/tasks/{}", i), app_.tasks[i])) return fault;
    }
    return std::nullopt;
  }

 private:
  MaybeFault known_task(const std::string& path, const std::string& name) const {
    if (index_.contains(name)) return std::nullopt;
    std::vector<std::string_view> names;
    for (const AppTask& task : app_.tasks) names.push_back(task.name);
    const auto near = near_names(name, names);
    AppFault fault{path, "no task has this name"};
    if (!near.empty()) fault.help = fmt::format("did you mean {}?", join_names(near));
    return fault;
  }

  MaybeFault task(const std::string& path, const AppTask& task) const {
    const std::string variants = path + "/variants", requirements = path + "/requirements",
                      launches = path + "/launches";
    if (task.variants.empty()) return AppFault{variants, "a task has at least one variant"};
    if (auto fault = too_many(variants, task.variants.size(), kMaxAppVariants, "variants")) {
      return fault;
    }
    if (auto fault =
            too_many(requirements, task.requirements.size(), kMaxAppRequirements, "requirements")) {
      return fault;
    }
    if (auto fault = too_many(launches, task.launches.size(), kMaxAppLaunches, "launches")) {
      return fault;
    }
    for (std::size_t i = 0; i < task.variants.size(); ++i) {
      if (auto fault = variant(fmt::format("{}/{}", variants, i), task, task.variants[i])) {
        return fault;
      }
    }
    for (std::size_t i = 0; i < task.requirements.size(); ++i) {
      if (auto fault = requirement(fmt::format("{}/{}", requirements, i), task.requirements[i])) {
        return fault;
      }
    }
    for (std::size_t i = 0; i < task.launches.size(); ++i) {
      const std::string& parent = task.launches[i].parent;
      if (parent.empty()) continue;
      if (auto fault = known_task(fmt::format("{}/{}/parent", launches, i), parent)) return fault;
    }
    return std::nullopt;
  }

  static MaybeFault variant(const std::string& path, const AppTask& task,
                            const AppVariant& variant) {
    if (variant.leaf && variant.inner) {
      return AppFault{path, "a variant is not both `leaf` and `inner`"};
    }
    const std::string demands = path + "/demands";
    if (auto fault = too_many(demands, variant.demands.size(), kMaxAppRequirements, "demands")) {
      return fault;
    }
    for (std::size_t i = 0; i < variant.demands.size(); ++i) {
      const LayoutDemand& demand = variant.demands[i];
      const std::string place = fmt::format("{}/{}", demands, i);
      if (demand.requirement >= task.requirements.size()) {
        return AppFault{
            place + "/requirement",
            fmt::format("the task has {} requirement{}, counted from 0", task.requirements.size(),
                        task.requirements.size() == 1 ? "" : "s")};
      }
      if (demand.align_op != AlignOp::kNone && !power_of_two(demand.align_bytes)) {
        return AppFault{place + "/align", fmt::format("{} is no power of two", demand.align_bytes)};
      }
      if (demand.memory == MemKind::kVirtual) {
        return AppFault{place + "/memory", "`VIRTUAL` is no memory"};
      }
    }
    return std::nullopt;
  }

  static MaybeFault requirement(const std::string& path, const AppRequirement& requirement) {
    const std::string names = path + "/names", fields = path + "/fields";
    if (auto fault = too_many(names, requirement.names.size(), kMaxAppAliases, "names")) {
      return fault;
    }
    for (std::size_t i = 0; i < requirement.names.size(); ++i) {
      if (auto fault = bad_name(fmt::format("{}/{}", names, i), requirement.names[i])) return fault;
    }
    if (requirement.dimensions < 1 || requirement.dimensions > kMaxDimensions) {
      return AppFault{path + "/dimensions", fmt::format("{} is no number of dimensions (1 to {})",
                                                        requirement.dimensions, kMaxDimensions)};
    }
    if (auto fault = too_many(fields, requirement.fields.size(), kMaxAppFields, "fields")) {
      return fault;
    }
    for (std::size_t i = 0; i < requirement.fields.size(); ++i) {
      const AppField& field = requirement.fields[i];
      if (field.bytes < 1 || field.bytes > kMaxFieldBytes) {
        return AppFault{
            fmt::format("{}/{}/bytes", fields, i),
            fmt::format("{} is no size of a field (1 to {})", field.bytes, kMaxFieldBytes)};
      }
      if (field.name.size() > kMaxAppNameBytes) {
        return bad_name(fmt::format("{}/{}/name", fields, i), field.name);
      }
    }
    return std::nullopt;
  }

  const Application& app_;
  std::unordered_map<std::string_view, std::size_t> index_;
};

}  // namespace

std::optional<AppFault> find_fault(const Application& app) { return Checker(app).check(); }

}  // namespace groma
