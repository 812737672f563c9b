// explain(): collects the decisions of a mapping about an application. Each decision comes from the
// code that the mapper itself uses (lib/mapper/decisions.h and the hooks), with the statements that
// match.
#include "groma/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "evaluate/processors.h"
#include "explain/by_node.h"
#include "explain/explain_query.h"
#include "explain/launch_loads.h"
#include "explain/locate.h"
#include "explain/statement_use.h"
#include "explain/task_contexts.h"
#include "groma/program_mapper.h"
#include "groma/validate.h"
#include "mapper/decisions.h"
#include "mapper/default_policy.h"
#include "mapper/variant_layouts.h"

namespace groma {
namespace {

using Reason = OverruledStatement::Reason;

// Returns true if nodes of this type have a memory of this kind that is not empty.
bool has_memory(const NodeType& node, MemKind memory) {
  const MemoryGroup* group = node.find(memory);
  return group != nullptr && group->capacity_bytes > 0;
}

// Returns why a processor cannot use a kind of memory: it cannot address the memory, or the node or
// the whole machine has none.
std::string why_no_memory(const Machine& machine, const Processor& processor, MemKind memory) {
  if (has_memory(machine.node(processor.node), memory)) {
    return fmt::format("{} cannot address it", name_of(processor.kind));
  }
  const std::vector<NodeType>& types = machine.node_types();
  const bool elsewhere = std::any_of(
      types.begin(), types.end(), [&](const NodeType& node) { return has_memory(node, memory); });
  return elsewhere ? fmt::format("node {} has none", processor.node) : "the machine has none";
}

// Returns true if the recorded Legion program had a mapper of its own that asked for a layout of
// the region requirement at this position.
bool has_own_demand(const VariantView* variant, std::uint32_t position) {
  if (variant == nullptr) return false;
  const auto is_own = [position](const LayoutDemand& demand) {
    return demand.source == DemandSource::kMapper && demand.requirement == position;
  };
  return std::any_of(variant->demands.begin(), variant->demands.end(), is_own);
}

// The mapper of a recorded Legion program may choose another variant than `variant` for some
// launches of the task. Returns the layouts other than `layout` that the region requirement at this
// position then gets.
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

// Explains one application under one mapping. Each member function that begins with `explain_`
// fills one part of the explanation.
class Explainer {
 public:
  Explainer(const BoundProgram& bound, const app::Data& app, const std::vector<TaskLaunches>& uses,
            const ExplainQuery& query, Diagnostics& diags, const std::function<bool()>& stop)
      : program_(bound.program()),
        machine_(bound.machine()),
        app_(app),
        uses_(uses),
        query_(query),
        diags_(diags),
        stop_(stop),
        ignored_(program_.source()),
        statements_(program_),
        shared_(ProgramMapper::share(bound)),
        loads_(bound, shared_, app, uses, diags, stop),
        site_{bound.shared_machine(), any_processor()},
        filter_(query.task),
        selecting_(query.also_selected_by),
        processors_(first_of_each_node_type(machine_)) {
    selecting_.push_back(program_);
    if (filter_.selecting()) selecting_.push_back(*filter_.selecting());
  }

  // Explains the tasks that the query asks about, then lists the statements that decide nothing.
  // Returns nullopt if the caller wants to stop.
  std::optional<Explanation> explain() {
    Explanation explanation;
    explanation.application = app_.name;
    explanation.machine = machine_.name();
    // A statement may decide only about a task that the query does not ask about. So all tasks are
    // explained, and the results for the other tasks are dropped.
    for (std::size_t i = 0; i < app_.tasks.size(); ++i) {
      for (TaskContext& context :
           contexts_of(app_, uses_, static_cast<std::uint32_t>(i), selecting_)) {
        asked_ = is_asked(app_.tasks[i].name, context);
        ExplainedTask task = explain_task(i, context);
        if (must_stop()) return std::nullopt;
        if (asked_) explanation.tasks.push_back(std::move(task));
      }
    }
    if (explanation.tasks.empty() && filter_.selecting()) {
      diags_.report(DiagId::kUnknownTask, std::nullopt, app_.name, query_.task)
          .note("no launch of the task has these tasks above it and this form");
      return std::nullopt;
    }
    statements_.add_statements_without_effect(explanation);
    return explanation;
  }

 private:
  bool is_asked(std::string_view name, const TaskContext& context) const {
    const std::vector<std::string_view> above(context.above.begin(), context.above.end());
    return filter_.asks_about(LaunchedTask(name, above, dimensions_of(context)));
  }

  bool must_stop() const { return stop_ && stop_(); }

