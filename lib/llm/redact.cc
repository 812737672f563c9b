// Finds keys in texts, however they are escaped, and replaces them by "[key]".
#include "llm/redact.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>
#include <numeric>
#include <vector>

#include "base/characters.h"
#include "groma/llm.h"
#include "llm/json.h"
#include "llm/sse.h"

namespace groma::llm {

const std::string& ChatKeyText::text_of(const ChatKey& key) { return key.text_; }

namespace {

constexpr std::string_view kShown = "[key]";
// The least number of letters for which a beginning of the key is redacted.
constexpr std::size_t kLeastLetters = 4;
// begins_word() looks at this many bytes in front of a character.
constexpr std::size_t kMostBefore = 6;
// Limit on a run of backslashes at the end of a stream so far. A character of the key may follow
// the run, and JSON within JSON doubles the backslashes. After a longer run, LiveRedactor does not
// wait for that character, since it would have to read the run again with each piece of the stream.
constexpr std::size_t kMostBackslashes = 64;

// A range of bytes in a text.
struct Span {
  std::size_t begin, end;
};

// The digits of base64 in their order.
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Encodes `bytes` in base64 as a part of a longer text, in which `before` other bytes precede them.
// Returns only the characters that do not depend on the neighbouring bytes.
std::string base64_within(std::string_view bytes, std::size_t before) {
  std::string text;
  // The bits of the longer text at which `bytes` begin and end.
  const std::size_t first = before * 8, end = (before + bytes.size()) * 8;
  for (std::size_t bit = (first + 5) / 6 * 6; bit + 6 <= end; bit += 6) {
    unsigned value = 0;
    for (std::size_t i = bit - first; i < bit - first + 6; ++i) {
      const unsigned byte = static_cast<unsigned char>(bytes[i / 8]);
      value = value << 1U | (byte >> (7 - i % 8) & 1U);
    }
    text += kBase64[value];
  }
  return text;
}

// Returns the letter in the form in which parts of a key are compared: in lower case, and `-` and
// `_` of URL-safe base64 as `+` and `/`.
unsigned char folded(char letter) {
  if (letter == '-') return '+';
  if (letter == '_') return '/';
  return static_cast<unsigned char>(std::tolower(static_cast<unsigned char>(letter)));
}

// Returns true if the letter stands at `*at` in the form of a URL, such as "%2F" for "/". If so,
// moves `*at` behind it.
bool take_percent(std::string_view text, char letter, std::size_t* at) {
  if (text.size() - *at < 3 || text[*at] != '%') return false;
  unsigned code = 0;
  const char* begin = text.data() + *at + 1;
  if (std::from_chars(begin, begin + 2, code, 16).ptr != begin + 2) return false;
  if (code != static_cast<unsigned char>(letter)) return false;
  *at += 3;
  return true;
}

// Returns true if the letter stands at `*at`, plain or as JSON or a URL may write it. If so, moves
// `*at` behind it. A key contains neither `\` nor `"`.
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

// Returns true if `text`, which is the rest of a stream so far, may be the beginning of an escaped
// letter.
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

// One character of a text, with the offset of the next one.
struct TextCharacter {
  // The character itself. 0: the character cannot be part of a key.
  char value = 0;
  std::size_t end = 0;
};

// Returns the character that begins at `at`. With `escaped`, escapes of JSON and URLs are decoded.
// Otherwise only the backslashes in front of the character are skipped.
TextCharacter letter_at(std::string_view text, std::size_t at, bool escaped) {
  if (text[at] != '\\' && text[at] != '%') return {text[at], at + 1};
  // Returns the visible ASCII letter that this many hexadecimal digits mean, else 0.
  const auto letter = [text](std::size_t begin, std::size_t digits) {
    unsigned value = 0;
    const std::size_t size = std::min(digits, text.size() - begin);
    const char* const first = text.data() + begin;
    const bool whole = std::from_chars(first, first + size, value, 16).ptr == first + digits;
    return whole && value > ' ' && value <= '~' ? static_cast<char>(value) : '\0';
  };
  if (escaped && text[at] == '%') {
    if (const char value = letter(at + 1, 2); value != 0) return {value, at + 3};
  }
  const std::size_t next = text.find_first_not_of('\\', at);
  if (next == text.npos) return {0, text.size()};
  if (escaped && next > at && text[next] == 'u') {
    if (const char value = letter(next + 1, 4); value != 0) return {value, next + 5};
  }
  return {text[next], next + 1};
}

// How many characters of the key stand at one place of a text, one after the other.
struct Match {
  std::size_t letters = 0, end = 0;
  // True if the text ended within the next character.
  bool is_open = false;
};

// Returns how many characters of the key stand at `begin`, one after the other.
Match match_at(std::string_view text, std::string_view key, std::size_t begin) {
  Match match{0, begin, false};
  while (match.letters < key.size() && take_letter(text, key[match.letters], &match.end)) {
    ++match.letters;
  }
  match.is_open = match.letters < key.size() && may_be_a_letter(text.substr(match.end));
  return match;
}

// Returns true if a letter at `at` begins a word: the byte before it is not a letter or digit, or
// belongs to an escaped character (`\n`, `%20`, `\u0020`).
bool begins_word(std::string_view text, std::size_t at) {
  const auto before = [&](std::size_t count) { return at < count ? '\0' : text[at - count]; };
  if (std::isalnum(static_cast<unsigned char>(before(1))) == 0) return true;
  return before(2) == '\\' || before(3) == '%' || (before(6) == '\\' && before(5) == 'u');
}

// What a search looks for in a text. Each value includes the values before it.
enum class KeySearchScope {
  kWhole,  // The search looks for the whole key.
  kParts,  // The search also looks for parts of the key (KeyForms).
  kAny,    // The search also looks for beginnings of the key.
  // The search is that of kAny, but ignores a beginning of the key at the end of the text, since
  // more text may follow.
  kAnySoFar
};

// Returns the places of parts of the key from `from` on, in order and without overlaps. If `open`
// is not null, lowers `*open` to the first place at which a part may stand if the text goes on.
//
// The letters of one place are not used again for the next place. Of a text that comes in pieces,
// no more than the length of one part therefore has to be kept.
std::vector<Span> spans_of_parts(std::string_view text, const KeyForms& key, bool escaped,
                                 std::size_t from, std::size_t* open) {
  std::vector<Span> spans;
  // The offsets of the last letters that were read, as a ring buffer.
  std::array<std::size_t, kPartLetters> begins{};
  // The last eight letters that were read. The lowest byte has the latest letter.
  std::uint64_t last = 0;
  std::size_t count = 0, at = from;
  // True if a part of the key ends with the last letter that was read.
  bool inside = false;
  while (at < text.size() && (open == nullptr || !may_be_a_letter(text.substr(at)))) {
    const TextCharacter letter = letter_at(text, at, escaped);
    // A letter that occurs in no part of the key ends every match. Most letters of a text are such
    // letters, so this check makes the search fast.
    if (!key.occurs_in_some_part(letter.value)) {
      count = 0;
      inside = false;
      at = letter.end;
      continue;
    }
    last = last << 8U | folded(letter.value);
    begins[count++ % kPartLetters] = at;
    const bool found = count >= kPartLetters && key.has_part(last);
    if (found && inside) spans.back().end = letter.end;
    if (found && !inside) spans.push_back({begins[count % kPartLetters], letter.end});
    if (!found && inside) {
      begins[0] = at;
      count = 1;
    }
    inside = found;
    at = letter.end;
  }
  if (open == nullptr) return spans;
  *open = std::min(*open, at);
  if (inside) {
    if (key.begins_part(last, kPartLetters - 1)) *open = std::min(*open, spans.back().begin);
    return spans;
  }
  for (std::size_t some = std::min(count, kPartLetters - 1); some > 0; --some) {
    if (!key.begins_part(last, some)) continue;
    *open = std::min(*open, begins[(count - some) % kPartLetters]);
    break;
  }
  return spans;
}

// Returns both lists as one list, in order and without overlaps.
std::vector<Span> joined(const std::vector<Span>& a, const std::vector<Span>& b) {
  std::vector<Span> all, spans;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all),
             [](const Span& x, const Span& y) { return x.begin < y.begin; });
  for (const Span& span : all) {
    if (!spans.empty() && span.begin < spans.back().end) {
      spans.back().end = std::max(spans.back().end, span.end);
    } else {
      spans.push_back(span);
    }
  }
  return spans;
}

