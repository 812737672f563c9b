// Keeps the events and messages of mappers until they are triggered and delivered.
#include "simulate/mapper_events.h"

#include <utility>

#include "simulate/bytes.h"

namespace groma::sim {

std::int64_t MapperEvents::bytes() const {
  constexpr std::size_t kEventMade = 64;
  return heap_bytes(messages_) + static_cast<std::int64_t>(made_.size() * kEventMade);
}

MapperEvent MapperEvents::create() {
  made_[++last_event_] = false;
  return last_event_;
}

std::vector<std::int32_t> MapperEvents::trigger(MapperEvent event) {
  const auto found = made_.find(event);
  if (found == made_.end()) return {};
  found->second = true;
  const auto deferred = deferred_.extract(event);
  return deferred.empty() ? std::vector<std::int32_t>() : std::move(deferred.mapped());
}

MapperEvents::Deferral MapperEvents::defer(MapperEvent event, std::int32_t processor) {
  const auto made = made_.find(event);
  if (made == made_.end()) return Deferral::kUnknown;
  if (made->second) return Deferral::kTriggered;
  deferred_[event].push_back(processor);
  return Deferral::kDeferred;
}

std::optional<std::int64_t> MapperEvents::post(Message message, std::int64_t live) {
  if (sent_in_vain_ >= most_in_vain(live)) return std::nullopt;
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

Message MapperEvents::deliver(std::int64_t number) {
  free_messages_.push_back(static_cast<std::uint32_t>(number));
  return std::move(messages_[static_cast<std::size_t>(number)]);
}

}  // namespace groma::sim
