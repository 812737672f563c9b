// InstanceLimits: counts the running instances of each task with an InstanceLimit, for one mapper
// object, and decides whether the next one may begin. Emitted mappers use it too, so it does not
// depend on the hooks.
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

// The messages between mapper objects about a limit that counts the instances on several processors
// together. One mapper object, the keeper, grants as many permissions to run an instance, called
// places, as the limit allows. The others ask the keeper for places:
//
//   kAsk     to the keeper: asks for a place     (one at a time, so that every processor gets some)
//   kPlace   from the keeper: grants a place     (in the order of the requests)
//   kReturn  to the keeper: the instance ended
//
// Messages need no shared memory, so a limit of the whole machine holds across its nodes.
struct LimitMessage {
  // The kinds of messages about limits. Their values are above those of the messages that mappers
  // themselves send, and differ from those with which idle processors ask for work (from
  // 0xFFFFFF00).
  enum class Kind : std::uint32_t { kAsk = 0xFFFFFF10, kPlace, kReturn };
  Kind kind = Kind::kAsk;
  // What is counted: InstanceLimits::TaskLimit::counted.
  std::uint64_t counted = 0;
  // The limit of the task. The message contains it, so the keeper need not know the task.
  std::int64_t most = 0;
};

// Decodes a message. Returns nullopt if the bytes are not such a message.
std::optional<LimitMessage> read_limit_message(std::uint32_t kind, const void* bytes,
                                               std::size_t size);

class InstanceLimits {
 public:
  struct TaskLimit {
    // The number under which instances are counted. The launches of a task to which the same
    // statement applies are counted together.
    std::uint64_t counted = 0;
    // The largest number of these instances that may run at the same time. 0: no limit.
    std::int64_t most = 0;
    // The processor whose mapper object counts the instances on several processors together.
    // nullopt: each mapper object counts its own instances.
    std::optional<Processor> keeper;
  };
  // Sends a message to the mapper object of that processor, which may be this one. Returns false if
  // it cannot.
  using SendMessage = std::function<bool(const Processor& target, const LimitMessage& message)>;

  // Returns true if an instance may be mapped now on that processor, and counts it. Otherwise asks
  // the keeper for permission, unless a request is pending. `limit.most` is above 0.
  bool begin_instance(const Processor& at, const TaskLimit& limit, const SendMessage& send);

  // Counts an instance on that processor as ended. Returns true if another one may begin there in
  // its place. What was never counted is ignored.
  bool end_instance(std::uint64_t counted, const Processor& at, const SendMessage& send);

  // Returns true if the keeper was asked for permission to run an instance, or granted it, and the
  // instance has not begun yet.
  bool has_unused_grant(std::uint64_t counted) const;

  // Handles a message about a limit. Returns true if it granted permission, so that an instance may
  // begin.
  bool handle_message(const Processor& sender, const LimitMessage& message,
                      const SendMessage& send);

 private:
  struct ProcessorOrder {
    bool operator()(const Processor& a, const Processor& b) const {
      return std::tuple(a.kind, a.node, a.index) < std::tuple(b.kind, b.node, b.index);
    }
  };
  // The state of the instances that are counted together.
  struct CountState {
    // Number of instances that have begun and not ended, by processor, since one mapper object may
    // serve several. Instances that a keeper counts are counted under Processor(), wherever they
    // run.
    std::map<Processor, std::int64_t, ProcessorOrder> in_flight;
    TaskLimit limit;
    // True if a request for permission to the keeper has no answer yet.
    bool asked = false;
    // True if the keeper granted permission to run an instance and none has begun since.
    bool has_place = false;
  };
  // The state that the keeper of a limit has for them.
  struct KeeperState {
    // The number of permissions to run an instance that are granted now.
    std::int64_t taken = 0;
    // The processors whose mapper objects asked for permission, in the order of their requests.
    std::deque<Processor> waiting;
  };

  // By TaskLimit::counted.
  std::map<std::uint64_t, CountState> counts_;
  std::map<std::uint64_t, KeeperState> kept_;
};

}  // namespace groma::mapper
