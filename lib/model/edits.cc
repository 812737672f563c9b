// Reads and applies the SEARCH/REPLACE edits that language models write.
#include "model/edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>

#include "groma/line_edits.h"
#include "model/reply_text.h"

namespace groma::tuning {
namespace {

constexpr std::size_t kMaxEdits = 64;
// Limit on the lines of a SEARCH text that is searched without regard to white space. Such a search
// is slower.
constexpr std::size_t kMaxSearchLines = 400;

// Returns true if a line begins with a mark of an edit, such as <<<<<<<: the character at least
// five times. Models do not always write seven.
bool is_mark(std::string_view line, char mark) {
  line = trimmed(line);
  return line.size() >= 5 && line.substr(0, 5) == std::string(5, mark);
}

// A part of a text: its position and its length.
using Part = std::pair<std::size_t, std::size_t>;

// Finds the lines of `search` in `text`, ignoring white space at both ends of each line. Returns
// the first two parts of the text that have these lines. Lines are compared by numbers, because
// programs repeat many lines.
std::vector<Part> find_lines(std::string_view text, std::string_view search) {
  const std::vector<std::string_view> all = lines_of(text), wanted = lines_of(search);
  std::vector<Part> parts;
  if (wanted.empty() || wanted.size() > kMaxSearchLines) return parts;
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  std::vector<std::uint32_t> needle, haystack;
  for (const std::string_view line : wanted) {
    needle.push_back(numbers.emplace(trimmed(line), numbers.size() + 1).first->second);
  }
  // A line that is not wanted has the number 0.
  for (const std::string_view line : all) {
    const auto found = numbers.find(trimmed(line));
    haystack.push_back(found == numbers.end() ? 0 : found->second);
  }
  const std::boyer_moore_horspool_searcher searcher(needle.begin(), needle.end());
  for (auto at = haystack.begin(); parts.size() < 2; ++at) {
    at = std::search(at, haystack.end(), searcher);
    if (at == haystack.end()) break;
    const std::string_view* first = &all[static_cast<std::size_t>(at - haystack.begin())];
    const std::string_view last = first[wanted.size() - 1];
    const auto begin = static_cast<std::size_t>(first->data() - text.data());
    parts.emplace_back(begin,
                       static_cast<std::size_t>(last.data() - text.data()) + last.size() - begin);
  }
  return parts;
}

// Finds `search` in `text`: letter for letter where a line begins; else letter for letter anywhere;
// else without regard to white space. Returns the first two parts that are found.
std::vector<Part> find_search(std::string_view text, std::string_view search) {
  std::vector<Part> of_lines, anywhere;
  for (std::size_t at = text.find(search); at != text.npos && of_lines.size() < 2;
       at = text.find(search, at + 1)) {
    if (anywhere.size() < 2) anywhere.emplace_back(at, search.size());
    if (at == 0 || text[at - 1] == '\n') of_lines.emplace_back(at, search.size());
  }
  if (!of_lines.empty()) return of_lines;
  return anywhere.empty() ? find_lines(text, search) : anywhere;
}

}  // namespace

// Reads the marks of the edits line by line, and ignores the text outside the edits.
std::optional<std::vector<SearchReplaceEdit>> parse_edits(std::string_view text, std::string* why) {
  std::vector<SearchReplaceEdit> edits;
  enum class State { kOutside, kSearch, kReplace } state = State::kOutside;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, next - at);
    if (state == State::kOutside && is_mark(line, '<')) {
      state = State::kSearch;
      edits.emplace_back();
      begin = next;
    } else if (state == State::kSearch && is_mark(line, '=')) {
      state = State::kReplace;
      edits.back().search = text.substr(begin, at - begin);
      begin = next;
    } else if (state == State::kReplace && is_mark(line, '>')) {
      state = State::kOutside;
      edits.back().replacement = text.substr(begin, at - begin);
    }
    at = next;
  }
  if (state != State::kOutside) {
    *why = "an edit has no end (`>>>>>>> REPLACE`)";
    return std::nullopt;
  }
  if (edits.size() > kMaxEdits) {
    *why = fmt::format("it has more than {} edits", kMaxEdits);
    return std::nullopt;
  }
  return edits;
}

// Applies the edits in their order. An edit with an empty SEARCH text appends its replacement.
std::optional<std::string> apply_edits(std::string text,
                                       const std::vector<SearchReplaceEdit>& edits,
                                       std::string* why) {
  for (const SearchReplaceEdit& edit : edits) {
    if (text.size() + edit.replacement.size() > kMaxReplyBytes) {
      *why = "the edits make the program too long";
      return std::nullopt;
    }
    // The prompt says that an empty SEARCH adds lines at the end.
    if (trimmed(edit.search).empty()) {
      text += edit.replacement;
      continue;
    }
    const std::vector<Part> found = find_search(text, edit.search);
    if (found.size() != 1) {
      *why = fmt::format("the SEARCH `{}` is {}",
                         one_line(edit.search.substr(0, edit.search.find('\n')), 100),
                         found.empty() ? "not in the program"
                                       : "in more than one place; it needs more lines around it");
      return std::nullopt;
    }
    text.replace(found.front().first, found.front().second, edit.replacement);
  }
  return text;
}

}  // namespace groma::tuning
