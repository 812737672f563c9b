// Point and Rect: integer coordinates of launch points and launch domains, with at most 9
// dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "groma/result.h"

namespace groma {

// The usual maximum of LEGION_MAX_DIM.
inline constexpr int kMaxDimensions = 9;

// A point with 0 to kMaxDimensions coordinates. The "point" of a single task has 0 dimensions.
class Point {
 public:
  Point() = default;
  Point(std::initializer_list<std::int64_t> coordinates)
      : Point(std::span(coordinates.begin(), coordinates.size())) {}
  explicit Point(std::span<const std::int64_t> coordinates) {
    GROMA_REQUIRE(coordinates.size() <= kMaxDimensions, kTooMany);
    for (std::int64_t coordinate : coordinates) (*this)[dimensions_++] = coordinate;
  }
  // Returns the point whose coordinates are all 0.
  static Point zeros(int dimensions) {
    GROMA_REQUIRE(dimensions >= 0 && dimensions <= kMaxDimensions, kTooMany);
    Point point;
    point.dimensions_ = dimensions;
    return point;
  }

  int dimensions() const { return dimensions_; }
  std::int64_t operator[](int i) const { return coordinates_[static_cast<std::size_t>(i)]; }
  std::int64_t& operator[](int i) { return coordinates_[static_cast<std::size_t>(i)]; }
  // The span refers to this point, so a point that ends with the expression has none.
  std::span<const std::int64_t> coordinates() const& {
    return {coordinates_.data(), static_cast<std::size_t>(dimensions_)};
  }
  std::span<const std::int64_t> coordinates() const&& = delete;
  friend bool operator==(const Point&, const Point&) = default;

 private:
  static constexpr std::string_view kTooMany = "a point has 0 to 9 dimensions (kMaxDimensions)";

  int dimensions_ = 0;
  std::array<std::int64_t, kMaxDimensions> coordinates_{};
};

// A box of points. It starts at `lower` and has `extents[i]` >= 0 points in dimension i. lower +
// extents must not exceed 2^63-1; make() refuses such boxes.
struct Rect {
  Point lower;
  Point extents;

  // Returns the box with these extents at `lower`. Returns nullopt if an extent is negative, the
  // dimensions differ, or a coordinate or the volume would overflow.
  static std::optional<Rect> make(const Point& lower, const Point& extents);
  static std::optional<Rect> make(const Point& extents) {
    return make(Point::zeros(extents.dimensions()), extents);
  }

  int dimensions() const { return extents.dimensions(); }
  // Returns the number of points; 1 for 0 dimensions.
  std::int64_t volume() const;
  // Returns true if the point has the same number of dimensions and lies in the box.
  bool contains(const Point& point) const;
};

// Moves `point` to the next point of `rect` in row-major order (the last coordinate is the
// fastest). After the last point it returns false and sets `point` to the first one.
bool next_point(const Rect& rect, Point* point);

}  // namespace groma
