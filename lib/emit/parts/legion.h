// The mapper class: overrides the hooks of Legion's DefaultMapper that the statements of a mapping
// change. Part of the code that `groma emit` writes (lib/emit/parts.cc).
#pragma once

#include <legion.h>
#include <mappers/default_mapper.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emit/parts/site.h"

namespace groma::emit {
// @if functions

inline Tuple tuple_of(const Legion::DomainPoint& point) {
  Tuple tuple;
  for (int d = 0; d < point.get_dim(); ++d) tuple.add(point[static_cast<unsigned>(d)]);
  return tuple;
}
// @end
// @if ranks

// Returns the place of a point among the points of a launch, in row-major order: the last
// coordinate is the fastest. All points of a sparse launch are compared with the point.
inline std::int64_t rank_of(const Legion::Domain& launch, const Legion::DomainPoint& point) {
  std::int64_t rank = 0;
  if (launch.dense()) {
    for (unsigned d = 0; d < static_cast<unsigned>(launch.get_dim()); ++d) {
      const Legion::coord_t lower = launch.lo()[d];
      rank = rank * (launch.hi()[d] - lower + 1) + (point[d] - lower);
    }
    return rank;
  }
  for (Legion::Domain::DomainPointIterator at(launch); at; at++) rank += *at < point ? 1 : 0;
  return rank;
}
// @end
// @if index_function

// Returns the Task that a mapping function gets for one point of a launch.
inline Task point_of(std::string_view name, const Legion::Domain& launch,
                     const Legion::DomainPoint& point) {
  Task task;
  task.name = name;
  task.ilo = tuple_of(launch.lo());
  task.ispace = tuple_of(launch.hi() - launch.lo()) + 1;
  task.ipoint = tuple_of(point - launch.lo());
  // @if ranks
  task.irank = rank_of(launch, point);
  task.ivolume = static_cast<std::int64_t>(launch.get_volume());
  // @end
  return task;
}

// A box of points of a launch that all go to one processor.
struct Box {
  Legion::DomainPoint lower, upper;
  Processor processor;
};

// Divides a launch into boxes of points that each go to one processor. The boxes are runs in the
// last dimension. They are joined with the runs of the row before if these are the same, and so on
// in each dimension.
template <typename PlaceOf>
std::vector<Box> boxes_of(const Legion::Domain& domain, Legion::DomainPoint point, int d,
                          const PlaceOf& processor_of) {
  if (d == domain.get_dim()) return {{point, point, processor_of(point)}};
  std::vector<Box> done, open;
  const auto at = static_cast<unsigned>(d);
  const auto goes_on = [at](const Box& before, const Box& box) {
    for (unsigned i = at + 1; i < static_cast<unsigned>(box.lower.get_dim()); ++i) {
      if (before.lower[i] != box.lower[i] || before.upper[i] != box.upper[i]) return false;
    }
    return before.processor == box.processor;
  };
  for (point[at] = domain.lo()[at]; point[at] <= domain.hi()[at]; ++point[at]) {
    std::vector<Box> now = boxes_of(domain, point, d + 1, processor_of);
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (i < now.size() && goes_on(open[i], now[i])) {
        now[i].lower[at] = open[i].lower[at];
      } else {
        done.push_back(open[i]);
      }
    }
    open = std::move(now);
  }
  done.insert(done.end(), open.begin(), open.end());
  return done;
}

// Decides which shard of a replicated task owns a point. The first rule that applies decides: the
// shard on the point's processor; a shard on its node, chosen by the processor's index; any shard,
// chosen by the node's number.
class Sharding final : public Legion::ShardingFunctor {
 public:
  Sharding(const Mapping* mapping, Mapping::Function function, std::string task,
           std::vector<Processor> shards)
      : mapping_(mapping),
        function_(function),
        task_(std::move(task)),
        shards_(std::move(shards)) {}

  Legion::ShardID shard(const Legion::DomainPoint& point, const Legion::Domain& launch,
                        std::size_t) override {
    try {
      const Processors placed = mapping_->place(function_, point_of(task_, launch, point));
      return shard_of(*placed.begin());
    } catch (const Failure&) {
      // The failure of the mapping function is ignored here, because slice_task() reports it.
      return 0;
    }
  }

 private:
  Legion::ShardID shard_of(const Processor& processor) const {
    std::vector<std::size_t> near;
    for (std::size_t s = 0; s < shards_.size(); ++s) {
      if (shards_[s].node == processor.node) near.push_back(s);
    }
    std::size_t shard = static_cast<std::size_t>(processor.node) % shards_.size();
    if (!near.empty()) shard = near[static_cast<std::size_t>(processor.index) % near.size()];
    const auto itself = std::find(shards_.begin(), shards_.end(), processor);
    if (near.size() == 1)
      shard = near[0];
    else if (itself != shards_.end())
      shard = static_cast<std::size_t>(itself - shards_.begin());
    return static_cast<Legion::ShardID>(shard);
  }

  const Mapping* mapping_;
  Mapping::Function function_;
  std::string task_;
  std::vector<Processor> shards_;
};

// Makes one sharding functor for each mapping function, task and shard table. Its id is the same on
// every node.
class Shardings {
 public:
  Legion::ShardingID id_of(Legion::Runtime* runtime, const Mapping& mapping,
                           Mapping::Function function, const std::string& task,
                           const std::vector<Processor>& shards) {
    std::string name = "MAPPER_CLASS " + std::to_string(static_cast<int>(function)) + " " + task;
    for (const Processor& p : shards) {
      name += " " + std::to_string(static_cast<int>(p.kind)) + "." + std::to_string(p.node) + "." +
              std::to_string(p.index);
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = ids_.find(name);
      if (found != ids_.end()) return found->second;
    }
    // This call of Legion may wait for another node, so mutex_ is not held during it.
    const Legion::ShardingID id = runtime->generate_library_sharding_ids(name.c_str(), 1);
    const std::lock_guard<std::mutex> lock(mutex_);
    // Legion deletes the functor.
    if (ids_.emplace(name, id).second) {
      runtime->register_sharding_functor(id, new Sharding(&mapping, function, task, shards), true);
    }
    return id;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Legion::ShardingID> ids_;
};
// @end

// @if limits

// While this object lives, no other hook of its mapper begins, whatever the current hook calls.
class ReentrancyGuard {
 public:
  ReentrancyGuard(Legion::Mapping::MapperRuntime* rt, Legion::Mapping::MapperContext context)
      : rt_(rt), context_(context), was_reentrant_(rt->is_reentrant(context)) {
    if (was_reentrant_) rt_->disable_reentrant(context_);
  }
  ~ReentrancyGuard() {
    if (was_reentrant_) rt_->enable_reentrant(context_);
  }
  ReentrancyGuard(const ReentrancyGuard&) = delete;
  ReentrancyGuard& operator=(const ReentrancyGuard&) = delete;

