// Implements FactQuery.
#include "guide/fact_query.h"

#include <fmt/format.h>

namespace groma::guide {

std::vector<FactQuery::User> FactQuery::users_of(const std::string& region) const {
  std::vector<User> users;
  for (const Spread& spread : facts_.spreads) {
    for (std::size_t r = 0; r < spread.data.size(); ++r) {
      if (spread.data[r].region != region) continue;
      users.push_back({&spread, static_cast<std::int64_t>(r), &spread.data[r]});
    }
  }
  return users;
}

double FactQuery::share_of_task(const std::string& task) const {
  double share = 0;
  for (const Cause& cause : facts_.causes) {
    if (cause.doing == "task" && cause.task == task) share += cause.share;
  }
  return share;
}

double FactQuery::share_of_copies_to_gpus(const std::vector<const Spread*>& tasks) const {
  double share = 0;
  for (const Cause& cause : facts_.causes) {
    if (cause.from == cause.to || (cause.from != "FBMEM" && cause.to != "FBMEM")) continue;
    const std::vector<User> users = users_of(cause.region);
    if (std::any_of(users.begin(), users.end(), [&](const User& user) {
          return std::find(tasks.begin(), tasks.end(), user.spread) != tasks.end();
        })) {
      share += cause.share;
    }
  }
  return share;
}

double FactQuery::share_of_copies(const Spread& spread) const {
  double share = 0;
  for (const Cause& cause : facts_.causes) {
    const bool is_between = cause.other_node || (cause.from == cause.to && !cause.same_memory);
    const bool is_used = std::any_of(spread.data.begin(), spread.data.end(),
                                     [&](const auto& data) { return data.region == cause.region; });
    if (!cause.region.empty() && is_between && is_used) share += cause.share;
  }
  return share;
}

std::string FactQuery::users_elsewhere(const Stream& stream, const std::string& memory) const {
  std::string text;
  for (const Spread& spread : facts_.spreads) {
    if (spread.kind == stream.kind || memory != "FBMEM") continue;
    for (const Spread::Data& data : spread.data) {
      if (data.names != stream.names || data.names.empty()) continue;
      text =
          fmt::format("{}{}`{}` on {}", text, text.empty() ? "" : ", ", spread.task, spread.kind);
      break;
    }
  }
  return text;
}

bool FactQuery::touches(const User& user, const Cause& cause) {
  return contains(user.data->memories, cause.from) || contains(user.data->memories, cause.to);
}

double FactQuery::extra_time(const std::vector<User>& users, const std::string& memory) const {
  double extra = 0;
  for (const Stream& stream : facts_.streams) {
    const bool uses = std::any_of(users.begin(), users.end(), [&](const User& user) {
      return user.spread->task == stream.task && user.spread->kind == stream.kind &&
             user.requirement == stream.requirement;
    });
    for (const Stream::Elsewhere& each : stream.elsewhere) {
      if (uses && each.memory == memory) extra -= std::min(0.0, each.saves);
    }
  }
  return extra;
}

bool FactQuery::may_hold(const User& user, const std::string& memory) const {
  for (const Stream& stream : facts_.streams) {
    if (stream.task != user.spread->task || stream.requirement != user.requirement) continue;
    for (const Stream::Elsewhere& each : stream.elsewhere) {
      if (each.memory == memory) return each.has_room;
    }
  }
  return true;
}

}  // namespace groma::guide
