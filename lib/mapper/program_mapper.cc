// Answers the hooks from the statements of a program. The decisions about a task are made once and
// kept (task_facts.h).
#include "groma/program_mapper.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "evaluate/processors.h"
#include "mapper/decisions.h"
#include "mapper/default_policy.h"
#include "mapper/function_maps.h"
#include "mapper/function_sharding.h"
#include "mapper/instance_limits.h"
#include "mapper/launch_cutter.h"
#include "mapper/task_facts.h"
#include "mapper/unhonoured.h"
#include "program/data.h"

namespace groma {

using mapper::TaskFacts;

// ------------------------------------------------------------ state of all mapper objects

struct ProgramMapper::Shared {
  BoundProgram bound;
  LogSink* log;
  mapper::IndexMapCache maps;
  mapper::CursorPool cursors;
  mapper::FunctionShardingFunctors functors;
  // For each kind of processor, the widest scope of the TaskSteal statements.
  std::array<std::optional<StealScope>, kProcKindCount> steals{};
  bool limits_any = false;
  // True if the statements that the runtime does not honour have been logged.
  std::atomic<bool> told = false;

  // Makes the shared state of a program's mapper objects, with its statements about limits and
  // stealing.
  Shared(BoundProgram program, LogSink* sink, std::function<bool()> stop)
      : bound(std::move(program)),
        log(sink),
        maps(bound, std::move(stop)),
        cursors(&maps),
        functors(bound, &cursors) {
    const Program& text = bound.program();
    limits_any = mapper::has_instance_limit(text);
    for (const auto& [kind, scope] : mapper::steal_statements(text)) {
      auto& widest = steals[static_cast<std::size_t>(kind)];
      if (!widest || scope == StealScope::kAnyNode) widest = scope;
    }
  }

  // Logs, once for all mapper objects, the statements that this runtime does not honour.
  void tell(const MapperRuntime& runtime) {
    if (log == nullptr || told.load(std::memory_order_relaxed) || told.exchange(true)) return;
    mapper::log_unsupported_statements(bound.program(), runtime.capabilities(), *log);
  }
};

std::shared_ptr<ProgramMapper::Shared> ProgramMapper::share(BoundProgram bound, LogSink* log,
                                                            std::function<bool()> stop) {
  return std::make_shared<Shared>(std::move(bound), log, std::move(stop));
}

std::shared_ptr<const Machine> ProgramMapper::machine_of(const Shared& shared) {
  return shared.bound.shared_machine();
}

// ------------------------------------------------------------ state of one mapper object

struct ProgramMapper::State {
  mapper::TaskFactsCache known;
  mapper::InstanceLimits limits;
  mapper::LaunchCursor cursor;  // Answers queries about the launches that are being mapped.
  // The event for which all ready tasks wait, or 0 if they do not wait.
  MapperEvent deferred = 0;
  // The processor that was last named as one from which to steal tasks.
  std::optional<Processor> last_victim;
  // The domain of a single task: it has no dimensions.
  const Rect no_domain;
  // The processors that the mapping function returned for the last single task.
  std::vector<Processor> single;

  explicit State(Shared& shared) : cursor(&shared.maps) {}

