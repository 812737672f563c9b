// How many points each processor gets, by ranks and by blocks of the box.
#include "domain_picture/shares.h"

#include <algorithm>

#include "domain_picture/cells.h"
#include "groma/domain_picture.h"
#include "groma/point_set.h"

namespace groma::domains {
namespace {

__extension__ using Int128 = __int128;

// Finds the parts of each dimension with the given product for which the blocks have the least
// surface, which is what the sum of parts / extent measures.
void find_parts(const Point& extents, int dimension, std::int64_t left, double cost, Point& parts,
                double& least, Point& best) {
  const auto extent = static_cast<double>(std::max<std::int64_t>(1, extents[dimension]));
  if (dimension + 1 == extents.dimensions()) {
    parts[dimension] = left;
    const double all = cost + static_cast<double>(left) / extent;
    if (all < least) {
      least = all;
      best = parts;
    }
    return;
  }
  for (std::int64_t part = 1; part <= left; ++part) {
    if (left % part != 0) continue;
    parts[dimension] = part;
    find_parts(extents, dimension + 1, left / part, cost + static_cast<double>(part) / extent,
               parts, least, best);
  }
}

}  // namespace

// Sorts the first points of the cells, and counts the points before each of them.
std::vector<std::int64_t> row_major_ranks(const Domain& domain, const PictureCells& picture) {
  std::vector<std::pair<Point, std::size_t>> sorted;
  for (std::size_t i = 0; i < picture.cells.size(); ++i) {
    sorted.emplace_back(domain.point(picture.cells[i].first), i);
  }
  const PointBefore is_before;
  std::sort(sorted.begin(), sorted.end(),
            [&](const auto& a, const auto& b) { return is_before(a.first, b.first); });
  // counts[i]: the points that come before sorted[i] and not before sorted[i - 1].
  std::vector<std::int64_t> counts(sorted.size() + 1);
  const std::int64_t looked_at =
      look_at_points(domain, [&](std::int64_t, const Point& point) -> void {
        const auto after =
            std::upper_bound(sorted.begin(), sorted.end(), point,
                             [&](const Point& a, const auto& b) { return is_before(a, b.first); });
        ++counts[static_cast<std::size_t>(after - sorted.begin())];
      });
  std::vector<std::int64_t> ranks(sorted.size());
  std::int64_t before = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    before += counts[i];
    const auto rank = static_cast<std::int64_t>(Int128{before} * domain.count() / looked_at);
    ranks[sorted[i].second] = std::min(rank, domain.count() - 1);
  }
  return ranks;
}

std::int64_t processor_by_rank(const Domain& domain, std::int64_t processors, std::int64_t rank) {
  return static_cast<std::int64_t>(Int128{rank} * processors / domain.count());
}

std::int64_t processor_by_box(const Domain& domain, const Point& parts, const Point& point) {
  const Rect& box = domain.bounds();
  std::int64_t number = 0;
  for (int d = 0; d < point.dimensions(); ++d) {
    const Int128 place = Int128{point[d] - box.lower[d]} * parts[d] / box.extents[d];
    number = number * parts[d] + static_cast<std::int64_t>(place);
  }
  return number;
}

PointShares share_points(const Domain& domain, std::int64_t processors) {
  GROMA_REQUIRE(processors >= 1 && processors <= kMaxPictureProcessors,
                "a picture has 1 to kMaxPictureProcessors processors");
  PointShares shares;
  const Int128 count = domain.count();
  for (Int128 p = 0; p < processors; ++p) {
    // The first point of a processor is the quotient rounded up.
    const auto first = [&](Int128 number) {
      return (number * count + processors - 1) / processors;
    };
    shares.by_rank.push_back(static_cast<std::int64_t>(first(p + 1) - first(p)));
  }
  Point parts = Point::zeros(domain.dimensions());
  double least = 1e300;
  find_parts(domain.bounds().extents, 0, processors, 0, parts, least, shares.box_parts);
  shares.by_box.assign(static_cast<std::size_t>(processors), 0);
  const std::int64_t looked_at =
      look_at_points(domain, [&](std::int64_t, const Point& point) -> void {
        ++shares
              .by_box[static_cast<std::size_t>(processor_by_box(domain, shares.box_parts, point))];
      });
  shares.is_exact = looked_at == domain.count();
  if (shares.is_exact) return shares;
  for (std::int64_t& share : shares.by_box) {
    share = static_cast<std::int64_t>(Int128{share} * domain.count() / looked_at);
  }
  return shares;
}

double imbalance(const std::vector<std::int64_t>& shares) {
  double most = 0, sum = 0;
  for (const std::int64_t share : shares) {
    most = std::max(most, static_cast<double>(share));
    sum += static_cast<double>(share);
  }
  return sum == 0 ? 0 : most * static_cast<double>(shares.size()) / sum;
}

}  // namespace groma::domains
