// Reductions: remembers the region trees to which operations of this process reduce. Legion must
// not be told to forget instances of these trees.
#pragma once

#include <legion.h>

#include <mutex>
#include <set>
#include <vector>

namespace groma::legion {

// The region trees to which the program reduces. There is one object for each process. Thread-safe.
class Reductions {
 public:
  // Notes the region trees to which an operation with these requirements reduces. Tasks are noted
  // when they are launched, other operations when they are mapped. Both happen before any reader of
  // the results is mapped.
  void note(const std::vector<Legion::RegionRequirement>& requirements);
  // Returns the reason why Legion must keep track of an instance that this requirement reads, or
  // null if it need not (MapTaskOutput::untracked_valid_regions). Legion applies pending reductions
  // to an instance that is read, and then holds the other instances for outdated. If Legion forgets
  // this instance, the reduced data is lost (legion_analysis.cc,
  // EquivalenceSet::update_set_internal, seen in 25.06 and 25.12). Other processes may launch
  // reductions of which this process does not know.
  const char* why_tracked(const Legion::RegionRequirement& requirement) const;

 private:
  mutable std::mutex mutex_;
  std::set<Legion::RegionTreeID> trees_;
  // True if there were too many trees to remember. Every tree then counts as one to which the
  // program reduces.
  bool full_ = false;
};

}  // namespace groma::legion
