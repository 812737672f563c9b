// Listed pieces: the data of a launch as a partition that lists the boxes of each point, for data
// that follows no formula.
#pragma once

#include <optional>

#include "groma/app.h"
#include "recording/events.h"
#include "recording/launch_formulas.h"

namespace groma::app {

// Returns a partition whose piece at a colour is what the point of the launch at that place
// (counted from 0) has for the requirement `from`. `table` gives
// the place of each recorded colour in the launch. The partition has a new name. Returns nullopt if
// the pieces of some points were not seen, or if an application may not have so many boxes.
std::optional<AppPartition> listed_pieces(const Events& events, const Application& app,
                                          const Events::Launch& launch,
                                          const Events::Requirement& from, const ColorTable& table);

}  // namespace groma::app
