// MapperWithReplacedDecisions: decides like a first mapper, but takes selected decisions from a
// second mapper. So a run can show the cost of a single difference between two mappings.
#include "inspect/mixed_mapper.h"

#include <algorithm>
#include <utility>

#include "explain/task_contexts.h"
#include "groma/sharding.h"
#include "mapper/decisions.h"

namespace groma {

// Adds the difference to the decisions that come from the second mapper. If the kinds of processors
// differ, all decisions about the task do. If one limit differs, the limits of all tasks do.
void add_differing_decision(const MappingDifference& difference, SecondMapperDecisions& mix) {
  const std::pair<std::string, std::uint32_t> requirement(difference.launch_class,
                                                          difference.position);
  switch (difference.what) {
    case MappingDifference::Aspect::kKind:
      mix.processor_kind.insert(difference.launch_class);
      return;
    case MappingDifference::Aspect::kPlacement:
      mix.placement.insert(difference.launch_class);
      return;
    case MappingDifference::Aspect::kMemory:
    case MappingDifference::Aspect::kLayout:
      mix.memories_and_layouts.insert(requirement);
      return;
    case MappingDifference::Aspect::kCollection:
      mix.collection.insert(requirement);
      return;
    case MappingDifference::Aspect::kLimit:
      mix.instance_limits = true;
      return;
    case MappingDifference::Aspect::kReplication:
      mix.replication.insert(difference.launch_class);
      return;
    case MappingDifference::Aspect::kStealing:
      mix.stealing.insert(difference.launch_class);
      return;
  }
}

// Collects the sharding functors of both mappers in one list, because a runtime selects them by
// number.
MapperWithReplacedDecisions::MapperWithReplacedDecisions(std::unique_ptr<ProgramMapper> first,
                                                         std::unique_ptr<ProgramMapper> second,
                                                         const SecondMapperDecisions& mix)
    : Mapper(first->site()), first_(std::move(first)), second_(std::move(second)), mix_(mix) {
  for (const Mapper* each : {first_.get(), second_.get()}) {
    const auto functors = each->sharding_functors();
    functors_.insert(functors_.end(), functors.begin(), functors.end());
  }
}

// The result is valid until the next call.
std::string_view MapperWithReplacedDecisions::class_of(const TaskView& task) const {
  if (mix_.selecting.empty()) return task.name;
  const auto selecting = std::find_if(mix_.selecting.begin(), mix_.selecting.end(),
                                      [](const Program& each) { return each.has_selectors(); });
  if (selecting == mix_.selecting.end()) return task.name;
  class_ = launch_class(mix_.selecting, mapper::TaskWords(*selecting, task));
  return class_;
}

bool MapperWithReplacedDecisions::second_mapper_places_task(const TaskView& task) const {
  return mix_.processor_kind.contains(class_of(task)) || mix_.placement.contains(class_of(task));
}

// Asks both mappers and starts from the answer of the first one. Then takes replication, stealing
// or the initial processor from the answer of the second mapper, if `mix_` selects this decision
// for the task.
void MapperWithReplacedDecisions::select_task_options(MapperRuntime& runtime, const TaskView& task,
                                                      TaskOptions& answer) {
  options_.clear();
  first_->select_task_options(runtime, task, answer);
  second_->select_task_options(runtime, task, options_);
  if (mix_.replication.contains(class_of(task))) {
    answer.replicate = options_.replicate;
    answer.replicate_origin = options_.replicate_origin;
  }
  if (mix_.stealing.contains(class_of(task))) {
    answer.stealable = options_.stealable;
    answer.steal_origin = options_.steal_origin;
  }
  if (!second_mapper_places_task(task)) return;
  answer.initial = options_.initial;
  answer.kind_origin = options_.kind_origin;
  answer.processor_origin = options_.processor_origin;
  answer.failure = options_.failure;
}

// Returns the functor of the mapper that places the task. A functor of the second mapper stands
// behind those of the first one in the list.
ShardingId MapperWithReplacedDecisions::select_sharding_functor(MapperRuntime& runtime,
                                                                const TaskView& operation,
                                                                const ShardTable& shards) {
  const ShardingId id =
      mapper_that_places(operation).select_sharding_functor(runtime, operation, shards);
  if (!second_mapper_places_task(operation) || id == kCyclicSharding) return id;
  return id + static_cast<ShardingId>(first_->sharding_functors().size());
}

void MapperWithReplacedDecisions::replicate_task(MapperRuntime& runtime, const TaskView& task,
                                                 ReplicateTaskOutput& answer) {
  Mapper& by = mix_.replication.contains(class_of(task)) ? *second_ : *first_;
  by.replicate_task(runtime, task, answer);
}

// Slices the launch with the mapper that places the task. If only stealing comes from the second
// mapper, the slices of the first mapper get the second mapper's flag `stealable`.
void MapperWithReplacedDecisions::slice_task(MapperRuntime& runtime, const TaskView& task,
                                             const Rect& part, SliceTaskOutput& answer) {
  mapper_that_places(task).slice_task(runtime, task, part, answer);
  if (!mix_.stealing.contains(class_of(task)) || second_mapper_places_task(task)) return;
  slices_.clear();
  second_->slice_task(runtime, task, part, slices_);
  const bool stealable = !slices_.slices.empty() && slices_.slices.begin()->stealable;
  for (TaskSlice slice : std::exchange(answer.slices, {})) {
    slice.stealable = stealable;
    answer.slices.push_back(slice);
  }
}

// Asks both mappers, then combines their answers decision by decision.
void MapperWithReplacedDecisions::map_task(MapperRuntime& runtime, const TaskView& task,
                                           std::span<const std::span<const InstanceView>> valid,
                                           MapTaskOutput& answer) {
  choice_.clear();
  first_->map_task(runtime, task, valid, answer);
  second_->map_task(runtime, task, valid, choice_);
  const RequestedMeasurements profiling =
      mix_.instance_limits ? choice_.task_profiling : answer.task_profiling;
  if (mix_.processor_kind.contains(class_of(task))) {
    std::swap(answer, choice_);
  } else {
    if (mix_.placement.contains(class_of(task))) {
      answer.processors.swap(choice_.processors);
      answer.processor_origin = choice_.processor_origin;
      answer.failure.swap(choice_.failure);
    }
    for (std::uint32_t r = 0; r < answer.requirements.size() && r < choice_.requirements.size();
         ++r) {
      InstanceChoice& to = answer.requirements[r];
      const InstanceChoice& from = choice_.requirements[r];
      // The answer about a requirement holds the memories and layouts and also the early
      // collection. Here they are separate decisions, and each can come from another mapper.
      const InstanceChoice kept = to;
      const std::pair<std::string, std::uint32_t> key(std::string(class_of(task)), r);
      if (mix_.memories_and_layouts.contains(key)) {
        to = from;
        to.collect_priority = kept.collect_priority;
        to.untracked = kept.untracked;
        to.collect_origin = kept.collect_origin;
      }
      if (mix_.collection.contains(key)) {
        to.collect_priority = from.collect_priority;
        to.untracked = from.untracked;
        to.collect_origin = from.collect_origin;
      }
    }
  }
  // A stealable task stays on its current processor. A task that is no longer stealable may run on
  // any processor that the second mapper allows.
  if (mix_.stealing.contains(class_of(task)) && !second_mapper_places_task(task)) {
    const bool stands = std::find(choice_.processors.begin(), choice_.processors.end(),
                                  task.current) != choice_.processors.end();
    if (stands) {
      answer.processors.swap(choice_.processors);
    } else {
      answer.processors.assign(1, task.current);
    }
  }
  answer.task_profiling = profiling;
  // A task with an instance limit stays on its current processor, which counts the running tasks.
  if (mix_.instance_limits && profiling.any()) answer.processors.assign(1, task.current);
}

void MapperWithReplacedDecisions::select_tasks_to_map(MapperRuntime& runtime,
                                                      std::span<const TaskView> ready,
                                                      SelectMappingOutput& answer) {
  mapper_of_limits().select_tasks_to_map(runtime, ready, answer);
}

bool MapperWithReplacedDecisions::selects() const {
  return mix_.instance_limits ? second_->selects() : first_->selects();
}

void MapperWithReplacedDecisions::select_steal_targets(MapperRuntime& runtime,
                                                       std::span<const Processor> blacklist,
                                                       std::vector<Processor>& answer) {
  mapper_of_stealing().select_steal_targets(runtime, blacklist, answer);
}

// The mapper that is responsible for stealing decides which tasks the thief gets. If the other
// mapper is responsible for instance limits, it may have asked for permission to start one more
// instance of a task. One waiting task of each such name stays then, because the permission would
// otherwise be wasted.
void MapperWithReplacedDecisions::permit_steal_request(MapperRuntime& runtime,
                                                       const Processor& thief,
                                                       std::span<const TaskView> stealable,
                                                       std::vector<std::uint32_t>& answer) {
  // ProgramMapper::permit_steal_request does the same, but knows only its own limits.
  std::set<std::uint64_t> keeps_one;
  std::vector<TaskView> may_go;
  // For each task in `may_go`, the index of the task in `stealable`.
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = 0; i < stealable.size(); ++i) {
    const bool is_other = &mapper_of_stealing() != &mapper_of_limits();
    const auto grant = is_other ? mapper_of_limits().unused_grant(stealable[i]) : std::nullopt;
    if (grant && keeps_one.insert(*grant).second) continue;
    may_go.push_back(stealable[i]);
    indices.push_back(i);
  }
  mapper_of_stealing().permit_steal_request(runtime, thief, may_go, answer);
  for (std::uint32_t& index : answer) index = indices[index];
}

void MapperWithReplacedDecisions::report_profiling(MapperRuntime& runtime,
                                                   const TaskView& operation,
                                                   const ProfilingReport& report) {
  mapper_of_limits().report_profiling(runtime, operation, report);
}

// Passes messages to the mapper that is responsible for limits, because mappers send messages only
// about limits.
void MapperWithReplacedDecisions::handle_message(MapperRuntime& runtime, const Processor& sender,
                                                 std::uint32_t kind,
                                                 std::span<const std::byte> message) {
  mapper_of_limits().handle_message(runtime, sender, kind, message);
}

}  // namespace groma
