// Writes diagnostics as text for a person: place, message, the source line with carets, notes,
// help.
#include <fmt/format.h>

#include <algorithm>

#include "base/characters.h"
#include "groma/diagnostics.h"
#include "groma/harmless.h"

namespace groma {
namespace {

// The number of columns that are shown of a source line. The rest is cut.
constexpr std::uint32_t kShownColumns = 100;
// The number of bytes of a long source line that are shown before the place to which the diagnostic
// points.
constexpr std::uint32_t kShownBefore = 40;

constexpr std::string_view kHelpColor = "\x1b[1;32m";
constexpr std::string_view kNoteColor = "\x1b[1;36m";

std::string_view color_of(Severity severity) {
  if (severity == Severity::kError) return "\x1b[1;31m";
  return severity == Severity::kWarning ? "\x1b[1;35m" : kNoteColor;
}

// Returns the text in the colour, or unchanged if colours are off.
std::string paint(std::string_view text, std::string_view color, bool on) {
  return on ? fmt::format("{}{}\x1b[0m", color, text) : std::string(text);
}

// Returns the number of characters of a text that harmless() has returned. Each of them is taken as
// one column wide.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

// Returns the part of a long line that is shown around byte `begin`, cut at character boundaries.
Range window(std::string_view text, Range line, std::uint32_t begin) {
  Range shown = line;
  if (line.end - line.begin <= kShownColumns) return shown;
  if (begin - line.begin > kShownBefore) shown.begin = begin - kShownBefore;
  while (shown.begin < begin && continues_character(text[shown.begin])) ++shown.begin;
  shown.end = std::min<std::uint32_t>(line.end, shown.begin + kShownColumns);
  while (shown.end < line.end && continues_character(text[shown.end])) ++shown.end;
  return shown;
}

// Returns the source line and below it `^~~~` under the range.
std::string snippet(const Source& source, Range range, std::uint32_t line_number, bool color) {
  const Range line = source.line_at(range.begin);
  const std::uint32_t begin = std::min(range.begin, line.end);
  const Range shown = window(source.text(), line, begin);
  const std::uint32_t end = std::clamp(range.end, begin, shown.end);
  const std::string number = fmt::format("{:>5} | ", line_number);
  const std::string before = harmless(source.text({shown.begin, begin}));
  const std::string marked = harmless(source.text({begin, end}));
  const std::string after = harmless(source.text({end, shown.end}));
  const std::string_view cut_left = shown.begin > line.begin ? "..." : "";
  const std::string_view cut_right = shown.end < line.end ? "..." : "";
  const std::size_t width = std::max<std::size_t>(1, characters(marked));
  return fmt::format("{}{}{}{}{}{}\n{:>{}} | {:{}}{}\n", number, cut_left, before, marked, after,
                     cut_right, "", number.size() - 3, "", cut_left.size() + characters(before),
                     paint("^" + std::string(width - 1, '~'), kHelpColor, color));
}

// Returns `file:line:column: severity: text` and the snippet. Without a range there is only the
// file.
std::string entry(const Source& source, std::optional<Range> range, Severity severity,
                  std::string_view text, std::string_view id, bool color) {
  const std::string painted =
      paint(fmt::format("{}:", name_of(severity)), color_of(severity), color);
  const std::string tail = id.empty() ? "" : fmt::format(" [{}]", id);
  // The message may quote the program's text, so hidden characters in it are escaped.
  const std::string shown = harmless(text);
  const std::string name = harmless(source.name());
  if (!range) return fmt::format("{}: {} {}{}\n", name, painted, shown, tail);
  const Position at = source.position(range->begin);
  return fmt::format("{}:{}:{}: {} {}{}\n{}", name, at.line, at.column, painted, shown, tail,
                     snippet(source, *range, at.line, color));
}

}  // namespace

// Returns a diagnostic as text for people: the message, the notes and the help. The title of the
// first fix is shown if there is no other help.
std::string render(const Source& source, const Diagnostic& diagnostic, bool color) {
  std::string text = entry(source, diagnostic.range, diagnostic.severity, diagnostic.message,
                           name_of(diagnostic.id), color);
  for (const DiagNote& note : diagnostic.notes) {
    if (note.range) {
      text += entry(source, note.range, Severity::kNote, note.message, "", color);
    } else {
      text += fmt::format("{} {}\n", paint("note:", kNoteColor, color), harmless(note.message));
    }
  }
  for (const std::string& help : diagnostic.helps) {
    text += fmt::format("{} {}\n", paint("help:", kHelpColor, color), harmless(help));
  }
  if (diagnostic.helps.empty() && !diagnostic.fixes.empty()) {
    text += fmt::format("{} {}\n", paint("help:", kHelpColor, color),
                        harmless(diagnostic.fixes[0].title));
  }
  return text;
}

std::string render(const Diagnostics& diagnostics, bool color) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    text += render(diagnostics.source(), diagnostic, color);
  }
  return text;
}

}  // namespace groma
