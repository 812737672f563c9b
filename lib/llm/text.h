// Makes text from servers safe to keep and to show, and separates a model's reasoning from its
// answer.
#pragma once

#include <string>
#include <string_view>

#include "llm/redact.h"

namespace groma::llm {

// Returns the text with every byte that is not UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

// Returns a server's words for a message: one line of at most `most` bytes, filtered by
// groma/harmless.h.
std::string printable_line(std::string_view text, std::size_t most = 300);

// Moves reasoning (<think>...</think>, also without its end mark) from `text` to `reasoning`.
// Reasoning without its begin mark is only moved if `reasoning` is empty, because the server has
// then not separated it.
void move_reasoning_out(std::string* text, std::string* reasoning);

}  // namespace groma::llm
