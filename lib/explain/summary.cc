// draw_summary(): writes the decisions of a mapping as a short text, grouped by what is decided.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/words.h"
#include "groma/explain.h"

namespace groma {
namespace {

// Limit on the names in one list. The rest is only counted.
constexpr std::size_t kMaxListedNames = 12;
// Limit on the lines below one heading. The rest is only counted.
constexpr std::size_t kMaxLines = 40;
// A longer line is broken at a space.
constexpr std::size_t kMaxLineBytes = 100;

// Names with the same decision, for each decision. Keeps the order in which both were added.
class NamesByDecision {
 public:
  void add(const std::string& decision, const std::string& name) {
    const auto at = std::find_if(groups_.begin(), groups_.end(),
                                 [&](const auto& group) { return group.first == decision; });
    std::vector<std::string>& names =
        at == groups_.end() ? groups_.emplace_back(decision, std::vector<std::string>()).second
                            : at->second;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  const std::vector<std::pair<std::string, std::vector<std::string>>>& groups() const {
    return groups_;
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> groups_;
};

// Returns the names as a list of at most `most` names, "a, b and 3 more".
std::string list_of(const std::vector<std::string>& names, std::size_t most = kMaxListedNames) {
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(most);
  return fmt::format("{} and {} more", fmt::join(names.begin(), end, ", "), names.size() - most);
}

// Returns where the points of an index launch go.
std::string points_words(const ExplainedLaunch& launch, ProcKind kind) {
  std::string words = launch.function.empty()
                          ? fmt::format("default mapper, {}", placement_words(launch, kind))
                          : fmt::format("`{}`", placement_words(launch, kind));
  if (!launch.loads) return words;
  const ExplainedLoads& loads = *launch.loads;
  const std::string points = loads.min == loads.max
                                 ? count_with_noun(loads.max, "point")
                                 : fmt::format("{} to {} points", loads.min, loads.max);
  if (loads.used == loads.processors) {
    return words + fmt::format("; {} on each of {} {}", points, loads.processors, name_of(kind));
  }
  return words + fmt::format("; {} of {} {} used, at most {} on one", loads.used, loads.processors,
                             name_of(kind), count_with_noun(loads.max, "point"));
}

// Returns the memories in which the data may lie, with the layout: "ZCMEM, SOA F_order".
std::string data_words(const ExplainedRequirement& requirement) {
  if (requirement.is_virtual) return "no instance, the child tasks map their parts";
  std::string memories, layout;
  for (const ExplainedMemory& memory : requirement.memories) {
    if (memory.state == ExplainedMemory::State::kPassed) continue;
    const bool is_first = memories.empty();
    memories += fmt::format("{}{}", is_first ? "" : ", else ", name_of(memory.memory));
    if (memory.memory == MemKind::kVirtual) continue;
    const std::string words = layout_words(memory.layout);
    if (layout.empty()) layout = words;
    if (words != layout) memories += fmt::format(" ({})", words);
  }
  if (memories.empty()) return "no memory that the processor reaches";
  return layout.empty() ? memories : fmt::format("{}, {}", memories, layout);
}

// Returns the name of a region as this text shows it. A region without a name is shown by its
// position and its task.
std::string region_name(const ExplainedTask& task, const ExplainedRequirement& requirement) {
  if (!requirement.names.empty()) return harmless(requirement.names.front());
  return fmt::format("argument {} of {}", requirement.position, harmless(task.name));
}

// One use of a region by a task: the name of the region, the task, and the decision about the data.
struct RegionUse {
  std::string region, task, decision;
};

// Returns the tasks that use a region with the same decision, as a list in parentheses. Returns an
// empty text if all uses of the region have this decision.
std::string differing_tasks(const std::vector<RegionUse>& uses, const RegionUse& use) {
  constexpr std::size_t kMaxTasks = 4;
  std::vector<std::string> tasks;
  bool differs = false;
  for (const RegionUse& other : uses) {
    if (other.region != use.region) continue;
    differs |= other.decision != use.decision;
    const bool is_new = std::find(tasks.begin(), tasks.end(), other.task) == tasks.end();
    if (other.decision == use.decision && is_new) tasks.push_back(other.task);
  }
  return differs ? fmt::format(" ({})", list_of(tasks, kMaxTasks)) : "";
}

// Writes the summary of one explanation, heading by heading.
class SummaryWriter {
 public:
  explicit SummaryWriter(const Explanation& explanation) {
    for (const ExplainedTask& task : explanation.tasks) {
      // A task that is never launched has no decisions that a person could see.
      if (task.kind.kind && task.launches.empty()) continue;
      tasks_.push_back(&task);
    }
  }

  std::string write() {
    write_tasks();
    write_points();
    for (std::size_t kind = 0; kind < kProcKindCount; ++kind) {
      write_data(static_cast<ProcKind>(kind));
    }
    write_options();
    return std::move(text_);
  }

 private:
  // Writes a heading and the lines below it. Writes nothing if there are no lines.
  void write_lines(std::string_view heading, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    text_ += fmt::format("{}\n", heading);
    for (std::size_t i = 0; i < std::min(lines.size(), kMaxLines); ++i) write_line(lines[i]);
    if (lines.size() > kMaxLines) {
      text_ += fmt::format("  and {} more\n", lines.size() - kMaxLines);
    }
  }
  // Writes one line, broken at spaces where it is too long.
  void write_line(std::string_view line) {
    std::string_view indent = "  ";
    while (line.size() + indent.size() > kMaxLineBytes) {
      const std::size_t space = line.rfind(' ', kMaxLineBytes - indent.size());
      if (space == line.npos || space == 0) break;
      text_ += fmt::format("{}{}\n", indent, line.substr(0, space));
      line.remove_prefix(space + 1);
      indent = "    ";
    }
    text_ += fmt::format("{}{}\n", indent, line);
  }
  static std::vector<std::string> lines_of(const NamesByDecision& names) {
    std::vector<std::string> lines;
    for (const auto& [decision, list] : names.groups()) {
      lines.push_back(fmt::format("{}: {}", decision, list_of(list)));
    }
    return lines;
  }

  void write_tasks() {
    NamesByDecision kinds;
    for (const ExplainedTask* task : tasks_) {
      kinds.add(task->kind.kind ? fmt::format("on {}", name_of(*task->kind.kind)) : "nowhere",
                harmless(task->name));
    }
    write_lines("Tasks", lines_of(kinds));
  }

  // Writes where points go. A task whose launches are spread in different ways stands in several
  // lines.
  void write_points() {
    NamesByDecision points;
    for (const ExplainedTask* task : tasks_) {
      for (const ExplainedLaunch& launch : task->launches) {
        const std::string name = harmless(task->name);
        if (launch.is_index) {
          points.add(points_words(launch, *task->kind.kind), name);
        } else if (!launch.function.empty()) {
          points.add(fmt::format("`{}` (single task)", harmless(launch.function)), name);
        }
      }
    }
    write_lines("Points of launches", lines_of(points));
  }

  // Writes where the data of the tasks on one kind of processor lies. The tasks are named only for
  // a region about which they differ.
  void write_data(ProcKind kind) {
    std::vector<RegionUse> uses;
    for (const ExplainedTask* task : tasks_) {
      if (task->kind.kind != kind) continue;
      for (const ExplainedRequirement& requirement : task->requirements) {
        // The regions of an inner variant are always virtual, so nothing is decided about them.
        if (!requirement.is_mapped || requirement.inner) continue;
        std::string decision = data_words(requirement);
        if (requirement.node) decision += fmt::format(", on nodes like {}", *requirement.node);
        uses.push_back({region_name(*task, requirement), harmless(task->name), decision});
      }
    }
    NamesByDecision regions;
    for (const RegionUse& use : uses) {
      regions.add(use.decision, use.region + differing_tasks(uses, use));
    }
    write_lines(fmt::format("Data of tasks on {}", name_of(kind)), lines_of(regions));
  }

  // Writes limits, early collection, replication and stealing, where a task has them.
  void write_options() {
    NamesByDecision options;
    for (const ExplainedTask* task : tasks_) {
      const std::string name = harmless(task->name);
      if (task->limit != 0) {
        options.add(instance_limit_words(task->limit, task->limit_scope), name);
      }
      if (task->replicated) options.add(replication_words(true), name);
      if (task->steal) options.add(steal_words(task->steal), name);
      for (const ExplainedRequirement& requirement : task->requirements) {
        if (!requirement.collected || !requirement.is_mapped) continue;
        options.add(early_collection_words(true),
                    requirement.names.empty()
                        ? region_name(*task, requirement)
                        : fmt::format("{} of {}", region_name(*task, requirement), name));
      }
    }
    write_lines("Limits and other options", lines_of(options));
  }

  std::vector<const ExplainedTask*> tasks_;
  std::string text_;
};

}  // namespace

std::string draw_summary(const Explanation& explanation) {
  return SummaryWriter(explanation).write();
}

}  // namespace groma
