// explain(): collects each decision as the mapper makes it (lib/mapper/decisions.h and the mapper's
// hooks), and the statements named by Program::matches for it.
#include "groma/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "evaluate/processors.h"
#include "explain/by_node.h"
#include "explain/explain_query.h"
#include "explain/launch_slices.h"
#include "explain/locate.h"
#include "groma/index_map.h"
#include "groma/program_mapper.h"
#include "groma/validate.h"
#include "mapper/decisions.h"
#include "mapper/default_policy.h"
#include "mapper/variant_layouts.h"
#include "program/data.h"

namespace groma {
namespace {

using Reason = BeatenStatement::Reason;

bool has_memory(const NodeType& node, MemKind memory) {
  const MemoryGroup* group = node.find(memory);
  return group != nullptr && group->capacity_bytes > 0;
}

// Returns why a processor cannot use a memory kind.
std::string why_no_memory(const Machine& machine, const Processor& processor, MemKind memory) {
  if (has_memory(machine.node(processor.node), memory)) {
    return fmt::format("{} cannot address it", name_of(processor.kind));
  }
  const std::vector<NodeType>& types = machine.node_types();
  const bool elsewhere = std::any_of(
      types.begin(), types.end(), [&](const NodeType& node) { return has_memory(node, memory); });
  return elsewhere ? fmt::format("node {} has none", processor.node) : "the machine has none";
}

// Returns true if the program's own mapper asked for a layout of the requirement when the program
// was recorded.
bool has_own_demand(const VariantView* variant, std::uint32_t position) {
  if (variant == nullptr) return false;
  const auto is_own = [position](const LayoutDemand& demand) {
    return demand.source == DemandSource::kMapper && demand.requirement == position;
  };
  return std::any_of(variant->demands.begin(), variant->demands.end(), is_own);
}

// Returns the layouts other than `layout` that a requirement has in launches for which the
// program's own mapper chooses another variant than `variant`.
std::vector<LayoutSpec> other_layouts(const TaskView& task, const VariantView& variant,
                                      std::uint32_t position, const LayoutSpec& layout) {
  std::vector<LayoutSpec> found;
  const mapper::OtherVariants others = mapper::other_variants(task, variant);
  if (!others.all_run) return found;
  for (const VariantView* other : others.variants) {
    const LayoutSpec demanded = mapper::demanded_layout(*other, position);
    const bool known = std::find(found.begin(), found.end(), demanded) != found.end();
    if (!known && !(demanded == layout)) found.push_back(demanded);
  }
  return found;
}

class Explainer {
 public:
  Explainer(const BoundProgram& bound, const app::Data& app, const std::vector<TaskUses>& uses,
            const ExplainQuery& query, Diagnostics& diags)
      : bound_(bound),
        program_(bound.program()),
        machine_(bound.machine()),
        app_(app),
        uses_(uses),
        query_(query),
        diags_(diags),
        ignored_(program_.source()),
        evaluator_(bound),
        shared_(ProgramMapper::share(bound)),
        slices_(shared_, app, uses),
        site_{bound.shared_machine(), any_processor()},
        processors_(first_of_each_node_type(machine_)) {}

  Explanation explain() {
    Explanation explanation;
    explanation.application = app_.name;
    explanation.machine = machine_.name();
    // Explains all tasks: only together do they show which statements never decide.
    for (std::size_t i = 0; i < app_.tasks.size(); ++i) {
      asked_ = asks(query_, app_.tasks[i]);
      ExplainedTask task = explain_task(i);
      if (asked_) explanation.tasks.push_back(std::move(task));
    }
    find_idle(explanation);
    return explanation;
  }