  // Returns the first processor of the machine. A mapper needs a processor, whichever it is.
  Processor any_processor() const {
    for (std::size_t k = 0; k < kProcKindCount; ++k) {
      const auto first = mapper::first_processor_from(machine_, static_cast<ProcKind>(k), 0);
      if (first) return *first;
    }
    return {};
  }

  // Returns the object that collects the errors of the current task: the diagnostics of the caller
  // if the query asks about the task, otherwise an object whose diagnostics nobody reads.
  Diagnostics& task_diags() { return asked_ ? diags_ : ignored_; }

  // Explains one task for some of its launches. If no processor can run the task, only the choice
  // of the kind is explained.
  ExplainedTask explain_task(std::size_t number, TaskContext& context) {
    const TaskLaunches& task = launches_ = std::move(context.launches);
    ExplainedTask explained;
    explained.above = std::move(context.above);
    const ViewsAbove above(app_, explained.above);
    parent_ = above.parent();
    const auto id = static_cast<std::uint32_t>(number);
    const app::DistinctLaunch first =
        task.launches.empty() ? unknown_use(id) : task.launches.front();
    const app::AppView views(app_, id, task.name_lists.front());
    explained.name = app_.tasks[number].name;
    explained.number = id;
    explained.selected = std::move(context.words);
    explained.launch_class = std::move(context.launch_class);
    explained.kind = explain_kind(view_of(views, first));
    if (!explained.kind.kind) return explained;
    const ProcKind kind = *explained.kind.kind;
    explain_launches(id, views, kind, explained);
    explain_requirements(id, kind, explained);
    explain_options(view_of(views, first), kind, explained);
    return explained;
  }

  TaskView view_of(const app::AppView& views, const app::DistinctLaunch& launch,
                   const Processor& processor = {}) const {
    TaskView view = views.view(launch, processor);
    view.parent = parent_;
    return view;
  }

  // Returns a launch that stands for a task whose launches the application does not describe. Such
  // a task counts as launched by the top-level task.
  app::DistinctLaunch unknown_use(std::uint32_t task) const {
    return {.task = task, .depth = static_cast<int>(task) == app_.top_level ? 0 : 1};
  }

  // Explains the choice of the kind of processor. Lists the kinds that were passed over, with the
  // reasons. Reports an error if the task cannot run anywhere.
  ExplainedKind explain_kind(const TaskView& view) {
    ExplainedKind explained;
    const auto decision = mapper::decide_kind(program_, view, machine_);
    const mapper::TaskWords words(program_, view);
    const auto statement = program_.task(words);
    static_cast<DecidingStatement&>(explained) =
        statements_.note_decision({MappingStatement::kTask, words, {}, {}, {}},
                                  statement ? statement->origin : DecisionOrigin{});
    if (decision) explained.kind = decision->kind;
    for (ProcKind kind : statement ? statement->kinds : std::vector<ProcKind>{}) {
      if (kind == explained.kind) break;
      explained.passed.push_back(
          {kind, machine_.has(kind) ? "the task has no variant for it" : "the machine has none"});
    }
    if (!decision)
      add_refusal_at_statement(program_, {mapper::no_kind_error(program_, view, machine_), {}},
                               task_diags());
    return explained;
  }

  // ---- Processors

  // Explains each launch that differs in parent, depth or domain. Launches that differ only in
  // their data count as one. A task without described launches is explained as an index launch and
  // as a single task.
  void explain_launches(std::uint32_t task, const app::AppView& views, ProcKind kind,
                        ExplainedTask& explained) {
    std::set<std::vector<std::int64_t>> seen;
    for (const app::DistinctLaunch& use : launches_.launches) {
      std::vector<std::int64_t> key{use.parent, use.depth};
      use.add_domain_to(key);
      if (!seen.insert(std::move(key)).second) continue;
      if (must_stop()) return;
      explained.launches.push_back(explain_launch(views, use, use.domain.has_value(), kind));
    }
    if (!seen.empty()) return;
    const app::DistinctLaunch use = unknown_use(task);
    if (use.depth > 0) explained.launches.push_back(explain_launch(views, use, true, kind));
    explained.launches.push_back(explain_launch(views, use, false, kind));
  }

