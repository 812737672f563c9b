// MapperRuntime: what a runtime offers a mapper that wants to do more than wish (Legion: the calls
// of MapperRuntime). DefaultMapper needs the wish alone, ProgramMapper also the events and
// messages of limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "groma/task_view.h"
#include "groma/wish.h"

namespace groma {

// What a runtime can honour, so that a mapper can say once, to the log, what has no effect there.
struct Capabilities {
  bool layouts = true;      // field and dimension orders
  bool alignment = true;    // LayoutSpec::align_op
  bool compact = true;      // LayoutSpec::compact
  bool collection = true;   // CollectPriority, untracked
  bool replication = true;  // several shards of a task
  bool stealing = true;     // ready tasks may move to an idle processor
  bool events = true;       // select_tasks_to_map can defer, profiling reports arrive
  bool messages = true;     // send_message reaches the mapper object of any processor
  bool instances = true;    // the calls below that find and make instances
};

// An instance to find or to make. One that makes no sense (no region, no field, none that exist, of
// several region trees) is neither found nor made.
struct InstanceRequest {
  Memory memory;                      // of any node
  LayoutSpec layout;                  // found with `exact`: of these regions and nothing around
  std::span<const RegionId> regions;  // of one region tree; the instance covers them all
  std::span<const FieldId> fields;
  ReductionId reduction = 0;
  CollectPriority priority = kCollectDefault;  // of one that is made
};
struct FoundInstance {
  InstanceId id = 0;
  bool created = false;
  std::int64_t bytes = 0;
};

// Passed to every hook; good until that hook returns. A runtime overrides what it offers: the
// defaults offer nothing and say so by their results.
class MapperRuntime {
 public:
  virtual ~MapperRuntime() = default;

  virtual Capabilities capabilities() const { return {}; }

  // ---- Instances, for RequirementWish::instance. In the hooks of an operation while it is mapped
  // (map_task, map_operation, select_sources) what is found or made is acquired: it stays until the
  // operation is mapped. Elsewhere nothing is, and in hooks of no operation (select_tasks_to_map,
  // stealing, messages) nothing can be made. Legion: find_physical_instance,
  // create_physical_instance. Nothing when there is none or no room.
  virtual std::optional<FoundInstance> find_instance(const InstanceRequest& request);
  virtual std::optional<FoundInstance> create_instance(const InstanceRequest& request);
  // find_or_create_physical_instance.
  std::optional<FoundInstance> find_or_create_instance(const InstanceRequest& request);
  // acquire_instance: false when it has been collected, or nothing is mapped. Once is as good as
  // often.
  virtual bool acquire_instance(InstanceId instance);
  virtual void release_instance(InstanceId instance);
  // collect_instance: whether it is gone. Not while it is acquired or in use, holds the only valid
  // data, or has priority kCollectNever.
  virtual bool collect_instance(InstanceId instance);
  virtual void set_collect_priority(InstanceId instance, CollectPriority priority);
  // Bytes that can still be had in `memory`; -1: not known.
  virtual std::int64_t free_bytes(const Memory& memory);

  // ---- Variants and names of what is not in the view at hand. Legion: find_valid_variants,
  // find_task_layout_constraints; retrieve_name. Empty where there is none.
  virtual std::span<const VariantView> variants(TaskId task);
  virtual std::string_view task_name(TaskId task);

  // ---- Events (create_mapper_event, trigger_mapper_event). An event may be triggered in another
  // hook than that which made it, once.
  virtual MapperEvent create_event();
  virtual void trigger_event(MapperEvent event);

  // ---- Messages between mapper objects (send_message, broadcast); handle_message gets them.
  virtual bool send_message(const Processor& target, std::uint32_t kind,
                            std::span<const std::byte> message);
  virtual bool broadcast(std::uint32_t kind, std::span<const std::byte> message);
};

}  // namespace groma
