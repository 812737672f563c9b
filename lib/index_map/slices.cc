// Cuts a launch into boxes of points that go to one processor, dimension by dimension. Each
// dimension is cut into steps within which nothing changes in the later dimensions. The boxes of a
// step are joined with those of the step before.
//
// If only some processors are wanted, boxes of other processors are left out, and all wanted
// processors count as one.
#include <algorithm>
#include <numeric>

#include "index_map/specialised_map.h"

namespace groma::mapper {
namespace {

// At most this many cells of one step are kept for joining. Beyond it, all cells are passed on
// without being joined. A map by blocks has only as many cells as processors.
constexpr std::size_t kMaxHeld = 65'536;
// The longest period, in points, whose runs are kept and repeated along the row.
constexpr std::int64_t kMaxKeptPeriod = 65'536;
// The number that every cell gets if only some processors are wanted.
constexpr ProcessorNumber kWanted = 0;

std::size_t slot(int d) { return static_cast<std::size_t>(d); }

// Compares where two cells begin in `count` dimensions. Returns -1, 0 or 1. Each dimension of a
// cell is a begin and an end.
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
NumberSet::NumberSet(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  for (const Range& range : ranges) {
    if (!ranges_.empty() && range.first <= ranges_.back().last + 1) {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    } else {
      ranges_.push_back(range);
    }
  }
}

// Only the last range that begins at or before the number can contain it.
bool NumberSet::contains(std::int64_t number) const {
  const auto behind =
      std::upper_bound(ranges_.begin(), ranges_.end(), number,
                       [](std::int64_t value, const Range& range) { return value < range.first; });
  return behind != ranges_.begin() && number <= (behind - 1)->last;
}

// Returns the indices i from 0 to length - 1 at which number + i * slope lies in the range. `slope`
// is above 0. If there are none, the result is empty (first > last).
NumberSet::Range NumberSet::hits(const Range& range, std::int64_t number, std::int64_t slope,
                                 std::int64_t length) {
  const std::int64_t from = range.first <= number ? 0 : divided_up(range.first - number, slope);
  return {from, std::min(length - 1, (range.last - number) / slope)};
}

// Calls use(from, to) for the indices at which the number is in the set. A falling number is
// treated as a rising number seen from its last point.
template <typename Use>
void NumberSet::for_hits(std::int64_t number, std::int64_t slope, std::int64_t length,
                         const Use& use) const {
  // Find the ranges between the least and the greatest number.
  const bool falls = slope < 0;
  const std::int64_t least = falls ? number + slope * (length - 1) : number;
  const std::int64_t most = falls ? number : number + slope * (length - 1);
  auto range =
      std::lower_bound(ranges_.begin(), ranges_.end(), least,
                       [](const Range& each, std::int64_t value) { return each.last < value; });
  auto end = range;
  while (end != ranges_.end() && end->first <= most) ++end;
  while (range != end) {
    const Range found = hits(falls ? *--end : *range++, least, falls ? -slope : slope, length);
    if (found.first > found.last) continue;
    if (falls) {
      use(length - 1 - found.last, length - found.first);
    } else {
      use(found.first, found.last + 1);
    }
  }
}

// ------------------------------------------------------------------------------------ the cut

// Passes a cell of the dimensions from `d` on to the caller, as a box. In the dimensions before
// `d`, the box covers the current step.
void MapCursor::emit(int d, const std::int64_t* cell) {
  const Rect& domain = map_.launch.domain;
  for (int k = 0; k < map_.dimensions(); ++k) {
    const std::size_t at = k < d ? 0 : 1 + 2 * slot(k - d);
    const std::int64_t begin = k < d ? levels_[slot(k)].begin : cell[at];
    const std::int64_t end = k < d ? levels_[slot(k)].end : cell[at + 1];
    box_.lower[k] = domain.lower[k] + begin;
    box_.extents[k] = end - begin;
  }
  const auto number = static_cast<ProcessorNumber>(cell[0]);
  const bool may_be_set = map_.has_sets || number >= map_.numbers;
  if (may_be_set && wanted_ == nullptr) warn_of_nodes(number, *diags_);
  (*sink_)(box_, number);
}

// Returns the space for one more cell of the current step of dimension `d`. If too many cells are
// kept, all of them are emitted first.
std::int64_t* MapCursor::add_fresh(int d) {
  CellList& fresh = levels_[slot(d)].fresh;
  if (fresh.size() >= kMaxHeld) {
    for (std::size_t i = 0; i < fresh.size(); ++i) emit(d + 1, fresh.cell(i));
    fresh.clear();
  }
  return fresh.add();
}

// Passes on a cell that no later step of dimension `d` can extend. It becomes a fresh cell of the
// dimension before, or a box if `d` is the first.
void MapCursor::pass_on(int d, const std::int64_t* cell) {
  if (d == 0) return emit(0, cell);
  std::copy_n(cell, levels_[slot(d)].open.stride(), add_fresh(d - 1));
}

// Notes that the points from `from` to before `to` of the row have this number. They extend the
// last run if it has the same number and ends at `from`. Otherwise they begin a new run.
void MapCursor::extend_run(std::int64_t from, std::int64_t to, ProcessorNumber number) {
  if (running_ && run_.number == number && run_.end == from) {
    run_.end = to;
    return;
  }
  end_run();
  running_ = true;
  run_ = {from, to, number};
}

// Passes on the last run of the row as a cell.
void MapCursor::end_run() {
  if (!running_) return;
  running_ = false;
  const int inner = map_.dimensions() - 1;
  std::array<std::int64_t, 3> alone;  // NOLINT: all items are written below
  std::int64_t* const cell = inner == 0 ? alone.data() : add_fresh(inner - 1);
  cell[0] = run_.number;
  cell[1] = run_.begin;
  cell[2] = run_.end;
  if (inner == 0) emit(0, cell);
  if (keeps_runs_) kept_runs_.push_back(run_);
}

// Cuts the points begin..end of a row into runs of one number. Where the kernel tells that the
// function may fail, the reference evaluation is asked about each point. Returns false if the
// function fails.
bool MapCursor::cut_stretches(std::int64_t begin, std::int64_t end, Diagnostics& diags) {
  const Kernel& kernel = map_.kernel;
  const int inner = map_.dimensions() - 1;
  for (std::int64_t x = begin; x < end;) {
    coordinate(inner) = x;
    const std::int64_t length =
        map_.specialised() ? kernel.stretch(inner, end - x, registers_) : end - x;
    if (!map_.specialised() || registers_.value[kernel.root(1)] != 0) {
      for (std::int64_t i = 0; i < length; ++i, ++x) {
        coordinate(inner) = x;
        const ProcessorNumber number = ask_reference(diags);
        if (number == kNoProcessor) return false;
        if (wanted_ == nullptr) {
          extend_run(x, x + 1, number);
        } else if (wanted_->contains(owner_->number(first(number)))) {
          extend_run(x, x + 1, kWanted);
        }
      }
      continue;
    }
    const std::int64_t number = registers_.value[kernel.root(0)];
    const std::int64_t slope = registers_.slope[kernel.root(0)];
    if (wanted_ != nullptr && slope == 0) {
      if (wanted_->contains(number)) extend_run(x, x + length, kWanted);
    } else if (wanted_ != nullptr) {
      wanted_->for_hits(number, slope, length, [&](std::int64_t from, std::int64_t to) {
        extend_run(x + from, x + to, kWanted);
      });
    } else if (slope == 0) {
      extend_run(x, x + length, static_cast<ProcessorNumber>(number));
    } else {
      for (std::int64_t i = 0; i < length; ++i) {
        extend_run(x + i, x + i + 1, static_cast<ProcessorNumber>(number + i * slope));
      }
    }
    x += length;
  }
  return true;
}

// Notes the kept runs of the first period again for every further period, up to `end`.
void MapCursor::repeat_runs(std::int64_t begin, std::int64_t end) {
  const Period& period = map_.period;
  if (kept_runs_.empty()) return;
  std::int64_t drift = 0;
  for (std::int64_t moved = period.period; moved < end - begin; moved += period.period) {
    drift += period.drift;
    for (const RowRun& run : kept_runs_) {
      if (run.begin + moved >= end) break;
      extend_run(run.begin + moved, std::min(run.end + moved, end),
                 static_cast<ProcessorNumber>(run.number + drift));
    }
  }
}

// Cuts one row into runs of one number. If the numbers repeat along the row, only one period is
// computed. Returns false if the function fails.
bool MapCursor::cut_row(const Cell& box, Diagnostics& diags) {
  const std::size_t inner = slot(map_.dimensions() - 1);
  const std::int64_t begin = box.begin[inner], end = box.end[inner];
  const Period& period = map_.period;
  const bool repeats = period.period > 0 && period.period < end - begin &&
                       period.period <= kMaxKeptPeriod && (period.drift == 0 || wanted_ == nullptr);
  running_ = false;
  if (!repeats) {
    if (!cut_stretches(begin, end, diags)) return false;
  } else {
    kept_runs_.clear();
    keeps_runs_ = true;
    const bool good = cut_stretches(begin, begin + period.period, diags);
    if (running_) kept_runs_.push_back(run_);  // This run may continue in the next period.
    keeps_runs_ = false;
    if (!good) return false;
    repeat_runs(begin, end);
  }
  end_run();
  return true;
}

// Cuts the box in dimension `d` and, in each step, in the dimensions after it. Returns false if the
// function fails.
bool MapCursor::cut(const Cell& box, int d, Diagnostics& diags) {
  if (d == map_.dimensions() - 1) return cut_row(box, diags);
  DimensionCut& level = levels_[slot(d)];
  level.open.clear();
  for (std::int64_t x = box.begin[slot(d)]; x < box.end[slot(d)];) {
    coordinate(d) = x;
    std::int64_t length = 1;
    if (map_.specialised()) {
      length = map_.kernel.stretch(d, box.end[slot(d)] - x, registers_);
      // If the map is not proved, the reference evaluation is asked at each point.
      if (!map_.proved || !map_.kernel.exports_stay(d, registers_)) length = 1;
      map_.kernel.clear_slopes(d, registers_);
    }
    level.begin = x;
    level.end = x + length;
    level.fresh.clear();
    if (!cut(box, d + 1, diags)) return false;
    join_cells(d);
    x += length;
  }
  for (std::size_t i = 0; i < level.open.size(); ++i) pass_on(d, level.open.cell(i));
  return true;
}

// Sorts the cells of the current step by where they begin. Mostly they are in order already.
void MapCursor::sort_fresh(DimensionCut& level) {
  CellList& fresh = level.fresh;
  const std::size_t dimensions = fresh.stride() / 2;
  bool in_order = true;
  for (std::size_t i = 1; i < fresh.size() && in_order; ++i) {
    in_order = compare(fresh.cell(i - 1) + 1, fresh.cell(i) + 1, dimensions) < 0;
  }
  if (in_order) return;
  std::vector<std::uint32_t> order(fresh.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return compare(fresh.cell(a) + 1, fresh.cell(b) + 1, dimensions) < 0;
  });
  level.sorted.clear();
  for (std::uint32_t i : order) std::copy_n(fresh.cell(i), fresh.stride(), level.sorted.add());
  std::swap(fresh, level.sorted);
}

// Joins the cells of the current step with the open cells of the steps before. A cell continues an
// open cell of the same shape and number; an open cell without a continuation is done. Both lists
// are sorted by where their cells begin in the dimensions after `d`.
void MapCursor::join_cells(int d) {
  DimensionCut& level = levels_[slot(d)];
  sort_fresh(level);
  const CellList &open = level.open, &fresh = level.fresh;
  const std::size_t inside = fresh.stride() / 2;  // The number of dimensions of a fresh cell.
  level.joined.clear();
  std::size_t next = 0;  // The index of the next open cell.
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const std::int64_t* const cell = fresh.cell(i);
    std::int64_t begin = level.begin;
    for (; next < open.size(); ++next) {
      const std::int64_t* const known = open.cell(next);
      const int place = compare(known + 3, cell + 1, inside);
      if (place > 0) break;
      if (place == 0 && known[0] == cell[0] &&
          std::equal(cell + 1, cell + fresh.stride(), known + 3)) {
        begin = known[1];
        ++next;
        break;
      }
      pass_on(d, known);
    }
    std::int64_t* const made = level.joined.add();
    made[0] = cell[0];
    made[1] = begin;
    made[2] = level.end;
    std::copy_n(cell + 1, fresh.stride() - 1, made + 3);
  }
  for (; next < open.size(); ++next) pass_on(d, open.cell(next));
  std::swap(level.open, level.joined);
}

