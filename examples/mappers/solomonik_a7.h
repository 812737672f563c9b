// The mapping of Solomonik's matrix multiplication after 10 iterations of the paper's search
// (figure A7, dsl/mappers/solomonik_a7.mapper), written as a C++ mapper by hand. It answers every
// hook as the mapping does.
#pragma once

#include "mappers/formula.h"

namespace groma::examples {

class SolomonikA7Mapper final : public FormulaMapper {
 public:
  explicit SolomonikA7Mapper(MapperSite site);
  std::string_view name() const override { return "solomonik A7, by hand"; }

 private:
  // Decides like the mapping statement `Task * GPU,OMP,CPU;`.
  std::span<const ProcKind> kinds(const TaskView& task) const override;
  // memories() and layout() decide like the mapping statements `Region * * GPU FBMEM;`,
  // `Region * * * SOCKMEM,SYSMEM;` and `Layout * * * C_order SOA No_Align;`.
  std::span<const MemKind> memories(const RequirementView& requirement,
                                    ProcKind kind) const override;
  LayoutSpec layout() const override { return {.dimensions = DimensionOrder::kC}; }
  // Decides like the mapping statements `IndexTaskMap task_1 linearize3D;`, `IndexTaskMap task_2
  // linearize2D;` and so on.
  Formula formula_of(const TaskView& task, ProcKind kind) const override;
};

}  // namespace groma::examples
