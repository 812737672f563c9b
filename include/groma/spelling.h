// "Did you mean": the nearest of a set of names, and joining of names for messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace groma {

// Whether two words differ in nothing but the case of their (ASCII) letters.
bool same_letters(std::string_view a, std::string_view b);

// The candidates nearest to `word` by optimal string alignment distance (case counts half, and
// alone is always near), nearest
// first, at most `most`; none that differs in more than a third of its letters (at least one).
// A namespace that the word leaves out counts half, too: `copy` is near `my::copy`.
// Words beyond 64 bytes have no near names. Bounded: of many
// candidates the first 4096 of a fitting length are looked at.
std::vector<std::string_view> near_names(std::string_view word,
                                         std::span<const std::string_view> candidates,
                                         std::size_t most = 3);

// "`a`, `b` or `c`"; with another conjunction "`a` and `b`". Empty for no names.
std::string join_names(std::span<const std::string_view> names,
                       std::string_view conjunction = "or");

}  // namespace groma
