// Foreign text made safe to keep and show, keys taken out, thoughts told from answers.
#pragma once

#include <string>
#include <string_view>

#include "groma/llm.h"

namespace groma {

// The one way to a key's letters.
struct ChatKeyText {
  static const std::string& of(const ChatKey& key) { return key.text_; }
};

}  // namespace groma

namespace groma::llm {

// What is no UTF-8 becomes U+FFFD, a byte each.
std::string valid_utf8(std::string_view text);

// "[key]" wherever the key stood.
std::string redacted(std::string text, std::string_view key);

// A server's words for a message: one line, printable, bounded.
std::string shown(std::string_view text, std::size_t most = 300);

// Moves thoughts (<think>..</think>, also without its beginning or its end) from `text`.
void split_thoughts(std::string* text, std::string* reasoning);

}  // namespace groma::llm
