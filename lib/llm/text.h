// Makes text from servers safe to keep and to show, and separates reasoning from answers.
#pragma once

#include <string>
#include <string_view>

#include "llm/redact.h"

namespace groma::llm {

// Returns the text with every byte that is not UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

// Returns a server's words for a message: one line filtered by groma/harmless.h, at most `most`
// bytes.
std::string printable_line(std::string_view text, std::size_t most = 300);

// Moves reasoning (<think>..</think>, also without the end mark) from `text` to `reasoning`.
// Reasoning without the begin mark is moved only if no reasoning came separately.
void split_thoughts(std::string* text, std::string* reasoning);

}  // namespace groma::llm
