// MapperRuntime: the runtime calls that a mapper can make (Legion: the calls of MapperRuntime). A
// mapper needs them only to do more than fill in its answers. DefaultMapper needs none of them.
// ProgramMapper uses the events and messages for its limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "groma/mapper_output.h"
#include "groma/task_view.h"

namespace groma {

// The features that a runtime supports. A mapper uses them to log, once, what has no effect on this
// runtime.
struct Capabilities {
  // True if a mapper can choose the order of fields and dimensions.
  bool layouts = true;
  // True if the runtime applies LayoutSpec::align_op.
  bool alignment = true;
  // True if the runtime applies LayoutSpec::compact.
  bool compact = true;
  // True if the runtime applies the CollectPriority of instances and the choice that an instance be
  // untracked.
  bool collection = true;
  // True if a task can run as several shards.
  bool replication = true;
  // True if ready tasks can move to an idle processor.
  bool stealing = true;
  // True if select_tasks_to_map can defer tasks, and profiling reports arrive.
  bool events = true;
  // True if send_message reaches the mapper object of any processor.
  bool messages = true;
  // True if the functions of MapperRuntime can find and make instances.
  bool instances = true;
};

// An instance to find or to make. An invalid request is neither found nor made: without a region or
// field, with unknown ones, or with regions of several region trees.
struct InstanceRequest {
  // The memory of the instance. It may be in any node.
  Memory memory;
  // The layout. With `exact`, a found instance holds these regions and nothing else.
  LayoutSpec layout;
  // Regions of one tree. The instance covers all of them.
  std::span<const RegionId> regions;
  std::span<const FieldId> fields;
  ReductionId reduction = 0;
  // The priority of an instance that is made.
  CollectPriority priority = kCollectDefault;
};
// An instance that was found or made.
struct FoundInstance {
  InstanceId id = 0;
  // True if the instance was made.
  bool created = false;
  std::int64_t bytes = 0;
};

// Passed to every hook, and valid until that hook returns. A runtime overrides the calls that it
// offers. The default of each call offers nothing, and its result says so.
class MapperRuntime {
 public:
  virtual ~MapperRuntime() = default;

  virtual Capabilities capabilities() const { return {}; }

  // ---- Instances, for InstanceChoice::instance. Return nullopt if there is none or no room. In
  // the hooks that map an operation (map_task, map_operation, select_sources), a found or made
  // instance is acquired: it stays until the operation is mapped. In other hooks it is not
  // acquired. In hooks without an operation (select_tasks_to_map, stealing, messages) no instance
  // can be made. Legion: find_physical_instance, create_physical_instance.
  virtual std::optional<FoundInstance> find_instance(const InstanceRequest& request);
  virtual std::optional<FoundInstance> create_instance(const InstanceRequest& request);
  // Returns an existing instance that fulfils the request, or makes one (Legion:
  // find_or_create_physical_instance).
  std::optional<FoundInstance> find_or_create_instance(const InstanceRequest& request);
  // Legion: acquire_instance. Returns false if the instance has been collected or no operation is
  // being mapped. Idempotent.
  virtual bool acquire_instance(InstanceId instance);
  // Legion: release_instance. Gives up an instance that was acquired.
  virtual void release_instance(InstanceId instance);
  // Legion: collect_instance. Returns true if the instance is gone. An instance is not collected
  // while it is acquired or in use, holds the only valid data, or has the priority kCollectNever.
  virtual bool collect_instance(InstanceId instance);
  virtual void set_collect_priority(InstanceId instance, CollectPriority priority);
  // Returns the free bytes of `memory`; -1: unknown.
  virtual std::int64_t free_bytes(const Memory& memory);

  // ---- Variants and names of tasks without a view at hand. Return empty values if there are none.
  // Legion: find_valid_variants, find_task_layout_constraints; retrieve_name.
  virtual std::span<const VariantView> variants(TaskId task);
  virtual std::string_view task_name(TaskId task);

  // ---- Events (create_mapper_event, trigger_mapper_event). An event may be triggered once, also
  // in another hook than the one that created it.
  virtual MapperEvent create_event();
  virtual void trigger_event(MapperEvent event);

  // ---- Messages between mapper objects (send_message, broadcast); handle_message receives them.
  virtual bool send_message(const Processor& target, std::uint32_t kind,
                            std::span<const std::byte> message);
  virtual bool broadcast(std::uint32_t kind, std::span<const std::byte> message);
};

}  // namespace groma
