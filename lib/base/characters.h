// Decodes characters of UTF-8 and tells which of them a reader cannot see.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace groma {

// A decoded character.
struct DecodedCharacter {
  // The number of bytes of the character in UTF-8. 0 if no valid character begins at that place.
  std::size_t length = 0;
  char32_t code = 0;
};

// Returns how many bytes a character has that begins with this byte; 0: no character begins so.
inline std::size_t character_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  return lead < 0xC2 || lead > 0xF4 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

// Returns the character at the beginning of `text` (RFC 3629: no overlong forms, no surrogates).
inline DecodedCharacter first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (text.empty()) return {};
  const unsigned lead = byte(0);
  const std::size_t length = character_length(static_cast<unsigned char>(text.front()));
  if (length == 0) return {};
  if (length == 1) return {1, lead};
  char32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return overlong || surrogate || code > 0x10FFFF ? DecodedCharacter{}
                                                  : DecodedCharacter{length, code};
}

// Returns true if `c` is a byte of a character, but not its first one.
inline bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The characters from `first` to `last`, both included.
struct CharacterRange {
  char32_t first, last;
};

// Characters that a terminal obeys, or that show nothing: controls, line separators, marks of the
// writing direction, and characters that Unicode calls ignorable. The exceptions are the variation
// selectors up to U+FE0F, which select the picture of the preceding character.
inline constexpr CharacterRange kHidden[] = {
    {0x0, 0x1F},        {0x7F, 0x9F},       {0xAD, 0xAD},      {0x34F, 0x34F},   {0x61C, 0x61C},
    {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180B, 0x180F},  {0x200B, 0x200F}, {0x2028, 0x202E},
    {0x2060, 0x206F},   {0x3164, 0x3164},   {0xFEFF, 0xFEFF},  {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB},
    {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};

// Returns true if the character is in kHidden. Printable ASCII is decided without a search.
inline bool is_hidden(char32_t code) {
  if (code >= 0x20 && code < 0x7F) return false;
  return std::any_of(std::begin(kHidden), std::end(kHidden), [code](const CharacterRange& range) {
    return code >= range.first && code <= range.last;
  });
}

// Returns the offset of the first byte at or after `begin` that is not UTF-8 or begins a hidden
// character. Tabs, and carriage returns before a line end, are ignored. Returns the size of the
// text if there is none.
inline std::size_t find_hidden(std::string_view text, std::size_t begin) {
  while (begin < text.size()) {
    const DecodedCharacter character = first_character(text.substr(begin));
    const bool blank =
        character.code == '\t' ||
        (character.code == '\r' && (begin + 1 == text.size() || text[begin + 1] == '\n'));
    if (character.length == 0 || (is_hidden(character.code) && !blank)) return begin;
    begin += character.length;
  }
  return text.size();
}

}  // namespace groma
