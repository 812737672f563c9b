// Writes statements from their parts, and reads the parts of parsed statements.
#include "edit/statement.h"

#include <fmt/format.h>

#include <string_view>

#include "syntax/lexer.h"
#include "syntax/printer.h"
#include "syntax/token.h"

namespace groma::edit {
namespace {

using syntax::ConstraintWord;

// Appends the items, each spelled by `spell`, with `separator` between them.
template <typename Item, typename Spell>
std::string joined(const std::vector<Item>& items, std::string_view separator, const Spell& spell) {
  std::string text;
  for (const Item& item : items) {
    if (!text.empty()) text += separator;
    text += spell(item);
  }
  return text;
}

// Returns the name as the statement spells it. This is the `spell` of a statement's text.
std::string_view as_written(const std::string& name) { return name; }

// Returns the offset behind the quotation with which a text begins.
std::size_t end_of_quotation(std::string_view text) {
  std::size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2U : 1U;
  return at + 1;
}

// Returns a name as keys spell it: in one way, whether the statement quotes the name or not. A
// position, such as "0", and a pattern or selector, such as "calc_*", are returned as they are.
std::string in_key(const std::string& name) {
  if (name.find_first_not_of("0123456789") == name.npos) return name;
  // The first part of a selector may be quoted, too.
  const bool is_quoted = name.starts_with('"') && end_of_quotation(name) == name.size();
  if (!is_quoted && (name.starts_with('"') || name.find_first_of("*>[") != name.npos)) return name;
  return syntax::name_as_written(is_quoted ? syntax::unescape_string(name) : name).value_or(name);
}

// Returns the beginning of a statement's text: its keyword, and the tasks, regions and kind to
// which it applies, but not what it decides about them. Names are spelled by `spell`.
template <typename Spell>
std::string head(const StatementParts& of, const Spell& spell) {
  std::string text(syntax::spelling_of(static_cast<syntax::StatementKind>(of.kind)));
  const auto add = [&text](std::string_view words) {
    if (!words.empty()) text.append(" ").append(words);
  };
  add(joined(of.tasks, ", ", spell));
  add(joined(of.regions, ", ", spell));
  if (const auto* kind = std::get_if<ProcKind>(&of.place)) {
    add(name_of(*kind));
  } else if (const auto* memory = std::get_if<MemKind>(&of.place)) {
    add(name_of(*memory));
  } else if (of.kind == MappingStatement::kRegion || of.kind == MappingStatement::kLayout) {
    add("*");
  }
  return text;
}

// Reads the parts of one parsed statement.
struct Reader {
  const syntax::Tree& tree;

  // Returns a name as programs write it: in quotes if the source has quotes.
  std::string name(NameId id, Range range) const {
    const std::string text(tree.name_table.text(id));
    const bool is_quoted =
        !tree.name_table.is_pattern(id) && tree.source.text(range).starts_with('"');
    return is_quoted ? syntax::quote_string(text) : text;
  }
  std::vector<std::string> names(syntax::IndexRange list) const {
    std::vector<std::string> all;
    for (const syntax::NameUse& one : tree.names_of(list)) all.push_back(name(one.id, one.range));
    return all;
  }
  // Returns the regions that a statement lists, each as a name or as its position among the task's
  // requirements.
  std::vector<std::string> which(syntax::IndexRange list) const {
    std::vector<std::string> all;
    for (const syntax::RegionRef& one : syntax::Tree::entries_of(tree.region_refs, list)) {
      all.push_back(one.is_position ? std::to_string(one.value) : name(one.value, one.range));
    }
    return all;
  }
  template <typename Kind>
  std::vector<Kind> kinds(syntax::IndexRange list) const {
    std::vector<Kind> all;
    for (const syntax::KindWord& word : syntax::Tree::entries_of(tree.kind_words, list)) {
      all.push_back(static_cast<Kind>(word.value));
    }
    return all;
  }
  static Place place(const syntax::StatementPlace& place) {
    if (place.kind == syntax::StatementPlace::Kind::kProc)
      return static_cast<ProcKind>(place.word.value);
    if (place.kind == syntax::StatementPlace::Kind::kMem)
      return static_cast<MemKind>(place.word.value);
    return {};
  }
  static Place place(const std::optional<syntax::KindWord>& word) {
    return word ? Place(static_cast<ProcKind>(word->value)) : Place();
  }

