// Finds the statements that a rule or a profile blames, and proposes changes and edits for them.
#include "guide/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "edit/mapping.h"
#include "groma/harmless.h"
#include "guide/copy_advice.h"
#include "profile/words.h"
#include "program/data.h"

namespace groma::guide {
namespace {

// Limits on the statements that a sentence names, and on the characters that it shows of each.
constexpr std::size_t kShownStatements = 3;
constexpr std::size_t kShownLineText = 100;

std::optional<ProcKind> kind_of(const Groups& groups) {
  return find_proc_kind(text_of_group(groups, "prockind"));
}

// Returns the source at the range, shortened and safe to show.
std::string text_of(const Program& program, Range range) {
  const std::string_view whole = program.source().text(range);
  return harmless(whole, kShownLineText);
}

// Returns true if a row of the mapping's tables may concern the task, the processor kind, the
// memory and the region that the groups name. A group that is missing excludes nothing.
bool speaks_of(const program::StatementRow& row, const program::ProgramData& data,
               const Groups& groups) {
  const std::string task = text_of_group(groups, "task");
  if (!task.empty() && row.key.task != kStarName && data.names.text(row.key.task) != task) {
    return false;
  }
  const auto kind = kind_of(groups);
  const bool by_kind = row.key.table != program::TableId::kTask &&
                       row.key.place != program::kAnyPlace && row.key.place < 0x40;
  if (kind && by_kind && row.key.place != program::place_key(*kind)) return false;
  // If a Region statement does not name the full memory, the statement is not the cause.
  const auto memory = find_mem_kind(text_of_group(groups, "memkind"));
  if (memory && row.key.table == program::TableId::kRegion) {
    const auto* end = row.kinds.data() + row.kind_count;
    if (std::find(row.kinds.data(), end, static_cast<std::uint8_t>(*memory)) == end) return false;
  }
  // A row names its region by `*`, by its number among the arguments, or by its name.
  if (row.key.region == kStarName) return true;
  const std::string region = text_of_group(groups, "region"), req = text_of_group(groups, "req");
  const bool numbered = (row.key.region & 0x80000000U) != 0;
  if (numbered) return req.empty() || fmt::format("{}", row.key.region & 0x7FFFFFFFU) == req;
  return region.empty() || data.names.text(row.key.region) == region;
}

// Returns the rows of one kind of statement that may have made the decision, the most specific ones
// first. Logs number the regions while programs may name them, so rows about a named region are
// kept.
std::vector<program::StatementRow> suspects(const Program& program, MappingStatement statement,
                                            const Groups& groups) {
  const program::ProgramData& data = program.data();
  std::vector<program::StatementRow> found;
  for (const program::StatementRow& row : data.rows) {
    if (row.key.table != static_cast<program::TableId>(statement)) continue;
    const bool there = std::any_of(
        found.begin(), found.end(),
        [&](const program::StatementRow& other) { return other.statement == row.statement; });
    if (!there && speaks_of(row, data, groups)) found.push_back(row);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    // Rows about all tasks come last, and among equal ones those about all regions.
    const auto rank = [](const program::StatementRow& row) {
      return (row.key.task == kStarName ? 2 : 0) + (row.key.region == kStarName ? 1 : 0);
    };
    return rank(a) < rank(b);
  });
  return found;
}

// Returns an edit that keeps one item of an index into a named view within its bounds. If
// `negative` is true, the item may be below 0, so the size is added first. Returns nullopt for a
// view without a name and for items that are not one number.
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
                      // the operator binds less tightly than `%`
                      (item.op >= Op::kEqual && item.op <= Op::kConditional);
  const std::string size = fmt::format("{}.size[{}]", source.text(view.range), i);
  // An item that already ends with `% size` is not wrapped twice.
  const bool cut = item.op == Op::kModulo && source.text(item.range).ends_with("% " + size);
  const std::string once = cut ? std::string(source.text(item.range))
                               : fmt::format("{}{}{} % {}", looser ? "(" : "",
                                             source.text(item.range), looser ? ")" : "", size);
  return Edit{item.range, negative ? fmt::format("({0} + {1}) % {1}", once, size) : once};
}

