// Quotes text from outside for messages: filtered and cut to kLongestQuote bytes.
#include "machine/quote.h"

#include <fmt/format.h>

#include "groma/harmless.h"

namespace groma {
namespace {

constexpr std::size_t kLongestQuote = 60;  // bytes

}  // namespace

std::string in_quotes(std::string_view text) {
  return fmt::format("`{}`", harmless(text, kLongestQuote));
}

}  // namespace groma
