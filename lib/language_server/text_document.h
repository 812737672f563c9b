// TextDocument: the text of an open document, and the conversion between offsets in bytes and the
// positions of the protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "groma/source.h"

namespace groma::language_server {

// The unit in which the `character` of a position counts. Client and server agree on one.
enum class PositionEncoding : std::uint8_t { kUtf8, kUtf16, kUtf32 };
std::string_view name_of(PositionEncoding encoding);

// A position of the protocol. Both numbers count from 0.
struct LinePosition {
  std::size_t line = 0;
  std::size_t character = 0;
  friend bool operator==(const LinePosition&, const LinePosition&) = default;
};

class TextDocument {
 public:
  explicit TextDocument(std::string text = {});

  const std::string& text() const { return text_; }
  std::size_t line_count() const { return line_begins_.size(); }

  // Returns the offset of a position. A character behind the end of its line means the end of the
  // line, and a line behind the last one the end of the text, as the protocol says. A position
  // inside a character means the beginning of the character.
  std::size_t offset_of(LinePosition position, PositionEncoding encoding) const;
  // The inverse of offset_of(). An offset behind the end means the end.
  LinePosition position_of(std::size_t offset, PositionEncoding encoding) const;
  // Returns the line of an offset, without its line end.
  Range line_at(std::size_t offset) const;

  // Replaces the bytes [begin, end) by `text`.
  void replace(std::size_t begin, std::size_t end, std::string_view text);

 private:
  void find_lines();
  // Returns the end of a line, without its line end.
  std::size_t end_of_line(std::size_t line) const;

  std::string text_;
  // The offset of the first byte of each line.
  std::vector<std::size_t> line_begins_;
};

}  // namespace groma::language_server