// Returns the places of the whole key from `from` on and, if `want` asks for them, of its
// beginnings. The places are in order and do not overlap. If `open` is not null, lowers `*open` to
// the first place at which the key may stand if the text goes on.
std::vector<Span> spans_of_key(std::string_view text, std::string_view key, KeySearchScope want,
                               std::size_t from, std::size_t* open) {
  std::vector<Span> spans;
  if (key.empty()) return spans;
  const char starts[] = {key[0], '\\', '%'};
  const std::string_view either(starts, sizeof starts);
  for (std::size_t begin = from; (begin = text.find_first_of(either, begin)) != text.npos;) {
    const Match match = match_at(text, key, begin);
    const bool at_end = match.end == text.size();
    bool found = match.letters == key.size();
    if (!found && want >= KeySearchScope::kAny && match.letters >= kLeastLetters) {
      found = begins_word(text, begin) || at_end;
      if (want == KeySearchScope::kAnySoFar && match.is_open) found = false;
    }
    if (match.is_open && open != nullptr) *open = std::min(*open, begin);
    if (found && !spans.empty() && begin < spans.back().end) {
      spans.back().end = std::max(spans.back().end, match.end);
    } else if (found) {
      spans.push_back({begin, match.end});
    }
    // A run of backslashes belongs to the letter behind it. match_at() has tried the whole run.
    const bool is_run = text[begin] == '\\';
    begin = is_run ? std::min(text.find_first_not_of('\\', begin), text.size()) : begin + 1;
  }
  return spans;
}

