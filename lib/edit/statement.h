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

// A constraint of a Layout statement, such as "SOA" or "Align==64". `op` and `bytes` are used only
// by kAlign.
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

// The processor or memory kind to which a statement applies, or std::monostate if it applies to
// every kind. Region and Layout statements spell "every kind" as `*`; other statements leave it
// out.
using Place = std::variant<std::monostate, ProcKind, MemKind>;

// A statement as a value. `kind` decides which members matter. Names are spelled as programs write
// them (syntax::name_as_written) or are `*`; a region may also be a position, such as "0".
struct StatementParts {
  MappingStatement kind = MappingStatement::kTask;
  // The tasks that the statement names. Every kind of statement may name tasks. The list is empty
  // if an IndexTaskMap statement applies to a processor kind instead of tasks.
  std::vector<std::string> tasks = {};
  // The regions that the statement names. Only Region, Layout and CollectMemory statements name
  // any.
  std::vector<std::string> regions = {};
  // The kind of processor or memory to which the statement applies. Region and Layout statements
  // may give either; InstanceLimit, IndexTaskMap, TaskSteal and other statements only a processor
  // kind.
  Place place = {};
  // The next members hold what the statement decides.
  //
  // The processor kinds that a Task statement lists, in the order of preference.
  std::vector<ProcKind> processors = {};
  // The memory kinds that a Region statement lists, in the order of preference.
  std::vector<MemKind> memories = {};
  // The constraints that a Layout statement lists.
  LayoutWords layout = {};
  // The largest number of instances that an InstanceLimit statement allows to run at a time.
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
