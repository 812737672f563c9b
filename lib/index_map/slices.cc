// Cuts a launch into boxes of points that go to one processor, dimension by dimension. Each
// dimension is cut into ranges of coordinates within which nothing changes in the later dimensions.
// The boxes of a range are joined with those of the range before.
//
// If only some processors are wanted, boxes of other processors are left out, and all wanted
// processors count as one.
#include <algorithm>
#include <numeric>

#include "index_map/specialised_map.h"

namespace groma::mapper {
namespace {

// The most boxes that are kept at a time for one range of coordinates, to join them with the boxes
// of the next range. If there are more, these boxes go to the caller without being joined. A map by
// blocks has only as many boxes as processors.
constexpr std::size_t kMaxKeptBoxes = 65'536;
// The longest period, in points, for which the runs of one period of a row are kept and repeated
// along the row.
constexpr std::int64_t kMaxKeptPeriod = 65'536;
// The processor number of every box if only some processors are wanted, because these then count as
// one.
constexpr ProcessorNumber kWanted = 0;

std::size_t slot(int d) { return static_cast<std::size_t>(d); }

// Compares where two boxes begin in `count` dimensions. Returns -1, 0 or 1. Each dimension of a
// box is a begin and an end.
int compare(const std::int64_t* a, const std::int64_t* b, std::size_t count) {
  for (std::size_t i = 0; i < 2 * count; i += 2) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

// ------------------------------------------------------------------------------ wanted numbers

// Sorts the ranges, and merges those that overlap or touch.
ProcessorNumberSet::ProcessorNumberSet(std::vector<NumberRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const NumberRange& a, const NumberRange& b) { return a.first < b.first; });
  for (const NumberRange& range : ranges) {
    if (!ranges_.empty() && range.first <= ranges_.back().last + 1) {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    } else {
      ranges_.push_back(range);
    }
  }
}

// Returns true if the number is in the set. Only the last range that begins at or before the number
// can contain it.
bool ProcessorNumberSet::contains(std::int64_t number) const {
  const auto behind = std::upper_bound(
      ranges_.begin(), ranges_.end(), number,
      [](std::int64_t value, const NumberRange& range) { return value < range.first; });
  return behind != ranges_.begin() && number <= (behind - 1)->last;
}

// Returns the indices i from 0 to length - 1 at which number + i * slope lies in the range. `slope`
// is above 0. If there are none, the result is empty (first > last).
ProcessorNumberSet::NumberRange ProcessorNumberSet::indices_in_range(const NumberRange& range,
                                                                     std::int64_t number,
                                                                     std::int64_t slope,
                                                                     std::int64_t length) {
  const std::int64_t from = range.first <= number ? 0 : divided_up(range.first - number, slope);
  return {from, std::min(length - 1, (range.last - number) / slope)};
}

// Calls use(from, to) for each range of indices i with 0 <= i < length, from `from` to before `to`,
// for which number + i * slope is in the set. If the slope is negative, the ranges of the set are
// searched from the last to the first.
template <typename Use>
void ProcessorNumberSet::for_each_range_in_set(std::int64_t number, std::int64_t slope,
                                               std::int64_t length, const Use& use) const {
  // Find the ranges between the least and the greatest number.
  const bool falls = slope < 0;
  const std::int64_t least = falls ? number + slope * (length - 1) : number;
  const std::int64_t most = falls ? number : number + slope * (length - 1);
  auto range = std::lower_bound(
      ranges_.begin(), ranges_.end(), least,
      [](const NumberRange& each, std::int64_t value) { return each.last < value; });
  auto end = range;
  while (end != ranges_.end() && end->first <= most) ++end;
  while (range != end) {
    const NumberRange found =
        indices_in_range(falls ? *--end : *range++, least, falls ? -slope : slope, length);
    if (found.first > found.last) continue;
    if (falls) {
      use(length - 1 - found.last, length - found.first);
    } else {
      use(found.first, found.last + 1);
    }
  }
}

// ------------------------------------------------------------------------------------ the cut

// Gives a box to the caller. The packed box has only the dimensions from `d` on. In each dimension
// before `d`, the box covers the range of coordinates that is being cut.
void MapCursor::give_box_to_caller(int d, const std::int64_t* packed_box) {
  const Rect& domain = map_.domain;
  for (int k = 0; k < map_.dimensions(); ++k) {
    const std::size_t at = k < d ? 0 : 1 + 2 * slot(k - d);
    const std::int64_t begin = k < d ? levels_[slot(k)].begin : packed_box[at];
    const std::int64_t end = k < d ? levels_[slot(k)].end : packed_box[at + 1];
    box_.lower[k] = domain.lower[k] + begin;
    box_.extents[k] = end - begin;
  }
  const auto number = static_cast<ProcessorNumber>(packed_box[0]);
  const bool may_be_set = map_.has_sets || number >= map_.numbers;
  if (may_be_set && wanted_ == nullptr) warn_of_several_nodes(number, *diags_);
  (*sink_)(box_, number);
}

// Returns the space for one more box within the range of coordinates of dimension `d` that is being
// cut. If too many boxes are kept for this range, all of them are given to the caller first.
std::int64_t* MapCursor::add_fresh_box(int d) {
  BoxList& fresh = levels_[slot(d)].fresh;
  if (fresh.size() >= kMaxKeptBoxes) {
    for (std::size_t i = 0; i < fresh.size(); ++i) give_box_to_caller(d + 1, fresh.box_at(i));
    fresh.clear();
  }
  return fresh.add_box();
}

// Handles a finished box, which no later coordinate of dimension `d` can extend. It is added to the
// boxes that may be joined along the dimension before `d`, or goes to the caller if `d` is the
// first.
void MapCursor::finish_box(int d, const std::int64_t* packed_box) {
  if (d == 0) return give_box_to_caller(0, packed_box);
  std::copy_n(packed_box, levels_[slot(d)].open.stride(), add_fresh_box(d - 1));
}

// Notes that the points from `from` to before `to` of the row have this number. They extend the
// last run if it has the same number and ends at `from`. Otherwise they begin a new run.
void MapCursor::append_points_to_run(std::int64_t from, std::int64_t to, ProcessorNumber number) {
  if (running_ && run_.number == number && run_.end == from) {
    run_.end = to;
    return;
  }
  end_run();
  running_ = true;
  run_ = {from, to, number};
}

// Records the last run of the row, which no further point extends.
void MapCursor::end_run() {
  if (!running_) return;
  running_ = false;
  const int inner = map_.dimensions() - 1;
  std::array<std::int64_t, 3> alone;  // NOLINT: all items are written below
  std::int64_t* const packed_box = inner == 0 ? alone.data() : add_fresh_box(inner - 1);
  packed_box[0] = run_.number;
  packed_box[1] = run_.begin;
  packed_box[2] = run_.end;
  if (inner == 0) give_box_to_caller(0, packed_box);
  if (keeps_runs_) kept_runs_.push_back(run_);
}

// Cuts the points begin..end of a row into runs of one number. Where the kernel tells that the
// function may fail, the reference evaluation is asked about each point. Returns false if the
// function fails.
bool MapCursor::cut_runs(std::int64_t begin, std::int64_t end, Diagnostics& diags) {
  const ExpressionKernel& kernel = map_.kernel;
  const int inner = map_.dimensions() - 1;
  for (std::int64_t x = begin; x < end;) {
    current_coordinate(inner) = x;
    const std::int64_t length =
        map_.is_specialised() ? kernel.evaluate_run(inner, end - x, registers_) : end - x;
    if (!map_.is_specialised() || registers_.value[kernel.root_register(1)] != 0) {
      for (std::int64_t i = 0; i < length; ++i, ++x) {
        current_coordinate(inner) = x;
        const ProcessorNumber number = ask_reference_evaluator(diags);
        if (number == kNoProcessor) return false;
        if (wanted_ == nullptr) {
          append_points_to_run(x, x + 1, number);
        } else if (wanted_->contains(owner_->number(first_processor(number)))) {
          append_points_to_run(x, x + 1, kWanted);
        }
      }
      continue;
    }
    const std::int64_t number = registers_.value[kernel.root_register(0)];
    const std::int64_t slope = registers_.slope[kernel.root_register(0)];
    if (wanted_ != nullptr && slope == 0) {
      if (wanted_->contains(number)) append_points_to_run(x, x + length, kWanted);
    } else if (wanted_ != nullptr) {
      wanted_->for_each_range_in_set(number, slope, length,
                                     [&](std::int64_t from, std::int64_t to) {
                                       append_points_to_run(x + from, x + to, kWanted);
                                     });
    } else if (slope == 0) {
      append_points_to_run(x, x + length, static_cast<ProcessorNumber>(number));
    } else {
      for (std::int64_t i = 0; i < length; ++i) {
        append_points_to_run(x + i, x + i + 1, static_cast<ProcessorNumber>(number + i * slope));
      }
    }
    x += length;
  }
  return true;
}

// Repeats the runs of the first period of a row (`kept_runs_`) in each further period, up to `end`.
void MapCursor::repeat_runs_of_first_period(std::int64_t begin, std::int64_t end) {
  const ValuePeriod& period = map_.period;
  if (kept_runs_.empty()) return;
  std::int64_t drift = 0;
  for (std::int64_t moved = period.period; moved < end - begin; moved += period.period) {
    drift += period.drift;
    for (const RowRun& run : kept_runs_) {
      if (run.begin + moved >= end) break;
      append_points_to_run(run.begin + moved, std::min(run.end + moved, end),
                           static_cast<ProcessorNumber>(run.number + drift));
    }
  }
}

// Cuts one row into runs of one number. If the numbers repeat along the row, only one period is
// computed. Returns false if the function fails.
bool MapCursor::cut_row_by_processor(const RelativeBox& box, Diagnostics& diags) {
  const std::size_t inner = slot(map_.dimensions() - 1);
  const std::int64_t begin = box.begin[inner], end = box.end[inner];
  const ValuePeriod& period = map_.period;
  const bool repeats = period.period > 0 && period.period < end - begin &&
                       period.period <= kMaxKeptPeriod && (period.drift == 0 || wanted_ == nullptr);
  running_ = false;
  if (!repeats) {
    if (!cut_runs(begin, end, diags)) return false;
  } else {
    kept_runs_.clear();
    keeps_runs_ = true;
    const bool good = cut_runs(begin, begin + period.period, diags);
    // The last run may continue in the next period; it is kept, too.
    if (running_) kept_runs_.push_back(run_);
    keeps_runs_ = false;
    if (!good) return false;
    repeat_runs_of_first_period(begin, end);
  }
  end_run();
  return true;
}

// Cuts the box in dimension `d` into ranges of coordinates, and each of these parts in the
// dimensions after `d`. Returns false if the function fails.
bool MapCursor::cut_dimension(const RelativeBox& box, int d, Diagnostics& diags) {
  if (d == map_.dimensions() - 1) return cut_row_by_processor(box, diags);
  DimensionCutState& level = levels_[slot(d)];
  level.open.clear();
  for (std::int64_t x = box.begin[slot(d)]; x < box.end[slot(d)];) {
    current_coordinate(d) = x;
    std::int64_t length = 1;
    if (map_.is_specialised()) {
      length = map_.kernel.evaluate_run(d, box.end[slot(d)] - x, registers_);
      // If the function may fail, each coordinate is cut by itself.
      if (!map_.never_fails || !map_.kernel.exported_registers_constant(d, registers_)) length = 1;
      map_.kernel.clear_slopes(d, registers_);
    }
    level.begin = x;
    level.end = x + length;
    level.fresh.clear();
    if (!cut_dimension(box, d + 1, diags)) return false;
    join_fresh_boxes_with_open(d);
    x += length;
  }
  for (std::size_t i = 0; i < level.open.size(); ++i) finish_box(d, level.open.box_at(i));
  return true;
}

// Sorts the boxes of the current range of coordinates (`fresh`) by where they begin. Mostly they
// are in order already.
void MapCursor::sort_fresh_boxes(DimensionCutState& level) {
  BoxList& fresh = level.fresh;
  const std::size_t dimensions = fresh.stride() / 2;
  bool in_order = true;
  for (std::size_t i = 1; i < fresh.size() && in_order; ++i) {
    in_order = compare(fresh.box_at(i - 1) + 1, fresh.box_at(i) + 1, dimensions) < 0;
  }
  if (in_order) return;
  std::vector<std::uint32_t> order(fresh.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return compare(fresh.box_at(a) + 1, fresh.box_at(b) + 1, dimensions) < 0;
  });
  level.sorted.clear();
  for (std::uint32_t i : order)
    std::copy_n(fresh.box_at(i), fresh.stride(), level.sorted.add_box());
  std::swap(fresh, level.sorted);
}

