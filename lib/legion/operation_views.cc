// Makes views of operations other than tasks (copies, fills, inline mappings, ...), for a
// groma::Mapper.
#include <algorithm>

#include "legion/task_views.h"

namespace groma::legion {
namespace {

// Returns Groma's kind of a Legion operation. A type of operation that is not listed is taken for
// the reduction of a future map.
OperationKind kind_of(const Legion::Mappable& operation) {
  switch (operation.get_mappable_type()) {
    case LEGION_TASK_MAPPABLE:
      return OperationKind::kTask;
    case LEGION_COPY_MAPPABLE:
      return OperationKind::kCopy;
    case LEGION_INLINE_MAPPABLE:
      return OperationKind::kInline;
    case LEGION_ACQUIRE_MAPPABLE:
      return OperationKind::kAcquire;
    case LEGION_RELEASE_MAPPABLE:
      return OperationKind::kRelease;
    case LEGION_CLOSE_MAPPABLE:
      return OperationKind::kClose;
    case LEGION_FILL_MAPPABLE:
      return OperationKind::kFill;
    case LEGION_PARTITION_MAPPABLE:
      return OperationKind::kPartition;
    case LEGION_MUST_EPOCH_MAPPABLE:
      return OperationKind::kMustEpoch;
    default:
      return OperationKind::kFutureMapReduction;
  }
}

// Fills in the launch domain and the point of an operation that can be launched over a domain. If
// `operation` is null, it has another type, and nothing changes.
template <typename Operation>
void fill_domain(const Operation* operation, TaskView& view) {
  if (operation == nullptr) return;
  view.is_index = operation->is_index_space;
  if (operation->is_index_space) view.domain = rect_of(operation->index_domain);
  view.point = point_of(operation->index_point);
}

}  // namespace

// Makes a view of an operation other than a task, on the processor `near`. The caller passes the
// region requirements, because each type of operation keeps them in other members.
const TaskView& TaskViews::make(MapperContext context, const Legion::Mappable& operation,
                                const Processor& near, ViewStorage& storage,
                                std::span<const Legion::RegionRequirement* const> requirements) {
  TaskView& view = storage.view;
  view = {};
  view.operation = kind_of(operation);
  view.unique_id = operation.get_unique_id();
  view.depth = operation.get_depth();
  view.tag = operation.tag;
  view.provenance = operation.get_provenance_string();
  view.mapper_data = {static_cast<const std::byte*>(operation.mapper_data),
                      operation.mapper_data_size};
  view.current = near;
  fill_domain(operation.as_task(), view);
  fill_domain(operation.as_copy(), view);
  fill_domain(operation.as_fill(), view);
  fill_domain(operation.as_partition(), view);
  if (const Legion::Task* task = operation.as_task()) {
    view.id = task->task_id;
    view.name = facts_of_task(context, *task).name;
  }
  if (const Legion::Task* parent = operation.get_parent_task()) {
    fill_parents(context, *parent, near, storage.parents);
    storage.parent_id = 0;
    view.parent = &storage.parents.front();
  }
  storage.requirements.clear();
  storage.regions.clear();
  storage.fields.resize(std::max(storage.fields.size(), requirements.size()));
  for (const Legion::RegionRequirement* requirement : requirements) {
    add_requirement(context, *requirement, Regions::kCounted, storage);
  }
  view.requirements = storage.requirements;
  return view;
}

}  // namespace groma::legion
