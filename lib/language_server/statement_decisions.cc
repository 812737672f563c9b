// Goes through all decisions of an explanation and keeps those of one statement, in the words of
// `groma explain`.
#include "language_server/statement_decisions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "explain/words.h"
#include "groma/harmless.h"

namespace groma::language_server {
namespace {

class DecisionCollector {
 public:
  DecisionCollector(const Program& program, DecisionOrigin statement)
      : program_(program), statement_(statement) {}

  StatementDecisions collect(const Explanation& explanation) {
    for (const ExplainedTask& task : explanation.tasks) collect(task);
    return std::move(result_);
  }

 private:
  static void add(std::vector<DecisionLine>& lines, std::string words, const std::string& subject) {
    auto line = std::find_if(lines.begin(), lines.end(),
                             [&](const DecisionLine& each) { return each.words == words; });
    if (line == lines.end()) {
      if (lines.size() >= kMaxDecisionLines) return;
      line = lines.insert(lines.end(), {std::move(words), {}});
    }
    // What repeats follows one another.
    if (line->subjects.empty() || line->subjects.back() != subject) {
      line->subjects.push_back(subject);
    }
  }

  // Notes a decision if the statement made it, or lost it.
  void note(const DecidingStatement& decision, const std::string& words,
            const std::string& subject) {
    if (decision.by == statement_) add(result_.decides, words, subject);
    note_overruled(decision.beaten, std::span(&decision.by, 1), subject);
  }
  void note_overruled(const std::vector<OverruledStatement>& beaten,
                      std::span<const DecisionOrigin> by, const std::string& subject) {
    for (const OverruledStatement& each : beaten) {
      if (each.origin != statement_) continue;
      const bool is_less = each.reason == OverruledStatement::Reason::kPrecedence;
      std::string words(is_less ? "this statement is less specific" : overruled_words(each.reason));
      for (const DecisionOrigin& origin : by) {
        if (!origin) continue;
        const Position at = program_.source().position(program_.range(origin).begin);
        words = fmt::format("line {}, `{}`, decides: {}", at.line, statement_text(program_, origin),
                            words);
        break;
      }
      add(result_.overruled, std::move(words), subject);
    }
  }

  void collect(const ExplainedTask& task) {
    const std::string name =
        harmless(task.name) + (task.selected.empty() ? "" : ", " + task.selected);
    note(
        task.kind,
        task.kind.kind ? fmt::format("kind {}", name_of(*task.kind.kind)) : "no kind, runs nowhere",
        name);
    if (!task.kind.kind) return;
    for (const ExplainedLaunch& launch : task.launches) {
      note(launch,
           fmt::format("{}{}", placement_words(launch, *task.kind.kind),
                       launch_result_words(launch, *task.kind.kind)),
           fmt::format("{}, {}", name, launch_heading(launch)));
    }
    for (const ExplainedRequirement& each : task.requirements) collect(name, each);
    note(task.limit_decided, instance_limit_words(task.limit, task.limit_scope), name);
    note(task.replication, replication_words(task.replicated), name);
    note(task.stealing, steal_words(task.steal), name);
  }

  void collect(const std::string& task, const ExplainedRequirement& requirement) {
    std::string subject = fmt::format("region {}", requirement.position);
    if (!requirement.names.empty()) subject += " " + harmless(requirement.names.front());
    subject += " of " + task;
    std::vector<DecisionOrigin> by;
    for (const ExplainedMemory& memory : requirement.memories) {
      by.push_back(memory.by);
      if (memory.by == statement_) {
        add(result_.decides, memory_words(memory), subject);
      }
      note(memory.layout_decided, "layout " + layout_words(memory.layout), subject);
    }
    note_overruled(requirement.beaten, by, subject);
    note(requirement.collection, early_collection_words(requirement.collected), subject);
  }

  static std::string memory_words(const ExplainedMemory& memory) {
    const std::string_view name = name_of(memory.memory);
    switch (memory.state) {
      case ExplainedMemory::State::kPassed:
        return fmt::format("not {}, {}", name, memory.why);
      case ExplainedMemory::State::kTaken:
        return std::string(name);
      case ExplainedMemory::State::kFallback:
        return fmt::format("{}, if those before have no room", name);
    }
    return std::string(name);
  }

  const Program& program_;
  DecisionOrigin statement_;
  StatementDecisions result_;
};

}  // namespace

StatementDecisions decisions_of(const Explanation& explanation, const Program& program,
                                DecisionOrigin statement) {
  return DecisionCollector(program, statement).collect(explanation);
}

std::string text_of(const DecisionLine& line) {
  const std::size_t listed = std::min(line.subjects.size(), kMaxListedSubjects);
  std::string text =
      fmt::format("{}: {}", line.words,
                  fmt::join(line.subjects.begin(),
                            line.subjects.begin() + static_cast<std::ptrdiff_t>(listed), "; "));
  if (listed < line.subjects.size()) {
    text += fmt::format(" and {} more", line.subjects.size() - listed);
  }
  return text;
}

}  // namespace groma::language_server
