// Writes explanations as text for people.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "explain/words.h"
#include "groma/explain.h"

namespace groma {
namespace {

// Writes the tasks of an explanation, indented by level: a decision, then the statement that made
// it (`by`), then the statements that lost (`over`).
class TextWriter {
 public:
  TextWriter(const Explanation& explanation, const Program& program, bool color)
      : explanation_(explanation), program_(program), color_(color) {}

  // Returns the explanation of the mapping as text: the tasks with their decisions, then the
  // statements that decide nothing.
  std::string write() {
    text_ = fmt::format("{} on {}, decided by {}\n", harmless(explanation_.application),
                        harmless(explanation_.machine), harmless(program_.source().name()));
    for (const ExplainedTask& task : explanation_.tasks) write(task);
    if (!explanation_.all_launches) {
      text_ += "\nThere are more launches than are shown.\n";
    }
    list("Statements that match nothing here:", explanation_.unmatched);
    list("Statements that never decide here, since others do:", explanation_.never_decide);
    list("Statements in blocks whose conditions do not hold here:", explanation_.inactive);
    return std::move(text_);
  }

 private:
  void line(int depth, std::string_view words) {
    text_.append(2 * static_cast<std::size_t>(depth), ' ');
    text_ += words;
    text_ += '\n';
  }
  void dim_line(int depth, std::string_view words) {
    line(depth, color_ ? fmt::format("\x1b[2m{}\x1b[0m", words) : std::string(words));
  }
  void bold_line(std::string_view words) {
    line(0, color_ ? fmt::format("\x1b[1m{}\x1b[0m", words) : std::string(words));
  }

  // Writes a line that says who decided: a statement or the default mapper.
  void by(int depth, DecisionOrigin origin) {
    dim_line(depth, origin ? "by " + statement_line(program_, origin)
                           : std::string("by the default mapper"));
  }
  // Writes the statements that matched but did not decide, each with the reason why it did not
  // decide.
  void beaten(int depth, const std::vector<OverruledStatement>& others) {
    for (const OverruledStatement& other : others) {
      dim_line(depth, fmt::format("over {} ({})", statement_line(program_, other.origin),
                                  overruled_words(other.reason)));
    }
  }
  // Writes which statement decided, and which other statements matched but did not decide.
  void decided(int depth, const DecidingStatement& decision) {
    by(depth, decision.by);
    beaten(depth, decision.beaten);
  }

  // Writes all decisions about a task. If no processor can run the task, writes only the decision
  // about its kind of processor.
  void write(const ExplainedTask& task) {
    text_ += '\n';
    bold_line(fmt::format("task {}{}{}", harmless(task.name), task.selected.empty() ? "" : ", ",
                          task.selected));
    for (const ExplainedKind::SkippedKind& passed : task.kind.passed) {
      line(1, fmt::format("kind {}: no, {}", name_of(passed.kind), passed.why));
    }
    line(1, task.kind.kind ? fmt::format("kind {}", name_of(*task.kind.kind))
                           : std::string("kind: none, it can run nowhere"));
    decided(2, task.kind);
    if (!task.kind.kind) return;
    write_launches(task.launches, *task.kind.kind);
    for (const ExplainedRequirement& requirement : task.requirements) write(requirement);
    write_options(task);
  }

  // Returns true if the launches are placed by the same decision and differ in their domains only.
  static bool are_alike(const ExplainedLaunch& a, const ExplainedLaunch& b) {
    const auto same = [](const OverruledStatement& one, const OverruledStatement& other) {
      return one.origin == other.origin && one.reason == other.reason;
    };
    return a.domain && b.domain && a.domain->box.dimensions() == b.domain->box.dimensions() &&
           a.parent == b.parent && a.depth == b.depth && a.function == b.function &&
           a.stays_on_node == b.stays_on_node && a.by == b.by &&
           std::equal(a.beaten.begin(), a.beaten.end(), b.beaten.begin(), b.beaten.end(), same);
  }

  // Writes the launches of a task. Many launches that are alike, such as those of a factorisation
  // whose domains shrink from step to step, share one line.
  void write_launches(std::span<const ExplainedLaunch> launches, ProcKind kind) {
    constexpr std::size_t kFewestSummedUp = 4;
    for (std::size_t i = 0; i < launches.size();) {
      std::size_t end = i + 1;
      while (end < launches.size() && are_alike(launches[i], launches[end])) ++end;
      if (end - i < kFewestSummedUp) {
        write(launches[i++], kind);
      } else {
        write_summed_up(launches.subspan(i, end - i), kind);
        i = end;
      }
    }
  }