// Returns all places of the key and of its parts that `want` asks for, if no hidden characters
// stand between their characters.
std::vector<Span> plain_spans_of(std::string_view text, const KeyForms& key, KeySearchScope want,
                                 std::size_t from, std::size_t* open) {
  std::vector<Span> spans = spans_of_key(text, key.text(), want, from, open);
  if (want == KeySearchScope::kWhole || !key.has_parts()) return spans;
  spans = joined(spans, spans_of_parts(text, key, true, from, open));
  // Search once more for parts of the secret key, this time without decoding escapes: in `%aB`, the
  // characters `aB` may be a part of the key and not the code of an escaped letter.
  return joined(spans, spans_of_parts(text, key, false, from, open));
}

// Returns the length of the hidden character at the beginning of `text`, plain or as JSON writes it
// (`\u200b`). Returns 0 if there is none. If the text ends within a character, that character
// counts as hidden. Blanks do not count as hidden.
std::size_t hidden_length(std::string_view text) {
  const auto is_between = [](char32_t code) {
    return is_hidden(code) && code != '\t' && code != '\n' && code != '\r';
  };
  const DecodedCharacter character = first_character(text);
  if (character.length > 0 && character.code != '\\') {
    return is_between(character.code) ? character.length : 0;
  }
  if (character.length == 0) {
    const std::size_t length = character_length(static_cast<unsigned char>(text.front()));
    return text.size() < length ? text.size() : 0;
  }
  text = text.substr(0, kMostBackslashes + 5);
  const std::size_t next = text.find_first_not_of('\\');
  if (next == text.npos || text[next] != 'u' || text.size() - next < 5) return 0;
  unsigned code = 0;
  const char* const first = text.data() + next + 1;
  return std::from_chars(first, first + 4, code, 16).ptr == first + 4 && is_between(code) ? next + 5
                                                                                          : 0;
}

// Returns all places of the key and of its parts that `want` asks for, also if hidden characters
// stand between their characters. For this, the text is searched a second time without its hidden
// characters.
std::vector<Span> spans_of(std::string_view text, const KeyForms& key, KeySearchScope want,
                           std::size_t from = 0, std::size_t* open = nullptr) {
  std::vector<Span> spans = plain_spans_of(text, key, want, from, open);
  std::size_t at = 0;
  while (at < text.size() && hidden_length(text.substr(at)) == 0) ++at;
  if (at == text.size()) return spans;
  std::string visible(text.substr(0, at));
  // For each byte of `visible`, its offset in `text`.
  std::vector<std::size_t> places(at);
  std::iota(places.begin(), places.end(), std::size_t{0});
  while (at < text.size()) {
    const std::size_t hidden = hidden_length(text.substr(at));
    if (hidden == 0) {
      places.push_back(at);
      visible += text[at];
    }
    at += std::max<std::size_t>(hidden, 1);
  }
  const auto begin = static_cast<std::size_t>(std::lower_bound(places.begin(), places.end(), from) -
                                              places.begin());
  std::size_t visible_open = visible.size();
  std::vector<Span> more =
      plain_spans_of(visible, key, want, begin, open == nullptr ? nullptr : &visible_open);
  for (Span& span : more) span = {places[span.begin], places[span.end - 1] + 1};
  if (open != nullptr && visible_open < visible.size()) {
    *open = std::min(*open, places[visible_open]);
  }
  return joined(spans, more);
}

