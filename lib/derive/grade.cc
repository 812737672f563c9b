// Compares an answer with the truth, in order and in any order, as the paper on models does.
#include <algorithm>
#include <vector>

#include "groma/domain_derivation.h"

namespace groma::domains {

PointFunction point_function(const Domain& domain) {
  return [domain](std::int64_t k) -> std::optional<Point> {
    if (k < 0 || k >= domain.count()) return std::nullopt;
    return domain.point(k);
  };
}

Grade grade_answer(const PointFunction& answer, const PointFunction& truth, std::int64_t points,
                   const std::function<bool()>& stop) {
  using Key = std::array<std::int64_t, kMaxSampleDimensions>;
  const auto key_of = [](const Point& point) {
    Key key{};
    const int some = std::min(point.dimensions(), kMaxSampleDimensions);
    for (int d = 0; d < some; ++d) key[static_cast<std::size_t>(d)] = point[d];
    return key;
  };
  Grade grade;
  grade.points = points;
  std::vector<Key> given, wanted;
  for (std::int64_t k = 0; k < points; ++k) {
    constexpr std::int64_t kOften = 1024;
    if (k % kOften == 0 && stop && stop()) {
      grade.is_cut_off = true;
      break;
    }
    const auto right = truth(k);
    GROMA_CHECK(right.has_value());
    wanted.push_back(key_of(*right));
    const auto point = answer(k);
    if (!point || point->dimensions() != right->dimensions()) continue;
    if (*point == *right) ++grade.in_order;
    given.push_back(key_of(*point));
  }
  if (grade.in_order == points) {
    grade.in_any_order = points;
    return grade;
  }
  std::sort(wanted.begin(), wanted.end());
  std::sort(given.begin(), given.end());
  given.erase(std::unique(given.begin(), given.end()), given.end());
  for (auto a = given.begin(), b = wanted.begin(); a != given.end() && b != wanted.end();) {
    if (*a == *b) ++grade.in_any_order;
    const bool a_is_less = *a < *b, b_is_less = *b < *a;
    if (!b_is_less) ++a;
    if (!a_is_less) ++b;
  }
  return grade;
}

}  // namespace groma::domains
