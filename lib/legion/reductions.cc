// Remembers the region trees to which the program reduces.
#include "legion/reductions.h"

namespace groma::legion {
namespace {

// The largest number of trees that are remembered. Beyond it, every tree counts as one to which the
// program reduces.
constexpr std::size_t kMaxTrees = 65'536;

// Returns true if an operation with this region requirement reduces. The requirements of a copy
// have another privilege but name a reduction operator.
bool reduces(const Legion::RegionRequirement& requirement) {
  return (requirement.privilege & LEGION_READ_WRITE) == LEGION_REDUCE || requirement.redop != 0;
}

}  // namespace

// Notes the trees to which these requirements reduce. The requirement of an index launch may have
// no region, but always has a parent of the same tree.
void Reductions::note(const std::vector<Legion::RegionRequirement>& requirements) {
  for (const Legion::RegionRequirement& requirement : requirements) {
    if (!reduces(requirement)) continue;
    const Legion::LogicalRegion region =
        requirement.region.exists() ? requirement.region : requirement.parent;
    const std::lock_guard lock(mutex_);
    full_ = full_ || trees_.size() >= kMaxTrees;
    if (!full_) trees_.insert(region.get_tree_id());
  }
}

// Returns the reason why an instance of this requirement must stay tracked, or null. With several
// processes, any tree may have reductions that this process does not see.
const char* Reductions::why_tracked(const Legion::RegionRequirement& requirement) const {
  if (Legion::Machine::get_machine().get_address_space_count() > 1) {
    return "another process may reduce to it, and Legion would lose that";
  }
  const std::lock_guard lock(mutex_);
  const bool reduced = full_ || trees_.contains(requirement.region.get_tree_id());
  return reduced ? "the program reduces to it, and Legion would lose that" : nullptr;
}

}  // namespace groma::legion