 private:
  Legion::Mapping::MapperRuntime* rt_;
  Legion::Mapping::MapperContext context_;
  bool was_reentrant_;
};
// @end

// The state that all mapper objects of a process share.
struct Shared {
  LegionMachine site;
  // @if collects
  Reductions reductions;
  // @end
  // @if values
  Mapping mapping = or_end([this] { return Mapping(site.machine); });
  // @end
  // @if index_function
  Legion::Runtime* runtime = nullptr;
  Shardings shardings;
  // @end
};

class MAPPER_CLASS : public Legion::Mapping::DefaultMapper {
 public:
  using Context = Legion::Mapping::MapperContext;

  MAPPER_CLASS(Legion::Mapping::MapperRuntime* rt, Legion::Machine legion, Legion::Processor local,
               std::shared_ptr<Shared> shared)
      : DefaultMapper(rt, legion, local, "MAPPER_CLASS"),
        // @if runtime
        rt_(rt),
        // @end
        shared_(std::move(shared)),
        // @if places
        local_(shared_->site.place_of(local, {})),
        // @end
        site_(shared_->site) {}
  // @if options

  void select_task_options(Context context, const Legion::Task& task,
                           TaskOptions& output) override {
    DefaultMapper::select_task_options(context, task, output);
    // @if collects
    shared_->reductions.note(task.regions);
    // @end
    // @if instances
    output.valid_instances = false;
    // @end
    // @if single_function
    if (!task.is_index_space) {
      const Processor here = site_.place_of(task.current_proc, local_);
      const Processors found =
          or_end([&] { return placed(context, task, here, kind_of(context, task)); });
      if (found.count() > 0) output.initial_proc = site_.legion(*found.begin());
    }
    // @end
    // @if replicates
    // @if conditional_replicates
    const bool default_choice = output.replicate;
    // @end
    output.replicate = Mapping::replicates(words_of(task)) && can_replicate(context, task);
    if (output.replicate) output.map_locally = false;
    // @if conditional_replicates
    if (!shared_->mapping.replicates_any()) output.replicate = default_choice;
    // @end
    // @end
    // @if limits
    // The replay of a trace asks no mapper, so the task is not traced.
    if (limit_of(context, task) > 0) output.memoize = false;
    // @end
    // @if steals
    output.stealable = steal_of(context, task).has_value() && !output.replicate;
    // @end
  }
  // @end
  // @if collects

  void map_inline(Context context, const Legion::InlineMapping& operation,
                  const MapInlineInput& input, MapInlineOutput& output) override {
    shared_->reductions.note({operation.requirement});
    DefaultMapper::map_inline(context, operation, input, output);
  }
  void map_copy(Context context, const Legion::Copy& operation, const MapCopyInput& input,
                MapCopyOutput& output) override {
    shared_->reductions.note(operation.dst_requirements);
    DefaultMapper::map_copy(context, operation, input, output);
  }
  // @end
  // @if kinds

  // Ranks the processor kinds of the Task statement, in their order. Kinds that the machine does
  // not have or for which the task has no variant are left out.
  void default_policy_rank_processor_kinds(Context context, const Legion::Task& task,
                                           std::vector<Legion::Processor::Kind>& ranking) override {
    const std::vector<ProcKind> kinds = Mapping::kinds_of(words_of(task));
    if (kinds.empty()) {
      return DefaultMapper::default_policy_rank_processor_kinds(context, task, ranking);
    }
    for (const ProcKind kind : kinds) {
      if (site_.machine.has(kind) && best_variant(context, task, kind) != 0) {
        ranking.push_back(legion_kind(kind));
      }
    }
    if (ranking.empty()) {
      end("`" + std::string(task.get_task_name()) +
          "` has no variant for its kinds of processors that are here [no-variant]");
    }
  }
  // @end
  // @if replicates

  // Replicates the task: makes one shard on each node, or, on a single node, one on each processor
  // of the task's kind.
  void replicate_task(Context context, const Legion::Task& task, const ReplicateTaskInput& input,
                      ReplicateTaskOutput& output) override {
    const Legion::Processor at = task.target_proc.exists() ? task.target_proc : task.current_proc;
    const Processor here = site_.place_of(at, local_);
    output.chosen_variant = best_variant(context, task, here.kind, true);
    if (output.chosen_variant == 0) {
      return DefaultMapper::replicate_task(context, task, input, output);
    }
    const auto nodes = static_cast<std::int64_t>(site_.machine.nodes.size());
    const std::int64_t shards = nodes > 1 ? nodes : site_.machine.count(0, here.kind);
    for (std::int64_t s = 0; s < shards; ++s) {
      Processor shard{here.kind, nodes > 1 ? s : 0, nodes > 1 ? 0 : s};
      if (site_.machine.count(shard.node, here.kind) == 0) continue;
      if (nodes > 1 && s == here.node) shard = here;
      output.target_processors.push_back(site_.legion(shard));
    }
  }
  // @end
  // @if index_function

  // IndexTaskMap: each point belongs to the shard of its processor.
  void select_sharding_functor(Context context, const Legion::Task& task,
                               const SelectShardingFunctorInput& input,
                               SelectShardingFunctorOutput& output) override {
    output.chosen_functor = 0;
    if (!task.is_index_space) return;
    const Mapping::Function function = function_of(context, task);
    if (function == Mapping::Function::none) return;
    std::vector<Processor> shards;
    for (const Legion::Processor p : input.shard_mapping) {
      shards.push_back(site_.place_of(p, local_));
    }
    output.chosen_functor = shared_->shardings.id_of(shared_->runtime, shared_->mapping, function,
                                                     task.get_task_name(), shards);
  }
  using DefaultMapper::select_sharding_functor;
  // @end
  // @if slices

  void slice_task(Context context, const Legion::Task& task, const SliceTaskInput& input,
                  SliceTaskOutput& output) override {
    // @if index_function
    const Mapping::Function function = function_of(context, task);
    if (function != Mapping::Function::none) {
      cut(function, task, kind_of(context, task), input.domain, output.slices);
    } else {
      DefaultMapper::slice_task(context, task, input, output);
    }
    // @end
    // @if !index_function
    DefaultMapper::slice_task(context, task, input, output);
    // @end
    // @if by_point
    // Tasks that are counted or may be stolen are sliced into points.
    // @if steals
    const bool stealable = steal_of(context, task).has_value();
    // @end
    // @if !steals
    constexpr bool stealable = false;
    // @end
    // @if limits
    if (!stealable && limit_of(context, task) == 0) return;
    // @end
    // @if !limits
    if (!stealable) return;
    // @end
    std::vector<TaskSlice> points;
    for (const TaskSlice& slice : output.slices) {
      for (Legion::Domain::DomainPointIterator at(slice.domain); at; at++) {
        points.emplace_back(Legion::Domain(*at, *at), slice.proc, false, stealable);
      }
    }
    output.slices = std::move(points);
    // @end
  }
  // @end

