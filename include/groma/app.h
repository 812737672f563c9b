// Application: what a program does, as far as a mapping can see it: its tasks, their variants, the
// data that they touch, their launches. Plain values; docs/applications.md gives the same as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/geometry.h"
#include "groma/kinds.h"
#include "groma/result.h"

namespace groma {

// Bounds on an application, above those of any that was ever seen: Legate's have some hundred
// tasks.
inline constexpr std::size_t kMaxAppTasks = 1 << 14;
inline constexpr std::size_t kMaxAppParts = 1 << 16;     // requirements, launches: of all tasks
inline constexpr std::size_t kMaxAppVariants = 64;       // of one task
inline constexpr std::size_t kMaxAppRequirements = 256;  // of one task
inline constexpr std::size_t kMaxAppLaunches = 4096;     // of one task
inline constexpr std::size_t kMaxAppAliases = 16;        // of one requirement
inline constexpr std::size_t kMaxAppFields = 4096;       // of one requirement
inline constexpr std::size_t kMaxAppNameBytes = 1024;

struct AppField {
  std::string name;  // may be empty
  std::int64_t bytes = 8;
  friend bool operator==(const AppField&, const AppField&) = default;
};

// One implementation of a task, for one kind of processor.
struct AppVariant {
  ProcKind kind = ProcKind::kCpu;
  bool leaf = false;        // launches nothing
  bool inner = false;       // touches no data itself
  bool replicable = false;  // may run as several shards
  std::vector<LayoutDemand> demands = {};
  friend bool operator==(const AppVariant&, const AppVariant&) = default;
};

struct AppRequirement {
  // The names of the region, its partition and its parent region, in this order, those that have
  // one.
  std::vector<std::string> names;
  Privilege privilege = Privilege::kReadWrite;
  Coherence coherence = Coherence::kExclusive;
  int dimensions = 1;            // of the region
  std::vector<AppField> fields;  // with privileges; none: nothing is mapped
  friend bool operator==(const AppRequirement&, const AppRequirement&) = default;
};

// A launch of a task: of an index space, or of a single task.
struct AppLaunch {
  std::optional<Rect> domain;  // of an index launch
  std::string parent = {};     // the task that launches it; empty: the top-level task
};

struct AppTask {
  std::string name;
  std::vector<AppVariant> variants;
  std::vector<AppRequirement> requirements;
  std::vector<AppLaunch> launches;  // none: not known how it is launched
};

struct Application {
  std::string name;
  std::string description;
  std::string top_level;  // the task that the runtime starts; empty: not described
  std::vector<AppTask> tasks;

  const AppTask* find(std::string_view task) const;
};

// How deep a launch lies below the top-level task, as far as mappers tell depths apart: 0 for the
// top-level task, 1 for what it launches, 2 for all that is deeper.
int depth_of(const Application& app, const AppTask& task, const AppLaunch& launch);

}  // namespace groma
