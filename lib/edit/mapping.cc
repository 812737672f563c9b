// Reads the items of a mapping, and makes the edits that change them.
#include "edit/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "program/data.h"
#include "syntax/parser.h"
#include "syntax/printer.h"

namespace groma::edit {
namespace {

using syntax::StatementKind;

// Returns the kind of a parsed statement that is not a mapping statement.
struct KindOf {
  StatementKind operator()(const syntax::AssignStatement&) const { return StatementKind::kAssign; }
  StatementKind operator()(const syntax::PrintStatement&) const { return StatementKind::kPrint; }
  StatementKind operator()(const syntax::ReturnStatement&) const { return StatementKind::kReturn; }
  StatementKind operator()(const syntax::DefStatement&) const { return StatementKind::kDef; }
  StatementKind operator()(const syntax::WhenStatement&) const { return StatementKind::kWhen; }
  // Returns a placeholder for a mapping statement, whose StatementParts tell its kind.
  template <typename Node>
  StatementKind operator()(const Node&) const {
    return StatementKind::kTask;
  }
};

// Returns the key of the function or global that a statement defines, `when` and the condition of a
// block, or the word of any other statement.
std::string key_of(const syntax::Tree& tree, const syntax::Statement& statement) {
  if (const auto* def = std::get_if<syntax::DefStatement>(&statement.node)) {
    return key_of_definition(tree.name_table.text(def->name.id));
  }
  if (const auto* assign = std::get_if<syntax::AssignStatement>(&statement.node)) {
    return key_of_definition(tree.name_table.text(assign->target.id));
  }
  if (const auto* when = std::get_if<syntax::WhenStatement>(&statement.node)) {
    return "when " + syntax::print_tree(tree, when->condition);
  }
  return std::string(syntax::spelling_of(std::visit(KindOf(), statement.node)));
}

// Returns true for white space that does not end a line.
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\a'; }

// Returns true if a statement with this key may be written in place of the item. A comment inside
// the item would be lost.
bool may_be_replaced(const EditableMapping::ProgramItem& item, std::string_view key) {
  return item.key == key && !item.has_comment;
}

// Returns the ranges of the words and signs of a text.
std::vector<Range> words_in(const Source& text) {
  Diagnostics ignored(text);
  syntax::Lexer lexer(text, ignored, nullptr);
  std::vector<Range> words;
  for (syntax::Token token = lexer.next_token(); token.kind != syntax::TokenKind::kEnd;
       token = lexer.next_token()) {
    words.push_back(token.range);
  }
  return words;
}

}  // namespace

std::string key_of_definition(std::string_view name) { return fmt::format("def {}", name); }

// Parses the text and lists its items. Errors in the text are not reported.
EditableMapping::EditableMapping(const Source& source) : source_(source) {
  Diagnostics ignored(source);
  syntax::Tree tree = syntax::parse(source, ignored, /*keep_comments=*/true);
  comments_ = std::move(tree.comments);
  if (source.text().find("\r\n") != std::string_view::npos) line_end_ = "\r\n";
  // `end` is the largest end offset of all items read so far. An item that begins before it lies
  // within an earlier item.
  std::uint32_t end = 0;
  for (const syntax::Statement& statement : tree.statements) {
    ProgramItem& item = items_.emplace_back();
    item.range = statement.range;
    item.end = std::max(statement.range.end, statement.end);
    item.statement = statement_of(tree, statement);
    item.kind = item.statement ? static_cast<StatementKind>(item.statement->kind)
                               : std::visit(KindOf(), statement.node);
    item.key = item.statement ? item.statement->statement_key() : key_of(tree, statement);
    item.has_comment = has_comment(item.range);
    const auto* assign = std::get_if<syntax::AssignStatement>(&statement.node);
    item.implied = assign != nullptr && assign->implied;
    item.is_separate = item.range.begin >= end;
    end = std::max(end, item.end);
  }
}

// Marks the statements of the blocks that act on the machine to which the program is bound.
EditableMapping::EditableMapping(const Program& program) : EditableMapping(program.source()) {
  const std::set<std::uint32_t> holding = program::holding_conditions(program.data());
  for (const auto& [statement, when] : program.data().whens) {
    items_[statement - 1].is_in_active_block = holding.contains(when);
  }
}

Keys EditableMapping::item_keys() const {
  Keys keys;
  // The end of the `when` block that was read last.
  std::uint32_t block_end = 0;
  for (const ProgramItem& item : items_) {
    if (item.range.begin >= block_end) keys.insert(item.key);
    if (item.kind == StatementKind::kWhen) block_end = item.end;
  }
  return keys;
}

// Returns the keys of all functions and globals of the mapping. Functions and globals share one
// name space.
Keys EditableMapping::definition_keys() const {
  Keys keys;
  for (const ProgramItem& item : items_) {
    if (item.kind == StatementKind::kDef || item.kind == StatementKind::kAssign) {
      keys.insert(item.key);
    }
  }
  return keys;
}

// Returns true if a comment begins in the range.
bool EditableMapping::has_comment(Range range) const {
  const auto comment = std::lower_bound(comments_.begin(), comments_.end(), range.begin,
                                        [](const syntax::SourceComment& each, std::uint32_t begin) {
                                          return each.range.begin < begin;
                                        });
  return comment != comments_.end() && comment->range.begin < range.end;
}

// Returns the beginning of the comments on the lines directly above `begin`, or `begin`.
std::uint32_t EditableMapping::with_comments_above(std::uint32_t begin) const {
  const std::string_view text = source_.text();
  for (auto comment = comments_.rbegin(); comment != comments_.rend(); ++comment) {
    if (comment->range.begin >= begin) continue;
    const std::string_view between = source_.text({comment->range.end, begin});
    const bool touches = comment->own_line &&
                         std::count(between.begin(), between.end(), '\n') == 1 &&
                         between.find_first_not_of(" \t\r\a\n") == text.npos;
    if (!touches) break;
    begin = comment->range.begin;
  }
  return begin;
}

std::uint32_t EditableMapping::begin_of_item(const ProgramItem& item) const {
  return item.kind == StatementKind::kDef ? with_comments_above(item.range.begin)
                                          : item.range.begin;
}

// Returns the text with each "\n" replaced by the line end that the mapping uses.
std::string EditableMapping::with_line_ends(std::string_view text) const {
  std::string lines;
  for (const char c : text) c == '\n' ? lines += line_end_ : lines += c;
  return lines;
}

std::string EditableMapping::text_after(const std::vector<Edit>& edits) const {
  std::size_t applied = 0;
  return apply_fixes(source_, {{"", edits, true}}, &applied);
}

// -------------------------------------------------------------------------------------- changes

// Returns the range to remove if the items in `range` are removed. If nothing else stands on their
// lines, it is the whole lines; one of the empty lines before and behind them is removed, too.
Range EditableMapping::range_to_remove(Range range) const {
  const std::string_view text = source_.text();
  // Extend the range over the white space before and behind the items, without leaving their lines.
  std::size_t begin = range.begin, end = range.end;
  while (begin > 0 && is_blank(text[begin - 1])) --begin;
  while (end < text.size() && is_blank(text[end])) ++end;
  const bool begins_line = begin == 0 || text[begin - 1] == '\n';
  const bool ends_line = end == text.size() || text[end] == '\n';
  // If other text follows the items on their last line, the spaces before the items are kept.
  if (!ends_line) begin = range.begin;
  if (!begins_line && ends_line && end < text.size() && text[end - 1] == '\r') --end;
  if (begins_line && ends_line) {
    end = std::min(end + 1, text.size());
    const auto after_empty_line = [&] {
      const std::string_view before = text.substr(0, begin);
      return before.empty() || before.ends_with("\n\n") || before.ends_with("\n\r\n");
    };
    const std::size_t next = std::min(text.find_first_not_of(" \t\r\a", end), text.size());
    // If no text follows the removed items, the empty lines before them are removed, too. Otherwise
    // the mapping would end with an empty line.
    if (next == text.size()) {
      while (begin > 0 && after_empty_line()) begin = text.rfind('\n', begin - 2) + 1;
    } else if (after_empty_line() && text[next] == '\n') {
      end = next + 1;
    }
  }
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

// Returns the edit that replaces the words of an item by those of `statement`. Equal words at the
// beginning and at the end are left alone.
std::optional<Edit> EditableMapping::replace_item(const ProgramItem& item,
                                                  const StatementParts& statement) const {
  const Source before("", std::string(source_.text(item.range))),
      after("", statement.statement_text());
  const std::vector<Range> old_words = words_in(before), new_words = words_in(after);
  const std::size_t most = std::min(old_words.size(), new_words.size());
  const auto same = [&](std::size_t a, std::size_t b) {
    return before.text(old_words[a]) == after.text(new_words[b]);
  };
  // The numbers of words that the old and the new statement have in common: `first` at the
  // beginning, `last` at the end.
  std::size_t first = 0, last = 0;
  while (first < most && same(first, first)) ++first;
  while (last < most - first && same(old_words.size() - 1 - last, new_words.size() - 1 - last)) {
    ++last;
  }
  const auto between = [&](const std::vector<Range>& words) {
    return Range{first == 0 ? words.front().begin : words[first - 1].end,
                 last == 0 ? words.back().end : words[words.size() - last].begin};
  };
  Range range = between(old_words);
  range = {range.begin + item.range.begin, range.end + item.range.begin};
  if (has_comment(range)) return std::nullopt;
  return Edit{range, std::string(after.text(between(new_words)))};
}

// Returns the edits that replace or remove items, from the first to the last.
std::optional<std::vector<Edit>> EditableMapping::change_items(const Changes& changes) const {
  std::vector<Edit> edits;
  for (auto each = changes.begin(); each != changes.end(); ++each) {
    const ProgramItem& item = items_[each->first];
    if (each->second) {
      auto edit = replace_item(item, *each->second);
      if (!edit) return std::nullopt;
      edits.push_back(std::move(*edit));
      continue;
    }
    // If only white space stands between removed items, one edit removes them.
    Range range{begin_of_item(item), item.end};
    for (auto next = std::next(each); next != changes.end() && !next->second; each = next++) {
      const ProgramItem& other = items_[next->first];
      const std::uint32_t begin = begin_of_item(other);
      // An item that begins before the end of the removed text lies within it.
      if (begin < range.end) continue;
      const std::string_view between = source_.text({range.end, begin});
      if (between.find_first_not_of(" \t\r\a\n") != between.npos) break;
      range.end = other.end;
    }
    edits.push_back({range_to_remove(range), ""});
  }
  return edits;
}

// Removes the items with these keys. An item within a damaged item goes with that item only.
std::string EditableMapping::text_without(const Keys& keys) const {
  Changes changes;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].is_separate && keys.contains(items_[i].key)) changes[i] = std::nullopt;
  }
  return text_after(*change_items(changes));
}