  // Maps all ready tasks, while DefaultMapper maps a few at a time.
  // @if !limits
  void select_tasks_to_map(Context, const SelectMappingInput& input,
                           SelectMappingOutput& output) override {
    output.map_tasks.insert(input.ready_tasks.begin(), input.ready_tasks.end());
  }
  // @end
  // @if limits
  // InstanceLimit: maps no more instances of a task than its limit allows.
  void select_tasks_to_map(Context context, const SelectMappingInput& input,
                           SelectMappingOutput& output) override {
    const ReentrancyGuard guard(rt_, context);
    std::vector<const Legion::Task*> waiting;
    for (const Legion::Task* task : input.ready_tasks) {
      // Legion asks about a top-level task twice: first on the processor that sends the task on,
      // then on the target processor. The task is mapped on the target, so the first question must
      // not count an instance.
      if (task->get_parent_task() == nullptr && task->target_proc != local_proc) {
        output.map_tasks.insert(task);
        continue;
      }
      const std::int64_t limit = limit_of(context, *task);
      // @if shared_limits
      if (limit > 0 && !limits_.begin_instance(
                           local_, {counted_as(context, *task), limit, keeper_of(context, *task)},
                           limit_sender(context))) {
        waiting.push_back(task);
        continue;
      }
      // @end
      // @if !shared_limits
      if (limit > 0) {
        std::int64_t& in_flight = in_flight_[counted_as(context, *task)];
        if (in_flight >= limit) {
          waiting.push_back(task);
          continue;
        }
        ++in_flight;
      }
      // @end
      output.map_tasks.insert(task);
    }
    // @if shares
    asked_ = 0;
    has_waiting_ = !waiting.empty();
    share_tasks(context, waiting, output);
    is_deferred_ = false;
    if (!output.relocate_tasks.empty()) return;
    // @end
    if (!output.map_tasks.empty() || input.ready_tasks.empty()) return;
    if (!deferred_.exists()) deferred_ = rt_->create_mapper_event(context);
    output.deferral_event = deferred_;
    // @if shares
    is_deferred_ = true;
    // @end
  }

  // A task has ended, so another instance of it may begin.
  void report_profiling(Context context, const Legion::Task& task,
                        const TaskProfilingInfo& input) override {
    if (!input.task_response) return;
    // @if shared_limits
    if (limits_.end_instance(counted_as(context, task), local_, limit_sender(context))) {
      look_again(context);
    }
    // @end
    // @if !shared_limits
    const auto found = in_flight_.find(counted_as(context, task));
    if (found != in_flight_.end()) {
      found->second = std::max<std::int64_t>(found->second - 1, 0);
      look_again(context);
    }
    // @end
    // @if shares
    if (mapped_ > 0) --mapped_;
    look_for_work(context);
    // @end
  }
  using DefaultMapper::report_profiling;
  // @end
  // @if steals

  // TaskSteal with Legion's own protocol: a processor steals only while tasks wait on it too.
  void select_steal_targets(Context, const SelectStealingInput& input,
                            SelectStealingOutput& output) override {
    const Legion::Processor victim =
        next_victim([&](Legion::Processor p) { return input.blacklist.count(p) > 0; });
    if (victim.exists()) output.targets.insert(victim);
  }
  void permit_steal_request(Context context, const StealRequestInput& input,
                            StealRequestOutput& output) override {
    const std::vector<const Legion::Task*> tasks(input.stealable_tasks.begin(),
                                                 input.stealable_tasks.end());
    for (const Legion::Task* task : tasks_for_thief(context, input.thief_proc, tasks)) {
      output.stolen_tasks.insert(task);
    }
  }
  // @end
  // @if shares || shared_limits

  // @if shares
  // TaskSteal for idle processors, with messages. A processor with waiting tasks offers them. An
  // idle processor requests one, and gets a task by relocation or the reply that there is none.
  // @end
  // @if shared_limits
  // InstanceLimit over several processors: one mapper object counts the instances for all of them.
  // @end
  void handle_message(Context context, const MapperMessage& message) override {
    // @if shared_limits
    const auto limit = read_limit_message(message.kind, message.message, message.size);
    if (limit) {
      const Processor from = site_.place_of(message.sender, local_);
      if (limits_.handle_message(from, *limit, limit_sender(context))) look_again(context);
      return;
    }
    // @end
    // @if !shares
    DefaultMapper::handle_message(context, message);
    // @end
    // @if shares
    const Legion::Processor sender = message.sender;
    switch (message.kind) {
      case kOffer:
        if (!has(offers_, sender)) offers_.push_back(sender);
        return look_for_work(context);
      case kRequest:
        if (!has_stealable_) return refuse(context, sender);
        requests_.push_back(sender);
        // Triggering the event makes Legion call select_tasks_to_map again.
        if (is_deferred_ && deferred_.exists()) {
          const ReentrancyGuard guard(rt_, context);
          rt_->trigger_mapper_event(context,
                                    std::exchange(deferred_, rt_->create_mapper_event(context)));
        }
        return;
      case kNothing:
        if (asked_ > 0) --asked_;
        offers_.erase(std::remove(offers_.begin(), offers_.end(), sender), offers_.end());
        return look_for_work(context);
      default:
        DefaultMapper::handle_message(context, message);
    }
    // @end
  }
  // @end
  // @if targets

  // Selects the processors on any of which the task may run.
  void default_policy_select_target_processors(Context context, const Legion::Task& task,
                                               std::vector<Legion::Processor>& targets) override {
    if (stays_where_sent(context, task)) return targets.push_back(task.target_proc);
    // @if functions
    const Processor here = site_.place_of(task.target_proc, local_);
    Processors found;
    // @if index_function
    if (task.is_index_space) {
      found = or_end([&] { return placed(context, task, here, here.kind); });
    }
    // @end
    // @if single_function
    // A single task was sent to the processor that its function returned. The function, called
    // again from there, may name more processors.
    if (!task.is_index_space) {
      found = placed_or_none(context, task, here, here.kind);
      const bool same = std::find(found.begin(), found.end(), here) != found.end();
      if (!same && function_of(context, task) != Mapping::Function::none) {
        return targets.push_back(task.target_proc);
      }
    }
    // @end
    // The first processor decides the node.
    for (const Processor& processor : found) {
      if (processor.node == found.begin()->node) targets.push_back(site_.legion(processor));
    }
    if (found.count() > 0) return;
    // @end
    DefaultMapper::default_policy_select_target_processors(context, task, targets);
  }
  // @end
  // @if map_task

