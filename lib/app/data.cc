// Functions that look things up in the data of a Workload.
#include "app/data.h"

#include <algorithm>

namespace groma::app {

// Returns the number of the task with this name, or -1.
int Data::find_task(std::string_view task) const {
  const auto found = std::find_if(tasks.begin(), tasks.end(),
                                  [task](const Task& each) { return each.name == task; });
  return found == tasks.end() ? -1 : static_cast<int>(found - tasks.begin());
}

// Returns the approximate cost of piece() for one colour: the clipping in each dimension, the
// formulas of the partition, and the same for each outer partition.
std::int64_t approximate_cost_of_piece(const Data& data, const Partition& partition) {
  std::int64_t work = std::int64_t{2} * data.regions[partition.region].box.dimensions();
  for (const Codes* formulas : {&partition.lower, &partition.extents}) {
    for (const CompiledFormula& code : *formulas) work += code.evaluation_cost();
  }
  if (partition.outer < 0) return work;
  return work + approximate_cost_of_piece(
                    data, data.partitions[static_cast<std::size_t>(partition.outer)]);
}

}  // namespace groma::app
