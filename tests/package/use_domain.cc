// groma::domain from outside: a domain of a declaration, its map and a walk over its points.
#include <cstdio>
#include <memory>
#include <optional>

#include "groma/domain.h"

int main() {
  groma::Diagnostics diags(
      groma::Source("my.domain", "domain mine(n) = (x, y) in loops y < n, x <= y;\n"));
  const auto library = groma::domains::DomainLibrary::read(diags);
  const auto mine = library ? library->find("mine")->make({{"n", 1000}}, diags) : std::nullopt;
  if (!mine) {
    std::fputs(groma::render(diags).c_str(), stderr);
    return 1;
  }
  std::int64_t walked = 0;
  mine->for_each(0, mine->count(), [&](std::int64_t k, const groma::Point&) { walked += k; });
  const bool right = mine->count() == 500500 && walked == 500499LL * 500500 / 2 &&
                     mine->rank(mine->point(123456)) == 123456;
  return right ? 0 : 1;
}