std::string EditableMapping::text_without(std::size_t item) const {
  return text_after(*change_items({{item, std::nullopt}}));
}

// Returns the edits that remove an item and write it behind all others.
std::vector<Edit> EditableMapping::move_to_end(std::size_t item) const {
  std::vector<Edit> edits = *change_items({{item, std::nullopt}});
  const auto end = static_cast<std::uint32_t>(source_.text().size());
  const bool ends_line = source_.text().ends_with('\n');
  edits.push_back({{end, end},
                   fmt::format("{}{};{}", ends_line ? "" : line_end_,
                               source_.text(items_[item].range), line_end_)});
  return edits;
}

// Returns the edits after which the mapping has the statement. If the statement binds a mapping
// function that the mapping lacks, the edits define this function, too.
EditableMapping::SetStatementResult EditableMapping::set_statement(StatementParts statement,
                                                                   const MappingFunction* function,
                                                                   ProcKind kind) const {
  SetStatementResult setting;
  std::vector<Edit>& edits = setting.edits;
  if (function != nullptr) {
    const std::string name = function_name_for(function->name, kind);
    statement.function = name;
    // If the mapping contains exactly this definition of the function, nothing is defined.
    // Otherwise the function is defined; if the mapping defines its name differently, a number is
    // appended to the name.
    const Keys taken = definition_keys();
    if (source_.text().find(with_line_ends(function_definition(*function, kind, name))) ==
        std::string::npos) {
      for (int i = 2; taken.contains(key_of_definition(statement.function)); ++i) {
        statement.function = fmt::format("{}_{}", name, i);
      }
      setting.definition = function_definition(*function, kind, statement.function);
    }
  }
  const std::string_view text = source_.text();
  const std::uint32_t first = items_.empty() ? static_cast<std::uint32_t>(text.size())
                                             : with_comments_above(items_.front().range.begin);
  // The first statement with a key decides, so only the first one is replaced.
  const std::string key = statement.statement_key();
  auto found = find_in_active_block(statement);
  const bool in_block = found != items_.end();
  if (!in_block) {
    found = std::find_if(items_.begin(), items_.end(), [&](const ProgramItem& item) {
      return item.is_separate && item.statement && item.key == key;
    });
  }
  const bool is_there = found != items_.end() && *found->statement == statement;
  if (is_there && setting.definition.empty()) return setting;
  if (in_block || is_there || (found != items_.end() && may_be_replaced(*found, key))) {
    if (!setting.definition.empty()) {
      edits.push_back({{first, first}, with_line_ends(setting.definition)});
    }
    if (!is_there) {
      if (may_be_replaced(*found, key)) {
        edits.push_back(*replace_item(*found, statement));
        setting.replaced_item = static_cast<std::size_t>(found - items_.begin());
      } else {
        edits.push_back(insert_before(*found, {statement}));
      }
    }
  } else {
    // A text without statements may end with a comment that has no line end. The statement must
    // then begin on a new line.
    const bool unfinished = items_.empty() && !text.empty() && text.back() != '\n';
    edits.push_back({{first, first},
                     with_line_ends(fmt::format("{}{}{};\n", unfinished ? "\n" : "",
                                                setting.definition, statement.statement_text()))});
  }
  setting.statement = std::move(statement);
  return setting;
}

