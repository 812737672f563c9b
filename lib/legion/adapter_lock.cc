// Lets the hooks of a concurrent mapper use the adapter one after the other.
#include "legion/adapter_lock.h"

#include <utility>

namespace groma::legion {

using Legion::Mapping::MapperContext;
using Legion::Mapping::MapperEvent;
using MapperMessage = Legion::Mapping::Mapper::MapperMessage;

// Waits until the calling hook has the turn. An event is needed only if another call has the turn,
// and making an event is a call to Legion. So the turn is tried once without and once with an
// event.
void AdapterLock::acquire(MapperContext context) {
  if (take_turn_or_queue(nullptr)) return;
  const MapperEvent turn = runtime_->create_mapper_event(context);
  if (take_turn_or_queue(&turn)) {
    runtime_->trigger_mapper_event(context, turn);
  } else {
    runtime_->wait_on_mapper_event(context, turn);
  }
}

// Ends the turn: handles the messages that came during it, then passes the turn to the call that
// waits longest. If none waits, the turn is free.
void AdapterLock::release(MapperContext context) {
  std::unique_lock lock(mutex_);
  while (!messages_.empty()) {
    const Message next = std::move(messages_.front());
    messages_.pop_front();
    lock.unlock();
    MapperMessage message = next.head;
    message.message = next.bytes.data();
    adapter_.handle_message(context, message);
    lock.lock();
  }
  is_taken_ = !waiting_.empty();
  if (!is_taken_) return;
  const MapperEvent next = waiting_.front();
  waiting_.pop_front();
  lock.unlock();
  runtime_->trigger_mapper_event(context, next);
}

// Delivers a message to the adapter. If the turn is free, it is taken for the message. Otherwise
// the message is copied, because Legion frees its bytes after the hook.
void AdapterLock::deliver_message(MapperContext context, const MapperMessage& message) {
  {
    const std::lock_guard lock(mutex_);
    if (is_taken_) {
      const char* bytes = static_cast<const char*>(message.message);
      messages_.push_back({message, std::vector<char>(bytes, bytes + message.size)});
      return;
    }
    is_taken_ = true;
  }
  adapter_.handle_message(context, message);
  release(context);
}

// Takes the turn if it is free. Otherwise adds the event `turn` (unless it is null) to the list of
// waiting calls. Both happen under one lock, so that release() in another thread cannot miss the
// caller.
bool AdapterLock::take_turn_or_queue(const MapperEvent* turn) {
  const std::lock_guard lock(mutex_);
  if (!is_taken_) return is_taken_ = true;
  if (turn != nullptr) waiting_.push_back(*turn);
  return false;
}

}  // namespace groma::legion
