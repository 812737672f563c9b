// Reads and applies edits of a text as language models write them. An edit is a block between
// <<<<<<< and ======= to search for, and its replacement, which ends with >>>>>>>.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace groma::tuning {

struct Edit {
  std::string_view search, replacement;
};

// Returns the edits in `text`, as views of it. Returns nullopt and sets `why` if a mark is missing
// or there are too many edits.
std::optional<std::vector<Edit>> edits_in(std::string_view text, std::string* why);
// Returns the text after the edits. Returns nullopt and sets `why` if a search text is not found or
// the result is too long.
std::optional<std::string> edited(std::string text, const std::vector<Edit>& edits,
                                  std::string* why);

}  // namespace groma::tuning
