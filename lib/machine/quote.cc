// Foreign text in messages.
#include "machine/quote.h"

#include <fmt/format.h>

namespace groma {
namespace {

constexpr std::size_t kLongestQuote = 60;

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string out = "`";
  for (const char c : text.substr(0, kLongestQuote)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", byte);
    }
  }
  return out + (text.size() > kLongestQuote ? "...`" : "`");
}

}  // namespace groma
