#include "base/harmless.h"

#include <algorithm>

namespace groma {
namespace {

// Bytes at the front of `text` that a terminal obeys instead of showing them: control characters
// (C0, C1), separators of lines, marks that turn the direction of writing. 0: none.
std::size_t obeyed(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0) return 2;
  if (byte(0) != 0xE2) return 0;
  const bool general = byte(1) == 0x80 &&
                       ((byte(2) >= 0xA8 && byte(2) <= 0xAE) || byte(2) == 0x8E || byte(2) == 0x8F);
  const bool isolates = byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
  return general || isolates ? 3 : 0;
}

}  // namespace

std::string harmless(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = obeyed(text);
    shown += length == 0 ? text.front() : ' ';
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return shown;
}

}  // namespace groma