  // Calls ask_map(launch) for the launch of a task. A function that does not read its task's name
  // has one map for all tasks. Only errors mention the name, so `ask_map` is called again with the
  // name if it fails.
  template <typename Ask>
  std::optional<Diagnostic> ask(const TaskFacts& facts, const TaskView& task, ProcKind kind,
                                const Ask& ask_map) const {
    const LaunchDomain* space = mapper::space_of_shards(task);
    const Rect& domain = space == nullptr ? task.domain : space->box;
    mapper::LaunchToPlace launch{facts.function->function, task.name, domain, kind};
    if (facts.reads_rank) launch.points = space == nullptr ? task.points : space->some_points();
    if (facts.reads_name) return ask_map(launch);
    launch.task = {};
    if (!ask_map(launch)) return std::nullopt;
    launch.task = task.name;
    return ask_map(launch);
  }
  // Sets `single` to the processors that the function returns for a single task. Returns the error
  // if it fails.
  std::optional<Diagnostic> place_single(const TaskFacts& facts, const TaskView& task,
                                         ProcKind kind) {
    const bool top = task.parent == nullptr;
    const mapper::SingleTaskProcessors<std::string_view> stands{
        task.current, top ? task.current : task.parent->current,
        top ? std::string_view() : task.parent->name};
    single.clear();
    return cursor.place_point({facts.function->function, task.name, no_domain, kind, &stands}, {},
                              single);
  }
  // Makes the runtime call select_tasks_to_map again, if the last call deferred all ready tasks.
  void look_again(MapperRuntime& runtime) {
    if (deferred != 0) runtime.trigger_event(std::exchange(deferred, 0));
  }
  void target_processors(const TaskFacts& facts, const TaskView& task, bool stays,
                         const Machine& machine, MapTaskOutput& answer);
};

namespace {

// Returns a function that sends messages about limits through the runtime.
mapper::InstanceLimits::SendMessage sender(MapperRuntime& runtime) {
  return [&runtime](const Processor& target, const mapper::LimitMessage& message) {
    return runtime.send_message(target, static_cast<std::uint32_t>(message.kind),
                                std::as_bytes(std::span(&message, 1)));
  };
}

// Returns the site with the machine to which the program is bound in place of its own, equal
// machine, because the index maps refer to the program's machine.
MapperSite bound_site(const BoundProgram& bound, MapperSite site) {
  const bool same = site.machine.get() == &bound.machine() ||
                    (site.machine != nullptr && *site.machine == bound.machine());
  GROMA_REQUIRE(same, "MapperSite::machine must equal the machine that the program is bound to");
  site.machine = bound.shared_machine();
  return site;
}

}  // namespace

ProgramMapper::ProgramMapper(std::shared_ptr<Shared> shared, MapperSite site)
    : Mapper(bound_site(shared->bound, std::move(site))), shared_(std::move(shared)) {
  state_ = std::make_unique<State>(*shared_);
}
ProgramMapper::~ProgramMapper() = default;

const Program& ProgramMapper::program() const { return shared_->bound.program(); }

bool ProgramMapper::reads_launch_points() const {
  const auto& functions = program().data().functions;
  return std::any_of(functions.begin(), functions.end(),
                     [](const program::ProgramFunction& f) { return f.used && f.reads_rank; });
}

bool ProgramMapper::reads_launch_points_of(const TaskView& task) const {
  return state_->known.facts_of(program(), site(), task).reads_rank;
}

// Returns the place and the first line of a statement, for logs.
std::string ProgramMapper::describe(DecisionOrigin origin) const {
  if (!origin) return {};
  const Source& source = program().source();
  const Range range = program().range(origin);
  const Position position = source.position(range.begin);
  const std::string_view text = source.text(range);
  return fmt::format("{}:{}:{}: `{}`", source.name(), position.line, position.column,
                     text.substr(0, text.find('\n')));
}

// ---- The options of a task

// Decides the processor kind of a task, the first processor, whether it is replicated, and whether
// other processors may steal it. If a decision fails, answer.failure has the error.
void ProgramMapper::select_task_options(MapperRuntime& runtime, const TaskView& task,
                                        TaskOptions& answer) {
  shared_->tell(runtime);
  const TaskFacts& facts = state_->known.facts_of(program(), site(), task);
  answer.initial = site().local;
  // A limited task is not memoized, because a replay does not ask the mapper. It is not collective
  // either.
  const bool limited = facts.has_limit(task, runtime);
  answer.memoize = site().settings.memoize && !limited;
  if (!limited) mapper::find_collective_requirements(task, answer.collective);
  if (!facts.kind) {
    answer.failure = mapper::no_kind_error(program(), task, machine());
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
  // A replicated task cannot be stolen: its shards stay on their processors.
  answer.stealable = facts.has_steal(runtime) && !answer.replicate;
  if (answer.stealable) answer.steal_origin = facts.steal->origin;
  if (task.is_index || !facts.function) {
    answer.initial = default_processor(task, kind);
    return;
  }
  answer.processor_origin = facts.function->origin;
  answer.failure = state_->place_single(facts, task, kind);
  if (!answer.failure) answer.initial = state_->single.front();
}

// ---- Replication

std::span<const ShardingFunctor* const> ProgramMapper::sharding_functors() const {
  return shared_->functors.all_functors();
}

// Selects the functor for an operation. The points of an index launch with a mapping function are
// sharded by that function, everything else cyclically.
ShardingId ProgramMapper::select_sharding_functor(MapperRuntime& runtime, const TaskView& operation,
                                                  const ShardTable&) {
  shared_->tell(runtime);
  // The shard that owns a single task only starts it. select_task_options decides where the task
  // runs.
  if (operation.operation != OperationKind::kTask || !operation.is_index) return kCyclicSharding;
  const TaskFacts& facts = state_->known.facts_of(program(), site(), operation);
  return facts.function ? shared_->functors.functor_id(facts.function->function, operation.name)
                        : kCyclicSharding;
}

// Follows the default mapper, except that a ControlReplicate statement on a single node replicates
// over all processors of the kind.
void ProgramMapper::replicate_task(MapperRuntime& runtime, const TaskView& task,
                                   ReplicateTaskOutput& answer) {
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

// Cuts the part by the mapping function, or by the default blocks if there is none.
void ProgramMapper::slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                               SliceTaskOutput& answer) {
  shared_->tell(runtime);
  if (part.volume() == 0) return;
  const TaskFacts& facts = state_->known.facts_of(program(), site(), task);
  const bool stealable = facts.has_steal(runtime);
  // If each point may end up on a processor of its own, the launch is cut into single points.
  const bool by_point = stealable || facts.has_limit(task, runtime) || task.must_epoch;
  if (!facts.function) {
    Mapper::slice_task(runtime, task, part, answer);
    if (by_point) {
      const TaskSlices boxes = std::exchange(answer.slices, {});
      for (TaskSlice slice : boxes) {
        slice.stealable = stealable;
        mapper::cut_into_points(slice.box, slice, answer.slices);
      }
    }
  } else {
    answer.origin = facts.function->origin;
    answer.failure =
        state_->ask(facts, task, facts.kind->kind, [&](const mapper::LaunchToPlace& launch) {
          answer.slices.clear();
          return state_->cursor.cut_slices(launch, part, [&](const Rect& box, const Processor& p) {
            const TaskSlice slice{box, p, false, stealable};
            if (by_point) {
              mapper::cut_into_points(box, slice, answer.slices);
            } else {
              answer.slices.push_back(slice);
            }
          });
        });
    if (answer.failure) answer.slices.clear();
  }
}

// ---- Mapping of one task

// Maps a task: copies the planned choices for its requirements and decides its processors.
void ProgramMapper::map_task(MapperRuntime& runtime, const TaskView& task,
                             std::span<const std::span<const InstanceView>>,
                             MapTaskOutput& answer) {
  shared_->tell(runtime);
  TaskFacts& facts = state_->known.facts_of(program(), site(), task);
  const VariantView* variant = mapper::variant_to_run(task);
  if (variant == nullptr) {
    answer.failure = mapper::no_kind_error(program(), task, machine());
    return;
  }
  answer.variant = variant->id;
  if (facts.kind && facts.kind->kind == task.current.kind) answer.kind_origin = facts.kind->origin;
  const bool limited = facts.has_limit(task, runtime);
  const bool stays =
      limited || facts.has_steal(runtime) || task.shard_variant != 0 || task.must_epoch;
  state_->target_processors(facts, task, stays, machine(), answer);
  if (answer.failure) return;
  const std::vector<InstanceChoice>& choices = facts.choices.choices_of(
      program(), task, *variant, answer.processors.front(), machine(), site().settings);
  answer.requirements.assign(choices.begin(), choices.end());
  answer.task_profiling.status = limited;
}

// Sets the processors where the task may run. Limited, stolen, replicated and must-epoch tasks are
// not moved.
//
// A single task is already on the first processor that its mapping function returned. The function
// is evaluated again for the task on this processor, since it may name more processors of that
// node.
void ProgramMapper::State::target_processors(const TaskFacts& facts, const TaskView& task,
                                             bool stays, const Machine& machine,
                                             MapTaskOutput& answer) {
  if (facts.function) answer.processor_origin = facts.function->origin;
  if (stays) {
    answer.processors.push_back(task.current);
  } else if (!facts.function) {
    mapper::target_processors(task, machine, answer.processors);
  } else if (task.is_index) {
    answer.failure = ask(facts, task, task.current.kind, [&](const mapper::LaunchToPlace& launch) {
      return cursor.place_point(launch, task.point, answer.processors);
    });
  } else {
    const auto failure = place_single(facts, task, task.current.kind);
    if (!failure && std::count(single.begin(), single.end(), task.current) > 0) {
      answer.processors.assign(single.begin(), single.end());
    } else {
      answer.processors.push_back(task.current);
    }
  }
  // A task runs on one node, which the first processor decides.
  const auto elsewhere = [&](const Processor& p) {
    return p.node != answer.processors.front().node;
  };
  if (!answer.processors.empty()) std::erase_if(answer.processors, elsewhere);
}

// Gives each task of a must epoch a processor of its own: one that its mapping function returns and
// that is free, otherwise the next free processor of the task's kind.
void ProgramMapper::map_must_epoch(MapperRuntime&, std::span<const TaskView> tasks,
                                   MapMustEpochOutput& answer) {
  const auto is_free = [&](const Processor& p) {
    return std::find(answer.processors.begin(), answer.processors.end(), p) ==
           answer.processors.end();
  };
  for (const TaskView& task : tasks) {
    const TaskFacts& facts = state_->known.facts_of(program(), site(), task);
    // For a task without a kind, select_task_options() has already reported the error.
    if (!facts.kind) {
      answer.processors.push_back(site().local);
      continue;
    }
    const ProcKind kind = facts.kind->kind;
    std::vector<Processor>& wanted = state_->single;
    wanted.clear();
    if (facts.function && task.is_index) {
      state_->ask(facts, task, kind, [&](const mapper::LaunchToPlace& launch) {
        return state_->cursor.place_point(launch, task.point, wanted);
      });
    } else if (facts.function) {
      state_->place_single(facts, task, kind);
    }
    const auto found = std::find_if(wanted.begin(), wanted.end(), is_free);
    const Processor first = *mapper::first_processor_from(machine(), kind, 0);
    Processor next = found == wanted.end() ? first : *found;
    while (!is_free(next)) {
      next = mapper::next_processor(machine(), next);
      // There are more tasks than processors. validate() reports this.
      if (next == first) break;
    }
    answer.processors.push_back(next);
  }
}

// ---- Limits

// Maps those ready tasks of which another instance may begin. If all ready tasks have to wait, they
// are deferred to an event.
void ProgramMapper::select_tasks_to_map(MapperRuntime& runtime, std::span<const TaskView> ready,
                                        SelectMappingOutput& answer) {
  for (std::uint32_t i = 0; i < ready.size(); ++i) {
    const TaskFacts& facts = state_->known.facts_of(program(), site(), ready[i]);
    const bool waits =
        facts.has_limit(ready[i], runtime) &&
        !state_->limits.begin_instance(ready[i].current, facts.limit, sender(runtime));
    if (!waits) answer.map.push_back(i);
  }
  if (!answer.map.empty() || ready.empty()) return;
  if (state_->deferred == 0) state_->deferred = runtime.create_event();
  answer.deferral = state_->deferred;
  if (answer.deferral != 0) return;
  // If the runtime has no events, limits are not applied.
  for (std::uint32_t i = 0; i < ready.size(); ++i) answer.map.push_back(i);
}

bool ProgramMapper::selects() const { return shared_->limits_any; }

// Counts a limited task as ended, and looks at waiting tasks again.
void ProgramMapper::report_profiling(MapperRuntime& runtime, const TaskView& operation,
                                     const ProfilingReport& report) {
  using enum OperationKind;
  // The report may also be about a copy, which is not counted.
  if (operation.operation != kTask || report.operation != kTask) return;
  const TaskFacts& facts = state_->known.facts_of(program(), site(), operation);
  if (facts.limit.most > 0 &&
      state_->limits.end_instance(facts.limit.counted, operation.current, sender(runtime))) {
    state_->look_again(runtime);
  }
}

// Handles a message about limits from another mapper. Other messages are ignored.
void ProgramMapper::handle_message(MapperRuntime& runtime, const Processor& from,
                                   std::uint32_t kind, std::span<const std::byte> message) {
  const auto about_limit = mapper::read_limit_message(kind, message.data(), message.size());
  if (!about_limit) return;
  if (state_->limits.handle_message(from, *about_limit, sender(runtime)))
    state_->look_again(runtime);
}

// ---- Stealing

// Names one processor to steal tasks from: the next processor of the thief's kind after the one
// that was named last, on the thief's node or on the whole machine.
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

// Gives away half of the tasks that a TaskSteal statement allows this thief to take, rounded up. If
// permission to run an instance of a limited task was requested or granted, one instance of this
// task is kept.
void ProgramMapper::permit_steal_request(MapperRuntime&, const Processor& thief,
                                         std::span<const TaskView> stealable,
                                         std::vector<std::uint32_t>& answer) {
  std::set<std::uint64_t> keeps_one;
  for (std::uint32_t i = 0; i < stealable.size(); ++i) {
    const TaskFacts& facts = state_->known.facts_of(program(), site(), stealable[i]);
    const std::uint64_t counted = facts.limit.counted;
    if (state_->limits.has_unused_grant(counted) && keeps_one.insert(counted).second) continue;
    if (!facts.steal || facts.kind->kind != thief.kind) continue;
    const bool near = thief.node == site().local.node;
    if (near || facts.steal->scope == StealScope::kAnyNode) answer.push_back(i);
  }
  answer.resize((answer.size() + 1) / 2);
}

std::optional<std::uint64_t> ProgramMapper::unused_grant(const TaskView& task) const {
  const std::uint64_t counted = state_->known.facts_of(program(), site(), task).limit.counted;
  if (!state_->limits.has_unused_grant(counted)) return std::nullopt;
  return counted;
}

}  // namespace groma
