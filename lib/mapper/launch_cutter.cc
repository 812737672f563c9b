// Cuts an index launch into slices by the answers of mappers, as a runtime does. Each answer is
// checked before it is used.
#include "mapper/launch_cutter.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/boxes.h"

namespace groma::mapper {
namespace {

// A slice of a slice may be cut again, but at most this many times in a row.
constexpr int kMaxRecursion = 32;

// Returns true if every extent is at least 1.
bool has_points(const Rect& box) {
  for (int d = 0; d < box.dimensions(); ++d) {
    if (box.extents[d] < 1) return false;
  }
  return true;
}

// Finds the boxes that may meet another box, without looking at all of them: by their first
// coordinates.
class BoxesByRow {
 public:
  // `boxes` must outlive this object.
  explicit BoxesByRow(std::span<const Rect> boxes) : boxes_(boxes) {
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      order_.push_back(i);
      most_ = std::max(most_, boxes[i].extents[0]);
    }
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return boxes_[a].lower[0] < boxes_[b].lower[0];
    });
  }

  // Returns the numbers of all boxes that meet `part` in the first dimension, and perhaps of
  // others, in ascending order.
  std::vector<std::size_t> near(const Rect& part) const {
    const auto begins_before = [&](std::size_t box, std::int64_t first) {
      return boxes_[box].lower[0] < first;
    };
    const auto begin =
        std::lower_bound(order_.begin(), order_.end(), part.lower[0] - most_ + 1, begins_before);
    const auto end =
        std::lower_bound(begin, order_.end(), part.lower[0] + part.extents[0], begins_before);
    std::vector<std::size_t> found(begin, end);
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::span<const Rect> boxes_;
  // The numbers of the boxes, sorted by their first coordinates.
  std::vector<std::size_t> order_;
  // The largest extent of a box in the first dimension.
  std::int64_t most_ = 0;
};

}  // namespace

// Appends one slice for each point of the box. The processor and the flags are copied from `like`.
void cut_into_points(const Rect& box, const TaskSlice& like, TaskSlices& slices) {
  Point one = Point::zeros(box.dimensions());
  for (int d = 0; d < one.dimensions(); ++d) one[d] = 1;
  TaskSlice slice = like;
  slice.box = {box.lower, one};
  do {
    slices.push_back(slice);
  } while (next_point(box, &slice.box.lower));
}

// The default mapper cuts the box around a domain with holes. Each of its blocks is reduced to the
// points of the domain. A block without points is dropped, and the processors of later blocks move
// up, so that the first processors all get work.
TaskSlices blocks_of_boxes(const TaskSlices& slices, std::span<const Rect> boxes) {
  struct Block {
    TaskSlice slice;
    bool by_point = false;
  };
  std::vector<Block> blocks;  // Consecutive slices of one processor are one block.
  for (const TaskSlice& slice : slices) {
    if (!blocks.empty() && blocks.back().slice.processor == slice.processor) {
      blocks.back().slice.box = box_around(blocks.back().slice.box, slice.box);
      blocks.back().by_point = true;
    } else {
      blocks.push_back({slice});
    }
  }
  TaskSlices made;
  std::size_t next = 0;
  const BoxesByRow by_row(boxes);
  for (const Block& block : blocks) {
    const std::size_t before = made.size();
    TaskSlice slice = block.slice;
    slice.processor = blocks[next].slice.processor;
    for (const std::size_t number : by_row.near(block.slice.box)) {
      slice.box = common_box(block.slice.box, boxes[number]);
      if (!has_points(slice.box)) continue;
      if (block.by_point) {
        cut_into_points(slice.box, slice, made);
      } else {
        made.push_back(slice);
      }
    }
    if (made.size() > before) ++next;
  }
  return made;
}

