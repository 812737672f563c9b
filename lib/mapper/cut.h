// How a runtime cuts an index launch into slices with the mappers of its processors.
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

// The top-level task is asked about on the first processor of the first of these kinds that it has
// a variant for.
inline constexpr std::array kTopLevelKinds = {ProcKind::kCpu,  ProcKind::kOmp, ProcKind::kGpu,
                                              ProcKind::kProc, ProcKind::kIo,  ProcKind::kPy};

struct Cutter {
  const Machine& machine;
  MapperRuntime& runtime;
  std::function<Mapper&(const Processor&)> mapper;         // that of a processor
  std::function<bool(std::vector<Refusal>)> accepts;       // false: of a refusal
  std::function<bool(const std::string& why)> fails_with;  // what validate() does not find; false

  // Appends the slices of `domain`. Where `shards` has several, the launching task is replicated:
  // the functor that the mapper of `by` selects says who owns what, and each shard's mapper cuts
  // its part; else that of `by` does. False: not accepted.
  bool cut(const TaskView& task, const Processor& by, const Rect& domain, const ShardTable& shards,
           TaskSlices& slices) const;

 private:
  bool cut_part(const TaskView& task, const Processor& by, const Rect& part, int depth,
                TaskSlices& slices) const;
  bool cut_parts(const TaskView& task, const Processor& by, std::span<const Rect> parts,
                 TaskSlices& slices) const;
  bool cut_blocks(const TaskView& task, const Processor& by, std::span<const Rect> parts,
                  TaskSlices& slices) const;
  bool take(const TaskView& task, const SliceAnswer& answer, const Rect& part, int depth,
            TaskSlices& slices) const;
};

// Every point of `box` by itself.
void cut_into_points(const Rect& box, const TaskSlice& like, TaskSlices& slices);

// The default mapper's blocks of a domain with holes (Legion: default_decompose_points): `slices`
// are its blocks of the box around `boxes`. Those without points are left out, the others go to the
// processors in turn.
TaskSlices blocks_of_boxes(const TaskSlices& slices, std::span<const Rect> boxes);

}  // namespace groma::mapper
