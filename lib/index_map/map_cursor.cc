// Answers the questions of a cursor about points, rows and boxes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "index_map/specialised_map.h"

namespace groma::mapper {

namespace {

// The largest number of processors in the sets that a cursor keeps. Beyond it, the sets are dropped
// and made again.
constexpr std::size_t kMaxProcessorsInSets = 1 << 20;
// For each processor of a set that is kept until the query ends, this many evaluation steps are
// counted. The step limit of a query then keeps the processors of its sets below 75 MB.
constexpr std::int64_t kStepsToKeep = 64;
// The reference evaluation asks `stop` once in this many steps, which take a few milliseconds.
constexpr std::int64_t kStepsBetweenStops = 1 << 16;

}  // namespace

// Prepares the registers of the kernel. If the map is not specialised, they hold only the
// coordinates.
MapCursor::MapCursor(std::shared_ptr<const IndexMap> map, bool warns, std::function<bool()> stop)
    : owner_(std::move(map)),
      map_(owner_->map()),
      task_(map_.launch),
      warns_(warns),
      stop_(std::move(stop)) {
  if (map_.is_specialised()) {
    registers_ = map_.kernel.make_registers();
    if (map_.row_parts) {
      fast_ = map_.row_parts->fast.make_registers();
      slow_ = map_.row_parts->slow.make_registers();
    }
  } else {
    registers_.value.resize(kMaxDimensions);
  }
  task_.point = map_.domain.lower;
}

// The message for a box outside the launch, which is an error of the caller.
constexpr std::string_view kBoxInside = "the box must lie inside the domain of the index map";

// Returns the box in coordinates from the launch's lower corner. A box outside the launch ends the
// process.
RelativeBox MapCursor::relative_to_launch(const Rect& box) const {
  const Rect& domain = map_.domain;
  GROMA_REQUIRE(box.dimensions() == domain.dimensions(), kBoxInside);
  RelativeBox relative;
  for (int d = 0; d < domain.dimensions(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    // Unsigned arithmetic cannot overflow. Left of the domain, the difference wraps to a large
    // number.
    const std::uint64_t from =
        static_cast<std::uint64_t>(box.lower[d]) - static_cast<std::uint64_t>(domain.lower[d]);
    const auto extent = static_cast<std::uint64_t>(domain.extents[d]);
    GROMA_REQUIRE(from <= extent && static_cast<std::uint64_t>(box.extents[d]) <= extent - from,
                  kBoxInside);
    relative.begin[i] = static_cast<std::int64_t>(from);
    relative.end[i] = relative.begin[i] + box.extents[d];
  }
  return relative;
}

// ------------------------------------------------------------------- the reference evaluator

// Drops the sets that this cursor assigned numbers to, if they are too many. Until then, their
// numbers stay valid.
void MapCursor::begin_query() {
  if (own_size_ > kMaxProcessorsInSets) {
    own_.clear();
    own_size_ = 0;
  }
  steps_before_ = steps_so_far();
  asked_ = 0;
}

std::int64_t MapCursor::steps_so_far() const {
  return own_steps_ + (evaluator_ == nullptr ? 0 : evaluator_->steps());
}

// Returns true, after reporting an error, if the caller's stop function ended the evaluation.
bool MapCursor::check_stop(Diagnostics& diags) {
  if (stop_ && !stopped_ && steps_so_far() - stop_asked_at_ > kStepsBetweenStops) {
    stop_asked_at_ = steps_so_far();
    stopped_ = stop_();
  }
  if (!stopped_) return false;
  const Program& program = map_.bound.program();
  diags.report(DiagId::kStepLimit, program.function_source_range(map_.function), steps_so_far())
      .note("it was stopped there");
  return true;
}

// Evaluates the function at the current coordinates with the reference evaluator. A query may take
// kMaxQuestionSteps in total. Returns kNoProcessor if the function fails or a limit is reached.
ProcessorNumber MapCursor::ask_reference_evaluator(Diagnostics& diags) {
  if (check_stop(diags)) return kNoProcessor;
  if (!evaluator_) evaluator_ = std::make_unique<FunctionEvaluator>(map_.bound);
  if (map_.points) {
    task_.point = map_.points->point(current_coordinate(0));
  } else {
    for (int d = 0; d < map_.dimensions(); ++d) {
      task_.point[d] = map_.domain.lower[d] + current_coordinate(d);
    }
  }
  auto placed = evaluator_->place(map_.function, task_, map_.kind, diags);
  if (!placed) return kNoProcessor;
  ++asked_;
  const ProcessorNumber number = number_of_processors(std::move(*placed));
  if (steps_so_far() - steps_before_ > kMaxQuestionSteps) {
    const Program& program = map_.bound.program();
    diags
        .report(DiagId::kStepLimit, program.function_source_range(map_.function), kMaxQuestionSteps)
        .note(fmt::format("for {} of {} points", asked_, map_.domain.volume()))
        .help("compute less for each point, or compute it once in a global");
    return kNoProcessor;
  }
  return number;
}

// Returns the number of the processor or set that the reference evaluation returned. A set gets the
// number that the map has for the same set, otherwise a number that only this cursor uses.
ProcessorNumber MapCursor::number_of_processors(PointTarget placed) {
  const Processor& first = placed.processors.front();
  if (!placed.is_set) return owner_->number(first);
  const auto same = [&](const PointTarget& known) { return known.processors == placed.processors; };
  for (const ResultShape& shape : map_.code.shapes) {
    if (!shape.is_set || shape.kind != first.kind) continue;
    const std::int64_t number = shape.base + first.node * shape.stride + first.index;
    MachineView::CuttingSlice cut;
    const auto index = shape.view->index_of_processor(first.node, first.index, &cut);
    const bool starts =
        index && std::all_of(shape.star_dimensions.begin(), shape.star_dimensions.end(),
                             [&](std::size_t d) { return (*index)[d] == 0; });
    if (starts && same(processors_of_number(shape, number)))
      return static_cast<ProcessorNumber>(number);
  }
  auto known = std::find_if(own_.begin(), own_.end(), same);
  own_steps_ += known - own_.begin();
  if (known == own_.end()) {
    own_size_ += placed.processors.size();
    own_steps_ += kStepsToKeep * static_cast<std::int64_t>(placed.processors.size());
    known = own_.insert(own_.end(), std::move(placed));
  }
  return static_cast<ProcessorNumber>(map_.numbers + (known - own_.begin()));
}

// Returns all processors of a number, from the cache if possible.
const PointTarget& MapCursor::processors_of(ProcessorNumber number) {
  if (number >= map_.numbers) return own_processors_of(number);
  if (const auto made = cached_sets_.find(number); made != cached_sets_.end()) return made->second;
  if (cached_processor_count_ > kMaxProcessorsInSets) {
    cached_sets_.clear();
    cached_processor_count_ = 0;
  }
  const PointTarget& placed =
      cached_sets_.emplace(number, processors_of_number(map_.shape_of(number), number))
          .first->second;
  cached_processor_count_ += placed.processors.size();
  return placed;
}

// Warns if the processors of the set that the number stands for are on several nodes, as
// FunctionEvaluator::place does.
void MapCursor::warn_of_several_nodes(ProcessorNumber number, Diagnostics& diags) {
  const bool is_set = number >= map_.numbers || map_.shape_of(number).is_set;
  if (!warns_ || !is_set) return;
  const PointTarget& set = processors_of(number);
  const std::int64_t node = set.processors.front().node;
  const auto elsewhere = [&](const Processor& p) { return p.node != node; };
  if (std::none_of(set.processors.begin(), set.processors.end(), elsewhere)) return;
  const Program& program = map_.bound.program();
  diags.report(DiagId::kProcessorsOnSeveralNodes, program.function_source_range(map_.function),
               program.function_name(map_.function), node);
}

// ------------------------------------------------------------------------------ points and rows

// Sets the current coordinates to those of the point. Returns true if the point lies in the launch.
bool MapCursor::move_to_point(const Point& point) {
  const Rect& domain = map_.domain;
  std::int64_t* value = registers_.value.data();
  const int dimensions = domain.dimensions();
  bool inside = point.dimensions() == dimensions;
  for (int d = 0; d < dimensions; ++d) {
    const std::uint64_t at =
        static_cast<std::uint64_t>(point[d]) - static_cast<std::uint64_t>(domain.lower[d]);
    inside = inside && at < static_cast<std::uint64_t>(domain.extents[d]);
    value[d] = static_cast<std::int64_t>(at);
  }
  return inside;
}

// Evaluates the kernel. Asks the reference evaluation if the map is not specialised, or if the
// kernel tells that the function may fail at this point.
ProcessorNumber MapCursor::place_point(const Point& point, Diagnostics& diags) {
  GROMA_REQUIRE(move_to_point(point), kPointInside);
  if (!map_.is_specialised()) return ask_reference_evaluator(diags);
  map_.kernel.evaluate_registers(registers_);
  const std::int64_t* value = registers_.value.data();
  if (value[map_.kernel.root_register(1)] != 0) return ask_reference_evaluator(diags);
  const auto number = static_cast<ProcessorNumber>(value[map_.kernel.root_register(0)]);
  if (map_.has_sets) warn_of_several_nodes(number, diags);
  return number;
}

// Writes the numbers of a row that begins at `first`. Returns false if the function fails.
bool MapCursor::place_row(const Point& first, std::span<ProcessorNumber> out, Diagnostics& diags) {
  if (out.empty()) return true;
  const int inner = map_.dimensions() - 1;
  GROMA_REQUIRE(move_to_point(first), kPointInside);
  GROMA_REQUIRE(inner >= 0, "a single task has no rows; ask for its point");
  const std::int64_t begin = current_coordinate(inner);
  const auto count = static_cast<std::int64_t>(out.size());
  GROMA_REQUIRE(count <= map_.domain.extents[inner] - begin,
                "a row must end inside the domain of the index map");
  if (map_.is_specialised()) {
    map_.kernel.evaluate_registers(registers_, inner);
    if (!fill_row(begin, begin + count, out.data(), diags)) return false;
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      current_coordinate(inner) = begin + i;
      const ProcessorNumber number = ask_reference_evaluator(diags);
      if (number == kNoProcessor) return false;
      out[static_cast<std::size_t>(i)] = number;
    }
  }
  if (map_.has_sets) warn_of_sets_on_several_nodes(out, diags);
  return true;
}

// Calls warn_of_several_nodes for each number that differs from the number before.
void MapCursor::warn_of_sets_on_several_nodes(std::span<const ProcessorNumber> numbers,
                                              Diagnostics& diags) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i == 0 || numbers[i] != numbers[i - 1]) warn_of_several_nodes(numbers[i], diags);
  }
}

