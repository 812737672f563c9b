// Keeps the events and messages of mappers until they are triggered and delivered.
#include "simulate/mapper_events.h"

#include <utility>

#include "simulate/bytes.h"

namespace groma::sim {

// The memory of each event is estimated as a fixed number of bytes, for its entries in the maps.
std::int64_t MapperEvents::bytes() const {
  constexpr std::size_t kEventMade = 64;
  return heap_bytes(messages_) + static_cast<std::int64_t>(made_.size() * kEventMade);
}

// Events are numbered from 1.
MapperEvent MapperEvents::create() {
  made_[++last_event_] = false;
  return last_event_;
}

// If the tasks of a processor were deferred to the event several times, the processor is in the
// result as many times.
std::vector<std::int32_t> MapperEvents::trigger(MapperEvent event) {
  const auto found = made_.find(event);
  if (found == made_.end()) return {};
  found->second = true;
  const auto deferred = deferred_.extract(event);
  return deferred.empty() ? std::vector<std::int32_t>() : std::move(deferred.mapped());
}

// Only an event that was made and not triggered can keep a processor waiting.
MapperEvents::Deferral MapperEvents::defer(MapperEvent event, std::int32_t processor) {
  const auto made = made_.find(event);
  if (made == made_.end()) return Deferral::kUnknown;
  if (made->second) return Deferral::kTriggered;
  deferred_[event].push_back(processor);
  return Deferral::kDeferred;
}

// A message gets the number of a message that was delivered, if there is one.
std::optional<std::int64_t> MapperEvents::post(Message message, std::int64_t live) {
  if (sent_in_vain_ >= max_deferrals(live)) return std::nullopt;
  ++sent_in_vain_;
  if (free_messages_.empty()) {
    free_messages_.push_back(static_cast<std::uint32_t>(messages_.size()));
    messages_.emplace_back();
  }
  const std::uint32_t number = free_messages_.back();
  free_messages_.pop_back();
  messages_[number] = std::move(message);
  return number;
}

// Frees the number of the message for a later message.
Message MapperEvents::deliver(std::int64_t number) {
  free_messages_.push_back(static_cast<std::uint32_t>(number));
  return std::move(messages_[static_cast<std::size_t>(number)]);
}

}  // namespace groma::sim
