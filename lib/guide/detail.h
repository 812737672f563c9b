// Removes the parts of a GuideFeedback that a chosen level of detail leaves out.
#pragma once

#include "groma/guide.h"

namespace groma {

// Removes from `feedback` everything that is more detailed than `detail`.
void remove_details_above(GuideDetail detail, GuideFeedback* feedback);

}  // namespace groma
