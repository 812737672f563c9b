// The mapping of the paper's figure 2a as a C++ mapper. dsl/mappers/figure2a.mapper decides the
// same in eleven lines.
#include "mappers/figure2a.h"

namespace groma::examples {
namespace {

constexpr ProcKind kGpus[] = {ProcKind::kGpu};
constexpr MemKind kZeroCopy[] = {MemKind::kZcmem};

// The function `cyclic` of the mapping: node and GPU are the first coordinate modulo their numbers.
std::optional<Processor> cyclic(const Machine& machine, const Point& ip, const Point&) {
  return processor_modulo(machine, ProcKind::kGpu, ip[0], ip[0]);
}

}  // namespace

// The sentences describe the four kinds of decisions for messages and profiles.
Figure2aMapper::Figure2aMapper(MapperSite site)
    : FormulaMapper(
          std::move(site),
          {"task0 runs on GPUs", "ghost regions lie in zero-copy memory",
           "all data in C order, fields apart, on 64 bytes", "task4 goes round nodes and GPUs"},
          {cyclic}) {}

std::span<const ProcKind> Figure2aMapper::kinds(const TaskView& task) const {
  return task.name == "task0" ? std::span(kGpus) : std::span<const ProcKind>();
}

std::span<const MemKind> Figure2aMapper::memories(const RequirementView& requirement,
                                                  ProcKind kind) const {
  const bool here = kind == ProcKind::kGpu && is_called(requirement, "ghost_region");
  return here ? std::span(kZeroCopy) : std::span<const MemKind>();
}

LayoutSpec Figure2aMapper::layout() const {
  return {.dimensions = DimensionOrder::kC, .align_op = AlignOp::kEq, .align_bytes = 64};
}

Formula Figure2aMapper::formula_of(const TaskView& task, ProcKind) const {
  return task.name == "task4" ? cyclic : nullptr;
}

}  // namespace groma::examples
