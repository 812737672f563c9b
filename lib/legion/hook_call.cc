// Carries out the requests of a mapper to the runtime during a hook, and keeps the buffers of hooks
// for reuse.
#include "legion/hook_call.h"

#include <set>

namespace groma::legion {

void InstanceViews::clear() {
  views_.clear();
  fields_.clear();
}

// Adds a view of an instance. If Groma has no name for the kind of its memory, the view shows a
// virtual memory.
void InstanceViews::add(const Legion::Mapping::PhysicalInstance& instance, RegionId region,
                        const MachineMap& machine) {
  InstanceView& view = views_.emplace_back();
  view.memory = machine.memory(instance.get_location()).value_or(Memory{MemKind::kVirtual, 0, 0});
  view.region = region;
  view.bytes = static_cast<std::int64_t>(instance.get_instance_size());
  std::set<Legion::FieldID> fields;
  instance.get_fields(fields);
  view.fields = fields_.emplace_back(fields.begin(), fields.end());
}

// ---- HookRuntime: requests of a mapper to the runtime

std::optional<FoundInstance> HookRuntime::find_instance(const InstanceRequest& request) {
  const ReentrancyGuard alone(parts_, context_);
  return parts_.instances->find(context_, request, of_ == HookSubject::kMapping);
}

// Makes the instance that a mapper requests. Returns nothing in a hook that is about no operation,
// because Legion makes no instances for a mapper there.
std::optional<FoundInstance> HookRuntime::create_instance(const InstanceRequest& request) {
  if (of_ == HookSubject::kNoOperation) return std::nullopt;
  const ReentrancyGuard alone(parts_, context_);
  return parts_.instances->create(context_, request, of_ == HookSubject::kMapping);
}

// Acquires an instance for the operation that is being mapped. Returns false in a hook that maps no
// operation, or if the instance is unknown or destroyed.
bool HookRuntime::acquire_instance(InstanceId instance) {
  const auto* known = parts_.instances->instance_by_id(instance);
  if (known == nullptr || of_ != HookSubject::kMapping) return false;
  const ReentrancyGuard alone(parts_, context_);
  return parts_.runtime->acquire_instance(context_, *known);
}

void HookRuntime::release_instance(InstanceId instance) {
  const auto* known = parts_.instances->instance_by_id(instance);
  if (known == nullptr || of_ != HookSubject::kMapping) return;
  const ReentrancyGuard alone(parts_, context_);
  parts_.runtime->release_instance(context_, *known);
}

bool HookRuntime::collect_instance(InstanceId instance) {
  const auto* known = parts_.instances->instance_by_id(instance);
  if (known == nullptr) return false;
  const ReentrancyGuard alone(parts_, context_);
  return parts_.runtime->collect_instance(context_, *known);
}

void HookRuntime::set_collect_priority(InstanceId instance, CollectPriority priority) {
  const auto* known = parts_.instances->instance_by_id(instance);
  if (known == nullptr) return;
  const ReentrancyGuard alone(parts_, context_);
  parts_.runtime->set_garbage_collection_priority(context_, *known, priority);
}

std::span<const VariantView> HookRuntime::variants(TaskId task) {
  return parts_.views->variants(task);
}
std::string_view HookRuntime::task_name(TaskId task) { return parts_.views->name(task); }

// Makes a Legion mapper event and returns the number that Groma gives it.
MapperEvent HookRuntime::create_event() {
  const ReentrancyGuard alone(parts_, context_);
  const Legion::Mapping::MapperEvent made = parts_.runtime->create_mapper_event(context_);
  parts_.events->open[++parts_.events->last] = made;
  return parts_.events->last;
}

// Triggers a mapper event. A second call, or an unknown number, has no effect. The entry is removed
// before the call to Legion, during which other hooks may run.
void HookRuntime::trigger_event(MapperEvent event) {
  const auto found = parts_.events->open.find(event);
  if (found == parts_.events->open.end()) return;
  const Legion::Mapping::MapperEvent triggered = found->second;
  parts_.events->open.erase(found);
  const ReentrancyGuard alone(parts_, context_);
  parts_.runtime->trigger_mapper_event(context_, triggered);
}

// Sends a message to the mapper of a processor. Returns false if there is no such processor.
bool HookRuntime::send_message(const Processor& target, std::uint32_t kind,
                               std::span<const std::byte> message) {
  const Legion::Processor to = parts_.machine->realm(target);
  if (!to.exists()) return false;
  const ReentrancyGuard alone(parts_, context_);
  parts_.runtime->send_message(context_, to, message.data(), message.size(), kind);
  return true;
}

bool HookRuntime::broadcast(std::uint32_t kind, std::span<const std::byte> message) {
  const ReentrancyGuard alone(parts_, context_);
  parts_.runtime->broadcast(context_, message.data(), message.size(), kind);
  return true;
}

// ---- TaskList: Legion tasks with their views

void TaskList::clear() {
  views_.clear();
  tasks_.clear();
  parents_.clear();
  parent_ = nullptr;
}

// Adds a view of the task. Consecutive tasks with the same parent share one view of the parent.
void TaskList::add(TaskViews& views, MapperContext context, const Legion::Task& task,
                   const Processor& current) {
  views.fill(context, task, current, views_.emplace_back());
  tasks_.push_back(&task);
  const Legion::Task* above = task.get_parent_task();
  if (above == nullptr) return;
  if (above != parent_) {
    views.fill_parents(context, *above, current, parents_.emplace_back());
    parent_ = above;
  }
  views_.back().parent = &parents_.back().front();
}

// ---- HookBufferPool: the pool of buffers

// Takes a free buffer object from the pool, or makes one if all are in use. The pool grows to the
// largest number of hooks that ran at the same time.
HookBufferPool::BufferUse::BufferUse(HookBufferPool& calls, MapperContext context, HookSubject of)
    : calls_(calls) {
  if (calls_.free_.empty()) {
    call_ = std::make_unique<HookBuffers>(calls_.parts_);
  } else {
    call_ = std::move(calls_.free_.back());
    calls_.free_.pop_back();
  }
  call_->hands.enter(context, of);
}

}  // namespace groma::legion
