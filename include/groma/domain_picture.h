// Pictures of domains: the points, their order, and which processor gets which points if the
// processors share them evenly by their ranks, beside a block map over the box around the points.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "groma/domain.h"
#include "groma/result.h"

namespace groma::domains {

// How many points each processor gets.
struct PointShares {
  // The point with the rank r among all points in row-major order (`task.irank` in mappings) goes
  // to processor r * processors / count.
  std::vector<std::int64_t> by_rank;
  // The box around the points is cut into as many blocks as there are processors, each dimension
  // into parts of equal length; a processor gets the points in its block.
  std::vector<std::int64_t> by_box;
  // The parts of each dimension of the box.
  Point box_parts;
  // False if `by_box` was estimated from some of the points, because there are many.
  bool is_exact = true;
};
// Limit on the processors of a picture.
inline constexpr std::int64_t kMaxPictureProcessors = 4096;

// 1 <= processors <= kMaxPictureProcessors.
PointShares share_points(const Domain& domain, std::int64_t processors);
// Returns the largest share as a multiple of the mean one; 0 without points.
double imbalance(const std::vector<std::int64_t>& shares);

struct PictureOptions {
  std::int64_t processors = 16;
  // The domain as the user named it, such as "triangle:n=8", for the title.
  std::string title;
  // The names of the coordinates, for the axes. Empty: the axes have no names.
  std::vector<std::string> axes;
  // The declaration, which a page shows.
  std::string declaration;
};

// Returns an SVG picture of a domain with 1 or 2 dimensions, for light and dark backgrounds. Large
// domains are drawn coarser, and the picture says how much coarser. Fails if the domain has more
// dimensions.
Result<std::string> domain_svg(const Domain& domain, const PictureOptions& options);

// Returns an HTML page that loads nothing from elsewhere: the SVG picture, or, for a domain with 3
// dimensions, a picture that can be turned. Fails if the domain has more than 3 dimensions.
Result<std::string> domain_page(const Domain& domain, const PictureOptions& options);

}  // namespace groma::domains