namespace {

// Extends `out` to `count` values. The first `ready` values are whole periods: out[i + ready] is
// out[i] + drift.
void repeat(ProcessorNumber* out, std::int64_t ready, std::int64_t count, std::int64_t drift) {
  // Short periods are doubled until they have about this many values. The values that are copied
  // then stay in the first-level cache.
  constexpr std::int64_t kBlock = 2048;
  std::int64_t done = ready;
  while (done < count) {
    const std::int64_t step = std::min(ready, count - done);
    const auto more = static_cast<ProcessorNumber>(drift);
    const ProcessorNumber* from = out + (done - ready);
    ProcessorNumber* to = out + done;
    if (more == 0) {
      std::memcpy(to, from, static_cast<std::size_t>(step) * sizeof(ProcessorNumber));
    } else {
      for (std::int64_t i = 0; i < step; ++i) to[i] = from[i] + more;
    }
    done += step;
    if (ready < kBlock && done == 2 * ready) ready *= 2, drift *= 2;
  }
}

// Calls visit(number, slope, length) for the points begin..end along `dimension`, for each run of
// points whose numbers grow by `slope` from point to point.
template <typename Visit>
void for_each_stretch(const ExpressionKernel& kernel, int dimension, std::int64_t begin,
                      std::int64_t end, KernelRegisters& registers, const Visit& visit) {
  for (std::int64_t x = begin; x < end;) {
    registers.value[static_cast<std::size_t>(dimension)] = x;
    const std::int64_t length = kernel.evaluate_run(dimension, end - x, registers);
    visit(static_cast<ProcessorNumber>(registers.value[kernel.root_register(0)]),
          static_cast<ProcessorNumber>(registers.slope[kernel.root_register(0)]), length);
    x += length;
  }
}

}  // namespace

