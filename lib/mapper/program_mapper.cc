// Statements to hooks. What a task's name decides is looked up once for each task (Facts), what its
// requirements' names decide once for each combination of them (Plan), so that map_task copies a
// wish.
#include "groma/program_mapper.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "mapper/decisions.h"
#include "mapper/default_policy.h"
#include "mapper/function_maps.h"
#include "mapper/function_sharding.h"
#include "mapper/processors.h"
#include "mapper/unhonoured.h"

namespace groma {
namespace {

using mapper::KindDecision;

// Caches are emptied when they are this full: names are the application's, and may never end.
constexpr std::size_t kMaxFacts = 4'096;
constexpr std::size_t kMaxPlans = 64;  // of one task

// What of a requirement its wish depends on.
struct RequirementKey {
  std::uint64_t aliases = 0;
  std::uint64_t tag = 0;
  Privilege privilege = Privilege::kNoAccess;
  Coherence coherence = Coherence::kExclusive;
  bool empty = false;
  friend bool operator==(const RequirementKey&, const RequirementKey&) = default;
};

RequirementKey key_of(const RequirementView& requirement) {
  return {requirement.aliases_key, requirement.tag, requirement.privilege, requirement.coherence,
          requirement.empty()};
}

struct Plan {
  VariantId variant = 0;
  ProcKind kind = ProcKind::kCpu;
  std::int64_t node = 0;
  std::vector<RequirementKey> keys;
  std::vector<RequirementWish> wishes;

  bool fits(const TaskView& task, const VariantView& chosen, const Processor& at) const {
    if (variant != chosen.id || node != at.node || kind != at.kind ||
        keys.size() != task.requirements.size()) {
      return false;
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!(keys[i] == key_of(task.requirements[i]))) return false;
    }
    return true;
  }
};

// What the name of a task decides. A task is known by its id, the form of its launch and its tag.
struct Facts {
  std::string name;
  std::size_t variant_count = 0;  // a runtime may register more while it runs
  std::optional<KindDecision> kind;
  std::optional<FunctionDecision> function;
  std::int64_t limit = 0;
  std::optional<StealDecision> steal;
  std::vector<Plan> plans;

  bool are_of(const TaskView& task) const {
    return name == task.name && variant_count == task.variants.size();
  }
};

struct FactsKey {
  TaskId task = 0;
  bool is_index = false;
  std::uint64_t tag = 0;
  friend bool operator==(const FactsKey&, const FactsKey&) = default;
};
struct FactsHash {
  std::size_t operator()(const FactsKey& key) const {
    const std::uint64_t mixed =
        (std::uint64_t{key.task} * 2 + (key.is_index ? 1 : 0)) * 0x9E3779B97F4A7C15U ^ key.tag;
    return static_cast<std::size_t>(mixed ^ (mixed >> 29));
  }
};

TaskPoint point_of(const TaskView& task) {
  TaskPoint point;
  point.name = task.name;
  point.domain = task.domain;
  point.point = task.point;
  if (task.is_index) return point;
  point.processor = task.current;
  point.parent = task.parent == nullptr ? task.current : task.parent->current;
  if (task.parent != nullptr) point.parent_name = task.parent->name;
  return point;
}

}  // namespace

// ------------------------------------------------------------------------------- what objects
// share

struct ProgramMapper::Shared {
  BoundProgram bound;
  LogSink* log;
  mapper::FunctionMaps maps;
  std::vector<mapper::FunctionSharding> functors;  // by function
  std::vector<const ShardingFunctor*> functor_list;
  std::array<std::optional<StealScope>, kProcKindCount> steals{};  // the widest, by kind
  bool limits_any = false;
  std::atomic<bool> told = false;  // what is not honoured

  Shared(BoundProgram program, LogSink* sink) : bound(std::move(program)), log(sink), maps(bound) {
    const Program& text = bound.program();
    functors.reserve(text.function_count());
    for (FunctionId f = 0; f < text.function_count(); ++f) functors.emplace_back(&maps, f);
    for (const mapper::FunctionSharding& functor : functors) functor_list.push_back(&functor);
    limits_any = mapper::limits_any(text);
    for (const auto& [kind, scope] : mapper::steal_statements(text)) {
      auto& widest = steals[static_cast<std::size_t>(kind)];
      if (!widest || scope == StealScope::kAnyNode) widest = scope;
    }
  }

  void tell(const MapperRuntime& runtime) {
    if (log == nullptr || told.load(std::memory_order_relaxed) || told.exchange(true)) return;
    mapper::log_unhonoured(bound.program(), runtime.capabilities(), *log);
  }
};

std::shared_ptr<ProgramMapper::Shared> ProgramMapper::share(BoundProgram bound, LogSink* log) {
  return std::make_shared<Shared>(std::move(bound), log);
}

