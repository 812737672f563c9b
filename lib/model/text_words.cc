// Describes a text that is not a mapping for the prompt of a language model.
#include "model/text_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "groma/line_edits.h"
#include "search/lines.h"

namespace groma::tuning {
namespace {

constexpr std::size_t kMaxSurroundings = 12'000, kMaxHardware = 4'000, kShownKnowledge = 8'000;
// The part of the surroundings that is kept for the lines next to the segments.
constexpr std::size_t kNearPart = 3;
// The limit on the work of line_edits(), and the lines of context around a difference.
constexpr std::size_t kMaxCells = 4'000'000, kContextLines = 2;
// The weight of the words of the text with which quotations are chosen.
constexpr double kOfStart = 0.3;

// Returns the beginning of a text that has more than `most` bytes, and says what is left out.
std::string beginning_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  return fmt::format("{}\n(the other {} bytes are left out)", text.substr(0, most),
                     text.size() - most);
}

// Returns `text` cut to whole lines: its last lines if `at_end`, or its first lines, at most `most`
// bytes.
std::string_view whole_lines(std::string_view text, std::size_t most, bool at_end) {
  if (text.size() <= most) return text;
  if (at_end) {
    const std::string_view end = text.substr(text.size() - most);
    const std::size_t newline = end.find('\n');
    return newline == end.npos ? end : end.substr(newline + 1);
  }
  const std::size_t newline = text.substr(0, most).rfind('\n');
  return text.substr(0, newline == text.npos ? most : newline + 1);
}

}  // namespace

QueryWords words_of_interest(const SearchProblem& problem) {
  QueryWords query;
  add_query_words(problem.about, 1, &query);
  return query;
}

void add_about_text(Prompt& prompt, const SearchProblem& problem, const QueryWords& query) {
  const std::string about = problem.about.empty()
                                ? "a program"
                                : beginning_of(strip_directories(problem.about), kMaxAboutBytes);
  prompt.add_user_text("ABOUT THE TEXT\n" + about + "\n\n");
  if (!problem.hardware.empty()) {
    prompt.add_user_text(
        fmt::format("THE MACHINE, as a command on it printed\n{}\n\n",
                    trimmed(beginning_of(strip_directories(problem.hardware), kMaxHardware))),
        RemovalStage::kApp);
  }
  if (problem.knowledge.empty()) return;
  // Documents have few of the names of a program, so all its words count a little.
  QueryWords wider = query;
  add_query_words(problem.start, kOfStart, &wider);
  const std::string quoted = quote_documents(problem.knowledge, kShownKnowledge, wider);
  if (quoted.empty()) return;
  prompt.add_user_text(
      "KNOWLEDGE, quoted from documents. It is general; what is said about the text prevails.\n" +
          quoted,
      RemovalStage::kKnowledge);
}

void add_text_outside_segments(Prompt& prompt, const SearchProblem& problem) {
  if (problem.is_mapping()) return;
  const Result<Segments> segments = segments_of(problem, problem.start);
  if (!segments.ok() || segments->outside().empty() || segments->are_files()) return;
  QueryWords query;
  for (const Segment& segment : segments->all()) add_query_words(segment.text, 1, &query);
  // Each text outside the segments gets the same number of bytes.
  const std::span<const std::string> outside = segments->outside();
  const std::size_t most = kMaxSurroundings / outside.size();
  std::string text;
  for (std::size_t i = 0; i < outside.size(); ++i) {
    std::string_view piece = outside[i];
    const bool first = i == 0, last = i + 1 == outside.size();
    if (piece.size() > most) {
      // The beginning follows a segment, and the end stands before the next one.
      const std::size_t near = most / kNearPart;
      const std::string_view begins = first ? std::string_view() : whole_lines(piece, near, false);
      piece.remove_prefix(begins.size());
      const std::string_view ends = last ? std::string_view() : whole_lines(piece, near, true);
      piece.remove_suffix(ends.size());
      text += begins;
      text += excerpt_of_source(piece, most - begins.size() - ends.size(), query);
      text += ends;
    } else {
      text += piece;
    }
    if (!last) text += fmt::format("[the segment {}]\n", segments->all()[i].name);
  }
  prompt.add_user_text("AROUND THE SEGMENTS, which stays as it is\n" +
                           as_fenced_block(strip_directories(text)) + "\n",
                       RemovalStage::kApp);
}

std::string fenced_excerpts(const Segments& segments, std::size_t most_bytes,
                            const QueryWords& query) {
  std::string all = fenced_segments(segments);
  if (all.size() <= most_bytes) return all;
  std::string shown = fmt::format(
      "(These are parts of {} bytes. The lines in brackets say what is left out; they are not part "
      "of the text, and no edit may have them.)\n",
      all.size());
  for (const Segment& segment : segments.all()) {
    const double part = static_cast<double>(most_bytes) / static_cast<double>(all.size());
    const auto bytes = static_cast<std::size_t>(part * static_cast<double>(segment.text.size()));
    shown += as_fenced_block(
        segment.text.empty() ? "NONE" : excerpt_of_source(segment.text, bytes, query),
        segment.name);
  }
  return shown;
}

std::string describe_line_changes(std::string_view before, std::string_view after,
                                  std::size_t most_bytes) {
  const std::vector<LineEdit> edits = line_edits(before, after, kMaxCells);
  // For each edit, whether it is at most kContextLines away from a changed line.
  std::vector<bool> near(edits.size());
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].sign == ' ') continue;
    const std::size_t end = std::min(edits.size(), i + kContextLines + 1);
    for (std::size_t j = i - std::min(i, kContextLines); j < end; ++j) near[j] = true;
  }
  std::string words;
  std::size_t line = 1;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (near[i]) {
      std::string more;
      if (i == 0 || !near[i - 1]) more = fmt::format("@@ line {} @@\n", line);
      more += edits[i].sign;
      more += edits[i].line;
      if (more.back() != '\n') more += '\n';
      if (words.size() + more.size() > most_bytes) return words + "(more differs)\n";
      words += more;
    }
    if (edits[i].sign != '+') ++line;
  }
  return words;
}

void add_words_of_changes(std::string_view before, std::string_view after, double weight,
                          QueryWords* query) {
  for (const LineEdit& edit : line_edits(before, after, kMaxCells)) {
    if (edit.sign != ' ') add_query_words(edit.line, weight, query);
  }
}

}  // namespace groma::tuning
