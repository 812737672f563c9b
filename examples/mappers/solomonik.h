// Solomonik's matrix multiplication, after 10 iterations of the paper's search (Figure A7,
// dsl/mappers/solomonik_a7.mapper), written by hand: the same answers to every hook, in C++.
#pragma once

#include "mappers/formula.h"

namespace groma::examples {

class SolomonikMapper final : public Mapper {
 public:
  explicit SolomonikMapper(MapperSite site);

  std::string_view name() const override { return "solomonik, by hand"; }
  std::string describe(Origin origin) const override;

  // Task * GPU,OMP,CPU;
  void select_task_options(MapperRuntime& runtime, const TaskView& task,
                           TaskOptions& answer) override;
  // Region * * GPU FBMEM;  Region * * * SOCKMEM,SYSMEM;  Layout * * * C_order SOA No_Align;
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid, TaskWish& answer) override;
  // IndexTaskMap task_1 linearize3D;  IndexTaskMap task_2 linearize2D;  and so on
  void slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                  SliceAnswer& answer) override;
  std::span<const ShardingFunctor* const> sharding_functors() const override;
  ShardingId select_sharding_functor(MapperRuntime& runtime, const TaskView& operation,
                                     const ShardTable& shards) override;

 private:
  FormulaSharding sharding_3d_, sharding_2d_;
  const ShardingFunctor* functors_[2];
};

}  // namespace groma::examples
