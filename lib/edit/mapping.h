// EditableMapping: the text of a mapping as a list of statements and functions that can be changed.
// The text may have errors; what cannot be read stays as it is.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "edit/functions.h"
#include "edit/statement.h"
#include "groma/diagnostics.h"
#include "groma/program.h"
#include "groma/source.h"
#include "syntax/lexer.h"

namespace groma::edit {

// Keys of statements (StatementParts::statement_key()), and "def NAME" for functions and globals,
// which share one name space.
using Keys = std::set<std::string, std::less<>>;
// Returns the key of the function or global with this name.
std::string key_of_definition(std::string_view name);

// A mapping that does not change: its functions return edits or new texts. All ranges are byte
// offsets in source(). Edits of one call never overlap. The text that they write has the line ends
// of the mapping and the form that `groma format` gives it.
class EditableMapping {
 public:
  // A statement, function or global of the text.
  struct ProgramItem {
    // The range of the statement without its `;`.
    Range range;
    // The end of the statement with its `;`, if it has one.
    std::uint32_t end = 0;
    // The key, such as "Region stencil A GPU", "def block" or "print".
    std::string key;
    // The parts of the statement. nullopt for a function, a global or `print`.
    std::optional<StatementParts> statement;
    syntax::StatementKind kind = syntax::StatementKind::kTask;
    // True if a comment stands inside the range.
    bool has_comment = false;
    // False if the item lies within an earlier item: in a `when` block, or behind a function that
    // lacks its closing brace.
    bool is_separate = true;
    // True for a statement in a `when` block whose condition is known to hold. Such a statement
    // takes precedence over those outside blocks.
    bool is_in_active_block = false;
    // True for a global that only a damaged statement seems to define.
    bool implied = false;
  };

  explicit EditableMapping(const Source& source);
  explicit EditableMapping(std::string_view text)
      : EditableMapping(Source("mapping", std::string(text))) {}
  // The conditions of `when` blocks are known if the program is bound to a machine.
  explicit EditableMapping(const Program& program);

  const Source& source() const { return source_; }
  // Returns the items in the order of the text. The item with index i has the DecisionOrigin i + 1.
  const std::vector<ProgramItem>& items() const { return items_; }
  const ProgramItem& item(DecisionOrigin origin) const { return items_[origin.statement - 1]; }
  // Returns the text of an item with its `;`.
  std::string_view item_text(const ProgramItem& item) const {
    return source_.text({item.range.begin, item.end});
  }
  // Returns the keys of all items outside `when` blocks. A block has a key of its own.
  Keys item_keys() const;
  // Returns the keys of functions and globals.
  Keys definition_keys() const;

  // The changes of some items. The key is the index of an item in items(). The value is the
  // statement that replaces the item, or nullopt, which removes the item.
  using Changes = std::map<std::size_t, std::optional<StatementParts>>;
  // Returns the edits that make the changes. Only the words that differ are replaced, with the
  // spaces around them. A removed item goes with its `;` and the spaces or the line that it would
  // leave empty; a function goes with the comments directly above it. Returns nullopt if a comment
  // stands between or beside the words that must be replaced.
  std::optional<std::vector<Edit>> change_items(const Changes& changes) const;
  // Return the text of the mapping without the items that have these keys, or without the item that
  // has this index in items().
  std::string text_without(const Keys& keys) const;
  std::string text_without(std::size_t item) const;
  // Returns the edits that move an item behind all others.
  std::vector<Edit> move_to_end(std::size_t item) const;

  // What set_statement() returns.
  struct SetStatementResult {
    // The edits of the mapping's text. Empty if the mapping has the statement already.
    std::vector<Edit> edits;
    // The index in items() of the mapping's item that the edits replace by the new statement.
    // nullopt if the edits add the statement without replacing an item, or if there are no edits.
    std::optional<std::size_t> replaced_item;
    // The statement that the edits write. Its mapping function may have another name than
    // requested. Not set if there are no edits.
    StatementParts statement;
    // The definition of the mapping function that the edits add. Empty if they add no function.
    std::string definition;
  };
  // Returns the edits that write the statement in place of the first item with its key. Without
  // such an item, or if a comment stands inside that item, the statement is added before all
  // others, because the first of two statements with the same key counts. If statements in active
  // `when` blocks decide the same, the statement is written there. `function` (may be null)
  // is the mapping function that the statement binds; it is written for `kind`, unless the mapping
  // has it already. If the mapping defines its name otherwise, it is named NAME_2 or higher.
  SetStatementResult set_statement(StatementParts statement,
                                   const MappingFunction* function = nullptr,
                                   ProcKind kind = ProcKind::kCpu) const;
  // Returns true if a statement in an active `when` block decides some of what `statement` decides.
  bool has_active_block_for(const StatementParts& statement) const {
    return find_in_active_block(statement) != items_.end();
  }
  // Returns the text with these statements written into the active `when` blocks that decide the
  // same. has_active_block_for() must be true for each of them.
  std::string text_with_in_blocks(const std::vector<StatementParts>& statements) const;

 private:
  std::vector<ProgramItem>::const_iterator find_in_active_block(
      const StatementParts& statement) const;
  Edit insert_before(const ProgramItem& item, const std::vector<StatementParts>& statements) const;
  std::optional<Edit> replace_item(const ProgramItem& item, const StatementParts& statement) const;
  Range range_to_remove(Range range) const;
  bool has_comment(Range range) const;
  std::uint32_t with_comments_above(std::uint32_t begin) const;
  // Returns the offset at which an item begins. For a function, this is the begin of the comments
  // above it.
  std::uint32_t begin_of_item(const ProgramItem& item) const;
  std::string with_line_ends(std::string_view text) const;
  std::string text_after(const std::vector<Edit>& edits) const;

  Source source_;
  std::vector<ProgramItem> items_;
  std::vector<syntax::SourceComment> comments_;
  std::string line_end_ = "\n";
};

// Returns edits of a text that have the effect of `first` followed by `second`. The ranges of
// `second` refer to the text after `first`. The edits of `first` must not overlap each other, nor
// those of `second`. Returns nullopt if an edit of `second` changes both a text that `first` wrote
// and text beside it, or if two edits of `second` lie within the same text that `first` wrote.
std::optional<std::vector<Edit>> join_edits(std::vector<Edit> first,
                                            const std::vector<Edit>& second);

}  // namespace groma::edit
