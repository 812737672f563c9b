// What a hook needs while it runs: the buffers of its answer, what a mapper of ours may ask of
// Legion meanwhile, and the guard against hooks that begin inside it.
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

// Legion's mapper events under numbers.
struct Events {
  std::map<MapperEvent, Legion::Mapping::MapperEvent> open;
  MapperEvent last = 0;
};

// What the hooks of one mapper object share. All of it outlives them.
struct HookParts {
  Legion::Mapping::MapperRuntime* runtime;
  const MachineMap* machine;
  TaskViews* views;
  Events* events;
  Instances* instances;
  bool in_turn;  // whoever calls the hooks does so one after the other, each to its end
};

// While it lives, no hook begins inside this one, whatever is called.
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

// What a hook is about: only an operation has instances made, and only while it is mapped do they
// stay until it is.
enum class HookOf : std::uint8_t { kNoOperation, kOperation, kMapping };

// What a mapper of ours may do during one hook.
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
  std::span<const VariantView> variants(TaskId task) override;  // of tasks that were seen
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

// Tasks as a list of views. In parts where they are many: a view is large.
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
  const Legion::Task* parent_ = nullptr;  // whose view is the last of them
};

// Instances as a list of views, with what Legion says of one: not its layout, nor its number for
// the mapper.
class InstanceViews {
 public:
  void clear();
  void add(const Legion::Mapping::PhysicalInstance& instance, RegionId region,
           const MachineMap& machine);
  std::span<const InstanceView> all() const { return views_; }

 private:
  std::vector<InstanceView> views_;
  std::deque<std::vector<FieldId>> fields_;  // of them
};

// The buffers of one hook.
struct HookCall {
  Hands hands;
  ViewStorage storage;
  TaskList tasks;
  std::vector<Processor> shards;
  ShardTable table;  // of them
  TaskOptions options;
  SliceAnswer slices;
  TaskWish wish;
  OperationWish operation;
  ReplicateAnswer replicate;
  ScheduleAnswer schedule;
  MustEpochAnswer must_epoch;
  std::vector<Processor> processors;
  std::vector<Memory> memories;
  std::vector<std::uint32_t> indices;
  InstanceViews instances;
  std::vector<std::byte> bytes;

  explicit HookCall(const HookParts& parts) : hands(parts) {}
};

// The buffers that no hook has just now. Other hooks may begin where one calls the runtime, never
// while our mapper has the word.
class HookCalls {
 public:
  explicit HookCalls(const HookParts& parts) : parts_(parts) {}

  Alone alone(MapperContext context) const { return Alone(parts_, context); }

  // One hook's, while it lives.
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
