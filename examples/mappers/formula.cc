// Hooks for launches that go by a formula.
#include "mappers/formula.h"

namespace groma::examples {

std::optional<Processor> gpu_modulo(const Machine& machine, std::int64_t node, std::int64_t index) {
  const std::int64_t gpus = machine.processors_per_node(ProcKind::kGpu);
  if (gpus == 0) return std::nullopt;
  return Processor{ProcKind::kGpu, node % machine.node_count(), index % gpus};
}

std::optional<Processor> gpu_of(Formula formula, const Machine& machine, const Rect& domain,
                                const Point& point) {
  Point ip = point;
  for (int d = 0; d < ip.dimensions(); ++d) ip[d] -= domain.lower[d];
  return formula(machine, ip);
}

Diagnostic cannot_place(const TaskView& task) {
  Diagnostic failure;
  failure.id = DiagId::kNoVariant;
  failure.message = "no processor for `" + std::string(task.name) + "`";
  return failure;
}

void slice_by(Formula formula, const Machine& machine, const TaskView& task, const Rect& part,
              SliceAnswer& answer) {
  if (part.volume() == 0) return;
  Point one = Point::zeros(part.dimensions());
  for (int d = 0; d < one.dimensions(); ++d) one[d] = 1;
  Point at = part.lower;
  do {
    const auto gpu = gpu_of(formula, machine, task.domain, at);
    if (!gpu || task.current.kind != gpu->kind) {
      answer.slices.clear();
      answer.failure = cannot_place(task);
      return;
    }
    answer.slices.push_back({{at, one}, *gpu, false, false});
  } while (next_point(part, &at));
}

void place_by(Formula formula, const Machine& machine, const TaskView& task, TaskWish& answer) {
  const auto gpu = gpu_of(formula, machine, task.domain, task.point);
  answer.processors.clear();
  if (gpu && task.current.kind == gpu->kind) {
    answer.processors.push_back(*gpu);
  } else {
    answer.failure = cannot_place(task);
  }
}

}  // namespace groma::examples