 private:
  // Lists the statements that decide nothing: those that match something and those that do not. A
  // shadowed row matches if the row that shadows it matches.
  void find_idle(Explanation& explanation) const {
    const program::Data& data = program_.data();
    std::map<std::uint32_t, bool> idle;  // by statement: true if it matches
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

  // Returns the diagnostics for the reader if the query asks about the current task; otherwise a
  // list that is ignored.
  Diagnostics& told() { return asked_ ? diags_ : ignored_; }

  void note_decides(Origin origin) {
    if (!origin) return;
    decides_.insert(origin.statement);
    matches_.insert(origin.statement);
  }

  // Returns the matching statements except those in `deciding`.
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

  // Explains one task. Without a processor kind, only the kind is explained.
  ExplainedTask explain_task(std::size_t number) {
    const TaskUses& task = uses_[number];
    const auto id = static_cast<std::uint32_t>(number);
    const app::Use first = task.uses.empty() ? unknown_use(id) : task.uses.front();
    const app::AppView views(app_, id, task.names.front());
    ExplainedTask explained;
    explained.name = app_.tasks[number].name;
    explained.kind = explain_kind(views.view(first));
    if (!explained.kind.kind) return explained;
    const ProcKind kind = *explained.kind.kind;
    explain_launches(id, views, kind, explained);
    explain_requirements(id, kind, explained);
    explain_options(views.view(first), kind, explained);
    return explained;
  }

  // Returns a launch of a task about which the application says nothing.
  app::Use unknown_use(std::uint32_t task) const {
    return {.task = task, .depth = static_cast<int>(task) == app_.top_level ? 0 : 1};
  }

  // Explains the choice of the processor kind, with the kinds that were passed over and why.
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

  // Explains each distinct launch once. Launches that differ only in their data count as one.
  void explain_launches(std::uint32_t task, const app::AppView& views, ProcKind kind,
                        ExplainedTask& explained) {
    std::set<std::vector<std::int64_t>> seen;
    for (const app::Use& use : uses_[task].uses) {
      std::vector<std::int64_t> key{use.parent, use.depth};
      if (use.domain) {
        for (const Point* corner : {&use.domain->lower, &use.domain->extents}) {
          key.insert(key.end(), corner->coordinates().begin(), corner->coordinates().end());
        }
      }
      if (!seen.insert(std::move(key)).second) continue;
      explained.launches.push_back(explain_launch(views, use, use.domain.has_value(), kind));
    }
    if (!seen.empty()) return;
    const app::Use use = unknown_use(task);
    if (use.depth > 0) explained.launches.push_back(explain_launch(views, use, true, kind));
    explained.launches.push_back(explain_launch(views, use, false, kind));
  }

  // Explains where a launch goes, with the load of the processors if the query asks about the task.
  ExplainedLaunch explain_launch(const app::AppView& views, const app::Use& use, bool is_index,
                                 ProcKind kind) {
    ExplainedLaunch explained;
    TaskView view = views.view(use, *mapper::first_from(machine_, kind, 0));
    view.is_index = is_index;
    explained.domain = use.domain;
    explained.is_index = is_index;
    explained.depth = view.depth;
    if (use.depth > 1) explained.parent = app_.tasks[static_cast<std::size_t>(use.parent)].name;
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
      explained.example = place_single(view, use, *function, kind);
    } else if (is_index && use.domain && use.domain->volume() > 0) {
      explained.loads = function ? function_loads(view, *function, kind) : default_loads(view);
    }
    return explained;
  }

  // Returns an example: where the task runs if its parent runs on the first processor of its kind.
  std::optional<Processor> place_single(const TaskView& view, const app::Use& use,
                                        const FunctionDecision& function, ProcKind kind) {
    TaskPoint point;
    point.name = view.name;
    point.processor = point.parent = view.current;
    const int parent = use.parent >= 0 ? use.parent : app_.top_level;
    if (parent >= 0) {
      const auto number = static_cast<std::uint32_t>(parent);
      const app::AppView parents(app_, number, uses_[number].names.front());
      point.parent_name = app_.tasks[number].name;
      const auto on = mapper::decide_kind(program_, parents.view({.task = number}), machine_);
      if (on) point.parent = mapper::first_from(machine_, on->kind, 0);
    }
    if (!take_points(1)) return std::nullopt;
    const auto placed = evaluator_.place(function.function, point, kind, told());
    if (!placed) return std::nullopt;
    return placed->processors.front();
  }

  using Counts = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

  // Counts the points that a function gives each processor; nullopt if it fails or exceeds a limit.
  std::optional<ExplainedLoads> function_loads(const TaskView& view,
                                               const FunctionDecision& function, ProcKind kind) {
    TaskPoint task;
    task.name = view.name;
    task.domain = view.domain;
    task.point = view.domain.lower;
    Diagnostics& warnings = warned_.insert(function.function).second ? told() : ignored_;
    const auto map = IndexMap::make(bound_, function.function, task, kind, warnings);
    if (map && (*map)->specialised()) return map_loads(*map, kind);
    if (!take_points(view.domain.volume())) return std::nullopt;
    Counts counts;
    do {
      const auto placed = evaluator_.place(function.function, task, kind, told());
      if (!placed || evaluator_.steps() > kMaxPlaceSteps) return std::nullopt;
      const Processor& first = placed->processors.front();
      ++counts[{first.node, first.index}];
    } while (next_point(view.domain, &task.point));
    return loads_of(counts, view.domain.volume(), kind);
  }

