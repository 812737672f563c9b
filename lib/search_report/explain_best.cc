// Explains the best mapping of a search in words: its decisions, its difference from the start, and
// the feedback of a run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "explain/words.h"
#include "groma/diff.h"
#include "groma/evaluators.h"
#include "groma/explain.h"
#include "groma/search_report.h"
#include "search_report/words.h"

namespace groma::tuning {
namespace {

// Limits on the tasks that are explained, on the decisions of each, and on the bytes of the long
// texts.
constexpr std::size_t kMaxTasks = 24, kMaxDecisions = 12, kMaxBytes = 200'000;
// Time limits for the comparison with the start and for the run.
constexpr auto kLongestDiff = std::chrono::seconds(5), kLongestRun = std::chrono::seconds(10);

// Collects the decisions of statements about one task. Decisions of the default mapper are not
// listed.
class TaskWords {
 public:
  TaskWords(const ExplainedTask& task, const Program& program) : task_(task), program_(program) {}

  BestExplained::Task words() {
    words_.task = task_.name;
    if (task_.kind.kind) {
      add(fmt::format("It runs on {}.", name_of(*task_.kind.kind)), task_.kind.by);
    }
    for (const ExplainedLaunch& launch : task_.launches) add_launch(launch);
    for (const ExplainedRequirement& data : task_.requirements) add_requirement(data);
    add_grouped_data();
    const std::string limit = instance_limit_words(task_.limit, task_.limit_scope);
    add(fmt::format("Instances of the task: {}.", limit), task_.limit_decided.by);
    add(fmt::format("The task is {}.", replication_words(task_.replicated)), task_.replication.by);
    add(fmt::format("The task is {}.", steal_words(task_.steal)), task_.stealing.by);
    return std::move(words_);
  }

 private:
  // Adds a decision that a statement made. Several launches may have the same decision.
  void add(std::string words, DecisionOrigin by) {
    if (!by || words_.decisions.size() >= kMaxDecisions) return;
    const auto line = program_.source().position(program_.range(by).begin).line;
    std::pair<std::string, std::int64_t> decision{std::move(words),
                                                  static_cast<std::int64_t>(line)};
    auto& all = words_.decisions;
    if (std::find(all.begin(), all.end(), decision) == all.end()) {
      all.push_back(std::move(decision));
    }
  }

  void add_launch(const ExplainedLaunch& launch) {
    if (!task_.kind.kind) return;
    std::string words = launch.is_index ? "Its points are placed by " : "It is placed by ";
    words += fmt::format("`{}`", placement_words(launch, *task_.kind.kind));
    if (const auto& loads = launch.loads) {
      words += loads->min == loads->max && loads->used == loads->processors
                   ? fmt::format(": {} on each of {} {}", count_with_noun(loads->max, "point"),
                                 loads->processors, name_of(*task_.kind.kind))
                   : fmt::format(": {} to {} on a processor; {} of {} {} have points", loads->min,
                                 count_with_noun(loads->max, "point"), loads->used,
                                 loads->processors, name_of(*task_.kind.kind));
    }
    add(words + ".", launch.by);
  }

  void add_requirement(const ExplainedRequirement& data) {
    std::string name = data.names.empty() ? fmt::format("argument {}", data.position)
                                          : fmt::format("`{}`", data.names.front());
    if (data.node) name += fmt::format(" from node {} on", *data.node);
    std::string memories;
    const ExplainedMemory* first = nullptr;
    for (const ExplainedMemory& memory : data.memories) {
      if (memory.state == ExplainedMemory::State::kPassed) continue;
      memories += first == nullptr ? "" : ", or without room in ";
      memories += name_of(memory.memory);
      if (first == nullptr) first = &memory;
    }
    if (data.is_virtual && !data.memories.empty()) {
      add_data(name, "no instance of its own; the child tasks map their parts",
               data.memories.front().by);
    } else if (first != nullptr) {
      add_data(name, "in " + memories, first->by);
      add_data(name, "layout " + layout_words(first->layout), first->layout_decided.by);
    }
    add_data(name, std::string(early_collection_words(data.collected)), data.collection.by);
  }

