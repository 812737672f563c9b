// Foreign text made safe to keep and show, thoughts told from answers.
#pragma once

#include <string>
#include <string_view>

#include "llm/redact.h"

namespace groma::llm {

// What is no UTF-8 becomes U+FFFD, a byte each.
std::string valid_utf8(std::string_view text);

// A server's words for a message: one line through the filter of groma/harmless.h, at most `most`
// bytes of it.
std::string shown(std::string_view text, std::size_t most = 300);

// Moves thoughts (<think>..</think>, also without its end) from `text`; without its beginning only
// where no thoughts came apart from it.
void split_thoughts(std::string* text, std::string* reasoning);

}  // namespace groma::llm