  // Explains which function or default places the points of a launch. If the query asks about the
  // task, also counts the points on each processor, or gives an example for a single task.
  ExplainedLaunch explain_launch(const app::AppView& views, const app::DistinctLaunch& use,
                                 bool is_index, ProcKind kind) {
    ExplainedLaunch explained;
    TaskView view = view_of(views, use, *mapper::first_processor_from(machine_, kind, 0));
    view.is_index = is_index;
    explained.domain = use.domain;
    explained.is_index = is_index;
    explained.depth = view.depth;
    explained.stays_on_node = use.launch != nullptr && use.launch->same_address_space;
    if (use.depth > 1) explained.parent = app_.tasks[static_cast<std::size_t>(use.parent)].name;
    const auto function = mapper::decide_function(program_, view, kind);
    const mapper::TaskWords words(program_, view);
    static_cast<DecidingStatement&>(explained) = statements_.note_decision(
        {is_index ? MappingStatement::kIndexTaskMap : MappingStatement::kSingleTaskMap,
         words,
         {},
         kind,
         {}},
        function ? function->origin : DecisionOrigin{});
    if (function) explained.function = program_.function_name(function->function);
    if (!asked_) return explained;
    if (!is_index && function) {
      explained.example = place_single(view, use, *function, kind);
    } else if (is_index && use.domain && use.domain->count() > 0) {
      explained.loads = function ? loads_.count_points_by_function(view, function->function, kind)
                                 : loads_.count_points_by_default_mapper(view);
    }
    return explained;
  }

  // Returns an example for a single task: the processor on which it runs if its parent runs on the
  // first processor of the parent's kind.
  std::optional<Processor> place_single(const TaskView& view, const app::DistinctLaunch& use,
                                        const MappingFunctionDecision& function, ProcKind kind) {
    TaskPoint point;
    point.name = view.name;
    point.processor = point.parent = view.current;
    const int parent = use.parent >= 0 ? use.parent : app_.top_level;
    if (parent >= 0) {
      const auto number = static_cast<std::uint32_t>(parent);
      const app::AppView parents(app_, number, uses_[number].name_lists.front());
      point.parent_name = app_.tasks[number].name;
      const auto on = mapper::decide_kind(program_, parents.view({.task = number}), machine_);
      if (on) point.parent = mapper::first_processor_from(machine_, on->kind, 0);
    }
    return loads_.first_processor_of_point(function.function, point, kind);
  }

  // ---- Data

  // Explains the region requirements of a task. A requirement to which launches give different
  // names is explained once for each of these names. The results are in the order of the positions
  // of the requirements.
  void explain_requirements(std::uint32_t task, ProcKind kind, ExplainedTask& explained) {
    const TaskLaunches& uses = launches_;
    std::vector<std::vector<ExplainedRequirement>> by_position(
        app_.tasks[task].requirements.size());
    std::set<std::pair<std::size_t, app::Names>> seen;
    for (std::size_t n = 0; n < uses.name_lists.size(); ++n) {
      const auto use =
          std::find(uses.name_list_of_launch.begin(), uses.name_list_of_launch.end(), n) -
          uses.name_list_of_launch.begin();
      const app::AppView views(app_, task, uses.name_lists[n]);
      explain_requirements(
          task, views,
          uses.launches.empty() ? unknown_use(task) : uses.launches[static_cast<std::size_t>(use)],
          kind, uses.name_lists[n],
          [&](std::size_t i) { return seen.emplace(i, uses.name_lists[n][i]).second; },
          by_position);
    }
    for (auto& each : by_position) {
      std::move(each.begin(), each.end(), std::back_inserter(explained.requirements));
    }
  }

  // Explains the region requirements of one launch, except those for whose position `is_new`
  // returns false. Asks the mapping on the first processor of each type of node. Adds each
  // explanation to the list in `explained` for the position of its requirement. Reports the errors
  // that a runtime would report about the mapping's answers.
  template <typename IsNew>
  void explain_requirements(std::uint32_t task, const app::AppView& views,
                            const app::DistinctLaunch& launch, ProcKind kind,
                            const app::LaunchNames& names, const IsNew& is_new,
                            std::vector<std::vector<ExplainedRequirement>>& explained) {
    const auto count = static_cast<std::uint32_t>(app_.tasks[task].requirements.size());
    const std::vector<Processor>& processors = processors_[static_cast<std::size_t>(kind)];
    // The answer of the mapping about each region requirement, by the index of the processor in
    // `processors` and the position of the requirement.
    std::vector<std::vector<InstanceChoice>> choices;
    for (const Processor& processor : processors) {
      const TaskView view = view_of(views, launch, processor);
      const VariantView& variant = *mapper::best_variant(view, kind);
      MapTaskOutput choice;
      choice.processors = {processor};
      choice.variant = variant.id;
      for (std::uint32_t i = 0; i < count; ++i) {
        choice.requirements.push_back(
            mapper::decide_requirement(program_, view, i, variant, processor, machine_, {}));
      }
      for (const Refusal& refusal : validate(choice, view, machine_)) {
        add_refusal_at_statement(program_, refusal, task_diags());
      }
      choices.push_back(std::move(choice.requirements));
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!is_new(i)) continue;
      // Node types with the same decisions are shown once.
      std::vector<std::size_t> distinct;
      for (std::size_t p = 0; p < processors.size(); ++p) {
        const auto known = [&](std::size_t other) {
          return same_memories_and_layouts(choices[p][i], choices[other][i]) &&
                 same_reach(choices[p][i], processors[p], processors[other]);
        };
        if (std::none_of(distinct.begin(), distinct.end(), known)) distinct.push_back(p);
      }
      for (std::size_t p : distinct) {
        ExplainedRequirement one =
            explain_requirement(view_of(views, launch, processors[p]), i, choices[p][i]);
        if (distinct.size() > 1) one.node = processors[p].node;
        if (asks_about(query_, names, i)) explained[i].push_back(std::move(one));
      }
    }
  }

