// Holds the catalogue of diagnostics, collects the reported diagnostics, and applies fixes.
#include "groma/diagnostics.h"

#include <algorithm>

#include "groma/spelling.h"

namespace groma {

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "";
}

// Returns the entries for all diagnostics, in the order of DiagId.
const std::vector<CatalogueEntry>& catalogue() {
  static const std::vector<CatalogueEntry> entries = {
#define GROMA_DIAGNOSTIC(enumerator, id, severity, message) \
  {DiagId::enumerator, id, Severity::severity, message},
#include "groma/catalogue.inc"
#undef GROMA_DIAGNOSTIC
  };
  return entries;
}

const CatalogueEntry& entry_of(DiagId id) { return catalogue()[static_cast<std::size_t>(id)]; }

bool Diagnostic::has(DiagCause cause) const {
  // The arguments of a kSliceIndexOutOfBound diagnostic are a dimension, an index in this
  // dimension, and the extent of the dimension.
  if (id == DiagId::kSliceIndexOutOfBound && args.size() == 3) {
    const auto* index = std::get_if<std::int64_t>(&args[1]);
    const auto* size = std::get_if<std::int64_t>(&args[2]);
    if (cause == DiagCause::kNegativeIndex) return index != nullptr && *index < 0;
    if (cause == DiagCause::kNoProcessors) return size != nullptr && *size == 0;
  }
  return std::find(causes.begin(), causes.end(), cause) != causes.end();
}

namespace {

// Replaces each `{}` of a catalogue message by an argument; `{{` and `}}` stand for braces.
// GROMA_CHECK fails if the number of arguments differs from the number of `{}`.
std::string format_message(std::string_view format, const std::vector<DiagArg>& args) {
  struct Text {
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const RegionArg& argument) const {
      return std::to_string(argument.position) + " (" + argument.region + ")";
    }
  };
  std::string message;
  std::size_t next = 0;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const std::string_view two = format.substr(i, 2);
    if (two == "{}") {
      GROMA_CHECK(next < args.size());
      message += std::visit(Text{}, args[next++]);
      ++i;
    } else {
      message += format[i];
      if (two == "{{" || two == "}}") ++i;
    }
  }
  GROMA_CHECK(next == args.size());
  return message;
}

}  // namespace

// Adds a diagnostic and returns it, so that the caller can attach notes. Drops a diagnostic that
// the list already contains, and any beyond kMaxErrors errors or kMaxErrors other diagnostics; the
// function then returns a dummy that is never shown.
Diagnostic& Diagnostics::add(DiagId id, std::optional<Range> range, std::vector<DiagArg> args) {
  const CatalogueEntry& entry = entry_of(id);
  std::size_t& reported = entry.severity == Severity::kError ? errors_reported_ : others_reported_;
  const bool known =
      std::any_of(diagnostics_.begin(), diagnostics_.end(), [&](const Diagnostic& d) {
        return d.id == id && d.range == range && d.args == args && d.severity == entry.severity;
      });
  if (known || reported >= kMaxErrors) {
    dropped_ = Diagnostic{};
    return dropped_;
  }
  Diagnostic diagnostic;
  diagnostic.id = id;
  diagnostic.severity = entry.severity;
  diagnostic.range = range;
  diagnostic.message = format_message(entry.message, args);
  diagnostic.args = std::move(args);
  ++reported;
  diagnostics_.push_back(std::move(diagnostic));
  return diagnostics_.back();
}

bool Diagnostics::has_errors() const {
  return std::any_of(diagnostics_.begin(), diagnostics_.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

// Returns the diagnostics in the order of the text; those without a place come first. A note says
// so if the limit on errors was reached.
std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<Diagnostic> sorted = diagnostics_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
    const auto begin = [](const Diagnostic& d) {
      return d.range ? std::int64_t{d.range->begin} : std::int64_t{-1};
    };
    return begin(a) < begin(b);
  });
  if (full()) {
    Diagnostic stopped;
    stopped.id = DiagId::kTooManyErrors;
    stopped.severity = Severity::kNote;
    stopped.args = {static_cast<std::int64_t>(kMaxErrors)};
    stopped.message = format_message(entry_of(stopped.id).message, stopped.args);
    sorted.push_back(std::move(stopped));
  }
  return sorted;
}

void Diagnostics::clear() {
  diagnostics_.clear();
  errors_reported_ = others_reported_ = 0;
}

// Adds "did you mean ...?" to a diagnostic, and a fix if the place of the word is known. The fix is
// certain if only the case of letters differs. Returns false if no candidate is similar.
bool suggest(Diagnostic& diagnostic, std::string_view word,
             std::span<const std::string_view> candidates, std::optional<Range> place) {
  const auto near = near_names(word, candidates);
  if (near.empty()) return false;
  diagnostic.help("did you mean " + join_names(near) + "?");
  const std::string nearest(near[0]);
  if (place) {
    diagnostic.fix({"write `" + nearest + "`", {{*place, nearest}}, same_letters(word, nearest)});
  }
  return true;
}

// Returns the text with the fixes applied. A fix that overlaps an earlier one is left out.
// `*applied` receives the number of fixes that were applied.
std::string apply_fixes(const Source& source, const std::vector<Fix>& fixes, std::size_t* applied) {
  std::vector<Edit> edits;
  *applied = 0;
  const auto clashes = [&edits](const Edit& edit) {
    return std::any_of(edits.begin(), edits.end(), [&edit](const Edit& other) {
      return edit.range == other.range ||
             (edit.range.begin < other.range.end && other.range.begin < edit.range.end);
    });
  };
  // All edits of a fix are applied, or none if one of them overlaps an edit of an earlier fix.
  for (const Fix& fix : fixes) {
    if (fix.edits.empty() || std::any_of(fix.edits.begin(), fix.edits.end(), clashes)) continue;
    edits.insert(edits.end(), fix.edits.begin(), fix.edits.end());
    ++*applied;
  }
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.range.begin < b.range.begin; });
  std::string text;
  std::uint32_t at = 0;
  for (const Edit& edit : edits) {
    text += source.text({at, edit.range.begin});
    text += edit.text;
    at = edit.range.end;
  }
  return text + std::string(source.text().substr(at));
}

}  // namespace groma
