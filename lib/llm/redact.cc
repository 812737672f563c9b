#include "llm/redact.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
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
constexpr std::size_t kLeastLetters = 4;  // of the key's beginning
constexpr std::size_t kMostBefore = 6;    // bytes before a letter that say whether it begins a word
// Before a letter that is yet to come. Texts within texts double them. A longer run is not waited
// for: it would be read again with each piece of a stream.
constexpr std::size_t kMostBackslashes = 64;

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

// Returns true if `text`, the rest of a stream so far, may be the beginning of an escaped letter.
bool may_be_a_letter(std::string_view text) {
  const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  if (text.starts_with('%')) {
    return text.size() < 3 && std::all_of(text.begin() + 1, text.end(), is_hex);
  }
  const std::size_t end = text.find_first_not_of('\\');
  if (end == text.npos) return text.size() <= kMostBackslashes;
  const std::string_view code = text.substr(end);
  return end > 0 && code.front() == 'u' && code.size() < 5 &&
         std::all_of(code.begin() + 1, code.end(), is_hex);
}

// How much of the key stands at a place of a text.
struct Match {
  std::size_t letters = 0, end = 0;
  bool is_open = false;  // the text ended before the next letter could be told
};

Match match_at(std::string_view text, std::string_view key, std::size_t begin) {
  Match match{0, begin, false};
  while (match.letters < key.size() && take_letter(text, key[match.letters], &match.end)) {
    ++match.letters;
  }
  match.is_open = match.letters < key.size() && may_be_a_letter(text.substr(match.end));
  return match;
}

// Returns true if a letter at `at` begins a word: what stands before it is no letter or digit, or
// belongs to an escaped character (`\n`, `%20`, `\u0020`).
bool begins_word(std::string_view text, std::size_t at) {
  const auto before = [&](std::size_t count) { return at < count ? '\0' : text[at - count]; };
  if (std::isalnum(static_cast<unsigned char>(before(1))) == 0) return true;
  return before(2) == '\\' || before(3) == '%' || (before(6) == '\\' && before(5) == 'u');
}

enum class Want {
  kWhole,    // the key
  kAny,      // and its beginnings
  kAnySoFar  // and its beginnings, except the text's end, which may go on
};

