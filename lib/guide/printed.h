// The sentences of the guide as every form for people shows them.
#pragma once

#include <string>
#include <vector>

#include "groma/guide.h"

namespace groma::guide {

// Returns the suggestions of a feedback. A mapping function in a sentence stands below it as a
// formatted block of lines.
std::vector<std::string> printed_suggestions(const GuideFeedback& feedback);

}  // namespace groma::guide
