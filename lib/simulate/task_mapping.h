// TaskMapping: maps single tasks. It asks map_task, checks the answer, chooses memories and takes
// instances. It does not depend on time: Engine maps tasks in simulated time, Rehearsal without.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "groma/mapper.h"
#include "groma/validate.h"
#include "simulate/refusals.h"
#include "simulate/run_parts.h"
#include "simulate/task_run.h"

namespace groma::sim {

class TaskMapping {
 public:
  // `parts` must outlive it.
  explicit TaskMapping(RunParts& parts) : parts_(parts) {}

  // The following functions return true on success. On failure they have ended the run.

  // Calls map_task of that mapper. Sets answer() to an answer that can be carried out. Instances
  // that were held before are released.
  bool ask(TaskRun& run, const TaskView& view, Mapper& mapper);
  // Begins to carry out answer(): forgets the copies of the task before, and sets the processor,
  // variant, priority and profiling of the task, for that one of its processors.
  void take(TaskRun& run, const Processor& processor);
  // Takes an instance for a requirement: the one that answer() names, or the first candidate that
  // exists or has room. Adds it to run.instances, and the necessary copies to fetches().
  bool map_requirement(TaskRun& run, const TaskView& view, std::uint32_t position);

  // Returns the last answer of map_task.
  const MapTaskOutput& answer() const { return answer_; }
  // Returns the copies that the task which is being mapped needs.
  std::vector<Fetch>& fetches() { return fetches_; }

 private:
  void show_valid_instances(const TaskRun& run, const TaskView& view);
  Use use_of(const TaskRun& run, const TaskView& view, std::uint32_t position) const;
  bool hand_on(TaskRun& run, const TaskView& view, std::uint32_t position);
  bool use_instance(TaskRun& run, const TaskView& view, const RequirementWish& wish,
                    std::uint32_t position, InstanceNumber number);
  bool refuse(RefusedTask refused, RunStatus status);
  void refuse_point(const TaskRun& run, const TaskView& view, std::uint32_t position);
  void rank(const TaskView& view, InstanceNumber target, std::vector<InstanceNumber>& sources);

  RunParts& parts_;
  MapTaskOutput answer_;
  std::vector<Fetch> fetches_;
  // Buffers, kept so that their memory is reused.
  std::vector<std::span<const InstanceView>> valid_;
  std::vector<std::vector<InstanceView>> valid_kept_;
  std::vector<InstanceView> source_views_;
  std::vector<std::uint32_t> source_ranks_;
  std::vector<InstanceNumber> ranked_;
};

}  // namespace groma::sim