std::shared_ptr<const Machine> ProgramMapper::machine_of(const Shared& shared) {
  return shared.bound.shared_machine();
}

// ------------------------------------------------------------------------------- what is one
// object's

struct ProgramMapper::State {
  std::unordered_map<FactsKey, Facts, FactsHash> known;
  // Instances of limited tasks that were let through and have not ended.
  std::unordered_map<TaskId, std::int64_t> in_flight;
  mapper::LaunchCursor cursor;  // the launches that it maps now
  Plan passing;                 // of requirements that promise no key
  Evaluator evaluator;
  MapperEvent deferred = 0;
  std::optional<Processor> last_victim;
  Diagnostics diags;

  explicit State(Shared& shared)
      : cursor(&shared.maps),
        evaluator(shared.bound, shared.log),
        diags(shared.bound.program().source()) {}

  // Where `facts.function` sends a single task, from where it stands.
  std::optional<Placed> place_single(const Facts& facts, const TaskView& task, ProcKind kind) {
    diags.clear();
    return evaluator.place(facts.function->function, point_of(task), kind, diags);
  }
  // Why it did not: notes and warnings may stand before the error.
  Diagnostic failure() const {
    const auto error = [](const Diagnostic& d) { return d.severity == Severity::kError; };
    return *std::find_if(diags.all().begin(), diags.all().end(), error);
  }
  void target_processors(const Facts& facts, const TaskView& task, bool stays,
                         const Machine& machine, TaskWish& answer);
  const Plan& plan_of(Facts& facts, const Program& program, const TaskView& task,
                      const VariantView& variant, const Processor& at, const Machine& machine,
                      const DefaultSettings& settings);

  Facts& of(const Program& program, const Machine& machine, const TaskView& task) {
    const FactsKey key{task.id, task.is_index, task.tag};
    const auto found = known.find(key);
    if (found != known.end() && found->second.are_of(task)) return found->second;
    if (known.size() >= kMaxFacts) known.clear();
    Facts made;
    made.name = task.name;
    made.variant_count = task.variants.size();
    made.kind = mapper::decide_kind(program, task, machine);
    if (made.kind) {
      const ProcKind kind = made.kind->kind;
      made.function = mapper::decide_function(program, task, kind);
      if (const auto limit = program.instance_limit(task.name, kind)) made.limit = limit->limit;
      made.steal = program.task_steal(task.name, kind);
    }
    return known.insert_or_assign(key, std::move(made)).first->second;
  }
};

namespace {

// Limits count by reports of what has ended, so a runtime without them has no limits.
bool limits(const Facts& facts, const MapperRuntime& runtime) {
  return facts.limit > 0 && runtime.capabilities().events;
}
bool steals(const Facts& facts, const MapperRuntime& runtime) {
  return facts.steal.has_value() && runtime.capabilities().stealing;
}

// Every point of `box` by itself.
void cut_into_points(const Rect& box, const TaskSlice& like, std::vector<TaskSlice>& slices) {
  Point one = Point::zeros(box.dimensions());
  for (int d = 0; d < one.dimensions(); ++d) one[d] = 1;
  Point at = box.lower;
  do {
    slices.push_back(like);
    slices.back().box = Rect{at, one};
  } while (next_point(box, &at));
}

}  // namespace

const Plan& ProgramMapper::State::plan_of(Facts& facts, const Program& program,
                                          const TaskView& task, const VariantView& variant,
                                          const Processor& at, const Machine& machine,
                                          const DefaultSettings& settings) {
  const auto named = [](const RequirementView& r) {
    return r.aliases_key != 0 || r.aliases.empty();
  };
  const bool reusable = std::all_of(task.requirements.begin(), task.requirements.end(), named);
  if (reusable) {
    for (const Plan& plan : facts.plans) {
      if (plan.fits(task, variant, at)) return plan;
    }
    if (facts.plans.size() >= kMaxPlans) facts.plans.clear();
  }
  Plan& plan = reusable ? facts.plans.emplace_back() : passing;
  plan.variant = variant.id;
  plan.kind = at.kind;
  plan.node = at.node;
  plan.keys.clear();
  plan.wishes.clear();
  for (std::uint32_t i = 0; i < task.requirements.size(); ++i) {
    plan.keys.push_back(key_of(task.requirements[i]));
    plan.wishes.push_back(
        mapper::decide_requirement(program, task, i, variant, at, machine, settings));
  }
  return plan;
}

ProgramMapper::ProgramMapper(std::shared_ptr<Shared> shared, MapperSite site)
    : Mapper(std::move(site)), shared_(std::move(shared)) {
  GROMA_CHECK(&machine() == &shared_->bound.machine());
  state_ = std::make_unique<State>(*shared_);
}
ProgramMapper::~ProgramMapper() = default;

const Program& ProgramMapper::program() const { return shared_->bound.program(); }

