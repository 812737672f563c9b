// Decisions as the mapper takes them (lib/mapper/decisions.h, its hooks), and beside each the
// statements that Program::matches names.
#include "groma/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "groma/inspect.h"
#include "groma/program_mapper.h"
#include "groma/validate.h"
#include "inspect/app_view.h"
#include "inspect/explain_query.h"
#include "mapper/decisions.h"
#include "mapper/default_policy.h"
#include "mapper/processors.h"
#include "program/data.h"

namespace groma {
namespace {

using Reason = BeatenStatement::Reason;

void add_located(const Program& program, const Refusal& refusal, Diagnostics& diags) {
  const Diagnostic& from = refusal.diagnostic;
  std::optional<Range> range = from.range;
  if (!range && refusal.origin) range = program.range(refusal.origin);
  Diagnostic& to = diags.add(from.id, range, from.args);
  to.lower_to(from.severity);
  to.notes = from.notes;
  to.helps = from.helps;
}

bool has_memory(const NodeType& node, MemKind memory) {
  const MemoryGroup* group = node.find(memory);
  return group != nullptr && group->capacity_bytes > 0;
}

std::string why_no_memory(const Machine& machine, const Processor& processor, MemKind memory) {
  if (has_memory(machine.node(processor.node), memory)) {
    return fmt::format("{} cannot address it", name_of(processor.kind));
  }
  const std::vector<NodeType>& types = machine.node_types();
  const bool elsewhere = std::any_of(
      types.begin(), types.end(), [&](const NodeType& node) { return has_memory(node, memory); });
  return elsewhere ? fmt::format("node {} has none", processor.node) : "the machine has none";
}

class Explainer {
 public:
  Explainer(const BoundProgram& bound, const Application& app, const ExplainQuery& query,
            Diagnostics& diags)
      : program_(bound.program()),
        machine_(bound.machine()),
        app_(app),
        query_(query),
        diags_(diags),
        ignored_(program_.source()),
        evaluator_(bound),
        shared_(ProgramMapper::share(bound)),
        site_{bound.shared_machine(), any_processor()},
        processors_(first_of_each_node_type(machine_)) {}

  Explanation explain() {
    Explanation explanation;
    explanation.application = app_.name;
    explanation.machine = machine_.name();
    // All tasks, since only together they show which statements never act.
    for (std::size_t i = 0; i < app_.tasks.size(); ++i) {
      asked_ = asks(query_, app_.tasks[i]);
      ExplainedTask task = explain_task(i);
      if (asked_) explanation.tasks.push_back(std::move(task));
    }
    find_idle(explanation);
    return explanation;
  }

 private:
  // A shadowed row matches where the one that shadows it does.
  void find_idle(Explanation& explanation) const {
    const program::Data& data = program_.data();
    std::map<std::uint32_t, bool> idle;  // statement: whether it matches
    for (const program::Row& row : data.rows) {
      idle[row.statement] = matches_.contains(row.statement);
    }
    for (const program::Row& row : data.shadowed) {
      const program::Row* by = data.find(row.key);
      idle[row.statement] |= by != nullptr && matches_.contains(by->statement);
    }
    for (const auto& [statement, matches] : idle) {
      if (decides_.contains(statement)) continue;
      (matches ? explanation.never_decide : explanation.unmatched).push_back({statement});
    }
  }

  Processor any_processor() const {
    for (std::size_t k = 0; k < kProcKindCount; ++k) {
      const auto first = mapper::first_from(machine_, static_cast<ProcKind>(k), 0);
      if (first) return *first;
    }
    return {};
  }

  // What goes to the reader, of the tasks that were asked about.
  Diagnostics& told() { return asked_ ? diags_ : ignored_; }

  void note_decides(Origin origin) {
    if (!origin) return;
    decides_.insert(origin.statement);
    matches_.insert(origin.statement);
  }

  // The statements that match but those of `deciding`.
  std::vector<BeatenStatement> beaten(const MatchQuery& query, std::span<const Origin> deciding,
                                      Reason reason = Reason::kPrecedence) {
    std::vector<BeatenStatement> others;
    for (const Match& match : program_.matches(query)) {
      matches_.insert(match.origin.statement);
      if (std::find(deciding.begin(), deciding.end(), match.origin) != deciding.end()) continue;
      others.push_back({match.origin, match.shadowed ? Reason::kShadowed : reason});
    }
    return others;
  }
  Decided decided(const MatchQuery& query, Origin by) {
    const Origin deciding[] = {by};
    note_decides(by);
    return {by, beaten(query, std::span(deciding, by ? 1 : 0))};
  }