// Returns a fix that keeps every index in the result of a function within its machine view. Returns
// nullopt unless the function ends by returning an indexed view, or if no index needs a change.
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
    // A literal number, or an item that already uses the size, stays as it is.
    const bool inside =
        !negative && source.text(item.range).find(".size[") != std::string_view::npos;
    if (item.op != program::Op::kInt && !inside) fix.edits.push_back(std::move(*edit));
  }
  if (fix.edits.empty()) return std::nullopt;
  return fix;
}

// Returns a fix that moves the statement behind the definition of the function that it names.
// Returns nullopt if the statement already stands behind it.
std::optional<Fix> moved_behind(const Program& program, const edit::EditableMapping& mapping,
                                const program::StatementRow& row) {
  if (row.value < 0 || static_cast<std::size_t>(row.value) >= program.function_count()) {
    return std::nullopt;
  }
  const Range function = program.function_range(static_cast<FunctionId>(row.value));
  if (function.begin < program.range({row.statement}).begin) return std::nullopt;
  return Fix{"move it behind its function", mapping.move_to_end(row.statement - 1), true};
}

// Returns a fix that writes `statement` in place of the row's statement. Returns nullopt if a
// comment would be lost.
std::optional<Fix> rewritten(const edit::EditableMapping& mapping, const program::StatementRow& row,
                             edit::StatementParts statement, std::string title, bool sure) {
  auto edits = mapping.change_items({{row.statement - 1, std::move(statement)}});
  if (!edits) return std::nullopt;
  return Fix{std::move(title), *std::move(edits), sure};
}

// Returns a fix that replaces the word `from` by `to` in one list of words of `statement`, which is
// a copy of the row's statement. Returns nullopt if the list lacks `from` or already has `to`.
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

