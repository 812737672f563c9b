// Spelling: finds the nearest names for "did you mean", and joins names for messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace groma {

// Returns true if two words differ at most in the case of their (ASCII) letters.
bool same_letters(std::string_view a, std::string_view b);

// Returns at most `most` candidates that are near to `word`, the nearest first.
// * The measure is the optimal string alignment distance. A difference in case counts half; a word
//   that differs only in case is always near.
// * A namespace that the word leaves out counts half too: `copy` is near to `my::copy`.
// * A candidate that differs in more than a third of its letters (at least one) is not near.
// * Words of more than 64 bytes have no near names.
// * Only the first 4096 candidates of a fitting length are compared.
std::vector<std::string_view> near_names(std::string_view word,
                                         std::span<const std::string_view> candidates,
                                         std::size_t most = 3);

// Returns "`a`, `b` or `c`", or with another conjunction "`a` and `b`". Empty if there are no
// names.
std::string join_names(std::span<const std::string_view> names,
                       std::string_view conjunction = "or");

}  // namespace groma