// Returns the text with "[key]" in place of each span.
std::string without(std::string_view text, const std::vector<Span>& spans) {
  std::string kept;
  std::size_t at = 0;
  for (const Span& span : spans) {
    kept.append(text.substr(at, span.begin - at)).append(kShown);
    at = span.end;
  }
  return kept.append(text.substr(at));
}

// The strings in an event or a JSON document, by their path in it. The items of one list have the
// same path.
using Texts = std::map<std::string, std::vector<std::string*>>;

// Adds every string within the value under its path, such as "/choices//delta/content".
void collect(json* value, const std::string& place, Texts* texts) {
  if (value->is_string()) (*texts)[place].push_back(value->get_ptr<std::string*>());
  if (value->is_array()) {
    for (json& item : *value) collect(&item, place + "/", texts);
  } else if (value->is_object()) {
    for (auto& [name, item] : value->items())
      collect(&item, fmt::format("{}/{}", place, name), texts);
  }
}

// Redacts the pieces of one text as if they were joined. "[key]" replaces the key in the piece in
// which the key begins.
// Returns true if anything was found.
bool take_out(const std::vector<std::string*>& pieces, const KeyForms& key, KeySearchScope want) {
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

// Returns true if the name of a member may belong to the protocol, such as `choices`. Such a name
// is kept even if the key begins with it (`token-abc123`), because readers look for the member by
// its name.
bool is_plain_name(std::string_view name) {
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == name.npos;
}

// Redacts the names of all members. Returns true if a name was changed.
bool redact_names(json* value, const KeyForms& key) {
  bool changed = false;
  if (value->is_structured()) {
    for (json& item : *value) changed = redact_names(&item, key) || changed;
  }
  if (!value->is_object()) return changed;
  json renamed = json::object();
  bool any = false;
  for (auto& [name, item] : value->items()) {
    std::string kept = without(
        name,
        spans_of(name, key, is_plain_name(name) ? KeySearchScope::kParts : KeySearchScope::kAny));
    any = any || kept != name;
    renamed[std::move(kept)] = std::move(item);
  }
  *value = std::move(renamed);
  return any || changed;
}

// Redacts every text within the value by itself. Returns true if a text was changed.
bool redact_each(json* value, const KeyForms& key) {
  bool changed = false;
  if (value->is_string()) {
    auto& text = value->get_ref<std::string&>();
    std::string kept = without(text, spans_of(text, key, KeySearchScope::kAny));
    changed = kept != text;
    text = std::move(kept);
  } else if (value->is_structured()) {
    for (json& item : *value) changed = redact_each(&item, key) || changed;
  }
  return changed;
}

// Redacts a JSON document. Returns true if the document contained anything of the key.
bool redact_document(json* value, const KeyForms& key) {
  Texts texts;
  collect(value, "", &texts);
  bool changed = false;
  for (const auto& [place, pieces] : texts) {
    changed = (pieces.size() > 1 && take_out(pieces, key, KeySearchScope::kParts)) || changed;
  }
  changed = redact_each(value, key) || changed;
  return redact_names(value, key) || changed;
}

// Returns true if the text contains the key, a beginning of it or a part of it.
bool holds_any(std::string_view text, const KeyForms& key) {
  return !spans_of(text, key, KeySearchScope::kAny).empty();
}

}  // namespace

