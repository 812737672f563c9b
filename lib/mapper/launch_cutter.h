// LaunchCutter: cuts an index launch into slices as a runtime does, with the mappers of its
// processors.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "groma/mapper.h"
#include "groma/sharding.h"
#include "groma/validate.h"

namespace groma::mapper {

// The order of kinds for the top-level task. Its mapper is that of the first processor of the first
// of these kinds for which it has a variant.
inline constexpr std::array kTopLevelKinds = {ProcKind::kCpu,  ProcKind::kOmp, ProcKind::kGpu,
                                              ProcKind::kProc, ProcKind::kIo,  ProcKind::kPy};

struct LaunchCutter {
  const Machine& machine;
  MapperRuntime& runtime;
  // Returns the mapper object of a processor.
  std::function<Mapper&(const Processor&)> mapper;
  // Receives the errors that validate() found in an answer. Returns false if there are any.
  std::function<bool(std::vector<Refusal>)> accepts;
  // Reports an error of an answer that validate() does not find. Returns false.
  std::function<bool(const std::string& why)> fails_with;

  // Appends the slices of the launch `task`. Returns false if an answer was not accepted. If
  // `shards` has several shards, the launching task is replicated. Then the functor that the mapper
  // of the processor `by` selects decides which shard owns which points, and the mapper of each
  // shard cuts its part. Otherwise the mapper of the processor `by` cuts the whole domain.
  bool cut(const TaskView& task, const Processor& by, const ShardTable& shards,
           TaskSlices& slices) const;

 private:
  bool cut_part(const TaskView& task, const Processor& by, const Rect& part, int depth,
                TaskSlices& slices) const;
  bool cut_parts(const TaskView& task, const Processor& by, std::span<const Rect> parts,
                 TaskSlices& slices) const;
  bool cut_blocks(const TaskView& task, const Processor& by, std::span<const Rect> parts,
                  TaskSlices& slices) const;
  bool check_and_append_slices(const TaskView& task, const SliceTaskOutput& answer,
                               const Rect& part, int depth, TaskSlices& slices) const;
};

// Adds one slice for each point of `box`. The processor and the flags of the slices are those of
// `like`.
void cut_into_points(const Rect& box, const TaskSlice& like, TaskSlices& slices);

// Returns the blocks of the default mapper for a domain with holes (Legion:
// default_decompose_points). `slices` are its blocks of the box around `boxes`. Blocks without
// points are left out. The others go to the processors in turn.
TaskSlices blocks_of_boxes(const TaskSlices& slices, std::span<const Rect> boxes);

}  // namespace groma::mapper
