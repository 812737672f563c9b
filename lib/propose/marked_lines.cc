// Reads the marks `groma: one of` of a text, and makes texts with other values.
#include "propose/marked_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "edit/segment_marks.h"
#include "groma/line_edits.h"
#include "groma/segments.h"
#include "groma/spelling.h"
#include "groma/text_files.h"

namespace groma::tuning {
namespace {

constexpr std::string_view kMark = "groma: one of";

// Returns true if the character may be part of a word or number.
bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Returns the values that follow the words `groma: one of`, up to the end of the comment or line.
std::vector<std::string> values_in(std::string_view rest) {
  for (std::string_view closing : {"*/", "-->"}) rest = rest.substr(0, rest.find(closing));
  std::vector<std::string> values;
  constexpr std::string_view kSpace = " \t\r";
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
    if (rest.empty()) return values;
    const std::string_view word = rest.substr(0, rest.find_first_of(kSpace));
    values.emplace_back(word);
    rest.remove_prefix(word.size());
  }
}

// An occurrence of one of the listed values in a line, as a whole word.
struct ValueOccurrence {
  std::size_t at;
  std::uint32_t value;
};
// Returns the occurrences of the listed values in a line. If several values match at one position,
// takes the longest: `1.5` and not `1`.
std::vector<ValueOccurrence> places_in(std::string_view line,
                                       const std::vector<std::string>& values) {
  std::vector<ValueOccurrence> places;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t longest = 0;
    for (std::size_t v = 0; v < values.size(); ++v) {
      const std::string& value = values[v];
      const bool begins = at == 0 || !in_word(line[at - 1]) || !in_word(value.front());
      const std::size_t end = at + value.size();
      const bool ends = end >= line.size() || !in_word(line[end]) || !in_word(value.back());
      if (value.size() <= longest || !begins || !ends || !line.substr(at).starts_with(value)) {
        continue;
      }
      if (longest > 0) places.pop_back();
      longest = value.size();
      places.push_back({at, static_cast<std::uint32_t>(v)});
    }
    at += std::max<std::size_t>(longest, 1);
  }
  return places;
}

// Returns the number if the word is a decimal integer of 64 bits.
std::optional<std::int64_t> integer_in(std::string_view word) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

}  // namespace

bool MarkedLine::has_rising_integers() const {
  std::optional<std::int64_t> last;
  for (const std::string& value : values) {
    const std::optional<std::int64_t> number = integer_in(value);
    if (!number || (last && *number <= *last)) return false;
    last = number;
  }
  return true;
}

std::string MarkedText::text_of(const Choice& choice) const {
  std::string text = between.front();
  for (std::size_t m = 0; m < marks.size(); ++m) {
    text += marks[m].values[choice[m]] + between[m + 1];
  }
  return text;
}

std::string MarkedText::changes(const Choice& from, const Choice& to) const {
  std::string changes;
  for (std::size_t m = 0; m < marks.size(); ++m) {
    if (from[m] == to[m]) continue;
    changes += fmt::format("{}{}: {} for {}", changes.empty() ? "" : ", ", marks[m].place,
                           marks[m].values[to[m]], marks[m].values[from[m]]);
  }
  return changes.empty() ? "as it is" : changes;
}

Result<MarkedText> read_marks(std::string_view text) {
  const auto failure = [text](std::size_t line, std::string_view what) {
    return Error{Error::Code::kMalformed, fmt::format("{}: {}", name_of_line(text, line), what)};
  };
  MarkedText made;
  std::size_t kept = 0, line = 1;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view all = text.substr(at, end - at);
    const std::size_t found = all.find(kMark);
    if (found != all.npos) {
      MarkedLine mark{name_of_line(text, line), values_in(all.substr(found + kMark.size()))};
      if (mark.values.size() < 2 || mark.values.size() > MarkedText::kMaxValues) {
        return failure(line,
                       fmt::format("`{}` has {} value{}, not 2 to {}", kMark, mark.values.size(),
                                   mark.values.size() == 1 ? "" : "s", MarkedText::kMaxValues));
      }
      if (mark.values.front().ends_with(',')) {
        return failure(line, fmt::format("spaces, not commas, part the values of `{}`", kMark));
      }
      if (made.marks.size() == MarkedText::kMaxMarks) {
        return Error{Error::Code::kTooLarge,
                     fmt::format("line {}: there are more than {} lines with `{}`", line,
                                 MarkedText::kMaxMarks, kMark)};
      }
      const std::vector<ValueOccurrence> places = places_in(all.substr(0, found), mark.values);
      if (places.size() != 1) {
        return failure(line, places.empty()
                                 ? fmt::format("none of the values of `{}` stands before it as a "
                                               "word of its own; spaces part values",
                                               kMark)
                                 : fmt::format("{} of the values of `{}` stand before it, not one",
                                               places.size(), kMark));
      }
      const std::size_t begin = at + places[0].at;
      made.between.emplace_back(text.substr(kept, begin - kept));
      made.chosen.push_back(places[0].value);
      kept = begin + mark.values[places[0].value].size();
      made.marks.push_back(std::move(mark));
    }
    at = end + 1;
  }
  made.between.emplace_back(text.substr(kept));
  return made;
}

