// Sets of points as sorted runs. The rank of a point is the number of points before its run plus
// its place in the run.
#include "groma/point_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/boxes.h"

namespace groma {
namespace {

// A run: its first point and the number of its points.
struct PointRun {
  Point first;
  std::int64_t length = 0;
};

// Returns true if the points differ at most in the last coordinate.
bool in_one_row(const Point& a, const Point& b) {
  const auto left = a.coordinates(), right = b.coordinates();
  return std::equal(left.begin(), left.end() - 1, right.begin());
}

std::int64_t last_coordinate(const Point& point) { return point[point.dimensions() - 1]; }

// Returns the run as a box. It begins at the place `offset` of the run.
Rect box_of(const PointRun& run, std::int64_t offset, std::int64_t length) {
  Rect box{run.first, run.first};
  const int last = run.first.dimensions() - 1;
  for (int d = 0; d < last; ++d) box.extents[d] = 1;
  box.lower[last] += offset;
  box.extents[last] = length;
  return box;
}

Error too_many_runs() {
  return {
      Error::Code::kTooLarge,
      fmt::format("the points are in more than {} runs along the last coordinate", kMaxPointRuns)};
}

}  // namespace

// The runs in row-major order. No run continues the one before.
struct PointSet::PointRuns {
  Rect bounds;
  std::vector<PointRun> runs;
  // The rank of the first point of each run, followed by the number of all points.
  std::vector<std::int64_t> ranks{0};
  std::uint64_t hash = 0;

  // Adds a run behind the others. It may continue the last one.
  void add(const Point& first, std::int64_t length) {
    if (!runs.empty() && in_one_row(runs.back().first, first) &&
        last_coordinate(runs.back().first) + runs.back().length == last_coordinate(first)) {
      runs.back().length += length;
      ranks.back() += length;
      return;
    }
    runs.push_back({first, length});
    ranks.push_back(ranks.back() + length);
  }
  // Computes the bounds and the hash. `empty` is the bounds of a set without points.
  void finish(const Rect& empty) {
    bounds = empty;
    constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15U;
    const auto mix = [this](std::int64_t value) {
      hash = ((hash ^ static_cast<std::uint64_t>(value)) * kSpread) ^ (hash >> 29);
    };
    bool first = true;
    for (const PointRun& run : runs) {
      for (const std::int64_t coordinate : run.first.coordinates()) mix(coordinate);
      mix(run.length);
      const Rect box = box_of(run, 0, run.length);
      bounds = std::exchange(first, false) ? box : box_around(bounds, box);
    }
  }
  // Returns the position of the last run that begins at `point` or before it, or runs.size().
  std::size_t run_at(const Point& point) const {
    const auto after = std::upper_bound(
        runs.begin(), runs.end(), point,
        [](const Point& at, const PointRun& run) { return PointBefore()(at, run.first); });
    return after == runs.begin() ? runs.size() : static_cast<std::size_t>(after - runs.begin()) - 1;
  }
  // Returns the position of the run that has the point with this rank.
  std::size_t run_of_rank(std::int64_t rank) const {
    const auto after = std::upper_bound(ranks.begin(), ranks.end(), rank);
    return static_cast<std::size_t>(after - ranks.begin()) - 1;
  }
};

// Cuts the boxes into rows, sorts them, and joins those that follow each other.
Result<PointSet> PointSet::from_boxes(std::span<const Rect> boxes) {
  std::vector<PointRun> rows;
  std::int64_t points = 0;
  for (const Rect& box : boxes) {
    if (box.dimensions() == 0 || box.dimensions() != boxes.front().dimensions()) {
      return Error{Error::Code::kMalformed, "the boxes differ in their number of dimensions"};
    }
    const std::int64_t volume = box.volume();
    if (volume == 0) continue;
    if (__builtin_add_overflow(points, volume, &points)) {
      return Error{Error::Code::kTooLarge, "the set has more than 2^63-1 points"};
    }
    Rect row_starts = box;
    const int last = box.dimensions() - 1;
    row_starts.extents[last] = 1;
    if (row_starts.volume() > static_cast<std::int64_t>(2 * kMaxPointRuns - rows.size())) {
      return too_many_runs();
    }
    Point row = box.lower;
    do {
      rows.push_back({row, box.extents[last]});
    } while (next_point(row_starts, &row));
  }
  if (rows.empty()) return Error{Error::Code::kMalformed, "no box has a point"};
  std::sort(rows.begin(), rows.end(),
            [](const PointRun& a, const PointRun& b) { return PointBefore()(a.first, b.first); });
  auto made = std::make_shared<PointRuns>();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const PointRun& row = rows[i];
    if (i > 0 && in_one_row(rows[i - 1].first, row.first) &&
        last_coordinate(row.first) - last_coordinate(rows[i - 1].first) < rows[i - 1].length) {
      return Error{Error::Code::kMalformed, "two boxes have a point in common"};
    }
    made->add(row.first, row.length);
  }
  if (made->runs.size() > kMaxPointRuns) return too_many_runs();
  made->finish({});
  return PointSet(std::move(made));
}

