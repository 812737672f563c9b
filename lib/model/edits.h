// Reads and applies edits of a text as language models write them. An edit is a text to search for
// between the marks <<<<<<< and =======, followed by its replacement, which ends with >>>>>>>.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace groma::tuning {

// A text to search for, and the text that replaces it.
struct SearchReplaceEdit {
  std::string_view search, replacement;
};

// Returns the edits in `text`, as views of it. Returns nullopt and sets `why` if a mark is missing
// or there are too many edits.
std::optional<std::vector<SearchReplaceEdit>> parse_edits(std::string_view text, std::string* why);
// Applies the edits to `text` and returns the result. Returns nullopt and sets `why` if a SEARCH
// text is not found, if it is found in several places, or if the result is too long.
std::optional<std::string> apply_edits(std::string text,
                                       const std::vector<SearchReplaceEdit>& edits,
                                       std::string* why);

}  // namespace groma::tuning
