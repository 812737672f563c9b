// Quotes text from outside for messages: filtered and cut to kLongestQuote bytes.
#include "machine/quote.h"

#include <fmt/format.h>

#include "groma/harmless.h"

namespace groma {
namespace {

// The largest number of bytes of a quoted text.
constexpr std::size_t kLongestQuote = 60;

}  // namespace

std::string in_quotes(std::string_view text) {
  return fmt::format("`{}`", harmless(text, kLongestQuote));
}

}  // namespace groma
