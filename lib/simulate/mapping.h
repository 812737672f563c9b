// Mapping: the part of a runtime that maps tasks. It asks map_task, checks the answer, chooses
// memories and takes instances. It does not depend on time. Engine runs it in simulated time,
// Rehearsal without time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "groma/mapper_runtime.h"
#include "groma/simulate.h"
#include "simulate/arena.h"
#include "simulate/launcher.h"
#include "simulate/mapper_instances.h"
#include "simulate/mappers.h"
#include "simulate/ops.h"
#include "simulate/outcome.h"
#include "simulate/refusals.h"
#include "simulate/run_input.h"
#include "simulate/spaces.h"
#include "simulate/store.h"
#include "simulate/task_run.h"
#include "simulate/valid_data.h"
#include "simulate/views.h"

namespace groma::sim {

// Budget units of one event, statement or point.
inline constexpr std::int64_t kStepWork = 64;
// Limit on the statements of a run that launch nothing, so that long empty loops end.
inline constexpr std::uint64_t kMaxStatements = std::uint64_t{1} << 26;
// Limit on unfinished tasks; it bounds their memory.
inline constexpr std::int64_t kMaxLive = std::int64_t{1} << 23;

// The common base of Engine and Rehearsal.
class Mapping : public MapperRuntime {
 public:
  // ---- Calls for mappers (MapperRuntime)
  std::optional<FoundInstance> find_instance(const InstanceRequest& request) override;
  std::optional<FoundInstance> create_instance(const InstanceRequest& request) override;
  bool acquire_instance(InstanceId instance) override;
  void release_instance(InstanceId instance) override;
  bool collect_instance(InstanceId instance) override;
  void set_collect_priority(InstanceId instance, CollectPriority priority) override;
  std::int64_t free_bytes(const Memory& memory) override;
  std::span<const VariantView> variants(TaskId task) override;
  std::string_view task_name(TaskId task) override;

 protected:
  Mapping(const app::Data& data, const Spaces& spaces, std::shared_ptr<const Machine> machine,
          const MapperFactory& make, std::int64_t max_bytes);
  ~Mapping() override;

  // The following functions return true on success. On failure they have ended the run.

  // Calls map_task of that mapper. Sets wish_ to an answer that can be carried out. Instances that
  // were held before are released.
  bool ask(TaskRun& run, const TaskView& view, Mapper& mapper);
  // Takes an instance for a requirement: the named one, or the first candidate that exists or has
  // room. Sets run.instances, and adds the necessary copies to fetches_.
  bool map_requirement(TaskRun& run, const TaskView& view, const RequirementWish& wish,
                       std::uint32_t position);
  // Sets the processor, variant, priority and profiling of the task according to wish_, for that
  // one of its processors.
  void take(TaskRun& run, const Processor& processor);
  // Returns true if the run may go on with `more` additional bytes, which the task needs.
  bool within_limits(std::uint32_t task, std::int64_t more = 0);

  // Returns the approximate memory of the run.
  virtual std::int64_t bytes() const;
  // Returns true if the run must end for a reason other than memory.
  virtual bool stops() = 0;

  const RunInput input_;
  Outcome outcome_;
  Ops ops_;
  Arena lists_;  // memory of the lists of tasks and of the cells of regions
  Store store_;
  ValidData valid_data_;
  Views views_;
  Mappers mappers_;
  MapperInstances instances_;
  Launcher launcher_;
  MapTaskOutput wish_;          // the last answer of map_task
  std::vector<Fetch> fetches_;  // the copies that the task which is being mapped needs

 private:
  void show_valid_instances(const TaskRun& run, const TaskView& view);
  Use use_of(const TaskRun& run, const TaskView& view, std::uint32_t position) const;
  bool hand_on(TaskRun& run, const TaskView& view, std::uint32_t position);
  bool use_instance(TaskRun& run, const TaskView& view, const RequirementWish& wish,
                    std::uint32_t position, InstanceNumber number);
  bool refuse(RefusedTask refused, RunStatus status);
  void refuse_point(const TaskRun& run, const TaskView& view, std::uint32_t position);
  void rank(const TaskView& view, InstanceNumber target, std::vector<InstanceNumber>& sources);

  const std::int64_t given_bytes_;  // memory of the application and the machine
  // Buffers, kept so that their memory is reused.
  std::vector<std::span<const InstanceView>> valid_;
  std::vector<std::vector<InstanceView>> valid_kept_;
  std::vector<InstanceView> source_views_;
  std::vector<std::uint32_t> source_ranks_;
  std::vector<InstanceNumber> ranked_;
};

}  // namespace groma::sim
