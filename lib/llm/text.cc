#include "llm/text.h"

#include <algorithm>
#include <array>

namespace groma::llm {
namespace {

bool continues(unsigned char c) { return (c & 0xC0U) == 0x80U; }

// The length of the character at `at` (RFC 3629: no overlong forms, no surrogates); 0 for none.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80U) return 1;
  if (first < 0xC2U || first > 0xF4U || !continues(static_cast<unsigned char>(second))) return 0;
  if (first < 0xE0U) return 2;
  if (!continues(static_cast<unsigned char>(byte(2)))) return 0;
  if (first < 0xF0U) {
    const bool overlong = first == 0xE0U && second < 0xA0U;
    const bool surrogate = first == 0xEDU && second > 0x9FU;
    return overlong || surrogate ? 0 : 3;
  }
  if (!continues(static_cast<unsigned char>(byte(3)))) return 0;
  return (first == 0xF0U && second < 0x90U) || (first == 0xF4U && second > 0x8FU) ? 0 : 4;
}

// A line as far as it is read: whether a comment or a string of a program may have begun in it.
class Line {
 public:
  bool quoted() const { return quoted_; }
  void read(std::string_view text) {
    for (const char c : text) {
      quoted_ = c != '\n' && (quoted_ || c == '#' || c == '"' || (c == '/' && last_ == '/'));
      last_ = c;
    }
  }

 private:
  bool quoted_ = false;
  char last_ = '\n';
};

// Where the tag stands from `at` on, but not quoted; `line` reads what comes before it.
std::size_t find_tag(std::string_view text, std::string_view tag, std::size_t at, Line* line) {
  for (;;) {
    const std::size_t found = text.find(tag, at);
    line->read(text.substr(at, found - at));
    if (found == text.npos || !line->quoted()) return found;
    line->read(text.substr(found, 1));
    at = found + 1;
  }
}

// All from `open` to `close` or to the end; whether there was any.
bool move_out(std::string* text, std::string* reasoning, std::string_view open,
              std::string_view close) {
  const std::string_view all = *text;
  std::string kept;
  Line line;  // of what is kept
  for (std::size_t at = 0;;) {
    const std::size_t begin = find_tag(all, open, at, &line);
    kept += all.substr(at, begin - at);
    if (begin == all.npos) break;
    const std::size_t first = begin + open.size(), end = all.find(close, first);
    *reasoning += all.substr(first, end - first);
    at = end == all.npos ? all.size() : end + close.size();
  }
  const bool any = kept.size() < all.size();
  *text = std::move(kept);
  return any;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string repaired;
  std::size_t kept = 0;  // what stands before is in `repaired`, once that is begun
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    if (length == 0) {
      repaired.append(text.substr(kept, at - kept)).append("\xEF\xBF\xBD");
      kept = at + 1;
    }
    at += std::max<std::size_t>(length, 1);
  }
  return repaired.append(text.substr(kept));
}

std::string shown(std::string_view text, std::size_t most) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const bool cut = text.size() > most;
  if (cut) {
    while (most > 0 && continues(static_cast<unsigned char>(text[most]))) --most;
    text = text.substr(0, most);
  }
  std::string line = valid_utf8(text);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto c = static_cast<unsigned char>(line[i]);
    const bool c1 = c == 0xC2U && static_cast<unsigned char>(line[i + 1]) < 0xA0U;
    if (c < 0x20 || c == 0x7F || c1) line.replace(i, c1 ? 2 : 1, " ");
  }
  return cut ? line + "..." : line;
}

void split_thoughts(std::string* text, std::string* reasoning) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kTags = {
      {{"<think>", "</think>"}, {"<thinking>", "</thinking>"}}};
  const bool come_apart = !reasoning->empty();
  bool any = false;
  for (const auto& [open, close] : kTags) {
    any = move_out(text, reasoning, open, close) || any;
    Line line;
    const std::size_t end = come_apart ? text->npos : find_tag(*text, close, 0, &line);
    if (end == text->npos) continue;
    *reasoning += text->substr(0, end);
    text->erase(0, end + close.size());
    any = true;
  }
  if (any) text->erase(0, text->find_first_not_of(" \r\n"));
}

}  // namespace groma::llm