  // Counts the points of each processor in pieces of at most kPiece points. The launch is cut into
  // as few pieces as possible, dimension by dimension.
  std::optional<ExplainedLoads> map_loads(const std::shared_ptr<const IndexMap>& map,
                                          ProcKind kind) {
    constexpr std::int64_t kPiece = 1 << 22;
    const Rect& domain = map->domain();
    Rect piece = domain;
    // Dimension `cut` is cut into lengths. Those before it are cut into single indices, those
    // behind it are not cut.
    int cut = domain.dimensions() - 1;
    for (std::int64_t inner = 1; cut > 0 && domain.extents[cut] <= kPiece / inner; --cut) {
      inner *= domain.extents[cut];
    }
    std::int64_t behind = 1;
    for (int d = cut + 1; d < domain.dimensions(); ++d) behind *= domain.extents[d];
    const std::int64_t length = std::min(domain.extents[cut], kPiece / behind);
    Rect outer = domain;  // indices of the pieces
    outer.extents[cut] = (domain.extents[cut] + length - 1) / length;
    for (int d = 0; d < domain.dimensions(); ++d) {
      if (d < cut) piece.extents[d] = 1;
      if (d > cut) outer.extents[d] = 1;
    }
    IndexMap::Cursor cursor(map);
    std::map<ProcessorNumber, std::int64_t> numbers;
    std::int64_t boxes = 0;
    const SliceSink sink = [&](const Rect& box, ProcessorNumber number) {
      ++boxes;
      numbers[number] += box.volume();
    };
    Point at = outer.lower;
    do {
      piece.lower = at;
      const std::int64_t step = at[cut] - outer.lower[cut];
      piece.lower[cut] = domain.lower[cut] + step * length;
      piece.extents[cut] = std::min(length, domain.extents[cut] - step * length);
      boxes = 0;
      if (!cursor.slices(piece, sink, told()) || !take_points(boxes + 1)) return std::nullopt;
    } while (next_point(outer, &at));
    Counts counts;
    for (const auto& [number, points] : numbers) {
      const Processor first = cursor.placed(number).processors.front();
      counts[{first.node, first.index}] += points;
    }
    return loads_of(counts, domain.volume(), kind);
  }

  // Counts the points that the default mapper gives each processor; nullopt if a limit is exceeded.
  std::optional<ExplainedLoads> default_loads(const TaskView& view) {
    const ProcKind kind = view.current.kind;
    const std::int64_t volume = view.domain.volume();
    // Slices by shard may be single points.
    const bool by_shard = view.depth == 1 && slices_.by_shard();
    if (!take_points(by_shard ? volume : std::min(volume, processor_count(kind)))) {
      return std::nullopt;
    }
    Counts counts;
    for (const TaskSlice& slice : slices_.of(view)) {
      counts[{slice.processor.node, slice.processor.index}] += slice.box.volume();
    }
    return loads_of(counts, view.domain.volume(), kind);
  }

  // Returns false if the limit of points or steps is exceeded; otherwise counts the points.
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

  // Summarises the points of each processor. Processors without points count for the minimum.
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

  // Explains the requirements once for each set of names that launches give them.
  void explain_requirements(std::uint32_t task, ProcKind kind, ExplainedTask& explained) {
    const TaskUses& uses = uses_[task];
    std::vector<std::vector<ExplainedRequirement>> by_position(
        app_.tasks[task].requirements.size());
    std::set<std::pair<std::size_t, app::Names>> seen;
    for (std::size_t n = 0; n < uses.names.size(); ++n) {
      const auto use = std::find(uses.of.begin(), uses.of.end(), n) - uses.of.begin();
      const app::AppView views(app_, task, uses.names[n]);
      explain_requirements(
          task, views,
          uses.uses.empty() ? unknown_use(task) : uses.uses[static_cast<std::size_t>(use)], kind,
          uses.names[n], [&](std::size_t i) { return seen.emplace(i, uses.names[n][i]).second; },
          by_position);
    }
    for (auto& each : by_position) {
      std::move(each.begin(), each.end(), std::back_inserter(explained.requirements));
    }
  }

