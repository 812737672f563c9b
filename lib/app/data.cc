// Questions of what a Workload holds.
#include "app/data.h"

#include <algorithm>

namespace groma::app {
namespace {

// `lower` and `extents` of a piece within [0, size), whatever they were; empty at a corner within.
void clip(std::int64_t size, std::int64_t& lower, std::int64_t& extent) {
  std::int64_t end = 0;
  if (extent < 0) extent = 0;
  if (__builtin_add_overflow(lower, extent, &end)) end = INT64_MAX;
  const std::int64_t from = std::clamp<std::int64_t>(lower, 0, size);
  end = std::clamp<std::int64_t>(end, from, size);
  lower = from;
  extent = end - from;
}

__extension__ typedef __int128 Wide;

// For 0 <= c <= parts.
std::int64_t block_start(std::int64_t c, std::int64_t parts, std::int64_t size) {
  return static_cast<std::int64_t>(static_cast<Wide>(c) * size / parts);
}

}  // namespace

int Data::find_task(std::string_view task) const {
  const auto found = std::find_if(tasks.begin(), tasks.end(),
                                  [task](const Task& each) { return each.name == task; });
  return found == tasks.end() ? -1 : static_cast<int>(found - tasks.begin());
}

Rect piece(const Data& data, const Partition& partition, const Point& color, FormulaFault& fault) {
  Rect within = data.regions[partition.region].box;
  const int outer_dimensions = partition.colors.dimensions() - partition.own_colors.dimensions();
  if (partition.outer >= 0) {
    const Point outer(color.coordinates().first(static_cast<std::size_t>(outer_dimensions)));
    within = piece(data, data.partitions[static_cast<std::size_t>(partition.outer)], outer, fault);
  }
  const auto own = color.coordinates().subspan(static_cast<std::size_t>(outer_dimensions));
  Rect result = within;
  for (int d = 0; d < within.dimensions(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    const std::int64_t size = within.extents[d];
    std::int64_t lower = 0, extent = 0;
    if (partition.lower.empty()) {
      const std::int64_t parts = partition.own_colors.extents[d];
      lower = block_start(own[i], parts, size);
      extent = block_start(own[i] + 1, parts, size) - lower;
    } else {
      lower = partition.lower[i].value(own, fault);
      extent = partition.extents[i].value(own, fault);
    }
    clip(size, lower, extent);
    if (!partition.halo.empty() && extent > 0) {
      const std::int64_t before = std::min(partition.halo[i], lower);
      const std::int64_t behind = std::min(partition.halo[i], size - lower - extent);
      lower -= before;
      extent += before + behind;
    }
    result.lower[d] = within.lower[d] + lower;
    result.extents[d] = extent;
  }
  return result;
}

std::int64_t work_of_piece(const Data& data, const Partition& partition) {
  std::int64_t work = 2 * data.regions[partition.region].box.dimensions();
  for (const Codes* formulas : {&partition.lower, &partition.extents}) {
    for (const Code& code : *formulas) work += code.work();
  }
  if (partition.outer < 0) return work;
  return work + work_of_piece(data, data.partitions[static_cast<std::size_t>(partition.outer)]);
}

}  // namespace groma::app
