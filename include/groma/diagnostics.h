// Diagnostics: all messages about one program text. A message states the problem (`error`), its
// notes explain it (`note`), its help suggests a cure (`help`), and its fixes are edits that a tool
// can apply.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "groma/source.h"

namespace groma {

// The severity of a diagnostic.
enum class Severity : std::uint8_t { kError, kWarning, kNote };
// Returns "error", "warning" or "note".
std::string_view name_of(Severity severity);

// The ids of all diagnostics: one enumerator for each line of catalogue.inc.
enum class DiagId : std::uint8_t {
#define GROMA_DIAGNOSTIC(enumerator, id, severity, message) enumerator,
#include "groma/catalogue.inc"
#undef GROMA_DIAGNOSTIC
};

// The entry of a diagnostic id in catalogue.inc. `message` is a format string with one `{}` for
// each argument of the diagnostic.
struct CatalogueEntry {
  DiagId id;
  // The stable name of the diagnostic, such as "unknown-name".
  std::string_view name;
  Severity severity;
  std::string_view message;
};
// catalogue() returns the entries of all diagnostics, in the order of DiagId. entry_of() returns
// the entry of one diagnostic id.
const std::vector<CatalogueEntry>& catalogue();
const CatalogueEntry& entry_of(DiagId id);
inline std::string_view name_of(DiagId id) { return entry_of(id).name; }

// A region argument of a task, which a message shows as "2 (rp_ghost)".
struct RegionArg {
  // The position among the task's region arguments, from 0.
  std::int64_t position = 0;
  std::string region;
  friend bool operator==(const RegionArg&, const RegionArg&) = default;
};

// An argument of a message. It keeps its type until the message is rendered.
using DiagArg = std::variant<std::int64_t, std::string, RegionArg>;

// The cause of a diagnostic, where diagnostics with one id have several causes. Code reads it
// instead of the message, which states the cause too.
enum class DiagCause : std::uint8_t {
  // A `slice-index-out-of-bound` error: the size of the dimension is 0.
  kNoProcessors,
  // A `slice-index-out-of-bound` error: the index is negative.
  kNegativeIndex,
  // A `no-memory` error: the node has no memory of a kind in the list.
  kMemoryAbsent,
  // A `no-memory` error: the list begins with VIRTUAL, but the data cannot be virtual.
  kVirtualFirst,
  // A `no-memory` error: the GPU cannot address a memory in the list.
  kGpuCannotAddress
};

// The replacement of a range of a text.
struct Edit {
  // The range to replace. If it is empty, the text is inserted there.
  Range range;
  // The text that replaces the range.
  std::string text;
};

// An edit that a person or a tool can apply. If `sure` is true, the result is certainly what the
// author meant, so a tool may apply the fix without asking.
struct Fix {
  std::string title;
  // Edits of one text. They do not overlap.
  std::vector<Edit> edits;
  bool sure = false;
};

// A note of a diagnostic: an explanation, with the range of the text that it is about, if any.
struct DiagNote {
  std::string message;
  std::optional<Range> range = {};
  // Names of the functions that were running, the innermost first, if the note tells what failed
  // while a mapping function ran.
  std::vector<std::string> running = {};
};

// One message about a text. The functions below add parts to it and return it.
struct Diagnostic {
  DiagId id = DiagId::kUnreadableFile;
  Severity severity = Severity::kError;
  // The place of the message. nullopt if the message is about the whole file.
  std::optional<Range> range;
  std::string message;
  std::vector<DiagArg> args;
  // The causes of this diagnostic, except those that has() finds out from `args`.
  std::vector<DiagCause> causes;
  std::vector<DiagNote> notes;
  std::vector<std::string> helps;
  std::vector<Fix> fixes;

  // Returns true if the cause is in `causes` or follows from `args`.
  bool has(DiagCause cause) const;

  // The next functions add a note, a help or a fix, or make the diagnostic less severe. They return
  // this diagnostic.
  Diagnostic& note(std::string message_text, std::optional<Range> where = {}) {
    notes.push_back({std::move(message_text), where});
    return *this;
  }
  Diagnostic& help(std::string text) {
    helps.push_back(std::move(text));
    return *this;
  }
  Diagnostic& fix(Fix fix) {
    fixes.push_back(std::move(fix));
    return *this;
  }
  Diagnostic& lower_to(Severity lowered) {
    severity = lowered;
    return *this;
  }
};

// After this number of errors a program is not read further. More errors do not help, and a hostile
// text must not produce millions of them.
inline constexpr std::size_t kMaxErrors = 100;

// Collects the diagnostics of one Source. Not thread-safe: use one object for each thread and text.
class Diagnostics {
 public:
  explicit Diagnostics(Source source) : source_(std::move(source)) {}

  const Source& source() const { return source_; }

  // Adds a diagnostic. The returned reference can be refined (.note, .help, .fix) until the next
  // report. Two reports with the same id and range are kept once. Reports beyond kMaxErrors errors
  // (or kMaxErrors others) are dropped.
  template <typename... Args>
  Diagnostic& report(DiagId id, std::optional<Range> range, const Args&... args) {
    return add(id, range, {to_arg(args)...});
  }
  Diagnostic& add(DiagId id, std::optional<Range> range, std::vector<DiagArg> args);

  // Returns true if the collected diagnostics include an error. A diagnostic that was lowered to a
  // warning (Diagnostic::lower_to) is not an error.
  bool has_errors() const;
  // Returns true if kMaxErrors errors were reported, so that reading on is pointless.
  bool full() const { return errors_reported_ >= kMaxErrors; }

  // Returns the diagnostics in the order of the text. Those without a range come first; diagnostics
  // at the same place keep the order in which they were reported.
  std::vector<Diagnostic> sorted() const;
  // Returns the diagnostics in the order in which they were reported.
  const std::vector<Diagnostic>& all() const { return diagnostics_; }
  // Removes all diagnostics, and counts errors from 0 again.
  void clear();

 private:
  static DiagArg to_arg(std::string_view text) { return std::string(text); }
  static DiagArg to_arg(const char* text) { return std::string(text); }
  static DiagArg to_arg(const std::string& text) { return text; }
  static DiagArg to_arg(const RegionArg& argument) { return argument; }
  template <typename Int>
  static DiagArg to_arg(Int value) requires std::is_integral_v<Int> {
    return static_cast<std::int64_t>(value);
  }

  Source source_;
  std::vector<Diagnostic> diagnostics_;
  Diagnostic dropped_;
  std::size_t errors_reported_ = 0;
  std::size_t others_reported_ = 0;
};

// Adds "did you mean ...?" to a diagnostic about `word`, with the nearest candidate. If `place` is
// given, it also adds the fix that writes the candidate there; the fix is sure if only the case of
// letters differs. Returns false if no candidate is near.
bool suggest(Diagnostic& diagnostic, std::string_view word,
             std::span<const std::string_view> candidates, std::optional<Range> place = {});

// Returns the message as text for people: `file:line:column: error: message [id]`, the source line
// with a caret range (cut around the range if the line is long), the notes and the helps. `color`
// adds ANSI colours. The text ends with a line end.
std::string render(const Source& source, const Diagnostic& diagnostic, bool color = false);
std::string render(const Diagnostics& diagnostics, bool color = false);

// Returns `source` with the edits of `fixes` applied. A fix whose ranges touch those of an earlier
// fix is left out. Sets *applied to the number of applied fixes.
std::string apply_fixes(const Source& source, const std::vector<Fix>& fixes, std::size_t* applied);

}  // namespace groma
