// Segments: splits a text into named parts. A mapping is split by its statements, any other text by
// its marks or into its files.
#include "groma/segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "edit/mapping.h"
#include "edit/segment_marks.h"
#include "groma/text_files.h"
#include "syntax/token.h"

namespace groma {
namespace {

using syntax::StatementKind;

// ------------------------------------------------------------------------------ mapping programs

// The names of a mapping's segments, and for each segment a description of what its statements
// decide.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kOfMapping = {{
    {"task", "On which kinds of processor each task runs."},
    {"region",
     "In which memories the regions of each task lie, and whose instances are collected early."},
    {"layout", "How the data of each region lies in its memory."},
    {"limit", "How many instances of a task there are at a time."},
    {"functions", "The machines and functions that `index` and `single` use."},
    {"index", "To which processor each point of an index launch goes."},
    {"single", "To which processor each single task goes."},
    {"other", "Control replication, stealing, and what is printed."},
}};
constexpr std::size_t kTask = 0, kRegion = 1, kLayout = 2, kLimit = 3, kFunctions = 4, kIndex = 5,
                      kSingle = 6, kOther = 7;

// Returns the segment of a mapping (kTask ... kOther) that holds statements of this kind.
std::size_t segment_of(StatementKind kind) {
  switch (kind) {
    case StatementKind::kTask:
      return kTask;
    case StatementKind::kRegion:
    case StatementKind::kCollectMemory:
      return kRegion;
    case StatementKind::kLayout:
      return kLayout;
    case StatementKind::kInstanceLimit:
      return kLimit;
    case StatementKind::kDef:
    case StatementKind::kAssign:
      return kFunctions;
    case StatementKind::kIndexTaskMap:
      return kIndex;
    case StatementKind::kSingleTaskMap:
      return kSingle;
    case StatementKind::kControlReplicate:
    case StatementKind::kTaskSteal:
    case StatementKind::kPrint:
    case StatementKind::kReturn:
    case StatementKind::kWhen:
      break;
  }
  return kOther;
}

// A byte order mark may stand at the beginning of a file.
constexpr std::string_view kBom = "\xEF\xBB\xBF";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\a'; }

// Returns the line without the white space at its beginning.
std::string_view without_indent(std::string_view line) {
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  return line;
}

// is_blank() returns true if the line is empty. says_nothing() returns true if the line is empty or
// only a comment. The line includes its line end.
bool is_blank(std::string_view line) {
  line = without_indent(line);
  return line.empty() || line == "\n";
}
bool says_nothing(std::string_view line) {
  line = without_indent(line);
  return is_blank(line) || line.starts_with('#') || line.starts_with("//");
}

// Returns the beginning of the line that contains `at`, but not less than `least`.
std::size_t line_begin(std::string_view text, std::size_t at, std::size_t least) {
  const std::size_t newline = text.substr(least, at - least).rfind('\n');
  return newline == text.npos ? least : least + newline + 1;
}
// Returns true if a line begins at `at`. A byte order mark before it does not count.
bool begins_line(std::string_view text, std::size_t at) {
  return at == 0 || text[at - 1] == '\n' || (at == kBom.size() && text.starts_with(kBom));
}
// Returns the beginning of the next line, but not more than `most`.
std::size_t line_end(std::string_view text, std::size_t at, std::size_t most) {
  const std::size_t newline = text.substr(at, most - at).find('\n');
  return newline == text.npos ? most : at + newline + 1;
}

// The range of a statement, without the comments above it, and the segment that the statement
// belongs to.
struct StatementRange {
  std::size_t begin, end, segment;
};

// Adds the lines in [begin, end) that the parser could not read but that begin with a statement's
// keyword.
void add_broken(std::string_view text, std::size_t begin, std::size_t end,
                std::vector<StatementRange>& found) {
  std::size_t at = begins_line(text, begin) ? begin : line_end(text, begin, end);
  while (at < end) {
    const std::size_t next = line_end(text, at, end);
    const std::string_view line = without_indent(text.substr(at, next - at));
    std::size_t length = 0;
    while (length < line.size() && (std::isalpha(static_cast<unsigned char>(line[length])) != 0)) {
      ++length;
    }
    const syntax::ReservedWord* word = syntax::find_reserved_word(line.substr(0, length));
    if (word != nullptr && word->kind == syntax::TokenKind::kStatementWord) {
      const auto kind = static_cast<StatementKind>(word->value);
      // `return` and `print` may belong to a function's body.
      if (kind != StatementKind::kReturn && kind != StatementKind::kPrint) {
        found.push_back({at, next, segment_of(kind)});
      }
    }
    at = next;
  }
}

// Returns the ranges of all statements of a program, including damaged ones.
std::vector<StatementRange> stretches_of(const Source& program) {
  const std::string_view text = program.text();
  std::vector<StatementRange> found;
  std::size_t end = 0;
  const edit::EditableMapping mapping(program);
  for (const edit::EditableMapping::ProgramItem& item : mapping.items()) {
    // Skip items that only a damaged statement seems to define, and items that lie within another
    // item.
    if (item.implied || item.range.begin < end) continue;
    add_broken(text, end, item.range.begin, found);
    end = item.end;
    found.push_back({item.range.begin, end, segment_of(item.kind)});
  }
  add_broken(text, end, text.size(), found);
  return found;
}