  ExplainedTask explain_task(std::size_t number) {
    const AppTask& task = app_.tasks[number];
    const AppView views(app_, number);
    const AppLaunch first = task.launches.empty() ? AppLaunch{} : task.launches.front();
    const TaskView view = views.view(first);
    ExplainedTask explained;
    explained.name = task.name;
    explained.kind = explain_kind(view);
    if (!explained.kind.kind) return explained;
    const ProcKind kind = *explained.kind.kind;
    explain_launches(task, views, kind, explained);
    explain_requirements(task, views, first, kind, explained);
    explain_options(views.view(first), kind, explained);
    return explained;
  }

  ExplainedKind explain_kind(const TaskView& view) {
    ExplainedKind explained;
    const auto decision = mapper::decide_kind(program_, view, machine_);
    const auto statement = program_.task(view.name);
    static_cast<Decided&>(explained) = decided({MappingStatement::kTask, view.name, {}, {}, {}},
                                               statement ? statement->origin : Origin{});
    if (decision) explained.kind = decision->kind;
    for (ProcKind kind : statement ? statement->kinds : std::vector<ProcKind>{}) {
      if (kind == explained.kind) break;
      explained.passed.push_back(
          {kind, machine_.has(kind) ? "the task has no variant for it" : "the machine has none"});
    }
    if (!decision) add_located(program_, {mapper::no_kind(program_, view, machine_), {}}, told());
    return explained;
  }

  // ---- Processors

  void explain_launches(const AppTask& task, const AppView& views, ProcKind kind,
                        ExplainedTask& explained) {
    for (const AppLaunch& launch : task.launches) {
      explained.launches.push_back(explain_launch(views, launch, launch.domain.has_value(), kind));
    }
    if (!task.launches.empty()) return;
    if (task.name != app_.top_level) {
      explained.launches.push_back(explain_launch(views, {}, true, kind));
    }
    explained.launches.push_back(explain_launch(views, {}, false, kind));
  }

  ExplainedLaunch explain_launch(const AppView& views, const AppLaunch& launch, bool is_index,
                                 ProcKind kind) {
    ExplainedLaunch explained;
    TaskView view = views.view(launch, *mapper::first_from(machine_, kind, 0));
    view.is_index = is_index;
    explained.domain = launch.domain;
    explained.is_index = is_index;
    explained.depth = view.depth;
    explained.parent = launch.parent;
    const auto function = mapper::decide_function(program_, view, kind);
    static_cast<Decided&>(explained) =
        decided({is_index ? MappingStatement::kIndexTaskMap : MappingStatement::kSingleTaskMap,
                 view.name,
                 {},
                 kind,
                 {}},
                function ? function->origin : Origin{});
    if (function) explained.function = program_.function_name(function->function);
    if (!asked_) return explained;
    if (!is_index && function) {
      explained.example = place_single(view, launch, *function, kind);
    } else if (is_index && launch.domain && launch.domain->volume() > 0) {
      explained.loads = function ? function_loads(view, *function, kind) : default_loads(view);
    }
    return explained;
  }

  std::optional<Processor> place_single(const TaskView& view, const AppLaunch& launch,
                                        const FunctionDecision& function, ProcKind kind) {
    TaskPoint point;
    point.name = view.name;
    point.processor = point.parent = view.current;
    const std::string& parent = launch.parent.empty() ? app_.top_level : launch.parent;
    const AppTask* task = app_.find(parent);
    if (task != nullptr) {
      const AppView parents(app_, static_cast<std::size_t>(task - app_.tasks.data()));
      point.parent_name = task->name;
      const auto on = mapper::decide_kind(program_, parents.view({}), machine_);
      if (on) point.parent = mapper::first_from(machine_, on->kind, 0);
    }
    if (!take_points(1)) return std::nullopt;
    const auto placed = evaluator_.place(function.function, point, kind, told());
    if (!placed) return std::nullopt;
    return placed->processors.front();
  }

  using Counts = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

  std::optional<ExplainedLoads> function_loads(const TaskView& view,
                                               const FunctionDecision& function, ProcKind kind) {
    if (!take_points(view.domain.volume())) return std::nullopt;
    TaskPoint task;
    task.name = view.name;
    task.domain = view.domain;
    task.point = view.domain.lower;
    Counts counts;
    do {
      const auto placed = evaluator_.place(function.function, task, kind, told());
      if (!placed || evaluator_.steps() > kMaxPlaceSteps) return std::nullopt;
      const Processor& first = placed->processors.front();
      ++counts[{first.node, first.index}];
    } while (next_point(view.domain, &task.point));
    return loads_of(counts, view.domain.volume(), kind);
  }

