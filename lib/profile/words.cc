// Formats quantities and names for people, for all forms in which a profile is written.
#include "profile/words.h"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace groma::profile {
// Times in a record are picoseconds.
std::string format_time(RunTime time) {
  constexpr std::array<std::string_view, 5> kUnits = {"ps", "ns", "us", "ms", "s"};
  return format_in_units(static_cast<double>(time), 1000, kUnits);
}

std::string name_of(const RunRecord::Processor& p) {
  return fmt::format("{} ({}, {})", p.kind, p.node, p.index);
}
std::string name_of(const RunRecord::Memory& m) {
  return fmt::format("{} ({}, {})", m.kind, m.node, m.index);
}
std::string name_of(const RunRecord::Link& link) {
  return fmt::format("{} ({}, {}) {}", link.channel, link.node, link.number,
                     link.out ? "out" : "in");
}
std::string name_of_runtime_processor(std::int64_t node) {
  return fmt::format("runtime ({})", node);
}

// Records of runs come from other processes, so the indices in them are checked.
std::string task_name(const RunRecord& record, std::int32_t task) {
  return task < 0 || static_cast<std::size_t>(task) >= record.tasks.size()
             ? "?"
             : record.tasks[static_cast<std::size_t>(task)];
}
std::string region_name(const RunRecord& record, std::int32_t region) {
  return region < 0 || static_cast<std::size_t>(region) >= record.regions.size()
             ? "?"
             : record.regions[static_cast<std::size_t>(region)];
}

// The names stand in the order of the enum Profile::Doing.
std::string_view name_of(Profile::Doing doing) {
  constexpr std::string_view kNames[] = {"task", "copy", "reduction", "runtime"};
  return kNames[static_cast<std::size_t>(doing)];
}

// The names stand in the order of the enum Profile::Reason.
std::string_view name_of(Profile::Reason reason) {
  constexpr std::string_view kNames[] = {"end", "data", "processor", "channel", "mapping", "start"};
  return kNames[static_cast<std::size_t>(reason)];
}

std::string_view words_of(Profile::Doing doing, Profile::Reason reason) {
  const bool is_runtime = doing == Profile::Doing::kRuntime;
  switch (reason) {
    case Profile::Reason::kEnd:
      return "the run ended with it";
    case Profile::Reason::kData:
      return "the next step needed its data";
    case Profile::Reason::kProcessor:
      return "the next step needed its processor";
    case Profile::Reason::kChannel:
      return "the next copy needed its channel";
    case Profile::Reason::kStart:
      return "the next step was ready, but did not start";
    case Profile::Reason::kMapping:
      break;
  }
  return is_runtime ? "the next step could not start before it was mapped"
                    : "the next task was launched after it";
}

// Unknown memory kinds are written as `?`.
std::string words_of(const Profile& profile, const Profile::CopyGroup& move) {
  const std::string what = fmt::format("{} of {}", move.reduction ? "reduction" : "copy",
                                       region_name(*profile.record, move.region));
  const std::string to = move.to.empty() ? "?" : move.to;
  if (move.same_memory) return fmt::format("{}, within one {}", what, to);
  const bool another = !move.other_node && !move.to.empty() && move.from == move.to;
  return fmt::format("{}, {} to {}{}{}", what, move.from.empty() ? "?" : move.from,
                     another ? "another " : "", to, move.other_node ? " of another node" : "");
}

// A cause of time on the critical path is described by its data movement if it has one, otherwise
// by its task.
std::string words_of(const Profile& profile, const Profile::PathCause& cause) {
  const std::string task = cause.task < 0 ? "" : task_name(*profile.record, cause.task);
  if (cause.move >= 0) {
    return words_of(profile, profile.moves[static_cast<std::size_t>(cause.move)]);
  }
  if (cause.doing != Profile::Doing::kRuntime) {
    return fmt::format("task {}", task.empty() ? "?" : task);
  }
  // After the last event, the runtime still has to notice that the run is over.
  if (cause.reason == Profile::Reason::kEnd) return "the runtime, after the last";
  // What waited is a copy or a reduction if it belongs to no task.
  const std::string what = task.empty() ? "a copy or reduction" : task;
  return cause.reason == Profile::Reason::kStart ? fmt::format("{}, ready but not started", what)
                                                 : fmt::format("launching and mapping {}", what);
}

// A mapping statement whose text is not known is described by its number.
std::string describe_statement(const ProfileWords& words, std::int32_t statement) {
  if (statement == 0) return "the default mapper";
  if (statement < 0) return "the program's own mapper (or unknown)";
  const StatementText text = words.statement ? words.statement(statement) : StatementText{};
  if (text.text.empty() && text.place.empty()) return fmt::format("statement {}", statement);
  return text.place.empty() ? text.text : fmt::format("{}: {}", text.place, text.text);
}

std::string_view without_folders(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

// The addition saturates, because a record from another process may have any numbers.
void add_saturating(std::int64_t& sum, std::int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) {
    sum = value < 0 ? std::numeric_limits<std::int64_t>::min()
                    : std::numeric_limits<std::int64_t>::max();
  }
}

// `whole` is 0 for a run that took no time, or for a memory without capacity.
double fraction_of(RunTime part, RunTime whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace groma::profile
