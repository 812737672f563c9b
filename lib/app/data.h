// What a Workload is made of: names resolved to numbers, formulas to code, sizes to values.
#pragma once

#include <cstdint>
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
#include "groma/workload.h"

namespace groma::app {

using Codes = std::vector<Code>;
using Names = std::vector<std::string>;

struct Region {
  std::string name;
  Names names;  // that a mapping may know it by
  Rect box;
  std::vector<AppField> fields;
  // A region has cells (app/cells.h) if one of its partitions is by boxes. They are numbered in the
  // order of their first points, which is row-major.
  std::vector<std::int64_t> cell_points;     // of each cell
  std::shared_ptr<const CellSet> all_cells;  // null: the region has no cells
};

// A piece of a region that has cells.
struct Piece {
  Rect box;  // the smallest around its points; of an empty piece at the origin
  std::shared_ptr<const CellSet> cells;
};

struct Partition {
  std::string name;
  Names names;  // its own, then those of what it cuts
  std::uint32_t region = 0;
  int outer = -1;                  // the partition whose pieces it cuts
  Rect own_colors;                 // of one piece of `outer`
  Rect colors;                     // those of `outer`, then its own
  Codes lower, extents;            // over the own colour; none: equal blocks
  std::vector<std::int64_t> halo;  // by dimension; none: none
  // A partition is by boxes if the application gives AppPartition::boxes.
  struct Box {
    Codes lower, extents;
  };
  bool by_boxes = false;
  std::vector<Box> boxes;  // of every colour
  // Boxes of one colour each, sorted by the place of the colour in `colors`.
  std::vector<std::pair<std::int64_t, Rect>> boxes_of_color;
  // The pieces of all colours in row-major order. Empty if the region has no cells.
  std::vector<Piece> pieces;
};

// What a requirement of a launch is on: a region, or the piece of a partition.
struct Where {
  enum class What : std::uint8_t { kUnknown, kRegion, kPartition } what = What::kUnknown;
  // How the colour is found: it is the launch's point; a function of the launching task's frame; a
  // function of the launched task's arguments.
  enum class Color : std::uint8_t { kPoint, kFrame, kArguments } from = Color::kPoint;
  std::uint32_t index = 0;  // of the region or partition
  std::uint32_t region = 0;
  Codes color;
  Names names;                        // that a mapping may know it by
  std::vector<std::uint32_t> fields;  // positions in the region; empty without access
  Privilege privilege = Privilege::kReadWrite;
};

struct Traffic {
  std::uint32_t requirement = 0;
  Code bytes;
  Access access = Access::kStream;
};

struct Variant {
  std::string place;  // as of a launch
  ProcKind kind = ProcKind::kCpu;
  bool leaf = false, inner = false, replicable = false, single = false;
  bool chosen_by_mapper = false;
  std::vector<LayoutDemand> demands;
  std::optional<DimensionOrder> loops;
  Code flops, efficiency, kernels, nanoseconds;
  std::vector<Traffic> traffic;
};

struct Requirement {
  Names names;  // as the application says; none: those of its data
  Privilege privilege = Privilege::kReadWrite;
  Coherence coherence = Coherence::kExclusive;
  int dimensions = 1;
  std::vector<AppField> fields;
  Where data;  // unless the launch says otherwise
};

struct Launch {
  std::string place;         // a JSON pointer into the application
  std::uint32_t number = 0;  // of all launch statements of the application, in its order
  std::uint32_t task = 0;
  bool is_index = false;
  bool same_address_space = false;
  Codes domain, lower;  // `lower` as long as `domain`
  int point_slot = 0;   // in the frame: of the point's first coordinate
  Codes arguments;
  std::vector<Where> data;  // for each requirement of the task
  int gives = -1;           // a future of the launching task
  std::vector<std::uint32_t> takes;
};

struct Statement;
using Body = std::vector<Statement>;
struct Loop {
  std::string place;  // as of a launch
  Code count;
  int slot = -1;  // of its variable
  bool traced = false;
  Body body;
};
struct Phase {
  std::uint32_t phase = 0;  // of Data::phases
  Body body;
};
struct Wait {
  int future = -1;  // -1: for all
};
struct Statement {
  std::variant<Launch, Loop, Phase, Wait> node;
};

// A task's frame holds its arguments, then the variables of the loops around a statement, then the
// coordinates of the point that a launch is evaluated for.
struct Task {
  std::string name;
  int arguments = 0;
  int frame_size = 0;
  std::uint32_t futures = 0;
  std::vector<Variant> variants;
  std::vector<Requirement> requirements;
  Body body;
};

// What requirement r is on: as the launch says; as the task does where `launch` is null, of the top
// level.
inline const Where& where_of(const Task& task, const Launch* launch, std::size_t r) {
  return launch == nullptr ? task.requirements[r].data : launch->data[r];
}

// Whether two tasks, or two requirements of one, may not change places on the same data.
inline bool interfere(Privilege a, Privilege b) {
  if (a == Privilege::kNoAccess || b == Privilege::kNoAccess) return false;
  return a != b || (a != Privilege::kReadOnly && a != Privilege::kReduce);
}

struct Data {
  std::string name;
  std::vector<AppValue> values;
  std::string unit;
  Code work;
  int metric_phase = -1;  // -1: the whole run
  std::optional<RuntimeCosts> runtime;
  std::vector<Region> regions;
  std::vector<Partition> partitions;
  std::vector<Task> tasks;  // in the application's order
  int top_level = -1;
  std::vector<std::string> phases;
  std::uint32_t launches = 0;  // launch statements

  int find_task(std::string_view task) const;  // -1: there is none
};

// The piece of a colour within `partition.colors`; of a piece with holes the smallest box around
// its points. An empty box where a formula makes it so; `fault` where it has no value.
Rect piece(const Data& data, const Partition& partition, const Point& color, FormulaFault& fault);
// The number of points of that piece.
std::int64_t points_of(const Data& data, const Partition& partition, const Point& color,
                       FormulaFault& fault);

// About how long piece() takes for one colour of the partition, in units of Budget.
std::int64_t work_of_piece(const Data& data, const Partition& partition);

// The domain of an index launch. Nothing, and `fault`, where it has none.
std::optional<Rect> domain_of(const Launch& launch, std::span<const std::int64_t> frame,
                              FormulaFault& fault);

// A launch of a task, as far as mappers can tell launches apart.
struct Use {
  const Launch* launch = nullptr;
  std::uint32_t task = 0;
  int parent = -1;                  // the task that launches it; -1: the runtime does
  std::optional<Rect> domain = {};  // of an index launch
  int depth = 0;                    // 0: top level, 1: launched by it, 2: all that is deeper
};
// What the top-level task launches, directly and in turn; every (launch statement, domain) once, in
// the order of the first run through it. Stops at `most` of them, and after as many steps as
// docs/applications.md says; `complete` tells.
std::vector<Use> uses(const Data& data, std::size_t most, bool& complete);

}  // namespace groma::app