// Returns the beginning of the comments and empty lines directly above `at`, but not less than
// `least`; `at` if there are none.
std::size_t with_comments(std::string_view text, std::size_t at, std::size_t least) {
  std::size_t begin = line_begin(text, at, least);
  if (!begins_line(text, begin) || !says_nothing(text.substr(begin, at - begin))) return at;
  while (begin > least) {
    const std::size_t above = line_begin(text, begin - 1, least);
    if (!begins_line(text, above) || !says_nothing(text.substr(above, begin - above))) break;
    begin = above;
  }
  return begin;
}

// Returns the text as whole lines, without empty lines at the beginning and the end.
std::string as_lines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t next = line_end(text, 0, text.size());
    if (!is_blank(text.substr(0, next))) break;
    text.remove_prefix(next);
  }
  while (!text.empty() && (is_space(text.back()) || text.back() == '\n')) text.remove_suffix(1);
  return text.empty() ? std::string() : std::string(text) + "\n";
}

// -------------------------------------------------------------------------------------- any text

// Returns the part of the line behind `mark`, which is a text such as "groma: begin", or "\n" if
// nothing follows it. Returns an empty text if the line does not contain the mark.
std::string_view word_after(std::string_view line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  if (at == line.npos) return {};
  line.remove_prefix(at + mark.size());
  return line.empty() ? std::string_view("\n") : line;
}

// Returns true if a line of the text is `groma: file NAME`.
bool has_file_line(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = line_end(text, at, text.size());
    if (!file_name_in_line(text.substr(at, next - at)).empty()) return true;
    at = next;
  }
  return false;
}

// Returns true for the characters of a segment's name.
bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

}  // namespace

namespace edit {

// Reads the name and the description behind `groma: begin`, up to the end of the comment.
SegmentMark segment_mark(std::string_view line) {
  SegmentMark mark;
  const std::string_view end = word_after(line, "groma: end");
  mark.end = !end.empty() && !in_name(end.front());
  std::string_view rest = word_after(line, "groma: begin");
  mark.begin = !rest.empty() && !in_name(rest.front());
  if (!mark.begin) return mark;
  rest = without_indent(rest);
  std::size_t length = 0;
  while (length < rest.size() && in_name(rest[length])) ++length;
  mark.name = rest.substr(0, length);
  rest.remove_prefix(mark.name.size());
  for (std::string_view closing : {"*/", "-->"}) rest = rest.substr(0, rest.find(closing));
  rest = without_indent(rest);
  while (!rest.empty() && (is_space(rest.back()) || rest.back() == '\n')) rest.remove_suffix(1);
  mark.description = rest;
  return mark;
}

// Returns true if a line of the text begins or ends a segment.
bool has_segment_mark(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = line_end(text, 0, text.size());
    const SegmentMark mark = segment_mark(text.substr(0, end));
    if (mark.begin || mark.end) return true;
    text.remove_prefix(end);
  }
  return false;
}

}  // namespace edit

// Splits a mapping: each statement goes to the segment of its kind, with the comments above it. A
// text that is too long goes to `other` as a whole.
Segments Segments::of_mapping(const Source& program) {
  std::string_view text = program.text();
  Segments made;
  std::array<std::string, kOfMapping.size()> pieces;
  const auto add = [&](std::size_t segment, std::size_t begin, std::size_t end) {
    std::string_view piece = text.substr(begin, end - begin);
    if (!begins_line(text, begin)) piece = without_indent(piece);
    while (!piece.empty() && is_space(piece.back())) piece.remove_suffix(1);
    if (piece.empty()) return;
    pieces[segment] += piece;
    if (piece.back() != '\n') pieces[segment] += '\n';
  };
  if (text.size() > kMaxSourceBytes) {
    add(kOther, 0, text.size());
  } else {
    const std::size_t first = text.starts_with(kBom) ? kBom.size() : 0;
    std::size_t begin = first, least = first, segment = kTask;
    for (const StatementRange& stretch : stretches_of(program)) {
      const std::size_t next = with_comments(text, stretch.begin, least);
      add(segment, begin, next);
      begin = next;
      least = stretch.end;
      segment = stretch.segment;
    }
    // Comments after the last statement stay at the end.
    const std::size_t last = with_comments(text, text.size(), least);
    add(segment, begin, last);
    add(kOther, last, text.size());
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    made.segments_.push_back(
        {std::string(kOfMapping[i].first), as_lines(pieces[i]), std::string(kOfMapping[i].second)});
  }
  return made;
}

