// FormulaMapper: the base of the mappers that are written by hand. A derived mapper says on which
// processor kinds a task may run, which formula places it, which memories have its data, and the
// layout. This class answers the hooks with these decisions, as a compiled mapping does.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/mapper.h"

namespace groma::examples {

// Returns the processor for a point of a launch. `ip` is relative to the launch's lower corner, and
// `space` has the launch's extents. Returns nullopt if the machine lacks the processor or the
// launch lacks dimensions.
using Formula = std::optional<Processor> (*)(const Machine& machine, const Point& ip,
                                             const Point& space);

// Returns Machine(kind)[node, index]; nullopt if the machine does not have this processor.
std::optional<Processor> processor_at(const Machine& machine, ProcKind kind, std::int64_t node,
                                      std::int64_t index);
// Returns the processor whose node and index are taken modulo the machine's size.
std::optional<Processor> processor_modulo(const Machine& machine, ProcKind kind, std::int64_t node,
                                          std::int64_t index);

// Cuts a launch of a replicated task: a point belongs to the shard on the node of its processor.
class FormulaSharding final : public ShardingFunctor {
 public:
  FormulaSharding(Formula formula, const Machine& machine) : formula_(formula), machine_(machine) {}
  bool goes_by(Formula formula) const { return formula_ == formula; }
  ShardId shard(const Point& point, const LaunchDomain& domain,
                const ShardTable& shards) const override;

 private:
  Formula formula_;
  const Machine& machine_;
};

// The texts that describe() returns for the kinds of decisions.
struct Sentences {
  std::string_view kind, memory, layout, place;
};

class FormulaMapper : public Mapper {
 public:
  std::string describe(DecisionOrigin origin) const override;

  void select_task_options(MapperRuntime& runtime, const TaskView& task,
                           TaskOptions& answer) override;
  void slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                  SliceTaskOutput& answer) override;
  std::span<const ShardingFunctor* const> sharding_functors() const override { return functors_; }
  ShardingId select_sharding_functor(MapperRuntime& runtime, const TaskView& operation,
                                     const ShardTable& shards) override;
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid,
                MapTaskOutput& answer) override;

 protected:
  // `formulas` lists all formulas that formula_of() may return.
  FormulaMapper(MapperSite site, const Sentences& sentences, const std::vector<Formula>& formulas);

  // ---- The decisions. If one of these functions returns nothing, the default mapper decides.
  // Returns the processor kinds on which the task may run, best first.
  virtual std::span<const ProcKind> kinds(const TaskView& task) const = 0;
  // Returns the formula for an index launch of the task on processors of this kind.
  virtual Formula formula_of(const TaskView& task, ProcKind kind) const = 0;
  // Returns true if a single task runs on the GPU of its parent.
  virtual bool follows_parent(const TaskView&) const { return false; }
  // Returns the memories for a requirement, best first.
  virtual std::span<const MemKind> memories(const RequirementView& requirement,
                                            ProcKind kind) const = 0;
  // Returns the layout of all data.
  virtual LayoutSpec layout() const = 0;
  // Returns true if data that the task only reads is freed when the task is done.
  virtual bool collects(const TaskView&) const { return false; }

 private:
  std::optional<ProcKind> kind_of(const TaskView& task) const;
  Formula launch_formula(const TaskView& task) const;
  void decide(const TaskView& task, std::size_t position, InstanceChoice& choice) const;

  Sentences sentences_;
  std::vector<FormulaSharding> shardings_;
  std::vector<const ShardingFunctor*> functors_;
};

// Returns true if `name` is one of the names of the requirement's region.
bool is_called(const RequirementView& requirement, std::string_view name);

}  // namespace groma::examples
