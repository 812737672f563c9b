// Makes and finds copies of codelets.
#include "starpu/codelet_copies.h"

#include <cstddef>
#include <cstring>

namespace groma::starpu {
namespace {

// Returns true if two codelets are the same except for the statistics that StarPU keeps in them. A
// program may use the memory of a codelet again for another one.
bool are_same(const starpu_codelet& a, const starpu_codelet& b) {
  constexpr std::size_t kCompared = offsetof(starpu_codelet, per_worker_stats);
  return std::memcmp(&a, &b, kCompared) == 0 && a.name == b.name;
}

}  // namespace

starpu_codelet* CodeletCopies::codelet_for(starpu_codelet* codelet, const std::vector<int>& nodes) {
  if (nodes.empty() && count_.load(std::memory_order_acquire) == 0) return codelet;
  const std::lock_guard lock(mutex_);
  const auto own = by_copy_.find(codelet);
  if (own != by_copy_.end()) codelet = own->second->source;
  if (nodes.empty()) return codelet;
  if (codelet->specific_nodes != 0) return nullptr;
  auto& known = copies_[{codelet, nodes}];
  for (const auto& copy : known) {
    if (are_same(copy->original, *codelet)) return &copy->changed;
  }
  if (by_copy_.size() == kMaxCopies) return nullptr;
  Copy& made = *known.emplace_back(std::make_unique<Copy>());
  made.source = codelet;
  std::memcpy(&made.original, codelet, sizeof made.original);
  std::memcpy(&made.changed, codelet, sizeof made.changed);
  made.nodes = nodes;
  made.changed.specific_nodes = 1;
  made.changed.dyn_nodes = made.nodes.data();
  by_copy_[&made.changed] = &made;
  count_.store(by_copy_.size(), std::memory_order_release);
  return &made.changed;
}

}  // namespace groma::starpu
