// Compares the decisions that explain() reports for two mappings. The cost of a difference is
// measured by a simulated run of a MapperWithReplacedDecisions, which takes one decision from the
// other mapping.
#include "groma/diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "evaluate/processors.h"
#include "explain/explain_query.h"
#include "explain/launch_slices.h"
#include "explain/task_contexts.h"
#include "explain/words.h"
#include "groma/explain.h"
#include "groma/program_mapper.h"
#include "groma/run.h"
#include "inspect/mixed_mapper.h"
#include "inspect/statement_groups.h"
#include "mapper/decisions.h"

namespace groma {
namespace {

using Aspect = MappingDifference::Aspect;

// One of the two mappings, with all its decisions about the application.
struct Mapping {
  // Explains all decisions of the mapping. explain() cannot fail here, because an empty query names
  // nothing.
  // `also` are programs whose selectors tell launches apart, too.
  Mapping(const BoundProgram& bound, const Workload& workload, Diagnostics& diags,
          const std::function<bool()>& stop = {}, const std::vector<Program>& also = {})
      : program(bound.program()),
        machine(bound.shared_machine()),
        shared(ProgramMapper::share(bound, nullptr, stop)),
        explanation(explain(bound, workload, {"", "", also}, diags).value()) {}

  // Returns a new mapper object for a processor.
  std::unique_ptr<ProgramMapper> mapper(const Processor& local) const {
    return std::make_unique<ProgramMapper>(shared, MapperSite{machine, local});
  }

  Program program;
  std::shared_ptr<const Machine> machine;
  std::shared_ptr<ProgramMapper::Shared> shared;
  Explanation explanation;
};

// Lists the decisions that differ between the mappings A and B.
class MappingComparer {
 public:
  // All arguments must outlive the object. `uses` are the launches of the tasks of `app`.
  MappingComparer(const Mapping& a, const Mapping& b, const app::Data& app,
                  const std::vector<TaskLaunches>& uses)
      : a_(a),
        b_(b),
        app_(app),
        uses_(uses),
        slices_of_a_(a.shared, app, uses_),
        slices_of_b_(b.shared, app, uses_) {}

  // Compares the decisions task by task, up to the first task with a difference if `only_first`. If
  // the kinds of processors differ, the placement and the data of the task are not compared,
  // because they follow from the kind.
  std::vector<MappingDifference> differences(bool only_first = false) {
    // Both explanations have the same groups of launches, unless the mappings have selectors and
    // were explained alone.
    const std::size_t count = std::min(a_.explanation.tasks.size(), b_.explanation.tasks.size());
    for (std::size_t t = 0; t < count; ++t) {
      if (only_first && !differences_.empty()) break;
      const ExplainedTask& a = a_.explanation.tasks[t];
      const ExplainedTask& b = b_.explanation.tasks[t];
      if (a.number != b.number) break;
      task_ = a.number;
      selected_ = a.selected;
      launch_class_ = a.launch_class;
      const ViewsAbove above(app_, a.above);
      parent_ = above.parent();
      if (a.kind.kind != b.kind.kind) {
        add(Aspect::kKind, {kind_words(a), a.kind.by}, {kind_words(b), b.kind.by});
      } else if (a.kind.kind) {
        compare_placement(a, b);
        compare_data(a, b);
      }
      compare_options(a, b);
    }
    return std::move(differences_);
  }

 private:
  static std::string kind_words(const ExplainedTask& task) {
    return task.kind.kind ? std::string(name_of(*task.kind.kind)) : "nowhere";
  }

  // Adds a difference between the mappings' decisions about the current task.
  MappingDifference& add(Aspect what, MappingDifference::SideDecision a,
                         MappingDifference::SideDecision b) {
    MappingDifference& one = differences_.emplace_back();
    one.what = what;
    one.task = app_.tasks[task_].name;
    one.selected = selected_;
    one.launch_class = launch_class_;
    one.a = std::move(a);
    one.b = std::move(b);
    return one;
  }

  // ---- Processors

