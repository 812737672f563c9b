// Low-level parsing of a model's reply: reasoning, fenced blocks, labels and JSON objects.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/llm.h"
#include "llm/json.h"
#include "search/lines.h"

namespace groma::tuning {

// Limit for a reply, in bytes. Mappings have a few kilobytes.
inline constexpr std::size_t kMaxReplyBytes = std::size_t{1} << 20;

// Returns the text of a reply without the model's reasoning. Returns nullopt and sets `why` if the
// reply is empty or too long.
std::optional<std::string> reply_text(const llm::ChatReply& reply, std::string* why);

// A block of text between two lines of ``` or ~~~, as in Markdown.
struct FencedBlock {
  std::string_view info;    // first word after the opening marks
  std::string_view before;  // last non-empty line above the fence
  std::string_view body;    // the lines between the fences
  bool closed = false;
};
// Returns the blocks between ``` or ~~~, in order. Up to three spaces may precede a mark.
std::vector<FencedBlock> fenced_blocks(std::string_view text);

// Parses `text` as a JSON object; line ends inside strings are accepted.
std::optional<llm::json> parse_object(std::string_view text);
// Returns the part from the first opening brace to the last closing brace.
std::string_view outermost_braces(std::string_view text);
// Returns the value of the first complete `"key": "..."` in a text that may be cut off anywhere.
std::optional<std::string> string_member(std::string_view text, std::string_view key);

}  // namespace groma::tuning
