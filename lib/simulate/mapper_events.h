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

// Returns the largest number of times that mappers may defer a task or send a message without any
// task being mapped meanwhile. `live` is the number of unfinished tasks. Without this limit,
// mappers could defer tasks and send messages for ever.
inline std::int64_t max_deferrals(std::int64_t live) { return (std::int64_t{1} << 20) + 16 * live; }

struct Message {
  Processor sender, target;
  std::uint32_t kind = 0;
  std::vector<std::byte> bytes;
};

class MapperEvents {
 public:
  MapperEvent create();
  // Triggers an event. Returns the processors that deferred their tasks to this event, whose
  // mappers are to be asked again. Returns none for an unknown event.
  std::vector<std::int32_t> trigger(MapperEvent event);
  enum class Deferral : std::uint8_t { kUnknown, kTriggered, kDeferred };
  // Defers the tasks of a processor until an event is triggered. Returns kTriggered if it was
  // triggered before, and kUnknown if there is no such event; nothing is deferred then.
  Deferral defer(MapperEvent event, std::int32_t processor);

  // Keeps a message until it is delivered. Returns the number of the message, or nullopt if too
  // many messages were sent since note_progress(). `live` is the number of unfinished tasks.
  std::optional<std::int64_t> post(Message message, std::int64_t live);
  // Returns the message with that number, which the caller delivers now. The number becomes free.
  Message deliver(std::int64_t number);
  // Notes that a task was mapped, so that mappers may send more messages.
  void note_progress() { sent_in_vain_ = 0; }

  // Returns the approximate memory of the events and messages in bytes.
  std::int64_t bytes() const;

 private:
  // For each event that is not triggered: the processors whose tasks wait for it. Their mappers are
  // asked again when the event is triggered.
  std::map<MapperEvent, std::vector<std::int32_t>> deferred_;
  MapperEvent last_event_ = 0;
  // For each event: whether it was triggered.
  std::map<MapperEvent, bool> made_;
  // The messages by number. Those that were delivered are empty.
  std::vector<Message> messages_;
  // The numbers of delivered messages, which are used again.
  std::vector<std::uint32_t> free_messages_;
  // The number of messages that were sent since a task was last mapped.
  std::int64_t sent_in_vain_ = 0;
};

}  // namespace groma::sim
