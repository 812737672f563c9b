// Pictures of domains: the shares of processors, the structure of SVG pictures and pages, and their
// bounds.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "domain_picture/shares.h"
#include "groma/domain_picture.h"
#include "groma/point_set.h"

namespace groma::domains {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Domain pictured(std::string_view name, const ParameterValues& values) {
  Diagnostics diags(known_domains()->source());
  const auto domain = known_domains()->find(name)->make(values, diags);
  GROMA_CHECK(domain.has_value());
  return *domain;
}

std::size_t count_of(std::string_view part, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Shares, ByNumberDifferByAtMostOne) {
  const Domain triangle = pictured("triangle", {{"n", 8}});
  const PointShares shares = share_points(triangle, 16);
  std::vector<std::int64_t> counted(16);
  for (std::int64_t k = 0; k < 36; ++k) ++counted[static_cast<std::size_t>(k * 16 / 36)];
  EXPECT_EQ(shares.by_rank, counted);
  EXPECT_EQ(std::accumulate(shares.by_box.begin(), shares.by_box.end(), 0), 36);
  EXPECT_EQ(shares.box_parts, Point({4, 4}));
  EXPECT_TRUE(shares.is_exact);
  EXPECT_DOUBLE_EQ(imbalance(shares.by_rank), 3 * 16 / 36.0);
  EXPECT_DOUBLE_EQ(imbalance(shares.by_box), 4 * 16 / 36.0);
}

TEST(Shares, OfAFullBoxAreEqual) {
  Diagnostics diags(Source("a.domain", "domain d = (x, y) in loops y < 12, x < 4;"));
  const auto box = DomainLibrary::read(diags)->find("d")->make({}, diags);
  const PointShares shares = share_points(*box, 3);
  // Long dimensions are cut into more parts.
  EXPECT_EQ(shares.box_parts, Point({1, 3}));
  EXPECT_THAT(shares.by_box, ElementsAre(16, 16, 16));
  EXPECT_DOUBLE_EQ(imbalance(shares.by_box), 1);
}

TEST(Shares, OfLargeDomainsAreEstimated) {
  const Domain triangle = pictured("triangle", {{"n", 1000000000}});
  const PointShares shares = share_points(triangle, 4);
  EXPECT_FALSE(shares.is_exact);
  EXPECT_EQ(std::accumulate(shares.by_rank.begin(), shares.by_rank.end(), std::int64_t{0}),
            triangle.count());
  EXPECT_NEAR(imbalance(shares.by_box), 2, 0.02);
  EXPECT_EQ(imbalance(share_points(pictured("triangle", {{"n", 0}}), 4).by_rank), 0);
}

// A processor gets the points that a mapping gives it by `task.irank`, which counts in row-major
// order of the coordinates and not in the order of the declaration.
TEST(Shares, ByRankAreThoseOfAMapping) {
  const Domain triangle = pictured("triangle", {{"n", 8}});
  std::vector<Point> points;
  triangle.for_each(0, triangle.count(),
                    [&](std::int64_t, const Point& point) -> void { points.push_back(point); });
  const PointSet set = PointSet::from_points(points).value();
  const PictureCells picture = picture_cells(triangle, 1 << 15, 186);
  const std::vector<std::int64_t> ranks = row_major_ranks(triangle, picture);
  ASSERT_EQ(ranks.size(), points.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    EXPECT_EQ(ranks[i], set.rank(triangle.point(picture.cells[i].first)));
  }
}

PictureOptions options_for(const std::string& title, std::int64_t processors) {
  PictureOptions options;
  options.title = title;
  options.declaration = "domain d = ...;";
  options.processors = processors;
  return options;
}

TEST(Svg, NumbersThePointsOfASmallDomain) {
  const auto svg = domain_svg(pictured("triangle", {{"n", 4}}), options_for("t<x>&", 3));
  ASSERT_TRUE(svg.ok());
  EXPECT_THAT(*svg, AllOf(StartsWith("<svg xmlns"),
                          HasSubstr("t&lt;x&gt;&amp;: 10 points in a box of 4 x 4"),
                          Not(HasSubstr("t<x>")), HasSubstr("prefers-color-scheme:dark")));
  EXPECT_EQ(count_of("class=\"number\"", *svg), 10U);
  // A path with cells for each processor in the left picture, and for those with points in the
  // right one.
  EXPECT_THAT(*svg, AllOf(HasSubstr("<title>processor 2: 3 points</title>"),
                          HasSubstr("3 to 4 points, max/mean 1.2")));
}

TEST(Svg, NamesTheAxes) {
  PictureOptions options = options_for("t", 3);
  options.axes = {"x", "y < 1"};
  const auto svg = domain_svg(pictured("triangle", {{"n", 4}}), options);
  ASSERT_TRUE(svg.ok());
  EXPECT_EQ(count_of(">x: 0 to 3 ", *svg), 2U);
  EXPECT_EQ(count_of(">y &lt; 1: 0 to 3 ", *svg), 2U);
}

TEST(Svg, DrawsTheOrderOfMorePointsAsALine) {
  const auto svg = domain_svg(pictured("gasket", {{"r", 6}}), options_for("gasket:r=6", 16));
  EXPECT_EQ(count_of("class=\"order\"", *svg), 1U);
  EXPECT_EQ(count_of("class=\"number\"", *svg), 0U);
  EXPECT_THAT(*svg, Not(HasSubstr("Drawn coarser")));
}

TEST(Svg, LargeDomainsAreDrawnCoarserAndStaySmall) {
  for (const auto& [name, parameter, value] :
       {std::tuple("triangle", "n", std::int64_t{4294967295}),
        std::tuple("triangle", "n", std::int64_t{2000}),
        std::tuple("carpet", "r", std::int64_t{20}), std::tuple("gasket", "r", std::int64_t{39}),
        std::tuple("band", "n", std::int64_t{1000000000})}) {
    const auto svg = domain_svg(pictured(name, {{parameter, value}}), options_for(name, 4096));
    ASSERT_TRUE(svg.ok());
    EXPECT_THAT(*svg, HasSubstr("Drawn coarser: a cell stands for "));
    EXPECT_LT(svg->size(), 4U << 20) << name;
  }
  // The cells of a self-similar set are as large as one of its copies.
  EXPECT_THAT(*domain_svg(pictured("carpet", {{"r", 9}}), options_for("carpet", 8)),
              HasSubstr("a cell stands for 243 x 243 points"));
}

TEST(Svg, HasOneOrTwoDimensions) {
  Diagnostics diags(Source("a.domain", "domain d = x in loops x < 30;"));
  EXPECT_TRUE(
      domain_svg(*DomainLibrary::read(diags)->find("d")->make({}, diags), options_for("d", 4))
          .ok());
  EXPECT_TRUE(domain_svg(pictured("triangle", {{"n", 0}}), options_for("empty", 4)).ok());
  const auto space = domain_svg(pictured("menger", {}), options_for("menger", 4));
  ASSERT_FALSE(space.ok());
  EXPECT_THAT(space.error().message, HasSubstr("`menger` has 3 dimensions"));
  EXPECT_THAT(space.error().help, HasSubstr(".html"));
}

TEST(Page, OfThreeDimensionsHasTheCubesAndLoadsNothing) {
  const auto page = domain_page(pictured("menger", {{"r", 1}}), options_for("menger:r=1", 5));
  ASSERT_TRUE(page.ok());
  EXPECT_THAT(*page, AllOf(StartsWith("<!doctype html>"), HasSubstr("default-src 'none'"),
                           HasSubstr("<h1>menger:r=1</h1>"), HasSubstr("\"extents\":[3,3,3]"),
                           HasSubstr("\"cells\":[0,0,0,0,0,0,\n1,0,0,1,2,"), Not(HasSubstr("src=")),
                           HasSubstr("domain d = ...;")));
  EXPECT_EQ(count_of("http", *page),
            count_of("http://www.w3.org/2000/svg", *page) + count_of("http-equiv", *page));
  EXPECT_THAT(*page, Not(HasSubstr("Drawn coarser")));
}

TEST(Page, OfManyCubesIsCoarser) {
  const auto page = domain_page(pictured("menger", {{"r", 14}}), options_for("menger:r=14", 8));
  ASSERT_TRUE(page.ok());
  EXPECT_THAT(*page, AllOf(HasSubstr("Drawn coarser"), HasSubstr("points were looked at")));
  EXPECT_LT(page->size(), 4U << 20);
  const auto empty = domain_page(pictured("tetrahedron", {{"n", 0}}), options_for("none", 8));
  ASSERT_TRUE(empty.ok());
  EXPECT_THAT(*empty, HasSubstr("\"cells\":[]"));
}

TEST(Page, OfTwoDimensionsHasTheSvgPicture) {
  const auto page = domain_page(pictured("triangle", {}), options_for("triangle", 4));
  ASSERT_TRUE(page.ok());
  EXPECT_THAT(*page, AllOf(HasSubstr("class=\"domain-picture\""), Not(HasSubstr("<script"))));
  EXPECT_FALSE(domain_page(pictured("simplex4", {}), options_for("four", 4)).ok());
}

}  // namespace
}  // namespace groma::domains