  // Writes how many launches there are, and where the points of the largest one go.
  void write_summed_up(std::span<const ExplainedLaunch> launches, ProcKind kind) {
    const auto [smallest, largest] = std::minmax_element(
        launches.begin(), launches.end(), [](const ExplainedLaunch& a, const ExplainedLaunch& b) {
          return a.domain->count() < b.domain->count();
        });
    const std::string loads = launch_result_words(*largest, kind);
    const std::string parent =
        largest->parent.empty() ? "" : fmt::format(" in {}", harmless(largest->parent));
    line(1, fmt::format("{} index launches of {} to {} points{}: {}{}", launches.size(),
                        smallest->domain->count(), largest->domain->count(), parent,
                        placement_words(*largest, kind),
                        loads.empty() ? "" : "; of the largest, " + loads.substr(2)));
    decided(2, *largest);
  }

  void write(const ExplainedLaunch& launch, ProcKind kind) {
    line(1, fmt::format("{}: {}{}", launch_heading(launch), placement_words(launch, kind),
                        launch_result_words(launch, kind)));
    decided(2, launch);
  }

  // Writes the memories of a requirement, the statements that lost, and early collection if there
  // is something to say about it.
  void write(const ExplainedRequirement& requirement) {
    std::string names;
    for (const std::string& name : requirement.names) {
      names += (names.empty() ? " " : ", ") + harmless(name);
    }
    const std::string node =
        requirement.node ? fmt::format(", on nodes like {}", *requirement.node) : "";
    line(1, fmt::format("region {}{}, {}{}", requirement.position, names,
                        name_of(requirement.privilege), node));
    if (!requirement.is_mapped) return line(2, "nothing is mapped");
    if (requirement.inner) {
      line(2, fmt::format("virtual, since the task's variant {}: its children map their parts",
                          requirement.privilege == Privilege::kReduce ? "reduces and is not a leaf"
                                                                      : "is inner"));
    }
    for (const ExplainedMemory& memory : requirement.memories) write(memory);
    beaten(2, requirement.beaten);
    if (requirement.collected || !requirement.collection.beaten.empty()) {
      line(2, early_collection_words(requirement.collected));
      decided(3, requirement.collection);
    }
  }

  // Writes one memory with the statement that names it, and the layout of the data in this memory.
  void write(const ExplainedMemory& memory) {
    using State = ExplainedMemory::State;
    const bool is_virtual = memory.memory == MemKind::kVirtual;
    if (memory.state == State::kPassed) {
      line(2, fmt::format("{}: no, {}", name_of(memory.memory), memory.why));
      return by(3, memory.by);
    }
    const std::string_view taken = is_virtual ? ": its children map their parts" : "";
    line(2, fmt::format("{}{}", name_of(memory.memory),
                        memory.state == State::kTaken ? taken : ", if those before have no room"));
    by(3, memory.by);
    if (is_virtual) return;
    const DecidingStatement& layout = memory.layout_decided;
    line(3, fmt::format("layout {}", layout_words(memory.layout)));
    for (const LayoutSpec& other : memory.other_layouts) {
      dim_line(4, fmt::format("or {}, for launches that run another variant", layout_words(other)));
    }
    if (memory.demanded_by_mapper) {
      dim_line(4, "by the program's own mapper");
      return beaten(4, layout.beaten);
    }
    decided(4, layout);
  }

  // Writes limits, replication and stealing. Those options about which no statement says anything
  // share one line.
  void write_options(const ExplainedTask& task) {
    // The options that no statement decides.
    std::string rest;
    const auto option = [&](bool is_on, const DecidingStatement& decision,
                            const std::string& words) {
      if (!is_on && !decision.by && decision.beaten.empty()) {
        rest += (rest.empty() ? "" : ", ") + words;
        return;
      }
      line(1, words);
      decided(2, decision);
    };
    option(task.limit != 0, task.limit_decided, instance_limit_words(task.limit, task.limit_scope));
    const std::string why = task.why_not_replicated.empty() ? "" : ", " + task.why_not_replicated;
    option(task.replicated, task.replication, replication_words(task.replicated) + why);
    option(task.steal.has_value(), task.stealing, steal_words(task.steal));
    if (rest.empty()) return;
    line(1, rest);
    by(2, {});
  }

  // Writes a heading and a list of statements below it, at most kListed of them.
  void list(std::string_view heading, const std::vector<DecisionOrigin>& origins) {
    if (origins.empty()) return;
    constexpr std::size_t kListed = 100;
    text_ += '\n';
    bold_line(heading);
    for (std::size_t i = 0; i < std::min(kListed, origins.size()); ++i) {
      line(1, statement_line(program_, origins[i]));
    }
    if (origins.size() > kListed) line(1, fmt::format("and {} more", origins.size() - kListed));
  }

  const Explanation& explanation_;
  const Program& program_;
  bool color_;
  std::string text_;
};

}  // namespace

std::string draw(const Explanation& explanation, const Program& program, bool color) {
  return TextWriter(explanation, program, color).write();
}

}  // namespace groma
