// How much of a Feedback is told.
#pragma once

#include "groma/guide.h"

namespace groma {

// Takes out what is beyond `detail`.
void cut_to(GuideDetail detail, Feedback* feedback);

}  // namespace groma