  // Compares on which processors the mappings place the launches of the task. Adds at most one
  // difference. It has the decisions about the first launch that is placed differently, and the
  // numbers of all points and of moved points over all launches.
  void compare_placement(const ExplainedTask& a, const ExplainedTask& b) {
    const auto number = static_cast<std::uint32_t>(task_);
    const app::AppView views(app_, number, uses_[task_].name_lists.front());
    const ProcKind kind = *a.kind.kind;
    // An instance limit or stealing keeps a task on its current processor. If the mappings differ
    // in one of these, the target processors differ as well, which is no separate difference. So
    // target processors are compared only if both mappings agree about the limit and stealing.
    targets_ = a.limit == b.limit && a.steal == b.steal;
    std::int64_t points = 0, moved = 0;
    // The explanations, by mapping A and by mapping B, of the first launch whose placement differs.
    // Null if there is no such launch.
    const ExplainedLaunch *of_a = nullptr, *of_b = nullptr;
    for (std::size_t i = 0; i < a.launches.size() && i < b.launches.size(); ++i) {
      const ExplainedLaunch& one = a.launches[i];
      const ExplainedLaunch& other = b.launches[i];
      bool differs = false;
      if (!one.domain) {
        differs = one.function.empty() != other.function.empty() ||
                  !(one.example == other.example) || !run_alike(views, one);
      } else if (one.domain->count() > kMaxExplainPoints - points) {
        differs = one.function != other.function;
      } else {
        app::DistinctLaunch use{.task = number, .domain = one.domain, .depth = one.depth};
        TaskView view = views.view(use, *mapper::first_processor_from(*a_.machine, kind, 0));
        view.parent = parent_;
        const std::int64_t apart = count_apart(view);
        differs = apart > 0;
        points += one.domain->count();
        moved += apart;
      }
      if (!differs || of_a != nullptr) continue;
      of_a = &one;
      of_b = &other;
    }
    if (of_a == nullptr) return;
    MappingDifference& found = add(Aspect::kPlacement, {placement_words(*of_a, kind), of_a->by},
                                   {placement_words(*of_b, kind), of_b->by});
    found.points = points;
    found.moved_points = moved;
  }

  // Returns the number of points of a launch that the mappings place on different processors. If a
  // mapping fails, all points count.
  std::int64_t count_apart(const TaskView& view) {
    const std::vector<Processor> a = places(slices_of_a_, view);
    const std::vector<Processor> b = places(slices_of_b_, view);
    if (a.size() != b.size()) return static_cast<std::int64_t>(std::max(a.size(), b.size()));
    std::int64_t apart = 0;
    TaskView task = view;
    const LaunchDomain domain = view.launch_domain();
    if (!a.empty()) task.point = domain.first_point();
    for (std::size_t i = 0; i < a.size(); ++i, next_point(domain, &task.point)) {
      task.current = a[i];
      apart += a[i] == b[i] && run_alike(task) ? 0 : 1;
    }
    return apart;
  }

  // Returns true if both mappings allow the same target processors for a task whose current
  // processor is `task.current`.
  bool run_alike(const TaskView& task) {
    return !targets_ ||
           slices_of_a_.target_processors_of(task) == slices_of_b_.target_processors_of(task);
  }
  // Compares the target processors of a single task whose parent runs on the first processor of the
  // parent's kind. Returns true if nothing is known about the parent.
  bool run_alike(const app::AppView& views, const ExplainedLaunch& launch) {
    if (!launch.example || launch.is_index) return true;
    const int number = launch.parent.empty() ? app_.top_level : app_.find_task(launch.parent);
    if (number < 0) return true;
    const auto& tasks = a_.explanation.tasks;
    const auto by = std::find_if(tasks.begin(), tasks.end(), [&](const ExplainedTask& each) {
      return each.number == static_cast<std::uint32_t>(number);
    });
    if (by == tasks.end() || !by->kind.kind) return true;
    const app::DistinctLaunch use{.task = static_cast<std::uint32_t>(task_), .depth = launch.depth};
    TaskView parent;
    parent.name = app_.tasks[static_cast<std::size_t>(number)].name;
    if (parent_ != nullptr) parent = *parent_;
    parent.current = *mapper::first_processor_from(*a_.machine, *by->kind.kind, 0);
    TaskView task = views.view(use, *launch.example);
    task.parent = &parent;
    return run_alike(task);
  }

  // Returns the processor of every point in row-major order. The list is empty if the mapping
  // fails, which explain() has reported.
  static std::vector<Processor> places(LaunchSlices& mapping, const TaskView& view) {
    const TaskSlices slices = mapping.slices_of(view);
    if (slices.empty()) return {};
    const LaunchDomain domain = view.launch_domain();
    std::vector<Processor> found(static_cast<std::size_t>(domain.count()));
    for (const TaskSlice& slice : slices) {
      Point point = slice.box.lower;
      do {
        found[static_cast<std::size_t>(domain.rank(point))] = slice.processor;
      } while (next_point(slice.box, &point));
    }
    return found;
  }

