// State of a hook while it runs: the buffers of its answer, the requests that a mapper may make to
// Legion meanwhile, and the guard against hooks that start inside it.
#pragma once

#include <legion.h>

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "groma/mapper_runtime.h"
#include "groma/sharding.h"
#include "groma/wish.h"
#include "legion/instances.h"
#include "legion/machine_map.h"
#include "legion/task_views.h"

namespace groma::legion {

// Legion's mapper events, by number.
struct MapperEvents {
  std::map<MapperEvent, Legion::Mapping::MapperEvent> open;
  MapperEvent last = 0;
};

// Shared by the hooks of one mapper object. Everything here outlives the hooks.
struct HookParts {
  Legion::Mapping::MapperRuntime* runtime;
  const MachineMap* machine;
  TaskViews* views;
  MapperEvents* events;
  Instances* instances;
  bool in_turn;  // true: the caller runs the hooks one after the other, each to its end
};

// While an Alone object lives, no hook starts inside this hook, whatever is called.
class Alone {
 public:
  Alone(const HookParts& parts, MapperContext context)
      : runtime_(parts.runtime),
        context_(context),
        was_reentrant_(!parts.in_turn && runtime_->is_reentrant(context)) {
    if (was_reentrant_) runtime_->disable_reentrant(context_);
  }
  ~Alone() {
    if (was_reentrant_) runtime_->enable_reentrant(context_);
  }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  Legion::Mapping::MapperRuntime* runtime_;
  MapperContext context_;
  bool was_reentrant_;
};

// The subject of a hook. Only hooks of an operation can make instances. Only hooks that map the
// operation keep the instances until the operation is mapped.
enum class HookOf : std::uint8_t { kNoOperation, kOperation, kMapping };

// Carries out what a groma::Mapper requests of the runtime during one hook.
class Hands final : public groma::MapperRuntime {
 public:
  explicit Hands(const HookParts& parts) : parts_(parts) {}
  void enter(MapperContext context, HookOf of) {
    context_ = context;
    of_ = of;
  }

  std::optional<FoundInstance> find_instance(const InstanceRequest& request) override;
  std::optional<FoundInstance> create_instance(const InstanceRequest& request) override;
  bool acquire_instance(InstanceId instance) override;
  void release_instance(InstanceId instance) override;
  bool collect_instance(InstanceId instance) override;
  void set_collect_priority(InstanceId instance, CollectPriority priority) override;
  std::span<const VariantView> variants(TaskId task) override;  // for tasks seen before
  std::string_view task_name(TaskId task) override;
  MapperEvent create_event() override;
  void trigger_event(MapperEvent event) override;
  bool send_message(const Processor& target, std::uint32_t kind,
                    std::span<const std::byte> message) override;
  bool broadcast(std::uint32_t kind, std::span<const std::byte> message) override;

 private:
  HookParts parts_;
  MapperContext context_ = nullptr;
  HookOf of_ = HookOf::kOperation;
};

// A list of tasks as views.
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
  std::deque<TaskView> parents_;
  const Legion::Task* parent_ = nullptr;  // the task whose view is the last of parents_
};

// A list of instances as views. A view has Legion's facts about an instance, except its layout and
// its number.
class InstanceViews {
 public:
  void clear();
  void add(const Legion::Mapping::PhysicalInstance& instance, RegionId region,
           const MachineMap& machine);
  std::span<const InstanceView> all() const { return views_; }

 private:
  std::vector<InstanceView> views_;
  std::deque<std::vector<FieldId>> fields_;  // fields of views_
};

// The buffers of one hook.
struct HookCall {
  Hands hands;
  ViewStorage storage;
  TaskList tasks;
  std::vector<Processor> shards;
  ShardTable table;  // table of `shards`
  TaskOptions options;
  SliceTaskOutput slices;
  MapTaskOutput wish;
  MapOperationOutput operation;
  ReplicateTaskOutput replicate;
  SelectMappingOutput schedule;
  MapMustEpochOutput must_epoch;
  std::vector<Processor> processors;
  std::vector<Memory> memories;
  std::vector<std::uint32_t> indices;
  InstanceViews instances;
  std::vector<std::byte> bytes;

  explicit HookCall(const HookParts& parts) : hands(parts) {}
};

// A pool of the buffers that no hook uses now. Other hooks may start when a hook calls the runtime,
// but never while a groma::Mapper runs.
class HookCalls {
 public:
  explicit HookCalls(const HookParts& parts) : parts_(parts) {}

  Alone alone(MapperContext context) const { return Alone(parts_, context); }

  // A buffer that belongs to one hook while this object lives.
  class Use {
   public:
    Use(HookCalls& calls, MapperContext context, HookOf of = HookOf::kOperation);
    ~Use() { calls_.free_.push_back(std::move(call_)); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    HookCall* operator->() const { return call_.get(); }
    HookCall& operator*() const { return *call_; }

   private:
    HookCalls& calls_;
    std::unique_ptr<HookCall> call_;
  };

 private:
  HookParts parts_;
  std::vector<std::unique_ptr<HookCall>> free_;
};

}  // namespace groma::legion