Result<PointSet> PointSet::from_points(std::span<const Point> points) {
  std::vector<Rect> boxes;
  boxes.reserve(points.size());
  for (const Point& point : points) boxes.push_back(box_of({point, 1}, 0, 1));
  return from_boxes(boxes);
}

// Walks through the box and collects the points that the set has.
Result<PointSet> PointSet::from_predicate(const Rect& box,
                                          const std::function<bool(const Point&)>& contains) {
  GROMA_REQUIRE(box.dimensions() > 0, "a set of points has at least one dimension");
  auto made = std::make_shared<PointRuns>();
  if (box.volume() > 0) {
    Point point = box.lower;
    do {
      if (!contains(point)) continue;
      made->add(point, 1);
      if (made->runs.size() > kMaxPointRuns) return too_many_runs();
    } while (next_point(box, &point));
  }
  made->finish(box);
  return PointSet(std::move(made));
}

int PointSet::dimensions() const { return runs_->bounds.dimensions(); }
std::int64_t PointSet::count() const { return runs_->ranks.back(); }
const Rect& PointSet::bounds() const { return runs_->bounds; }
std::uint64_t PointSet::hash() const { return runs_->hash; }

// Finds the run in which the point would be, and returns the place in it.
std::optional<std::int64_t> PointSet::rank(const Point& point) const {
  if (point.dimensions() != dimensions()) return std::nullopt;
  const std::size_t at = runs_->run_at(point);
  if (at == runs_->runs.size()) return std::nullopt;
  const PointRun& run = runs_->runs[at];
  const std::int64_t offset = last_coordinate(point) - last_coordinate(run.first);
  if (!in_one_row(run.first, point) || offset >= run.length) return std::nullopt;
  return runs_->ranks[at] + offset;
}

Point PointSet::point(std::int64_t rank) const {
  GROMA_REQUIRE(rank >= 0 && rank < count(), "the rank must be below the number of points");
  const std::size_t at = runs_->run_of_rank(rank);
  Point point = runs_->runs[at].first;
  point[point.dimensions() - 1] += rank - runs_->ranks[at];
  return point;
}

// Goes on in the run of the point, or to the next run.
bool PointSet::move_to_next(Point* point) const {
  const std::size_t at = runs_->run_at(*point);
  const PointRun& run = runs_->runs[at];
  const int last = point->dimensions() - 1;
  if (++(*point)[last] - last_coordinate(run.first) < run.length) return true;
  const bool is_last = at + 1 == runs_->runs.size();
  *point = runs_->runs[is_last ? 0 : at + 1].first;
  return !is_last;
}

void PointSet::for_each_run(std::int64_t begin, std::int64_t end, const RunSink& sink) const {
  GROMA_REQUIRE(begin >= 0 && end <= count(), "the ranks must be below the number of points");
  if (begin >= end) return;
  for (std::size_t at = runs_->run_of_rank(begin); begin < end; ++at) {
    const std::int64_t stop = std::min(end, runs_->ranks[at + 1]);
    sink(box_of(runs_->runs[at], begin - runs_->ranks[at], stop - begin), begin);
    begin = stop;
  }
}

// Looks only at runs between the first and the last point of `part`.
void PointSet::for_each_run(const Rect& part, const RunSink& sink) const {
  if (part.dimensions() != dimensions() || part.volume() == 0) return;
  Point last = part.lower;
  for (int d = 0; d < last.dimensions(); ++d) last[d] += part.extents[d] - 1;
  const std::size_t found = runs_->run_at(part.lower);
  for (std::size_t at = found == runs_->runs.size() ? 0 : found;
       at < runs_->runs.size() && !PointBefore()(last, runs_->runs[at].first); ++at) {
    const PointRun& run = runs_->runs[at];
    const Rect common = common_box(box_of(run, 0, run.length), part);
    if (common.volume() == 0) continue;
    sink(common, runs_->ranks[at] + last_coordinate(common.lower) - last_coordinate(run.first));
  }
}

bool operator==(const PointSet& a, const PointSet& b) {
  if (a.runs_ == b.runs_) return true;
  if (a.hash() != b.hash() || a.runs_->ranks != b.runs_->ranks) return false;
  return std::equal(a.runs_->runs.begin(), a.runs_->runs.end(), b.runs_->runs.begin(),
                    b.runs_->runs.end(), [](const PointRun& x, const PointRun& y) {
                      return x.first == y.first && x.length == y.length;
                    });
}

std::int64_t LaunchDomain::rank(const Point& point) const {
  if (!points) return row_major_position(box, point);
  const auto rank = points->rank(point);
  GROMA_REQUIRE(rank, "the point must be one of the launch");
  return *rank;
}

void LaunchDomain::for_each_box(const Rect& part,
                                const std::function<void(const Rect&)>& sink) const {
  if (points) {
    points->for_each_run(part, [&](const Rect& run, std::int64_t) { sink(run); });
  } else if (part.volume() > 0) {
    sink(part);
  }
}

bool next_point(const LaunchDomain& domain, Point* point) {
  return domain.points ? domain.points->move_to_next(point) : next_point(domain.box, point);
}

bool operator==(const LaunchDomain& a, const LaunchDomain& b) {
  return a.box.lower == b.box.lower && a.box.extents == b.box.extents && a.points == b.points;
}

}  // namespace groma
