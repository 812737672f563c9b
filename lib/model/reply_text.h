// Low-level parsing of the reply of a language model: reasoning, fenced blocks and JSON objects.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/llm.h"
#include "llm/json.h"
#include "search/lines.h"

namespace groma::tuning {

// Limit on the bytes of a language model's reply. Mappings have a few kilobytes.
inline constexpr std::size_t kMaxReplyBytes = std::size_t{1} << 20;

// Returns the text of a model's reply without the model's reasoning. Returns nullopt and sets `why`
// to the reason if the text is empty or too long.
std::optional<std::string> text_without_reasoning(const llm::ChatReply& reply, std::string* why);

// A fenced block, as in Markdown: text between two lines of ``` or ~~~ (fences).
struct FencedBlock {
  // The first word after the opening marks.
  std::string_view info;
  // The last line above the fence that is not empty.
  std::string_view line_above;
  // The lines between the opening and the closing fence.
  std::string_view body;
  bool closed = false;
};
// Returns the fenced blocks of a text (between lines of ``` or ~~~), in their order. Up to three
// spaces may stand before a fence.
std::vector<FencedBlock> fenced_blocks(std::string_view text);

// Parses `text` as a JSON object. Accepts line ends inside strings. Returns nullopt if it is not an
// object.
std::optional<llm::json> parse_object(std::string_view text);
// Returns the part of a text from the first opening brace to the last closing brace.
std::string_view text_in_outermost_braces(std::string_view text);
// Returns the string of the first complete `"key": "..."` in a JSON text that may be cut off
// anywhere, or nullopt if there is none.
std::optional<std::string> find_string_member(std::string_view text, std::string_view key);

}  // namespace groma::tuning
