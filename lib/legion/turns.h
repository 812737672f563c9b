// Turns: lets one of several concurrent mapper calls use the adapter at a time.
#pragma once

#include <legion.h>

#include <deque>
#include <mutex>
#include <vector>

namespace groma::legion {

// Above a concurrent mapper, hooks begin at once. The adapter serves one hook at a time; the others
// wait on Legion's mapper events, so that their threads stay free. Legion's own lock of a mapper
// object belongs to the program's mapper and cannot serve.
class Turns {
 public:
  Turns(Legion::Mapping::MapperRuntime* runtime, Legion::Mapping::Mapper& adapter)
      : runtime_(runtime), adapter_(adapter) {}

  void take(Legion::Mapping::MapperContext context);
  void give(Legion::Mapping::MapperContext context);
  // A message from another adapter. Legion may deliver it inside a hook whose caller has the turn,
  // where waiting would never end. Then the holder of the turn handles the message before it gives
  // the turn up.
  void hear(Legion::Mapping::MapperContext context,
            const Legion::Mapping::Mapper::MapperMessage& message);

 private:
  struct Message {
    Legion::Mapping::Mapper::MapperMessage head;  // without its bytes
    std::vector<char> bytes;
  };

  // Returns true if the caller has the turn now. Otherwise, if `turn` is not null, that event is
  // triggered when the caller has it.
  bool take_or_join(const Legion::Mapping::MapperEvent* turn);

  Legion::Mapping::MapperRuntime* runtime_;
  Legion::Mapping::Mapper& adapter_;
  std::mutex mutex_;
  bool is_taken_ = false;
  std::deque<Legion::Mapping::MapperEvent> waiting_;
  std::deque<Message> messages_;
};

// Has the turn while it lives. A null `turns` needs none.
class Turn {
 public:
  Turn(Turns* turns, Legion::Mapping::MapperContext context) : turns_(turns), context_(context) {
    if (turns_ != nullptr) turns_->take(context_);
  }
  ~Turn() {
    if (turns_ != nullptr) turns_->give(context_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Turns* turns_;
  Legion::Mapping::MapperContext context_;
};

}  // namespace groma::legion
