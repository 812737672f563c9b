#include "domain_picture/cells.h"

#include <algorithm>
#include <unordered_map>

namespace groma::domains {
namespace {

// Returns the cells with this side, or more than `most` of them if there are too many.
PictureCells cells_of_side(const Domain& domain, std::int64_t side, std::size_t most) {
  PictureCells picture;
  picture.side = side;
  const Rect& box = domain.bounds();
  const auto dimensions = static_cast<std::size_t>(domain.dimensions());
  for (std::size_t d = 0; d < dimensions; ++d) {
    picture.extents[d] =
        std::max<std::int64_t>(1, box.extents[static_cast<int>(d)] / side +
                                      (box.extents[static_cast<int>(d)] % side != 0 ? 1 : 0));
  }
  std::unordered_map<std::int64_t, std::size_t> known;
  picture.looked_at = look_at_points(domain, [&](std::int64_t k, const Point& point) -> void {
    if (picture.cells.size() > most) return;
    PictureCell cell;
    cell.first = k;
    std::int64_t key = 0;
    for (std::size_t d = dimensions; d-- > 0;) {
      const auto i = static_cast<int>(d);
      cell.at[d] = (point[i] - box.lower[i]) / side;
      key = key * picture.extents[d] + cell.at[d];
    }
    const auto [found, is_new] = known.emplace(key, picture.cells.size());
    if (is_new) picture.cells.push_back(cell);
    ++picture.cells[found->second].points;
  });
  return picture;
}

}  // namespace

PictureCells picture_cells(const Domain& domain, std::int64_t most_cells,
                           std::int64_t most_extent) {
  std::int64_t longest = 1;
  for (const std::int64_t extent : domain.bounds().extents.coordinates()) {
    longest = std::max(longest, extent);
  }
  const auto most = static_cast<std::size_t>(most_cells);
  // Self-similar sets look best if the side is a power of their base, which is 2 or 3 for most. The
  // cells that cover less volume are the better ones.
  PictureCells best;
  double least_volume = 0;
  for (const std::int64_t base : {2, 3}) {
    std::int64_t side = 1;
    while ((longest - 1) / side >= most_extent) side *= base;
    PictureCells picture = cells_of_side(domain, side, most);
    while (picture.cells.size() > most) {
      side *= base;
      picture = cells_of_side(domain, side, most);
    }
    double volume = static_cast<double>(picture.cells.size());
    for (int d = 0; d < domain.dimensions(); ++d) volume *= static_cast<double>(side);
    if (base == 2 || volume < least_volume) {
      least_volume = volume;
      best = std::move(picture);
    }
    if (best.side == 1) break;
  }
  return best;
}

}  // namespace groma::domains