  std::optional<ExplainedLoads> default_loads(const TaskView& view) {
    const ProcKind kind = view.current.kind;
    if (!take_points(std::min(view.domain.volume(), processor_count(kind)))) return std::nullopt;
    DefaultMapper mapper(site_);
    MapperRuntime runtime;
    SliceAnswer answer;
    mapper.slice_task(runtime, view, view.domain, answer);
    Counts counts;
    for (const TaskSlice& slice : answer.slices) {
      counts[{slice.processor.node, slice.processor.index}] += slice.box.volume();
    }
    return loads_of(counts, view.domain.volume(), kind);
  }

  // Whether there is time for so many.
  bool take_points(std::int64_t count) {
    if (count > kMaxExplainPoints - points_ || evaluator_.steps() > kMaxPlaceSteps) return false;
    points_ += count;
    return true;
  }

  std::int64_t processor_count(ProcKind kind) {
    auto& known = processor_counts_[static_cast<std::size_t>(kind)];
    if (!known) known = mapper::count_processors(machine_, kind);
    return *known;
  }

  ExplainedLoads loads_of(const Counts& counts, std::int64_t points, ProcKind kind) {
    ExplainedLoads loads;
    loads.points = points;
    loads.processors = processor_count(kind);
    loads.used = static_cast<std::int64_t>(counts.size());
    loads.min = loads.used < loads.processors ? 0 : points;
    for (const auto& [processor, count] : counts) {
      loads.min = std::min(loads.min, count);
      loads.max = std::max(loads.max, count);
    }
    return loads;
  }

  // ---- Data

  void explain_requirements(const AppTask& task, const AppView& views, const AppLaunch& launch,
                            ProcKind kind, ExplainedTask& explained) {
    const std::vector<Processor>& processors = processors_[static_cast<std::size_t>(kind)];
    std::vector<std::vector<RequirementWish>> wishes;  // by processor, by position
    for (const Processor& processor : processors) {
      const TaskView view = views.view(launch, processor);
      const VariantView& variant = *mapper::best_variant(view, kind);
      TaskWish wish;
      wish.processors = {processor};
      wish.variant = variant.id;
      for (std::uint32_t i = 0; i < task.requirements.size(); ++i) {
        wish.requirements.push_back(
            mapper::decide_requirement(program_, view, i, variant, processor, machine_, {}));
      }
      for (const Refusal& refusal : validate(wish, view, machine_)) {
        add_located(program_, refusal, told());
      }
      wishes.push_back(std::move(wish.requirements));
    }
    for (std::uint32_t i = 0; i < task.requirements.size(); ++i) {
      // Node types that decide the same are one.
      std::vector<std::size_t> distinct;
      for (std::size_t p = 0; p < processors.size(); ++p) {
        const auto known = [&](std::size_t other) {
          return same_data(wishes[p][i], wishes[other][i]) &&
                 same_reach(wishes[p][i], processors[p], processors[other]);
        };
        if (std::none_of(distinct.begin(), distinct.end(), known)) distinct.push_back(p);
      }
      for (std::size_t p : distinct) {
        ExplainedRequirement one =
            explain_requirement(views.view(launch, processors[p]), i, wishes[p][i]);
        if (distinct.size() > 1) one.node = processors[p].node;
        if (asks(query_, task, i)) explained.requirements.push_back(std::move(one));
      }
    }
  }

  // Whether both processors have the same of the memories that are wished for.
  bool same_reach(const RequirementWish& wish, const Processor& a, const Processor& b) const {
    const auto same = [&](const InstanceWish& candidate) {
      return machine_.can_address(a.node, a.kind, candidate.memory) ==
             machine_.can_address(b.node, b.kind, candidate.memory);
    };
    return std::all_of(wish.candidates().begin(), wish.candidates().end(), same);
  }

  ExplainedRequirement explain_requirement(const TaskView& view, std::uint32_t position,
                                           const RequirementWish& wish) {
    const RequirementView& requirement = view.requirements[position];
    ExplainedRequirement explained;
    explained.position = position;
    explained.names.assign(requirement.aliases.begin(), requirement.aliases.end());
    explained.privilege = requirement.privilege;
    explained.is_mapped = !requirement.empty();
    explained.is_virtual = wish.is_virtual;
    explained.inner = wish.is_virtual && wish.candidate_count == 0;
    const RegionNames names{position, requirement.aliases};
    MatchQuery query{MappingStatement::kRegion, view.name, names, view.current.kind, {}};
    if (!explained.is_mapped) return explained;
    explain_memories(query, view, wish, explained);
    explain_beaten_regions(query, wish, explained);
    query.statement = MappingStatement::kCollectMemory;
    explained.collected = static_cast<bool>(wish.collect_origin);
    explained.collection = decided(query, wish.collect_origin);
    if (!explained.collected) {
      for (BeatenStatement& other : explained.collection.beaten) {
        if (other.reason == Reason::kPrecedence) other.reason = Reason::kPrivilege;
      }
    }
    return explained;
  }