  // ---- Data

  using Requirements = std::vector<const ExplainedRequirement*>;

  // Returns the explained region requirements of a task by their positions in the task. A position
  // has several entries if the decision about it differs between launches or nodes.
  static std::map<std::uint32_t, Requirements> by_position(const ExplainedTask& task) {
    std::map<std::uint32_t, Requirements> found;
    for (const ExplainedRequirement& each : task.requirements)
      found[each.position].push_back(&each);
    return found;
  }

  // Adds the differences in memories, layouts and early collection. Each position gets at most one
  // difference about memories or layouts and one about early collection.
  void compare_data(const ExplainedTask& a, const ExplainedTask& b) {
    auto of_a = by_position(a), of_b = by_position(b);
    for (const auto& [position, list] : of_a) {
      const auto& [one, other] = first_apart(list, of_b[position]);
      if (one != nullptr) {
        const bool memories = memory_words(*one) != memory_words(*other);
        add_data(memories ? Aspect::kMemory : Aspect::kLayout, *one,
                 {data_words(*one), origin(*one, memories)},
                 {data_words(*other), origin(*other, memories)});
      }
      const ExplainedRequirement& first = *list.front();
      const ExplainedRequirement& second = *of_b[position].front();
      if (first.collected == second.collected) continue;
      add_data(Aspect::kCollection, first,
               {early_collection_words(first.collected), first.collection.by},
               {early_collection_words(second.collected), second.collection.by});
    }
  }

  // Adds a difference between the mappings' decisions about one region requirement of the current
  // task.
  void add_data(Aspect what, const ExplainedRequirement& requirement,
                MappingDifference::SideDecision a, MappingDifference::SideDecision b) {
    MappingDifference& one = add(what, std::move(a), std::move(b));
    one.position = requirement.position;
    one.names = requirement.names;
  }

  // `a` and `b` explain the same region requirement under mapping A and under mapping B. Returns
  // the first two entries that have the same names but different memories or layouts. Returns two
  // null pointers if there are none. One mapping may distinguish nodes that the other does not, so
  // an entry for all nodes is compared with each entry of the other mapping.
  static std::pair<const ExplainedRequirement*, const ExplainedRequirement*> first_apart(
      const Requirements& a, const Requirements& b) {
    for (const ExplainedRequirement* one : a) {
      for (const ExplainedRequirement* other : b) {
        const bool same_node = !one->node || !other->node || one->node == other->node;
        if (one->names != other->names || !same_node) continue;
        if (data_words(*one) != data_words(*other)) return {one, other};
      }
    }
    return {nullptr, nullptr};
  }

  // Returns the memories (or layouts) of a requirement in the order in which the mapper tries them,
  // such as "FBMEM, else ZCMEM". Memories that the processor cannot use are left out.
  template <typename Text>
  static std::string in_order(const ExplainedRequirement& requirement, const Text& text) {
    if (!requirement.is_mapped) return "nothing is mapped";
    if (requirement.is_virtual) return "virtual: its children map their parts";
    std::string words;
    for (const ExplainedMemory& memory : requirement.memories) {
      if (memory.state == ExplainedMemory::State::kPassed) continue;
      words += (words.empty() ? "" : ", else ") + text(memory);
    }
    return words.empty() ? "no memory that its processor reaches" : words;
  }
  static std::string memory_words(const ExplainedRequirement& requirement) {
    return in_order(requirement,
                    [](const ExplainedMemory& each) { return std::string(name_of(each.memory)); });
  }
  // Returns the memories with their layouts: "FBMEM SOA F_order, else ZCMEM SOA F_order".
  static std::string data_words(const ExplainedRequirement& requirement) {
    return in_order(requirement, [](const ExplainedMemory& each) {
      return each.memory == MemKind::kVirtual
                 ? std::string(name_of(each.memory))
                 : fmt::format("{} {}", name_of(each.memory), layout_words(each.layout));
    });
  }
  // Returns the statement that chose the first usable memory of a requirement, or the layout in
  // this memory.
  static DecisionOrigin origin(const ExplainedRequirement& requirement, bool memory) {
    for (const ExplainedMemory& each : requirement.memories) {
      if (each.state == ExplainedMemory::State::kPassed) continue;
      return memory ? each.by : each.layout_decided.by;
    }
    return {};
  }

  // ---- The rest

