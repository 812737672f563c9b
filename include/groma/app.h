// Application: what a program does, as far as its mapping matters: its data and how they are cut,
// its tasks with their variants and work, what it launches in which order. Plain values, symbolic
// in the application's parameters; docs/applications.md gives the same as JSON. Workload
// (groma/workload.h) is an application with its parameters fixed.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "groma/geometry.h"
#include "groma/kinds.h"
#include "groma/result.h"

namespace groma {

// Bounds on an application, above those of any that was ever seen: Legate's have some hundred
// tasks.
inline constexpr std::size_t kMaxAppTasks = 1 << 14;
inline constexpr std::size_t kMaxAppParts = 1 << 16;      // requirements, statements: of all tasks
inline constexpr std::size_t kMaxAppVariants = 64;        // of one task
inline constexpr std::size_t kMaxAppRequirements = 256;   // of one task
inline constexpr std::size_t kMaxAppAliases = 16;         // of one region, partition, requirement
inline constexpr std::size_t kMaxAppFields = 4096;        // of one region or requirement
inline constexpr std::size_t kMaxAppAllFields = 1 << 20;  // of all requirements
inline constexpr std::size_t kMaxAppParameters = 64;
inline constexpr std::size_t kMaxAppNames = 256;        // definitions, sizes, arguments, ...
inline constexpr std::size_t kMaxAppRegions = 1 << 12;  // and as many partitions
inline constexpr std::size_t kMaxAppBoxes = 1 << 16;    // AppPartition::boxes, of all partitions
inline constexpr int kMaxAppDepth = 32;                 // of loops and phases in one task
inline constexpr int kMaxAppPartitionDepth = 8;         // of partitions of partitions
inline constexpr std::size_t kMaxAppNameBytes = 1024;
inline constexpr std::size_t kMaxFormulaBytes = 4096;

// An integer expression, as text: 64-bit numbers, names in scope, `+ - * / %` (which round down, so
// that (i - 1) % n wraps round), comparisons (1 or 0), `a ? b : c`, `min(a, b)`, `max(a, b)`,
// parentheses. What is in scope is said where a formula stands; the application's parameters and
// definitions always are.
class Formula {
 public:
  Formula() : Formula(0) {}
  template <std::integral Integer>
  Formula(Integer value) : text_(std::to_string(value)) {}  // NOLINT(google-explicit-constructor)
  Formula(std::string text) : text_(std::move(text)) {}     // NOLINT(google-explicit-constructor)
  Formula(const char* text) : text_(text) {}                // NOLINT(google-explicit-constructor)

  const std::string& text() const { return text_; }
  friend bool operator==(const Formula&, const Formula&) = default;