// Writes the processor number of each point of a row whose last coordinate is in [begin, end).
// Finds runs of points whose numbers are equal or grow evenly, and fills each run at once. Returns
// false if the mapping function fails.
bool MapCursor::fill_row_by_runs(std::int64_t begin, std::int64_t end, ProcessorNumber* out,
                                 Diagnostics& diags) {
  const ExpressionKernel& kernel = map_.kernel;
  const int inner = map_.dimensions() - 1;
  bool good = true;
  const auto fill = [&](ProcessorNumber number, ProcessorNumber slope, std::int64_t length) {
    const std::int64_t x = current_coordinate(inner);
    if (!map_.never_fails && registers_.value[kernel.root_register(1)] != 0) {
      for (std::int64_t i = 0; i < length && good; ++i) {
        current_coordinate(inner) = x + i;
        out[i] = ask_reference_evaluator(diags);
        good = out[i] != kNoProcessor;
      }
    } else if (slope == 0) {
      std::fill_n(out, good ? length : 0, number);
    } else {
      for (std::int64_t i = 0; i < length; ++i) {
        out[i] = number + static_cast<ProcessorNumber>(i) * slope;
      }
    }
    out += length;
  };
  for_each_stretch(kernel, inner, begin, end, registers_, fill);
  return good;
}

