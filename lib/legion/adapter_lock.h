// AdapterLock: a lock that lets only one of several concurrent mapper calls use the adapter at a
// time. The call that may use the adapter has the turn.
#pragma once

#include <legion.h>

#include <deque>
#include <mutex>
#include <vector>

namespace groma::legion {

// A concurrent mapper's hooks run at the same time, but the adapter above it serves one hook at a
// time. The other hooks wait for Legion's mapper events, so that their threads stay free. Legion's
// own lock of a mapper object belongs to the program's mapper and cannot be used.
class AdapterLock {
 public:
  AdapterLock(Legion::Mapping::MapperRuntime* runtime, Legion::Mapping::Mapper& adapter)
      : runtime_(runtime), adapter_(adapter) {}

  // Waits until the calling hook has the turn.
  void acquire(Legion::Mapping::MapperContext context);
  // Passes the turn to the next waiting hook.
  void release(Legion::Mapping::MapperContext context);
  // Passes a message of another adapter to this adapter. Legion may deliver the message inside a
  // hook whose caller has the turn, where waiting would never end. The holder of the turn then
  // handles the message before it gives up the turn.
  void deliver_message(Legion::Mapping::MapperContext context,
                       const Legion::Mapping::Mapper::MapperMessage& message);

 private:
  struct Message {
    // The message as Legion passed it: sender, kind and size. Its pointer to the content is not
    // valid any more; `bytes` is a copy of the content.
    Legion::Mapping::Mapper::MapperMessage head;
    std::vector<char> bytes;
  };

  // Tries to get the turn for the calling hook, and returns true if the hook has it now. Otherwise
  // the hook must wait. If `turn` is not null, this event is triggered when the hook gets the turn.
  bool take_turn_or_queue(const Legion::Mapping::MapperEvent* turn);

  Legion::Mapping::MapperRuntime* runtime_;
  Legion::Mapping::Mapper& adapter_;
  std::mutex mutex_;
  bool is_taken_ = false;
  std::deque<Legion::Mapping::MapperEvent> waiting_;
  std::deque<Message> messages_;
};

// Holds the turn as long as the object lives. If `turns` is null, no turn is needed.
class AdapterLockGuard {
 public:
  AdapterLockGuard(AdapterLock* turns, Legion::Mapping::MapperContext context)
      : turns_(turns), context_(context) {
    if (turns_ != nullptr) turns_->acquire(context_);
  }
  ~AdapterLockGuard() {
    if (turns_ != nullptr) turns_->release(context_);
  }
  AdapterLockGuard(const AdapterLockGuard&) = delete;
  AdapterLockGuard& operator=(const AdapterLockGuard&) = delete;

 private:
  AdapterLock* turns_;
  Legion::Mapping::MapperContext context_;
};

}  // namespace groma::legion
