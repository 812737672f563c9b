// Events: what the recorder saw of a run (lib/legion/recorder.h), and the text format in which it
// passes the events on. Numbers are positions in the lists here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "groma/geometry.h"
#include "groma/kinds.h"
#include "groma/result.h"
#include "recording/repeats.h"

namespace groma::app {

// Limits of a recording. What exceeds a limit is not recorded, but counted as not seen.
inline constexpr std::size_t kMaxEventLaunches = std::size_t{1} << 21;
inline constexpr std::size_t kMaxEventNumbers = std::size_t{1} << 21;
inline constexpr std::size_t kMaxEventTasks = 1 << 12;
inline constexpr std::size_t kMaxEventShapes = 16 * kMaxEventTasks;
inline constexpr std::size_t kMaxEventRegions = 1 << 12;  // the same limit holds for partitions
inline constexpr std::size_t kMaxEventPieces = 1 << 17;   // over all partitions
inline constexpr std::size_t kMaxEventBoxes = 1 << 20;    // Piece::boxes, over all pieces
inline constexpr std::int64_t kNoNumber = INT64_MIN;      // a point whose colour was not seen
// All other numbers are within this limit in both directions, so that sums of a few fit into 64
// bits.
inline constexpr std::int64_t kMostEventNumber = std::int64_t{1} << 56;

inline constexpr std::int64_t kMaxEventPoints = INT32_MAX;  // in one launch

// Returns true if the coordinates and the volume of `rect` are within the limits.
bool can_be_kept(const Rect& rect);

struct Events {
  struct Variant {
    ProcKind kind = ProcKind::kCpu;
    bool leaf = false, inner = false, replicable = false;
    std::vector<LayoutDemand> demands;
    bool chosen_by_mapper = false;  // the program's own mapper chose it
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
    std::string name;  // empty: no name was attached
    Rect bounds;
    std::int64_t points = 0;  // less than the volume of `bounds` if the region has holes
    std::vector<Field> fields;
  };
  // A piece of a partition. Colours count from 0 here, while the colours of kPoint are points of
  // the launch.
  struct Piece {
    Point color;  // colour in `outer`, followed by the colour in this partition
    Rect bounds;
    std::int64_t points = 0;
    // The boxes of a piece with holes, which do not overlap. Empty if they are unknown.
    std::vector<Rect> boxes = {};
  };
  struct Partition {
    std::string name;
    std::uint32_t region = 0;
    std::int32_t outer = -1;  // an earlier partition whose pieces it cuts; -1: none
    Rect colors;              // colours within one piece of `outer`, as the program counts them
    std::vector<Piece> pieces;
    bool few_used = false;  // only the used pieces are here (recorded_uses.h); not in the text
  };
  // How each point of a launch gets its data.
  enum class How : std::uint8_t {
    kWhole,   // the whole region
    kFixed,   // one colour, which is in Launch::numbers
    kPoint,   // the colour consists of a prefix (in Launch::numbers) and the point
    kMapped,  // a colour for each point, in row-major order of the domain, in Launch::numbers
  };
  struct Requirement {
    How how = How::kWhole;
    std::uint32_t region = 0;
    std::int32_t partition = -1;
    Privilege privilege = Privilege::kReadWrite;
    Coherence coherence = Coherence::kExclusive;
    std::vector<std::uint32_t> fields;  // the requirement's fields, as positions in the region
  };
  // The parts of a launch that are equal in launches that differ only in numbers.
  struct Shape {
    std::uint32_t task = 0;
    std::uint32_t dimensions = 0;  // dimensions of the domain; 0: a single task
    std::vector<Requirement> requirements;
  };
  struct Launch {
    std::uint32_t shape = 0;
    // The lower corner and the extents of the domain, then the numbers of each kFixed and kPoint,
    // then the tables of kMapped.
    std::vector<std::int64_t> numbers;
  };
  // Runs of a task that launched the same in the same order. `launches` are their launches.
  struct Context {
    std::uint32_t task = 0;
    std::int32_t shape = -1;  // shape of the launch that started the runs; -1: the runtime did
    std::vector<std::int64_t> given;  // the run's point, then the colour of each of its pieces
    std::int64_t count = 1;           // number of such runs
    std::vector<Repeat> launches;
  };
  struct Time {
    std::uint32_t task = 0;
    ProcKind kind = ProcKind::kCpu;
    std::int64_t count = 0;
    std::int64_t nanoseconds = 0;  // median
  };
  // A cost of the runtime without disturbance: the 10th percentile of `count` measured times.
  struct Cost {
    std::int64_t count = 0;
    std::int64_t nanoseconds = 0;
  };
  struct Other {
    std::string what;  // "copies"
    std::int64_t count = 0;
  };

  std::string runtime;          // "Legion 25.12.0"
  std::uint32_t top_level = 0;  // number of a task
  std::vector<Task> tasks;
  std::vector<Region> regions;
  std::vector<Partition> partitions;
  std::vector<Shape> shapes;
  std::vector<Launch> launches;  // without duplicates
  std::vector<Context> contexts;
  std::vector<Time> times;
  Cost issue, map;            // costs of a launch call, and of analysing and mapping a task
  std::vector<Other> others;  // operations that the description leaves out

  // Returns the dimensions of a partition's colours, including those of the partitions around it.
  int color_dimensions(const Partition& partition) const;
  // Returns the dimensions of the colours that select the piece of a requirement; 0 for a whole
  // region.
  std::size_t color_dimensions(const Requirement& requirement) const;
  // Returns how many of a launch's numbers give the requirement's single colour or the prefix of
  // its colours. `dimensions` are those of the launch's domain.
  std::size_t given_colors(const Requirement& requirement, std::size_t dimensions) const;
  // Returns the lengths of the parts of `given`: the dimensions of the point, then those of the
  // colour of each requirement.
  std::vector<std::size_t> layout_of(const Context& context) const;
};

// Returns the events as text.
std::string text_of(const Events& events);

// Reads the text of text_of(). In the result all numbers refer to something, all lists have the
// required length, and dimensions agree. Fails with kMalformed or kTooLarge on any other text. Time
// and memory are bounded by the size of the text.
Result<Events> events_from(std::string_view text);

}  // namespace groma::app
