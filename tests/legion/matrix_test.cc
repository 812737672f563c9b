// That the multiplications' check sees what is wrong (examples/legion/matrix.h).
#include "../examples/legion/matrix.h"

#include <gtest/gtest.h>

#include "legion/start.h"

namespace groma::legion_test {
namespace {

using namespace Legion;

constexpr coord_t kSize = 20;
using Elements =
    FieldAccessor<LEGION_READ_WRITE, double, 2, coord_t, Realm::AffineAccessor<double, 2, coord_t>>;

TEST(Matrix, CountsElementsThatAreNotThoseOfTheProduct) {
  const LogicalRegion region = matrix::make(context(), runtime(), kSize, "A");
  const PhysicalRegion a = runtime()->map_region(
      context(), InlineLauncher(matrix::needs(region, region, LEGION_READ_WRITE)));
  const Elements elements(a, matrix::kValues);
  for (PointInRectIterator<2> at(Rect<2>({0, 0}, {kSize - 1, kSize - 1})); at(); at++) {
    double sum = 0;
    for (coord_t k = 0; k < kSize; ++k) {
      sum +=
          matrix::element(matrix::Name::kB, at[0], k) * matrix::element(matrix::Name::kC, k, at[1]);
    }
    elements[*at] = 3 * sum;
  }
  EXPECT_EQ(matrix::count_wrong(a, kSize, 3), 0);
  elements[Point<2>(kSize - 1, 0)] += 1;
  EXPECT_EQ(matrix::count_wrong(a, kSize, 3), 1);
  EXPECT_GT(matrix::count_wrong(a, kSize, 2), kSize * kSize / 2);
  runtime()->unmap_region(context(), a);
}

}  // namespace
}  // namespace groma::legion_test
