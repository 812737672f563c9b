// Edits of a text as models write them: a block to search for, marked <<<<<<<, =======, >>>>>>>,
// and what comes in its place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace groma::tuning {

struct Edit {
  std::string_view search, replacement;
};

// Nothing, and `why`, where a mark is missing or there are too many.
std::optional<std::vector<Edit>> edits_in(std::string_view text, std::string* why);
// The text with the edits made; nothing, and `why`, where one is not of it.
std::optional<std::string> edited(std::string text, const std::vector<Edit>& edits,
                                  std::string* why);

}  // namespace groma::tuning
