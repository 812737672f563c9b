// Foreign text made fit to be shown.
#pragma once

#include <string>
#include <string_view>

namespace groma {

// With its control characters replaced by spaces.
std::string harmless(std::string_view text);

}  // namespace groma