  void map_task(Context context, const Legion::Task& task, const MapTaskInput& input,
                MapTaskOutput& output) override {
    // @if !instances
    DefaultMapper::map_task(context, task, input, output);
    // @end
    // @if instances
    const bool shard = input.shard_processor.exists();
    const Legion::Processor target = shard ? input.shard_processor : task.target_proc;
    const Processor here = site_.place_of(target, local_);
    output.chosen_variant = shard ? input.shard_variant : best_variant(context, task, here.kind);
    if (output.chosen_variant == 0) {
      end("`" + std::string(task.get_task_name()) +
          "` has no variant for where it is [no-variant]");
    }
    output.target_procs.clear();
    if (shard) {
      output.target_procs.push_back(target);
    } else {
      default_policy_select_target_processors(context, task, output.target_procs);
    }
    for (std::size_t i = 0; i < task.regions.size(); ++i) map_region(context, task, i, output);
    for (std::size_t i = 0; i < task.output_regions.size(); ++i) {
      map_output(context, task, i, output);
    }
    // @end
    // @if limits
    // @if shares
    // Tasks are counted to know whether this processor is idle.
    ++mapped_;
    // @end
    // @if !shares
    if (limit_of(context, task) == 0) return;
    // @end
    output.task_prof_requests
        .add_measurement<Legion::Mapping::ProfilingMeasurements::OperationStatus>();
    // @end
  }
  // @end
  // @if must_epoch
  // @if index_function

  // Chooses the sharding functor of a must epoch: that of its index launch, if it consists of one.
  void select_sharding_functor(Context context, const Legion::MustEpoch& epoch,
                               const SelectShardingFunctorInput& input,
                               MustEpochShardingFunctorOutput& output) override {
    DefaultMapper::select_sharding_functor(context, epoch, input, output);
    if (epoch.index_space_tasks.size() != 1 || !epoch.individual_tasks.empty()) return;
    select_sharding_functor(context, *epoch.index_space_tasks.front(), input, output);
  }
  // @end

  // Places the tasks of a must epoch on different processors. If functions name a processor twice,
  // the next one of its kind is taken. Data that tasks share lies where the first of them wants it.
  void map_must_epoch(Context context, const MapMustEpochInput& input,
                      MapMustEpochOutput& output) override {
    output.task_processors.clear();
    for (const Legion::Task* task : input.tasks) {
      output.task_processors.push_back(free_processor(context, *task, output.task_processors));
    }
    output.constraint_mappings.resize(input.constraints.size());
    for (std::size_t i = 0; i < input.constraints.size(); ++i) {
      map_constraint(context, input, i, output);
    }
  }
  // @end

 private:
  // @if best_variant
  // Returns the task variant with the highest number for that kind of processor, or 0 if there is
  // none.
  Legion::VariantID best_variant(Context context, const Legion::Task& task, ProcKind kind,
                                 bool replicable = false) const {
    std::vector<Legion::VariantID> ids;
    rt_->find_valid_variants(context, task.task_id, ids, legion_kind(kind));
    Legion::VariantID best = 0;
    for (const Legion::VariantID id : ids) {
      if (replicable && !rt_->is_replicable_variant(context, task.task_id, id)) continue;
      best = std::max(best, id);
    }
    return best;
  }
  // @end
  // @if kind_of

  // Returns the processor kind on which the task runs.
  ProcKind kind_of(Context context, const Legion::Task& task) {
    const auto kind = default_find_preferred_variant(task, context, false).proc_kind;
    const auto found = std::find(kProcessorKinds.begin(), kProcessorKinds.end(), kind);
    return static_cast<ProcKind>(found - kProcessorKinds.begin());
  }
  // @end
  // @if limits
  // Returns the limit on instances of the task that run at once. Returns 0 (no limit) if the points
  // of a launch wait for each other.
  std::int64_t limit_of(Context context, const Legion::Task& task) {
    if (is_rendezvous(task)) return 0;
    return Mapping::limit_of(words_of(task), kind_of(context, task));
  }
  // Returns the number under which instances of the task are counted: that of the task, and of the
  // statement if statements select launches of the task.
  std::uint64_t counted_as([[maybe_unused]] Context context, const Legion::Task& task) {
    std::uint64_t counted = task.task_id;
    // @if selectors
    counted |= std::uint64_t{Mapping::limit_statement_of(words_of(task), kind_of(context, task))}
               << 32;
    // @end
    return counted;
  }
  // Makes Legion call select_tasks_to_map again, if the last call deferred all ready tasks.
  void look_again(Context context) {
    if (!deferred_.exists()) return;
    rt_->trigger_mapper_event(context, std::exchange(deferred_, Legion::Mapping::MapperEvent()));
  }
  // @end
  // @if shared_limits
  // Returns the processor whose mapper object counts the instances of a task for several
  // processors. Returns nullopt if each mapper object counts its own.
  std::optional<Processor> keeper_of(Context context, const Legion::Task& task) {
    const ProcKind kind = kind_of(context, task);
    switch (Mapping::limit_scope_of(words_of(task), kind)) {
      case LimitScope::kProcessor:
        break;
      case LimitScope::kNode:
        return Processor{kind, local_.node, 0};
      case LimitScope::kMachine:
        return site_.first_from(kind, 0);
    }
    return std::nullopt;
  }
  InstanceLimits::SendMessage limit_sender(Context context) {
    return [this, context](const Processor& target, const LimitMessage& message) {
      const ReentrancyGuard guard(rt_, context);
      rt_->send_message(context, site_.legion(target), &message, sizeof message,
                        static_cast<unsigned>(message.kind));
      return true;
    };
  }
  // @end
  // @if steals
  std::optional<Steal> steal_of(Context context, const Legion::Task& task) {
    return Mapping::steal_of(words_of(task), kind_of(context, task));
  }
  // @end
  // @if targets

  // Returns true if the task may run only on the processor to which it was sent: its instances are
  // limited, it may be stolen, or it belongs to a must epoch.
  bool stays_where_sent([[maybe_unused]] Context context, const Legion::Task& task) {
    // @if limits
    if (limit_of(context, task) > 0) return true;
    // @end
    // @if steals
    if (steal_of(context, task)) return true;
    // @end
    return task.must_epoch_task;
  }
  // @end
  // @if replicates

  // Returns true if the task can be replicated. Legion refuses or ignores the replication of some
  // tasks, such as those that reduce.
  bool can_replicate(Context context, const Legion::Task& task) {
    for (const Legion::RegionRequirement& region : task.regions) {
      if ((region.privilege & LEGION_READ_WRITE) == LEGION_REDUCE) return false;
    }
    return task.output_regions.empty() && !task.concurrent_task && !task.must_epoch_task &&
           best_variant(context, task, kind_of(context, task), true) != 0;
  }
  // @end
  // @if selectors

  // Returns the task as the selectors of the mapping see it.
  static LaunchedTask words_of(const Legion::Task& task) {
    LaunchedTask words{std::string_view(task.get_task_name())};
    words.dimensions = task.is_index_space ? task.index_domain.get_dim() : 0;
    constexpr std::size_t kMostParents = 7;
    const Legion::Task* above = task.get_parent_task();
    while (above != nullptr && words.parents.size() < kMostParents) {
      words.parents.emplace_back(above->get_task_name());
      above = above->get_parent_task();
    }
    return words;
  }
  // @end
  // @if !selectors

  // Returns the task as the statements of the mapping see it.
  static std::string_view words_of(const Legion::Task& task) { return task.get_task_name(); }
  // @end
  // @if functions

