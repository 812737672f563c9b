// The hooks for must epochs. The tasks of a must epoch run at the same time. Some of them share
// instances.
#include <algorithm>

#include "base/one_diagnostic.h"
#include "legion/adapter.h"

namespace groma::legion {

// Chooses the sharding functor of a must epoch: that of the index launch if the epoch consists of
// exactly one. If the epoch has several launches, DefaultMapper decides, because a mapping function
// is defined on the points of one launch only.
void Adapter::select_sharding_functor(MapperContext context, const Legion::MustEpoch& epoch,
                                      const SelectShardingFunctorInput& input,
                                      MustEpochShardingFunctorOutput& output) {
  DefaultMapper::select_sharding_functor(context, epoch, input, output);
  if (epoch.index_space_tasks.size() != 1 || !epoch.individual_tasks.empty()) return;
  select_sharding_functor(context, *epoch.index_space_tasks.front(), input, output);
}

// Asks the mapper for a processor for each task of a must epoch, then maps each instance that
// several of the tasks share.
void Adapter::map_must_epoch(MapperContext context, const MapMustEpochInput& input,
                             MapMustEpochOutput& output) {
  HookBufferPool::BufferUse call(calls_, context, HookSubject::kMapping);
  call->tasks.clear();
  for (const Legion::Task* task : input.tasks) {
    call->tasks.add(views_, context, *task, groma_processor(task->target_proc));
  }
  groma::MapMustEpochOutput& answer = call->must_epoch;
  answer.clear();
  mapper_->map_must_epoch(call->hands, call->tasks.views(), answer);
  fail_if_refused(validate(answer, call->tasks.views(), mapper_->machine()));
  output.task_processors.clear();
  for (std::size_t i = 0; i < input.tasks.size(); ++i) {
    output.task_processors.push_back(realm_processor(answer.processors[i]));
  }
  output.constraint_mappings.resize(input.constraints.size());
  for (std::size_t i = 0; i < input.constraints.size(); ++i) {
    const InstanceChoice* choice = i < answer.constraints.size() ? &answer.constraints[i] : nullptr;
    map_shared_instance(context, *call, input, i, choice, output);
  }
}

// Maps one instance that several tasks of a must epoch share. If the mapper has no choice for the
// instance (`choice` is null), the task that uses the data first decides as it does for its own
// instances. Tasks with LEGION_NO_ACCESS_FLAG do not access the data, so their processors need not
// reach the instance.
void Adapter::map_shared_instance(MapperContext context, HookBuffers& call,
                                  const MapMustEpochInput& input, std::size_t index,
                                  const InstanceChoice* choice, MapMustEpochOutput& output) {
  const MappingConstraint& constraint = input.constraints[index];
  const auto requirement_of = [&](std::size_t k) -> const Legion::RegionRequirement& {
    return constraint.constrained_tasks[k]->regions[constraint.requirement_indexes[k]];
  };
  const std::size_t count = constraint.constrained_tasks.size();
  // `user` is the index of the first task of this mapping constraint that accesses the shared data.
  // If none of them does, it is 0.
  std::size_t user = 0;
  while (user < count && requirement_of(user).is_no_access()) ++user;
  if (user == count) user = 0;
  // `targets` are the processors that must reach the memory of the shared instance. `regions` are
  // the regions that the instance must cover: those of all requirements that share it.
  std::vector<Legion::Processor> targets;
  std::vector<Legion::LogicalRegion> regions;
  for (std::size_t k = 0; k < count; ++k) {
    const Legion::Task* task = constraint.constrained_tasks[k];
    const auto at = std::find(input.tasks.begin(), input.tasks.end(), task) - input.tasks.begin();
    if (k == user || !requirement_of(k).is_no_access()) {
      targets.push_back(output.task_processors[static_cast<std::size_t>(at)]);
    }
    const auto region = requirement_of(k).region;
    if (std::find(regions.begin(), regions.end(), region) == regions.end()) {
      regions.push_back(region);
    }
  }
  const Legion::Task& first = *constraint.constrained_tasks[user];
  const unsigned position = constraint.requirement_indexes[user];
  const TaskView& view = views_.make(context, first, groma_processor(targets.front()),
                                     TaskViews::Regions::kCounted, call.storage);
  // The variant of the task matters even if the mapper has a choice for the instance: the variant
  // may demand a layout.
  groma::MapTaskOutput& task_choice = call.choice;
  task_choice.clear();
  mapper_->map_task(call.hands, view, {}, task_choice);
  fail_if_refused(validate(task_choice, view, mapper_->machine()));
  if (choice == nullptr) choice = &task_choice.requirements[position];
  InstanceFailure why;
  if (instances_.add_shared_instance(
          context, first.regions[position], regions, *choice,
          layout_demands_of(context, first, task_choice.variant, position), targets,
          output.constraint_mappings[index], &why)) {
    return;
  }
  fail(position, view.name, *choice, why);
}

}  // namespace groma::legion
