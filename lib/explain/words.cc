// Words that several reports share: statements, layouts, quantities and decisions as short text.
#include "explain/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "edit/statement.h"
#include "profile/words.h"
#include "program/data.h"
#include "syntax/lexer.h"
#include "syntax/token.h"

namespace groma {

// Returns the text of a statement on one line. A text that is longer than kShown characters is cut.
std::string statement_text(const Program& program, DecisionOrigin origin) {
  constexpr std::size_t kShown = 100;
  const std::string_view whole = program.source().text(program.range(origin));
  return harmless(whole, kShown);
}

std::string condition_text(const Program& program, DecisionOrigin origin) {
  constexpr std::size_t kShown = 60;
  const DecisionOrigin when = program.when_of(origin);
  if (!when) return "";
  return harmless(program.source().text(program.condition_range(when)), kShown);
}

// Returns the statement's location and text: "a.mapper:4:1: Region * * GPU FBMEM". The condition of
// a `when` block around the statement follows the text.
std::string statement_line(const Program& program, DecisionOrigin origin) {
  const Source& source = program.source();
  const Position at = source.position(program.range(origin).begin);
  const std::string when = condition_text(program, origin);
  return fmt::format("{}:{}:{}: {}{}", harmless(source.name()), at.line, at.column,
                     statement_text(program, origin),
                     when.empty() ? "" : fmt::format(", when {}", when));
}

std::string layout_words(const LayoutSpec& layout) {
  return edit::text_of(edit::layout_words_of(layout));
}

std::string count_with_noun(std::int64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

// Returns the rate with three digits and the largest SI prefix for which the number is at least 1.
std::string rate_words(double rate, std::string_view unit) {
  struct Prefix {
    double size;
    std::string_view name;
  };
  constexpr std::array<Prefix, 5> kPrefixes = {
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  for (const Prefix& prefix : kPrefixes) {
    if (rate >= prefix.size) {
      return fmt::format("{:.3g} {}{}", rate / prefix.size, prefix.name, unit);
    }
  }
  return fmt::format("{:.3g} {}", rate, unit);
}

std::string seconds_words(double seconds) {
  return profile::format_time(std::llround(seconds / kPicosecond));
}

// Returns the name of the mapping function that places the launch, or how the default mapper places
// it.
std::string placement_words(const ExplainedLaunch& launch, ProcKind kind) {
  if (!launch.function.empty()) return harmless(launch.function);
  if (launch.is_index) {
    const bool any = kind == ProcKind::kCpu || kind == ProcKind::kIo || kind == ProcKind::kPy;
    return fmt::format("blocks over {} {}{}", launch.stays_on_node ? "its parent's node's" : "all",
                       name_of(kind), any ? ", of its node any may run a point" : "");
  }
  if (launch.depth == 0) return "the node where the runtime starts it";
  if (launch.depth == 1) return fmt::format("each {} of the machine in its turn", name_of(kind));
  return fmt::format("each {} of its parent's node in its turn", name_of(kind));
}

std::string launch_heading(const ExplainedLaunch& launch) {
  std::string text = launch.is_index ? "index launch" : "single task";
  if (launch.domain) {
    const Rect& box = launch.domain->box;
    text += launch.domain->points ? fmt::format(" of {} of ", launch.domain->count()) : " of ";
    text += fmt::format("{}", fmt::join(box.extents.coordinates(), " x "));
    text += box.volume() == 1 ? " point" : " points";
  }
  if (!launch.parent.empty()) text += fmt::format(" in {}", harmless(launch.parent));
  return text;
}

std::string launch_result_words(const ExplainedLaunch& launch, ProcKind kind) {
  if (launch.loads) {
    const ExplainedLoads& loads = *launch.loads;
    const std::string points = loads.min == loads.max
                                   ? count_with_noun(loads.min, "point")
                                   : fmt::format("{} to {} points", loads.min, loads.max);
    if (loads.used == loads.processors) {
      return fmt::format("; {} on each of {} {}", points, loads.processors, name_of(kind));
    }
    return fmt::format("; on {} of {} {}, at most {} on one", loads.used, loads.processors,
                       name_of(kind), count_with_noun(loads.max, "point"));
  }
  if (!launch.example) return "";
  return fmt::format("; to {} {} of node {} from the first processor", name_of(kind),
                     launch.example->index, launch.example->node);
}

std::string_view overruled_words(OverruledStatement::Reason reason) {
  using enum OverruledStatement::Reason;
  switch (reason) {
    case kPrecedence:
      return "less specific";
    case kShadowed:
      return "an earlier statement says it";
    case kNothingNew:
      return "it adds no memory";
    case kInner:
      return "an inner variant's regions are virtual";
    case kVirtual:
      return "virtual data has no layout";
    case kPrivilege:
      return "only what is read-only is collected";
    case kCondition:
      return "a statement in a `when` block says it";
  }
  return "";
}

std::string early_collection_words(bool collected) {
  return collected ? "collected as soon as the task is done" : "kept until its memory is needed";
}

// Returns how many instances of a task may run at once, and where; 0 means no limit.
std::string instance_limit_words(std::int64_t limit, LimitScope scope) {
  if (limit == 0) return "no limit";
  constexpr std::string_view kWhere[] = {"on a processor", "on all processors of a node",
                                         "on the whole machine"};
  return fmt::format("at most {} at a time {}", count_with_noun(limit, "instance"),
                     kWhere[static_cast<std::size_t>(scope)]);
}

std::string replication_words(bool replicated) {
  return replicated ? "replicated" : "not replicated";
}

std::string steal_words(std::optional<StealScope> steal) {
  if (!steal) return "not stolen";
  return steal == StealScope::kSameNode ? "stolen by processors of its node"
                                        : "stolen by processors of any node";
}

// Returns what the reports about a profile print besides the measurements: the title of the run, a
// hash of the mapping, and a function that returns the text and the place of a mapping statement
// for its number. If `program` is null, the default mapper decided, and there are no statements.
ProfileWords profile_words_of(const std::string& title, const Program* program) {
  ProfileWords words;
  words.title = title;
  if (program == nullptr) {
    words.title += " by the default mapper";
    words.mapping = "default";
    return words;
  }
  words.title += fmt::format(" by {}", program->source().name());
  words.mapping = mapping_mark(*program);
  words.statement = [program](std::int32_t statement) {
    const DecisionOrigin origin{static_cast<std::uint32_t>(std::max(statement, 0))};
    if (!origin || origin.statement > program->data().statement_ranges.size())
      return StatementText{};
    const Source& source = program->source();
    const Position at = source.position(program->range(origin).begin);
    return StatementText{statement_text(*program, origin),
                         fmt::format("{}:{}:{}", source.name(), at.line, at.column)};
  };
  return words;
}

}  // namespace groma
