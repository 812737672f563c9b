// Counts the points of a launch that each processor gets. Whole boxes of points are counted at once
// where the mapping function allows it, otherwise single points.
#include "explain/launch_loads.h"

#include <algorithm>

#include "evaluate/processors.h"
#include "program/data.h"

namespace groma {
namespace {

// Limit on the points of one piece of a launch domain. The points of a domain are counted piece by
// piece. After each piece, the counting stops if a limit is exceeded.
constexpr std::int64_t kMaxPiece = 1 << 22;

// Calls visit(piece) for the pieces of a domain until it returns false, and then returns false. A
// piece has at most kMaxPiece points. The domain is cut into as few pieces as possible, dimension
// by dimension.
template <typename Visit>
bool for_each_piece(const Rect& domain, const Visit& visit) {
  // Dimension `cut` is cut into intervals. The dimensions before it are cut into single indices,
  // and the dimensions after it are not cut.
  int cut = domain.dimensions() - 1;
  // The product of the extents of the dimensions after `cut`.
  std::int64_t behind = 1;
  for (; cut > 0 && domain.extents[cut] <= kMaxPiece / behind; --cut) {
    behind *= domain.extents[cut];
  }
  const std::int64_t length = std::min(domain.extents[cut], kMaxPiece / behind);
  Rect piece = domain;
  // A box with one point for each piece of the domain, so that a walk over its points visits all
  // pieces.
  Rect outer = domain;
  outer.extents[cut] = (domain.extents[cut] + length - 1) / length;
  for (int d = 0; d < domain.dimensions(); ++d) {
    if (d < cut) piece.extents[d] = 1;
    if (d > cut) outer.extents[d] = 1;
  }
  Point at = outer.lower;
  do {
    piece.lower = at;
    const std::int64_t begin = (at[cut] - outer.lower[cut]) * length;
    piece.lower[cut] = domain.lower[cut] + begin;
    piece.extents[cut] = std::min(length, domain.extents[cut] - begin);
    if (!visit(piece)) return false;
  } while (next_point(outer, &at));
  return true;
}

}  // namespace

// Counts the points that the function gives each processor. Whole boxes are counted if the function
// can be specialised to the launch (compiled for its domain). Otherwise the function is evaluated
// for each point.
std::optional<ExplainedLoads> LaunchPointCounter::count_points_by_function(const TaskView& task,
                                                                           FunctionId function,
                                                                           ProcKind kind) {
  TaskPoint point;
  point.name = task.name;
  point.domain = task.domain;
  const LaunchDomain domain = task.launch_domain();
  if (bound_.program().data().functions[function].reads_rank) point.points = task.points;
  Diagnostics ignored(bound_.program().source());
  Diagnostics& warnings = warned_functions_.insert(function).second ? diags_ : ignored;
  const auto map = IndexMap::make(bound_, function, point, kind, warnings);
  if (map && (*map)->specialised()) {
    // A map over ranks has no other points than those of the launch.
    return count_points_by_index_map(
        *map, point.points == nullptr ? domain : LaunchDomain((*map)->domain()), kind);
  }
  if (!count_towards_limit(domain.count())) return std::nullopt;
  PointsByProcessor counts;
  point.point = domain.first_point();
  constexpr std::int64_t kPointsBetweenStops = 64;
  std::int64_t done = 0;
  do {
    if (++done % kPointsBetweenStops == 0 && must_stop()) return std::nullopt;
    const auto placed = evaluator_.place(function, point, kind, diags_);
    if (!placed || evaluator_.steps() > kMaxPlaceSteps) return std::nullopt;
    const Processor& first = placed->processors.front();
    ++counts[{first.node, first.index}];
  } while (next_point(domain, &point.point));
  return loads_from_counts(counts, domain.count(), kind);
}

// Counts the points that a specialised mapping function gives each processor. Towards the limit, a
// box of points on the same processor counts as one point.
std::optional<ExplainedLoads> LaunchPointCounter::count_points_by_index_map(
    const std::shared_ptr<const IndexMap>& map, const LaunchDomain& domain, ProcKind kind) {
  IndexMap::Cursor cursor(map);
  std::map<ProcessorNumber, std::int64_t> numbers;
  std::int64_t boxes = 0;
  const SliceSink sink = [&](const Rect& box, ProcessorNumber number) {
    ++boxes;
    numbers[number] += box.volume();
  };
  const auto count_piece = [&](const Rect& piece) {
    boxes = 0;
    return !must_stop() && cursor.slices(piece, sink, diags_) && count_towards_limit(boxes + 1);
  };
  bool complete = true;
  domain.for_each_box(domain.box, [&](const Rect& box) {
    complete = complete && for_each_piece(box, count_piece);
  });
  if (!complete) return std::nullopt;
  PointsByProcessor counts;
  for (const auto& [number, points] : numbers) {
    const Processor first = cursor.placed(number).processors.front();
    counts[{first.node, first.index}] += points;
  }
  return loads_from_counts(counts, domain.count(), kind);
}

// Counts the points that the default mapper gives each processor, slice by slice.
std::optional<ExplainedLoads> LaunchPointCounter::count_points_by_default_mapper(
    const TaskView& task) {
  const ProcKind kind = task.current.kind;
  const std::int64_t volume = task.launch_domain().count();
  // Each slice counts towards the limit on evaluated points. If the shards of the top-level task
  // cut the launch, or if it has holes, each slice may be a single point.
  const bool by_shard = task.points != nullptr || (task.depth == 1 && slices_.is_cut_by_shard());
  if (!count_towards_limit(by_shard ? volume : std::min(volume, processor_count(kind)))) {
    return std::nullopt;
  }
  PointsByProcessor counts;
  for (const TaskSlice& slice : slices_.slices_of(task)) {
    counts[{slice.processor.node, slice.processor.index}] += slice.box.volume();
  }
  return loads_from_counts(counts, volume, kind);
}

// Returns the first of the processors on which the mapping function places the point. Returns
// nullopt if the function fails or the limit on evaluated points is reached.
std::optional<Processor> LaunchPointCounter::first_processor_of_point(FunctionId function,
                                                                      const TaskPoint& task,
                                                                      ProcKind kind) {
  if (!count_towards_limit(1)) return std::nullopt;
  const auto placed = evaluator_.place(function, task, kind, diags_);
  if (!placed) return std::nullopt;
  return placed->processors.front();
}

// Adds `count` to the number of evaluated points or boxes. Returns false, and adds nothing, if a
// limit would be exceeded.
bool LaunchPointCounter::count_towards_limit(std::int64_t count) {
  if (count > kMaxExplainPoints - evaluated_points_ || evaluator_.steps() > kMaxPlaceSteps)
    return false;
  evaluated_points_ += count;
  return true;
}

// Returns the number of processors of a kind on the machine. The number is cached.
std::int64_t LaunchPointCounter::processor_count(ProcKind kind) {
  auto& known = processor_counts_[static_cast<std::size_t>(kind)];
  if (!known) known = mapper::count_processors(bound_.machine(), kind);
  return *known;
}

// Returns the smallest and the largest number of points on a processor. If a processor gets no
// point, the smallest number is 0.
ExplainedLoads LaunchPointCounter::loads_from_counts(const PointsByProcessor& counts,
                                                     std::int64_t points, ProcKind kind) {
  ExplainedLoads loads;
  loads.points = points;
  loads.processors = processor_count(kind);
  loads.used = static_cast<std::int64_t>(counts.size());
  loads.min = loads.used < loads.processors ? 0 : points;
  // The keys begin with the node, so the processors of a node follow each other.
  std::int64_t last_node = -1;
  for (const auto& [processor, count] : counts) {
    if (std::exchange(last_node, processor.first) != processor.first) ++loads.nodes_used;
    loads.min = std::min(loads.min, count);
    loads.max = std::max(loads.max, count);
  }
  return loads;
}

}  // namespace groma
