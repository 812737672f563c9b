#include "mapper/function_maps.h"

namespace groma::mapper {

std::optional<Diagnostic> MapCursor::place(const Launch& launch, const Point& point,
                                           std::vector<Processor>& processors) {
  diags_.clear();
  TaskPoint task;
  task.name = launch.task;
  task.domain = launch.domain;
  task.point = point;
  const auto placed = evaluator_.place(launch.function, task, launch.kind, diags_);
  if (!placed) return diags_.all().front();
  processors.insert(processors.end(), placed->processors.begin(), placed->processors.end());
  return std::nullopt;
}

std::optional<Diagnostic> MapCursor::slices(
    const Launch& launch, const Rect& part,
    const std::function<void(const Rect&, const Processor&)>& slice) {
  Point one = Point::zeros(part.dimensions());
  for (int d = 0; d < one.dimensions(); ++d) one[d] = 1;
  std::vector<Processor> processors;
  Point at = part.lower;
  do {
    processors.clear();
    if (auto failure = place(launch, at, processors)) return failure;
    slice(Rect{at, one}, processors.front());
  } while (next_point(part, &at));
  return std::nullopt;
}

}  // namespace groma::mapper
