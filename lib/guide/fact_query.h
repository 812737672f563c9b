// FactQuery: answers questions about the facts of a run: who uses which data, and what copies and
// other memories cost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "groma/guide.h"

namespace groma::guide {

inline bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

class FactQuery {
 public:
  using Cause = ProfileFacts::Cause;
  using Spread = ProfileFacts::Spread;
  using Stream = ProfileFacts::Stream;

  // `facts` must outlive the object.
  explicit FactQuery(const ProfileFacts& facts) : facts_(facts) {}

  // A region requirement of a task that uses the data of a copy.
  struct User {
    const Spread* spread;
    std::int64_t requirement;
    const Spread::Data* data;
  };

  // Returns the region requirements that use the data of a region.
  std::vector<User> users_of(const std::string& region) const;
  // Returns the share of the time that runs of the task have.
  double share_of_task(const std::string& task) const;
  // Returns the share of the copies into and out of FBMEM whose data the tasks use.
  double share_of_copies_to_gpus(const std::vector<const Spread*>& tasks) const;
  // Returns the share of the copies between memories of one kind, or between nodes, whose data the
  // task uses.
  double share_of_copies(const Spread& spread) const;
  // Returns the tasks that use the data of the stream on processors of another kind, which reach
  // the present memory but not `memory`: "`a` on CPU".
  std::string users_elsewhere(const Stream& stream, const std::string& memory) const;
  // Returns true if the user has data in one of the two memories of the copies.
  static bool touches(const User& user, const Cause& cause);
  // Returns the share of the time that the tasks on GPUs take longer if this data is in `memory`.
  double extra_time(const std::vector<User>& users, const std::string& memory) const;
  // Returns false if the facts say that the memory has no room for the data of the user.
  bool may_hold(const User& user, const std::string& memory) const;

 private:
  const ProfileFacts& facts_;
};

}  // namespace groma::guide
