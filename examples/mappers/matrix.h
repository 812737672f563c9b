// The decisions that the expert mappers of the matrix multiplications share: tasks run on GPUs, or
// else with OpenMP, or else on CPUs; data is in C order in the memory of the processor; the leaf
// tasks' data is freed at once.
#pragma once

#include "mappers/formula.h"
#include "mappers/grid.h"

namespace groma::examples {

class MatrixMapper : public FormulaMapper {
 protected:
  MatrixMapper(MapperSite site, std::string_view place, const std::vector<Formula>& formulas)
      : FormulaMapper(std::move(site),
                      {"GPUs first, then OpenMP, then CPUs", "data in the memory of the processor",
                       "all data in C order, fields apart", place},
                      formulas) {}

  std::span<const ProcKind> kinds(const TaskView&) const override { return kKinds; }
  std::span<const MemKind> memories(const RequirementView&, ProcKind kind) const override {
    return kind == ProcKind::kGpu ? kOnGpu : kOnHost;
  }
  LayoutSpec layout() const override { return {.dimensions = DimensionOrder::kC}; }
  bool collects(const TaskView& task) const override { return task.name == "task_4"; }

  // Returns true for task_1, task_2 and task_3, which decide where the tiles are.
  static bool places_tiles(const TaskView& task) {
    return task.name == "task_1" || task.name == "task_2" || task.name == "task_3";
  }

 private:
  static constexpr ProcKind kKinds[] = {ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu};
  static constexpr MemKind kOnGpu[] = {MemKind::kFbmem, MemKind::kZcmem};
  static constexpr MemKind kOnHost[] = {MemKind::kSockmem, MemKind::kSysmem};
};

// Places the points of the multiplication in blocks, and the tasks of the tiles by the formula
// `number`.
class TileMapper final : public MatrixMapper {
 public:
  TileMapper(MapperSite site, std::string_view name, std::string_view place, Formula number)
      : MatrixMapper(std::move(site), place, {linear_gpu, number, block_gpu}),
        name_(name),
        number_(number) {}
  std::string_view name() const override { return name_; }

 private:
  Formula formula_of(const TaskView& task, ProcKind) const override {
    if (task.name == "init_cublas") return linear_gpu;
    if (task.name == "task_4") return block_gpu;
    return places_tiles(task) ? number_ : nullptr;
  }

  std::string_view name_;
  Formula number_;
};

}  // namespace groma::examples
