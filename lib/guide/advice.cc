// Proposes changes and edits of the mapping statements that a rule blames.
#include "guide/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "edit/mapping.h"
#include "groma/harmless.h"
#include "guide/blamed_statements.h"
#include "program/data.h"

namespace groma::guide {
namespace {

// Limit on the bytes that a sentence shows of a line.
constexpr std::size_t kShownInAdvice = 200;

// Returns an edit that keeps index number `i` of an indexed machine view within bounds: `x` becomes
// `x % m.size[i]`. If `negative` is true, the index may be below 0, so the size is added before a
// second `%`. Returns nullopt for a view without a name and for an index that is not one number.
std::optional<Edit> kept_inside(const program::ProgramData& data, const Source& source,
                                const program::CodeNode& index, std::uint32_t i, bool negative) {
  using program::Op;
  const program::CodeNode& view = data.code[index.c];
  const program::CodeNode& item = data.code[data.lists[index.a + i]];
  if ((view.op != Op::kGlobal && view.op != Op::kLocal) || item.op == Op::kSplice ||
      item.op == Op::kAll) {
    return std::nullopt;
  }
  const bool looser = item.op == Op::kAdd || item.op == Op::kSubtract || item.op == Op::kNot ||
                      // The operators below bind less tightly than `%`, so `x` needs parentheses.
                      (item.op >= Op::kEqual && item.op <= Op::kConditional);
  const std::string size = fmt::format("{}.size[{}]", source.text(view.range), i);
  // An index that already ends with `% m.size[i]` gets no second `%`.
  const bool cut = item.op == Op::kModulo && source.text(item.range).ends_with("% " + size);
  const std::string once = cut ? std::string(source.text(item.range))
                               : fmt::format("{}{}{} % {}", looser ? "(" : "",
                                             source.text(item.range), looser ? ")" : "", size);
  return Edit{item.range, negative ? fmt::format("({0} + {1}) % {1}", once, size) : once};
}

// Returns the text of a mapping function's last statement after the fix, without its `;`.
std::string text_after(const Source& source, const program::CodeNode& index, const Fix& fix) {
  std::size_t applied = 0;
  const std::string after = apply_fixes(source, {fix}, &applied);
  const std::size_t longer = after.size() - source.text().size();
  const Range range = index.range;
  return "return " +
         harmless(after.substr(range.begin, range.end - range.begin + longer), kShownInAdvice);
}

// Returns a fix that keeps every index in the result of a mapping function within the machine view.
// Returns nullopt if the function does not end by returning an indexed view (`return m[i, j];`), or
// if no index needs a change.
std::optional<Fix> wrapped(const Program& program, std::int64_t function) {
  const program::ProgramData& data = program.data();
  if (function < 0 || static_cast<std::size_t>(function) >= data.functions.size()) {
    return std::nullopt;
  }
  const program::IndexRange body = data.functions[static_cast<std::size_t>(function)].body;
  if (body.count == 0) return std::nullopt;
  const program::ExecutableStatement& last = data.actions[body.begin + body.count - 1];
  if (last.kind != program::ExecutableStatement::Kind::kReturn || last.value == program::kNoCode) {
    return std::nullopt;
  }
  const program::CodeNode& index = data.code[last.value];
  if (index.op != program::Op::kIndex) return std::nullopt;
  const Source& source = program.source();
  const std::string_view view = source.text(data.code[index.c].range);
  Fix fix{fmt::format("end the indices with `% {}.size[...]`", view), {}, true};
  for (std::uint32_t i = 0; i < index.b; ++i) {
    const program::CodeNode& item = data.code[data.lists[index.a + i]];
    const bool negative = source.text(item.range).find('-') != std::string_view::npos;
    auto edit = kept_inside(data, source, index, i, negative);
    if (!edit) return std::nullopt;
    if (negative) fix.title = fmt::format("keep the indices from 0 to below `{}.size[...]`", view);
    // An index that is a literal number or already contains `.size[` is not changed.
    const bool inside =
        !negative && source.text(item.range).find(".size[") != std::string_view::npos;
    if (item.op != program::Op::kInt && !inside) fix.edits.push_back(std::move(*edit));
  }
  if (fix.edits.empty()) return std::nullopt;
  fix.title += fmt::format(": `{}`", text_after(source, index, fix));
  return fix;
}

// Returns a fix that moves a mapping statement behind the definition of the function that it names.
// Returns nullopt if the statement already stands behind the definition.
std::optional<Fix> moved_behind(const Program& program, const edit::EditableMapping& mapping,
                                const program::StatementRow& row) {
  if (row.value < 0 || static_cast<std::size_t>(row.value) >= program.function_count()) {
    return std::nullopt;
  }
  const Range function = program.function_source_range(static_cast<FunctionId>(row.value));
  if (function.begin < program.range({row.statement}).begin) return std::nullopt;
  // At the end, the statement would act on every machine.
  if (row.when != 0) return std::nullopt;
  return Fix{fmt::format("move it behind the definition of `{}`",
                         program.function_name(static_cast<FunctionId>(row.value))),
             mapping.move_to_end(row.statement - 1), true};
}

// Returns a fix that replaces the mapping statement of a table row by `statement`. Returns nullopt
// if the edit would delete a comment.
std::optional<Fix> rewritten(const edit::EditableMapping& mapping, const program::StatementRow& row,
                             edit::StatementParts statement, std::string title, bool sure) {
  auto edits = mapping.change_items({{row.statement - 1, std::move(statement)}});
  if (!edits) return std::nullopt;
  return Fix{std::move(title), *std::move(edits), sure};
}

// Returns a fix that replaces the word `from` by `to` in one list of a mapping statement, such as
// its memory kinds. `statement` is a copy of the row's statement. Returns nullopt if the list lacks
// `from` or already has `to`.
template <typename Word, typename Spell>
std::optional<Fix> replaced(const edit::EditableMapping& mapping, const program::StatementRow& row,
                            edit::StatementParts statement,
                            std::vector<Word> edit::StatementParts::*words, const Word& from,
                            const Word& to, const Spell& spell, bool sure) {
  std::vector<Word>& all = statement.*words;
  const auto at = std::find(all.begin(), all.end(), from);
  if (at == all.end() || std::find(all.begin(), all.end(), to) != all.end()) return std::nullopt;
  *at = to;
  return rewritten(mapping, row, std::move(statement),
                   fmt::format("write `{}` for `{}`", spell(to), spell(from)), sure);
}

std::string word(const edit::LayoutWord& layout) { return edit::text_of({layout}); }

// Returns a fix that writes the Layout statement with the other order of dimensions. A statement
// without an order means F_order, and gets C_order.
std::optional<Fix> reordered(const edit::EditableMapping& mapping, const program::StatementRow& row,
                             const edit::StatementParts& statement) {
  const edit::LayoutWord c{syntax::ConstraintWord::kCOrder}, f{syntax::ConstraintWord::kFOrder};
  const auto is_order = [&](const edit::LayoutWord& each) { return each == c || each == f; };
  edit::StatementParts other = statement;
  // If a statement names several orders, the last one counts.
  const auto last = std::find_if(other.layout.rbegin(), other.layout.rend(), is_order);
  if (last == other.layout.rend()) {
    other.layout.push_back(c);
    return rewritten(mapping, row, std::move(other),
                     fmt::format("add `{}`, without which it is {}", word(c), word(f)), false);
  }
  const edit::LayoutWord from = *last, to = from == c ? f : c;
  *last = to;
  return rewritten(mapping, row, std::move(other),
                   fmt::format("write `{}` for `{}`", word(to), word(from)), false);
}

// Returns the fix that corrects the mapping statement of a table row in the way that `rule.mend`
// says. Returns nullopt if the rule has no correction or the correction does not suit this
// statement.
std::optional<Fix> mended(const Program& program, const edit::EditableMapping& mapping,
                          const Rule& rule, const program::StatementRow& row) {
  const edit::StatementParts& statement = *mapping.item({row.statement}).statement;
  const auto in_memories = [&](MemKind from, MemKind to) {
    return replaced(
        mapping, row, statement, &edit::StatementParts::memories, from, to,
        [](MemKind kind) { return name_of(kind); }, true);
  };
  switch (rule.mend) {
    case StatementCorrection::kNone:
      return std::nullopt;
    case StatementCorrection::kRemove:
      return Fix{fmt::format("remove `{}`", text_of(program, program.range({row.statement}))),
                 *mapping.change_items({{row.statement - 1, std::nullopt}}), true};
    case StatementCorrection::kSoa:
      return replaced(mapping, row, statement, &edit::StatementParts::layout,
                      {syntax::ConstraintWord::kAos}, {syntax::ConstraintWord::kSoa}, word, true);
    case StatementCorrection::kOrder:
      return reordered(mapping, row, statement);
    case StatementCorrection::kWrap:
      return wrapped(program, row.value);
    case StatementCorrection::kBehind:
      return moved_behind(program, mapping, row);
    case StatementCorrection::kMemory:
      // A GPU cannot address ordinary memory, and a CPU cannot address the memory of a GPU.
      if (statement.place == edit::Place(ProcKind::kGpu)) {
        if (auto fix = in_memories(MemKind::kSysmem, MemKind::kFbmem)) return fix;
        return in_memories(MemKind::kSockmem, MemKind::kZcmem);
      }
      if (statement.place == edit::Place(ProcKind::kCpu) ||
          statement.place == edit::Place(ProcKind::kOmp)) {
        return in_memories(MemKind::kFbmem, MemKind::kSysmem);
      }
      return std::nullopt;
    case StatementCorrection::kFallback: {
      edit::StatementParts with = statement;
      const auto& kinds = with.processors;
      if (with.kind != MappingStatement::kTask) return std::nullopt;
      if (std::find(kinds.begin(), kinds.end(), ProcKind::kCpu) != kinds.end()) return std::nullopt;
      with.processors.push_back(ProcKind::kCpu);
      return rewritten(mapping, row, std::move(with), "let the task fall back to CPUs", false);
    }
  }
  return std::nullopt;
}

}  // namespace

bool has_statement_of_kinds(const Program& program,
                            const std::vector<MappingStatement>& statements) {
  return std::any_of(statements.begin(), statements.end(), [&](MappingStatement statement) {
    return !suspects(program, statement, {}).empty();
  });
}

// If several statements may be at fault but the rule can correct only one of them, that one is
// blamed.
void suggest_statement_changes(const Rule& rule, const CapturedGroups& groups,
                               const Program& program, GuideFeedback* feedback) {
  const edit::EditableMapping mapping(program.source());
  bool any = false;
  for (const MappingStatement statement : rule.statements) {
    std::vector<program::StatementRow> rows = suspects(program, statement, groups);
    if (rows.empty()) continue;
    any = true;
    std::vector<program::StatementRow> mendable;
    for (const program::StatementRow& row : rows) {
      if (mended(program, mapping, rule, row)) mendable.push_back(row);
    }
    // If the rule can correct exactly one of the statements, only this statement is blamed.
    if (mendable.size() == 1) rows = mendable;
    // All statements already stand behind their functions, so there is nothing to suggest.
    if (mendable.empty() && rule.mend == StatementCorrection::kBehind) continue;
    const bool removes = rule.mend == StatementCorrection::kRemove;
    std::string text = fmt::format("in {} {} {}", harmless(program.source().name()),
                                   rows.size() > 1 ? "one of these is to blame:"
                                   : removes       ? "remove"
                                                   : "change",
                                   places_of(program, rows));
    if (rows.size() == 1) {
      if (auto fix = mended(program, mapping, rule, rows.front())) {
        // An index out of bounds is corrected in the function that the statement names.
        if (rule.mend == StatementCorrection::kWrap) {
          const auto at = program.source().position(fix->edits.front().range.begin);
          text = fmt::format("in {} change line {}, in the function of {}",
                             harmless(program.source().name()), at.line, places_of(program, rows));
        }
        if (!removes) text += fmt::format(": {}", fix->title);
        feedback->fixes.push_back(std::move(*fix));
      }
    } else if (rule.mend == StatementCorrection::kOrder) {
      text += "; write the other order of the dimensions than it has";
    }
    add_sentence(std::move(text), &feedback->suggest);
  }
  // If the program has no statement of the blamed kinds, the advice is to add one. The advice is
  // left out for a rule that matched only how the run ended, for a rule whose correction removes a
  // statement, and for a rule that blames only InstanceLimit.
  const bool lacks =
      rule.role != RuleRole::kSilent && rule.mend != StatementCorrection::kRemove &&
      std::any_of(rule.statements.begin(), rule.statements.end(), [](MappingStatement statement) {
        return statement != MappingStatement::kInstanceLimit;
      });
  if (!any && lacks) {
    const edit::StatementParts order{.kind = MappingStatement::kLayout,
                                     .tasks = {"*"},
                                     .regions = {"*"},
                                     .layout = {{syntax::ConstraintWord::kCOrder}}};
    const std::string which =
        rule.mend == StatementCorrection::kOrder
            ? fmt::format("`{}`, without which it is F_order", order.statement_text())
            : "one";
    add_sentence(fmt::format("no statement of {} decides it, the default mapper does: add {}",
                             harmless(program.source().name()), which),
                 &feedback->suggest);
  }
}

// Finds the index expression at the source range `item`, and returns the edit that keeps the index
// within bounds.
std::optional<Edit> edit_keeping_index_in_bounds(const Program& program, Range item,
                                                 bool negative) {
  const program::ProgramData& data = program.data();
  for (const program::CodeNode& code : data.code) {
    if (code.op != program::Op::kIndex) continue;
    for (std::uint32_t i = 0; i < code.b; ++i) {
      const Range range = data.code[data.lists[code.a + i]].range;
      if (range.begin != item.begin || range.end != item.end) continue;
      return kept_inside(data, program.source(), code, i, negative);
    }
  }
  return std::nullopt;
}

// Returns true if every Task statement prefers GPUs, and one of them is for all tasks.
bool prefers_gpus(const Program& program) {
  bool all = false;
  for (const program::StatementRow& row : program.data().rows) {
    if (row.key.table != program::TableId::kTask) continue;
    if (row.kind_count == 0 || row.kinds[0] != static_cast<std::uint8_t>(ProcKind::kGpu)) {
      return false;
    }
    all = all || row.key.task == kStarName;
  }
  return all;
}

}  // namespace groma::guide
