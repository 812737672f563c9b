// Makes text from outside safe to print: hidden characters and control sequences are escaped, so
// that a terminal does not obey them.
#include "groma/harmless.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/characters.h"

namespace groma {
namespace {

// How tabs and line ends are shown: as spaces, as escapes such as `\n`, or unchanged.
enum class Blanks { kSpaces, kEscaped, kKept };

bool is_blank(char c) { return c == '\t' || c == '\n' || c == '\r'; }

// Returns the length of the printable ASCII at the front of `text`, which needs no check.
std::size_t plain_length(std::string_view text) {
  const auto end =
      std::find_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; });
  return static_cast<std::size_t>(end - text.begin());
}

// Appends `begin` and the value as hexadecimal digits. fmt::format_to takes ten times as long,
// which shows in long binary texts.
void add_hexadecimal(std::string_view begin, unsigned value, int digits, std::string* shown) {
  *shown += begin;
  while (digits-- > 0) *shown += "0123456789abcdef"[value >> (4U * unsigned(digits)) & 0xFU];
}

// Appends `\u` and four hexadecimal digits. A character beyond U+FFFF becomes two UTF-16 units, as
// in JSON.
void add_escaped(char32_t code, std::string* shown) {
  const auto add = [shown](unsigned unit) { add_hexadecimal("\\u", unit, 4, shown); };
  if (code < 0x10000) return add(code);
  // UTF-16 writes a character beyond U+FFFF as two units, which are added here.
  add(0xD800U + ((code - 0x10000U) >> 10U));
  add(0xDC00U + (code & 0x3FFU));
}

// Returns the text shown for the tab or line end at the front of `text`.
std::string_view shown_blank(std::string_view text, Blanks blanks) {
  const char c = text.front();
  if (blanks == Blanks::kSpaces) return " ";
  if (blanks == Blanks::kEscaped) return c == '\t' ? "\\t" : c == '\n' ? "\\n" : "\\r";
  // A carriage return without a line feed would let the next text overwrite the line in a terminal.
  const bool alone = c == '\r' && !text.substr(1).starts_with('\n');
  return alone ? "\\r" : text.substr(0, 1);
}

// Returns the length of the colour sequence at the front of `text`, or 0 if there is none.
std::size_t color_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != text.npos && text[end] == 'm' ? end + 1 : 0;
}

// Appends the harmless form of the first characters of `text`, which must not be empty. Returns how
// many bytes of `text` were read.
std::size_t add_front(std::string_view text, Blanks blanks, bool keep_colors, std::string* shown) {
  const std::size_t plain = plain_length(text);
  const std::size_t kept = plain == 0 && keep_colors ? color_length(text) : plain;
  if (kept > 0) {
    *shown += text.substr(0, kept);
    return kept;
  }
  if (is_blank(text.front())) {
    *shown += shown_blank(text, blanks);
    return 1;
  }
  const DecodedCharacter character = first_character(text);
  if (character.length == 0) {
    const auto byte = static_cast<unsigned char>(text.front());
    add_hexadecimal("\\x", byte, 2, shown);
    return 1;
  }
  if (is_hidden(character.code)) {
    add_escaped(character.code, shown);
  } else {
    *shown += text.substr(0, character.length);
  }
  return character.length;
}

// Returns the harmless form of the whole text. A byte that is not UTF-8 becomes `\x` and two
// digits.
std::string filtered(std::string_view text, Blanks blanks, bool keep_colors) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) text.remove_prefix(add_front(text, blanks, keep_colors, &shown));
  return shown;
}

}  // namespace

std::string harmless(std::string_view text) { return filtered(text, Blanks::kSpaces, false); }

// Cuts the text to `most_bytes` at a character boundary and appends `...`.
std::string harmless(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return harmless(text);
  // A character of UTF-8 has at most this many bytes after its first.
  constexpr std::size_t kMostOfCharacter = 3;
  std::size_t end = most_bytes;
  const std::size_t least = end - std::min(end, kMostOfCharacter);
  while (end > least && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return harmless(text.substr(0, end)) + "...";
}

std::string visible(std::string_view text) { return filtered(text, Blanks::kEscaped, false); }

std::string harmless_lines(std::string_view text, bool keep_colors) {
  return filtered(text, Blanks::kKept, keep_colors);
}

}  // namespace groma
