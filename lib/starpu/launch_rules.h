// LaunchRules: which tasks of StarPU are the points of an index launch. StarPU has single tasks
// only, but a loop that submits one task for each piece of a data is an index launch over the
// pieces.
#pragma once

#include <starpu.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/geometry.h"
#include "groma/result.h"

namespace groma::starpu {

// How the tasks of one name become points.
struct LaunchRule {
  enum class Source : std::uint8_t {
    // The place of the written piece among all pieces. This is the rule for names without a rule.
    kPieces,
    // The tag of the task (starpu_task::tag_id).
    kTag,
    // The coordinates of the written data (starpu_data_set_coordinates).
    kData,
    // The tasks are single tasks.
    kNone,
  };
  std::string name;
  Source source = Source::kPieces;
  // The extents of the launch domain. No dimensions for kPieces and kNone.
  Point extents;
  // For kTag: the bits of each coordinate in the tag; the last coordinate has the lowest bits.
  // Empty: the tag is the number of the point in row-major order.
  std::vector<int> tag_bits;

  // Returns the point for a tag, or nullopt if it is outside of the extents.
  std::optional<Point> point_of_tag(std::uint64_t tag) const;
  // Returns the point for coordinates of data, or nullopt if it is outside of the extents.
  std::optional<Point> point_of_coordinates(const int* coordinates, unsigned count) const;
};

class LaunchRules {
 public:
  // Reads rules such as "update=8x8@tag:16,16; scale=10@tag; sum=none". Fails with kMalformed; the
  // message names the rule.
  static Result<LaunchRules> parse(std::string_view text);
  // Returns the rule for a name, or null.
  const LaunchRule* find(std::string_view name) const;

 private:
  std::vector<LaunchRule> rules_;
};

}  // namespace groma::starpu
