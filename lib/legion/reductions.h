// Reductions: the region trees to which operations of this process reduce. Legion must not be told
// to forget instances of these.
#pragma once

#include <legion.h>

#include <mutex>
#include <set>
#include <vector>

namespace groma::legion {

// One for a process. Thread-safe.
class Reductions {
 public:
  // Notes the trees to which an operation with these requirements reduces. Tasks are noted when
  // they are launched, other operations when they are mapped: before anything that reads their
  // results is mapped.
  void note(const std::vector<Legion::RegionRequirement>& requirements);
  // Returns why the instance that is read has to stay among the valid ones; null if it need not
  // (MapTaskOutput::untracked_valid_regions). For Legion applies pending reductions to an instance
  // that is read, then holds the other instances for outdated: if this one is not remembered, what
  // was reduced is lost (legion_analysis.cc, EquivalenceSet::update_set_internal, seen in 25.06 and
  // 25.12). Other processes may launch reductions of which this one does not know.
  const char* why_tracked(const Legion::RegionRequirement& requirement) const;

 private:
  mutable std::mutex mutex_;
  std::set<Legion::RegionTreeID> trees_;
  bool full_ = false;  // too many to be remembered: any tree may be one
};

}  // namespace groma::legion
