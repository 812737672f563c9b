// Cutting a launch into boxes of one processor: dimension by dimension, in steps in which nothing
// further inside changes; what one step gives is joined to what the step before it gave.
#include <algorithm>

#include "mapper/specialised_map.h"

namespace groma::mapper {
namespace {

// Cells of one step that are held for joining; where there are more they are given as they are. A
// map by blocks has as many as processors.
constexpr std::size_t kMaxHeld = 65'536;

std::size_t slot(int d) { return static_cast<std::size_t>(d); }

// Order, and equality, of cells by the dimensions after `d`.
struct Inside {
  int d, dimensions;
  int compare(const Cell& a, const Cell& b) const {
    for (std::size_t i = slot(d + 1); i < slot(dimensions); ++i) {
      if (a.begin[i] != b.begin[i]) return a.begin[i] < b.begin[i] ? -1 : 1;
    }
    return 0;
  }
  bool operator()(const Cell& a, const Cell& b) const { return compare(a, b) < 0; }
  bool same(const Cell& a, const Cell& b) const {
    for (std::size_t i = slot(d + 1); i < slot(dimensions); ++i) {
      if (a.begin[i] != b.begin[i] || a.end[i] != b.end[i]) return false;
    }
    return a.number == b.number;
  }
};

}  // namespace

void MapCursor::emit(const Cell& cell) {
  const Rect& domain = map_.launch.domain;
  Rect box = domain;
  for (int d = 0; d < map_.dimensions(); ++d) {
    box.lower[d] = domain.lower[d] + cell.begin[slot(d)];
    box.extents[d] = cell.end[slot(d)] - cell.begin[slot(d)];
  }
  if (map_.has_sets || cell.number >= map_.numbers) warn_of_nodes(cell.number, *diags_);
  (*sink_)(box, cell.number);
}

// A cell that nothing in dimension d can be joined to any more.
void MapCursor::put(int d, const Cell& cell, std::vector<Cell>* out) {
  if (d == 0) return emit(cell);
  if (out->size() >= kMaxHeld) {
    for (const Cell& each : *out) emit(each);
    out->clear();
  }
  out->push_back(cell);
}

// The points from..to of the row have that number: one run with those before them, or the next.
void MapCursor::extend(std::int64_t from, std::int64_t to, ProcessorNumber number,
                       std::vector<Cell>* out) {
  const int inner = map_.dimensions() - 1;
  if (running_ && current_.number == number) {
    current_.end[slot(inner)] = to;
    return;
  }
  if (running_) put(inner, current_, out);
  running_ = true;
  current_.begin[slot(inner)] = from;
  current_.end[slot(inner)] = to;
  current_.number = number;
}

bool MapCursor::cut_row(const Cell& box, std::vector<Cell>* out, Diagnostics& diags) {
  const Kernel& kernel = map_.kernel;
  const int inner = map_.dimensions() - 1;
  const std::int64_t end = box.end[slot(inner)];
  running_ = false;
  for (std::int64_t x = box.begin[slot(inner)]; x < end;) {
    coordinate(inner) = x;
    const std::int64_t length =
        map_.specialised() ? kernel.stretch(inner, end - x, registers_) : end - x;
    if (!map_.specialised() || registers_.value[kernel.root(1)] != 0) {
      for (std::int64_t i = 0; i < length; ++i, ++x) {
        coordinate(inner) = x;
        const ProcessorNumber number = ask(diags);
        if (number == kNoProcessor) return false;
        extend(x, x + 1, number, out);
      }
      continue;
    }
    const auto number = static_cast<ProcessorNumber>(registers_.value[kernel.root(0)]);
    const auto slope = static_cast<ProcessorNumber>(registers_.slope[kernel.root(0)]);
    if (slope == 0) {
      extend(x, x + length, number, out);
    } else {
      for (std::int64_t i = 0; i < length; ++i) {
        extend(x + i, x + i + 1, number + static_cast<ProcessorNumber>(i) * slope, out);
      }
    }
    x += length;
  }
  put(inner, current_, out);
  return true;
}

bool MapCursor::cut(const Cell& box, int d, std::vector<Cell>* out, Diagnostics& diags) {
  if (d == map_.dimensions() - 1) return cut_row(box, out, diags);
  Level& level = levels_[slot(d)];
  level.open.clear();
  for (std::int64_t x = box.begin[slot(d)]; x < box.end[slot(d)];) {
    coordinate(d) = x;
    std::int64_t length = 1;
    if (map_.specialised()) {
      length = map_.kernel.stretch(d, box.end[slot(d)] - x, registers_);
      // Where the reference may be asked, it is, for each point.
      if (!map_.proved || !map_.kernel.level(d, registers_)) length = 1;
      map_.kernel.settle(d, registers_);
    }
    current_.begin[slot(d)] = x;
    current_.end[slot(d)] = x + length;
    level.fresh.clear();
    if (!cut(box, d + 1, &level.fresh, diags)) return false;
    join(d, level, out);
    x += length;
  }
  for (const Cell& cell : level.open) put(d, cell, out);
  return true;
}

// Fresh cells go on where an open one of the same shape ends; open ones without one are done.
void MapCursor::join(int d, Level& level, std::vector<Cell>* out) {
  const Inside inside = {d, map_.dimensions()};
  std::vector<Cell>& fresh = level.fresh;
  if (!std::is_sorted(fresh.begin(), fresh.end(), inside)) {
    std::sort(fresh.begin(), fresh.end(), inside);
  }
  auto next = fresh.begin();
  for (const Cell& open : level.open) {
    while (next != fresh.end() && inside(*next, open)) ++next;
    const bool goes_on = next != fresh.end() && inside.same(*next, open);
    if (goes_on) {
      next->begin[slot(d)] = open.begin[slot(d)];
    } else {
      put(d, open, out);
    }
  }
  level.open.swap(fresh);
}

bool MapCursor::cut_all(const Cell& box, const SliceSink& sink, Diagnostics& diags) {
  sink_ = &sink;
  diags_ = &diags;
  std::vector<Cell> none;  // dimension 0 gives to the sink
  return cut(box, 0, &none, diags);
}

bool MapCursor::slices(const Rect& box, const SliceSink& sink, Diagnostics& diags) {
  const Cell cell = relative(box);
  if (box.volume() == 0) return true;
  if (map_.dimensions() > 0) return cut_all(cell, sink, diags);
  const ProcessorNumber number = point(box.lower, diags);
  if (number != kNoProcessor) sink(box, number);
  return number != kNoProcessor;
}

}  // namespace groma::mapper
