// Application: a description of a program, with everything that matters for its mapping: the data
// and its partitions, the tasks with their variants and work, and the launches in their order.
// All types here are plain values whose sizes are formulas of the application's parameters.
// docs/applications.md describes the same values as JSON. A Workload (groma/workload.h) is an
// application with fixed parameters.
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
#include "groma/layout_overrides.h"
#include "groma/result.h"

namespace groma {

// Limits on an application. They are larger than any known application needs: Legate's applications
// have some hundred tasks.
inline constexpr std::size_t kMaxAppTasks = 1 << 14;
// Limit on the requirements and statements of all tasks of an application together.
inline constexpr std::size_t kMaxAppParts = 1 << 16;
// Limit on the variants of one task.
inline constexpr std::size_t kMaxAppVariants = 64;
// Limit on the region requirements of one task.
inline constexpr std::size_t kMaxAppRequirements = 256;
// Limit on the aliases of one region, partition or requirement.
inline constexpr std::size_t kMaxAppAliases = 16;
// Limit on the fields of one region or requirement.
inline constexpr std::size_t kMaxAppFields = 4096;
// Limit on the fields of all requirements of an application together.
inline constexpr std::size_t kMaxAppAllFields = 1 << 20;
inline constexpr std::size_t kMaxAppParameters = 64;
// Limit on each list of named things, such as definitions, sizes and arguments.
inline constexpr std::size_t kMaxAppNames = 256;
// Limit on the regions of an application. The same limit holds for its partitions.
inline constexpr std::size_t kMaxAppRegions = 1 << 12;
// Limit on the boxes (AppPartition::boxes) of all partitions of an application together.
inline constexpr std::size_t kMaxAppBoxes = 1 << 16;
// Limit on the nesting of loops and phases in one task.
inline constexpr int kMaxAppDepth = 32;
// Limit on the nesting of partitions in partitions.
inline constexpr int kMaxAppPartitionDepth = 8;
inline constexpr std::size_t kMaxAppNameBytes = 1024;
inline constexpr std::size_t kMaxFormulaBytes = 4096;
// Limit on the points of the box of a launch with a condition (AppLaunch::where).
inline constexpr std::int64_t kMaxConditionPoints = 1 << 20;

// An integer expression as text. It may use:
// * 64-bit numbers and the names in scope
// * `+ - * / %`, which round down, so that (i - 1) % n wraps round
// * comparisons, which give 1 or 0
// * `a ? b : c`, `min(a, b)`, `max(a, b)` and parentheses
// The application's parameters and definitions are always in scope. Each member of type Formula
// says which other names are in scope there.
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

// An input of the application. `least` and `most` are the smallest and the largest allowed value.
struct AppParameter {
  std::string name;
  // The default value of the parameter.
  std::int64_t value = 1;
  std::int64_t least = 1;
  std::int64_t most = INT64_MAX;
  // The meaning of the parameter, with its unit, for people.
  std::string meaning = {};
  // True if the value is the number of nodes of the machine.
  bool counts_nodes = false;
  friend bool operator==(const AppParameter&, const AppParameter&) = default;
};

// A name for a formula. The formula may use the parameters and the earlier definitions.
struct AppDefinition {
  std::string name;
  Formula value;
  friend bool operator==(const AppDefinition&, const AppDefinition&) = default;
};

// A named set of parameter values.
struct AppSize {
  // The name of the size, such as "small".
  std::string name;
  // The reason why this size exists, for people. May be empty.
  std::string reason = {};
  std::vector<std::pair<std::string, std::int64_t>> values;
  friend bool operator==(const AppSize&, const AppSize&) = default;
};

// ---- Data

// A field of a region: its name and the size of an element.
struct AppField {
  // The name of the field. It may be empty if the region is not described.
  std::string name;
  // The size of one element of the field, in bytes.
  std::int64_t bytes = 8;
  friend bool operator==(const AppField&, const AppField&) = default;
};

// A logical region: the box of points with these extents that starts at the origin, and the fields
// of each point.
struct AppRegion {
  std::string name;
  // Other names by which a mapping may refer to the region.
  std::vector<std::string> aliases = {};
  Formulas extents;
  std::vector<AppField> fields;
  // If true, a mapping can refer to the region only by its aliases or by its position. `name` then
  // exists only in this description.
  bool unnamed = false;
  friend bool operator==(const AppRegion&, const AppRegion&) = default;
};

// One box of a piece. The piece is the union of several boxes.
struct AppBox {
  // The colour to which the box belongs, as numbers. It has all coordinates: first those of the
  // enclosing partition, then the partition's own. Empty: the box belongs to every colour.
  Formulas color = {};
  // The lower corner and the extents of the box, as in AppPartition.
  Formulas lower, extents;
  friend bool operator==(const AppBox&, const AppBox&) = default;
};

// A partition cuts a region, or every piece of another partition, into pieces: one for each colour.
// A piece is a box or the union of several boxes (`boxes`). A colour of a nested partition is the
// colour of the outer partition followed by its own coordinates.
struct AppPartition {
  std::string name;
  std::vector<std::string> aliases = {};
  // The region or the partition that is cut.
  std::string of;
  // The extents of the partition's own colour space. The region, or each piece of the partition
  // `of`, is cut into one piece for each of these colours.
  Formulas colors;
  // Names of the partition's own colour coordinates. The formulas below may use these names.
  std::vector<std::string> index = {};
  // The box of a colour's piece: its lower corner and its extents. The box is relative to the lower
  // corner of the cut data and is clipped to that data. If `lower` and `extents` are both empty,
  // the pieces are equal blocks: in a dimension of e points, block c of n goes from c * e / n to
  // (c + 1) * e / n.
  Formulas lower = {};
  Formulas extents = {};
  // The number of points by which the box of a piece is enlarged at both ends of each dimension
  // (ghosts). The enlarged box is clipped to the cut data, too.
  Formulas halo = {};
  // If true, a mapping cannot refer to the partition by `name`, which then exists only in this
  // description.
  bool unnamed = false;
  // An alternative to `lower`, `extents` and `halo`. A piece consists of the points of all its
  // boxes, which may overlap. A colour without a box has an empty piece. All partitions together
  // have at most kMaxAppBoxes boxes.
  std::vector<AppBox> boxes = {};
  friend bool operator==(const AppPartition&, const AppPartition&) = default;
};

// A region, or the piece of a partition for the colour `color`. An empty `color` means the point of
// the launch.
struct AppData {
  // The name of a region or a partition. If it is empty, the data is not described, and the
  // application cannot be run.
  std::string of = {};
  Formulas color = {};
  // Fields of the region. Empty: the fields of the requirement, by their names. In
  // AppRequirement::data the list must match AppRequirement::fields in number and size. In a launch
  // it may name any fields.
  std::vector<std::string> fields = {};
  // Used in launches only: the privilege that the launch asks for instead of the requirement's
  // privilege.
  std::optional<Privilege> privilege = {};
  friend bool operator==(const AppData&, const AppData&) = default;
};

// ---- Tasks

// The pattern in which a task accesses memory.
enum class Access : std::uint8_t {
  // The task reads or writes the data in sequence.
  kStream,
  // The task accesses random places. `bytes` counts whole sectors (32 bytes on a GPU, 64 on a CPU).
  kScatter,
  // The task reads, changes and writes back random places, each in one atomic operation. The bytes
  // count 32 for each operation of a GPU, which is one sector.
  kAtomic,
};

// The bytes that a variant moves between its processor and the memory of a requirement.
struct AppTraffic {
  std::uint32_t requirement = 0;
  Formula bytes;
  Access access = Access::kStream;
  friend bool operator==(const AppTraffic&, const AppTraffic&) = default;
};

// One implementation of a task, for one kind of processor. Its formulas may use the task's
// arguments, points(r) and extent(r, d). points(r) is the number of points of requirement r's
// piece; extent(r, d) is the piece's extent in dimension d.
struct AppVariant {
  ProcKind kind = ProcKind::kCpu;
  // True if the variant launches no tasks.
  bool leaf = false;
  // True if the variant does not access data itself.
  bool inner = false;
  // True if the variant may run as several shards.
  bool replicable = false;
  std::vector<LayoutDemand> demands = {};
  // True if the program's own mapper chose this variant when the program was recorded. A variant
  // that has a demand of that mapper also counts as chosen.
  bool chosen_by_mapper = false;
  // The floating-point operations of one run.
  Formula flops = 0;
  // True if the operations are single precision, which is twice as fast.
  bool single = false;
  // The speed in percent of the processor's sustained rate.
  Formula efficiency = 100;
  // The GPU kernels of one run, which run one after the other.
  Formula kernels = 1;
  // A lower bound on the time of one run without kernel launches, for example a measured time.
  Formula nanoseconds = 0;
  // The memory traffic of the variant. A requirement that is not listed here moves its piece once
  // for each direction (read, write) that its privilege allows.
  std::vector<AppTraffic> traffic = {};
  // The order in which the variant's loops walk through data of several dimensions. nullopt: the
  // loops adapt to the layout.
  std::optional<DimensionOrder> loops = {};
  friend bool operator==(const AppVariant&, const AppVariant&) = default;
};

// One region argument of a task.
struct AppRequirement {
  // The names that a mapping can use. Empty: the names of `data`, the partition's names first.
  std::vector<std::string> names = {};
  Privilege privilege = Privilege::kReadWrite;
  Coherence coherence = Coherence::kExclusive;
  // The number of dimensions of the region.
  int dimensions = 1;
  // The fields with privileges, as the region declares them. If there is none, nothing is mapped.
  std::vector<AppField> fields;
  // The data of the requirement, unless a launch names other data.
  AppData data = {};
  friend bool operator==(const AppRequirement&, const AppRequirement&) = default;
};

// ---- What tasks launch

// A task launch. Its formulas may use the task's arguments and the variables of the enclosing
// loops. `where`, `arguments` and the colours in `data` may also use `index`.
struct AppLaunch {
  std::string task;
  // The extents of an index launch. If there are none, a single task is launched.
  Formulas domain = {};
  // The lower corner of the domain. If it is empty, the domain begins at the origin.
  Formulas lower = {};
  // The names that formulas use for the coordinates of a point of the launch.
  std::vector<std::string> index = {};
  // The condition that selects the points of an index launch: those of the domain at which it is
  // not 0. It may use `index`. Then the domain has at most kMaxConditionPoints points.
  Formula where = 1;
  // True if the launch asks to stay on the node of the launching task (kTagSameAddressSpace).
  bool same_address_space = false;
  // The values for the arguments of the launched task.
  Formulas arguments = {};
  // The data of each requirement of the launched task. If the list is empty, the data is that which
  // the task declares.
  std::vector<AppData> data = {};
  // The name of the future that the launch produces. An index launch reduces the future over its
  // points.
  std::string gives = {};
  // The futures that the launch waits for; other launches of the same task produce them. A future
  // that no launch has produced yet is ignored.
  std::vector<std::string> takes = {};
  friend bool operator==(const AppLaunch&, const AppLaunch&) = default;
};

struct AppStatement;
// A loop: runs `body` `count` times. `variable` names the counter for the formulas in the body.
struct AppLoop {
  Formula count;
  // The name of the counter, which counts from 0. May be empty.
  std::string variable = {};
  // True if the runtime memoises its analysis of the body (Legion: tracing).
  bool traced = false;
  std::vector<AppStatement> body;
  friend bool operator==(const AppLoop&, const AppLoop&);
};
// A named part of the run, which AppMetric::phase can name.
struct AppPhase {
  std::string name;
  std::vector<AppStatement> body;
  friend bool operator==(const AppPhase&, const AppPhase&);
};
// The task waits for a future, as a launch does with `takes`. If `future` is empty, the task waits
// for everything that it launched.
struct AppWait {
  std::string future = {};
  friend bool operator==(const AppWait&, const AppWait&) = default;
};
// One statement of a task: a launch, a loop, a phase or a wait.
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

// A task: the names of its integer arguments, its variants, its region requirements, and the
// statements that it runs.
struct AppTask {
  std::string name;
  std::vector<std::string> arguments = {};
  std::vector<AppVariant> variants;
  std::vector<AppRequirement> requirements = {};
  std::vector<AppStatement> body = {};
  friend bool operator==(const AppTask&, const AppTask&) = default;
};

// The rate by which the speed of a run is measured: an amount of work divided by a time.
struct AppMetric {
  std::string unit = "runs/s";
  Formula work = 1;
  // The phase whose time counts, over all its occurrences. If it is empty, the whole run counts.
  std::string phase = {};
  bool empty() const { return *this == AppMetric{}; }
  friend bool operator==(const AppMetric&, const AppMetric&) = default;
};

// Costs of the runtime itself, on the processor that each node reserves for it. docs/simulator.md
// gives the sources of the defaults.
struct RuntimeCosts {
  // The time for a task to issue a launch.
  double issue_s = 5e-6;
  // The time to analyse and map a task.
  double map_s = 300e-6;
  // The time to analyse and map a task in a trace, from its second iteration on.
  double replay_s = 10e-6;
  // The time to send a slice to another node, in addition to the network's latency.
  double remote_s = 2e-6;
  // The time to wake a task that waits for a future.
  double future_s = 20e-6;
  // The time to start a copy, in addition to the latency of the channels.
  double copy_s = 5e-6;
  friend bool operator==(const RuntimeCosts&, const RuntimeCosts&) = default;
};
// The limit on each cost, in seconds.
inline constexpr double kMaxRuntimeCost = 1000;

// A complete description of an application. Workload::make checks it.
struct Application {
  std::string name;
  std::string description = {};
  std::vector<AppParameter> parameters = {};
  std::vector<AppDefinition> definitions = {};
  std::vector<AppSize> sizes = {};
  AppMetric metric = {};
  // The costs of the runtime, for example as they were measured. The options of a run can override
  // them (SimulateOptions::costs).
  std::optional<RuntimeCosts> runtime = {};
  std::vector<AppRegion> regions = {};
  std::vector<AppPartition> partitions = {};
  // The task that the runtime starts. If it is empty, the launches are not described.
  std::string top_level = {};
  std::vector<AppTask> tasks = {};

  // Returns the task with this name, or null.
  const AppTask* find(std::string_view task) const;
  friend bool operator==(const Application&, const Application&) = default;
};

// Removes from the application what the program's own mapper demands of the layouts of these tasks.
// Fails with kUnknown if the application does not have one of the tasks.
std::optional<Error> override_layouts(const LayoutOverrides& overrides, Application& app);

}  // namespace groma