// Splits a marked text. The text between the segments is kept, including the lines with marks.
Result<Segments> Segments::of_marked(const Source& source) {
  const std::string_view text = source.text();
  const auto failure = [&](std::size_t line, std::string_view what,
                           Error::Code code = Error::Code::kMalformed) {
    return Error{code, fmt::format("{}:{}: {}", source.name(), line, what)};
  };
  if (text.size() > kMaxSourceBytes) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("`{}` has more than {} MB", source.name(), kMaxSourceBytes >> 20)};
  }
  Segments made;
  // The end of that part of the text which has been copied to a segment or to the text between
  // segments.
  std::size_t kept = 0;
  // The number of the line on which the current segment begins, or 0 between segments.
  std::size_t opened = 0;
  std::size_t line = 1;
  const bool has_files = stands_for_files(text);
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t next = line_end(text, at, text.size());
    const edit::SegmentMark mark = edit::segment_mark(text.substr(at, next - at));
    if (mark.begin && mark.end) return failure(line, "a segment cannot begin and end on one line");
    if (mark.begin) {
      const std::string name(mark.name);
      if (opened != 0) {
        return failure(line, fmt::format("`{}` begins within `{}`, which line {} begins", name,
                                         made.segments_.back().name, opened));
      }
      if (name.empty()) return failure(line, "a segment needs a name: `groma: begin NAME`");
      if (made.find(name) != nullptr) {
        return failure(line, fmt::format("there is another segment named `{}`", name));
      }
      if (made.segments_.size() == kMaxSegments) {
        return failure(line, fmt::format("there are more than {} segments", kMaxSegments),
                       Error::Code::kTooLarge);
      }
      opened = line;
      made.segments_.push_back({name, "", std::string(mark.description)});
      made.between_.emplace_back(text.substr(kept, next - kept));
      kept = next;
    } else if (mark.end) {
      if (opened == 0) return failure(line, "no segment begins before this `groma: end`");
      opened = 0;
      made.segments_.back().text = text.substr(kept, at - kept);
      kept = at;
    } else if (opened != 0 && has_files && !file_name_in_line(text.substr(at, next - at)).empty()) {
      return failure(
          opened, fmt::format("`{}` has no `groma: end` in its file", made.segments_.back().name));
    }
    at = next;
  }
  if (opened != 0) {
    return failure(opened, fmt::format("`{}` has no `groma: end`", made.segments_.back().name));
  }
  if (made.segments_.empty()) {
    return Error{Error::Code::kMalformed, fmt::format("`{}` has no marked segments", source.name()),
                 "put a line with `groma: begin NAME` before what may change, one with "
                 "`groma: end` behind it"};
  }
  made.between_.emplace_back(text.substr(kept));
  return made;
}

// A file that is not marked is a segment as a whole. Its line `groma: file NAME` stands before it.
Result<Segments> Segments::of_text(const Source& source) {
  // of_marked() also refuses a text that is too large.
  if (source.text().size() > kMaxSourceBytes || edit::has_segment_mark(source.text())) {
    return of_marked(source);
  }
  auto files = split_files(source.text());
  if (!files) return files.error();
  Segments made;
  made.are_files_ = true;
  const bool has_names = !files->front().name.empty();
  for (NamedText& file : *files) {
    if (!has_names) {
      const std::string_view name = source.name();
      const std::string_view last = name.substr(name.find_last_of('/') + 1);
      file.name = is_text_file_name(last) ? last : "text";
    }
    made.between_.push_back(has_names ? line_before_file(file.name) : "");
    made.segments_.push_back({std::move(file.name), std::move(file.text), ""});
  }
  made.between_.emplace_back();
  return made;
}

const Segment* Segments::find(std::string_view name) const {
  const auto found = std::find_if(segments_.begin(), segments_.end(),
                                  [&](const Segment& segment) { return segment.name == name; });
  return found == segments_.end() ? nullptr : &*found;
}

// Replaces the text of a segment. Refuses a text with marks, which would change the segments.
std::optional<Error> Segments::set(std::string_view name, std::string text) {
  const Segment* found = find(name);
  if (found == nullptr) {
    return Error{Error::Code::kUnknown, fmt::format("no segment is named `{}`", name)};
  }
  if (between_.empty()) {
    text = as_lines(text);
  } else if (edit::has_segment_mark(text)) {
    return Error{Error::Code::kMalformed,
                 fmt::format("the text for segment `{}` has a mark in it", name),
                 "leave out the lines with `groma: begin` and `groma: end`"};
  } else if (has_file_line(text)) {
    return Error{Error::Code::kMalformed,
                 fmt::format("the text for segment `{}` has a line `groma: file NAME`", name),
                 "give each file in a block of its own"};
  } else if (!text.empty() && text.back() != '\n') {
    text += '\n';
  }
  segments_[static_cast<std::size_t>(found - segments_.data())].text = std::move(text);
  return std::nullopt;
}

// Returns the whole text. Marked segments are joined by the text between them, segments of a
// mapping by empty lines.
std::string Segments::text() const {
  std::string all;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const std::string& text = segments_[i].text;
    if (!between_.empty()) {
      all += between_[i];
    } else if (!all.empty() && !text.empty()) {
      all += '\n';
    }
    all += text;
  }
  if (!between_.empty()) all += between_.back();
  return all;
}

}  // namespace groma