// Prepares the lists of every dimension and cuts the whole box.
bool MapCursor::cut_all(const Cell& box, const SliceSink& sink, Diagnostics& diags) {
  sink_ = &sink;
  diags_ = &diags;
  box_ = map_.launch.domain;
  for (int d = 0; d < map_.dimensions(); ++d) {
    const std::size_t here = slot(map_.dimensions() - d);
    DimensionCut& level = levels_[slot(d)];
    for (CellList* list : {&level.open, &level.joined}) list->begin(here);
    for (CellList* list : {&level.fresh, &level.sorted}) list->begin(here - 1);
  }
  return cut(box, 0, diags);
}

// Cuts the box into slices. A launch without dimensions has one point.
bool MapCursor::slices(const Rect& box, const SliceSink& sink, Diagnostics& diags) {
  const Cell cell = relative(box);
  if (box.volume() == 0) return true;
  if (map_.dimensions() > 0) return cut_all(cell, sink, diags);
  const ProcessorNumber number = point(box.lower, diags);
  if (number != kNoProcessor) sink(box, number);
  return number != kNoProcessor;
}

// Passes on the boxes of the launch whose numbers are in the set.
bool MapCursor::find_boxes(const NumberSet& wanted, const BoxSink& sink, Diagnostics& diags) {
  const Rect& domain = map_.launch.domain;
  const auto give = [&](const Rect& box, ProcessorNumber number) {
    if (map_.dimensions() > 0 || wanted.contains(owner_->number(first(number)))) sink(box);
  };
  wanted_ = &wanted;
  const bool good = slices(domain, give, diags);
  wanted_ = nullptr;
  return good;
}

}  // namespace groma::mapper