  // Returns the mapping function that places the task, or Function::none.
  Mapping::Function function_of(Context context, const Legion::Task& task) {
    const ProcKind kind = kind_of(context, task);
    // @if index_function
    if (task.is_index_space) return Mapping::index_function(words_of(task), kind);
    // @end
    // @if single_function
    if (!task.is_index_space) return Mapping::single_function(words_of(task), kind);
    // @end
    return Mapping::Function::none;
  }

  // Calls a mapping function. Fails if the returned processors do not have the kind on which the
  // task runs.
  Processors place(Mapping::Function function, const Task& task, ProcKind kind) const {
    Processors found = shared_->mapping.place(function, task);
    const ProcKind other = found.begin()->kind;
    if (other != kind) {
      fail("the function that maps `" + std::string(task.name) + "` returned a " +
           std::string(name_of(other)) + " processor, but it runs on " +
           std::string(name_of(kind)) + " [processor-kind-mismatch]");
    }
    return found;
  }

  // Returns the processors to which a mapping function sends a task that is on `here`, or nothing
  // if no function maps it. May fail.
  Processors placed(Context context, const Legion::Task& task,
                    [[maybe_unused]] const Processor& here, ProcKind kind) {
    const Mapping::Function function = function_of(context, task);
    if (function == Mapping::Function::none) return {};
    Task asked;
    // @if index_function
    if (task.is_index_space) {
      asked = point_of(task.get_task_name(), task.index_domain, task.index_point);
    }
    // @end
    // @if single_function
    if (!task.is_index_space) {
      asked.name = task.get_task_name();
      asked.processor = asked.parent.processor = here;
      if (const Legion::Task* parent = task.get_parent_task()) {
        asked.parent.name = parent->get_task_name();
        asked.parent.processor = site_.place_of(parent->current_proc, here);
      }
    }
    // @end
    return place(function, asked, kind);
  }
  Processors placed_or_none(Context context, const Legion::Task& task, const Processor& here,
                            ProcKind kind) {
    try {
      return placed(context, task, here, kind);
    } catch (const Failure&) {
      return {};
    }
  }
  // @end
  // @if index_function

  // Divides the launch into boxes that each go to one processor.
  void cut(Mapping::Function function, const Legion::Task& task, ProcKind kind,
           const Legion::Domain& domain, std::vector<TaskSlice>& slices) const {
    const auto processor_of = [&](const Legion::DomainPoint& point) {
      return *or_end([&] {
                return place(function, point_of(task.get_task_name(), task.index_domain, point),
                             kind);
              }).begin();
    };
    // Points of a must epoch get different processors, so each becomes one slice.
    if (domain.dense() && !task.must_epoch_task) {
      for (const Box& box : boxes_of(domain, domain.lo(), 0, processor_of)) {
        slices.emplace_back(Legion::Domain(box.lower, box.upper), site_.legion(box.processor),
                            false, false);
      }
    } else {
      for (Legion::Domain::DomainPointIterator at(domain); at; at++) {
        slices.emplace_back(Legion::Domain(*at, *at), site_.legion(processor_of(*at)), false,
                            false);
      }
    }
    if (!task.concurrent_task || task.must_epoch_task) return;
    // If two points of a concurrent launch had one processor, Legion would wait for ever.
    std::set<Legion::Processor> used;
    for (const TaskSlice& slice : slices) {
      if (slice.domain.get_volume() == 1 && used.insert(slice.proc).second) continue;
      end("slice_task of `" + std::string(task.get_task_name()) +
          "`: two points of a concurrent launch go to one processor [bad-slices]");
    }
  }
  // @end
  // @if instances

  static bool is_empty(const Legion::RegionRequirement& requirement) {
    return requirement.is_no_access() ||
           (requirement.privilege & LEGION_READ_WRITE) == LEGION_NO_ACCESS ||
           requirement.privilege_fields.empty();
  }
  static bool reduces(const Legion::RegionRequirement& requirement) {
    return (requirement.privilege & LEGION_READ_WRITE) == LEGION_REDUCE;
  }
  static std::string named(std::size_t position, const Legion::Task& task) {
    return "region " + std::to_string(position) + " of `" + task.get_task_name() + "`";
  }

