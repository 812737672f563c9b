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

starpu_codelet* CodeletCopies::copy_for(starpu_codelet* codelet, const std::vector<int>& nodes) {
  if (codelet->specific_nodes != 0) return nullptr;
  const std::lock_guard lock(mutex_);
  auto& known = copies_[{codelet, nodes}];
  for (const auto& copy : known) {
    if (are_same(copy->original, *codelet)) return &copy->changed;
  }
  if (count_ == kMaxCopies) return nullptr;
  ++count_;
  auto& made = *known.emplace_back(std::make_unique<Copy>(Copy{*codelet, *codelet, nodes}));
  made.changed.specific_nodes = 1;
  made.changed.dyn_nodes = made.nodes.data();
  return &made.changed;
}

}  // namespace groma::starpu