  template <typename IsNew>
  void explain_requirements(std::uint32_t task, const app::AppView& views, const app::Use& launch,
                            ProcKind kind, const app::LaunchNames& names, const IsNew& is_new,
                            std::vector<std::vector<ExplainedRequirement>>& explained) {
    const auto count = static_cast<std::uint32_t>(app_.tasks[task].requirements.size());
    const std::vector<Processor>& processors = processors_[static_cast<std::size_t>(kind)];
    std::vector<std::vector<RequirementWish>> wishes;  // by processor, then by position
    for (const Processor& processor : processors) {
      const TaskView view = views.view(launch, processor);
      const VariantView& variant = *mapper::best_variant(view, kind);
      TaskWish wish;
      wish.processors = {processor};
      wish.variant = variant.id;
      for (std::uint32_t i = 0; i < count; ++i) {
        wish.requirements.push_back(
            mapper::decide_requirement(program_, view, i, variant, processor, machine_, {}));
      }
      for (const Refusal& refusal : validate(wish, view, machine_)) {
        add_located(program_, refusal, told());
      }
      wishes.push_back(std::move(wish.requirements));
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!is_new(i)) continue;
      // Node types with the same decisions are shown once.
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
        if (asks(query_, names, i)) explained[i].push_back(std::move(one));
      }
    }
  }

  // Returns true if both processors can address the same of the requested memories.
  bool same_reach(const RequirementWish& wish, const Processor& a, const Processor& b) const {
    const auto same = [&](const InstanceWish& candidate) {
      return machine_.can_address(a.node, a.kind, candidate.memory) ==
             machine_.can_address(b.node, b.kind, candidate.memory);
    };
    return std::all_of(wish.candidates().begin(), wish.candidates().end(), same);
  }

  // Explains the memories, layouts and early collection of one requirement.
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

  // Lists the candidate memories in order: the one taken, the fallbacks, and those passed over with
  // the reason.
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
        memory.demanded_by_mapper =
            !candidate.layout_origin && has_own_demand(variant, explained.position);
        if (!candidate.layout_origin && variant != nullptr) {
          memory.other_layouts = other_layouts(view, *variant, explained.position, memory.layout);
        }
      }
      explained.memories.push_back(std::move(memory));
    }
    if (taken) return;  // otherwise these statements decide that the mapping fails
    for (const InstanceWish& candidate : wish.candidates()) note_decides(candidate.memory_origin);
  }

  // Adds the Region statements that give no candidate, and the Layout statements of a requirement
  // without an instance.
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

  // ---- The other task options, and limits

  // Explains limits, stealing and replication.
  void explain_options(const TaskView& view, ProcKind kind, ExplainedTask& explained) {
    const auto limit = program_.instance_limit(view.name, kind);
    if (limit) {
      explained.limit = limit->limit;
      if (limit->limit > 0) explained.limit_scope = limit->scope;
    }
    explained.limit_decided = decided({MappingStatement::kInstanceLimit, view.name, {}, kind, {}},
                                      limit ? limit->origin : Origin{});
    const auto steal = program_.task_steal(view.name, kind);
    if (steal) explained.steal = steal->scope;
    explained.stealing = decided({MappingStatement::kTaskSteal, view.name, {}, kind, {}},
                                 steal ? steal->origin : Origin{});
    TaskView start = view;
    start.is_index = true;  // an index launch calls no function for its first processor
    ProgramMapper mapper(shared_, site_);
    MapperRuntime runtime;
    TaskOptions options;
    mapper.select_task_options(runtime, start, options);
    explained.replicated = options.replicate;
    explained.replication = decided({MappingStatement::kControlReplicate, view.name, {}, kind, {}},
                                    options.replicate_origin);
    if (options.replicate || !options.replicate_origin) return;
    const char* const why = mapper::why_not_replicated(view);
    explained.why_not_replicated =
        why != nullptr ? why : fmt::format("its variant for {} is not replicable", name_of(kind));
  }

  const BoundProgram& bound_;
  const Program& program_;
  const Machine& machine_;
  const app::Data& app_;
  const std::vector<TaskUses>& uses_;
  const ExplainQuery& query_;
  Diagnostics& diags_;
  Diagnostics ignored_;
  FunctionEvaluator evaluator_;
  std::shared_ptr<ProgramMapper::Shared> shared_;
  LaunchSlices slices_;
  MapperSite site_;
  bool asked_ = true;
  FirstProcessors processors_;
  std::array<std::optional<std::int64_t>, kProcKindCount> processor_counts_;
  std::int64_t points_ = 0;
  std::set<std::uint32_t> matches_, decides_;
  std::set<FunctionId> warned_;  // functions whose warnings were reported
};

}  // namespace

std::optional<Explanation> explain(const BoundProgram& bound, const Workload& app,
                                   const ExplainQuery& query, Diagnostics& diags) {
  bool complete = true;
  const std::vector<TaskUses> uses = uses_by_task(app.data(), complete);
  if (!check_query(query, app.data(), uses, diags)) return std::nullopt;
  check_names(bound.program(), app, diags);
  Explanation explanation = Explainer(bound, app.data(), uses, query, diags).explain();
  explanation.all_launches = complete;
  return explanation;
}

}  // namespace groma