  template <typename Handle>
  void add_name(Context context, Handle handle, Region& region) const {
    const void* text = nullptr;
    std::size_t size = 0;
    if (!rt_->retrieve_semantic_information(context, handle, LEGION_NAME_SEMANTIC_TAG, text, size,
                                            true)) {
      return;
    }
    std::string name(static_cast<const char*>(text), size);
    name = name.substr(0, name.find('\0'));
    auto& names = region.names;
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  // Returns the names by which statements can refer to a region requirement. The program attached
  // names to some handles. A subregion gets its name from a region above it.
  Region region_of(Context context, const Legion::RegionRequirement& requirement,
                   std::size_t position) const {
    Region region;
    region.position = static_cast<std::int64_t>(position);
    Legion::LogicalRegion at = requirement.region;
    while (at.exists()) {
      add_name(context, at, region);
      if (!rt_->has_parent_logical_partition(context, at)) break;
      const auto partition = rt_->get_parent_logical_partition(context, at);
      add_name(context, partition, region);
      at = rt_->get_parent_logical_region(context, partition);
    }
    if (requirement.parent.exists()) add_name(context, requirement.parent, region);
    return region;
  }

  // Returns the reason why the region requirement needs an instance, or null if a virtual one is
  // enough.
  static const char* why_not_virtual(const Legion::RegionRequirement& requirement, bool leaf) {
    if (reduces(requirement) && leaf) return "a leaf reduces to it";
    if ((requirement.prop & LEGION_RELAXED) != LEGION_EXCLUSIVE) return "it is shared while in use";
    if (leaf && (requirement.tag & VIRTUAL_MAP) == 0) {
      return "the variant is a leaf, so nobody else maps it";
    }
    return nullptr;
  }

  // What a task needs for one region: the chosen instances, of which the first is taken whose
  // memory the processor reaches and has room, or a virtual instance.
  struct Needs {
    std::vector<InstanceCandidate> choices;
    // The memory to use if no statement names a memory.
    Legion::Memory memory = Legion::Memory::NO_MEMORY;
    // The layout demands of the variant.
    Demands demands;
    // The reason why the instance cannot be virtual, or null.
    const char* not_virtual = nullptr;
    bool is_virtual = false, collects = false;
    int priority = LEGION_GC_LAST_PRIORITY;
  };
  Needs needs_of(Context context, const Legion::Task& task, std::size_t position,
                 Legion::VariantID variant, Legion::Processor target) {
    const std::size_t inputs = task.regions.size();
    const bool output = position >= inputs;
    const Legion::RegionRequirement& requirement =
        output ? task.output_regions[position - inputs] : task.regions[position];
    const bool leaf = rt_->is_leaf_variant(context, task.task_id, variant);
    const bool untouched = rt_->is_inner_variant(context, task.task_id, variant) &&
                           (requirement.prop & LEGION_RELAXED) == LEGION_EXCLUSIVE &&
                           !reduces(requirement) && !output;
    // @if regions || layouts || collects
    const auto words = words_of(task);
    const Region region = region_of(context, requirement, position);
    // @end
    Needs needs;
    needs.not_virtual = output ? "the task makes it, so it has to lie somewhere"
                               : why_not_virtual(requirement, leaf);
    needs.is_virtual = !output && (untouched || (reduces(requirement) && !leaf) ||
                                   (requirement.tag & VIRTUAL_MAP) != 0);
    if (reduces(requirement)) needs.priority = LEGION_GC_FIRST_PRIORITY;
    // @if collects
    if ((requirement.privilege & LEGION_READ_WRITE) == LEGION_READ_PRIV &&
        Mapping::collects(words, region)) {
      needs.priority = LEGION_GC_FIRST_PRIORITY;
      needs.collects = true;
    }
    // @end
    // @if regions || layouts
    const Processor here = site_.place_of(target, local_);
    // @end
    std::vector<MemKind> memories;
    // @if regions
    if (!untouched) memories = Mapping::memories_of(words, region, here.kind);
    if (!memories.empty()) {
      const auto first = std::find_if(memories.begin(), memories.end(), [&](MemKind memory) {
        return memory == MemKind::kVirtual || site_.machine.reaches(here, memory);
      });
      needs.is_virtual = first != memories.end() && *first == MemKind::kVirtual;
    }
    // @end
    if (needs.is_virtual) return needs;
    const auto& sets = rt_->find_task_layout_constraints(context, task.task_id, variant).layouts;
    const auto [begin, end] = sets.equal_range(static_cast<unsigned>(position));
    Legion::MemoryConstraint constraint;
    LayoutSpec demanded;
    for (auto one = begin; one != end; ++one) {
      const Legion::LayoutConstraintSet& set = rt_->find_layout_constraints(context, one->second);
      needs.demands.push_back(&set);
      if (!constraint.has_kind) constraint = set.memory_constraint;
      add_demand(demand_of(static_cast<std::uint32_t>(position), set), &demanded);
    }
    if (memories.empty()) {
      needs.memory = default_policy_select_target_memory(context, target, requirement, constraint);
      memories = {groma::emit::kind_of(needs.memory.kind()).value_or(MemKind::kSysmem)};
    }
    for (const MemKind memory : memories) {
      const auto same = [&](const InstanceCandidate& other) { return other.memory == memory; };
      if (std::any_of(needs.choices.begin(), needs.choices.end(), same)) continue;
      InstanceCandidate choice{memory, demanded, false};
      // @if layouts
      if (const auto said = Mapping::layout_of(words, region, here.kind, memory)) {
        choice.layout = complete_layout(*said, demanded);
        choice.layout_origin = true;
      }
      // @end
      needs.choices.push_back(choice);
      // A virtual instance fits in any case, so the memories that the statements list after it do
      // not matter.
      if (memory == MemKind::kVirtual) break;
    }
    check_layouts(requirement, position, task, target, needs);
    return needs;
  }

  // Ends the process if a chosen layout contradicts a demand of the variant. Legion would end the
  // process or ignore the demand.
  void check_layouts(const Legion::RegionRequirement& requirement, std::size_t position,
                     const Legion::Task& task, Legion::Processor target, const Needs& needs) const {
    for (const InstanceCandidate& choice : needs.choices) {
      if (!memory_of(choice, target, needs).exists()) continue;
      for (const Legion::LayoutConstraintSet* set : needs.demands) {
        const auto conflicts = find_conflicts(
            demand_of(static_cast<std::uint32_t>(position), *set), choice.layout, choice.memory,
            requirement.region.get_dim(), requirement.privilege_fields.size());
        if (conflicts.empty()) continue;
        end(named(position, task) + ": its variant wants " + conflicts.front().wants +
            ", the mapping says " + conflicts.front().says + " [layout-refused]");
      }
    }
  }

  Legion::Memory memory_of(const InstanceCandidate& choice, Legion::Processor target,
                           const Needs& needs) const {
    return needs.memory.exists() ? needs.memory : site_.memory(target, choice.memory);
  }
  // The reason why a region gets no instance. If the text is empty, there is an instance.
  struct NoInstance {
    std::string text;
    // True if a suitable memory is too full.
    bool no_room = false;
  };
  static void add_reason(MemKind memory, const NoInstance& why, NoInstance& reasons) {
    reasons.text += reasons.text.empty() ? ": " : ", ";
    reasons.text += std::string(name_of(memory)) + " (" + why.text + ")";
    reasons.no_room = reasons.no_room || why.no_room;
  }
  [[noreturn]] static void end_nowhere(const std::string& what, const NoInstance& reasons) {
    if (reasons.no_room) end("no room for " + what + reasons.text + " [out-of-memory]");
    end(what + " has no possible memory" + reasons.text + " [no-memory]");
  }

  void map_region(Context context, const Legion::Task& task, std::size_t position,
                  MapTaskOutput& output) {
    const Legion::RegionRequirement& requirement = task.regions[position];
    if (is_empty(requirement)) return;
    auto& targets = output.target_procs;
    const Needs needs = needs_of(context, task, position, output.chosen_variant, targets.front());
    // @if collects
    if (needs.collects && shared_->reductions.why_tracked(requirement) == nullptr) {
      output.untracked_valid_regions.insert(static_cast<unsigned>(position));
    }
    // @end
    auto& chosen = output.chosen_instances[position];
    const auto none = Legion::Mapping::PhysicalInstance::get_virtual_instance();
    if (needs.is_virtual) {
      if (needs.not_virtual == nullptr) return chosen.push_back(none);
      end(named(position, task) + " cannot be virtual: " + needs.not_virtual + " [bad-virtual]");
    }
    NoInstance reasons;
    for (const InstanceCandidate& choice : needs.choices) {
      if (choice.memory == MemKind::kVirtual) {
        if (needs.not_virtual == nullptr) return chosen.push_back(none);
        add_reason(choice.memory, {needs.not_virtual}, reasons);
        continue;
      }
      const Legion::Memory memory = memory_of(choice, targets.front(), needs);
      if (!memory.exists()) {
        add_reason(choice.memory, {"the processor reaches none"}, reasons);
        continue;
      }
      const NoInstance why = make(context, requirement, {}, choice, needs, memory, chosen);
      if (why.text.empty()) {
        const auto away = [&](Legion::Processor p) { return !machine.has_affinity(p, memory); };
        targets.erase(std::remove_if(targets.begin(), targets.end(), away), targets.end());
        return;
      }
      add_reason(choice.memory, why, reasons);
    }
    end_nowhere(named(position, task), reasons);
  }

  // Makes an instance in `memory` for each group of fields. If that fails, the result has the
  // reason. `shared` are the regions of several tasks that use the instance at once. If it is
  // empty, the instance is for the requirement's region and those that share its memory.
  NoInstance make(Context context, const Legion::RegionRequirement& requirement,
                  const std::vector<Legion::LogicalRegion>& shared, const InstanceCandidate& choice,
                  const Needs& needs, Legion::Memory memory,
                  std::vector<Legion::Mapping::PhysicalInstance>& chosen) {
    std::vector<Legion::FieldID> fields(requirement.privilege_fields.begin(),
                                        requirement.privilege_fields.end());
    // The instance has all fields, so that other tasks can use it.
    if (!reduces(requirement) || !shared.empty()) {
      fields.clear();
      rt_->get_field_space_fields(context, requirement.region.get_field_space(), fields);
    }
    const std::size_t before = chosen.size();
    NoInstance why;
    for (const FieldGroup& group : group_fields(requirement, fields, needs.demands)) {
      std::vector<Legion::LogicalRegion> regions = shared;
      if (shared.empty()) {
        const bool alone = choice.layout.exact || reduces(requirement);
        regions = {alone ? requirement.region
                         : default_policy_select_instance_region(
                               context, memory, requirement,
                               constraints_of(requirement, choice, group), false, true)};
      }
      // If the data has no holes, a compact instance is the same as any other, but variants with a
      // layout constraint of their own refuse it.
      InstanceCandidate asked = choice;
      if (asked.layout.compact && regions.size() == 1) {
        const auto space = regions.front().get_index_space();
        asked.layout.compact = !rt_->get_index_space_domain(context, space).dense();
      }
      const Legion::LayoutConstraintSet set = constraints_of(requirement, asked, group);
      const bool exact = set.specialized_constraint.is_exact();
      why.text = why_memory_unsuitable(set, memory);
      if (!why.text.empty()) break;
      Legion::Mapping::PhysicalInstance instance;
      std::size_t bytes = 0;
      bool created = false;
      if (!rt_->find_or_create_physical_instance(context, memory, set, regions, instance, created,
                                                 true, needs.priority, exact, &bytes)) {
        why.no_room = true;
        why.text = "no room for " + std::to_string(bytes) + " of its " +
                   std::to_string(memory.capacity()) + " bytes";
        const std::size_t alignment = alignment_of(set);
        if (alignment > 1) why.text += ", fields aligned to " + std::to_string(alignment);
      } else if (const auto lacks = first_unmet_demand(instance, group.demands); !lacks.empty()) {
        why.text = "the variant demands another " + std::string(lacks);
      } else {
        chosen.push_back(instance);
      }
      if (!why.text.empty()) break;
    }
    if (!why.text.empty()) chosen.resize(before);
    return why;
  }

  // Chooses the memory of an output region, which gets its instance when the task returns its data.
  void map_output(Context context, const Legion::Task& task, std::size_t position,
                  MapTaskOutput& output) {
    const Legion::OutputRequirement& requirement = task.output_regions[position];
    if (requirement.privilege_fields.empty()) return;
    const std::size_t number = task.regions.size() + position;
    const Legion::Processor target = output.target_procs.front();
    const Needs needs = needs_of(context, task, number, output.chosen_variant, target);
    NoInstance reasons;
    for (const InstanceCandidate& choice : needs.choices) {
      const Legion::Memory memory = memory_of(choice, target, needs);
      if (memory.exists()) {
        output.output_targets[position] = memory;
        output.output_constraints[position].add_constraint(
            ordering_of(choice.layout, requirement.region.get_dim()));
        return;
      }
      add_reason(choice.memory, {"the processor reaches none"}, reasons);
    }
    end_nowhere(named(number, task), reasons);
  }
  // @end
  // @if must_epoch

  Legion::Processor free_processor(Context context, const Legion::Task& task,
                                   const std::vector<Legion::Processor>& taken) {
    const auto is_free = [&](const Processor& p) {
      return std::find(taken.begin(), taken.end(), site_.legion(p)) == taken.end();
    };
    const ProcKind kind = kind_of(context, task);
    const Processor first = site_.first_from(kind, 0);
    Processor next = first;
    // @if functions
    const Processors found =
        placed_or_none(context, task, site_.place_of(task.target_proc, local_), kind);
    const auto wanted = std::find_if(found.begin(), found.end(), is_free);
    if (wanted != found.end()) next = *wanted;
    // @end
    while (!is_free(next)) {
      next = site_.next(next);
      if (next == first) end("a must epoch has more tasks than processors [repeated-processor]");
    }
    return site_.legion(next);
  }

  void map_constraint(Context context, const MapMustEpochInput& input, std::size_t index,
                      MapMustEpochOutput& output) {
    const MappingConstraint& constraint = input.constraints[index];
    std::vector<Legion::Processor> targets;
    std::vector<Legion::LogicalRegion> regions;
    for (std::size_t k = 0; k < constraint.constrained_tasks.size(); ++k) {
      const Legion::Task* task = constraint.constrained_tasks[k];
      const auto at = std::find(input.tasks.begin(), input.tasks.end(), task) - input.tasks.begin();
      targets.push_back(output.task_processors[static_cast<std::size_t>(at)]);
      const auto region = task->regions[constraint.requirement_indexes[k]].region;
      if (std::find(regions.begin(), regions.end(), region) == regions.end()) {
        regions.push_back(region);
      }
    }
    const Legion::Task& first = *constraint.constrained_tasks.front();
    const unsigned position = constraint.requirement_indexes.front();
    const Legion::RegionRequirement& requirement = first.regions[position];
    const Legion::Processor target = targets.front();
    auto& chosen = output.constraint_mappings[index];
    const auto all_reach = [&](Legion::Memory memory) {
      return memory.exists() && std::all_of(targets.begin(), targets.end(), [&](auto p) {
               return machine.has_affinity(p, memory);
             });
    };
    // @if instances
    const Needs needs =
        needs_of(context, first, position,
                 best_variant(context, first, site_.place_of(target, local_).kind), target);
    NoInstance reasons;
    for (const InstanceCandidate& choice : needs.choices) {
      const Legion::Memory memory = memory_of(choice, target, needs);
      const NoInstance why =
          all_reach(memory) ? make(context, requirement, regions, choice, needs, memory, chosen)
                            : NoInstance{"not all of its tasks reach one"};
      if (why.text.empty()) return;
      add_reason(choice.memory, why, reasons);
    }
    end_nowhere(named(position, first), reasons);
    // @end
    // @if !instances
    const Legion::Memory memory = default_policy_select_target_memory(context, target, requirement);
    Legion::LayoutConstraintSet set;
    default_policy_select_constraints(context, set, memory, requirement);
    Legion::Mapping::PhysicalInstance instance;
    bool created = false;
    if (!all_reach(memory) ||
        !rt_->find_or_create_physical_instance(context, memory, set, regions, instance, created)) {
      end("the data that tasks of a must epoch share has no possible memory [no-memory]");
    }
    chosen.push_back(instance);
    // @end
  }
  // @end
  // @if steals

  // Returns half of those waiting tasks that the thief may take.
  std::vector<const Legion::Task*> tasks_for_thief(
      Context context, Legion::Processor thief, const std::vector<const Legion::Task*>& waiting) {
    const Processor to = site_.place_of(thief, local_);
    std::vector<const Legion::Task*> tasks;
    // @if shared_limits
    // The kinds of tasks of which one stays here, because permission to run it was requested.
    std::set<std::uint64_t> keeps_one;
    // @end
    for (const Legion::Task* task : waiting) {
      // @if shared_limits
      const std::uint64_t counted = counted_as(context, *task);
      if (limits_.has_unused_grant(counted) && keeps_one.insert(counted).second) continue;
      // @end
      const auto steal = steal_of(context, *task);
      if (!steal || kind_of(context, *task) != to.kind) continue;
      if (to.node == local_.node || *steal == Steal::kAnyNode) tasks.push_back(task);
    }
    tasks.resize((tasks.size() + 1) / 2);
    return tasks;
  }

  // Returns the next processor from which to steal, in turn.
  template <typename Refused>
  Legion::Processor next_victim(const Refused& refused) {
    const auto scope = Mapping::steals_from(local_.kind);
    if (!scope) return Legion::Processor::NO_PROC;
    const std::int64_t in_node = site_.machine.count(local_.node, local_.kind);
    const Processor begin = last_victim_.value_or(local_);
    Processor victim = begin;
    do {
      victim = *scope == Steal::kAnyNode
                   ? site_.next(victim)
                   : Processor{local_.kind, local_.node, (victim.index + 1) % in_node};
      if (victim == local_ || refused(site_.legion(victim))) continue;
      last_victim_ = victim;
      return site_.legion(victim);
    } while (!(victim == begin));
    return Legion::Processor::NO_PROC;
  }
  // @end
  // @if shares

  static bool has(const std::vector<Legion::Processor>& list, Legion::Processor p) {
    return std::find(list.begin(), list.end(), p) != list.end();
  }
  void send_steal_message(Context context, Legion::Processor whom, unsigned what) {
    const ReentrancyGuard guard(rt_, context);
    rt_->send_message(context, whom, &what, sizeof what, what);
  }
  void refuse(Context context, Legion::Processor thief) {
    offered_.erase(std::remove(offered_.begin(), offered_.end(), thief), offered_.end());
    send_steal_message(context, thief, kNothing);
  }

  // Gives waiting tasks to the processors that requested them, and offers the rest, to the nearest
  // processors first.
  void share_tasks(Context context, std::vector<const Legion::Task*> waiting,
                   SelectMappingOutput& output) {
    const auto stays_here = [&](const Legion::Task* task) { return !steal_of(context, *task); };
    waiting.erase(std::remove_if(waiting.begin(), waiting.end(), stays_here), waiting.end());
    for (const Legion::Processor thief : std::exchange(requests_, {})) {
      const auto tasks = tasks_for_thief(context, thief, waiting);
      for (const Legion::Task* task : tasks) {
        output.relocate_tasks[task] = thief;
        waiting.erase(std::find(waiting.begin(), waiting.end(), task));
      }
      if (tasks.empty()) refuse(context, thief);
    }
    has_stealable_ = !waiting.empty();
    if (!has_stealable_) return;
    const auto nodes = static_cast<std::int64_t>(site_.machine.nodes.size());
    const ProcKind kind = kind_of(context, *waiting.front());
    for (std::int64_t n = 0; n < nodes; ++n) {
      const std::int64_t node = (local_.node + n) % nodes;
      for (std::int64_t i = 0; i < site_.machine.count(node, kind); ++i) {
        if (offered_.size() >= kMaxOffers) return;
        const Legion::Processor p = site_.legion({kind, node, i});
        if (p == local_proc || has(offered_, p)) continue;
        offered_.push_back(p);
        send_steal_message(context, p, kOffer);
      }
    }
  }
  void look_for_work(Context context) {
    if (mapped_ > 0 || has_waiting_ || asked_ > 0 || offers_.empty()) return;
    const Legion::Processor victim =
        next_victim([&](Legion::Processor p) { return !has(offers_, p); });
    if (!victim.exists()) return;
    ++asked_;
    send_steal_message(context, victim, kRequest);
  }
  // @end

  // @if runtime
  Legion::Mapping::MapperRuntime* rt_;
  // @end
  std::shared_ptr<Shared> shared_;
  // @if places
  Processor local_;
  // @end
  const LegionMachine& site_;
  // @if limits
  // @if shared_limits
  InstanceLimits limits_;
  // @end
  // @if !shared_limits
  // The number of limited tasks of each kind that were let through and have not ended.
  std::map<std::uint64_t, std::int64_t> in_flight_;
  // @end
  // The mapper event for which deferred tasks wait.
  Legion::Mapping::MapperEvent deferred_;
  // @end
  // @if steals
  std::optional<Processor> last_victim_;
  // @end
  // @if shares
  static constexpr unsigned kOffer = 0xFFFFFF00, kRequest = kOffer + 1, kNothing = kOffer + 2;
  // The largest number of processors to which this processor offers tasks at one time.
  static constexpr std::size_t kMaxOffers = 64;
  // The processors that offer tasks to this one.
  std::vector<Legion::Processor> offers_;
  // The processors to which this one sent an offer.
  std::vector<Legion::Processor> offered_;
  // The processors that request tasks from this one.
  std::vector<Legion::Processor> requests_;
  // The number of requests of this processor that have no answer yet.
  std::size_t asked_ = 0;
  // The number of tasks that were mapped here and have not ended.
  std::int64_t mapped_ = 0;
  // has_waiting_: tasks wait on this processor. has_stealable_: other processors may steal some of
  // them.
  bool has_waiting_ = false, has_stealable_ = false;
  // True if the last call of select_tasks_to_map deferred all ready tasks until the event
  // deferred_.
  bool is_deferred_ = false;
  // @end
};

inline void make_mappers(const Legion::RegistrationCallbackArgs& args) {
  const auto id = *static_cast<const Legion::MapperID*>(args.buffer.get_ptr());
  auto shared = std::make_shared<Shared>();
  // @if kinds
  if (!shared->site.machine.is_even()) {
    std::fputs(
        "MAPPER_CLASS: nodes have processors of different kinds: each takes the first kind of a "
        "Task statement that it has itself\n",
        stderr);
  }
  // @end
  // @if index_function
  shared->runtime = args.runtime;
  // @end
  for (const Legion::Processor p : args.local_procs) {
    if (shared->site.places.count(p) == 0) continue;
    auto* mapper = new MAPPER_CLASS(args.runtime->get_mapper_runtime(), args.machine, p, shared);
    if (id == 0) {
      args.runtime->replace_default_mapper(mapper, p);
    } else {
      args.runtime->add_mapper(id, mapper, p);
    }
  }
}

}  // namespace groma::emit
