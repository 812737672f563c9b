// StatementParts: one statement of a mapping as typed parts. Every text of a statement that the
// library writes is made here, in the form that `groma format` gives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "groma/kinds.h"
#include "groma/program.h"
#include "syntax/tree.h"

namespace groma::edit {

// A constraint of a Layout statement, such as "SOA" or "Align==64". Only kAlign uses `op` and
// `bytes`.
struct LayoutWord {
  syntax::ConstraintWord word = syntax::ConstraintWord::kSoa;
  AlignOp op = AlignOp::kNone;
  std::int64_t bytes = 0;
  friend bool operator==(const LayoutWord&, const LayoutWord&) = default;
};
using LayoutWords = std::vector<LayoutWord>;
// Returns the constraints that state every property of a layout.
LayoutWords layout_words_of(const LayoutSpec& layout);
// Returns the constraints as a Layout statement lists them: "AOS C_order Align==128".
std::string text_of(const LayoutWords& words);

// Return the kinds as a statement lists them: "GPU, CPU".
std::string text_of(const std::vector<ProcKind>& kinds);
std::string text_of(const std::vector<MemKind>& kinds);

// The place to which a statement applies. Without a kind it is `*` in Region and Layout, and
// nothing is written in the other statements.
using Place = std::variant<std::monostate, ProcKind, MemKind>;

// A statement as a value. `kind` decides which members matter. Names are spelled as programs write
// them (syntax::spell_name) or are `*`; a region may also be a position, such as "0".
struct StatementParts {
  MappingStatement kind = MappingStatement::kTask;
  // Used by all kinds. Empty if IndexTaskMap binds a processor kind.
  std::vector<std::string> tasks = {};
  // Used by Region, Layout and CollectMemory.
  std::vector<std::string> regions = {};
  // Used by Region and Layout. InstanceLimit, IndexTaskMap, TaskSteal and other statements allow
  // only a ProcKind.
  Place place = {};
  // The next members hold what the statement decides.
  //
  // The processor kinds of a Task statement, in order.
  std::vector<ProcKind> processors = {};
  // The memory kinds of a Region statement, in order.
  std::vector<MemKind> memories = {};
  // The words of a Layout statement.
  LayoutWords layout = {};
  // The number of an InstanceLimit statement.
  std::int64_t limit = 0;
  // The processors whose instances an InstanceLimit statement counts together.
  LimitScope scope = LimitScope::kProcessor;
  // The mapping function of an IndexTaskMap or SingleTaskMap statement.
  std::string function = {};
  // The scope of a TaskSteal statement.
  StealScope steal_scope = StealScope::kSameNode;

  // Returns the text without `;`.
  std::string statement_text() const;
  // Returns the part of the text that says what the statement is about: "Region * A GPU". If two
  // statements have the same key, the first one counts. The spelling of names does not matter.
  std::string statement_key() const;
  friend bool operator==(const StatementParts&, const StatementParts&) = default;
};

// Returns a parsed statement; nullopt if it is a function, a global, `print` or `return`.
std::optional<StatementParts> statement_of(const syntax::Tree& tree,
                                           const syntax::Statement& statement);

}  // namespace groma::edit
