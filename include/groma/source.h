// Source: the text of one mapping program, with the name by which messages refer to it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "groma/result.h"

namespace groma {

// Limit on the size of a program that is read. Ordinary programs have a few kilobytes. A generated
// program that names every task of a large application stays below one megabyte. Offsets fit easily
// into 32 bits.
inline constexpr std::size_t kMaxSourceBytes = std::size_t{64} << 20;

// A half-open byte range [begin, end) of a Source.
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// A line and a column, both from 1. A column counts characters (Unicode code points), and a tab is
// one character, so that editors and scripts that split lines agree with it.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  friend bool operator==(const Position&, const Position&) = default;
};

// An immutable text with a name. Cheap to copy (the text is shared), and safe to read from any
// thread.
class Source {
 public:
  Source() : Source("", "") {}
  Source(std::string name, std::string text);

  // Reads a file; `-` is standard input. Fails with kUnreadable if it cannot be read or is a
  // directory. Fails with kTooLarge beyond kMaxSourceBytes, without reading the rest.
  static Result<Source> read(const std::string& path);

  const std::string& name() const { return data_->name; }
  std::string_view text() const { return data_->text; }
  std::string_view text(Range range) const {
    return text().substr(range.begin, range.end - range.begin);
  }

  // Returns the position of the byte at `offset`. It reads at most 64 KB. An offset past the end
  // means the end.
  Position position(std::uint32_t offset) const;
  // The inverse of position(), for tools that give positions. Returns false if the position does
  // not exist.
  bool offset(Position position, std::uint32_t* offset) const;
  // Returns the line that contains `offset`, without its line end.
  Range line_at(std::uint32_t offset) const;

 private:
  struct Data {
    std::string name;
    std::string text;
    // The positions at which every 64 KB of the text begin.
    std::vector<Position> blocks;
  };
  std::shared_ptr<const Data> data_;
};

// Reads a whole file of at most `max_bytes` bytes; `-` is standard input.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

// Reads a file as read_file() does, but one that a program or another person may have made. Fails
// for a link, a pipe or a device instead of waiting for it. `-` is not standard input here.
Result<std::string> read_regular_file(const std::string& path, std::size_t max_bytes);

}  // namespace groma
