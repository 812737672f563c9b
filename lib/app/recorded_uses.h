// Which pieces of recorded partitions the launches use.
#pragma once

#include "app/events.h"

namespace groma::app {

// Drops the pieces that no launch uses from each partition of which the launches use few pieces,
// and marks the partition (Events::Partition::few_used). A program that reads one row of a matrix
// may cut the matrix into all its rows for that; an embedded runtime that looked at each row and
// column by itself would take seconds for a run. Pieces that are cut further stay.
void drop_unused_pieces(Events& events);

}  // namespace groma::app
