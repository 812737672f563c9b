// Low-level parsing of the reply of a language model: fenced blocks, JSON objects and reasoning.
#include "model/reply_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "groma/harmless.h"
#include "llm/text.h"

namespace groma::tuning {
namespace {

// Returns the number of ` or ~ with which a line begins, or 0 if the line is not a fence (at least
// three of them). Sets `indent` to the number of spaces in front of them.
std::size_t marks_of(std::string_view line, std::size_t* indent) {
  *indent = std::min(line.find_first_not_of(' '), line.size());
  if (*indent > 3 || *indent == line.size()) return 0;
  const char mark = line[*indent];
  if (mark != '`' && mark != '~') return 0;
  const std::size_t end = std::min(line.find_first_not_of(mark, *indent), line.size());
  return end - *indent >= 3 ? end - *indent : 0;
}

// Replaces line ends and tabs inside the strings of a JSON text by escapes, which models forget to
// write. Drops other control characters inside strings.
std::string with_escapes(std::string_view text) {
  std::string mended;
  mended.reserve(text.size());
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside && c == '\\' && i + 1 < text.size()) {
      mended += c;
      mended += text[++i];
      continue;
    }
    if (c == '"') inside = !inside;
    if (inside && c == '\n') {
      mended += "\\n";
    } else if (inside && c == '\t') {
      mended += "\\t";
    } else if (!inside || static_cast<unsigned char>(c) >= 0x20) {
      mended += c;
    }
  }
  return mended;
}

}  // namespace

// A fenced block ends at a fence of the same character that is at least as long as the opening
// fence. A block without such a fence extends to the end of the text.
std::vector<FencedBlock> fenced_blocks(std::string_view text) {
  std::vector<FencedBlock> fences;
  std::string_view above;
  // The character of the opening fence, ` or ~.
  char mark = 0;
  std::size_t length = 0, body = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    std::size_t indent = 0;
    const std::size_t marks = marks_of(line, &indent);
    const std::string_view rest = marks > 0 ? trimmed(line.substr(indent + marks)) : line;
    if (length == 0) {
      // Inline code on one line is not a fence.
      if (marks > 0 && rest.find('`') == rest.npos) {
        mark = line[indent];
        length = marks;
        body = end;
        fences.push_back({rest.substr(0, rest.find_first_of(" \t{")), above, {}, false});
      } else if (!trimmed(line).empty()) {
        above = trimmed(line);
      }
    } else if (marks >= length && line[indent] == mark && rest.empty()) {
      fences.back().body = text.substr(body, at - body);
      fences.back().closed = true;
      length = 0;
      above = {};
    }
    at = end;
  }
  if (length != 0) fences.back().body = text.substr(std::min(body, text.size()));
  return fences;
}

// Returns an empty text if there is no opening brace before a closing brace.
std::string_view text_in_outermost_braces(std::string_view text) {
  const std::size_t begin = text.find('{'), end = text.rfind('}');
  return begin == text.npos || end == text.npos || end < begin
             ? std::string_view()
             : text.substr(begin, end + 1 - begin);
}

// Parses strict JSON first. If that fails, escapes line ends inside strings and parses again.
std::optional<llm::json> parse_object(std::string_view text) {
  llm::json value = llm::parse_json(text);
  if (value.is_discarded()) value = llm::parse_json(with_escapes(text));
  if (!value.is_object()) return std::nullopt;
  return value;
}

// Searches for the key without parsing the whole JSON text, which may be damaged elsewhere.
std::optional<std::string> find_string_member(std::string_view text, std::string_view key) {
  const std::string quoted = '"' + std::string(key) + '"';
  for (std::size_t at = 0; (at = text.find(quoted, at)) != text.npos;) {
    at += quoted.size();
    std::string_view rest = trimmed(text.substr(at, 64));
    // The same string may occur as a value. Only a key is followed by a colon.
    if (!rest.starts_with(':')) continue;
    rest = trimmed(rest.substr(1));
    if (!rest.starts_with('"')) continue;
    const auto begin = static_cast<std::size_t>(rest.data() - text.data());
    std::size_t end = begin + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2U : 1U;
    if (end >= text.size()) return std::nullopt;
    const std::string json = with_escapes(text.substr(begin, end + 1 - begin));
    const llm::json value = llm::parse_json(json);
    if (value.is_string()) return value.get<std::string>();
    at = end;
  }
  return std::nullopt;
}

// Refuses a reply that has nothing but reasoning: the model then used all its tokens to think.
std::optional<std::string> text_without_reasoning(const llm::ChatReply& reply, std::string* why) {
  std::string text = reply.text, thoughts = reply.reasoning;
  llm::move_reasoning_out(&text, &thoughts);
  if (trimmed(text).empty()) {
    *why = thoughts.empty() ? "it is empty" : "all of it is thoughts; answer sooner";
    return std::nullopt;
  }
  if (text.size() > kMaxReplyBytes) {
    *why = fmt::format("it has {} bytes; a kilobyte or two is enough", text.size());
    return std::nullopt;
  }
  return text;
}

}  // namespace groma::tuning
