// Segments: a text as pieces that are changed separately, such as the decisions of a mapping
// program (Wei et al., Agent-System Interfaces, Figure A3), the marked parts of a kernel's source,
// or whole files.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/result.h"
#include "groma/source.h"

namespace groma {

// One segment: a piece of a text that is changed separately.
struct Segment {
  // The name of the segment, such as "task". In a marked text, this is the name in its mark. If the
  // segment is a file, it is the name of the file.
  std::string name;
  // The text of the segment: whole lines, or empty.
  std::string text;
  // A sentence that says what the segment decides, for the person or model that changes it.
  std::string about;
};

inline constexpr std::size_t kMaxSegments = 64;

// The segments of a text. A value: copies are independent of each other.
class Segments {
 public:
  // Splits a mapping program. The segments are always "task", "region", "layout", "limit",
  // "functions" (with Machine assignments), "index", "single" and "other". They are joined again in
  // this order, so that definitions precede their uses. The first word of a statement decides its
  // segment. A comment belongs to the statement after it. Text that cannot be read goes unchanged
  // to the segment of the statement before it.
  static Segments of_mapping(const Source& program);
  // Splits any text at its marks. A segment lies between a line that contains `groma: begin NAME`
  // and the next line that contains `groma: end`. Fails with kMalformed (with the line) if there
  // are no marks, segments overlap or a name is repeated. Fails with kTooLarge if there are more
  // than kMaxSegments.
  static Result<Segments> of_marked(const Source& text);

  // Splits any text that is not a mapping. If it has marks, they decide as in of_marked(), also in
  // a text of several files (text_files.h); a segment that extends over two files is an error.
  // Without marks, each file is one segment, which has the name of the file. The only file of a
  // text has the name of `text`, without folders, or "text" if that is not a valid name.
  static Result<Segments> of_text(const Source& text);

  std::span<const Segment> all() const { return segments_; }
  // Returns the segment with this name, or null.
  const Segment* find(std::string_view name) const;
  // Replaces the text of a segment. Fails with kUnknown if the segment does not exist. Unless the
  // segments are those of a mapping, fails with kMalformed if `text` contains a mark or a line
  // `groma: file NAME`, which would change the limits of the segments.
  std::optional<Error> set(std::string_view name, std::string text);

  // Returns the text outside the segments, with the marks: before the first segment, between each
  // two, and after the last. Empty for a mapping program. If the segments are whole files, nothing
  // but the lines `groma: file NAME` stands outside.
  std::span<const std::string> outside() const { return between_; }
  // Returns true if the segments are whole files.
  bool are_files() const { return are_files_; }

  // Returns the whole text: the joined segments of a mapping program, or the marked text with its
  // segments in place.
  std::string text() const;

 private:
  std::vector<Segment> segments_;
  // The text outside the segments. It is empty for a mapping.
  std::vector<std::string> between_;
  bool are_files_ = false;
};

}  // namespace groma
