// LaunchSlices: cuts index launches into slices as the embedded runtime does under a mapping. If
// the top-level task is replicated, each shard's points are cut separately.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "explain/explain_query.h"
#include "groma/program_mapper.h"
#include "groma/sharding.h"

namespace groma {

class LaunchSlices {
 public:
  LaunchSlices(std::shared_ptr<ProgramMapper::Shared> shared, const app::Data& app,
               const std::vector<TaskLaunches>& uses);

  // Returns true if the top-level task is replicated, so that its launches are cut by shard.
  bool is_cut_by_shard() const { return shards_.size() > 1; }
  // Returns the slices of a launch; empty if the mapping fails.
  TaskSlices slices_of(TaskView launch);
  // Returns the processors that may run a task whose current processor is `task.current`; empty if
  // the mapping fails.
  std::vector<Processor> target_processors_of(const TaskView& task);

 private:
  Mapper& mapper_of(const Processor& local);
  void find_top_level_shards(const TaskView& top);

  std::shared_ptr<ProgramMapper::Shared> shared_;
  std::shared_ptr<const Machine> machine_;
  std::map<std::tuple<ProcKind, std::int64_t, std::int64_t>, std::unique_ptr<Mapper>> mappers_;
  // The processor of the top-level task.
  std::optional<Processor> top_level_processor_;
  // The shards of the top-level task. Empty if the task is not replicated.
  ShardTable shards_;
};

}  // namespace groma
