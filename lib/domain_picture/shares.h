// The processor of a point, by its number and by the block of the box in which it lies.
#pragma once

#include <cstdint>
#include <vector>

#include "domain_picture/cells.h"
#include "groma/domain.h"

namespace groma::domains {

// Returns the rank of the first point of each cell among all points in row-major order, as a
// mapping sees it (`task.irank`). Estimated if only some points are looked at.
std::vector<std::int64_t> row_major_ranks(const Domain& domain, const PictureCells& picture);
std::int64_t processor_by_rank(const Domain& domain, std::int64_t processors, std::int64_t rank);
// `parts` has the parts of each dimension of the box (PointShares::box_parts).
std::int64_t processor_by_box(const Domain& domain, const Point& parts, const Point& point);

}  // namespace groma::domains
