// Sets of points against a plain list of their points.
#include "groma/point_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace groma {
namespace {

std::vector<Point> points_of(const Rect& box) {
  std::vector<Point> points;
  if (box.volume() == 0) return points;
  Point point = box.lower;
  do {
    points.push_back(point);
  } while (next_point(box, &point));
  return points;
}

// The points in the order of their ranks.
std::vector<Point> points_of(const PointSet& set) {
  std::vector<Point> points;
  for (std::int64_t k = 0; k < set.count(); ++k) points.push_back(set.point(k));
  return points;
}

void expect_equal(const PointSet& set, const Rect& box, const std::vector<Point>& expected) {
  ASSERT_EQ(points_of(set), expected);
  const LaunchDomain domain(box, set);
  std::vector<Point> walked;
  if (set.count() > 0) {
    Point point = domain.first_point();
    do {
      walked.push_back(point);
    } while (next_point(domain, &point));
    ASSERT_EQ(point, expected.front());
  }
  ASSERT_EQ(walked, expected);
  std::int64_t rank = 0;
  for (const Point& point : points_of(box)) {
    const bool in = std::find(expected.begin(), expected.end(), point) != expected.end();
    ASSERT_EQ(set.rank(point), in ? std::optional(rank) : std::nullopt);
    ASSERT_EQ(set.contains(point), in);
    rank += in ? 1 : 0;
  }
}

TEST(PointSet, NumbersItsPointsInRowMajorOrder) {
  std::mt19937 random(5);
  const auto draw = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most));
  };
  for (int round = 0; round < 400; ++round) {
    Rect box{Point::zeros(static_cast<int>(1 + draw(4))), {}};
    box.extents = box.lower;
    for (int d = 0; d < box.dimensions(); ++d) {
      box.lower[d] = draw(9) - 4;
      box.extents[d] = draw(box.dimensions() > 2 ? 5 : 9);
    }
    std::vector<Point> expected;
    const std::int64_t share = draw(5);
    for (const Point& point : points_of(box)) {
      if (draw(4) < share) expected.push_back(point);
    }
    const auto holds = [&](const Point& point) {
      return std::find(expected.begin(), expected.end(), point) != expected.end();
    };
    const PointSet set = PointSet::from_predicate(box, holds).value();
    expect_equal(set, box, expected);

    // The same set from boxes of single points, in any order.
    std::vector<Rect> singles;
    for (const Point& point : expected) {
      Rect one{point, point};
      for (int d = 0; d < point.dimensions(); ++d) one.extents[d] = 1;
      singles.push_back(one);
    }
    std::shuffle(singles.begin(), singles.end(), random);
    if (!singles.empty()) {
      EXPECT_EQ(PointSet::from_points(expected).value(), set);
      const PointSet same = PointSet::from_boxes(singles).value();
      EXPECT_EQ(same, set);
      EXPECT_EQ(same.hash(), set.hash());
      singles.push_back(singles.front());
      EXPECT_EQ(PointSet::from_boxes(singles).error().message, "two boxes have a point in common");
    }

    // The runs of a part and of a range of ranks.
    Rect part = box;
    for (int d = 0; d < box.dimensions(); ++d) {
      const std::int64_t skipped = draw(box.extents[d] + 1);
      part.lower[d] += skipped;
      part.extents[d] = draw(box.extents[d] - skipped + 1);
    }
    std::vector<Point> in_part, of_part;
    std::copy_if(expected.begin(), expected.end(), std::back_inserter(in_part),
                 [&](const Point& point) { return part.contains(point); });
    set.for_each_run(part, [&](const Rect& run, std::int64_t rank) {
      EXPECT_EQ(set.rank(run.lower), rank);
      for (const Point& point : points_of(run)) of_part.push_back(point);
    });
    EXPECT_EQ(of_part, in_part);
    const std::int64_t begin = draw(set.count() + 1), end = begin + draw(set.count() - begin + 1);
    std::vector<Point> of_ranks;
    set.for_each_run(begin, end, [&](const Rect& run, std::int64_t rank) {
      EXPECT_EQ(set.rank(run.lower), rank);
      for (const Point& point : points_of(run)) of_ranks.push_back(point);
    });
    EXPECT_EQ(of_ranks, std::vector<Point>(expected.begin() + begin, expected.begin() + end));
  }
}

TEST(PointSet, OfBoxesJoinsWhatFollows) {
  const std::vector<Rect> boxes = {{{0, 4}, {2, 3}}, {{0, 0}, {2, 4}}, {{5, 1}, {1, 2}}};
  const PointSet set = PointSet::from_boxes(boxes).value();
  EXPECT_EQ(set.count(), 16);
  EXPECT_EQ(set.bounds().lower, (Point{0, 0}));
  EXPECT_EQ(set.bounds().extents, (Point{6, 7}));
  int runs = 0;
  set.for_each_run(0, set.count(), [&](const Rect&, std::int64_t) { ++runs; });
  EXPECT_EQ(runs, 3);
  EXPECT_FALSE(set == PointSet::from_boxes(std::span(boxes).first(2)).value());
}

TEST(PointSet, RefusesWhatItCannotHold) {
  const auto error_of = [](const std::vector<Rect>& boxes) {
    return PointSet::from_boxes(boxes).error().message;
  };
  EXPECT_EQ(error_of({}), "no box has a point");
  EXPECT_EQ(error_of({{{0}, {0}}}), "no box has a point");
  EXPECT_EQ(error_of({{{0}, {1}}, {{0, 0}, {1, 1}}}),
            "the boxes differ in their number of dimensions");
  EXPECT_EQ(error_of({{{0, 0}, {std::int64_t{1} << 40, 1}}}),
            "the points are in more than 4194304 runs along the last coordinate");
  // A single row may be as long as it likes.
  const PointSet row =
      PointSet::from_boxes(std::vector<Rect>{{{7}, {std::int64_t{1} << 60}}}).value();
  EXPECT_EQ(row.rank({8}), 1);
  EXPECT_EQ(row.point(row.count() - 1)[0], 6 + (std::int64_t{1} << 60));
}

TEST(LaunchDomain, IsABoxOrSomeOfItsPoints) {
  const Rect box{{1, 1}, {3, 3}};
  const LaunchDomain all = box;
  EXPECT_EQ(all.count(), 9);
  EXPECT_EQ(all.rank({2, 1}), 3);
  const LaunchDomain triangle(
      box, PointSet::from_predicate(box, [](const Point& p) { return p[1] <= p[0]; }).value());
  EXPECT_EQ(triangle.count(), 6);
  EXPECT_EQ(triangle.rank({3, 1}), 3);
  EXPECT_FALSE(triangle.contains({1, 2}));
  EXPECT_FALSE(all == triangle);
  std::int64_t points = 0;
  triangle.for_each_box({{2, 1}, {2, 2}}, [&](const Rect& part) { points += part.volume(); });
  EXPECT_EQ(points, 4);
}

}  // namespace
}  // namespace groma
