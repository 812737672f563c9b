// explain_profile(): says which events took most of a run's time, and adds the suggestions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "edit/mapping.h"
#include "groma/harmless.h"
#include "guide/advice.h"
#include "guide/blamed_statements.h"
#include "guide/copy_advice.h"
#include "guide/fact_query.h"
#include "guide/profile_advice.h"
#include "profile/words.h"
#include "program/data.h"

namespace groma::guide {
namespace {

// The smallest share of the run's time for which a cause is explained.
constexpr double kWorthSaying = 0.1;

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
  if (!has_statement(cause)) return ", whose memory the default mapper chose";
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

// Returns a sentence that says which node maps most tasks, and what shortens the time that this
// takes.
std::string mapping_time_words(const ProfileFacts& facts) {
  constexpr std::string_view kByProgram = "with fewer and larger points or a trace";
  constexpr double kEven = 1.1;
  const auto nodes = static_cast<double>(facts.nodes);
  const bool is_even = facts.nodes > 0 && static_cast<double>(facts.most_mapped) * nodes <=
                                              kEven * static_cast<double>(facts.mapped);
  std::vector<std::string> ways;
  if (facts.nodes != 1 && !is_even) ways.emplace_back("if it gives each node as many tasks");
  if (facts.nodes == 0) {
    ways.emplace_back("by ControlReplicate where the launching task can be replicated");
  } else if (facts.nodes > 1 && !facts.could_replicate.empty()) {
    ways.emplace_back("by ControlReplicate");
  }
  std::string words = "a node maps the tasks that run on it one after the other";
  if (facts.nodes > 1 && facts.mapped > 0) {
    words += is_even ? fmt::format(", and each of the {} nodes maps about as many", facts.nodes)
                     : fmt::format(", and node {} maps {} of the {} tasks", facts.busiest_mapper,
                                   facts.most_mapped, facts.mapped);
  }
  if (ways.empty()) return fmt::format("{}: only the program shortens that, {}", words, kByProgram);
  return fmt::format("{}: a mapping shortens that {}; the program does it {}", words,
                     fmt::join(ways, ", or "), kByProgram);
}

// If the data of a copy between nodes is used by two tasks whose points run on different nodes,
// adds sentences that name these tasks.
void explain_tasks_apart(const ProfileFacts::Cause& cause, const ProfileFacts& facts,
                         GuideFeedback* feedback) {
  constexpr std::size_t kPairs = 2;
  std::size_t said = 0;
  if (!cause.other_node) return;
  for (const ProfileFacts::TasksApart& pair : facts.apart) {
    if (said == kPairs) return;
    if (!contains(pair.regions, cause.region)) continue;
    ++said;
    add_sentence(
        fmt::format(
            "{} of the {} points of `{}` run on another node than the same point of `{}`, "
            "and both tasks use `{}`: if a point uses the same part of it in both, functions "
            "that give the point the same node for both tasks save copies",
            pair.apart, pair.points, pair.task, pair.other, cause.region),
        &feedback->explain);
  }
}

// Adds sentences that say which processor works longest on a task, with which of its points, and
// which points take much longer than others.
void explain_busiest(const ProfileFacts& facts, const ProfileFacts::Task& task,
                     GuideFeedback* feedback) {
  const auto spread =
      std::find_if(facts.spreads.begin(), facts.spreads.end(),
                   [&](const auto& one) { return one.task == task.task && one.kind == task.kind; });
  if (spread == facts.spreads.end() || spread->busiest_points.empty()) return;
  if (spread->counts_all_launches) {
    add_sentence(
        fmt::format(
            "{} works longest on `{}`: it runs {} of the {} points of all launches, most of "
            "the time those at {}",
            spread->busiest, task.task, spread->busiest_point_count, spread->points,
            fmt::join(spread->busiest_points, " ")),
        &feedback->explain);
  } else {
    const bool all =
        spread->busiest_points.size() == static_cast<std::size_t>(spread->busiest_point_count);
    add_sentence(
        fmt::format("{} works longest on `{}`: it runs {} of the {} points, {}{}", spread->busiest,
                    task.task, spread->busiest_point_count, spread->points,
                    fmt::join(spread->busiest_points, " "), all ? "" : " and others"),
        &feedback->explain);
  }
  if (spread->heavy_points.empty()) return;
  std::vector<std::string> weights;
  for (const ProfileFacts::Spread::HeavyPoint& heavy : spread->heavy_points) {
    weights.push_back(fmt::format("{} {:.2g}", heavy.point, heavy.weight));
  }
  add_sentence(
      fmt::format("some points of `{}` take longer than the mean of all, by the factor: {}",
                  task.task, fmt::join(weights, ", ")),
      &feedback->explain);
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
                                   copy_direction_text(cause) + size_of_copies(cause), because);
    if (cause.waiting > 0.5 * cause.share) text += "; most of it waits for a busy channel";
    add_sentence(std::move(text), &feedback->explain);
    explain_tasks_apart(cause, facts, feedback);
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
    add_sentence(
        fmt::format("{} of the time is task `{}`{}{}", percent(cause.share), cause.task,
                    kind.empty() ? "" : fmt::format(" on {}", kind),
                    cause.before.empty() ? "" : fmt::format("; `{}` waits for it", cause.before)),
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
    add_sentence(mapping_time_words(facts), &feedback->explain);
  }
}

// Explains the largest streams that no change of the memory makes faster, and says why. `program`
// is the mapping that was given, or null.
void explain_streams(const ProfileFacts& facts, const Program* program, GuideFeedback* feedback) {
  constexpr std::size_t kStreams = 2;
  std::size_t said = 0;
  bool said_fastest = false;
  for (const ProfileFacts::Stream& stream : facts.streams) {
    if (stream.share < kWorthSaying || said == kStreams) return;
    // The other memory that would save most.
    const ProfileFacts::Stream::Elsewhere* best = nullptr;
    for (const ProfileFacts::Stream::Elsewhere& each : stream.elsewhere) {
      if (best == nullptr || each.saves > best->saves) best = &each;
    }
    constexpr double kHelps = 0.02;
    const bool helps = best != nullptr && best->saves >= kHelps;
    if ((helps && best->has_room) || (!helps && said_fastest)) continue;
    said_fastest = said_fastest || !helps;
    ++said;
    ProfileFacts::Cause placed;
    placed.statement = stream.statement;
    placed.place = stream.place;
    add_sentence(
        fmt::format("{}{}: {}", describe_stream(stream), because_of(placed, program),
                    helps ? fmt::format("{} would be faster, but has no room for it", best->memory)
                          : fmt::format("{} reaches no faster memory for it", stream.kind)),
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
      fmt::format("spread evenly over all {} {} processors, with their data where it is, the tasks "
                  "take {} of these {}; no IndexTaskMap can reach less than that",
                  busiest->processors, busiest->kind, time_of(least_seconds(*busiest)),
                  time_of(whole)),
      &feedback->explain);
}

}  // namespace

const Program* program_to_edit(const ProfileFacts& facts, const Program* program) {
  static const Program kEmpty;
  return program == nullptr && facts.mapping == "default" ? &kEmpty : program;
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
  explain_streams(facts, given, feedback);
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
      explain_busiest(facts, longest, feedback);
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
  const bool is_tried = facts.tried && program == given;
  if (!is_tried && !are_detailed(facts)) return;
  // Better suggestions are known, so the general ones are dropped.
  feedback->suggest.erase(feedback->suggest.begin() + said_before, feedback->suggest.end());
  if (is_tried) {
    feedback->suggest.insert(feedback->suggest.end(), facts.tried->begin(), facts.tried->end());
  } else {
    const std::vector<ProfileSuggestion> suggestions =
        profile_suggestions(facts, program_to_edit(facts, program));
    for (const ProfileSuggestion& suggestion : suggestions) {
      add_sentence(sentence_of(suggestion), &feedback->suggest);
    }
  }
}

}  // namespace groma::guide
