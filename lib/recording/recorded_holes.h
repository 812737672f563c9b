// Reduces the number of boxes of recorded pieces with holes if an application may not have so many
// boxes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "recording/events.h"

namespace groma::app {

// Returns the number of boxes in all pieces with holes.
std::size_t count_boxes_of_pieces_with_holes(const Events& events);

// Renumbers the points of each one-dimensional region that has pieces with holes. Points that
// belong to the same pieces become neighbours, in the order of their first points, so that pieces
// have far fewer boxes. Pieces keep their sizes and intersections but not their bounding boxes.
// Adds a sentence about each such region to `notes`. Leaves a region unchanged if this would take
// too long. Time and memory are bounded by the size of `events`.
void renumber_points(Events& events, std::vector<std::string>& notes);

// Drops the boxes of pieces with holes. Their bounds and sizes remain.
void drop_boxes_of_pieces_with_holes(Events& events);

}  // namespace groma::app