std::string ProgramMapper::describe(Origin origin) const {
  if (!origin) return {};
  const Source& source = program().source();
  const Range range = program().range(origin);
  const Position position = source.position(range.begin);
  const std::string_view text = source.text(range);
  return fmt::format("{}:{}:{}: `{}`", source.name(), position.line, position.column,
                     text.substr(0, text.find('\n')));
}

// ---- How a task starts

void ProgramMapper::select_task_options(MapperRuntime& runtime, const TaskView& task,
                                        TaskOptions& answer) {
  shared_->tell(runtime);
  const Facts& facts = state_->of(program(), machine(), task);
  answer.initial = site().local;
  answer.memoize = site().settings.memoize;
  mapper::find_collective(task, answer.collective);
  if (!facts.kind) {
    answer.failure = mapper::no_kind(program(), task, machine());
    return;
  }
  const ProcKind kind = facts.kind->kind;
  answer.kind_origin = facts.kind->origin;
  if (const auto replication = mapper::decide_replication(program(), task, kind)) {
    answer.replicate = replication->replicate;
    answer.replicate_origin = replication->origin;
  } else {
    answer.replicate = default_replicates(task, kind);
  }
  answer.map_locally = site().settings.map_locally && !answer.replicate;
  answer.stealable = steals(facts, runtime) && !answer.replicate;  // shards stay
  if (answer.stealable) answer.steal_origin = facts.steal->origin;
  if (task.is_index || !facts.function) {
    answer.initial = default_processor(task, kind);
    return;
  }
  answer.processor_origin = facts.function->origin;
  if (const auto placed = state_->place_single(facts, task, kind)) {
    answer.initial = placed->processors.front();
  } else {
    answer.failure = state_->failure();
  }
}

// ---- Replication

std::span<const ShardingFunctor* const> ProgramMapper::sharding_functors() const {
  return shared_->functor_list;
}

ShardingId ProgramMapper::select_sharding_functor(MapperRuntime& runtime, const TaskView& operation,
                                                  ShardTable) {
  shared_->tell(runtime);
  // A single task's owner only starts it: where it goes, select_task_options says.
  if (operation.operation != OperationKind::kTask || !operation.is_index) return kCyclicSharding;
  const Facts& facts = state_->of(program(), machine(), operation);
  return facts.function ? facts.function->function + 1 : kCyclicSharding;
}

void ProgramMapper::replicate_task(MapperRuntime& runtime, const TaskView& task,
                                   ReplicateAnswer& answer) {
  const auto decision = mapper::decide_replication(program(), task, task.current.kind);
  if (!decision || machine().node_count() > 1) {
    Mapper::replicate_task(runtime, task, answer);
  } else {
    mapper::replicate_over_nodes(task, task.current, machine(), answer);
    answer.processors.clear();
    const std::int64_t count = machine().processor_count(0, task.current.kind);
    for (std::int64_t i = 0; i < count && answer.variant != 0; ++i) {
      answer.processors.push_back({task.current.kind, 0, i});
    }
  }
  if (decision) answer.origin = decision->origin;
}

// ---- Index launches

void ProgramMapper::slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                               SliceAnswer& answer) {
  shared_->tell(runtime);
  if (part.volume() == 0) return;
  const Facts& facts = state_->of(program(), machine(), task);
  const bool stealable = steals(facts, runtime);
  const bool by_point = stealable || limits(facts, runtime);
  if (!facts.function) {
    Mapper::slice_task(runtime, task, part, answer);
    if (by_point) {
      const std::vector<TaskSlice> boxes = std::exchange(answer.slices, {});
      for (const TaskSlice& box : boxes) cut_into_points(box.box, box, answer.slices);
    }
  } else {
    answer.origin = facts.function->origin;
    const mapper::Launch launch{facts.function->function, task.name, task.domain, facts.kind->kind};
    answer.failure = state_->cursor.slices(launch, part, [&](const Rect& box, const Processor& p) {
      const TaskSlice slice{box, p, false, false};
      if (by_point) {
        cut_into_points(box, slice, answer.slices);
      } else {
        answer.slices.push_back(slice);
      }
    });
    if (answer.failure) answer.slices.clear();
  }
  for (TaskSlice& slice : answer.slices) slice.stealable = stealable;
}

// ---- One task

void ProgramMapper::map_task(MapperRuntime& runtime, const TaskView& task,
                             std::span<const std::span<const InstanceView>>, TaskWish& answer) {
  shared_->tell(runtime);
  Facts& facts = state_->of(program(), machine(), task);
  const VariantView* variant = mapper::variant_to_run(task);
  if (variant == nullptr) {
    answer.failure = mapper::no_kind(program(), task, machine());
    return;
  }
  answer.variant = variant->id;
  if (facts.kind && facts.kind->kind == task.current.kind) answer.kind_origin = facts.kind->origin;
  const bool limited = limits(facts, runtime);
  const bool stays = limited || steals(facts, runtime) || task.shard_variant != 0;
  state_->target_processors(facts, task, stays, machine(), answer);
  if (answer.failure) return;
  const Plan& plan = state_->plan_of(facts, program(), task, *variant, answer.processors.front(),
                                     machine(), site().settings);
  answer.requirements.assign(plan.wishes.begin(), plan.wishes.end());
  answer.task_profiling.status = limited;
}

