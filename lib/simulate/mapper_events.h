// MapperEvents: the events that mappers make and wait for, and the messages that they send each
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "groma/machine.h"
#include "groma/mapper_runtime.h"

namespace groma::sim {

// Returns how often mappers may put off their tasks, or send messages, before a task has to be
// mapped. `live` is the number of unfinished tasks. Without this limit they could do so for ever.
inline std::int64_t most_in_vain(std::int64_t live) { return (std::int64_t{1} << 20) + 16 * live; }

struct Message {
  Processor sender, target;
  std::uint32_t kind = 0;
  std::vector<std::byte> bytes;
};

class MapperEvents {
 public:
  MapperEvent create();
  // Triggers an event. Returns the processors whose mappers are to be asked again, since they
  // deferred their tasks to it. Returns none for an unknown event.
  std::vector<std::int32_t> trigger(MapperEvent event);
  enum class Deferral : std::uint8_t { kUnknown, kTriggered, kDeferred };
  // Defers the tasks of a processor to an event. kTriggered: it was triggered before.
  Deferral defer(MapperEvent event, std::int32_t processor);

  // Keeps a message until it is delivered. Returns its number, or nullopt if too many messages were
  // sent since note_progress().
  std::optional<std::int64_t> post(Message message, std::int64_t live);
  // Returns a message that is delivered now.
  Message deliver(std::int64_t number);
  // Notes that a task is mapped.
  void note_progress() { sent_in_vain_ = 0; }

  // Returns its memory, approximately.
  std::int64_t bytes() const;

 private:
  std::map<MapperEvent, std::vector<std::int32_t>> deferred_;  // processors to ask again
  MapperEvent last_event_ = 0;
  std::map<MapperEvent, bool> made_;          // whether each event was triggered
  std::vector<Message> messages_;             // some of them are delivered
  std::vector<std::uint32_t> free_messages_;  // places of delivered messages, for reuse
  std::int64_t sent_in_vain_ = 0;             // messages since the last mapped task
};

}  // namespace groma::sim
