// partition_by_listed_boxes: describes the data of a launch as a partition that lists the boxes of
// each point. This description is for data that follows no formula.
#pragma once

#include <optional>

#include "groma/app.h"
#include "recording/events.h"
#include "recording/launch_formulas.h"

namespace groma::app {

// Returns a partition in which the colour of a piece is a point of the launch, counted from 0. The
// piece holds the data of this point for the requirement `from`. `table` says where the numbers of
// the launch hold the recorded colours. The partition has a new name. Returns nullopt if the piece
// of a point was not seen, or if an application may not have so many boxes.
std::optional<AppPartition> partition_by_listed_boxes(const Events& events, const Application& app,
                                                      const Events::Launch& launch,
                                                      const Events::Requirement& from,
                                                      const ColorTable& table);

}  // namespace groma::app