  // Each of the next functions returns the parts of one kind of statement. The last five kinds
  // (assignments, `print`, `return`, functions and `when` blocks) are not mapping statements, so
  // the result is nullopt.
  using Made = std::optional<StatementParts>;
  Made operator()(const syntax::TaskStatement& s) const {
    return StatementParts{.tasks = names(s.names), .processors = kinds<ProcKind>(s.procs)};
  }
  Made operator()(const syntax::RegionStatement& s) const {
    return StatementParts{.kind = MappingStatement::kRegion,
                          .tasks = names(s.names),
                          .regions = which(s.which),
                          .place = place(s.place),
                          .memories = kinds<MemKind>(s.memories)};
  }
  // Reads the constraints of a Layout statement.
  Made operator()(const syntax::LayoutStatement& s) const {
    LayoutWords words;
    for (const auto& each : syntax::Tree::entries_of(tree.constraints, s.constraints)) {
      words.push_back({each.word, each.op, each.bytes});
    }
    return StatementParts{.kind = MappingStatement::kLayout,
                          .tasks = names(s.names),
                          .regions = which(s.which),
                          .place = place(s.place),
                          .layout = std::move(words)};
  }
  Made operator()(const syntax::InstanceLimitStatement& s) const {
    return StatementParts{.kind = MappingStatement::kInstanceLimit,
                          .tasks = names(s.names),
                          .place = place(s.proc),
                          .limit = s.limit,
                          .scope = s.scope};
  }
  Made operator()(const syntax::CollectMemoryStatement& s) const {
    return StatementParts{.kind = MappingStatement::kCollectMemory,
                          .tasks = names(s.names),
                          .regions = which(s.which)};
  }
  Made operator()(const syntax::TaskMapStatement& s) const {
    const auto kind = s.index ? MappingStatement::kIndexTaskMap : MappingStatement::kSingleTaskMap;
    return StatementParts{.kind = kind,
                          .tasks = names(s.names),
                          .place = place(s.proc),
                          .function = std::string(tree.name_table.text(s.function.id))};
  }
  Made operator()(const syntax::ControlReplicateStatement& s) const {
    return StatementParts{.kind = MappingStatement::kControlReplicate, .tasks = names(s.names)};
  }
  Made operator()(const syntax::TaskStealStatement& s) const {
    return StatementParts{.kind = MappingStatement::kTaskSteal,
                          .tasks = names(s.names),
                          .place = place(s.proc),
                          .steal_scope = s.scope};
  }
  Made operator()(const syntax::AssignStatement&) const { return std::nullopt; }
  Made operator()(const syntax::PrintStatement&) const { return std::nullopt; }
  Made operator()(const syntax::ReturnStatement&) const { return std::nullopt; }
  Made operator()(const syntax::DefStatement&) const { return std::nullopt; }
  Made operator()(const syntax::WhenStatement&) const { return std::nullopt; }
};

}  // namespace

// Returns one word for each property of a layout.
LayoutWords layout_words_of(const LayoutSpec& layout) {
  LayoutWords words = {
      {layout.fields == FieldOrder::kAos ? ConstraintWord::kAos : ConstraintWord::kSoa},
      {layout.dimensions == DimensionOrder::kC ? ConstraintWord::kCOrder
                                               : ConstraintWord::kFOrder}};
  if (layout.compact) words.push_back({ConstraintWord::kCompact});
  if (layout.exact) words.push_back({ConstraintWord::kExact});
  if (layout.align_op != AlignOp::kNone) {
    words.push_back({ConstraintWord::kAlign, layout.align_op, layout.align_bytes});
  }
  return words;
}

std::string text_of(const LayoutWords& words) {
  return joined(words, " ", [](const LayoutWord& each) {
    std::string text(syntax::spelling_of(each.word));
    if (each.word != ConstraintWord::kAlign) return text;
    return fmt::format("{}{}{}", text, syntax::spelling_of(each.op), each.bytes);
  });
}

std::string text_of(const std::vector<ProcKind>& kinds) {
  return joined(kinds, ", ", [](ProcKind kind) { return name_of(kind); });
}
std::string text_of(const std::vector<MemKind>& kinds) {
  return joined(kinds, ", ", [](MemKind kind) { return name_of(kind); });
}

std::string StatementParts::statement_key() const { return head(*this, in_key); }

// Returns the text of the statement: first the keyword, tasks, regions and kind, then the part that
// only this kind of statement has.
std::string StatementParts::statement_text() const {
  std::string text = head(*this, as_written);
  const auto add = [&text](std::string_view words) {
    if (!words.empty()) text.append(" ").append(words);
  };
  switch (kind) {
    case MappingStatement::kTask:
      add(edit::text_of(processors));
      break;
    case MappingStatement::kRegion:
      add(edit::text_of(memories));
      break;
    case MappingStatement::kLayout:
      add(edit::text_of(layout));
      break;
    case MappingStatement::kInstanceLimit:
      add(std::to_string(limit));
      add(syntax::spelling_of(scope));
      break;
    case MappingStatement::kIndexTaskMap:
    case MappingStatement::kSingleTaskMap:
      add(function);
      break;
    case MappingStatement::kTaskSteal:
      add(syntax::spelling_of(steal_scope));
      break;
    // A CollectMemory or ControlReplicate statement only names tasks and regions.
    case MappingStatement::kCollectMemory:
    case MappingStatement::kControlReplicate:
      break;
  }
  return text;
}

std::optional<StatementParts> statement_of(const syntax::Tree& tree,
                                           const syntax::Statement& statement) {
  return std::visit(Reader{tree}, statement.node);
}

}  // namespace groma::edit
