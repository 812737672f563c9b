// The mapping of the paper's figure 2a (dsl/mappers/figure2a.mapper), written as a C++ mapper by
// hand. It answers every hook as the mapping does. Where it decides nothing, the defaults of Mapper
// apply.
#pragma once

#include "mappers/formula.h"

namespace groma::examples {

class Figure2aMapper final : public FormulaMapper {
 public:
  explicit Figure2aMapper(MapperSite site);
  std::string_view name() const override { return "figure 2a, by hand"; }

 private:
  // Decides like the mapping statement `Task task0 GPU;`.
  std::span<const ProcKind> kinds(const TaskView& task) const override;
  // memories() and layout() decide like the mapping statements `Region * ghost_region GPU ZCMEM;`
  // and `Layout * * * C_order SOA Align==64;`.
  std::span<const MemKind> memories(const RequirementView& requirement,
                                    ProcKind kind) const override;
  LayoutSpec layout() const override;
  // Decides like the mapping statement `IndexTaskMap task4 cyclic;`.
  Formula formula_of(const TaskView& task, ProcKind kind) const override;
};

}  // namespace groma::examples
