// Statements of a mapping by what they are about, in texts that may hold any.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace groma::tuning {

// Of two statements with one key the first counts: "Region stencil A, GPU", "def block".
using Keys = std::set<std::string, std::less<>>;
Keys keys_of(std::string_view text, bool definitions_only = false);
// The text without the statements of these keys.
std::string without(std::string_view text, const Keys& keys);
// Each statement, as it stands there.
struct Stretch {
  std::size_t begin = 0, end = 0;
};
std::vector<Stretch> statements_in(std::string_view text);
// The text without one of them, and without what would be left of its line.
std::string without(std::string_view text, Stretch statement);
bool has_index_map(std::string_view text);
// The first mistake in it, with its line; empty: none.
std::string mistake_in(std::string_view text);

}  // namespace groma::tuning
