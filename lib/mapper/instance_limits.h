// InstanceLimits: what one mapper object knows of InstanceLimit statements: how many instances of
// each limited task are under way, and whether the next may begin. What an emitted mapper uses too,
// so it needs nothing of the hooks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "groma/machine.h"

namespace groma::mapper {

// Where a limit counts the instances on several processors together, one mapper object, the keeper,
// gives out as many places as the limit allows. The others ask it by messages:
//
//   kAsk     to the keeper: a place, please      (one at a time, so that every processor gets some)
//   kPlace   from the keeper: here is one        (in the order in which they were asked for)
//   kReturn  to the keeper: the instance ended
//
// Messages need no common memory, so a limit of the whole machine holds across its nodes.
struct LimitMessage {
  // Above the kinds of messages that mappers send themselves, beside those with which idle
  // processors ask for work (from 0xFFFFFF00).
  enum class Kind : std::uint32_t { kAsk = 0xFFFFFF10, kPlace, kReturn };
  Kind kind = Kind::kAsk;
  std::uint32_t task = 0;  // its id
  std::int64_t most = 0;   // of the limit, so that the keeper need not know the task
};

// Nothing if the bytes are not such a message.
std::optional<LimitMessage> read_limit_message(std::uint32_t kind, const void* bytes,
                                               std::size_t size);

class InstanceLimits {
 public:
  struct Limit {
    std::int64_t most = 0;  // instances at a time; 0: any number
    // The mapper object of this processor counts for several; without one each counts its own.
    std::optional<Processor> keeper;
  };
  // Sends to the mapper object of that processor, which may be this one. Returns false if it
  // cannot.
  using Send = std::function<bool(const Processor& target, const LimitMessage& message)>;

  // Returns true if an instance of the task may be mapped now on that processor, and counts it.
  // Otherwise asks the keeper for a place, unless one was asked for before. `limit.most` is above
  // 0.
  bool begin(std::uint32_t task, const Processor& at, const Limit& limit, const Send& send);

  // An instance of the task that began on that processor has ended. Returns true if another may
  // begin there in its place. Tasks without a limit are ignored.
  bool end(std::uint32_t task, const Processor& at, const Send& send);

  // Whether a place was asked for or has come, and no instance has begun in it yet.
  bool expects_place(std::uint32_t task) const;

  // Returns true if a place has come, so that an instance may begin.
  bool receive(const Processor& sender, const LimitMessage& message, const Send& send);

 private:
  struct ByPlace {
    bool operator()(const Processor& a, const Processor& b) const {
      return std::tuple(a.kind, a.node, a.index) < std::tuple(b.kind, b.node, b.index);
    }
  };
  struct Task {
    // Begun and not ended, by processor, since one mapper object may serve several. Those that a
    // keeper counts stand under Processor(), wherever they are.
    std::map<Processor, std::int64_t, ByPlace> in_flight;
    Limit limit;
    bool asked = false;      // the keeper owes a place
    bool has_place = false;  // in which nothing has begun yet
  };
  // What the keeper knows of a task.
  struct Kept {
    std::int64_t taken = 0;         // places that are out
    std::deque<Processor> waiting;  // whose mapper objects asked, in this order
  };

  std::map<std::uint32_t, Task> tasks_;
  std::map<std::uint32_t, Kept> kept_;
};

}  // namespace groma::mapper
