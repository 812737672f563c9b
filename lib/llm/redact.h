// Keys taken out of texts, however they are written.
#pragma once

#include <string>
#include <string_view>

namespace groma {

class ChatKey;

// The one way to a key's letters.
struct ChatKeyText {
  static const std::string& of(const ChatKey& key);
};

}  // namespace groma

namespace groma::llm {

// "[key]" wherever the key stands: as it is, as JSON escapes it (also in a text within a text), and
// for its beginning, of at least four letters, at the text's end. Takes time in proportion.
std::string redacted(std::string_view text, std::string_view key);

// The same but for the end, which may go on.
std::string redacted_so_far(std::string_view text, std::string_view key);

// A body of events that may hold the key in pieces. As it was where it does not.
std::string redacted_stream(const std::string& body, std::string_view key);

}  // namespace groma::llm
