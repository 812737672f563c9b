// Writes the functions of a map: `base_point`, `base_rank` and, for C++, `base_for`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/description.h"
#include "domain_emission/dialect.h"

namespace groma::domains {

// Limit on the bytes of the tables of a map.
inline constexpr std::int64_t kMaxTableBytes = std::int64_t{1} << 20;

using Names = std::vector<std::string>;

// Returns "x, y, z", or "x0, x1 ..." for more than three coordinates.
Names coordinate_names(int dimensions);
// Returns "i0, i1 ...", the names of coordinates before an affine image.
Names counter_names(int dimensions);
// Returns prefix + name + suffix for each name, with commas between them.
std::string joined(const Names& names, const std::string& prefix = "",
                   const std::string& suffix = "");

// The functions of one map, written piece by piece.
class MapCode {
 public:
  explicit MapCode(const Dialect& dialect) : dialect_(dialect) {}

  // Writes the functions of a map with at least one point. Returns why it cannot be written.
  std::optional<Error> write(const PointMap& map, const std::string& base, const Names& names);

  const std::string& text() const { return text_; }
  // True if the code has integers of 128 bits, or roots.
  bool needs_wide() const { return needs_wide_; }
  bool needs_real() const { return needs_real_; }

 private:
  using MaybeError = std::optional<Error>;
  // One function for each form of a map, in a file of its own.
  MaybeError write_form(const PointMap& map, const LoopsDescription& loops, const std::string& base,
                        const Names& names);
  MaybeError write_form(const PointMap& map, const DigitsDescription& digits,
                        const std::string& base, const Names& names);
  MaybeError write_form(const PointMap& map, const ImageDescription& image, const std::string& base,
                        const Names& names);
  MaybeError write_form(const PointMap& map, const UnionDescription& parts, const std::string& base,
                        const Names& names);
  MaybeError write_form(const PointMap& map, const ListDescription& list, const std::string& base,
                        const Names& names);

  // Returns "std::int64_t".
  std::string long_type() const { return dialect_.integer(Width::k64); }
  // Return the first line of a function, with its bracket.
  std::string point_head(const std::string& base, const Names& names) const;
  std::string rank_head(const std::string& base, const Names& names) const;
  std::string for_head(const std::string& base) const;
  // Returns statements that return -1 if a coordinate is outside of the bounds of the map.
  std::string bounds_check(const PointMap& map, const Names& names) const;
  // Returns the name of the type. Remembers that the code needs it.
  std::string integer(Width width);

  const Dialect& dialect_;
  std::string text_;
  bool needs_wide_ = false, needs_real_ = false;
};

}  // namespace groma::domains
