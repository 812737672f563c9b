// Counts the instances of limited tasks, and exchanges messages about limits that several
// processors share.
#include "mapper/instance_limits.h"

#include <algorithm>
#include <cstring>

namespace groma::mapper {

// Returns the message that these bytes encode, or nothing if they are not a message about instance
// limits.
std::optional<LimitMessage> read_limit_message(std::uint32_t kind, const void* bytes,
                                               std::size_t size) {
  LimitMessage message;
  const bool is_known = kind >= static_cast<std::uint32_t>(LimitMessage::Kind::kAsk) &&
                        kind <= static_cast<std::uint32_t>(LimitMessage::Kind::kReturn);
  if (!is_known || size != sizeof message) return std::nullopt;
  std::memcpy(&message, bytes, sizeof message);
  message.kind = static_cast<LimitMessage::Kind>(kind);
  return message;
}

// Counts an instance that is about to begin and returns true, or returns false if it must wait. A
// limit over several processors also needs the permission of the keeper, for which this function
// asks.
bool InstanceLimits::begin_instance(const Processor& at, const TaskLimit& limit,
                                    const SendMessage& send) {
  CountState& task = counts_[limit.counted];
  task.limit = limit;
  std::int64_t& in_flight = task.in_flight[limit.keeper ? Processor() : at];
  if (!limit.keeper) {
    if (in_flight >= limit.most) return false;
  } else if (!task.has_place) {
    if (task.asked) return false;
    // `asked` is set before the message is sent, since the answer may come before `send` returns.
    task.asked = true;
    const bool sent = send(*limit.keeper, {LimitMessage::Kind::kAsk, limit.counted, limit.most});
    // If the request cannot be sent, no permission can ever come. The limit is then ignored.
    if (!sent) task.asked = false;
    if (sent && !task.has_place) return false;
  }
  task.has_place = false;
  ++in_flight;
  return true;
}

// Counts an instance as ended. Returns true if another one may begin here now. If a keeper counts,
// the keeper is told instead and decides which processor may run the next instance.
bool InstanceLimits::end_instance(std::uint64_t counted, const Processor& at,
                                  const SendMessage& send) {
  const auto found = counts_.find(counted);
  if (found == counts_.end()) return false;
  CountState& task = found->second;
  std::int64_t& in_flight = task.in_flight[task.limit.keeper ? Processor() : at];
  if (in_flight == 0) return false;
  --in_flight;
  if (!task.limit.keeper) return true;
  send(*task.limit.keeper, {LimitMessage::Kind::kReturn, counted, task.limit.most});
  return false;  // The keeper decides which processor may run the next instance.
}

// Returns true if permission was requested or granted for an instance of the task that has not
// begun. A thief must not get all waiting instances of such a task.
bool InstanceLimits::has_unused_grant(std::uint64_t counted) const {
  const auto found = counts_.find(counted);
  return found != counts_.end() && (found->second.asked || found->second.has_place);
}

// Handles a message: a granted permission, or, in the keeper, a request for one or the end of an
// instance. The keeper grants as many permissions as the limit allows.
bool InstanceLimits::handle_message(const Processor& sender, const LimitMessage& message,
                                    const SendMessage& send) {
  if (message.kind == LimitMessage::Kind::kPlace) {
    const auto found = counts_.find(message.counted);
    if (found == counts_.end() || !found->second.asked) return false;
    found->second.asked = false;
    found->second.has_place = true;
    return true;
  }
  KeeperState& kept = kept_[message.counted];
  if (message.kind == LimitMessage::Kind::kAsk) {
    kept.waiting.push_back(sender);
  } else {
    kept.taken = std::max(kept.taken - 1, std::int64_t{0});
  }
  while (kept.taken < message.most && !kept.waiting.empty()) {
    const Processor next = kept.waiting.front();
    kept.waiting.pop_front();
    ++kept.taken;
    const bool sent = send(next, {LimitMessage::Kind::kPlace, message.counted, message.most});
    if (!sent) --kept.taken;
  }
  return false;
}

}  // namespace groma::mapper
