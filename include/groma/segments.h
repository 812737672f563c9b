// Segments: a text as pieces that are changed one by one, such as the decisions of a mapping
// program (Wei et al., Agent-System Interfaces, Figure A3) or marked parts of a kernel's source.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/result.h"
#include "groma/source.h"

namespace groma {

struct Segment {
  std::string name;   // "task"; of a marked text as its mark says
  std::string text;   // whole lines, or empty
  std::string about;  // what it decides, a sentence for who changes it
};

inline constexpr std::size_t kMaxSegments = 64;

// A value: copies are independent of each other.
class Segments {
 public:
  // A mapping program's: "task", "region", "layout", "limit", "index" (with Machine assignments
  // and functions), "single", "other"; always these, in this order, in which they are joined again,
  // so that definitions stand before their uses. Each statement goes where its first word belongs,
  // a comment with the statement after it. What cannot be read goes, as it is, to the segment of
  // the statement before it.
  static Segments of_mapping(const Source& program);
  // Any text: what stands between a line that has `groma: begin NAME` in it and the next that has
  // `groma: end`. Fails (kMalformed, with the line) where there is none, they overlap, a name
  // stands there twice, or (kTooLarge) there are more than kMaxSegments.
  static Result<Segments> of_marked(const Source& text);

  std::span<const Segment> all() const { return segments_; }
  const Segment* find(std::string_view name) const;
  // Fails (kUnknown) for no such segment; (kMalformed) of a marked text where `text` has a mark in
  // it, since that would change the text's bounds.
  std::optional<Error> set(std::string_view name, std::string text);

  // Of a marked text what stands before the first segment, between two, ..., behind the last, with
  // the marks; of a mapping nothing.
  std::span<const std::string> outside() const { return between_; }

  // All of it again: of a mapping the segments joined, of a marked text in their places.
  std::string text() const;

 private:
  std::vector<Segment> segments_;
  std::vector<std::string> between_;  // before the first, ..., behind the last; empty of a mapping
};

}  // namespace groma
