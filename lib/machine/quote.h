// Foreign text in messages: cut and filtered.
#pragma once

#include <string>
#include <string_view>

namespace groma {

// `text` in backticks, at most 60 bytes of it (then `...`), through the filter of groma/harmless.h.
std::string in_quotes(std::string_view text);

}  // namespace groma
