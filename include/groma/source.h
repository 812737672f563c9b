// Source: the text of one mapping program and the name under which messages speak of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "groma/result.h"

namespace groma {

// The longest program that is read. Ordinary programs have a few kilobytes; a generated one that
// names every task of a large application stays under one megabyte. Offsets fit 32 bits with room.
inline constexpr std::size_t kMaxSourceBytes = std::size_t{64} << 20;

// Half-open byte range [begin, end) of a Source.
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// 1-based line and column. A column counts characters (Unicode code points), a tab is one, so that
// an editor and a script that splits lines agree with it.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  friend bool operator==(const Position&, const Position&) = default;
};

// Immutable text with a name. Cheap to copy (the text is shared); safe to read from any thread.
class Source {
 public:
  Source() : Source("", "") {}
  Source(std::string name, std::string text);

  // Reads a file; `-` is standard input. Fails (kUnreadable) on what cannot be read or is a
  // directory, and (kTooLarge) beyond kMaxSourceBytes, before the rest is read.
  static Result<Source> read(const std::string& path);

  const std::string& name() const { return data_->name; }
  std::string_view text() const { return data_->text; }
  std::string_view text(Range range) const {
    return text().substr(range.begin, range.end - range.begin);
  }

  // Where the byte at `offset` stands; at most 64 KB are looked at. Offsets past the end mean the
  // end.
  Position position(std::uint32_t offset) const;
  // The inverse, for tools that hand positions back; false when there is no such place.
  bool offset(Position position, std::uint32_t* offset) const;
  // The line (without its end) in which `offset` stands.
  Range line_at(std::uint32_t offset) const;

 private:
  struct Data {
    std::string name;
    std::string text;
    std::vector<Position> blocks;  // where every 64 KB of the text begin
  };
  std::shared_ptr<const Data> data_;
};

// Reads a whole file, at most `max_bytes`; `-` is standard input.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

// The same for what a program or another person may have put there: fails for a link, a pipe or a
// device instead of waiting for it, and has no standard input.
Result<std::string> read_regular_file(const std::string& path, std::size_t max_bytes);

}  // namespace groma