// Cuts an index launch. Without several shards, the mapper of the processor `by` cuts the whole
// domain: one box, or the runs of a domain with holes. For a replicated task, asks this mapper for
// the sharding functor, checks that the parts of the shards cover the domain, and lets each shard
// cut its parts.
bool LaunchCutter::cut(const TaskView& task, const Processor& by, const ShardTable& shards,
                       TaskSlices& slices) const {
  const LaunchDomain domain = task.launch_domain();
  if (shards.size() < 2) {
    if (!domain.points) return cut_part(task, by, task.domain, 0, slices);
    std::vector<Rect> runs;
    domain.for_each_box(domain.box, [&](const Rect& run) { runs.push_back(run); });
    return cut_parts(task, by, runs, slices);
  }
  Mapper& selects = mapper(by);
  const ShardingId id = selects.select_sharding_functor(runtime, task, shards);
  const auto functors = selects.sharding_functors();
  static const CyclicSharding cyclic;
  const ShardingFunctor* functor = &cyclic;
  if (id != kCyclicSharding) {
    if (!accepts(validate_sharding(id, task, functors.size()))) return false;
    functor = functors[id - 1];
  }
  if (functor == nullptr) return fails_with(fmt::format("sharding functor {} is null", id));
  std::vector<std::vector<Rect>> parts(shards.size());
  SliceTaskOutput all;
  for (ShardId shard = 0; shard < shards.size(); ++shard) {
    functor->boxes_of(shard, domain, shards, [&](const Rect& box) {
      // validate() has not seen the box yet, so its volume may be too large for 64 bits.
      const auto extents = box.extents.coordinates();
      if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return;
      parts[shard].push_back(box);
      all.slices.push_back({box, shards[shard]});
    });
  }
  // The processor of a shard may be of a kind for which the task has no variant, so this check must
  // not ask for variants.
  TaskView any_kind = task;
  any_kind.variants = {};
  if (!accepts(validate(all, any_kind, task.domain, machine))) return false;
  for (ShardId shard = 0; shard < shards.size(); ++shard) {
    if (!cut_parts(task, shards[shard], parts[shard], slices)) return false;
  }
  return true;
}

// Cuts parts of a domain one by one: those that belong to one shard, or all parts of a domain with
// holes. If the mapper cuts by default and there are several parts, the box around all parts is cut
// into the default blocks instead.
bool LaunchCutter::cut_parts(const TaskView& task, const Processor& by, std::span<const Rect> parts,
                             TaskSlices& slices) const {
  SliceTaskOutput answer;
  for (const Rect& part : parts) {
    answer.clear();
    mapper(by).slice_task(runtime, task, part, answer);
    if (parts.size() > 1 && answer.by_default) return cut_blocks(task, by, parts, slices);
    if (!check_and_append_slices(task, answer, part, 0, slices)) return false;
  }
  return true;
}

// Cuts the box around all parts into the default mapper's blocks, and keeps the points that lie in
// the parts.
bool LaunchCutter::cut_blocks(const TaskView& task, const Processor& by,
                              std::span<const Rect> parts, TaskSlices& slices) const {
  Rect all = parts.front();
  for (const Rect& part : parts) all = box_around(all, part);
  SliceTaskOutput answer;
  mapper(by).slice_task(runtime, task, all, answer);
  // The default blocks hold every point of the box, also those that the launch does not have.
  TaskView whole = task;
  whole.points = nullptr;
  if (!accepts(validate(answer, whole, all, machine))) return false;
  for (const TaskSlice& block : blocks_of_boxes(answer.slices, parts)) slices.push_back(block);
  return true;
}

// Asks the mapper of the processor `by` to cut one box. `depth` is the number of slices, one within
// the other, that were cut again to get this box.
bool LaunchCutter::cut_part(const TaskView& task, const Processor& by, const Rect& part, int depth,
                            TaskSlices& slices) const {
  SliceTaskOutput answer;
  mapper(by).slice_task(runtime, task, part, answer);
  return check_and_append_slices(task, answer, part, depth, slices);
}

// Checks an answer of slice_task and appends its slices. A slice with `recurse` is cut again by the
// mapper of its processor.
bool LaunchCutter::check_and_append_slices(const TaskView& task, const SliceTaskOutput& answer,
                                           const Rect& part, int depth, TaskSlices& slices) const {
  if (!accepts(validate(answer, task, part, machine))) return false;
  for (const TaskSlice& slice : answer.slices) {
    if (!slice.recurse) {
      slices.push_back(slice);
      continue;
    }
    if (depth == kMaxRecursion) {
      return fails_with(
          fmt::format("slice_task wants slices cut again more than {} times", kMaxRecursion));
    }
    if (!cut_part(task, slice.processor, slice.box, depth + 1, slices)) return false;
  }
  return true;
}

}  // namespace groma::mapper