// Writes the processor numbers of the points begin..end of a row as sums of a fast part, which
// repeats after a short period, and a slow part. One period of the fast part is computed and
// copied, then the slow part is added at each point.
void MapCursor::fill_row_by_fast_and_slow_part(std::int64_t begin, std::int64_t end,
                                               ProcessorNumber* out) {
  const FastAndSlowParts& parts = *map_.row_parts;
  const int inner = map_.dimensions() - 1;
  const auto outer = registers_.value.begin() + inner;
  std::copy(registers_.value.begin(), outer, fast_.value.begin());
  std::copy(registers_.value.begin(), outer, slow_.value.begin());
  parts.fast.evaluate_registers(fast_, inner);
  parts.slow.evaluate_registers(slow_, inner);
  ProcessorNumber* next = out;
  const auto fill = [&](ProcessorNumber number, ProcessorNumber slope, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i, number += slope) *next++ = number;
  };
  for_each_stretch(parts.fast, inner, begin, begin + parts.period, fast_, fill);
  repeat(out, parts.period, end - begin, 0);
  next = out;
  const auto add = [&](ProcessorNumber number, ProcessorNumber slope, std::int64_t length) {
    if (slope == 0) {
      for (std::int64_t i = 0; i < length; ++i) next[i] += number;
    } else {
      for (std::int64_t i = 0; i < length; ++i) {
        next[i] += number + static_cast<ProcessorNumber>(i) * slope;
      }
    }
    next += length;
  };
  for_each_stretch(parts.slow, inner, begin, end, slow_, add);
}

// Writes the numbers of a row of points. If the numbers are periodic, one period is computed and
// the rest is copied from it.
bool MapCursor::fill_row(std::int64_t begin, std::int64_t end, ProcessorNumber* out,
                         Diagnostics& diags) {
  const std::int64_t period = map_.period.period;
  const std::int64_t count = period == 0 ? end - begin : std::min(period, end - begin);
  if (map_.row_parts && count > 2 * map_.row_parts->period) {
    fill_row_by_fast_and_slow_part(begin, begin + count, out);
  } else if (!fill_row_by_runs(begin, begin + count, out, diags)) {
    return false;
  }
  if (count < end - begin) repeat(out, count, end - begin, map_.period.drift);
  return true;
}

// Writes the processor numbers of those points of `box` that have the current coordinates in the
// dimensions before `d`. If consecutive coordinates of dimension `d` lead to the same numbers, the
// numbers are computed for the first coordinate and copied for the others.
bool MapCursor::fill_box(const RelativeBox& box, int d, ProcessorNumber* out, Diagnostics& diags) {
  const auto i = static_cast<std::size_t>(d);
  if (d == map_.dimensions() - 1) return fill_row(box.begin[i], box.end[i], out, diags);
  std::int64_t inside = 1;
  for (std::size_t k = i + 1; k < static_cast<std::size_t>(map_.dimensions()); ++k) {
    inside *= box.end[k] - box.begin[k];
  }
  for (std::int64_t x = box.begin[i]; x < box.end[i];) {
    current_coordinate(d) = x;
    std::int64_t length = map_.kernel.evaluate_run(d, box.end[i] - x, registers_);
    if (!map_.kernel.exported_registers_constant(d, registers_)) length = 1;
    map_.kernel.clear_slopes(d, registers_);
    // If the function may fail, each coordinate is evaluated by itself.
    if (!map_.never_fails) length = 1;
    if (!fill_box(box, d + 1, out, diags)) return false;
    repeat(out, inside, length * inside, 0);
    out += length * inside;
    x += length;
  }
  return true;
}

// Writes the numbers of all points of the box in row-major order. Returns false if the function
// fails.
bool MapCursor::place_box(const Rect& box, std::span<ProcessorNumber> out, Diagnostics& diags) {
  const RelativeBox relative = relative_to_launch(box);
  const auto volume = static_cast<std::size_t>(box.volume());
  GROMA_REQUIRE(out.size() == volume, "the output must have one item for each point of the box");
  if (volume == 0) return true;
  if (map_.is_specialised() && map_.dimensions() > 0) {
    if (!fill_box(relative, 0, out.data(), diags)) return false;
  } else {
    Point at = box.lower;
    ProcessorNumber* next = out.data();
    do {
      *next = place_point(at, diags);
      if (*next++ == kNoProcessor) return false;
    } while (next_point(box, &at));
  }
  if (map_.has_sets) warn_of_sets_on_several_nodes(out, diags);
  return true;
}

}  // namespace groma::mapper