// Joins the boxes of the current range of coordinates of dimension `d` (`fresh`) with the boxes
// that end where this range begins (`open`). A fresh box extends an open box of the same shape and
// number. An open box that no fresh box extends is finished. Both lists are sorted by where their
// boxes begin in the dimensions after `d`.
void MapCursor::join_fresh_boxes_with_open(int d) {
  DimensionCutState& level = levels_[slot(d)];
  sort_fresh_boxes(level);
  const BoxList &open = level.open, &fresh = level.fresh;
  const std::size_t inside = fresh.stride() / 2;  // The number of dimensions of a box in `fresh`.
  level.joined.clear();
  std::size_t next = 0;  // The index in `open` of the next box to compare.
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const std::int64_t* const packed_box = fresh.box_at(i);
    std::int64_t begin = level.begin;
    for (; next < open.size(); ++next) {
      const std::int64_t* const known = open.box_at(next);
      const int place = compare(known + 3, packed_box + 1, inside);
      if (place > 0) break;
      if (place == 0 && known[0] == packed_box[0] &&
          std::equal(packed_box + 1, packed_box + fresh.stride(), known + 3)) {
        begin = known[1];
        ++next;
        break;
      }
      finish_box(d, known);
    }
    std::int64_t* const made = level.joined.add_box();
    made[0] = packed_box[0];
    made[1] = begin;
    made[2] = level.end;
    std::copy_n(packed_box + 1, fresh.stride() - 1, made + 3);
  }
  for (; next < open.size(); ++next) finish_box(d, open.box_at(next));
  std::swap(level.open, level.joined);
}

