// Finds statements of a mapping by key. Texts are parsed without checking, so that they may have
// errors.
#include "space/statements.h"

#include <fmt/format.h>

#include <algorithm>

#include "search/lines.h"
#include "syntax/parser.h"

namespace groma::tuning {
namespace {

// Returns the key of a statement: its keyword and the names that it is about. If two statements
// have the same key, the first one counts.
struct KeyOf {
  const syntax::Tree& tree;

  std::string names(syntax::List list) const {
    std::string text;
    for (const syntax::Name& name : tree.names_of(list)) {
      text += tree.source.text(name.range);
      text += ',';
    }
    return text;
  }
  std::string which(syntax::List list) const {
    std::string text = " ";
    for (const syntax::Which& one : syntax::Tree::slice(tree.which, list)) {
      text += tree.source.text(one.range);
      text += ',';
    }
    return text;
  }
  std::string place(const syntax::Place& place) const {
    return place.kind == syntax::Place::Kind::kAny
               ? " *"
               : fmt::format(" {}", tree.source.text(place.word.range));
  }
  std::string word(const std::optional<syntax::KindWord>& word) const {
    return word ? fmt::format(" {}", tree.source.text(word->range)) : "";
  }

  std::string operator()(const syntax::TaskStatement& s) const { return "Task " + names(s.names); }
  std::string operator()(const syntax::RegionStatement& s) const {
    return "Region " + names(s.names) + which(s.which) + place(s.place);
  }
  std::string operator()(const syntax::LayoutStatement& s) const {
    return "Layout " + names(s.names) + which(s.which) + place(s.place);
  }
  std::string operator()(const syntax::InstanceLimitStatement& s) const {
    return "InstanceLimit " + names(s.names) + word(s.proc);
  }
  std::string operator()(const syntax::CollectMemoryStatement& s) const {
    return "CollectMemory " + names(s.names) + which(s.which);
  }
  std::string operator()(const syntax::TaskMapStatement& s) const {
    return (s.index ? "IndexTaskMap " : "SingleTaskMap ") + names(s.names) + word(s.proc);
  }
  std::string operator()(const syntax::ControlReplicateStatement& s) const {
    return "ControlReplicate " + names(s.names);
  }
  std::string operator()(const syntax::TaskStealStatement& s) const {
    return "TaskSteal " + names(s.names) + word(s.proc);
  }
  std::string operator()(const syntax::AssignStatement& s) const { return defined(s.target); }
  std::string operator()(const syntax::DefStatement& s) const { return defined(s.name); }
  std::string operator()(const syntax::PrintStatement&) const { return "print"; }
  std::string operator()(const syntax::ReturnStatement&) const { return "return"; }

  // Functions and globals share one name space, so both have keys `def NAME`.
  std::string defined(const syntax::Name& name) const {
    return fmt::format("def {}", tree.source.text(name.range));
  }
};

// Parses a text and ignores its errors.
syntax::Tree tree_of(std::string_view text) {
  Diagnostics ignored(Source("reply", std::string(text)));
  return syntax::parse(ignored.source(), ignored);
}

}  // namespace

// Parses the text; damaged statements have no key.
Keys keys_of(std::string_view text, bool definitions_only) {
  Keys keys;
  const syntax::Tree tree = tree_of(text);
  for (const syntax::Statement& statement : tree.statements) {
    std::string key = std::visit(KeyOf{tree}, statement.node);
    if (!definitions_only || key.starts_with("def ")) keys.insert(std::move(key));
  }
  return keys;
}

// Copies everything except the statements with these keys. A statement that begins inside a removed
// one is skipped.
std::string without(std::string_view text, const Keys& keys) {
  std::string kept;
  std::size_t at = 0;
  const syntax::Tree tree = tree_of(text);
  for (const syntax::Statement& statement : tree.statements) {
    if (statement.range.begin < at || !keys.contains(std::visit(KeyOf{tree}, statement.node))) {
      continue;
    }
    kept += text.substr(at, statement.range.begin - at);
    at = std::max(statement.range.end, statement.end);
  }
  return kept += text.substr(at);
}

// Statements that begin inside an earlier one, such as those of a function body, are not listed.
std::vector<Stretch> statements_in(std::string_view text) {
  std::vector<Stretch> all;
  for (const syntax::Statement& statement : tree_of(text).statements) {
    const std::size_t begin = statement.range.begin;
    if (!all.empty() && begin < all.back().end) continue;
    all.push_back({begin, std::max<std::size_t>(statement.range.end, statement.end)});
  }
  return all;
}

// The comments above a function and the line that would be left empty go with the statement.
std::string without(std::string_view text, Stretch statement) {
  std::string_view before = text.substr(0, statement.begin);
  std::string_view after = text.substr(statement.end);
  const bool begins_line = before.empty() || before.back() == '\n';
  // Comments directly above a function are removed with it.
  while (begins_line && !before.empty() && text.substr(statement.begin).starts_with("def ")) {
    const std::size_t newline = before.substr(0, before.size() - 1).rfind('\n');
    const std::size_t line = newline == before.npos ? 0 : newline + 1;
    if (before[line] != '#') break;
    before = before.substr(0, line);
  }
  if (begins_line && after.starts_with('\n')) after.remove_prefix(1);
  // Two empty lines become one.
  const bool empty_before = before.empty() || before.ends_with("\n\n");
  if (begins_line && empty_before && after.starts_with('\n')) after.remove_prefix(1);
  return std::string(before) + std::string(after);
}

bool has_index_map(std::string_view text) {
  const syntax::Tree tree = tree_of(text);
  return std::any_of(tree.statements.begin(), tree.statements.end(), [](const auto& statement) {
    return std::holds_alternative<syntax::TaskMapStatement>(statement.node);
  });
}

// Returns the first error, its source line and its first help as one line.
std::string mistake_in(std::string_view text) {
  Diagnostics diags(Source("reply", std::string(text)));
  const syntax::Tree tree = syntax::parse(diags.source(), diags);
  for (const Diagnostic& diagnostic : diags.sorted()) {
    if (diagnostic.severity != Severity::kError) continue;
    const std::string_view line =
        diagnostic.range ? tree.source.text(tree.source.line_at(diagnostic.range->begin)) : "";
    return fmt::format("{} in `{}`{}", one_line(diagnostic.message, 160), one_line(line, 100),
                       diagnostic.helps.empty()
                           ? std::string()
                           : fmt::format(" ({})", one_line(diagnostic.helps.front(), 100)));
  }
  return "";
}

}  // namespace groma::tuning
