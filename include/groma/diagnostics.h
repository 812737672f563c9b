// Diagnostics: everything there is to say about one program text. A message observes (`error`), its
// notes explain (`note`), its help suggests (`help`), its fixes are edits that a tool can make.
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

enum class Severity : std::uint8_t { kError, kWarning, kNote };
std::string_view name_of(Severity severity);  // "error", "warning", "note"

// One enumerator for each line of catalogue.inc.
enum class DiagId : std::uint8_t {
#define GROMA_DIAGNOSTIC(enumerator, id, severity, message) enumerator,
#include "groma/catalogue.inc"
#undef GROMA_DIAGNOSTIC
};

// What the catalogue says of an id. `message` is a format with one `{}` for each argument.
struct CatalogueEntry {
  DiagId id;
  std::string_view name;  // the stable id: "unknown-name"
  Severity severity;
  std::string_view message;
};
const std::vector<CatalogueEntry>& catalogue();
const CatalogueEntry& entry_of(DiagId id);
inline std::string_view name_of(DiagId id) { return entry_of(id).name; }

// An argument of a message, typed until it is rendered.
using DiagArg = std::variant<std::int64_t, std::string>;

struct Edit {
  Range range;       // replaced; empty: inserted there
  std::string text;  // by this
};

// `sure`: applying it gives what the author must have meant, so a tool may do it unasked.
struct Fix {
  std::string title;
  std::vector<Edit> edits;  // of one text, not overlapping
  bool sure = false;
};

struct DiagNote {
  std::string message;
  std::optional<Range> range = {};
};

struct Diagnostic {
  DiagId id = DiagId::kUnreadableFile;
  Severity severity = Severity::kError;
  std::optional<Range> range;  // none: about the file as a whole
  std::string message;
  std::vector<DiagArg> args;
  std::vector<DiagNote> notes;
  std::vector<std::string> helps;
  std::vector<Fix> fixes;

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

// Errors after which a program is not read further: more help nobody, and untrusted text must not
// make millions.
inline constexpr std::size_t kMaxErrors = 100;

// Collects the diagnostics of one Source. Not thread-safe; one for each thread and text.
class Diagnostics {
 public:
  explicit Diagnostics(Source source) : source_(std::move(source)) {}

  const Source& source() const { return source_; }

  // Adds a diagnostic; the result may be refined (.note, .help, .fix) until the next report. The
  // same id at the same range is kept once, and beyond kMaxErrors errors (or as many others)
  // nothing is.
  template <typename... Args>
  Diagnostic& report(DiagId id, std::optional<Range> range, const Args&... args) {
    return add(id, range, {to_arg(args)...});
  }
  Diagnostic& add(DiagId id, std::optional<Range> range, std::vector<DiagArg> args);

  // Severity counts of what was kept. lower_to after report is seen, since these count anew.
  bool has_errors() const;
  // Whether reading on is pointless: kMaxErrors errors were reported.
  bool full() const { return errors_reported_ >= kMaxErrors; }

  // In the order of the text (those without a place first), reports at one place in their order.
  std::vector<Diagnostic> sorted() const;
  const std::vector<Diagnostic>& all() const { return diagnostics_; }
  void clear();

 private:
  static DiagArg to_arg(std::string_view text) { return std::string(text); }
  static DiagArg to_arg(const char* text) { return std::string(text); }
  static DiagArg to_arg(const std::string& text) { return text; }
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

// Adds "did you mean ...?" to a diagnostic about `word`, and where `place` is given the fix that
// writes the nearest there: sure when only the case of letters differs. False when nothing is near.
bool suggest(Diagnostic& diagnostic, std::string_view word,
             std::span<const std::string_view> candidates, std::optional<Range> place = {});

// The text of messages for people: `file:line:column: error: message [id]`, the source line with a
// caret range (cut around the range when it is long), notes, help. `color` adds ANSI colours. Ends
// with a line end.
std::string render(const Source& source, const Diagnostic& diagnostic, bool color = false);
std::string render(const Diagnostics& diagnostics, bool color = false);

// `source` with the edits of all `fixes` applied that do not touch each other's ranges (the first
// wins). Sets *applied to the number that were.
std::string apply_fixes(const Source& source, const std::vector<Fix>& fixes, std::size_t* applied);

}  // namespace groma