// The places where the key stands from `from` on, in order, without overlaps. Lowers `*open` to the
// first place where the key may stand if the text goes on.
std::vector<Span> spans_of(std::string_view text, std::string_view key, Want want,
                           std::size_t from = 0, std::size_t* open = nullptr) {
  std::vector<Span> spans;
  if (key.empty()) return spans;
  const char starts[] = {key[0], '\\', '%'};
  const std::string_view either(starts, sizeof starts);
  for (std::size_t begin = from; (begin = text.find_first_of(either, begin)) != text.npos;) {
    const Match match = match_at(text, key, begin);
    const bool at_end = match.end == text.size();
    bool found = match.letters == key.size();
    if (!found && want != Want::kWhole && match.letters >= kLeastLetters) {
      found = begins_word(text, begin) || at_end;
      if (want == Want::kAnySoFar && match.is_open) found = false;
    }
    if (match.is_open && open != nullptr) *open = std::min(*open, begin);
    if (found && !spans.empty() && begin < spans.back().end) {
      spans.back().end = std::max(spans.back().end, match.end);
    } else if (found) {
      spans.push_back({begin, match.end});
    }
    // A run of backslashes belongs to the letter behind it: all of them were tried at once.
    const bool is_run = text[begin] == '\\';
    begin = is_run ? std::min(text.find_first_not_of('\\', begin), text.size()) : begin + 1;
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

// The pieces of one text: "[key]" stands where the key began. Returns true if it stood there.
bool take_out(const std::vector<std::string*>& pieces, std::string_view key, Want want) {
  std::string text;
  for (const std::string* piece : pieces) text += *piece;
  const std::vector<Span> spans = spans_of(text, key, want);
  if (spans.empty()) return false;
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
  return true;
}

// A member's name that the protocols may have: `choices`, `prompt_tokens`. A key may begin like one
// by chance (`token-abc123`), and without its name the member would not be found.
bool is_plain_name(std::string_view name) {
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == name.npos;
}

// Returns true if a name was changed.
bool redact_names(json* value, std::string_view key) {
  bool changed = false;
  if (value->is_structured()) {
    for (json& item : *value) changed = redact_names(&item, key) || changed;
  }
  if (!value->is_object()) return changed;
  json renamed = json::object();
  bool any = false;
  for (auto& [name, item] : value->items()) {
    std::string kept = is_plain_name(name) ? without_whole_key(name, key) : redacted(name, key);
    any = any || kept != name;
    renamed[std::move(kept)] = std::move(item);
  }
  *value = std::move(renamed);
  return any || changed;
}

bool redact_each(json* value, std::string_view key) {
  bool changed = false;
  if (value->is_string()) {
    auto& text = value->get_ref<std::string&>();
    std::string kept = redacted(text, key);
    changed = kept != text;
    text = std::move(kept);
  } else if (value->is_structured()) {
    for (json& item : *value) changed = redact_each(&item, key) || changed;
  }
  return changed;
}

// Redacts a document of JSON. Returns true if it held anything of the key.
bool redact_document(json* value, std::string_view key) {
  Texts texts;
  collect(value, "", &texts);
  bool changed = false;
  for (const auto& [place, pieces] : texts) {
    changed = (pieces.size() > 1 && take_out(pieces, key, Want::kWhole)) || changed;
  }
  changed = redact_each(value, key) || changed;
  return redact_names(value, key) || changed;
}

bool holds_any(std::string_view text, std::string_view key) {
  return !spans_of(text, key, Want::kAny).empty();
}

}  // namespace

std::string redacted(std::string_view text, std::string_view key) {
  return without(text, spans_of(text, key, Want::kAny));
}

std::string without_whole_key(std::string_view text, std::string_view key) {
  return without(text, spans_of(text, key, Want::kWhole));
}

std::string redacted_body(const std::string& body, std::string_view key) {
  if (key.empty()) return body;
  json value = parse_json(body);
  if (value.is_discarded()) return redacted(body, key);
  // A member that stands there twice is read once, but both are in the body.
  if (!redact_document(&value, key) && !holds_any(body, key)) return body;
  return without_whole_key(dump(value), key);  // a number may be the key
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
  if (events.empty()) return redacted(body, key);
  Texts texts;
  for (json& event : events) {
    if (!event.is_string()) collect(&event, "", &texts);
  }
  bool found = holds_any(body, key);  // also in what is not an event's data
  for (const auto& [place, pieces] : texts) found = take_out(pieces, key, Want::kAny) || found;
  for (json& event : events) found = redact_names(&event, key) || found;
  if (!found) return body;
  std::string written;
  for (const json& event : events) {
    written += "data: ";
    written += event.is_string() ? redacted(event.get<std::string>(), key)
                                 : without_whole_key(dump(event), key);
    written += "\n\n";
  }
  return written;
}

std::string redacted_request(const std::string& body, std::string_view key) {
  if (without_whole_key(body, key) == body) return body;
  json value = parse_json(body);
  Texts texts;
  collect(&value, "", &texts);
  for (const auto& [place, pieces] : texts) {
    for (std::string* piece : pieces) *piece = without_whole_key(*piece, key);
  }
  return dump(value);
}

std::string LiveRedactor::feed(std::string_view more) {
  text_ += more;
  std::size_t open = text_.size();
  std::vector<Span> spans = spans_of(text_, key_, Want::kAnySoFar, shown_, &open);
  while (!spans.empty() && spans.back().end > open) {
    open = std::min(open, spans.back().begin);
    spans.pop_back();
  }
  std::string shown = without(std::string_view(text_).substr(0, open), spans).substr(shown_);
  // Enough stays to tell whether what comes begins a word.
  const std::size_t gone = open - std::min(open, kMostBefore);
  text_.erase(0, gone);
  shown_ = open - gone;
  return shown;
}

std::string LiveRedactor::finish() {
  const std::vector<Span> spans = spans_of(text_, key_, Want::kAny, shown_);
  std::string shown = without(text_, spans).substr(shown_);
  text_.clear();
  shown_ = 0;
  return shown;
}

}  // namespace groma::llm