// What is counted by processor, was stolen or is a shard stays where it is. A single task was sent
// where its function said; asked again from there, the function may name more processors of that
// node.
void ProgramMapper::State::target_processors(const Facts& facts, const TaskView& task, bool stays,
                                             const Machine& machine, TaskWish& answer) {
  if (facts.function) answer.processor_origin = facts.function->origin;
  if (stays) {
    answer.processors.push_back(task.current);
  } else if (!facts.function) {
    mapper::target_processors(task, machine, answer.processors);
  } else if (task.is_index) {
    const mapper::Launch launch{facts.function->function, task.name, task.domain,
                                task.current.kind};
    answer.failure = cursor.place(launch, task.point, answer.processors);
  } else {
    const auto placed = place_single(facts, task, task.current.kind);
    const bool named = placed && std::count(placed->processors.begin(), placed->processors.end(),
                                            task.current) > 0;
    if (named) {
      answer.processors.assign(placed->processors.begin(), placed->processors.end());
    } else {
      answer.processors.push_back(task.current);
    }
  }
  // The first decides the node; a task runs on one.
  const auto elsewhere = [&](const Processor& p) {
    return p.node != answer.processors.front().node;
  };
  if (!answer.processors.empty()) std::erase_if(answer.processors, elsewhere);
}

// ---- Limits

void ProgramMapper::select_tasks_to_map(MapperRuntime& runtime, std::span<const TaskView> ready,
                                        ScheduleAnswer& answer) {
  for (std::uint32_t i = 0; i < ready.size(); ++i) {
    const Facts& facts = state_->of(program(), machine(), ready[i]);
    if (limits(facts, runtime)) {
      std::int64_t& in_flight = state_->in_flight[ready[i].id];
      if (in_flight >= facts.limit) continue;
      ++in_flight;
    }
    answer.map.push_back(i);
  }
  if (!answer.map.empty() || ready.empty()) return;
  if (state_->deferred == 0) state_->deferred = runtime.create_event();
  answer.deferral = state_->deferred;
  if (answer.deferral != 0) return;
  for (std::uint32_t i = 0; i < ready.size(); ++i) answer.map.push_back(i);  // no events: no limits
}

bool ProgramMapper::selects() const { return shared_->limits_any; }

void ProgramMapper::report_profiling(MapperRuntime& runtime, const TaskView& operation,
                                     const ProfilingReport& report) {
  using enum OperationKind;
  if (operation.operation != kTask || report.operation != kTask) return;  // its copies', say
  const auto found = state_->in_flight.find(operation.id);
  if (found == state_->in_flight.end()) return;
  found->second = std::max(found->second - 1, std::int64_t{0});
  if (state_->deferred != 0) runtime.trigger_event(std::exchange(state_->deferred, 0));
}

// ---- Stealing

void ProgramMapper::select_steal_targets(MapperRuntime&, std::span<const Processor> blacklist,
                                         std::vector<Processor>& answer) {
  const Processor& thief = site().local;
  const auto scope = shared_->steals[static_cast<std::size_t>(thief.kind)];
  if (!scope) return;
  const std::int64_t in_node = machine().processor_count(thief.node, thief.kind);
  const Processor begin = state_->last_victim.value_or(thief);
  Processor victim = begin;
  do {
    victim = *scope == StealScope::kAnyNode
                 ? mapper::next_processor(machine(), victim)
                 : Processor{thief.kind, thief.node, (victim.index + 1) % in_node};
    const bool refused = std::find(blacklist.begin(), blacklist.end(), victim) != blacklist.end();
    if (!refused && !(victim == thief)) {
      answer.push_back(victim);
      state_->last_victim = victim;
      return;
    }
  } while (!(victim == begin));
}

void ProgramMapper::permit_steal_request(MapperRuntime&, const Processor& thief,
                                         std::span<const TaskView> stealable,
                                         std::vector<std::uint32_t>& answer) {
  for (std::uint32_t i = 0; i < stealable.size(); ++i) {
    const Facts& facts = state_->of(program(), machine(), stealable[i]);
    if (!facts.steal || facts.kind->kind != thief.kind) continue;
    const bool near = thief.node == site().local.node;
    if (near || facts.steal->scope == StealScope::kAnyNode) answer.push_back(i);
  }
  answer.resize((answer.size() + 1) / 2);
}

}  // namespace groma
