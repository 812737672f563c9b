// Ways to write a number as a product.
#include "space/factorisations.h"

#include <utility>

namespace groma::tuning {

// Chooses the first factor in ascending order, and factorises the quotient recursively.
std::vector<std::vector<std::int64_t>> factorisations(std::int64_t n, int dimensions,
                                                      std::size_t most) {
  std::vector<std::vector<std::int64_t>> all;
  if (dimensions <= 1) return {{n}};
  for (std::int64_t first = 1; first <= n && all.size() < most; ++first) {
    if (n % first != 0) continue;
    for (auto& rest : factorisations(n / first, dimensions - 1, most - all.size())) {
      rest.insert(rest.begin(), first);
      all.push_back(std::move(rest));
    }
  }
  return all;
}

}  // namespace groma::tuning