  // Returns true if both processors can address the same ones of the requested memories. Otherwise
  // they need separate explanations although the statements are the same.
  bool same_reach(const InstanceChoice& choice, const Processor& a, const Processor& b) const {
    const auto same = [&](const InstanceCandidate& candidate) {
      return machine_.can_address(a.node, a.kind, candidate.memory) ==
             machine_.can_address(b.node, b.kind, candidate.memory);
    };
    return std::all_of(choice.candidates().begin(), choice.candidates().end(), same);
  }

  // Explains the memories and layouts of one requirement, and whether its instance is collected
  // early. A requirement without access or fields is not mapped and has no further explanation.
  ExplainedRequirement explain_requirement(const TaskView& view, std::uint32_t position,
                                           const InstanceChoice& choice) {
    const RequirementView& requirement = view.requirements[position];
    ExplainedRequirement explained;
    explained.position = position;
    explained.names.assign(requirement.aliases.begin(), requirement.aliases.end());
    explained.privilege = requirement.privilege;
    explained.is_mapped = !requirement.empty();
    explained.is_virtual = choice.is_virtual;
    explained.inner = choice.is_virtual && choice.candidate_count == 0;
    const RegionNames names{position, requirement.aliases};
    const mapper::TaskWords words(program_, view);
    MatchQuery query{MappingStatement::kRegion, words, names, view.current.kind, {}};
    if (!explained.is_mapped) return explained;
    explain_memories(query, view, choice, explained);
    explain_beaten_regions(query, choice, explained);
    query.statement = MappingStatement::kCollectMemory;
    explained.collected = static_cast<bool>(choice.collect_origin);
    explained.collection = statements_.note_decision(query, choice.collect_origin);
    if (!explained.collected) {
      for (OverruledStatement& other : explained.collection.beaten) {
        if (other.reason == Reason::kPrecedence) other.reason = Reason::kPrivilege;
      }
    }
    return explained;
  }

  // Explains the candidate memories of a requirement in their order. The first usable memory is
  // taken, and later usable ones are fallbacks. A memory that is passed over has the reason.
  void explain_memories(MatchQuery query, const TaskView& view, const InstanceChoice& choice,
                        ExplainedRequirement& explained) {
    using State = ExplainedMemory::State;
    const Processor& processor = view.current;
    const RequirementView& requirement = view.requirements[explained.position];
    const VariantView* variant = mapper::best_variant(view, processor.kind);
    query.statement = MappingStatement::kLayout;
    bool taken = false;
    for (const InstanceCandidate& candidate : choice.candidates()) {
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
        statements_.note_deciding_statement(memory.by);
        memory.state = taken ? State::kFallback : State::kTaken;
        taken = true;
      }
      if (!is_virtual && !choice.is_virtual && memory.state != State::kPassed) {
        query.memory = candidate.memory;
        memory.layout_decided = statements_.note_decision(query, candidate.layout_origin);
        memory.demanded_by_mapper =
            !candidate.layout_origin && has_own_demand(variant, explained.position);
        if (!candidate.layout_origin && variant != nullptr) {
          memory.other_layouts = other_layouts(view, *variant, explained.position, memory.layout);
        }
      }
      explained.memories.push_back(std::move(memory));
    }
    // If the processor can use none of the candidate memories, the run fails. Then all statements
    // that name these memories count as statements that decide something.
    if (taken) return;
    for (const InstanceCandidate& candidate : choice.candidates())
      statements_.note_deciding_statement(candidate.memory_origin);
  }

