// Finds the pieces of recorded partitions that the launches use, and drops the others.
#pragma once

#include "recording/events.h"

namespace groma::app {

// Drops unused pieces from each partition of which the launches use few pieces, and marks the
// partition (Events::Partition::has_only_used_pieces). For example, a program that reads one row of
// a matrix may cut the whole matrix into rows. The embedded runtime would take seconds for a run if
// it examined each row. Pieces that an inner partition cuts are kept.
void drop_unused_pieces(Events& events);

}  // namespace groma::app
