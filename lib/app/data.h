// The contents of a Workload: names resolved to numbers, formulas compiled to code, sizes
// evaluated.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/cells.h"
#include "app/formula.h"
#include "groma/app.h"
#include "groma/point_set.h"
#include "groma/workload.h"

namespace groma::app {

using Codes = std::vector<CompiledFormula>;
using Names = std::vector<std::string>;

struct Region {
  std::string name;
  // The names by which a mapping may refer to the region.
  Names names;
  Rect box;
  std::vector<AppField> fields;
  // The number of points of each cell. A region has cells (app/cells.h) if one of its partitions is
  // given by boxes. Cells are numbered in the row-major order of their first points.
  std::vector<std::int64_t> cell_points;
  // The set of all cells of the region. Null: the region has no cells.
  std::shared_ptr<const CellSet> all_cells;
};

// A piece of a region that has cells.
struct Piece {
  // The smallest box around the points of the piece. The box of an empty piece lies at the origin.
  Rect box;
  std::shared_ptr<const CellSet> cells;
};

struct Partition {
  std::string name;
  // The names of the partition, followed by those of the region or partition that it cuts.
  Names names;
  std::uint32_t region = 0;
  // The number of the partition whose pieces this partition cuts. -1: it cuts a region.
  int outer = -1;
  // The colours of the pieces within one piece of `outer`.
  Rect own_colors;
  // The colours of all pieces of the partition. The first dimensions are those of the colours of
  // `outer`, the others those of `own_colors`.
  Rect colors;
  // The lower corner and the extents of a piece, as formulas of the partition's own colour. Empty:
  // the pieces are equal blocks.
  Codes lower, extents;
  // The number of points that a halo adds to a piece at both ends of each dimension. Empty: no
  // halo.
  std::vector<std::int64_t> halo;
  // A box of a piece. A partition has boxes if the application gives AppPartition::boxes.
  struct Box {
    Codes lower, extents;
  };
  bool by_boxes = false;
  // The boxes that are a part of the piece of every colour.
  std::vector<Box> boxes;
  // The boxes that are a part of the piece of only one colour, sorted by the row-major position of
  // the colour in `colors`.
  std::vector<std::pair<std::int64_t, Rect>> boxes_of_color;
  // The pieces of all colours in row-major order. Empty if the region has no cells.
  std::vector<Piece> pieces;
};

// The data of a requirement in a launch: a region, or the piece of a partition.
struct RequirementData {
  enum class Kind : std::uint8_t { kUnknown, kRegion, kPartition } kind = Kind::kUnknown;
  // What the formulas of the colour may read: the coordinates of the launch's point, the frame of
  // the launching task, or the arguments of the launched task.
  enum class Color : std::uint8_t { kPoint, kFrame, kArguments } from = Color::kPoint;
  // The number of the region in Data::regions, or of the partition in Data::partitions, as `kind`
  // says.
  std::uint32_t index = 0;
  std::uint32_t region = 0;
  Codes color;
  // The names by which a mapping may refer to the data.
  Names names;
  // The positions of the fields in the region. Empty if the requirement has no access to the data.
  std::vector<std::uint32_t> fields;
  Privilege privilege = Privilege::kReadWrite;
};

struct Traffic {
  std::uint32_t requirement = 0;
  CompiledFormula bytes;
  Access access = Access::kStream;
};

// Returns true if the program's own mapper asked for the layout when the program was recorded.
inline bool is_mapper_demand(const LayoutDemand& demand) {
  return demand.source == DemandSource::kMapper;
}

struct Variant {
  // The place of the variant in the description of the application, as a JSON pointer.
  std::string place;
  ProcKind kind = ProcKind::kCpu;
  bool leaf = false, inner = false, replicable = false, single = false;
  bool chosen_by_mapper = false;
  std::vector<LayoutDemand> demands;
  std::optional<DimensionOrder> loops;
  CompiledFormula flops, efficiency, kernels, nanoseconds;
  std::vector<Traffic> traffic;
};

struct Requirement {
  // The names that the application gives the requirement. Empty: a mapping uses the names of the
  // data.
  Names names;
  Privilege privilege = Privilege::kReadWrite;
  Coherence coherence = Coherence::kExclusive;
  int dimensions = 1;
  std::vector<AppField> fields;
  // The default data of the requirement. A launch may override it.
  RequirementData data;
};

struct Launch {
  // The place of the launch statement in the description of the application, as a JSON pointer.
  std::string place;
  // The number of the launch statement, counted over all tasks in the order of the application.
  std::uint32_t number = 0;
  std::uint32_t task = 0;
  bool is_index = false;
  bool same_address_space = false;
  // The extents and the lower corner of an index launch. Both have the same length.
  Codes domain, lower;
  // The slot of the point's first coordinate in the frame of the launching task.
  int point_slot = 0;
  // The condition that selects the points of the domain.
  CompiledFormula where = CompiledFormula(1);
  // Returns false if the launch surely has every point of its box.
  bool has_condition() const { return !where.is_constant() || where.constant() == 0; }
  Codes arguments;
  // The data of each requirement of the launched task.
  std::vector<RequirementData> data;
  // The number of the future that the launch produces, among the futures of the launching task. -1:
  // none.
  int gives = -1;
  std::vector<std::uint32_t> takes;
};

struct Statement;
using Body = std::vector<Statement>;
struct Loop {
  // The place of the loop in the description of the application, as a JSON pointer.
  std::string place;
  CompiledFormula count;
  // The slot of the loop's variable. -1: the loop has none.
  int slot = -1;
  bool traced = false;
  Body body;
};
struct Phase {
  // The position of the phase's name in Data::phases.
  std::uint32_t phase = 0;
  Body body;
};
struct Wait {
  // The number of the future for which the task waits. -1: the task waits for everything that it
  // launched.
  int future = -1;
};
struct Statement {
  std::variant<Launch, Loop, Phase, Wait> node;
};

// A task. Its frame holds its arguments, then the variables of the loops around a statement, then
// the coordinates of the point for which a launch is evaluated.
struct Task {
  std::string name;
  int arguments = 0;
  int frame_size = 0;
  std::uint32_t futures = 0;
  std::vector<Variant> variants;
  std::vector<Requirement> requirements;
  Body body;
};

// Returns the data of requirement r: as `launch` gives it, or as the task declares it if `launch`
// is null (top-level task).
inline const RequirementData& data_of_requirement(const Task& task, const Launch* launch,
                                                  std::size_t r) {
  return launch == nullptr ? task.requirements[r].data : launch->data[r];
}

// Returns true if two accesses with these privileges to the same data must keep their order.
inline bool must_keep_order(Privilege a, Privilege b) {
  if (a == Privilege::kNoAccess || b == Privilege::kNoAccess) return false;
  return a != b || (a != Privilege::kReadOnly && a != Privilege::kReduce);
}

// A workload: an application with fixed parameters.
struct Data {
  std::string name;
  std::vector<AppValue> values;
  std::string unit;
  CompiledFormula work;
  // The phase whose time counts, as an index into `phases`. -1: the whole run counts.
  int metric_phase = -1;
  std::optional<RuntimeCosts> runtime;
  std::vector<Region> regions;
  std::vector<Partition> partitions;
  // The tasks in the order of the application.
  std::vector<Task> tasks;
  int top_level = -1;
  std::vector<std::string> phases;
  // The number of launch statements in the bodies of all tasks.
  std::uint32_t launches = 0;

