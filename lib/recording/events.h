// Events: what the recorder saw of a run (lib/legion/recorder.h), and the text format in which the
// recorder passes the events on. Where a member is a number of a task, region, partition, shape or
// launch, it is a position in the list of Events.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "groma/geometry.h"
#include "groma/kinds.h"
#include "groma/point_set.h"
#include "groma/result.h"
#include "recording/repeats.h"

namespace groma::app {

// Limits of a recording. The recorder drops whatever exceeds a limit and counts it as not seen.
inline constexpr std::size_t kMaxEventLaunches = std::size_t{1} << 21;
inline constexpr std::size_t kMaxEventNumbers = std::size_t{1} << 21;
inline constexpr std::size_t kMaxEventTasks = 1 << 12;
inline constexpr std::size_t kMaxEventShapes = 16 * kMaxEventTasks;
// Limit on the regions of a recording. The same limit holds for its partitions.
inline constexpr std::size_t kMaxEventRegions = 1 << 12;
// Limit on the pieces of all partitions of a recording together.
inline constexpr std::size_t kMaxEventPieces = 1 << 17;
// Limit on the boxes (Piece::boxes) of all pieces together.
inline constexpr std::size_t kMaxEventBoxes = 1 << 20;
// The number that stands for the colour of a launch's point if the recorder did not see this
// colour.
inline constexpr std::int64_t kNoNumber = INT64_MIN;
// Limit on the absolute value of all other numbers, so that the sum of a few numbers fits 64 bits.
inline constexpr std::int64_t kMostEventNumber = std::int64_t{1} << 56;

// Limit on the points in the boxes around all sparse domains (Events::sparse_domains) together. The
// box around one of them has at most kMaxConditionPoints.
inline constexpr std::int64_t kMaxSparsePoints = std::int64_t{1} << 26;

// Limit on the points of one launch.
inline constexpr std::int64_t kMaxEventPoints = INT32_MAX;

// Returns true if the coordinates and the volume of `rect` are within the limits.
bool is_within_event_limits(const Rect& rect);

struct Events {
  struct Variant {
    ProcKind kind = ProcKind::kCpu;
    bool leaf = false, inner = false, replicable = false;
    std::vector<LayoutDemand> demands;
    // True if the program's own mapper chose this variant in the recorded run.
    bool chosen_by_mapper = false;
  };
  struct Task {
    std::string name;
    std::vector<Variant> variants;
  };
  struct Field {
    std::string name;
    std::int64_t bytes = 0;
  };
  struct Region {
    // The name that the program attached to the region. Empty: it attached none.
    std::string name;
    Rect bounds;
    // The number of points of the region. It is less than the volume of `bounds` if the region has
    // holes.
    std::int64_t points = 0;
    std::vector<Field> fields;
  };
  // A piece of a partition. The coordinates of `color` count from 0. The colours of
  // ColorRule::kPoint, in contrast, are points of the launch.
  struct Piece {
    // The colour of the piece: the colour of the enclosing piece in the outer partition, followed
    // by the colour in this partition.
    Point color;
    Rect bounds;
    std::int64_t points = 0;
    // The boxes of a piece with holes, which do not overlap. Empty if they are unknown.
    std::vector<Rect> boxes = {};
  };
  struct Partition {
    std::string name;
    std::uint32_t region = 0;
    // The number of an earlier partition whose pieces this partition cuts. -1: it cuts a region.
    std::int32_t outer = -1;
    // The colours of this partition within one piece of the partition `outer`, as the program
    // counts them. The colours need not begin at 0.
    Rect colors;
    std::vector<Piece> pieces;
    // True if only the pieces that launches use were kept (recorded_uses.h). The text does not
    // contain this member.
    bool has_only_used_pieces = false;
  };
  // The rule by which each point of a launch gets its data.
  enum class ColorRule : std::uint8_t {
    // Every point of the launch gets the whole region.
    kWhole,
    // All points of the launch get the piece of one colour, which stands in Launch::numbers.
    kFixed,
    // The colour consists of a prefix, which stands in Launch::numbers, and the point.
    kPoint,
    // Launch::numbers has a colour for each point of the domain, in row-major order.
    kMapped,
  };
  struct Requirement {
    ColorRule color_rule = ColorRule::kWhole;
    std::uint32_t region = 0;
    std::int32_t partition = -1;
    Privilege privilege = Privilege::kReadWrite;
    Coherence coherence = Coherence::kExclusive;
    // The fields of the requirement, as positions in the region.
    std::vector<std::uint32_t> fields;
  };
  // What launches that differ only in their numbers have in common: the task, the dimensions of the
  // domain, and the requirements.
  struct LaunchShape {
    std::uint32_t task = 0;
    // The number of dimensions of the domain. 0: a single task.
    std::uint32_t dimensions = 0;
    std::vector<Requirement> requirements;
  };
  struct Launch {
    std::uint32_t shape = 0;
    // The numbers of the launch in this order: the lower corner and the extents of the domain, then
    // the colours of each requirement with kFixed and the prefixes of each requirement with kPoint,
    // then the tables of each requirement with kMapped.
    std::vector<std::int64_t> numbers;
    // The position of the launch's points in `sparse_domains`, whose smallest box is that in
    // `numbers`. -1: the launch has every point of its box.
    std::int32_t sparse_domain = -1;
  };
  // Runs of a task that launched the same launches in the same order. `launches` lists these
  // launches.
  struct TaskRunGroup {
    std::uint32_t task = 0;
    // The shape of the launch that started these runs of the task. -1: the runtime started them.
    std::int32_t shape = -1;
    // The numbers that each run was given: its point in the launch, followed by the colour of the
    // piece of each requirement.
    std::vector<std::int64_t> run_arguments;
    // The number of runs of the task that this context stands for.
    std::int64_t count = 1;
    std::vector<FoldedElement> launches;
  };
  struct TaskTime {
    std::uint32_t task = 0;
    ProcKind kind = ProcKind::kCpu;
    std::int64_t count = 0;
    // The median of the measured times of the task on this kind of processor.
    std::int64_t nanoseconds = 0;
  };
  // A cost of the runtime without disturbance: the 10th percentile of `count` measured times.
  struct Cost {
    std::int64_t count = 0;
    std::int64_t nanoseconds = 0;
  };
  struct CountedOperations {
    // The kind of the counted operations, such as "copies".
    std::string what;
    std::int64_t count = 0;
  };

