// The state of a mapper hook while it runs: the buffers of its answer, the requests that a mapper
// may make to Legion during the hook, and a guard that keeps other hooks from starting inside it.
#pragma once

#include <legion.h>

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "groma/mapper_output.h"
#include "groma/mapper_runtime.h"
#include "groma/sharding.h"
#include "legion/instances.h"
#include "legion/machine_map.h"
#include "legion/task_views.h"

namespace groma::legion {

// The Legion mapper events that a mapper has made and not triggered. Each has a number of Groma's.
struct MapperEvents {
  std::map<MapperEvent, Legion::Mapping::MapperEvent> open;
  MapperEvent last = 0;
};

// The objects of an adapter that all its hooks share. They outlive the hooks.
struct HookDependencies {
  Legion::Mapping::MapperRuntime* runtime;
  const MachineMap* machine;
  TaskViews* views;
  MapperEvents* events;
  Instances* instances;
  // True if the caller runs the hooks one after the other, each to its end. No hook then starts
  // inside another.
  bool in_turn;
};

// While an object of this class lives, no other hook of the same mapper object starts inside the
// current hook. Without it, Legion may start one during any call to its runtime.
class ReentrancyGuard {
 public:
  ReentrancyGuard(const HookDependencies& parts, MapperContext context)
      : runtime_(parts.runtime),
        context_(context),
        was_reentrant_(!parts.in_turn && runtime_->is_reentrant(context)) {
    if (was_reentrant_) runtime_->disable_reentrant(context_);
  }
  ~ReentrancyGuard() {
    if (was_reentrant_) runtime_->enable_reentrant(context_);
  }
  ReentrancyGuard(const ReentrancyGuard&) = delete;
  ReentrancyGuard& operator=(const ReentrancyGuard&) = delete;

 private:
  Legion::Mapping::MapperRuntime* runtime_;
  MapperContext context_;
  bool was_reentrant_;
};

// The operation that a mapper hook is about. Hooks without an operation cannot make instances.
// Instances that a hook finds or makes are kept until the operation is mapped only if the hook maps
// it (kMapping).
enum class HookSubject : std::uint8_t { kNoOperation, kOperation, kMapping };

// Carries out the requests that a groma::Mapper makes to the runtime during one hook.
class HookRuntime final : public groma::MapperRuntime {
 public:
  explicit HookRuntime(const HookDependencies& parts) : parts_(parts) {}
  void enter(MapperContext context, HookSubject of) {
    context_ = context;
    of_ = of;
  }

  std::optional<FoundInstance> find_instance(const InstanceRequest& request) override;
  std::optional<FoundInstance> create_instance(const InstanceRequest& request) override;
  bool acquire_instance(InstanceId instance) override;
  void release_instance(InstanceId instance) override;
  bool collect_instance(InstanceId instance) override;
  void set_collect_priority(InstanceId instance, CollectPriority priority) override;
  // Returns the variants of a task. Empty for a task that was not seen before.
  std::span<const VariantView> variants(TaskId task) override;
  std::string_view task_name(TaskId task) override;
  MapperEvent create_event() override;
  void trigger_event(MapperEvent event) override;
  bool send_message(const Processor& target, std::uint32_t kind,
                    std::span<const std::byte> message) override;
  bool broadcast(std::uint32_t kind, std::span<const std::byte> message) override;

 private:
  HookDependencies parts_;
  MapperContext context_ = nullptr;
  HookSubject of_ = HookSubject::kOperation;
};

// A list of Legion tasks, each with its view for a groma::Mapper.
class TaskList {
 public:
  void clear();
  void add(TaskViews& views, MapperContext context, const Legion::Task& task,
           const Processor& current);
  std::span<const TaskView> views() const { return views_; }
  const Legion::Task* operator[](std::uint32_t index) const { return tasks_[index]; }
  std::size_t size() const { return views_.size(); }

 private:
  std::vector<TaskView> views_;
  std::vector<const Legion::Task*> tasks_;
  std::deque<ParentViews> parents_;
  // The Legion task that the last element of parents_ describes.
  const Legion::Task* parent_ = nullptr;
};

// A list of views of instances for a groma::Mapper. A view has Legion's facts about an instance,
// except its layout and its number.
class InstanceViews {
 public:
  void clear();
  void add(const Legion::Mapping::PhysicalInstance& instance, RegionId region,
           const MachineMap& machine);
  std::span<const InstanceView> all() const { return views_; }

 private:
  std::vector<InstanceView> views_;
  // The lists of fields to which the views refer.
  std::deque<std::vector<FieldId>> fields_;
};

// The buffers for the inputs and answers of one mapper hook. Later hooks reuse them, to save
// allocations.
struct HookBuffers {
  HookRuntime hands;
  ViewStorage storage;
  TaskList tasks;
  std::vector<Processor> shards;
  // The shard table that was made for the processors in `shards`.
  ShardTable table;
  TaskOptions options;
  SliceTaskOutput slices;
  MapTaskOutput choice;
  MapOperationOutput operation;
  ReplicateTaskOutput replicate;
  SelectMappingOutput schedule;
  MapMustEpochOutput must_epoch;
  std::vector<Processor> processors;
  std::vector<Memory> memories;
  std::vector<std::uint32_t> indices;
  InstanceViews instances;
  std::vector<std::byte> bytes;

  explicit HookBuffers(const HookDependencies& parts) : hands(parts) {}
};

// A pool of the buffers that no mapper hook uses now. A hook may start inside another one when the
// other calls the runtime, but never while a groma::Mapper runs, so each hook needs its own
// buffers.
class HookBufferPool {
 public:
  explicit HookBufferPool(const HookDependencies& parts) : parts_(parts) {}

  ReentrancyGuard guard_reentrancy(MapperContext context) const {
    return ReentrancyGuard(parts_, context);
  }

  // Takes buffers from the pool for one hook, and gives them back when the object is destroyed.
  class BufferUse {
   public:
    BufferUse(HookBufferPool& calls, MapperContext context,
              HookSubject of = HookSubject::kOperation);
    ~BufferUse() { calls_.free_.push_back(std::move(call_)); }
    BufferUse(const BufferUse&) = delete;
    BufferUse& operator=(const BufferUse&) = delete;
    HookBuffers* operator->() const { return call_.get(); }
    HookBuffers& operator*() const { return *call_; }

   private:
    HookBufferPool& calls_;
    std::unique_ptr<HookBuffers> call_;
  };

 private:
  HookDependencies parts_;
  std::vector<std::unique_ptr<HookBuffers>> free_;
};

}  // namespace groma::legion
