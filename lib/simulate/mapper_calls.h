// MapperCalls: implements the functions that a mapper may call during a hook, in a run or a
// rehearsal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "groma/mapper_runtime.h"
#include "simulate/agenda.h"
#include "simulate/mapper_events.h"
#include "simulate/task_pool.h"

namespace groma::sim {

struct RunParts;

class MapperCalls final : public MapperRuntime {
 public:
  // The parts of the run must outlive this object. The constructor only keeps a reference to
  // `parts`, which may still be under construction until a mapper's hook is first called.
  explicit MapperCalls(RunParts& parts) : parts_(parts) {}

  // The objects that the events and messages of mappers need. They must outlive the MapperCalls
  // object.
  struct EventServices {
    MapperEvents& events;
    Agenda& agenda;
    const TaskPool& tasks;
  };
  // Lets mappers use events and messages from now on, by means of the objects in `clock`. Without
  // this call, as in a rehearsal, calls about events and messages fail as MapperRuntime says.
  void enable_events(const EventServices& clock) { clock_.emplace(clock); }

  // ---- The calls (MapperRuntime)
  std::optional<FoundInstance> find_instance(const InstanceRequest& request) override;
  std::optional<FoundInstance> create_instance(const InstanceRequest& request) override;
  bool acquire_instance(InstanceId instance) override;
  void release_instance(InstanceId instance) override;
  bool collect_instance(InstanceId instance) override;
  void set_collect_priority(InstanceId instance, CollectPriority priority) override;
  std::int64_t free_bytes(const Memory& memory) override;
  std::span<const VariantView> variants(TaskId task) override;
  std::string_view task_name(TaskId task) override;
  MapperEvent create_event() override;
  void trigger_event(MapperEvent event) override;
  bool send_message(const Processor& target, std::uint32_t kind,
                    std::span<const std::byte> message) override;
  bool broadcast(std::uint32_t kind, std::span<const std::byte> message) override;

 private:
  RunParts& parts_;
  std::optional<EventServices> clock_;
};

}  // namespace groma::sim
