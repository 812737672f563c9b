// Shards a launch by a mapping function: a point belongs to the shard that owns the processor to
// which the function sends the point.
#include "mapper/function_sharding.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "program/data.h"

namespace groma::mapper {
namespace {

// The largest number of sharding functors for single task names; a runtime must register every
// functor. A task whose name has no functor is sharded like a task without a name.
constexpr std::size_t kMaxFunctorsOfNames = 4'096;

// Returns the processors on the shard's node that the shard owns.
std::vector<Processor> owned_on_node(ShardId shard, const Machine& machine,
                                     const ShardTable& shards) {
  std::vector<Processor> owned;
  const std::int64_t node = shards[shard].node;
  for (std::size_t k = 0; k < kProcKindCount; ++k) {
    const auto kind = static_cast<ProcKind>(k);
    for (std::int64_t i = 0; i < machine.processor_count(node, kind); ++i) {
      const Processor processor{kind, node, i};
      if (shards.shard_of(processor) == shard) owned.push_back(processor);
    }
  }
  return owned;
}

// Passes on the boxes of points that a shard owns, for a mapping function that is proved not to
// fail. If every node has a shard, a shard owns only processors of its own node, and only boxes of
// these are looked for.
void give_boxes(LaunchCursor::MapAndCursor& at, ShardId shard, const Machine& machine,
                const ShardTable& shards, const BoxSink& box, Diagnostics& diags) {
  if (!shards.covers(machine.node_count())) {
    const auto wanted = [&](const Rect& slice, ProcessorNumber number) {
      if (shards.shard_of(at.cursor.processor(number)) == shard) box(slice);
    };
    at.cursor.slices(wanted, diags);
    return;
  }
  const std::int64_t node = shards[shard].node;  // The shard owns processors of this node only.
  if (node < 0 || node >= machine.node_count()) return;
  if (shards.count_on(node) == 1) {
    at.cursor.boxes_of_node(node, box, diags);
  } else {
    at.cursor.boxes_of(owned_on_node(shard, machine, shards), box, diags);
  }
}

// Returns the boxes of points that a shard owns, for a function that may fail at some points.
// Returns nothing if this takes too many steps. The cursor is new: a used one would save steps by
// earlier answers, but all shards must count the same steps to come to the same result.
std::optional<std::vector<Rect>> boxes_of_unproved(IndexMap::Cursor cursor, const Rect& domain,
                                                   ShardId shard, const ShardTable& shards,
                                                   Diagnostics& diags) {
  std::vector<Rect> boxes;
  const auto keep = [&](const Rect& slice, ProcessorNumber number) {
    const ShardId owner = number == kNoProcessor ? 0 : shards.shard_of(cursor.processor(number));
    if (owner == shard) boxes.push_back(slice);
  };
  if (cursor.slices(keep, diags)) return boxes;
  boxes.clear();  // The function fails at some point, so every point is asked about.
  Point one = Point::zeros(domain.dimensions());
  for (int d = 0; d < one.dimensions(); ++d) one[d] = 1;
  Point point = domain.lower;
  do {
    if (cursor.steps() > kMaxQuestionSteps || cursor.stopped()) return std::nullopt;
    keep(Rect{point, one}, cursor.point(point, diags));
  } while (next_point(domain, &point));
  return boxes;
}

}  // namespace

FunctionSharding::FunctionSharding(const CursorPool* cursors, const BoundProgram& bound,
                                   FunctionId function, std::string task)
    : cursors_(cursors),
      machine_(&bound.machine()),
      function_(function),
      reads_rank_(bound.program().data().functions[function].reads_rank),
      task_(std::move(task)) {}

// Returns the launch whose index map answers questions about this domain.
LaunchToPlace FunctionSharding::launch_over(const LaunchDomain& domain) const {
  LaunchToPlace launch{function_, task_, domain.box, std::nullopt};
  if (reads_rank_) launch.points = domain.some_points();
  return launch;
}

// Returns the shard of a point. A point where the function fails belongs to shard 0.
ShardId FunctionSharding::shard(const Point& point, const LaunchDomain& domain,
                                const ShardTable& shards) const {
  const auto processor = cursors_->with_cursor(
      [&](LaunchCursor& cursor) { return cursor.first_processor(launch_over(domain), point); });
  return processor ? shards.shard_of(*processor) : 0;
}

// Passes on the boxes of points that a shard owns. If they cannot be found within the step limit,
// the whole domain belongs to shard 0. A map over ranks gives ranges of ranks; any other map gives
// boxes that may hold more points than the launch.
void FunctionSharding::boxes_of(ShardId shard, const LaunchDomain& domain, const ShardTable& shards,
                                const std::function<void(const Rect&)>& box) const {
  if (domain.count() == 0) return;
  const bool by_rank = reads_rank_ && domain.points;
  const BoxSink give = [&](const Rect& found) {
    if (!by_rank) return domain.for_each_box(found, box);
    const std::int64_t begin = found.lower[0], end = begin + found.extents[0];
    domain.points->for_each_run(begin, end, [&](const Rect& run, std::int64_t) { box(run); });
  };
  cursors_->with_cursor([&](LaunchCursor& cursor) {
    LaunchCursor::MapAndCursor* at = cursor.open_map(launch_over(domain));
    if (at != nullptr && at->map->proved()) {
      return give_boxes(*at, shard, *machine_, shards, give, cursor.diags());
    }
    std::optional<std::vector<Rect>> boxes;
    if (at != nullptr) {
      boxes = boxes_of_unproved(IndexMap::Cursor(at->map, false, cursor.stop()), at->map->domain(),
                                shard, shards, cursor.diags());
    }
    if (boxes) {
      std::for_each(boxes->begin(), boxes->end(), give);
    } else if (shard == 0) {
      domain.for_each_box(domain.box, box);
    }
  });
}

// ---- The functors of a program

// Makes the functors of all functions. All string literals of the program are names that a function
// may compare with.
FunctionShardingFunctors::FunctionShardingFunctors(const BoundProgram& bound,
                                                   const CursorPool* cursors)
    : cursors_(cursors), bound_(bound) {
  const program::ProgramData& data = bound.program().data();
  for (FunctionId f = 0; f < data.functions.size(); ++f) add_functor(f, "");
  std::set<std::string> names;
  for (const program::CodeNode& code : data.code) {
    if (code.op == program::Op::kString) names.insert(data.strings[code.a]);
  }
  for (FunctionId f = 0; f < data.functions.size(); ++f) {
    if (!data.functions[f].reads_name || !bound.program().is_mapping_function(f)) continue;
    for (const std::string& name : names) {
      if (ids_by_name_.size() >= kMaxFunctorsOfNames) return;
      ids_by_name_.emplace(std::pair(f, name), add_functor(f, name));
    }
  }
}

// Adds a functor for a function and a task name, and returns its id.
ShardingId FunctionShardingFunctors::add_functor(FunctionId function, std::string task) {
  list_.push_back(&functors_.emplace_back(cursors_, bound_, function, std::move(task)));
  return static_cast<ShardingId>(list_.size());
}

ShardingId FunctionShardingFunctors::functor_id(FunctionId function, std::string_view task) const {
  const auto found = ids_by_name_.find(std::pair(function, std::string(task)));
  return found == ids_by_name_.end() ? function + 1 : found->second;
}

}  // namespace groma::mapper
