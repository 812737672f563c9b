// Finds the pieces of recorded partitions that the launches use.
#pragma once

#include "recording/events.h"

namespace groma::app {

// Drops unused pieces from each partition of which the launches use few pieces, and marks the
// partition (Events::Partition::few_used). A program that reads one row of a matrix may cut the
// matrix into all its rows for that. The embedded runtime would take seconds for a run if it
// examined each row and column separately. Pieces that are cut further are kept.
void drop_unused_pieces(Events& events);

}  // namespace groma::app
