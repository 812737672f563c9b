// Measures texts in columns of a terminal, and cuts them to a number of columns.

#include "groma/columns.h"

#include <algorithm>
#include <iterator>

#include "base/characters.h"
#include "groma/harmless.h"

namespace groma {
namespace {

// kWide are the characters that most terminals show two columns wide, and kNarrow those that they
// show without any width.
constexpr CharacterRange kWide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},  {0xA960, 0xA97F},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},  {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
constexpr CharacterRange kNarrow[] = {{0x300, 0x36F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};

// Returns true if the character lies in one of the ranges.
template <std::size_t count>
bool in(const CharacterRange (&ranges)[count], char32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges), [code](const CharacterRange& range) {
    return code >= range.first && code <= range.last;
  });
}

std::size_t columns_of(char32_t code) { return in(kWide, code) ? 2 : in(kNarrow, code) ? 0 : 1; }

}  // namespace

// Returns the columns of a text as harmless() shows it.
std::size_t columns_of(std::string_view text) {
  const std::string line = harmless(text);
  std::size_t columns = 0;
  for (std::size_t at = 0; at < line.size();) {
    const DecodedCharacter character = first_character(std::string_view(line).substr(at));
    columns += columns_of(character.code);
    at += character.length;
  }
  return columns;
}

// Returns as many whole characters of the text as fit into the columns.
std::string cut_to_columns(std::string_view text, std::size_t columns) {
  std::string line = harmless(text);
  std::size_t end = 0;
  while (end < line.size()) {
    const DecodedCharacter character = first_character(std::string_view(line).substr(end));
    const std::size_t width = columns_of(character.code);
    if (width > columns) break;
    columns -= width;
    end += character.length;
  }
  line.resize(end);
  return line;
}

}  // namespace groma