// Returns the first statement in an active block that decides some of what `statement` decides: it
// is of the same kind, for the same place, and names one of the tasks and of the regions.
std::vector<EditableMapping::ProgramItem>::const_iterator EditableMapping::find_in_active_block(
    const StatementParts& statement) const {
  const auto have_common = [](const std::vector<std::string>& a,
                              const std::vector<std::string>& b) {
    return (a.empty() && b.empty()) ||
           std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
  };
  return std::find_if(items_.begin(), items_.end(), [&](const ProgramItem& item) {
    return item.is_in_active_block && item.statement && item.statement->kind == statement.kind &&
           item.statement->place == statement.place &&
           have_common(item.statement->tasks, statement.tasks) &&
           have_common(item.statement->regions, statement.regions);
  });
}

// Returns the edit that writes statements before an item: on lines of their own if the item begins
// its line.
Edit EditableMapping::insert_before(const ProgramItem& item,
                                    const std::vector<StatementParts>& statements) const {
  const std::string_view before = std::string_view(source_.text()).substr(0, item.range.begin);
  const std::size_t line = before.find_last_not_of(" \t") + 1;
  const bool begins_line = line == 0 || before[line - 1] == '\n';
  std::string text;
  for (const StatementParts& statement : statements) {
    text += statement.statement_text() + ";";
    text += begins_line ? line_end_ + std::string(before.substr(line)) : " ";
  }
  return {{item.range.begin, item.range.begin}, std::move(text)};
}

std::string EditableMapping::text_with_in_blocks(
    const std::vector<StatementParts>& statements) const {
  // For each item of a block, the statement that replaces it and those that are written before it.
  struct Change {
    const StatementParts* replacement = nullptr;
    std::vector<StatementParts> before;
  };
  std::map<std::size_t, Change> changes;
  for (const StatementParts& statement : statements) {
    const auto found = find_in_active_block(statement);
    Change& change = changes[static_cast<std::size_t>(found - items_.begin())];
    if (may_be_replaced(*found, statement.statement_key())) {
      change.replacement = &statement;
    } else {
      change.before.push_back(statement);
    }
  }
  std::vector<Edit> edits;
  for (const auto& [index, change] : changes) {
    if (!change.before.empty()) edits.push_back(insert_before(items_[index], change.before));
    if (change.replacement != nullptr && *items_[index].statement != *change.replacement) {
      edits.push_back(*replace_item(items_[index], *change.replacement));
    }
  }
  return text_after(edits);
}

}  // namespace groma::edit