  // Notes a decision about one region argument. Arguments with the same decision of the same
  // statement are listed together.
  void add_data(const std::string& name, std::string decision, DecisionOrigin by) {
    if (!by) return;
    const auto same = std::find_if(data_.begin(), data_.end(), [&](const DataDecision& each) {
      return each.by == by && each.decision == decision;
    });
    if (same == data_.end()) {
      data_.push_back({{name}, std::move(decision), by});
    } else if (std::find(same->names.begin(), same->names.end(), name) == same->names.end()) {
      same->names.push_back(name);
    }
  }
  void add_grouped_data() {
    constexpr std::size_t kMaxNames = 6;
    for (DataDecision& each : data_) {
      const std::size_t more = each.names.size() - std::min(each.names.size(), kMaxNames);
      each.names.resize(each.names.size() - more);
      std::string words = fmt::format("{}", fmt::join(each.names, ", "));
      if (more > 0) words += fmt::format(" and {} more", more);
      add(fmt::format("{}: {}.", words, each.decision), each.by);
    }
  }

  // A decision about region arguments, and the names of these.
  struct DataDecision {
    std::vector<std::string> names;
    std::string decision;
    DecisionOrigin by;
  };
  std::vector<DataDecision> data_;
  const ExplainedTask& task_;
  const Program& program_;
  BestExplained::Task words_;
};

// Returns the first lines of a text that have at most kMaxBytes.
std::string first_lines(const std::string& text) {
  if (text.size() <= kMaxBytes) return text;
  const std::size_t end = text.rfind('\n', kMaxBytes) + 1;
  return text.substr(0, end) + fmt::format("[{} further bytes are left out]\n", text.size() - end);
}

}  // namespace

void explain_best(const Machine& machine, const Workload& workload,
                  const std::function<bool()>& stop, SearchReport* report) {
  if (!report->best_text || !report->is_mapping()) return;
  const auto until = [&stop](std::chrono::seconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    return [&stop, end] { return (stop && stop()) || std::chrono::steady_clock::now() > end; };
  };
  Diagnostics diags(Source("best.mapper", *report->best_text));
  const auto best = bind(compile(diags.source(), diags), machine, diags);
  if (!best) {
    report->why_not_explained = "The best mapping does not fit its machine.";
    return;
  }
  BestExplained& explained = report->explained.emplace();
  if (const auto all = explain(*best, workload, {}, diags)) {
    for (const ExplainedTask& task : all->tasks) {
      BestExplained::Task words = TaskWords(task, best->program()).words();
      if (words.decisions.empty()) continue;
      if (explained.tasks.size() < kMaxTasks) {
        explained.tasks.push_back(std::move(words));
      } else {
        ++explained.left_out_tasks;
      }
    }
    explained.all_decisions = first_lines(draw(*all, best->program()));
  }
  Diagnostics start_diags(Source("start", report->start_text));
  const auto start = bind(compile(start_diags.source(), start_diags), machine, start_diags);
  if (start && report->start_text != *report->best_text) {
    SimulateOptions options;
    options.stop = until(kLongestDiff);
    const MappingDiff found = diff(*start, *best, workload, options, start_diags, diags);
    explained.difference = first_lines(draw(found, start->program(), best->program()));
  }
  if (!report->simulated()) return;
  const auto runtime =
      make_simulated_evaluator(std::make_shared<const Machine>(machine), {workload});
  EvaluationRequest request{*report->best_text, GuideDetail::kProfile};
  request.stop = until(kLongestRun);
  const Evaluation evaluation = runtime->evaluate(request);
  if (!request.stop()) explained.feedback = evaluation.feedback;
}

}  // namespace groma::tuning
