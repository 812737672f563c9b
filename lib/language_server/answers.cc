// Turns diagnostics, fixes, symbols, completions and hovers into JSON.
#include "language_server/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "explain/words.h"
#include "groma/advise.h"
#include "groma/harmless.h"
#include "groma/line_edits.h"
#include "groma/syntax.h"
#include "language_server/completion.h"
#include "language_server/hover.h"
#include "syntax/parser.h"

namespace groma::language_server {
namespace {

constexpr std::string_view kQuickFix = "quickfix", kFixAll = "source.fixAll.groma";

bool overlap(Range a, Range b) { return a.begin <= b.end && b.begin <= a.end; }

Json edit_json(const OpenDocument& document, Range range, std::string_view text,
               PositionEncoding encoding) {
  return {{"range", json_of(document.text, range, encoding)}, {"newText", text}};
}

Json workspace_edit(const OpenDocument& document, Json edits) {
  return {{"changes", {{document.uri, std::move(edits)}}}};
}

// Returns the text of a diagnostic with its notes and helps. Notes with a place become related
// information.
Json diagnostic_json(const OpenDocument& document, const Diagnostic& diagnostic,
                     PositionEncoding encoding) {
  std::string message = diagnostic.message;
  Json related = Json::array();
  for (const DiagNote& note : diagnostic.notes) {
    if (note.range) {
      related.push_back(
          {{"location",
            {{"uri", document.uri}, {"range", json_of(document.text, *note.range, encoding)}}},
           {"message", note.message}});
    } else {
      message += "\nnote: " + note.message;
    }
  }
  for (const std::string& help : diagnostic.helps) message += "\nhelp: " + help;
  const int severity = diagnostic.severity == Severity::kError     ? 1
                       : diagnostic.severity == Severity::kWarning ? 2
                                                                   : 3;
  Json json = {{"range", json_of(document.text, diagnostic.range.value_or(Range{}), encoding)},
               {"severity", severity},
               {"code", name_of(diagnostic.id)},
               {"source", "groma"},
               {"message", std::move(message)}};
  if (!related.empty()) json["relatedInformation"] = std::move(related);
  // Editors show unnecessary text faded.
  if (diagnostic.id == DiagId::kShadowedStatement) json["tags"] = {1};
  return json;
}

// Returns the edits that turn the document into `text`, line by line.
Json line_edits_json(const OpenDocument& document, std::string_view text,
                     PositionEncoding encoding) {
  Json edits = Json::array();
  std::uint32_t at = 0;
  Range removed{0, 0};
  std::string added;
  const auto flush = [&] {
    if (removed.begin != removed.end || !added.empty()) {
      edits.push_back(edit_json(document, removed, added, encoding));
    }
    added.clear();
  };
  for (const LineEdit& edit : line_edits(document.text.text(), text)) {
    const auto size = static_cast<std::uint32_t>(edit.line.size());
    if (edit.sign == ' ') {
      flush();
      at += size;
      removed = {at, at};
    } else if (edit.sign == '-') {
      at += size;
      removed.end = at;
    } else {
      added += edit.line;
    }
  }
  flush();
  return edits;
}

// Returns true if the client wants actions of this kind. A kind stands for those below it, too.
bool is_wanted(const Json* only, std::string_view kind) {
  if (only == nullptr || !only->is_array()) return true;
  return std::any_of(only->begin(), only->end(), [&](const Json& each) {
    if (!each.is_string()) return false;
    const auto& wanted = each.get_ref<const std::string&>();
    return kind == wanted || kind.starts_with(wanted + ".");
  });
}

// The numbers of the protocol for kinds of symbols.
enum SymbolNumber { kFunctionSymbol = 12, kVariableSymbol = 13, kPropertySymbol = 7 };

// The numbers of the protocol for kinds of completions.
int completion_number(CompletionKind kind) {
  switch (kind) {
    case CompletionKind::kKeyword:
      return 14;
    case CompletionKind::kTask:
      return 7;
    case CompletionKind::kRegion:
      return 5;
    case CompletionKind::kProcessor:
    case CompletionKind::kMemory:
    case CompletionKind::kLayout:
      return 20;
    case CompletionKind::kFunction:
      return 3;
    case CompletionKind::kVariable:
      return 6;
    case CompletionKind::kOperation:
      return 2;
    case CompletionKind::kMember:
      return 10;
    case CompletionKind::kType:
      return 25;
  }
  return 1;
}

}  // namespace

Json diagnostics_json(OpenDocument& document, PositionEncoding encoding) {
  Json list = Json::array();
  if (!document.unusable.empty()) {
    list.push_back({{"range", json_of(document.text, {}, encoding)},
                    {"severity", 1},
                    {"source", "groma"},
                    {"message", document.unusable}});
  } else {
    for (const Diagnostic& each : diagnostics_of(document)) {
      list.push_back(diagnostic_json(document, each, encoding));
    }
  }
  Json params = {{"uri", document.uri}, {"diagnostics", std::move(list)}};
  if (document.version) params["version"] = *document.version;
  return params;
}

Json formatting_json(OpenDocument& document, PositionEncoding encoding) {
  const Source& source = analyse(document).source;
  Diagnostics ignored(source);
  const auto text = format(source, ignored);
  return text ? line_edits_json(document, *text, encoding) : Json();
}

Json code_actions_json(OpenDocument& document, Range range, const Json* only,
                       PositionEncoding encoding) {
  Json actions = Json::array();
  bool any_sure = false;
  for (const Diagnostic& diagnostic : diagnostics_of(document)) {
    for (const Fix& fix : diagnostic.fixes) {
      any_sure = any_sure || fix.sure;
      const bool is_here = overlap(diagnostic.range.value_or(Range{}), range);
      if (!is_here || !is_wanted(only, kQuickFix)) continue;
      Json edits = Json::array();
      for (const Edit& edit : fix.edits) {
        edits.push_back(edit_json(document, edit.range, edit.text, encoding));
      }
      Json action = {{"title", fix.title},
                     {"kind", kQuickFix},
                     {"diagnostics", {diagnostic_json(document, diagnostic, encoding)}},
                     {"edit", workspace_edit(document, std::move(edits))}};
      if (fix.sure) action["isPreferred"] = true;
      actions.push_back(std::move(action));
    }
  }
  if (any_sure && is_wanted(only, kFixAll)) {
    std::size_t made = 0;
    const Source mended = apply_certain_fixes(analyse(document).source, &made);
    if (made > 0) {
      actions.push_back(
          {{"title", made == 1 ? "Make the fix that is sure"
                               : fmt::format("Make all {} fixes that are sure", made)},
           {"kind", kFixAll},
           {"edit", workspace_edit(document, line_edits_json(document, mended.text(), encoding))}});
    }
  }
  return actions;
}

Json symbols_json(OpenDocument& document, bool as_tree, PositionEncoding encoding) {
  const Source& source = analyse(document).source;
  Diagnostics ignored(source);
  const syntax::Tree tree = syntax::parse(source, ignored);
  Json list = Json::array();
  const auto add = [&](std::string name, SymbolNumber kind, Range whole, Range own) {
    const Json range = json_of(document.text, whole, encoding);
    Json symbol = {{"name", name.empty() ? "?" : std::move(name)}, {"kind", kind}};
    if (as_tree) {
      symbol["range"] = range;
      symbol["selectionRange"] = json_of(document.text, own, encoding);
    } else {
      symbol["location"] = {{"uri", document.uri}, {"range", range}};
    }
    list.push_back(std::move(symbol));
  };
  constexpr std::size_t kMaxNameBytes = 80;
  for (const syntax::Statement& statement : tree.statements) {
    if (list.size() >= kMaxAnswerItems) break;
    if (const auto* def = std::get_if<syntax::DefStatement>(&statement.node)) {
      add(harmless(source.text(def->name.range)), kFunctionSymbol, statement.range,
          def->name.range);
    } else if (const auto* assign = std::get_if<syntax::AssignStatement>(&statement.node)) {
      add(harmless(source.text(assign->target.range)), kVariableSymbol, statement.range,
          assign->target.range);
    } else {
      add(harmless(source.text(statement.range), kMaxNameBytes), kPropertySymbol, statement.range,
          statement.range);
    }
  }
  return list;
}

Json inlay_hints_json(OpenDocument& document, Range range, PositionEncoding encoding) {
  const TextAnalysis& analysis = analyse(document);
  Json hints = Json::array();
  std::set<std::uint32_t> lines;  // the ends of the lines that have a hint
  const auto add = [&](std::uint32_t place, std::string label, const std::string& tooltip) {
    const std::uint32_t end = document.text.line_at(place).end;
    if (!overlap({place, end}, range) || hints.size() >= kMaxAnswerItems) return;
    if (!lines.insert(end).second) return;
    const LinePosition at = document.text.position_of(end, encoding);
    Json hint = {{"position", {{"line", at.line}, {"character", at.character}}},
                 {"label", std::move(label)},
                 {"paddingLeft", true}};
    if (!tooltip.empty()) hint["tooltip"] = tooltip;
    hints.push_back(std::move(hint));
  };
  for (const Diagnostic& each : analysis.diagnostics) {
    if (each.id != DiagId::kShadowedStatement || !each.range) continue;
    const auto note = std::find_if(each.notes.begin(), each.notes.end(),
                                   [](const DiagNote& one) { return one.range.has_value(); });
    if (note == each.notes.end()) continue;
    const std::size_t line = document.text.position_of(note->range->begin, encoding).line + 1;
    add(each.range->begin, fmt::format("shadowed by line {}", line),
        harmless(analysis.source.text(*note->range), 200));
  }
  if (document.result == nullptr || !document.result->explanation) return hints;
  const Explanation& explanation = *document.result->explanation;
  const Program& program = document.result->bound->program();
  const std::string app = harmless(explanation.application);
  for (const DecisionOrigin& origin : explanation.unmatched) {
    add(program.range(origin).begin, "matches nothing in " + app, "");
  }
  for (const DecisionOrigin& origin : explanation.never_decide) {
    add(program.range(origin).begin, "never decides in " + app,
        "Other statements decide wherever this one matches.");
  }
  return hints;
}

Json completion_json(OpenDocument& document, std::size_t offset, PositionEncoding encoding) {
  const TextAnalysis& analysis = analyse(document);
  const Symbols* symbols = &symbols_of(document);
  // While a statement is written, the names of the last text without errors may be better.
  Symbols last;
  if (analysis.has_errors && document.last_correct) {
    Diagnostics ignored(*document.last_correct);
    last = find_symbols(syntax::parse(*document.last_correct, ignored));
    if (last.symbols.size() > symbols->symbols.size()) symbols = &last;
  }
  CompletionNames names;
  names.symbols = symbols;
  const BackgroundResult* result =
      document.result != nullptr ? document.result.get() : document.explained.get();
  const LoadedInputs* inputs = result == nullptr ? nullptr : result->inputs.get();
  names.known = grammar_names(inputs != nullptr && inputs->workload ? &*inputs->workload : nullptr,
                              inputs != nullptr && inputs->machine ? &*inputs->machine : nullptr);
  if (names.known.memories.empty()) {
    for (std::size_t i = 0; i < kMemKindCount; ++i) {
      names.known.memories.push_back(static_cast<MemKind>(i));
    }
  }
  const Completion completion = complete(analysis.source, offset, names);
  const Json range = json_of(document.text, completion.replaced, encoding);
  Json items = Json::array();
  for (const CompletionEntry& entry : completion.entries) {
    Json item = {{"label", entry.text},
                 {"kind", completion_number(entry.kind)},
                 {"textEdit", {{"range", range}, {"newText", entry.text}}}};
    if (!entry.detail.empty()) item["detail"] = entry.detail;
    if (!entry.description.empty()) item["documentation"] = entry.description;
    items.push_back(std::move(item));
  }
  return {{"isIncomplete", !completion.complete}, {"items", std::move(items)}};
}

Json hover_json(OpenDocument& document, std::size_t offset, bool markdown,
                PositionEncoding encoding) {
  const Symbols& symbols = symbols_of(document);
  const TextAnalysis& analysis = analyse(document);
  const BackgroundResult* result = document.result.get();
  if ((result == nullptr || !result->explanation) && document.explained != nullptr) {
    result = document.explained.get();
  }
  const auto hover = hover_at({analysis.source, analysis.program, symbols, result}, offset);
  if (!hover) return nullptr;
  return {{"contents", {{"kind", markdown ? "markdown" : "plaintext"}, {"value", hover->markdown}}},
          {"range", json_of(document.text, hover->range, encoding)}};
}

}  // namespace groma::language_server
