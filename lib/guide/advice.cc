// Finds the mapping statements that a rule or a profile blames, and proposes changes and edits of
// these statements.
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

// Limits on the mapping statements that one sentence of advice names, and on the bytes that the
// sentence shows of each statement.
constexpr std::size_t kShownStatements = 3;
constexpr std::size_t kShownLineText = 100;
// The smallest share of the run's time for which a cause is explained.
constexpr double kWorthSaying = 0.1;

std::optional<ProcKind> kind_of(const CapturedGroups& groups) {
  return find_proc_kind(text_of_group(groups, "prockind"));
}

// Returns the source text in this range, shortened and with control characters escaped.
std::string text_of(const Program& program, Range range) {
  const std::string_view whole = program.source().text(range);
  return harmless(whole, kShownLineText);
}

// Returns true if a table row of the compiled mapping may concern the task, the processor kind, the
// memory kind and the region that a log message names. `groups` has these names. A name that is
// missing excludes no row.
bool speaks_of(const program::StatementRow& row, const program::ProgramData& data,
               const CapturedGroups& groups) {
  const std::string task = text_of_group(groups, "task");
  if (!task.empty() && row.key.task != kStarName && data.names.text(row.key.task) != task) {
    return false;
  }
  const auto kind = kind_of(groups);
  const bool by_kind = row.key.table != program::TableId::kTask &&
                       row.key.place != program::kAnyPlace && row.key.place < 0x40;
  if (kind && by_kind && row.key.place != program::place_key(*kind)) return false;
  // A Region statement that does not name the kind of the memory in which there was no room is not
  // the cause.
  const auto memory = find_mem_kind(text_of_group(groups, "memkind"));
  if (memory && row.key.table == program::TableId::kRegion) {
    const auto* end = row.kinds.data() + row.kind_count;
    if (std::find(row.kinds.data(), end, static_cast<std::uint8_t>(*memory)) == end) return false;
  }
  // A row of a mapping's table names its region by `*`, by its position among the task's region
  // arguments, or by its name.
  if (row.key.region == kStarName) return true;
  const std::string region = text_of_group(groups, "region"), req = text_of_group(groups, "req");
  const bool numbered = (row.key.region & 0x80000000U) != 0;
  if (numbered) return req.empty() || fmt::format("{}", row.key.region & 0x7FFFFFFFU) == req;
  return region.empty() || data.names.text(row.key.region) == region;
}

// Returns the table rows of one kind of statement that may have decided what a log message is
// about, the most specific rows first. Logs number the regions while mappings may name them, so
// rows about a named region are always returned.
std::vector<program::StatementRow> suspects(const Program& program, MappingStatement statement,
                                            const CapturedGroups& groups) {
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
    // Statements about all tasks (`*`) come last. Among equals, statements about all regions come
    // last.
    const auto rank = [](const program::StatementRow& row) {
      return (row.key.task == kStarName ? 2 : 0) + (row.key.region == kStarName ? 1 : 0);
    };
    return rank(a) < rank(b);
  });
  return found;
}

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
  return Fix{"move it behind its function", mapping.move_to_end(row.statement - 1), true};
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

// Returns the line and the text of a statement, and the line of the function that it names, if any.
std::string place_of(const Program& program, const program::StatementRow& row) {
  const Range range = program.range({row.statement});
  std::string text = fmt::format("line {} (`{}`)", program.source().position(range.begin).line,
                                 text_of(program, range));
  const bool maps =
      row.key.table == program::TableId::kIndexMap || row.key.table == program::TableId::kSingleMap;
  if (maps && row.value >= 0 && static_cast<std::size_t>(row.value) < program.function_count()) {
    const Range function = program.function_source_range(static_cast<FunctionId>(row.value));
    text += fmt::format(", whose function is in line {}",
                        program.source().position(function.begin).line);
  }
  return text;
}

// Lists the lines and texts of the first kShownStatements mapping statements, and the number of
// further statements.
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

// Formats a time in seconds with a suitable unit, such as "12.3 ms".
std::string time_of(double seconds) {
  return profile::format_time(std::llround(std::clamp(seconds, 0.0, 1e6) / kPicosecond));
}

// Splits a source position into line and column: "4" and "1" for "a.mapper:4:1". Returns nullopt
// for any other form.
std::optional<std::pair<std::string, std::string>> line_and_column(const std::string& place) {
  const std::size_t column = place.rfind(':');
  const std::size_t line =
      column == 0 || column == place.npos ? place.npos : place.rfind(':', column - 1);
  if (line == place.npos) return std::nullopt;
  return std::pair(place.substr(line + 1, column - line - 1), place.substr(column + 1));
}

// Returns true if the program has the statement that caused this cost at the line and column that
// the profile gives.
bool stands_in(const ProfileFacts::Cause& cause, const Program& program) {
  const auto at = line_and_column(cause.place);
  if (!at) return false;
  const std::vector<Range>& statements = program.data().statement_ranges;
  return std::any_of(statements.begin(), statements.end(), [&](const Range& range) {
    const Position begin = program.source().position(range.begin);
    return at->first == std::to_string(begin.line) && at->second == std::to_string(begin.column) &&
           cause.statement == text_of(program, range);
  });
}

// Returns true if a mapping statement caused this cost, and false if the default mapper did.
bool has_statement(const ProfileFacts::Cause& cause) {
  return !cause.place.empty() || !cause.statement.empty();
}