  void explain_memories(MatchQuery query, const TaskView& view, const RequirementWish& wish,
                        ExplainedRequirement& explained) {
    using State = ExplainedMemory::State;
    const Processor& processor = view.current;
    const RequirementView& requirement = view.requirements[explained.position];
    const VariantView* variant = mapper::best_variant(view, processor.kind);
    query.statement = MappingStatement::kLayout;
    bool taken = false;
    for (const InstanceWish& candidate : wish.candidates()) {
      ExplainedMemory memory;
      memory.memory = candidate.memory;
      memory.by = candidate.memory_origin;
      memory.layout = candidate.layout;
      const bool is_virtual = candidate.memory == MemKind::kVirtual;
      const char* not_virtual = is_virtual ? why_not_virtual(requirement, variant) : nullptr;
      if (not_virtual != nullptr) {
        memory.state = State::kPassed;
        memory.why = not_virtual;
      } else if (!is_virtual &&
                 !machine_.can_address(processor.node, processor.kind, candidate.memory)) {
        memory.state = State::kPassed;
        memory.why = why_no_memory(machine_, processor, candidate.memory);
      } else {
        note_decides(memory.by);
        memory.state = taken ? State::kFallback : State::kTaken;
        taken = true;
      }
      if (!is_virtual && !wish.is_virtual && memory.state != State::kPassed) {
        query.memory = candidate.memory;
        memory.layout_decided = decided(query, candidate.layout_origin);
      }
      explained.memories.push_back(std::move(memory));
    }
  }

  // Region statements that give no candidate, and the layouts of what has none.
  void explain_beaten_regions(MatchQuery query, const RequirementWish& wish,
                              ExplainedRequirement& explained) {
    std::vector<Origin> deciding;
    for (const InstanceWish& candidate : wish.candidates()) {
      if (candidate.memory_origin) deciding.push_back(candidate.memory_origin);
    }
    explained.beaten =
        beaten(query, deciding, explained.inner ? Reason::kInner : Reason::kPrecedence);
    const auto listed = program_.memories(query.task, query.region, *query.kind);
    for (BeatenStatement& other : explained.beaten) {
      const bool in_list = std::any_of(listed.begin(), listed.end(), [&](const MemoryCandidate& m) {
        return m.origin == other.origin;
      });
      if (in_list && other.reason == Reason::kPrecedence) other.reason = Reason::kNothingNew;
    }
    if (!explained.is_virtual) return;
    query.statement = MappingStatement::kLayout;
    const auto layouts = beaten(query, {}, explained.inner ? Reason::kInner : Reason::kVirtual);
    explained.beaten.insert(explained.beaten.end(), layouts.begin(), layouts.end());
  }

  // ---- The rest of select_task_options, and limits

  void explain_options(const TaskView& view, ProcKind kind, ExplainedTask& explained) {
    const auto limit = program_.instance_limit(view.name, kind);
    if (limit) explained.limit = limit->limit;
    explained.limit_decided = decided({MappingStatement::kInstanceLimit, view.name, {}, kind, {}},
                                      limit ? limit->origin : Origin{});
    const auto steal = program_.task_steal(view.name, kind);
    if (steal) explained.steal = steal->scope;
    explained.stealing = decided({MappingStatement::kTaskSteal, view.name, {}, kind, {}},
                                 steal ? steal->origin : Origin{});
    TaskView start = view;
    start.is_index = true;  // an index launch asks no function for its first processor
    ProgramMapper mapper(shared_, site_);
    MapperRuntime runtime;
    TaskOptions options;
    mapper.select_task_options(runtime, start, options);
    explained.replicated = options.replicate;
    explained.replication = decided({MappingStatement::kControlReplicate, view.name, {}, kind, {}},
                                    options.replicate_origin);
  }

  const Program& program_;
  const Machine& machine_;
  const Application& app_;
  const ExplainQuery& query_;
  Diagnostics& diags_;
  Diagnostics ignored_;
  Evaluator evaluator_;
  std::shared_ptr<ProgramMapper::Shared> shared_;
  MapperSite site_;
  bool asked_ = true;
  FirstProcessors processors_;
  std::array<std::optional<std::int64_t>, kProcKindCount> processor_counts_;
  std::int64_t points_ = 0;
  std::set<std::uint32_t> matches_, decides_;
};

}  // namespace

std::optional<Explanation> explain(const BoundProgram& bound, const Application& app,
                                   const ExplainQuery& query, Diagnostics& diags) {
  if (!check_query(query, app, diags)) return std::nullopt;
  check_names(bound.program(), app, diags);
  return Explainer(bound, app, query, diags).explain();
}

}  // namespace groma
