// LaunchSlices: where a mapping sends the points of index launches, cut as the embedded runtime
// cuts them: by shard where the top-level task is replicated.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "groma/program_mapper.h"
#include "groma/sharding.h"
#include "inspect/explain_query.h"

namespace groma {

class LaunchSlices {
 public:
  LaunchSlices(std::shared_ptr<ProgramMapper::Shared> shared, const app::Data& app,
               const std::vector<TaskUses>& uses);

  // Of launches of the top-level task.
  bool by_shard() const { return shards_.size() > 1; }
  // None where the mapping fails.
  TaskSlices of(TaskView launch);
  // The processors any of which may run a task that stands on `task.current`; none where the
  // mapping fails.
  std::vector<Processor> targets(const TaskView& task);

 private:
  Mapper& mapper(const Processor& local);
  void replicate(const TaskView& top);

  std::shared_ptr<ProgramMapper::Shared> shared_;
  std::shared_ptr<const Machine> machine_;
  std::map<std::tuple<ProcKind, std::int64_t, std::int64_t>, std::unique_ptr<Mapper>> mappers_;
  std::optional<Processor> top_;  // where the top-level task stands
  ShardTable shards_;             // of it
};

}  // namespace groma