// Returns true if the profile comes from a run under this mapping. If the profile names its mapping
// by a hash, the hashes must be equal. Otherwise the program must have every statement that the
// profile names.
bool is_of(const ProfileFacts& facts, const Program& program) {
  if (!facts.mapping.empty()) return facts.mapping == mapping_mark(program);
  return std::all_of(facts.causes.begin(), facts.causes.end(), [&](const auto& cause) {
    return !has_statement(cause) || stands_in(cause, program);
  });
}

// Returns a clause that names the mapping statement which caused a cost: ", because of line 4
// (`...`)". If `program` is not null, the line number is left out unless the program has the
// statement at this line.
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

// Returns true if the mapping prefers GPUs to processors of the kind `other` for a task. A task
// that ran on `other` under such a mapping has no variant for GPUs. Without a Task statement the
// default mapper decides, which prefers GPUs.
bool task_prefers_gpus(const Program& program, const std::string& task, ProcKind other) {
  const auto rows = suspects(program, MappingStatement::kTask, {{"task", task}});
  if (rows.empty()) return true;
  const program::StatementRow& row = rows.front();
  const auto* const end = row.kinds.data() + row.kind_count;
  const auto place = [&](ProcKind kind) {
    return std::find(row.kinds.data(), end, static_cast<std::uint8_t>(kind));
  };
  return place(ProcKind::kGpu) < place(other);
}

// Adds a sentence about one cause of the run time to `feedback` and, if one is known, a suggestion.
// `because` names the mapping statement. `program` is the mapping that ran, or null if it is
// unknown.
void explain_cause(const ProfileFacts::Cause& cause, const std::string& because,
                   const ProfileFacts& facts, const Program* program, bool has_gpus,
                   GuideFeedback* feedback) {
  if (cause.doing == "copy" || cause.doing == "reduction") {
    std::string text = fmt::format("{} of the time is {} of `{}` {}{}", percent(cause.share),
                                   cause.doing == "copy" ? "copies" : "reductions", cause.region,
                                   copy_direction_text(cause), because);
    if (cause.waiting > 0.5 * cause.share) text += "; most of it waits for a busy channel";
    add_sentence(std::move(text), &feedback->explain);
    add_sentence(suggestion_to_avoid_copy(cause), &feedback->suggest);
    // A copy between ZCMEM and FBMEM has its cause in the statements that put data into ZCMEM, so
    // these are named.
    if (program == nullptr || !is_copy_between(cause, "ZCMEM", "FBMEM")) return;
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
    if (has_gpus && ran_on && *ran_on != ProcKind::kGpu &&
        (program == nullptr || !task_prefers_gpus(*program, cause.task, *ran_on))) {
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
    add_sentence(
        fmt::format("{} of the time the run waits for the runtime to launch and map tasks{}",
                    percent(cause.share),
                    cause.task.empty() ? "" : fmt::format(", most of it before `{}`", cause.task)),
        &feedback->explain);
    add_sentence(
        "a node maps its tasks one after the other: a mapping shortens that if it gives each node "
        "as many tasks, or by ControlReplicate where the launching task can be replicated; the "
        "program does it with fewer and larger points or a trace",
        &feedback->explain);
  }
}

// Explains how long the tasks would take if they were spread evenly over the processors of the kind
// that works most. No function in IndexTaskMap makes the run shorter than that.
void explain_least_time(const ProfileFacts& facts, GuideFeedback* feedback) {
  const bool is_measured = !facts.measured.empty();
  const auto least_seconds = [&](const ProfileFacts::Kind& kind) {
    return is_measured ? kind.measured_busy_seconds /
                             static_cast<double>(std::max<std::int64_t>(1, kind.processors))
                       : kind.busy * facts.seconds;
  };
  const auto busiest = std::max_element(
      facts.kinds.begin(), facts.kinds.end(),
      [&](const auto& a, const auto& b) { return least_seconds(a) < least_seconds(b); });
  const double whole = is_measured ? facts.measured_seconds : facts.seconds;
  constexpr double kWorthKnowing = 0.02;
  if (busiest == facts.kinds.end() || least_seconds(*busiest) < kWorthKnowing * whole) return;
  add_sentence(
      fmt::format("spread evenly over all {} {} processors, the tasks take {} of these {}: "
                  "less needs faster processors or memories for them",
                  busiest->processors, busiest->kind, time_of(least_seconds(*busiest)),
                  time_of(whole)),
      &feedback->explain);
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

// Explains at most three causes, each with at least a tenth of the run's time. Then follow
// processors that ran nothing or too much, and memories that are nearly full. If the profile has
// suggestions that were tried in the simulator, they replace the suggestions of this function.
void explain_profile(const ProfileFacts& facts, const Program* program, bool has_gpus,
                     GuideFeedback* feedback) {
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
  explain_least_time(facts, feedback);
  const ProfileFacts::Task longest = longest_task(facts);
  // Advice to spread points must not contradict advice to keep points together.
  const auto crossing = std::find_if(facts.causes.begin(), facts.causes.end(), [](const auto& one) {
    const bool between_processors = one.other_node || (one.from == one.to && !one.same_memory);
    return between_processors && one.share >= kWorthSaying && !one.region.empty();
  });
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
    std::string spread = fmt::format(
        "spread the points of `{}` over all {} {} processors with another function in IndexTaskMap "
        "or SingleTaskMap",
        longest.task, kind.processors, kind.kind);
    if (crossing != facts.causes.end()) {
      std::erase(feedback->suggest, as_sentence(suggestion_to_avoid_copy(*crossing)));
      if (crossing->other_node) {
        spread +=
            fmt::format(", so that points that share `{}` stay on one node", crossing->region);
      }
    }
    add_sentence(std::move(spread), &feedback->suggest);
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
