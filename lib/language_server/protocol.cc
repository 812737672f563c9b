// Reads and writes the frames and the values of the protocol.
#include "language_server/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/json_bounds.h"
#include "groma/harmless.h"
#include "groma/spelling.h"

namespace groma::language_server {
namespace {

constexpr std::string_view kLengthHeader = "Content-Length:";

// Returns the length that a header gives, or nullopt if it gives none. Other lines are ignored.
std::optional<std::size_t> length_in(std::string_view header) {
  std::optional<std::size_t> length;
  while (!header.empty()) {
    const std::size_t end = std::min(header.find('\n'), header.size());
    std::string_view line = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!same_letters(line.substr(0, kLengthHeader.size()), kLengthHeader)) continue;
    line.remove_prefix(kLengthHeader.size());
    while (line.starts_with(' ')) line.remove_prefix(1);
    std::size_t value = 0;
    const auto [rest, code] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (code != std::errc() || rest != line.data() + line.size()) return std::nullopt;
    length = value;
  }
  return length;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<FrameReader::Frame> FrameReader::next() {
  const std::size_t skipped = std::min(skip_, buffer_.size());
  buffer_.erase(0, skipped);
  skip_ -= skipped;
  if (skip_ > 0 || (in_garbage_ && !skip_garbage())) return std::nullopt;
  // A header ends with an empty line. Lines may end with LF alone.
  const auto head = std::string_view(buffer_).substr(0, kMaxHeaderBytes + 4);
  std::size_t end = head.find("\n\r\n");
  std::size_t begin_of_text = end + 3;
  const std::size_t bare = head.find("\n\n");
  if (bare < end) {
    end = bare;
    begin_of_text = end + 2;
  }
  if (end == std::string::npos) {
    if (buffer_.size() <= kMaxHeaderBytes) return std::nullopt;
    return begin_garbage("a header without an end");
  }
  const auto length = length_in(std::string_view(buffer_).substr(0, end));
  if (!length) {
    buffer_.erase(0, begin_of_text);
    return begin_garbage("the header has no valid Content-Length");
  }
  if (*length > kMaxLanguageMessageBytes) {
    buffer_.erase(0, begin_of_text);
    skip_ = *length;
    return Frame{"", fmt::format("a message of {} bytes; the limit is {}", *length,
                                 kMaxLanguageMessageBytes)};
  }
  if (buffer_.size() - begin_of_text < *length) return std::nullopt;
  Frame frame{buffer_.substr(begin_of_text, *length), ""};
  buffer_.erase(0, begin_of_text + *length);
  return frame;
}

FrameReader::Frame FrameReader::begin_garbage(std::string problem) {
  in_garbage_ = true;
  return {"", std::move(problem)};
}

// The names of headers do not depend on the case of their letters.
bool FrameReader::skip_garbage() {
  const auto found = std::search(buffer_.begin(), buffer_.end(), kLengthHeader.begin(),
                                 kLengthHeader.end(), [](char a, char b) {
                                   return same_letters({&a, 1}, {&b, 1});
                                 });
  const auto header = static_cast<std::size_t>(found - buffer_.begin());
  in_garbage_ = found == buffer_.end();
  // The end of the buffer may be the beginning of a header.
  const std::size_t kept = std::min(buffer_.size(), kLengthHeader.size() - 1);
  buffer_.erase(0, in_garbage_ ? buffer_.size() - kept : header);
  return !in_garbage_;
}

std::string framed(const Json& message) {
  // Hidden characters become escapes of JSON, in which they mean the same.
  const std::string text =
      harmless_lines(message.dump(-1, ' ', false, Json::error_handler_t::replace));
  return fmt::format("Content-Length: {}\r\n\r\n{}", text.size(), text);
}

std::optional<Json> parse_message(std::string_view text, std::string* problem) {
  if (!within_json_bounds(text)) {
    *problem = "the message has too many levels or keys";
    return std::nullopt;
  }
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    *problem = "the message is not JSON in UTF-8";
    return std::nullopt;
  }
  return value;
}

const Json* find(const Json& value, std::initializer_list<const char*> path) {
  const Json* at = &value;
  for (const char* key : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

std::optional<std::string> find_text(const Json& value, std::initializer_list<const char*> path) {
  const Json* found = find(value, path);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<std::int64_t> find_integer(const Json& value,
                                         std::initializer_list<const char*> path) {
  const Json* found = find(value, path);
  if (found == nullptr || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

bool find_flag(const Json& value, std::initializer_list<const char*> path) {
  const Json* found = find(value, path);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

std::optional<LinePosition> find_position(const Json& value,
                                          std::initializer_list<const char*> path) {
  const Json* found = find(value, path);
  if (found == nullptr) return std::nullopt;
  const auto line = find_integer(*found, {"line"});
  const auto character = find_integer(*found, {"character"});
  if (!line || !character || *line < 0 || *character < 0) return std::nullopt;
  return LinePosition{static_cast<std::size_t>(*line), static_cast<std::size_t>(*character)};
}

Json json_of(const TextDocument& document, Range range, PositionEncoding encoding) {
  const auto json = [&](std::size_t offset) {
    const LinePosition position = document.position_of(offset, encoding);
    return Json{{"line", position.line}, {"character", position.character}};
  };
  return {{"start", json(range.begin)}, {"end", json(std::max(range.begin, range.end))}};
}

std::string path_of_uri(std::string_view uri) {
  constexpr std::string_view kScheme = "file://";
  if (!uri.starts_with(kScheme)) return "";
  uri.remove_prefix(kScheme.size());
  // The name of a host stands before the path; only this computer has files here.
  constexpr std::string_view kLocal = "localhost/";
  if (uri.starts_with(kLocal)) uri.remove_prefix(kLocal.size() - 1);
  if (!uri.starts_with('/')) return "";
  std::string path;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    const bool escape = uri[i] == '%' && i + 2 < uri.size() && hex_digit(uri[i + 1]) >= 0 &&
                        hex_digit(uri[i + 2]) >= 0;
    path += escape ? static_cast<char>(hex_digit(uri[i + 1]) * 16 + hex_digit(uri[i + 2])) : uri[i];
    if (escape) i += 2;
  }
  return path.find('\0') == std::string::npos ? path : "";
}

std::string uri_of_path(std::string_view path) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~' || c == '/';
  };
  std::string uri = "file://";
  for (char c : path) {
    if (is_plain(c)) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

}  // namespace groma::language_server
