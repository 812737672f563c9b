// FormulaMapper: what mappers by hand have in common. One says which kinds of processors a task may
// run on, which formula places it, which memories hold its data and how they lie there; this makes
// the hooks of that, as a compiled program does.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/mapper.h"

namespace groma::examples {

// Where a point of a launch goes: `ip` counts from the launch's lower corner, `space` has its
// extents. Nothing where the formula leads nowhere: the machine lacks the processors, the launch
// dimensions.
using Formula = std::optional<Processor> (*)(const Machine& machine, const Point& ip,
                                             const Point& space);

// Machine(kind)[node, index], if it is there.
std::optional<Processor> processor_at(const Machine& machine, ProcKind kind, std::int64_t node,
                                      std::int64_t index);
// The same, with both taken modulo the machine's size.
std::optional<Processor> processor_modulo(const Machine& machine, ProcKind kind, std::int64_t node,
                                          std::int64_t index);

// A replicated task's launch: a point belongs to the shard of its processor.
class FormulaSharding final : public ShardingFunctor {
 public:
  FormulaSharding(Formula formula, const Machine& machine) : formula_(formula), machine_(machine) {}
  bool goes_by(Formula formula) const { return formula_ == formula; }
  ShardId shard(const Point& point, const Rect& domain, const ShardTable& shards) const override;

 private:
  Formula formula_;
  const Machine& machine_;
};

// What `describe` says of each sort of decision.
struct Sentences {
  std::string_view kind, memory, layout, place;
};

class FormulaMapper : public Mapper {
 public:
  std::string describe(Origin origin) const override;

  void select_task_options(MapperRuntime& runtime, const TaskView& task,
                           TaskOptions& answer) override;
  void slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                  SliceAnswer& answer) override;
  std::span<const ShardingFunctor* const> sharding_functors() const override { return functors_; }
  ShardingId select_sharding_functor(MapperRuntime& runtime, const TaskView& operation,
                                     const ShardTable& shards) override;
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid, TaskWish& answer) override;

 protected:
  // `formulas`: all that formula_of may name.
  FormulaMapper(MapperSite site, const Sentences& sentences, const std::vector<Formula>& formulas);

  // ---- The decisions. Where one says nothing, the default decides.
  // Kinds of processors, best first.
  virtual std::span<const ProcKind> kinds(const TaskView& task) const = 0;
  // Of an index launch on that kind.
  virtual Formula formula_of(const TaskView& task, ProcKind kind) const = 0;
  // Whether a single task runs on the GPU of its parent.
  virtual bool follows_parent(const TaskView&) const { return false; }
  // Memories of a requirement, best first.
  virtual std::span<const MemKind> memories(const RequirementView& requirement,
                                            ProcKind kind) const = 0;
  virtual LayoutSpec layout() const = 0;  // of all data
  // Whether what the task only read may go at once.
  virtual bool collects(const TaskView&) const { return false; }

 private:
  std::optional<ProcKind> kind_of(const TaskView& task) const;
  Formula launch_formula(const TaskView& task) const;
  void decide(const TaskView& task, std::size_t position, RequirementWish& wish) const;

  Sentences sentences_;
  std::vector<FormulaSharding> shardings_;
  std::vector<const ShardingFunctor*> functors_;
};

bool is_called(const RequirementView& requirement, std::string_view name);

}  // namespace groma::examples
