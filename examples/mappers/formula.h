// An index launch mapped by a formula: what slice_task, map_task and a sharding functor make of it.
// A compiled program does this for every function that IndexTaskMap names.
#pragma once

#include <optional>

#include "groma/mapper.h"

namespace groma::examples {

// The GPU of a point, which counts from the launch's lower corner. Nothing where the formula leads
// nowhere: the machine has no GPUs, the point too few coordinates.
using Formula = std::optional<Processor> (*)(const Machine& machine, const Point& ip);

// Machine(GPU)[node, index] with both taken modulo the machine's size.
std::optional<Processor> gpu_modulo(const Machine& machine, std::int64_t node, std::int64_t index);

// The GPU of `point` of a launch of `domain`.
std::optional<Processor> gpu_of(Formula formula, const Machine& machine, const Rect& domain,
                                const Point& point);

// What a mapper says of a task that it cannot place.
Diagnostic cannot_place(const TaskView& task);

// slice_task: a slice for each point of `part`.
void slice_by(Formula formula, const Machine& machine, const TaskView& task, const Rect& part,
              SliceAnswer& answer);

// map_task: where the point `task.point` runs, in place of the processors in `answer`.
void place_by(Formula formula, const Machine& machine, const TaskView& task, TaskWish& answer);

// A replicated task's launch: a point belongs to the shard of its GPU.
class FormulaSharding final : public ShardingFunctor {
 public:
  FormulaSharding(Formula formula, const Machine& machine) : formula_(formula), machine_(machine) {}
  ShardId shard(const Point& point, const Rect& domain, const ShardTable& shards) const override {
    const auto gpu = gpu_of(formula_, machine_, domain, point);
    return gpu ? shards.shard_of(*gpu) : 0;  // slice_task will say what is wrong
  }

 private:
  Formula formula_;
  const Machine& machine_;
};

}  // namespace groma::examples
