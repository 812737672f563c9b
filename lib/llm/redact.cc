#include "llm/redact.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <vector>

#include "groma/llm.h"
#include "llm/json.h"
#include "llm/sse.h"

namespace groma {

const std::string& ChatKeyText::of(const ChatKey& key) { return key.text_; }

}  // namespace groma

namespace groma::llm {
namespace {

constexpr std::string_view kShown = "[key]";
constexpr std::size_t kShortestEnd = 4;

struct Span {
  std::size_t begin, end;
};

// A letter as a URL may write it, "%2F", begins at `*at`.
bool take_percent(std::string_view text, char letter, std::size_t* at) {
  if (text.size() - *at < 3 || text[*at] != '%') return false;
  unsigned code = 0;
  const char* begin = text.data() + *at + 1;
  if (std::from_chars(begin, begin + 2, code, 16).ptr != begin + 2) return false;
  if (code != static_cast<unsigned char>(letter)) return false;
  *at += 3;
  return true;
}

// A letter as JSON may write it, or a URL, begins at `*at`; a key has neither `\` nor `"` in it.
bool take_letter(std::string_view text, char letter, std::size_t* at) {
  if (take_percent(text, letter, at)) return true;
  std::size_t next = *at;
  while (next < text.size() && text[next] == '\\') ++next;
  if (next < text.size() && text[next] == letter) {
    *at = next + 1;
    return true;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto code = static_cast<unsigned char>(letter);
  const char written[] = {'u', '0', '0', kHex[code / 16U], kHex[code % 16U]};
  if (next == *at || text.size() - next < sizeof written) return false;
  for (const char wanted : written) {
    const char c = text[next++];
    if (c != wanted && (c < 'A' || c > 'F' || c - 'A' + 'a' != wanted)) return false;
  }
  *at = next;
  return true;
}

// Where the key stands; with `ends`, also where the text ends in the middle of it.
std::vector<Span> spans_of(std::string_view text, std::string_view key, bool ends) {
  std::vector<Span> spans;
  if (key.empty()) return spans;
  const char starts[] = {key[0], '\\', '%'};
  const std::string_view either(starts, sizeof starts);
  for (std::size_t begin = 0; (begin = text.find_first_of(either, begin)) != text.npos;) {
    std::size_t end = begin, letters = 0;
    while (letters < key.size() && take_letter(text, key[letters], &end)) ++letters;
    const bool whole = letters == key.size();
    if (whole || (ends && letters >= kShortestEnd && end == text.size())) {
      spans.push_back({begin, end});
      begin = end;
    } else if (text[begin] == '\\') {  // all of a run are tried at once
      begin = std::min(text.find_first_not_of('\\', begin), text.size());
    } else {
      ++begin;
    }
  }
  return spans;
}

std::string without(std::string_view text, const std::vector<Span>& spans) {
  std::string kept;
  std::size_t at = 0;
  for (const Span& span : spans) {
    kept.append(text.substr(at, span.begin - at)).append(kShown);
    at = span.end;
  }
  return kept.append(text.substr(at));
}

// Every text of an event, by its place.
using Texts = std::map<std::string, std::vector<std::string*>>;

void collect(json* value, const std::string& place, Texts* texts) {
  if (value->is_string()) (*texts)[place].push_back(value->get_ptr<std::string*>());
  if (value->is_array()) {
    for (json& item : *value) collect(&item, place + "/", texts);
  } else if (value->is_object()) {
    for (auto& [name, item] : value->items())
      collect(&item, fmt::format("{}/{}", place, name), texts);
  }
}

// The pieces of one text: "[key]" stands where the key began.
bool take_out(const std::vector<std::string*>& pieces, std::string_view key) {
  std::string text;
  for (const std::string* piece : pieces) text += *piece;
  const std::vector<Span> spans = spans_of(text, key, true);
  auto span = spans.begin();
  std::size_t at = 0;
  for (std::string* piece : pieces) {
    std::string kept;
    for (const char c : *piece) {
      while (span != spans.end() && at >= span->end) ++span;
      const bool inside = span != spans.end() && at >= span->begin;
      if (!inside) kept += c;
      if (inside && at == span->begin) kept += kShown;
      ++at;
    }
    *piece = std::move(kept);
  }
  return !spans.empty();
}

}  // namespace

std::string redacted(std::string_view text, std::string_view key) {
  return without(text, spans_of(text, key, true));
}

std::string redacted_so_far(std::string_view text, std::string_view key) {
  return without(text, spans_of(text, key, false));
}

std::string redacted_stream(const std::string& body, std::string_view key) {
  if (key.empty()) return body;
  std::vector<json> events;
  const auto add = [&events](std::string_view data) {
    json value = parse_json(data);
    events.push_back(value.is_discarded() ? json(data) : std::move(value));
  };
  SseParser parser;
  parser.feed(body, add);
  parser.finish(add);
  Texts texts;
  for (json& event : events) {
    if (!event.is_string()) collect(&event, "", &texts);
  }
  bool found = false;
  for (const auto& [place, pieces] : texts) found = take_out(pieces, key) || found;
  if (!found) return body;
  std::string written;
  for (const json& event : events) {
    written += "data: ";
    written += event.is_string() ? redacted(event.get<std::string>(), key) : dump(event);
    written += "\n\n";
  }
  return written;
}

}  // namespace groma::llm
