// place_numbers(): finds the processors of all points of a launch as numbers, a box of points at a
// time.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "groma/index_map.h"
#include "groma/inspect.h"
#include "inspect/placing_function.h"
#include "program/data.h"

namespace groma {
namespace {

// The number of points after which `progress` is called.
constexpr std::int64_t kPointsAtOnce = std::int64_t{1} << 20;
// The limit on the numbers of an index map whose processors are remembered: 16 MiB.
constexpr ProcessorNumber kMaxRemembered = 1 << 22;

// The number of the first processor of each node among all processors of its kind.
class FirstProcessors {
 public:
  explicit FirstProcessors(const Machine& machine) {
    first_.reserve(static_cast<std::size_t>(machine.node_count()));
    std::array<std::int64_t, kProcKindCount> before = {};
    for (std::int64_t node = 0; node < machine.node_count(); ++node) {
      first_.push_back(before);
      for (std::size_t k = 0; k < kProcKindCount; ++k) {
        before[k] += machine.processor_count(node, static_cast<ProcKind>(k));
      }
    }
  }

  std::int32_t number_of(const Processor& processor) const {
    const auto& first = first_[static_cast<std::size_t>(processor.node)];
    return static_cast<std::int32_t>(first[static_cast<std::size_t>(processor.kind)] +
                                     processor.index);
  }

 private:
  std::vector<std::array<std::int64_t, kProcKindCount>> first_;
};

// Fills the points of a placement, box by box.
class BoxPlacer {
 public:
  BoxPlacer(const BoundProgram& bound, IndexMap::Cursor& cursor, std::optional<ProcKind> kind,
            const Progress& progress, NumberedPlacement& placement, Diagnostics& diags)
      : bound_(bound),
        cursor_(cursor),
        first_(bound.machine()),
        kind_(kind),
        progress_(progress),
        placement_(placement),
        diags_(diags) {}

  // Places the points of `box`, which are those of the placement from `rank` on. Returns false if a
  // point fails or the caller stopped the work.
  bool place(const Rect& box, std::int64_t rank) {
    const std::int64_t row = box.volume() / std::max<std::int64_t>(box.extents[0], 1);
    Rect part = box;
    for (std::int64_t done = 0; done < box.extents[0]; done += part.extents[0]) {
      part.lower[0] = box.lower[0] + done;
      part.extents[0] = std::min(std::max<std::int64_t>(kPointsAtOnce / row, 1),  //
                                 box.extents[0] - done);
      if (!place_part(part, rank + done * row)) return false;
    }
    return true;
  }

 private:
  bool place_part(const Rect& part, std::int64_t rank) {
    std::int32_t* const out = placement_.points.data() + rank;
    // The points are the numbers of the index map first, and then replaced. Both have four bytes.
    const std::span<ProcessorNumber> numbers(reinterpret_cast<ProcessorNumber*>(out),
                                             static_cast<std::size_t>(part.volume()));
    if (!cursor_.box(part, numbers, diags_)) return false;
    if (cursor_.steps() > kMaxPlaceSteps) {
      diags_
          .report(DiagId::kStepLimit, bound_.program().function_source_range(placement_.function),
                  kMaxPlaceSteps)
          .help("ask for a smaller launch");
      return false;
    }
    ProcessorNumber last = kNoProcessor;
    std::int32_t result = 0;
    for (ProcessorNumber& number : numbers) {
      if (number != last) {
        last = number;
        result = result_of(number);
        if (result < 0) return false;
      }
      number = static_cast<ProcessorNumber>(result);
    }
    placement_.kind = *kind_;
    const std::int64_t done = rank + part.volume();
    return !progress_ || progress_(done, static_cast<std::int64_t>(placement_.points.size()));
  }

  // Returns the number in the placement for a number of the index map; -1 after an error.
  std::int32_t result_of(ProcessorNumber number) {
    if (number >= kMaxRemembered) return computed_result_of(number);
    if (number >= results_.size()) results_.resize(std::size_t{number} + 1, -1);
    if (results_[number] < 0) results_[number] = computed_result_of(number);
    return results_[number];
  }

  // Returns the same, and notes whether the number stands for a set. Reports an error if the
  // processor is of another kind than those before it, since its number would then be ambiguous.
  std::int32_t computed_result_of(ProcessorNumber number) {
    placement_.has_sets = placement_.has_sets || cursor_.is_set(number);
    const Processor processor = cursor_.processor(number);
    if (!kind_) kind_ = processor.kind;
    if (processor.kind == *kind_) return first_.number_of(processor);
    diags_.report(
        DiagId::kProcessorKindMismatch, bound_.program().function_source_range(placement_.function),
        placement_.function_name, name_of(processor.kind), "another point", name_of(*kind_));
    return -1;
  }

  const BoundProgram& bound_;
  IndexMap::Cursor& cursor_;
  const FirstProcessors first_;
  // The numbers of the placement for those of the index map; -1: not computed yet.
  std::vector<std::int32_t> results_;
  std::optional<ProcKind> kind_;
  const Progress& progress_;
  NumberedPlacement& placement_;
  Diagnostics& diags_;
};

}  // namespace

// Makes an IndexMap for the launch, and asks it for boxes of points. A launch with holes is placed
// run by run. If the function reads the rank of a point, the map is over ranks.
std::optional<NumberedPlacement> place_numbers(const BoundProgram& bound, const PlaceQuery& query,
                                               Diagnostics& diags, const Progress& progress) {
  GROMA_REQUIRE(!query.parent, "place_numbers() is for index launches; query.parent must be empty");
  const auto decision = inspect::placing_function(bound, query, diags);
  if (!decision || !inspect::check_domain(query, kMaxNumberedPoints, diags)) return std::nullopt;
  NumberedPlacement placement;
  placement.task = query.task;
  placement.function = decision->function;
  placement.function_name = bound.program().function_name(decision->function);
  placement.domain = query.domain;
  placement.decided_by = decision->origins;
  const PointSet* const points = query.domain.some_points();
  const bool by_rank =
      points != nullptr && bound.program().data().functions[decision->function].reads_rank;
  TaskPoint launch;
  launch.name = query.task;
  launch.domain = query.domain.box;
  if (by_rank) launch.points = points;
  const auto map = IndexMap::make(bound, decision->function, launch, decision->kind, diags);
  if (!map) {
    diags.report(DiagId::kBadMachine, std::nullopt, map.error().message);
    return std::nullopt;
  }
  const std::int64_t all = query.domain.count();
  const auto stop = [&] { return progress && !progress(0, all); };
  IndexMap::Cursor cursor(*map, true, stop);
  placement.points.resize(static_cast<std::size_t>(all));
  BoxPlacer placer(bound, cursor, decision->kind, progress, placement, diags);
  bool fine = true;
  if (points == nullptr || by_rank) {
    fine = placer.place((*map)->domain(), 0);
  } else {
    points->for_each_run(0, all, [&](const Rect& run, std::int64_t rank) {
      fine = fine && placer.place(run, rank);
    });
  }
  if (!fine) return std::nullopt;
  return placement;
}

}  // namespace groma