// Returns the fix that the rule's `mend` stands for, applied to the row's statement. Returns
// nullopt if the rule has no correction or it does not suit this statement.
std::optional<Fix> mended(const Program& program, const edit::EditableMapping& mapping,
                          const Rule& rule, const program::StatementRow& row) {
  const edit::StatementParts& statement = *mapping.item({row.statement}).statement;
  const auto in_memories = [&](MemKind from, MemKind to) {
    return replaced(
        mapping, row, statement, &edit::StatementParts::memories, from, to,
        [](MemKind kind) { return name_of(kind); }, true);
  };
  switch (rule.mend) {
    case Mend::kNone:
      return std::nullopt;
    case Mend::kRemove:
      return Fix{fmt::format("remove `{}`", text_of(program, program.range({row.statement}))),
                 *mapping.change_items({{row.statement - 1, std::nullopt}}), true};
    case Mend::kSoa:
      return replaced(mapping, row, statement, &edit::StatementParts::layout,
                      {syntax::ConstraintWord::kAos}, {syntax::ConstraintWord::kSoa}, word, true);
    case Mend::kOrder:
      return reordered(mapping, row, statement);
    case Mend::kWrap:
      return wrapped(program, row.value);
    case Mend::kBehind:
      return moved_behind(program, mapping, row);
    case Mend::kMemory:
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
    case Mend::kFallback: {
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

// Returns the line and the text of a statement, and the line of the function that it names, if any.
std::string place_of(const Program& program, const program::StatementRow& row) {
  const Range range = program.range({row.statement});
  std::string text = fmt::format("line {} (`{}`)", program.source().position(range.begin).line,
                                 text_of(program, range));
  const bool maps =
      row.key.table == program::TableId::kIndexMap || row.key.table == program::TableId::kSingleMap;
  if (maps && row.value >= 0 && static_cast<std::size_t>(row.value) < program.function_count()) {
    const Range function = program.function_range(static_cast<FunctionId>(row.value));
    text += fmt::format(", whose function is in line {}",
                        program.source().position(function.begin).line);
  }
  return text;
}

// Returns the places of the first kShownStatements statements, and the number of the others.
std::string places_of(const Program& program, const std::vector<program::StatementRow>& rows) {
  std::string places;
  for (std::size_t i = 0; i < std::min(rows.size(), kShownStatements); ++i) {
    places += (i == 0 ? "" : "; ") + place_of(program, rows[i]);
  }
  if (rows.size() > kShownStatements) {
    places += fmt::format(" and {} more", rows.size() - kShownStatements);
  }
  return places;
}

std::string percent(double share) { return fmt::format("{:.0f} %", share * 100); }

// Returns the time with a suitable unit.
std::string time_of(double seconds) {
  return profile::time_words(std::llround(std::clamp(seconds, 0.0, 1e6) / kPicosecond));
}

// Splits a place into line and column: "4" and "1" for "a.mapper:4:1". Returns nullopt for any
// other form.
std::optional<std::pair<std::string, std::string>> line_and_column(const std::string& place) {
  const std::size_t column = place.rfind(':');
  const std::size_t line =
      column == 0 || column == place.npos ? place.npos : place.rfind(':', column - 1);
  if (line == place.npos) return std::nullopt;
  return std::pair(place.substr(line + 1, column - line - 1), place.substr(column + 1));
}

// Returns true if the program has the statement of this cause at the line and column that the
// profile gives.
bool stands_in(const ProfileFacts::Cause& cause, const Program& program) {
  const auto at = line_and_column(cause.place);
  if (!at) return false;
  const std::vector<Range>& statements = program.data().statements;
  return std::any_of(statements.begin(), statements.end(), [&](const Range& range) {
    const Position begin = program.source().position(range.begin);
    return at->first == std::to_string(begin.line) && at->second == std::to_string(begin.column) &&
           cause.statement == text_of(program, range);
  });
}

// Returns true if a statement made the decision, and not the default mapper.
bool has_statement(const ProfileFacts::Cause& cause) {
  return !cause.place.empty() || !cause.statement.empty();
}

// Returns true if the profile comes from a run under this program. The profile may name its mapping
// by a hash. Otherwise all statements that it names must stand in the program.
bool is_of(const ProfileFacts& facts, const Program& program) {
  if (!facts.mapping.empty()) return facts.mapping == mapping_mark(program);
  return std::all_of(facts.causes.begin(), facts.causes.end(), [&](const auto& cause) {
    return !has_statement(cause) || stands_in(cause, program);
  });
}

// Returns a clause that names the statement behind a cause. If `program` is not null, the line is
// named only if the statement stands there in the program.
std::string because_of(const ProfileFacts::Cause& cause, const Program* program) {
  if (!has_statement(cause)) return ", as the default mapper places it";
  const auto at = line_and_column(cause.place);
  if (!at || (program != nullptr && !stands_in(cause, *program))) {
    return fmt::format(", because of `{}`", cause.statement);
  }
  return fmt::format(", because of line {} (`{}`)", at->first, cause.statement);
}

// Returns the task that took most of the time on the critical path, among the tasks that ran more
// than once. A task that ran once occupies one processor wherever it is placed, so its placement
// cannot balance the load. Returns an empty task if there is none.
ProfileFacts::Task longest_task(const ProfileFacts& facts) {
  for (const ProfileFacts::Cause& cause : facts.causes) {
    if (cause.doing != "task") continue;
    for (const ProfileFacts::Task& task : facts.by_task) {
      if (task.task == cause.task && task.runs != 1) return task;
    }
  }
  return {};
}

// Adds an explanation of one cause and, if there is one, a suggestion. `because` names the
// statement; `program` is the mapping that ran, or null.
void explain_cause(const ProfileFacts::Cause& cause, const std::string& because,
                   const ProfileFacts& facts, const Program* program, bool has_gpus,
                   Feedback* feedback) {
  if (cause.doing == "copy" || cause.doing == "reduction") {
    std::string text = fmt::format("{} of the time is {} of `{}` {}{}", percent(cause.share),
                                   cause.doing == "copy" ? "copies" : "reductions", cause.region,
                                   way_of(cause), because);
    if (cause.waiting > 0.5 * cause.share) text += "; most of it waits for a busy channel";
    add_sentence(std::move(text), &feedback->explain);
    add_sentence(cure_of_copy(cause), &feedback->suggest);
    // A copy between ZCMEM and FBMEM has its cause in the statements that put data into ZCMEM, so
    // these are named.
    if (program == nullptr || !is_between(cause, "ZCMEM", "FBMEM")) return;
    const auto rows = suspects(*program, MappingStatement::kRegion, {{"memkind", "ZCMEM"}});
    if (rows.empty()) return;
    add_sentence(fmt::format("what keeps data in ZCMEM in {} is {}",
                             harmless(program->source().name()), places_of(*program, rows)),
                 &feedback->suggest);
  } else if (cause.doing == "task") {
    const auto ran = std::find_if(facts.by_task.begin(), facts.by_task.end(),
                                  [&](const auto& task) { return task.task == cause.task; });
    const std::string kind = ran == facts.by_task.end() ? "" : ran->kind;
    add_sentence(fmt::format("{} of the time is task `{}`{}", percent(cause.share), cause.task,
                             kind.empty() ? "" : fmt::format(" on {}", kind)),
                 &feedback->explain);
    const auto ran_on = find_proc_kind(kind);
    if (has_gpus && ran_on && *ran_on != ProcKind::kGpu) {
      const edit::StatementParts moves{.tasks = {cause.task},
                                       .processors = {ProcKind::kGpu, *ran_on}};
      add_sentence(fmt::format("`{}` moves `{}` to GPUs, where the machine has some and the task a "
                               "variant for them",
                               moves.statement_text(), cause.task),
                   &feedback->suggest);
    }
  } else if (cause.doing == "start") {
    add_sentence(fmt::format("{} of the time `{}` is ready and no processor begins with it: is the "
                             "computer busy with something else?",
                             percent(cause.share), cause.task),
                 &feedback->explain);
  } else if (cause.doing == "runtime") {
    add_sentence(fmt::format("{} of the time the run waits for the runtime to launch and map "
                             "tasks{}",
                             percent(cause.share),
                             cause.task.empty() ? "" : fmt::format(", here `{}`", cause.task)),
                 &feedback->explain);
    add_sentence("Fewer and larger points cost the runtime less; a trace costs it least.",
                 &feedback->suggest);
  }
}

}  // namespace

bool has_any(const Program& program, const std::vector<MappingStatement>& statements) {
  return std::any_of(statements.begin(), statements.end(), [&](MappingStatement statement) {
    return !suspects(program, statement, {}).empty();
  });
}

// If several statements may be at fault but the rule can correct only one of them, that one is
// blamed.
void advise(const Rule& rule, const Groups& groups, const Program& program, Feedback* feedback) {
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
    // A statement that the rule cannot correct did not cause the failure.
    if (mendable.size() == 1) rows = mendable;
    // All statements already stand behind their functions, so there is nothing to suggest.
    if (mendable.empty() && rule.mend == Mend::kBehind) continue;
    std::string text = fmt::format(
        "in {} {} {}", harmless(program.source().name()),
        rows.size() == 1 ? "change" : "one of these is to blame:", places_of(program, rows));
    if (rows.size() == 1) {
      if (auto fix = mended(program, mapping, rule, rows.front())) {
        text += fmt::format(": {}", fix->title);
        feedback->fixes.push_back(std::move(*fix));
      }
    }
    add_sentence(std::move(text), &feedback->suggest);
  }
  // The program has no statement about this. The advice to add one is left out for a rule that
  // matched only how the run ended, and for one whose correction is to remove a statement.
  const bool lacks =
      rule.role != Role::kSilent && rule.mend != Mend::kRemove &&
      std::any_of(rule.statements.begin(), rule.statements.end(), [](MappingStatement statement) {
        return statement != MappingStatement::kInstanceLimit;
      });
  if (!any && lacks) {
    const edit::StatementParts order{.kind = MappingStatement::kLayout,
                                     .tasks = {"*"},
                                     .regions = {"*"},
                                     .layout = {{syntax::ConstraintWord::kCOrder}}};
    const std::string which =
        rule.mend == Mend::kOrder
            ? fmt::format("`{}`, without which it is F_order", order.statement_text())
            : "one";
    add_sentence(fmt::format("no statement of {} decides it, the default mapper does: add {}",
                             harmless(program.source().name()), which),
                 &feedback->suggest);
  }
}

// Looks for the index whose place in the source is `item`, and wraps it.
std::optional<Edit> wrapped_index(const Program& program, Range item, bool negative) {
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

// At most three causes are explained, each with at least a tenth of the time. Then follow
// processors that ran nothing or too much, and memories that are nearly full. If the suggestions of
// the profile were tried in the simulator, these replace the ones that were found here.
void explain_profile(const ProfileFacts& facts, const Program* program, bool has_gpus,
                     Feedback* feedback) {
  constexpr double kWorthSaying = 0.1;
  constexpr double kUneven = 1.25;
  constexpr double kNearlyFull = 0.9;
  constexpr int kCauses = 3;
  const bool lists_gpus = std::any_of(facts.kinds.begin(), facts.kinds.end(),
                                      [](const auto& kind) { return kind.kind == "GPU"; });
  has_gpus = has_gpus && (facts.kinds.empty() || lists_gpus);
  const Program* const given = program;
  const auto said_before = static_cast<std::ptrdiff_t>(feedback->suggest.size());
  // A profile of another mapping can be explained, but not by this program's lines.
  if (program != nullptr && !is_of(facts, *program)) {
    add_sentence(
        fmt::format("the profile is of another mapping than {}: what it says of statements "
                    "is of that one",
                    harmless(program->source().name())),
        &feedback->explain);
    program = nullptr;
  }
  if (!facts.measured.empty()) {
    add_sentence(fmt::format("the application measures its phase `{}`, {}: what follows is of that",
                             facts.measured, time_of(facts.measured_seconds)),
                 &feedback->explain);
  }
  int said = 0;
  for (const ProfileFacts::Cause& cause : facts.causes) {
    if (cause.share < kWorthSaying || said++ == kCauses) break;
    explain_cause(cause, because_of(cause, given), facts, program, has_gpus, feedback);
  }
  const ProfileFacts::Task longest = longest_task(facts);
  for (const ProfileFacts::Kind& kind : facts.kinds) {
    if (kind.kind != longest.kind || kind.processors < 2) continue;
    if (kind.used < kind.processors) {
      add_sentence(fmt::format("only {} of {} {} processors ran anything", kind.used,
                               kind.processors, kind.kind),
                   &feedback->explain);
    } else if (kind.imbalance >= kUneven) {
      add_sentence(fmt::format("the busiest {} works {:.2g} times as long as the mean", kind.kind,
                               kind.imbalance),
                   &feedback->explain);
    } else {
      continue;
    }
    add_sentence(fmt::format("spread the points over all {} {} processors with another function in "
                             "IndexTaskMap",
                             kind.processors, kind.kind),
                 &feedback->suggest);
    if (program == nullptr) continue;
    const auto rows = suspects(*program, MappingStatement::kIndexTaskMap, {{"task", longest.task}});
    if (rows.empty()) continue;
    add_sentence(fmt::format("what places `{}` in {} is {}", longest.task,
                             harmless(program->source().name()), place_of(*program, rows.front())),
                 &feedback->suggest);
  }
  for (const ProfileFacts::Memory& memory : facts.memories) {
    if (memory.full < kNearlyFull) continue;
    add_sentence(fmt::format("{} is {} full at its peak", memory.kind, percent(memory.full)),
                 &feedback->explain);
  }
  if (!facts.tried || program != given) return;
  feedback->suggest.erase(feedback->suggest.begin() + said_before, feedback->suggest.end());
  feedback->suggest.insert(feedback->suggest.end(), facts.tried->begin(), facts.tried->end());
}

}  // namespace groma::guide
