// Figure 2a of the paper (dsl/mappers/figure2a.mapper), written by hand: the same answers to every
// hook, in C++. What it does not decide, the defaults of Mapper decide.
#pragma once

#include "mappers/formula.h"

namespace groma::examples {

class Figure2aMapper final : public Mapper {
 public:
  explicit Figure2aMapper(MapperSite site);

  std::string_view name() const override { return "figure 2a, by hand"; }
  std::string describe(Origin origin) const override;

  // Task task0 GPU;
  void select_task_options(MapperRuntime& runtime, const TaskView& task,
                           TaskOptions& answer) override;
  // Region * ghost_region GPU ZCMEM;  Layout * * * C_order SOA Align==64;
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid, TaskWish& answer) override;
  // IndexTaskMap task4 cyclic;
  void slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                  SliceAnswer& answer) override;
  std::span<const ShardingFunctor* const> sharding_functors() const override;
  ShardingId select_sharding_functor(MapperRuntime& runtime, const TaskView& operation,
                                     const ShardTable& shards) override;

 private:
  FormulaSharding cyclic_sharding_;
  const ShardingFunctor* functors_[1];
};

}  // namespace groma::examples