  // The name and the version of the runtime, such as "Legion 25.12.0".
  std::string runtime;
  // The number of the top-level task, which the runtime itself started.
  std::uint32_t top_level = 0;
  std::vector<Task> tasks;
  std::vector<Region> regions;
  std::vector<Partition> partitions;
  std::vector<LaunchShape> shapes;
  // The points of launches whose domains have holes: boxes that share no point.
  std::vector<std::vector<Rect>> sparse_domains;
  // The launches of the run. Equal launches are listed once.
  std::vector<Launch> launches;
  std::vector<TaskRunGroup> contexts;
  std::vector<TaskTime> times;
  // The cost of a launch call, and the cost of analysing and mapping a task.
  Cost issue, map;
  // The operations of the run that the recording only counts and does not describe.
  std::vector<CountedOperations> undescribed_operations;

  // Returns the domain of an index launch. Makes the set of its points if it has holes, which takes
  // a time that grows with the rows of points.
  LaunchDomain domain_of(const Launch& launch) const;
  // Returns the dimensions of a partition's colours, including those of the partitions around it.
  int color_dimensions(const Partition& partition) const;
  // Returns the dimensions of the colours that select the piece of a requirement; 0 for a whole
  // region.
  std::size_t color_dimensions(const Requirement& requirement) const;
  // Returns how many numbers of a launch belong to the colours of this requirement, apart from
  // tables: the coordinates of the single colour (kFixed) or of the prefix (kPoint), otherwise 0.
  // `dimensions` is the number of dimensions of the launch's domain.
  std::size_t count_given_color_coordinates(const Requirement& requirement,
                                            std::size_t dimensions) const;
  // Returns how many numbers each part of TaskRunGroup::run_arguments has: the dimensions of the
  // point, then those of the colour of each requirement.
  std::vector<std::size_t> argument_part_lengths(const TaskRunGroup& context) const;
};

// Returns the events of a recording in its text format, which parse_events() reads.
std::string text_of(const Events& events);

// Reads the text of text_of(). In the result all numbers refer to something, all lists have the
// required length, and dimensions agree. Fails with kMalformed or kTooLarge on any other text. Time
// and memory are bounded by the size of the text.
Result<Events> parse_events(std::string_view text);

}  // namespace groma::app
