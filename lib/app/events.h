// Events: what the recorder saw of a run (lib/legion/recorder.h), and the text in which it hands
// that over. Numbers refer to positions in the lists here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/repeats.h"
#include "groma/geometry.h"
#include "groma/kinds.h"
#include "groma/result.h"

namespace groma::app {

// What is recorded at most; what is more is counted as not seen.
inline constexpr std::size_t kMaxEventLaunches = std::size_t{1} << 21;
inline constexpr std::size_t kMaxEventNumbers = std::size_t{1} << 21;
inline constexpr std::size_t kMaxEventTasks = 1 << 12;
inline constexpr std::size_t kMaxEventShapes = 16 * kMaxEventTasks;
inline constexpr std::size_t kMaxEventRegions = 1 << 12;  // and as many partitions
inline constexpr std::size_t kMaxEventPieces = 1 << 17;   // of all partitions
inline constexpr std::size_t kMaxEventBoxes = 1 << 20;    // Piece::boxes, of all pieces
inline constexpr std::int64_t kNoNumber = INT64_MIN;      // a point's colour that was not seen
// Any other number lies between this and its negative, so that sums of a few fit 64 bits.
inline constexpr std::int64_t kMostEventNumber = std::int64_t{1} << 56;

inline constexpr std::int64_t kMaxEventPoints = INT32_MAX;  // of a launch

// Whether what is recorded may have it: its numbers and its volume are within that.
bool can_be_kept(const Rect& rect);

struct Events {
  struct Variant {
    ProcKind kind = ProcKind::kCpu;
    bool leaf = false, inner = false, replicable = false;
    std::vector<LayoutDemand> demands;
    bool chosen_by_mapper = false;  // by the program's own
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
    std::string name;  // empty: none was attached
    Rect bounds;
    std::int64_t points = 0;  // fewer than of the bounds: it has holes
    std::vector<Field> fields;
  };
  // All colours but the points of kPoint count from 0.
  struct Piece {
    Point color;  // those of `outer`, then its own
    Rect bounds;
    std::int64_t points = 0;
    // The boxes of a piece with holes; no two of them meet. Empty if they are not known.
    std::vector<Rect> boxes = {};
  };
  struct Partition {
    std::string name;
    std::uint32_t region = 0;
    std::int32_t outer = -1;  // an earlier partition, whose pieces it cuts
    Rect colors;              // its own, of one piece of `outer`, as the program counts them
    std::vector<Piece> pieces;
    bool few_used = false;  // only the used pieces are there (recorded_uses.h); not in the text
  };
  enum class How : std::uint8_t {
    kWhole,   // the region
    kFixed,   // one colour: in Launch::numbers
    kPoint,   // a prefix (in the numbers) and the point
    kMapped,  // each point's colour, in row-major order of the domain: in the numbers
  };
  struct Requirement {
    How how = How::kWhole;
    std::uint32_t region = 0;
    std::int32_t partition = -1;
    Privilege privilege = Privilege::kReadWrite;
    Coherence coherence = Coherence::kExclusive;
    std::vector<std::uint32_t> fields;  // of the region
  };
  // What launches have in common that differ in numbers only.
  struct Shape {
    std::uint32_t task = 0;
    std::uint32_t dimensions = 0;  // of the domain; 0: a single task
    std::vector<Requirement> requirements;
  };
  struct Launch {
    std::uint32_t shape = 0;
    // The domain's lower corner and extents; what each kFixed and kPoint says; the tables of
    // kMapped.
    std::vector<std::int64_t> numbers;
  };
  // What runs of a task launched, in program order.
  struct Context {
    std::uint32_t task = 0;
    std::int32_t shape = -1;          // of the launch that it is of; -1: the runtime's
    std::vector<std::int64_t> given;  // its point, then the colour of each piece that it has
    std::int64_t count = 1;           // such runs
    std::vector<Repeat> launches;
  };
  struct Time {
    std::uint32_t task = 0;
    ProcKind kind = ProcKind::kCpu;
    std::int64_t count = 0;
    std::int64_t nanoseconds = 0;  // the median
  };
  // What the runtime itself takes, undisturbed: of so many times what a tenth stays below.
  struct Cost {
    std::int64_t count = 0;
    std::int64_t nanoseconds = 0;
  };
  struct Other {
    std::string what;  // "copies"
    std::int64_t count = 0;
  };

  std::string runtime;          // "Legion 25.12.0"
  std::uint32_t top_level = 0;  // a task
  std::vector<Task> tasks;
  std::vector<Region> regions;
  std::vector<Partition> partitions;
  std::vector<Shape> shapes;
  std::vector<Launch> launches;  // no two alike
  std::vector<Context> contexts;
  std::vector<Time> times;
  Cost issue, map;            // the call that launches something; to analyse and map a task
  std::vector<Other> others;  // what no description has

  // Of a partition's colours, those of the partitions around it included.
  int color_dimensions(const Partition& partition) const;
  // Of the colours that say which piece a requirement is on, 0 of a whole region.
  std::size_t color_dimensions(const Requirement& requirement) const;
  // How many of a launch's numbers say the requirement's one colour, or begin that of each point.
  // `dimensions` are those of the launch's domain.
  std::size_t given_colors(const Requirement& requirement, std::size_t dimensions) const;
  // Of `given`: the dimensions of the point, then the colours of each requirement.
  std::vector<std::size_t> layout_of(const Context& context) const;
};

std::string text_of(const Events& events);

// The inverse. All numbers refer to something, lists are as long as they have to be, dimensions
// agree. Fails (kMalformed, kTooLarge) on any other text; bounded in time and memory by its size.
Result<Events> events_from(std::string_view text);

}  // namespace groma::app
