// Reads program text, and translates byte offsets to lines and columns.
#include "groma/source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/characters.h"
#include "base/regular_file.h"

namespace groma {
namespace {

// A Source stores the line and column at which every block of this many bytes begins. To find the
// line and column of another byte, it reads at most one block.
constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

// Returns the position after `piece`, which begins at `position`. Columns count characters.
Position behind(Position position, std::string_view piece) {
  const std::size_t line_break = piece.rfind('\n');
  if (line_break != std::string_view::npos) {
    position.line += static_cast<std::uint32_t>(std::count(piece.begin(), piece.end(), '\n'));
    position.column = 1;
    piece.remove_prefix(line_break + 1);
  }
  const auto starts = [](char c) { return !continues_character(c); };
  position.column += static_cast<std::uint32_t>(std::count_if(piece.begin(), piece.end(), starts));
  return position;
}

Error unreadable(const std::string& path, const char* why) {
  return {Error::Code::kUnreadable, fmt::format("cannot read `{}`: {}", path, why)};
}

// Reads the rest of the file and closes it, except standard input. Fails if the file is a directory
// or has more than `max_bytes` bytes.
Result<std::string> read_rest(std::FILE* file, const std::string& path, std::size_t max_bytes) {
  struct stat status {};
  std::string text;
  const char* why = nullptr;
  if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
    why = "it is a directory";
  } else {
    char buffer[1 << 16];
    std::size_t got = 0;
    while (text.size() <= max_bytes && (got = std::fread(buffer, 1, sizeof buffer, file)) > 0) {
      text.append(buffer, got);
    }
    if (std::ferror(file)) why = std::strerror(errno);
  }
  if (file != stdin) std::fclose(file);
  if (why != nullptr) return unreadable(path, why);
  if (text.size() > max_bytes) {
    return Error{
        Error::Code::kTooLarge,
        fmt::format("`{}` has more than {} bytes, the most that is read", path, max_bytes)};
  }
  return text;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  std::FILE* const file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return unreadable(path, std::strerror(errno));
  return read_rest(file, path, max_bytes);
}

// Opens a file without following a link and without waiting for a pipe. Fails if the file is not
// regular. `what` is a verb for messages, such as "read".
Result<int> open_regular_file(const std::string& path, const char* what, int flags) {
  const int file = open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (file < 0) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("cannot {} `{}`: {}", what, path, std::strerror(errno))};
  }
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) return file;
  close(file);
  return Error{Error::Code::kUnreadable, fmt::format("`{}` is not a regular file", path)};
}

Result<std::string> read_regular_file(const std::string& path, std::size_t max_bytes) {
  const auto descriptor = open_regular_file(path, "read", O_RDONLY);
  if (!descriptor) return descriptor.error();
  std::FILE* const file = fdopen(*descriptor, "rb");
  if (file != nullptr) return read_rest(file, path, max_bytes);
  const int code = errno;
  close(*descriptor);
  return unreadable(path, std::strerror(code));
}

// Computes, once, the line and column at which every block of kBlockBytes bytes begins. Copies of a
// Source share the text.
Source::Source(std::string name, std::string text) {
  std::vector<Position> blocks = {Position{}};
  for (std::size_t at = kBlockBytes; at <= text.size(); at += kBlockBytes) {
    blocks.push_back(
        behind(blocks.back(), std::string_view(text).substr(at - kBlockBytes, kBlockBytes)));
  }
  data_ = std::make_shared<const Data>(Data{std::move(name), std::move(text), std::move(blocks)});
}

Result<Source> Source::read(const std::string& path) {
  Result<std::string> text = read_file(path, kMaxSourceBytes);
  if (!text) return text.error();
  return Source(path == "-" ? "<stdin>" : path, std::move(text).value());
}

// Returns line and column of a byte offset, both from 1. An offset beyond the end counts as the
// end.
Position Source::position(std::uint32_t offset) const {
  const std::size_t at = std::min<std::size_t>(offset, text().size());
  const std::size_t block = at / kBlockBytes;
  const std::size_t begin = block * kBlockBytes;
  return behind(data_->blocks[block], text().substr(begin, at - begin));
}

// Sets `*offset` to the byte at a line and column. Returns false if the text has no such line or
// column.
bool Source::offset(Position position, std::uint32_t* offset) const {
  std::size_t at = 0;
  for (std::uint32_t line = 1; line < position.line; ++line) {
    at = text().find('\n', at);
    if (at == std::string_view::npos) return false;
    ++at;
  }
  // No column begins inside a character, so the bytes that continue one are skipped.
  while (at < text().size() && continues_character(text()[at])) ++at;
  for (std::uint32_t column = 1; column < position.column; ++column) {
    if (at >= text().size() || text()[at] == '\n') return false;
    ++at;
    while (at < text().size() && continues_character(text()[at])) ++at;
  }
  *offset = static_cast<std::uint32_t>(at);
  return position.line > 0 && position.column > 0;
}

// Returns the line around a byte offset, without its line end.
Range Source::line_at(std::uint32_t offset) const {
  const std::size_t at = std::min<std::size_t>(offset, text().size());
  const std::size_t before = at == 0 ? std::string_view::npos : text().rfind('\n', at - 1);
  std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  std::size_t end = text().find('\n', at);
  if (end == std::string_view::npos) end = text().size();
  if (end > begin && text()[end - 1] == '\r') --end;
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

}  // namespace groma
