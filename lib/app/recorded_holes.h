// Holes in recorded pieces, where there are more than an application may have.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/events.h"

namespace groma::app {

// The number of boxes in all pieces with holes.
std::size_t boxes_in_holes(const Events& events);

// Numbers the points of each region that has pieces with holes and one dimension anew: points that
// belong to the same pieces come to lie side by side, in the order of the first of them. Pieces
// then have far fewer boxes. They keep their sizes and what they have in common, but not the boxes
// around them. Adds a sentence about each such region to `notes`. Leaves a region alone where this
// would take too long. Bounded in time and memory by the size of `events`.
void number_points_anew(Events& events, std::vector<std::string>& notes);

// Forgets the boxes of pieces with holes: only their bounds and sizes stay known.
void forget_holes(Events& events);

}  // namespace groma::app
