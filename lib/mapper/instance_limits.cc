#include "mapper/instance_limits.h"

#include <algorithm>
#include <cstring>

namespace groma::mapper {

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

bool InstanceLimits::begin(std::uint32_t id, const Processor& at, const Limit& limit,
                           const Send& send) {
  Task& task = tasks_[id];
  task.limit = limit;
  std::int64_t& in_flight = task.in_flight[limit.keeper ? Processor() : at];
  if (!limit.keeper) {
    if (in_flight >= limit.most) return false;
  } else if (!task.has_place) {
    if (task.asked) return false;
    task.asked = true;  // before it is sent, since the answer may come before `send` returns
    const bool sent = send(*limit.keeper, {LimitMessage::Kind::kAsk, id, limit.most});
    if (!sent) task.asked = false;  // nothing could come, so that there is no limit
    if (sent && !task.has_place) return false;
  }
  task.has_place = false;
  ++in_flight;
  return true;
}

bool InstanceLimits::end(std::uint32_t id, const Processor& at, const Send& send) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return false;
  Task& task = found->second;
  std::int64_t& in_flight = task.in_flight[task.limit.keeper ? Processor() : at];
  if (in_flight == 0) return false;
  --in_flight;
  if (!task.limit.keeper) return true;
  send(*task.limit.keeper, {LimitMessage::Kind::kReturn, id, task.limit.most});
  return false;  // the keeper decides who is next
}

bool InstanceLimits::expects_place(std::uint32_t id) const {
  const auto found = tasks_.find(id);
  return found != tasks_.end() && (found->second.asked || found->second.has_place);
}

bool InstanceLimits::receive(const Processor& sender, const LimitMessage& message,
                             const Send& send) {
  if (message.kind == LimitMessage::Kind::kPlace) {
    const auto found = tasks_.find(message.task);
    if (found == tasks_.end() || !found->second.asked) return false;
    found->second.asked = false;
    found->second.has_place = true;
    return true;
  }
  Kept& kept = kept_[message.task];
  if (message.kind == LimitMessage::Kind::kAsk) {
    kept.waiting.push_back(sender);
  } else {
    kept.taken = std::max(kept.taken - 1, std::int64_t{0});
  }
  while (kept.taken < message.most && !kept.waiting.empty()) {
    const Processor next = kept.waiting.front();
    kept.waiting.pop_front();
    ++kept.taken;
    const bool sent = send(next, {LimitMessage::Kind::kPlace, message.task, message.most});
    if (!sent) --kept.taken;
  }
  return false;
}

}  // namespace groma::mapper
