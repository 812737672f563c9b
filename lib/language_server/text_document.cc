// Keeps the offsets of the lines, so that positions are converted by looking at one line.
#include "language_server/text_document.h"

#include <algorithm>
#include <utility>

namespace groma::language_server {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// Returns the number of bytes of the character at `at`: one byte and its continuation bytes.
std::size_t bytes_of_character(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && end - at < 4 && is_continuation(text[end])) ++end;
  return end - at;
}

// Returns how much a character of this many bytes counts in a position.
std::size_t units_of_character(std::size_t bytes, PositionEncoding encoding) {
  switch (encoding) {
    case PositionEncoding::kUtf8:
      return bytes;
    case PositionEncoding::kUtf16:
      return bytes == 4 ? 2 : 1;
    case PositionEncoding::kUtf32:
      return 1;
  }
  return 1;
}

}  // namespace

std::string_view name_of(PositionEncoding encoding) {
  constexpr std::string_view kNames[] = {"utf-8", "utf-16", "utf-32"};
  return kNames[static_cast<std::size_t>(encoding)];
}

TextDocument::TextDocument(std::string text) : text_(std::move(text)) { find_lines(); }

// Finds the lines. As in the protocol, a line ends with LF, CR LF or CR.
void TextDocument::find_lines() {
  line_begins_.assign(1, 0);
  for (std::size_t at = text_.find_first_of("\r\n"); at != std::string::npos;
       at = text_.find_first_of("\r\n", at)) {
    const bool pair = text_[at] == '\r' && at + 1 < text_.size() && text_[at + 1] == '\n';
    at += pair ? 2 : 1;
    line_begins_.push_back(at);
  }
}

std::size_t TextDocument::end_of_line(std::size_t line) const {
  if (line + 1 == line_begins_.size()) return text_.size();
  std::size_t end = line_begins_[line + 1] - 1;
  if (text_[end] == '\n' && end > line_begins_[line] && text_[end - 1] == '\r') --end;
  return end;
}

std::size_t TextDocument::offset_of(LinePosition position, PositionEncoding encoding) const {
  if (position.line >= line_begins_.size()) return text_.size();
  std::size_t at = line_begins_[position.line];
  const std::size_t end = end_of_line(position.line);
  std::size_t left = position.character;
  while (at < end) {
    const std::size_t bytes = std::min(bytes_of_character(text_, at), end - at);
    const std::size_t units = units_of_character(bytes, encoding);
    if (units > left) break;
    left -= units;
    at += bytes;
  }
  return at;
}

LinePosition TextDocument::position_of(std::size_t offset, PositionEncoding encoding) const {
  offset = std::min(offset, text_.size());
  const auto after = std::upper_bound(line_begins_.begin(), line_begins_.end(), offset);
  LinePosition position;
  position.line = static_cast<std::size_t>(after - line_begins_.begin()) - 1;
  for (std::size_t at = line_begins_[position.line]; at < offset;) {
    const std::size_t bytes = bytes_of_character(text_, at);
    position.character += units_of_character(bytes, encoding);
    at += bytes;
  }
  return position;
}

Range TextDocument::line_at(std::size_t offset) const {
  const auto after = std::upper_bound(line_begins_.begin(), line_begins_.end(), offset);
  const auto line = static_cast<std::size_t>(after - line_begins_.begin()) - 1;
  return {static_cast<std::uint32_t>(line_begins_[line]),
          static_cast<std::uint32_t>(end_of_line(line))};
}

void TextDocument::replace(std::size_t begin, std::size_t end, std::string_view text) {
  begin = std::min(begin, text_.size());
  end = std::clamp(end, begin, text_.size());
  text_.replace(begin, end - begin, text);
  find_lines();
}

}  // namespace groma::language_server