// Collects every part of the key and of its base64. Within a longer text the key has one of three
// alignments, and each alignment gives other base64.
KeyForms::KeyForms(std::string_view key) : text_(key) {
  if (key.size() < kPartLetters) return;
  for (const std::string& form :
       {text_, base64_within(key, 0), base64_within(key, 1), base64_within(key, 2)}) {
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < form.size(); ++i) {
      last = last << 8U | folded(form[i]);
      letters_.set(folded(form[i]));
      if (i + 1 >= kPartLetters) parts_.push_back(last);
    }
  }
  std::sort(parts_.begin(), parts_.end());
}

bool KeyForms::occurs_in_some_part(char letter) const { return letters_[folded(letter)]; }

bool KeyForms::has_part(std::uint64_t letters) const {
  return std::binary_search(parts_.begin(), parts_.end(), letters);
}

// The parts of the key are sorted, so parts that begin with the same characters are adjacent.
bool KeyForms::begins_part(std::uint64_t letters, std::size_t count) const {
  const std::size_t missing = 8 * (kPartLetters - count);
  const std::uint64_t least = letters << missing;
  const auto found = std::lower_bound(parts_.begin(), parts_.end(), least);
  return found != parts_.end() && *found >> missing == least >> missing;
}

std::string redacted(std::string_view text, std::string_view key) {
  return without(text, spans_of(text, KeyForms(key), KeySearchScope::kAny));
}

std::string without_whole_key(std::string_view text, std::string_view key) {
  return without(text, spans_of_key(text, key, KeySearchScope::kWhole, 0, nullptr));
}

// Returns the body unchanged if it contains nothing of the key.
std::string redacted_body(const std::string& body, std::string_view key) {
  if (key.empty()) return body;
  json value = parse_json(body);
  if (value.is_discarded()) return redacted(body, key);
  // The body itself is searched, too: of two members with one name, the parser keeps only one.
  const KeyForms forms(key);
  if (!redact_document(&value, forms) && !holds_any(body, forms)) return body;
  const std::string text = dump(value);
  // A JSON number may also contain the key, so the text of the whole document is searched.
  return without(text, spans_of(text, forms, KeySearchScope::kParts));
}

// A stream sends a text in pieces, so the strings with the same path in all events are joined
// before the search.
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
  const KeyForms forms(key);
  // This search also covers the lines of the stream that are not data.
  bool found = holds_any(body, forms);
  for (const auto& [place, pieces] : texts)
    found = take_out(pieces, forms, KeySearchScope::kAny) || found;
  for (json& event : events) found = redact_names(&event, forms) || found;
  if (!found) return body;
  std::string written;
  for (const json& event : events) {
    written += "data: ";
    const std::string text = event.is_string() ? event.get<std::string>() : dump(event);
    written += without(
        text,
        spans_of(text, forms, event.is_string() ? KeySearchScope::kAny : KeySearchScope::kParts));
    written += "\n\n";
  }
  return written;
}

// Returns the body unchanged if it does not contain the key.
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

// Returns the new text up to the first place at which the key may begin. The rest is held back.
std::string LiveRedactor::feed(std::string_view more) {
  constexpr std::size_t kMostPerLetter = 8, kMostBeside = 1024;
  const std::size_t held = text_.size() - shown_;
  text_ += more;
  // The amount of text that is held back is limited, for example if parts of the key follow each
  // other without end.
  if (held > kMostPerLetter * key_.text().size() + kMostBeside) return finish();
  std::size_t open = text_.size();
  std::vector<Span> spans = spans_of(text_, key_, KeySearchScope::kAnySoFar, shown_, &open);
  while (!spans.empty() && spans.back().end > open) {
    open = std::min(open, spans.back().begin);
    spans.pop_back();
  }
  std::string shown = without(std::string_view(text_).substr(0, open), spans).substr(shown_);
  // Keep enough bytes to decide whether the next letter begins a word.
  const std::size_t gone = open - std::min(open, kMostBefore);
  text_.erase(0, gone);
  shown_ = open - gone;
  return shown;
}

// Returns the text that was held back. If the text ends with a beginning of the key, that is
// redacted.
std::string LiveRedactor::finish() {
  const std::vector<Span> spans = spans_of(text_, key_, KeySearchScope::kAny, shown_);
  std::string shown = without(text_, spans).substr(shown_);
  text_.clear();
  shown_ = 0;
  return shown;
}

}  // namespace groma::llm
