// The layers of a reply below what it means: thoughts, fences, labels, objects.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/llm.h"
#include "llm/json.h"

namespace groma::tuning {

// The longest reply that is looked at; mappings have a few kilobytes.
inline constexpr std::size_t kMaxReplyBytes = std::size_t{1} << 20;

// The text of a reply without thoughts; nothing, and `why`, of what is empty or too long.
std::optional<std::string> reply_text(const ChatReply& reply, std::string* why);

struct Fence {
  std::string_view info;    // the first word behind the opening marks
  std::string_view before;  // the last line with text above it
  std::string_view body;    // whole lines
  bool closed = false;
};
// Blocks between ``` or ~~~, up to three spaces before them, in order.
std::vector<Fence> fences_of(std::string_view text);

// Without white space at both ends.
std::string_view trimmed(std::string_view text);
// On one line, printable, cut to `most` bytes.
std::string one_line(std::string_view text, std::size_t most);

// The object that `text` is, line ends in its strings taken as they are.
std::optional<llm::json> parse_object(std::string_view text);
// From the first brace to the last.
std::string_view outermost_braces(std::string_view text);
// The value of the first complete `"key": "..."` in a text that may be cut off anywhere.
std::optional<std::string> string_member(std::string_view text, std::string_view key);

}  // namespace groma::tuning
