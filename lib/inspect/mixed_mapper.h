// MapperWithReplacedDecisions: decides like a first mapper, except for selected decisions, which
// come from a second mapper.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "groma/diff.h"
#include "groma/program_mapper.h"

namespace groma {

// The decisions that a MapperWithReplacedDecisions takes from its second mapper. For each kind of
// decision there is a set of tasks, or of pairs of a task and the position of a region requirement.
// A task is given by the class of its launches (launch_class()), which is its name unless selectors
// tell launches apart.
struct SecondMapperDecisions {
  using TaskNames = std::set<std::string, std::less<>>;
  using RequirementPositions = std::set<std::pair<std::string, std::uint32_t>, std::less<>>;
  // The tasks whose kind of processor comes from the second mapper, with everything that depends on
  // the kind.
  TaskNames processor_kind;
  // The tasks whose processor kind comes from the first mapper, while the second mapper chooses
  // among the processors of this kind.
  TaskNames placement;
  RequirementPositions memories_and_layouts, collection;
  TaskNames replication, stealing;
  // True if the instance limits of all tasks come from the second mapper.
  bool instance_limits = false;
  // The programs whose selectors tell launches apart, in the order of the classes.
  std::vector<Program> selecting = {};
};

// Adds the decision that `difference` is about to `mix`, so that the second mapper makes this
// decision.
void add_differing_decision(const MappingDifference& difference, SecondMapperDecisions& mix);

// A mapper for simulate(). It answers the hooks that the embedded runtime calls. Both mappers are
// asked where a task starts and how it is mapped, so that both keep their round-robin positions.
// All limits come from one mapper, and so does all stealing. A placement can be exchanged only if
// both mappers choose the same kind of processor.
class MapperWithReplacedDecisions final : public Mapper {
 public:
  MapperWithReplacedDecisions(std::unique_ptr<ProgramMapper> first,
                              std::unique_ptr<ProgramMapper> second,
                              const SecondMapperDecisions& mix);

  void select_task_options(MapperRuntime& runtime, const TaskView& task,
                           TaskOptions& answer) override;
  std::span<const ShardingFunctor* const> sharding_functors() const override { return functors_; }
  ShardingId select_sharding_functor(MapperRuntime& runtime, const TaskView& operation,
                                     const ShardTable& shards) override;
  void replicate_task(MapperRuntime& runtime, const TaskView& task,
                      ReplicateTaskOutput& answer) override;
  void slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                  SliceTaskOutput& answer) override;
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid,
                MapTaskOutput& answer) override;
  bool reads_valid() const override { return first_->reads_valid() || second_->reads_valid(); }
  bool reads_launch_points() const override {
    return first_->reads_launch_points() || second_->reads_launch_points();
  }
  bool reads_launch_points_of(const TaskView& task) const override {
    return first_->reads_launch_points_of(task) || second_->reads_launch_points_of(task);
  }
  void select_tasks_to_map(MapperRuntime& runtime, std::span<const TaskView> ready,
                           SelectMappingOutput& answer) override;
  bool selects() const override;
  void select_steal_targets(MapperRuntime& runtime, std::span<const Processor> blacklist,
                            std::vector<Processor>& answer) override;
  void permit_steal_request(MapperRuntime& runtime, const Processor& thief,
                            std::span<const TaskView> stealable,
                            std::vector<std::uint32_t>& answer) override;
  void report_profiling(MapperRuntime& runtime, const TaskView& operation,
                        const ProfilingReport& report) override;
  void handle_message(MapperRuntime& runtime, const Processor& sender, std::uint32_t kind,
                      std::span<const std::byte> message) override;

 private:
  std::string_view class_of(const TaskView& task) const;
  // Returns true if the second mapper places the task.
  bool second_mapper_places_task(const TaskView& task) const;
  Mapper& mapper_that_places(const TaskView& task) {
    return second_mapper_places_task(task) ? *second_ : *first_;
  }
  ProgramMapper& mapper_of_limits() { return mix_.instance_limits ? *second_ : *first_; }
  Mapper& mapper_of_stealing() { return mix_.stealing.empty() ? *first_ : *second_; }

  std::unique_ptr<ProgramMapper> first_, second_;
  const SecondMapperDecisions& mix_;
  // The class of the task that was asked about last.
  mutable std::string class_;
  // The functors of the first mapper, followed by those of the second.
  std::vector<const ShardingFunctor*> functors_;
  TaskOptions options_;
  SliceTaskOutput slices_;
  MapTaskOutput choice_;
};

}  // namespace groma