namespace {

// Returns the mark that a line seems to misspell, such as "groma: one of" for `Groma: on of`; an
// empty text if there is none. Marks without their colon are recognised only for `one of`, because
// the other words also stand behind `groma` in ordinary comments.
std::string misspelt_mark(std::string_view line) {
  constexpr std::string_view kName = "groma", kSpace = " \t\r";
  constexpr std::array<std::string_view, 1> kValues = {"one of"};
  constexpr std::array<std::string_view, 3> kParts = {"begin", "end", "file"};
  const edit::SegmentMark segment = edit::segment_mark(line);
  const bool is_mark = line.find(kMark) != line.npos || segment.begin || segment.end ||
                       !file_name_in_line(line).empty();
  if (is_mark) return "";
  for (std::size_t at = 0; at + kName.size() <= line.size(); ++at) {
    if (!same_letters(line.substr(at, kName.size()), kName)) continue;
    std::string_view rest = line.substr(at + kName.size());
    const bool has_colon = rest.starts_with(":");
    rest.remove_prefix(std::min(rest.find_first_not_of(has_colon ? ": \t" : kSpace), rest.size()));
    const std::size_t first = std::min(rest.find_first_of(kSpace), rest.size());
    const std::size_t second = std::min(rest.find_first_not_of(kSpace, first), rest.size());
    const std::size_t end = std::min(rest.find_first_of(kSpace, second), rest.size());
    const std::string two =
        fmt::format("{} {}", rest.substr(0, first), rest.substr(second, end - second));
    if (two == kValues.front() || !near_names(two, kValues).empty()) return std::string(kMark);
    if (!has_colon) continue;
    const auto near = near_names(rest.substr(0, first), kParts, 1);
    if (!near.empty()) return fmt::format("{}: {}", kName, near.front());
  }
  return "";
}

}  // namespace

// The error for a text without marked lines shows how to write one.
Result<MarkedText> read_marks_of(const SearchProblem& problem) {
  const Source source(problem.file.empty() ? "text" : problem.file, problem.start);
  if (edit::has_segment_mark(source.text())) {
    if (const auto segments = Segments::of_marked(source); !segments) return segments.error();
  }
  std::size_t number = 0;
  for (const std::string_view line : lines_of(problem.start)) {
    ++number;
    const std::string mark = misspelt_mark(line);
    if (mark.empty()) continue;
    return Error{Error::Code::kMalformed,
                 fmt::format("`{}`: {}: this looks like a mark, but is not one", source.name(),
                             name_of_line(problem.start, number)),
                 fmt::format("a mark is written `{}`; see `groma help tune`", mark)};
  }
  auto text = read_marks(problem.start);
  if (!text) {
    Error error = text.error();
    if (!problem.file.empty()) error.message = fmt::format("`{}`: {}", problem.file, error.message);
    return error;
  }
  if (text->marks.empty()) {
    const std::string of =
        problem.file.empty() ? std::string("the text") : fmt::format("`{}`", problem.file);
    return Error{
        Error::Code::kUnknown, fmt::format("no line of {} has `{}`", of, kMark),
        fmt::format("write behind a value what else may stand there: `n = 4;  // {} 2 4 8`",
                    kMark)};
  }
  return text;
}

}  // namespace groma::tuning