  // Adds the Region statements that match but give no candidate, and for a virtual region the
  // Layout statements that match but have no effect.
  void explain_beaten_regions(MatchQuery query, const InstanceChoice& choice,
                              ExplainedRequirement& explained) {
    std::vector<DecisionOrigin> deciding;
    for (const InstanceCandidate& candidate : choice.candidates()) {
      if (candidate.memory_origin) deciding.push_back(candidate.memory_origin);
    }
    explained.beaten = statements_.find_overruled_statements(
        query, deciding, explained.inner ? Reason::kInner : Reason::kPrecedence);
    const auto listed = program_.memories(query.task, query.region, *query.kind);
    for (OverruledStatement& other : explained.beaten) {
      const bool in_list = std::any_of(listed.begin(), listed.end(), [&](const MemoryCandidate& m) {
        return m.origin == other.origin;
      });
      if (in_list && other.reason == Reason::kPrecedence) other.reason = Reason::kNothingNew;
    }
    if (!explained.is_virtual) return;
    query.statement = MappingStatement::kLayout;
    const auto layouts = statements_.find_overruled_statements(
        query, {}, explained.inner ? Reason::kInner : Reason::kVirtual);
    explained.beaten.insert(explained.beaten.end(), layouts.begin(), layouts.end());
  }

  // ---- The other task options, and limits

  // Explains the limit on instances of the task, stealing, and replication. If a statement asks for
  // replication and the task is not replicated, gives the reason.
  void explain_options(const TaskView& view, ProcKind kind, ExplainedTask& explained) {
    const mapper::TaskWords words(program_, view);
    const auto limit = program_.instance_limit(words, kind);
    if (limit) {
      explained.limit = limit->limit;
      if (limit->limit > 0) explained.limit_scope = limit->scope;
    }
    explained.limit_decided =
        statements_.note_decision({MappingStatement::kInstanceLimit, words, {}, kind, {}},
                                  limit ? limit->origin : DecisionOrigin{});
    const auto steal = program_.task_steal(words, kind);
    if (steal) explained.steal = steal->scope;
    explained.stealing =
        statements_.note_decision({MappingStatement::kTaskSteal, words, {}, kind, {}},
                                  steal ? steal->origin : DecisionOrigin{});
    const auto said = mapper::decide_replication(program_, view, kind);
    TaskView start = view;
    // For a single task, select_task_options() would also call the mapping function that chooses
    // the first processor. The task is passed as an index launch, for which the mapper decides only
    // the other options.
    start.is_index = true;
    ProgramMapper mapper(shared_, site_);
    MapperRuntime runtime;
    TaskOptions options;
    mapper.select_task_options(runtime, start, options);
    // The form of the launch matters to statements with selectors.
    if (said) {
      options.replicate = said->replicate;
      options.replicate_origin = said->origin;
    }
    explained.replicated = options.replicate;
    explained.replication = statements_.note_decision(
        {MappingStatement::kControlReplicate, words, {}, kind, {}}, options.replicate_origin);
    if (options.replicate || !options.replicate_origin) return;
    const char* const why = mapper::why_not_replicated(view);
    explained.why_not_replicated =
        why != nullptr ? why : fmt::format("its variant for {} is not replicable", name_of(kind));
  }

  const Program& program_;
  const Machine& machine_;
  const app::Data& app_;
  const std::vector<TaskLaunches>& uses_;
  const ExplainQuery& query_;
  Diagnostics& diags_;
  const std::function<bool()>& stop_;
  Diagnostics ignored_;
  StatementUseRecorder statements_;
  std::shared_ptr<ProgramMapper::Shared> shared_;
  LaunchPointCounter loads_;
  MapperSite site_;
  bool asked_ = true;
  const TaskFilter filter_;
  // The programs whose selectors tell launches apart.
  std::vector<Program> selecting_;
  // The launches of the task that are explained, and the view of their launching task, which is
  // null if it does not matter.
  TaskLaunches launches_;
  const TaskView* parent_ = nullptr;
  FirstProcessors processors_;
};

}  // namespace

// Explains the decisions. The names of the query and of the mapping are checked first, because a
// misspelled name would look like a statement that matches nothing.
std::optional<Explanation> explain(const BoundProgram& bound, const Workload& app,
                                   const ExplainQuery& query, Diagnostics& diags,
                                   const std::function<bool()>& stop) {
  bool complete = true;
  const std::vector<TaskLaunches> uses = launches_by_task(app.data(), complete);
  if (!check_query(query, app.data(), uses, diags)) return std::nullopt;
  check_names(bound.program(), app, diags);
  auto explanation = Explainer(bound, app.data(), uses, query, diags, stop).explain();
  if (explanation) explanation->all_launches = complete;
  return explanation;
}

}  // namespace groma
