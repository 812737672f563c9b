// The processor of a point, by its number and by the block of the box in which it lies.
#pragma once

#include <cstdint>

#include "groma/domain.h"

namespace groma::domains {

std::int64_t processor_by_rank(const Domain& domain, std::int64_t processors, std::int64_t k);
// `parts` has the parts of each dimension of the box (PointShares::box_parts).
std::int64_t processor_by_box(const Domain& domain, const Point& parts, const Point& point);

}  // namespace groma::domains
