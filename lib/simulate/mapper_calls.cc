// Implements the functions that mappers call during their hooks.
#include "simulate/mapper_calls.h"

#include "simulate/run_parts.h"

namespace groma::sim {

// ---- Instances

std::optional<FoundInstance> MapperCalls::find_instance(const InstanceRequest& request) {
  return parts_.instances.find_instance(request);
}

std::optional<FoundInstance> MapperCalls::create_instance(const InstanceRequest& request) {
  return parts_.instances.create_instance(request);
}

bool MapperCalls::acquire_instance(InstanceId instance) {
  return parts_.instances.acquire_instance(instance);
}

void MapperCalls::release_instance(InstanceId instance) {
  parts_.instances.release_instance(instance);
}

bool MapperCalls::collect_instance(InstanceId instance) {
  return parts_.instances.collect_instance(instance);
}

void MapperCalls::set_collect_priority(InstanceId instance, CollectPriority priority) {
  parts_.instances.set_collect_priority(instance, priority);
}

std::int64_t MapperCalls::free_bytes(const Memory& memory) {
  return parts_.instances.free_bytes(memory);
}

// ---- Tasks

std::span<const VariantView> MapperCalls::variants(TaskId task) {
  if (task == 0 || task > parts_.input.data.tasks.size()) return {};
  return parts_.views.variants(task - 1);
}

std::string_view MapperCalls::task_name(TaskId task) {
  if (task == 0 || task > parts_.input.data.tasks.size()) return {};
  return parts_.input.data.tasks[task - 1].name;
}

// ---- Events and messages

MapperEvent MapperCalls::create_event() {
  return clock_ ? clock_->events.create() : MapperRuntime::create_event();
}

// Triggers an event. The mappers of the processors that deferred their tasks to this event are then
// asked again. Unknown events are ignored.
void MapperCalls::trigger_event(MapperEvent event) {
  if (!clock_) return MapperRuntime::trigger_event(event);
  for (std::int32_t processor : clock_->events.trigger(event)) {
    clock_->agenda.add(clock_->agenda.now(), Event::Kind::kSelect, processor);
  }
}

// Puts a message into the queue of events. It is delivered at the present simulated time. Returns
// false for an unknown processor, or if mappers have sent too many messages since a task was last
// mapped.
bool MapperCalls::send_message(const Processor& target, std::uint32_t kind,
                               std::span<const std::byte> message) {
  if (!clock_) return MapperRuntime::send_message(target, kind, message);
  if (parts_.input.processors.number_of(target) < 0) return false;
  const auto number = clock_->events.post(
      {parts_.mappers.last_asked_processor(), target, kind, {message.begin(), message.end()}},
      clock_->tasks.live());
  if (number) clock_->agenda.add(clock_->agenda.now(), Event::Kind::kMessage, *number);
  return number.has_value();
}

// Sends the message to every processor except the sender's. Returns false if one of them fails.
bool MapperCalls::broadcast(std::uint32_t kind, std::span<const std::byte> message) {
  if (!clock_) return MapperRuntime::broadcast(kind, message);
  bool sent = true;
  for (const Processor& processor : parts_.input.processors) {
    if (processor == parts_.mappers.last_asked_processor()) continue;
    sent = send_message(processor, kind, message) && sent;
  }
  return sent;
}

}  // namespace groma::sim