  // Adds the differences in limits, replication and stealing.
  void compare_options(const ExplainedTask& a, const ExplainedTask& b) {
    if (a.limit != b.limit || a.limit_scope != b.limit_scope) {
      add(Aspect::kLimit, {instance_limit_words(a.limit, a.limit_scope), a.limit_decided.by},
          {instance_limit_words(b.limit, b.limit_scope), b.limit_decided.by});
    }
    if (a.replicated != b.replicated) {
      add(Aspect::kReplication, {replication_words(a.replicated), a.replication.by},
          {replication_words(b.replicated), b.replication.by});
    }
    if (a.steal != b.steal) {
      add(Aspect::kStealing, {steal_words(a.steal), a.stealing.by},
          {steal_words(b.steal), b.stealing.by});
    }
  }

  const Mapping& a_;
  const Mapping& b_;
  const app::Data& app_;
  const std::vector<TaskLaunches>& uses_;
  LaunchSlices slices_of_a_, slices_of_b_;
  std::size_t task_ = 0;
  // Which launches of the task are compared, and the view of their launching task.
  std::string selected_, launch_class_;
  const TaskView* parent_ = nullptr;
  // True if the comparison of placements includes the target processors, which are all processors
  // that may run a task.
  bool targets_ = true;
  std::vector<MappingDifference> differences_;
};

// Simulates the application under mapping A, with the decisions in `mix` taken from mapping B.
RunResult run_mixed(const Mapping& a, const Mapping& b, const SecondMapperDecisions& mix,
                    const Workload& workload, const SimulateOptions& options) {
  return simulate(
      workload, a.machine,
      [&](const Processor& local) {
        return std::make_unique<MapperWithReplacedDecisions>(a.mapper(local), b.mapper(local), mix);
      },
      options);
}

}  // namespace

// The explained mapping, and the launches of the application's tasks. The launches do not depend on
// the mapping, and a comparison needs them only once, so they are listed when first needed.
struct MappingDecisions::Parts {
  Parts(const BoundProgram& bound, const Workload& of, Diagnostics& ignored)
      : workload(of), mapping(bound, of, ignored) {}

  const std::vector<TaskLaunches>& launches() const {
    std::call_once(once_, [this] {
      bool ignored = true;
      launches_ = launches_by_task(workload.data(), ignored);
    });
    return launches_;
  }

  const Workload& workload;
  Mapping mapping;

