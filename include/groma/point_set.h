// PointSet: the points of an index launch whose domain is not a box, such as a triangle or a mask.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "groma/geometry.h"
#include "groma/result.h"

namespace groma {

// Limit on the runs of a PointSet: the maximal sequences of points that differ only in the last
// coordinate, by one from point to point. A triangle of n rows has n runs.
inline constexpr std::size_t kMaxPointRuns = std::size_t{1} << 22;

// The row-major order of points with equally many coordinates.
struct PointBefore {
  bool operator()(const Point& a, const Point& b) const {
    const auto left = a.coordinates(), right = b.coordinates();
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
  }
};

// A set of points with 1 to kMaxDimensions coordinates. The points are numbered from 0 in row-major
// order (the last coordinate is the fastest); the number of a point is its rank. Takes some 80
// bytes for each run. Immutable, cheap to copy, and safe to use from any thread.
class PointSet {
 public:
  // Returns the points of these boxes, which have the same number of dimensions and may come in any
  // order. Fails with kMalformed if two boxes share a point or there is no box with a point, and
  // with kTooLarge if there are more than kMaxPointRuns runs.
  static Result<PointSet> from_boxes(std::span<const Rect> boxes);
  // Returns these points, which may come in any order and must differ. Fails like from_boxes().
  static Result<PointSet> from_points(std::span<const Point> points);
  // Returns the points of `box` for which `contains` is true; there may be none. `contains` is
  // called for each point of the box, in row-major order. Fails like from_boxes().
  static Result<PointSet> from_predicate(const Rect& box,
                                         const std::function<bool(const Point&)>& contains);

  int dimensions() const;
  // The number of points.
  std::int64_t count() const;
  // The smallest box around the points; the box of from_predicate() if there are none.
  const Rect& bounds() const;
  // Returns the rank of a point, or nullopt if the set does not have it. The time grows with the
  // logarithm of the number of runs. The same holds for point().
  std::optional<std::int64_t> rank(const Point& point) const;
  bool contains(const Point& point) const { return rank(point).has_value(); }
  // Returns the point with this rank; 0 <= rank < count().
  Point point(std::int64_t rank) const;

  // Receives a box of points of one row and the rank of its first point.
  using RunSink = std::function<void(const Rect& run, std::int64_t rank)>;
  // Calls `sink` with all points with ranks from `begin` to before `end`, run by run;
  // 0 <= begin <= end <= count().
  void for_each_run(std::int64_t begin, std::int64_t end, const RunSink& sink) const;
  // Calls `sink` with all points of the set that lie in `part`, run by run.
  void for_each_run(const Rect& part, const RunSink& sink) const;

  // Moves `point`, which is in the set, to the next point in row-major order. After the last point
  // it returns false and sets `point` to the first one.
  bool move_to_next(Point* point) const;

  // Returns true if the sets have the same points.
  friend bool operator==(const PointSet& a, const PointSet& b);
  // A hash of the points.
  std::uint64_t hash() const;

 private:
  struct PointRuns;
  explicit PointSet(std::shared_ptr<const PointRuns> runs) : runs_(std::move(runs)) {}

  std::shared_ptr<const PointRuns> runs_;
};

// The domain of an index launch: a box, or some of its points.
struct LaunchDomain {
  LaunchDomain() = default;
  LaunchDomain(const Rect& all) : box(all) {}  // NOLINT(google-explicit-constructor)
  LaunchDomain(const Rect& around, PointSet some) : box(around), points(std::move(some)) {}
  // `some` may be null: then the launch has every point of the box.
  LaunchDomain(const Rect& around, const PointSet* some) : box(around) {
    if (some != nullptr) points = *some;
  }

  Rect box;
  // The points of the launch, all of which lie in `box`. nullopt: every point of the box.
  std::optional<PointSet> points;

  // Returns the number of points.
  std::int64_t count() const { return points ? points->count() : box.volume(); }
  bool contains(const Point& point) const {
    return points ? points->contains(point) : box.contains(point);
  }
  // Returns the first point in row-major order. The domain must have one.
  Point first_point() const { return points ? points->point(0) : box.lower; }
  // Returns the place of a point of the launch among its points, in row-major order.
  std::int64_t rank(const Point& point) const;
  // Returns `points` as TaskView::points.
  const PointSet* some_points() const { return points ? &*points : nullptr; }
  // Calls `sink` with boxes that together hold the points that lie in `part`: with `part` itself if
  // the launch has every point of its box, otherwise with each run. `part` must lie in `box`.
  void for_each_box(const Rect& part, const std::function<void(const Rect&)>& sink) const;
  friend bool operator==(const LaunchDomain& a, const LaunchDomain& b);
};
// Moves `point` to the next point of the domain in row-major order, as next_point(Rect) does.
bool next_point(const LaunchDomain& domain, Point* point);

}  // namespace groma
