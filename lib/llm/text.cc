// Makes text from servers safe to keep and to show, and separates a model's reasoning from its
// answer.
#include "llm/text.h"

#include <algorithm>
#include <array>

#include "base/characters.h"
#include "groma/harmless.h"

namespace groma::llm {
namespace {

// Reads a text character by character. quoted() returns true if the last character that was read is
// inside a comment or a string of a program. A tag inside one belongs to the program.
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

// Returns the first position of the tag, from `at` on, that is not inside a comment or a string.
// `line` has read the text in front of `at`, and reads on up to that position.
std::size_t find_tag(std::string_view text, std::string_view tag, std::size_t at, Line* line) {
  for (;;) {
    const std::size_t found = text.find(tag, at);
    line->read(text.substr(at, found - at));
    if (found == text.npos || !line->quoted()) return found;
    line->read(text.substr(found, 1));
    at = found + 1;
  }
}

// Moves all text between `open` and `close` to `*reasoning`, and drops the tags. Without `close`,
// moves everything up to the end. Returns true if anything was moved.
bool move_out(std::string* text, std::string* reasoning, std::string_view open,
              std::string_view close) {
  const std::string_view all = *text;
  std::string kept;
  // `line` reads only the text that stays in `*text`, not the text that is moved to `*reasoning`.
  Line line;
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

// Each invalid byte is replaced separately by U+FFFD. A valid text is copied unchanged.
std::string valid_utf8(std::string_view text) {
  std::string repaired;
  // The offset in `text` up to which the text was already copied to `repaired`.
  std::size_t kept = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = first_character(text.substr(at)).length;
    if (length == 0) {
      repaired.append(text.substr(kept, at - kept)).append("\xEF\xBF\xBD");
      kept = at + 1;
    }
    at += std::max<std::size_t>(length, 1);
  }
  return repaired.append(text.substr(kept));
}

std::string printable_line(std::string_view text, std::size_t most) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return harmless(text, most);
}

// Some models begin with reasoning but only write its closing tag. The text in front of such a tag
// counts as reasoning, unless the server has sent the reasoning separately.
void move_reasoning_out(std::string* text, std::string* reasoning) {
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