  // Returns the number of the task with this name, or -1.
  int find_task(std::string_view task) const;
};

// Returns the piece of a colour within `partition.colors`. For a piece with holes it is the
// smallest box around its points. The box may be empty if a formula says so. Sets `fault` if a
// formula has no value.
Rect bounds_of_piece(const Data& data, const Partition& partition, const Point& color,
                     FormulaFault& fault);
// Returns the number of points of the piece of a colour. Sets `fault` if a formula has no value.
std::int64_t points_of(const Data& data, const Partition& partition, const Point& color,
                       FormulaFault& fault);

// Returns the approximate cost of piece() for one colour of the partition, in units of Budget.
std::int64_t approximate_cost_of_piece(const Data& data, const Partition& partition);

// Returns the box of an index launch. Returns nullopt and sets `fault` if a formula has no value.
std::optional<Rect> box_of(const Launch& launch, std::span<const std::int64_t> frame,
                           FormulaFault& fault);
// Counts work that is about to be done, in units of Budget. Returns false if it must not be done.
using SpendFunction = std::function<bool(std::int64_t units)>;
// Returns the domain of an index launch: its box, with its points if the launch has a condition.
// Returns nullopt and sets `fault` if a formula has no value. Takes a time that grows with
// cost_of_domain(). Counts this time with `spend` (empty: does not count it) piece by piece, and
// returns nullopt without a fault if `spend` returns false.
std::optional<LaunchDomain> domain_of(const Launch& launch, std::span<const std::int64_t> frame,
                                      FormulaFault& fault, const SpendFunction& spend = {});
// Returns the approximate cost of domain_of() for a launch over this box, in units of Budget. It is
// 0 for a launch without a condition.
std::int64_t cost_of_domain(const Launch& launch, const Rect& box);

// A launch of a task, with everything by which mappers can distinguish launches.
struct DistinctLaunch {
  const Launch* launch = nullptr;
  std::uint32_t task = 0;
  // The number of the launching task. -1: the runtime launches the task.
  int parent = -1;
  // The domain of an index launch. nullopt: a single task.
  std::optional<LaunchDomain> domain = {};
  // Adds numbers to a key by which launches with different domains differ; none for a single task.
  void add_domain_to(std::vector<std::int64_t>& key) const;
  // 0: the top-level task; 1: the top-level task launches it; 2: a deeper task launches it.
  int depth = 0;
  // How often the launching task launches it with this domain. Known only for launches of the
  // top-level task; 0: unknown.
  std::int64_t times = 0;
};
// Returns the launches of the top-level task, direct and indirect. Each pair (launch statement,
// domain) occurs once, in the order of the first run through it. Stops after `most` launches, and
// after the number of steps that docs/applications.md gives; `complete` is then false.
std::vector<DistinctLaunch> list_launches(const Data& data, std::size_t most, bool& complete);

}  // namespace groma::app
