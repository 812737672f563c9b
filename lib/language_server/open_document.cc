// Keeps what is known about a document up to date while its text changes.
#include "language_server/open_document.h"

#include <algorithm>
#include <utility>

#include "syntax/parser.h"

namespace groma::language_server {
namespace {

// The part of a text that an edit changed: the bytes [begin, end) of the old text, and how far
// everything behind them moved.
struct ChangedPart {
  std::size_t begin = 0, end = 0;
  std::int64_t shift = 0;
};

ChangedPart changed_part(std::string_view before, std::string_view after) {
  ChangedPart part;
  const std::size_t shorter = std::min(before.size(), after.size());
  while (part.begin < shorter && before[part.begin] == after[part.begin]) ++part.begin;
  std::size_t tail = 0;
  while (tail < shorter - part.begin &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  part.end = before.size() - tail;
  part.shift = static_cast<std::int64_t>(after.size()) - static_cast<std::int64_t>(before.size());
  return part;
}

// Moves a range. Returns false if the range touches the part that changed.
bool move(Range& range, const ChangedPart& part) {
  if (range.end < part.begin) return true;
  if (range.begin <= part.end && range.begin > 0) return false;
  if (range.begin < part.end) return false;
  range.begin = static_cast<std::uint32_t>(range.begin + part.shift);
  range.end = static_cast<std::uint32_t>(range.end + part.shift);
  return true;
}

bool move(Diagnostic& diagnostic, const ChangedPart& part) {
  bool kept = !diagnostic.range || move(*diagnostic.range, part);
  for (DiagNote& note : diagnostic.notes) kept = kept && (!note.range || move(*note.range, part));
  for (Fix& fix : diagnostic.fixes) {
    for (Edit& edit : fix.edits) kept = kept && move(edit.range, part);
  }
  return kept;
}

bool same_place(const Diagnostic& a, const Diagnostic& b) {
  return a.id == b.id && a.range == b.range;
}

}  // namespace

TextAnalysis& analyse(OpenDocument& document) {
  if (document.analysis) return *document.analysis;
  const std::string& name = document.path.empty() ? document.uri : document.path;
  Source source(name, document.text.text());
  Diagnostics diags(source);
  Program program = compile(source, diags);
  document.analysis = TextAnalysis{std::move(source), std::move(program), diags.sorted(),
                                   diags.has_errors(), std::nullopt};
  return *document.analysis;
}

const Symbols& symbols_of(OpenDocument& document) {
  TextAnalysis& analysis = analyse(document);
  if (!analysis.symbols) {
    Diagnostics ignored(analysis.source);
    analysis.symbols = find_symbols(syntax::parse(analysis.source, ignored));
  }
  return *analysis.symbols;
}

void set_text(OpenDocument& document, TextDocument text, std::uint64_t revision) {
  if (!document.run_diagnostics.empty()) {
    const ChangedPart part = changed_part(document.text.text(), text.text());
    std::erase_if(document.run_diagnostics, [&](Diagnostic& each) { return !move(each, part); });
  }
  if (document.analysis && !document.analysis->has_errors) {
    document.last_correct = document.analysis->source;
  }
  document.text = std::move(text);
  document.revision = revision;
  document.changed = true;
  document.analysis.reset();
  document.result.reset();
}

void take_result(OpenDocument& document, std::shared_ptr<const BackgroundResult> result) {
  const TextAnalysis& analysis = analyse(document);
  document.run_diagnostics.clear();
  for (const Diagnostic& each : result->diagnostics) {
    const bool known = std::any_of(analysis.diagnostics.begin(), analysis.diagnostics.end(),
                                   [&](const Diagnostic& own) { return same_place(own, each); });
    if (!known) document.run_diagnostics.push_back(each);
  }
  if (result->explanation) document.explained = result;
  document.result = std::move(result);
}

std::vector<Diagnostic> diagnostics_of(OpenDocument& document) {
  if (document.result != nullptr) return document.result->diagnostics;
  std::vector<Diagnostic> all = analyse(document).diagnostics;
  all.insert(all.end(), document.run_diagnostics.begin(), document.run_diagnostics.end());
  const auto begin_of = [](const Diagnostic& each) { return each.range ? each.range->begin : 0; };
  std::stable_sort(all.begin(), all.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    return begin_of(a) < begin_of(b);
  });
  return all;
}

}  // namespace groma::language_server
