// Finds processor and memory kinds by their names.
#include "groma/kinds.h"

#include <algorithm>

namespace groma {
namespace {

// Returns the enumerator whose name stands at its position in `names`.
template <typename Kind, std::size_t n>
std::optional<Kind> find(const std::array<std::string_view, n>& names, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<Kind>(at - names.begin());
}

}  // namespace

std::optional<ProcKind> find_proc_kind(std::string_view name) {
  return find<ProcKind>(kProcKindNames, name);
}

std::optional<MemKind> find_mem_kind(std::string_view name) {
  return find<MemKind>(kMemKindNames, name);
}

}  // namespace groma
