// OpenDocument: a mapping that an editor has open, with all that is known about its text.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/program.h"
#include "groma/source.h"
#include "language_server/background.h"
#include "language_server/symbols.h"
#include "language_server/text_document.h"

namespace groma::language_server {

// What the text alone tells, without a machine and an application.
struct TextAnalysis {
  Source source;
  Program program;
  std::vector<Diagnostic> diagnostics;
  bool has_errors = false;
  // Made when a question needs them.
  std::optional<Symbols> symbols;
};

struct OpenDocument {
  std::string uri;
  // The path of the file, or "" if the URI names no file.
  std::string path;
  std::optional<std::int64_t> version;
  TextDocument text;
  // Identifies the text among all texts of the session.
  std::uint64_t revision = 0;
  // True if the text changed since its diagnostics were published.
  bool changed = true;
  // Why the text is not examined: it is too large, or a change could not be made. Empty otherwise.
  std::string unusable;

  // The analysis of the current text, if it was made.
  std::optional<TextAnalysis> analysis;
  // The last text without errors, for completion in a text that has errors.
  std::optional<Source> last_correct;
  // The last result about the current text. Null while the text is examined.
  std::shared_ptr<const BackgroundResult> result;
  // The last result with explained decisions. It may be about an older text.
  std::shared_ptr<const BackgroundResult> explained;
  // Diagnostics of the last result that the text alone does not give. They move with the text until
  // the next result replaces them.
  std::vector<Diagnostic> run_diagnostics;

  // The `groma.toml` of the document, and what it says. "": there is none.
  std::string workspace_file;
  Specs specs;
};

// Analyses the text if that was not done yet.
TextAnalysis& analyse(OpenDocument& document);
// Returns the symbols of the current text.
const Symbols& symbols_of(OpenDocument& document);

// Gives the document a new text. Diagnostics of a run stay with the parts that did not change.
void set_text(OpenDocument& document, TextDocument text, std::uint64_t revision);

// Takes a result about the current text.
void take_result(OpenDocument& document, std::shared_ptr<const BackgroundResult> result);

// Returns all diagnostics that are known, in the order of the text.
std::vector<Diagnostic> diagnostics_of(OpenDocument& document);

}  // namespace groma::language_server