// Sets up the lists of boxes of every dimension, and cuts the whole box.
bool MapCursor::cut_box(const RelativeBox& box, const SliceSink& sink, Diagnostics& diags) {
  sink_ = &sink;
  diags_ = &diags;
  box_ = map_.domain;
  for (int d = 0; d < map_.dimensions(); ++d) {
    const std::size_t here = slot(map_.dimensions() - d);
    DimensionCutState& level = levels_[slot(d)];
    for (BoxList* list : {&level.open, &level.joined}) list->begin_list(here);
    for (BoxList* list : {&level.fresh, &level.sorted}) list->begin_list(here - 1);
  }
  return cut_dimension(box, 0, diags);
}

// Cuts the box into slices. A launch without dimensions has one point.
bool MapCursor::cut_slices(const Rect& box, const SliceSink& sink, Diagnostics& diags) {
  const RelativeBox relative = relative_to_launch(box);
  if (box.volume() == 0) return true;
  if (map_.dimensions() > 0) return cut_box(relative, sink, diags);
  const ProcessorNumber number = place_point(box.lower, diags);
  if (number != kNoProcessor) sink(box, number);
  return number != kNoProcessor;
}

// Passes on the boxes of the launch whose numbers are in the set.
bool MapCursor::find_boxes(const ProcessorNumberSet& wanted, const BoxSink& sink,
                           Diagnostics& diags) {
  const Rect& domain = map_.domain;
  const auto give = [&](const Rect& box, ProcessorNumber number) {
    if (map_.dimensions() > 0 || wanted.contains(owner_->number(first_processor(number))))
      sink(box);
  };
  wanted_ = &wanted;
  const bool good = cut_slices(domain, give, diags);
  wanted_ = nullptr;
  return good;
}

}  // namespace groma::mapper