 private:
  std::string text_;
};
using Formulas = std::vector<Formula>;

// An input of the application.
struct AppParameter {
  std::string name;
  std::int64_t value = 1;  // unless the user says otherwise
  std::int64_t least = 1;
  std::int64_t most = INT64_MAX;
  std::string meaning = {};  // with its unit
  friend bool operator==(const AppParameter&, const AppParameter&) = default;
};

// A name for a formula of the parameters and of the definitions before it.
struct AppDefinition {
  std::string name;
  Formula value;
  friend bool operator==(const AppDefinition&, const AppDefinition&) = default;
};

// Values of parameters under one name.
struct AppSize {
  std::string name;  // "small"
  std::string reason = {};
  std::vector<std::pair<std::string, std::int64_t>> values;
  friend bool operator==(const AppSize&, const AppSize&) = default;
};

// ---- Data

struct AppField {
  std::string name;        // may be empty where the region is not described
  std::int64_t bytes = 8;  // of an element
  friend bool operator==(const AppField&, const AppField&) = default;
};

// A logical region: the box of points from the origin, and the fields of each.
struct AppRegion {
  std::string name;
  std::vector<std::string> aliases = {};  // other names that a mapping may know it by
  Formulas extents;
  std::vector<AppField> fields;
  // A mapping knows it by its aliases alone, or by its position; `name` is this description's own.
  bool unnamed = false;
  friend bool operator==(const AppRegion&, const AppRegion&) = default;
};

// A box of a piece that is the union of several.
struct AppBox {
  // The colour that the box is for, as numbers: all coordinates, those of what is cut first. None:
  // the box is for every colour.
  Formulas color = {};
  Formulas lower, extents;  // as in AppPartition
  friend bool operator==(const AppBox&, const AppBox&) = default;
};

// A cut of a region, or of every piece of another partition, into pieces, one for each colour. A
// piece is a box, or the union of several (`boxes`). The colours of a partition of a partition are
// those of the outer one followed by its own.
struct AppPartition {
  std::string name;
  std::vector<std::string> aliases = {};
  std::string of;   // a region or a partition
  Formulas colors;  // extents of the colour space, of each piece of `of`
  // Names of the colour's own coordinates, for the formulas below.
  std::vector<std::string> index = {};
  // The piece of a colour, relative to the lower corner of what is cut, clipped to that. Neither:
  // equal blocks, block c of n in a dimension of e points from c * e / n to (c + 1) * e / n.
  Formulas lower = {};
  Formulas extents = {};
  // In each dimension, points that are added at both ends (ghosts), clipped as above.
  Formulas halo = {};
  bool unnamed = false;  // as of a region
  // Instead of `lower`, `extents` and `halo`: a piece has the points of all its boxes, which may
  // overlap. A colour without a box has an empty piece. At most kMaxAppBoxes in all partitions.
  std::vector<AppBox> boxes = {};
  friend bool operator==(const AppPartition&, const AppPartition&) = default;
};

// A region, or that piece of a partition. `color` none: the point of the launch.
struct AppData {
  std::string of = {};  // a region or a partition; empty: not described, so it cannot be run
  Formulas color = {};
  // Fields of the region. None: those of the requirement, by their names. A requirement itself has
  // as many as it has `fields`, each as large; a launch may name any.
  std::vector<std::string> fields = {};
  // Only of a launch: what it asks for instead of the requirement's privilege.
  std::optional<Privilege> privilege = {};
  friend bool operator==(const AppData&, const AppData&) = default;
};

// ---- Tasks

// How a task walks through memory.
enum class Access : std::uint8_t {
  kStream,   // one after the other
  kScatter,  // anywhere; `bytes` counts whole sectors (32 of a GPU, 64 of a CPU)
  kAtomic,   // anywhere, read and written at once
};

// What a variant moves between its processor and where a requirement lies.
struct AppTraffic {
  std::uint32_t requirement = 0;
  Formula bytes;
  Access access = Access::kStream;
  friend bool operator==(const AppTraffic&, const AppTraffic&) = default;
};

// One implementation of a task, for one kind of processor. In its formulas the task's arguments are
// in scope, and points(r) and extent(r, d): of requirement r's piece, in dimension d.
struct AppVariant {
  ProcKind kind = ProcKind::kCpu;
  bool leaf = false;        // launches nothing
  bool inner = false;       // touches no data itself
  bool replicable = false;  // may run as several shards
  std::vector<LayoutDemand> demands = {};
  // The program's own mapper chose it when the program was recorded. A variant that has a demand
  // of that mapper counts as chosen, too.
  bool chosen_by_mapper = false;
  Formula flops = 0;         // operations of one run
  bool single = false;       // of single precision: twice as fast
  Formula efficiency = 100;  // percent of what the processor sustains
  Formula kernels = 1;       // GPU kernels of one run, one after the other
  Formula nanoseconds = 0;   // it takes no less, kernels' launches apart: as measured, say
  // Of a requirement that is not listed: its piece once for each way that its privilege allows.
  std::vector<AppTraffic> traffic = {};
  // The order in which its loops walk through data of more than one dimension; none: it adapts.
  std::optional<DimensionOrder> loops = {};
  friend bool operator==(const AppVariant&, const AppVariant&) = default;
};

struct AppRequirement {
  // What a mapping knows it by; none: the names of `data`, those of the partition first.
  std::vector<std::string> names = {};
  Privilege privilege = Privilege::kReadWrite;
  Coherence coherence = Coherence::kExclusive;
  int dimensions = 1;            // of the region
  std::vector<AppField> fields;  // with privileges, as the region has them; none: nothing is mapped
  AppData data = {};             // unless the launch says otherwise
  friend bool operator==(const AppRequirement&, const AppRequirement&) = default;
};

// ---- What tasks launch

// In its formulas the task's arguments and the variables of the loops around it are in scope, and
// in `arguments` and the colours of `data` also its `index`.
struct AppLaunch {
  std::string task;
  Formulas domain = {};                 // extents of an index launch; none: a single task
  Formulas lower = {};                  // none: the origin
  std::vector<std::string> index = {};  // names of the point's coordinates
  bool same_address_space = false;      // asks for the node of this task (kTagSameAddressSpace)
  Formulas arguments = {};              // for the task's `arguments`
  std::vector<AppData> data = {};       // for each requirement; none: as the task has it
  std::string gives = {};               // a future; of an index launch, reduced over its points
  // Futures that it waits for, of this task's launches. What was not given yet is not waited for.
  std::vector<std::string> takes = {};
  friend bool operator==(const AppLaunch&, const AppLaunch&) = default;
};

struct AppStatement;
struct AppLoop {
  Formula count;
  std::string variable = {};  // from 0; may be empty
  bool traced = false;        // the runtime remembers its analysis (Legion: tracing)
  std::vector<AppStatement> body;
  friend bool operator==(const AppLoop&, const AppLoop&);
};
// A part of the run that has a name: AppMetric::phase.
struct AppPhase {
  std::string name;
  std::vector<AppStatement> body;
  friend bool operator==(const AppPhase&, const AppPhase&);
};
// The task waits: for a future, as `takes` does; with none, for all that it launched.
struct AppWait {
  std::string future = {};
  friend bool operator==(const AppWait&, const AppWait&) = default;
};
struct AppStatement {
  std::variant<AppLaunch, AppLoop, AppPhase, AppWait> node;
  friend bool operator==(const AppStatement&, const AppStatement&) = default;
};
inline bool operator==(const AppLoop& a, const AppLoop& b) {
  return a.count == b.count && a.variable == b.variable && a.traced == b.traced && a.body == b.body;
}
inline bool operator==(const AppPhase& a, const AppPhase& b) {
  return a.name == b.name && a.body == b.body;
}

struct AppTask {
  std::string name;
  std::vector<std::string> arguments = {};
  std::vector<AppVariant> variants;
  std::vector<AppRequirement> requirements = {};
  std::vector<AppStatement> body = {};
  friend bool operator==(const AppTask&, const AppTask&) = default;
};

// What is counted against the time.
struct AppMetric {
  std::string unit = "runs/s";
  Formula work = 1;
  std::string phase = {};  // whose time is taken, all its occurrences; empty: the whole run
  bool empty() const { return *this == AppMetric{}; }
  friend bool operator==(const AppMetric&, const AppMetric&) = default;
};

// What the runtime itself costs, on the processor that each node keeps for it. docs/simulator.md
// has the sources of the defaults.
struct RuntimeCosts {
  double issue_s = 5e-6;    // a task, to launch something
  double map_s = 300e-6;    // a task to analyse and map
  double replay_s = 10e-6;  // the same in a trace, from its second iteration on
  double remote_s = 2e-6;   // a slice sent to another node, beside the network's latency
  double future_s = 20e-6;  // to wake a task that waits for a future
  double copy_s = 5e-6;     // to start a copy, beside the channels' latency
  friend bool operator==(const RuntimeCosts&, const RuntimeCosts&) = default;
};
inline constexpr double kMaxRuntimeCost = 1000;  // seconds

struct Application {
  std::string name;
  std::string description = {};
  std::vector<AppParameter> parameters = {};
  std::vector<AppDefinition> definitions = {};
  std::vector<AppSize> sizes = {};
  AppMetric metric = {};
  // As they were measured, say; a run's options may say otherwise (SimulateOptions::costs).
  std::optional<RuntimeCosts> runtime = {};
  std::vector<AppRegion> regions = {};
  std::vector<AppPartition> partitions = {};
  std::string top_level = {};  // the task that the runtime starts; empty: not described
  std::vector<AppTask> tasks = {};

  const AppTask* find(std::string_view task) const;
  friend bool operator==(const Application&, const Application&) = default;
};

}  // namespace groma
