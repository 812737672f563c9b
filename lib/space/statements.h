// Finds and removes statements of a mapping by key, in texts that may have errors.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace groma::tuning {

// Keys of statements: "Region stencil A, GPU", "def block". If two statements have the same key,
// the first one counts.
using Keys = std::set<std::string, std::less<>>;
// Returns the keys of the statements in a text. `definitions_only`: only functions and globals.
Keys keys_of(std::string_view text, bool definitions_only = false);
// Returns the text without the statements that have these keys.
std::string without(std::string_view text, const Keys& keys);
// The byte range of a statement in a text.
struct Stretch {
  std::size_t begin = 0, end = 0;
};
// Returns the ranges of all statements, in order.
std::vector<Stretch> statements_in(std::string_view text);
// Returns the text without one statement and without the empty line or function comment that the
// statement would leave behind.
std::string without(std::string_view text, Stretch statement);
// Returns true if the text has an IndexTaskMap or SingleTaskMap statement.
bool has_index_map(std::string_view text);
// Returns the first error in the text, with its line; "" if there is none.
std::string mistake_in(std::string_view text);

}  // namespace groma::tuning
