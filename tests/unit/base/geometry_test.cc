#include "groma/geometry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace groma {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

// All points of the box, as next_point walks them.
std::vector<Point> walk(const Rect& rect) {
  std::vector<Point> points;
  if (rect.volume() == 0) return points;
  Point point = rect.lower;
  do {
    points.push_back(point);
  } while (next_point(rect, &point));
  EXPECT_EQ(point, rect.lower) << "after the last point it stands at the first";
  return points;
}

TEST(Point, HoldsItsCoordinates) {
  const Point point{3, -1, 7};
  EXPECT_EQ(point.dimensions(), 3);
  EXPECT_THAT(point.coordinates(), ElementsAre(3, -1, 7));
  EXPECT_EQ(point[1], -1);
}

TEST(Point, HasUpToNineDimensionsAndMayHaveNone) {
  const Point none;
  EXPECT_EQ(none.dimensions(), 0);
  EXPECT_TRUE(none.coordinates().empty());
  const Point longest{1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(longest.dimensions(), kMaxDimensions);
}

TEST(Point, IsEqualWhenDimensionsAndCoordinatesAre) {
  EXPECT_EQ(Point({1, 2}), Point({1, 2}));
  EXPECT_NE(Point({1, 2}), Point({1, 3}));
  EXPECT_NE(Point({0}), Point({0, 0}));
  EXPECT_EQ(Point::zeros(2), Point({0, 0}));
}

TEST(PointDeathTest, TooManyDimensionsAreOurFault) {
  EXPECT_DEATH((Point{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
               "wrong use of the library: a point has 0 to 9 dimensions");
}

TEST(Rect, CountsItsPoints) {
  EXPECT_EQ(Rect::make({4, 3})->volume(), 12);
  EXPECT_EQ(Rect::make(Point{7})->volume(), 7);
  EXPECT_EQ(Rect::make(Point())->volume(), 1) << "a single task's point";
}

TEST(Rect, IsEmptyWhenAnExtentIsZeroHoweverLargeTheOthers) {
  const auto rect = Rect::make({kMax, 0, kMax});
  ASSERT_TRUE(rect);
  EXPECT_EQ(rect->volume(), 0);
  EXPECT_FALSE(rect->contains({0, 0, 0}));
}

TEST(Rect, RefusesWhatHasNoPlaceInTheIntegers) {
  EXPECT_FALSE(Rect::make({2, -1}));
  EXPECT_FALSE(Rect::make({0, 0}, {1}));
  EXPECT_FALSE(Rect::make({kMax, 2})) << "the volume overflows";
  EXPECT_FALSE(Rect::make(Point{1}, Point{kMax})) << "the end overflows";
  EXPECT_TRUE(Rect::make(Point{0}, Point{kMax}));
  EXPECT_TRUE(Rect::make(Point{kMin}, Point{kMax}));
}

TEST(Rect, ContainsFromItsLowerPointOn) {
  const auto rect = Rect::make({-1, 2}, {2, 3});
  ASSERT_TRUE(rect);
  EXPECT_TRUE(rect->contains({-1, 2}));
  EXPECT_TRUE(rect->contains({0, 4}));
  EXPECT_FALSE(rect->contains({1, 2}));
  EXPECT_FALSE(rect->contains({-1, 5}));
  EXPECT_FALSE(rect->contains({-2, 2}));
  EXPECT_FALSE(rect->contains(Point{-1})) << "other dimensions";
}

TEST(NextPoint, WalksRowByRow) {
  EXPECT_THAT(
      walk(*Rect::make({5, -1}, {2, 3})),
      ElementsAreArray(std::vector<Point>{{5, -1}, {5, 0}, {5, 1}, {6, -1}, {6, 0}, {6, 1}}));
}

TEST(NextPoint, SeesEachPointOnce) {
  const auto rect = Rect::make({1, 1, 1, 1}, {2, 1, 3, 2});
  ASSERT_TRUE(rect);
  const std::vector<Point> points = walk(*rect);
  EXPECT_EQ(points.size(), 12U);
  for (const Point& point : points) EXPECT_TRUE(rect->contains(point));
}

TEST(NextPoint, ASingleTaskHasOnePoint) {
  EXPECT_THAT(walk(*Rect::make(Point())), ElementsAre(Point()));
}

}  // namespace
}  // namespace groma
