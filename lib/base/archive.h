// Archive: writes numbers and words as text and reads them again, to pass values between processes
// of Groma. One description of a value serves both directions: it passes the parts of the value, in
// their order, to an ArchiveWriter or an ArchiveReader.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace groma::archive {

template <typename T>
concept Number = std::integral<T> || std::is_enum_v<T>;

// Writes values as text.
class ArchiveWriter {
 public:
  // `magic` is the first line of the text, with its line end. It identifies the format and its
  // version.
  explicit ArchiveWriter(std::string_view magic) : text_(magic) {}

  template <Number T>
  void operator()(const T& value) {
    text_ += std::to_string(static_cast<std::int64_t>(value));
    text_ += ' ';
  }
  void operator()(const std::string& value) {
    text_ += std::to_string(value.size()) + ':' + value + ' ';
  }
  // Writes the number of elements of a list, `is`, and returns it.
  std::size_t transfer_list_size(std::size_t is) {
    (*this)(is);
    return is;
  }
  void begin_list() {}
  void end_list() { text_.back() = '\n'; }
  bool ok() const { return true; }
  template <typename T>
  void check_at_most(const T&, std::int64_t) {}

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Reads values from any text. The amount that it reads is bounded by the text's size.
class ArchiveReader {
 public:
  // `magic` is the line with which the text must begin. `max_depth` limits the nesting of lists.
  ArchiveReader(std::string_view text, std::string_view magic, int max_depth)
      : text_(text), max_depth_(max_depth) {
    ok_ = text_.starts_with(magic);
    if (ok_) text_.remove_prefix(magic.size());
  }

  template <Number T>
  void operator()(T& value) {
    std::int64_t read = read_integer();
    using Plain = typename std::conditional_t<std::is_enum_v<T>, std::underlying_type<T>,
                                              std::type_identity<T>>::type;
    if (!std::in_range<std::conditional_t<std::same_as<Plain, bool>, std::uint8_t, Plain>>(read) ||
        (std::same_as<Plain, bool> && read > 1)) {
      ok_ = false;
      read = 0;
    }
    value = static_cast<T>(read);
  }
  void operator()(std::string& value) {
    const std::int64_t size = read_integer(':');
    if (size < 0 || static_cast<std::uint64_t>(size) > text_.size()) ok_ = false;
    if (!ok_) return;
    value = text_.substr(0, static_cast<std::size_t>(size));
    text_.remove_prefix(static_cast<std::size_t>(size));
    skip_space();
  }
  // Reads the size of a list. An element takes at least two bytes, which bounds the size.
  std::size_t transfer_list_size(std::size_t) {
    const std::int64_t size = read_integer();
    if (size < 0 || static_cast<std::uint64_t>(size) > text_.size() / 2) ok_ = false;
    return ok_ ? static_cast<std::size_t>(size) : 0;
  }
  void begin_list() { ok_ = ok_ && ++depth_ <= max_depth_; }
  void end_list() { --depth_; }
  template <typename T>
  void check_at_most(const T& value, std::int64_t most) {
    if (static_cast<std::int64_t>(value) > most) ok_ = false;
  }

  // Makes the whole reading fail, for rules that the archive does not know.
  void fail() { ok_ = false; }
  bool ok() const { return ok_; }
  bool is_at_end() const { return text_.empty(); }

 private:
  // Reads the space or the line end behind a value. Notes an error if there is none.
  void skip_space() {
    if (text_.empty() || (text_.front() != ' ' && text_.front() != '\n')) ok_ = false;
    if (ok_) text_.remove_prefix(1);
  }
  // Reads an integer and the character `end` behind it. Returns 0 after an error.
  std::int64_t read_integer(char end = ' ') {
    std::int64_t value = 0;
    if (!ok_) return 0;
    const auto read = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    ok_ = read.ec == std::errc();
    if (!ok_) return 0;
    text_.remove_prefix(static_cast<std::size_t>(read.ptr - text_.data()));
    if (end == ' ') {
      skip_space();
    } else {
      ok_ = !text_.empty() && text_.front() == end;
      if (ok_) text_.remove_prefix(1);
    }
    return ok_ ? value : 0;
  }

  std::string_view text_;
  int max_depth_;
  bool ok_ = false;
  int depth_ = 0;
};

// Writes or reads a list: its size, then each element by each(element).
template <typename Archive, typename T, typename Each>
void transfer_list(Archive& archive, std::vector<T>& items, const Each& each) {
  const std::size_t size = archive.transfer_list_size(items.size());
  archive.begin_list();
  for (std::size_t i = 0; i < size && archive.ok(); ++i) {
    if (i == items.size()) items.emplace_back();
    each(items[i]);
  }
  archive.end_list();
}

}  // namespace groma::archive