 private:
  mutable std::once_flag once_;
  mutable std::vector<TaskLaunches> launches_;
};

MappingDecisions::MappingDecisions(const BoundProgram& bound, const Workload& workload) {
  Diagnostics ignored(bound.program().source());
  parts_ = std::make_unique<const Parts>(bound, workload, ignored);
}
MappingDecisions::MappingDecisions(MappingDecisions&&) noexcept = default;
MappingDecisions& MappingDecisions::operator=(MappingDecisions&&) noexcept = default;
MappingDecisions::~MappingDecisions() = default;

// Two mappings with selectors may divide the launches of a task differently.
bool MappingDecisions::are_complete() const {
  return parts_->mapping.explanation.all_launches && !parts_->mapping.program.has_selectors();
}

bool MappingDecisions::are_same_as(const MappingDecisions& other) const {
  return are_complete() && other.are_complete() && !first_difference_from(other);
}

std::optional<MappingDifference> MappingDecisions::first_difference_from(
    const MappingDecisions& other) const {
  MappingComparer comparer(parts_->mapping, other.parts_->mapping, parts_->workload.data(),
                           parts_->launches());
  std::vector<MappingDifference> found = comparer.differences(true);
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

std::vector<MappingDifference> MappingDecisions::differences_from(
    const MappingDecisions& other) const {
  return MappingComparer(parts_->mapping, other.parts_->mapping, parts_->workload.data(),
                         parts_->launches())
      .differences();
}

namespace {

// Measures by simulated runs how much faster or slower mapping A becomes with some decisions of
// mapping B. At most kMaxDiffRuns runs are made.
class DecisionExchanger {
 public:
  DecisionExchanger(const Mapping& a, const Mapping& b, const Workload& workload,
                    const SimulateOptions& options, const RunResult& of_a, std::size_t runs,
                    const Progress& progress)
      : a_(a),
        b_(b),
        workload_(workload),
        options_(options),
        of_a_(of_a),
        all_(static_cast<std::int64_t>(std::min(runs, kMaxDiffRuns))),
        progress_(progress) {}

  // Returns the decisions to take from mapping B: none yet. Launches are told apart as in the
  // explanation of mapping A.
  SecondMapperDecisions no_decisions() const {
    SecondMapperDecisions mix;
    mix.selecting = {b_.program, a_.program};
    return mix;
  }

  // Simulates mapping A with the decisions in `mix` taken from mapping B. Sets `cost` to the change
  // of time and moved bytes against mapping A. If the run fails, sets `alone` to the reason
  // instead. Returns false if no run was made or the run was stopped, so that no more runs should
  // be made.
  bool run(const SecondMapperDecisions& mix, std::optional<MappingDifference::Cost>& cost,
           std::string& alone) {
    if (done_ == all_ || (progress_ && !progress_(done_, all_))) return false;
    ++done_;
    const RunResult result = run_mixed(a_, b_, mix, workload_, options_);
    if (result.status == RunStatus::kStopped) return false;
    if (result.ok()) {
      cost = {result.seconds - of_a_.seconds, result.moved_bytes - of_a_.moved_bytes};
    } else if (!result.refusals.empty()) {
      alone = result.refusals.front().diagnostic.message;
    }
    return true;
  }

 private:
  const Mapping& a_;
  const Mapping& b_;
  const Workload& workload_;
  const SimulateOptions& options_;
  const RunResult& of_a_;
  std::int64_t done_ = 0, all_;
  const Progress& progress_;
};

// Returns true if a statement makes several decisions. Only then is the whole statement measured
// by a run of its own. Otherwise the run of its only difference tells the cost.
bool has_several(const StatementDifference& statement) {
  return statement.by && statement.parts.size() > 1;
}

// Measures the cost of each statement with several differences by one run, then the cost of each
// difference, so that the limit on runs leaves out parts before statements. The instance limits of
// all tasks must come from the same mapping, so all differences in instance limits are measured by
// one run together.
void find_costs(MappingDiff& diff, DecisionExchanger& exchanger) {
  for (StatementDifference& statement : diff.statements) {
    if (!has_several(statement)) continue;
    SecondMapperDecisions mix = exchanger.no_decisions();
    for (const std::size_t part : statement.parts)
      add_differing_decision(diff.differences[part], mix);
    if (!exchanger.run(mix, statement.cost, statement.alone)) return;
  }
  bool limits_known = false;
  for (MappingDifference& each : diff.differences) {
    if (each.what == Aspect::kLimit && std::exchange(limits_known, true)) continue;
    SecondMapperDecisions mix = exchanger.no_decisions();
    add_differing_decision(each, mix);
    if (!exchanger.run(mix, each.cost, each.alone)) return;
  }
}

}  // namespace

// Compares the decisions of both mappings and runs both. Measures the costs of the differences only
// if mapping A can run.
MappingDiff diff(const BoundProgram& a, const BoundProgram& b, const Workload& workload,
                 const SimulateOptions& options, Diagnostics& diags_a, Diagnostics& diags_b,
                 const Progress& progress) {
  SimulateOptions quick = options;
  quick.record = false;
  const Mapping first(a, workload, diags_a, options.stop, {b.program()});
  const Mapping second(b, workload, diags_b, options.stop, {a.program()});
  MappingDiff diff;
  bool are_all_compared = true;
  const auto uses = launches_by_task(workload.data(), are_all_compared);
  diff.differences = MappingComparer(first, second, workload.data(), uses).differences();
  diff.statements = group_by_statement(diff.differences);
  const auto run_alone = [&](const BoundProgram& bound, Diagnostics& diags) {
    // If the mapping has errors, explain() has already reported them.
    Diagnostics ignored(diags.source());
    return run(bound, workload, quick, diags.has_errors() ? ignored : diags);
  };
  diff.a = run_alone(a, diags_a);
  if (diff.a.status == RunStatus::kStopped) return diff;
  diff.b = run_alone(b, diags_b);
  if (!diff.a.ok() || diff.b.status == RunStatus::kStopped) return diff;
  const auto whole = std::count_if(diff.statements.begin(), diff.statements.end(), has_several);
  DecisionExchanger exchanger(first, second, workload, quick, diff.a,
                              diff.differences.size() + static_cast<std::size_t>(whole), progress);
  find_costs(diff, exchanger);
  // A statement that causes only one difference has the cost of this difference.
  for (StatementDifference& statement : diff.statements) {
    if (statement.parts.size() > 1) continue;
    const MappingDifference& only = diff.differences[statement.parts.front()];
    statement.cost = only.cost;
    statement.alone = only.alone;
  }
  return diff;
}

}  // namespace groma
