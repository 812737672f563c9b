// Makes, cuts, fills, multiplies and checks the matrices of cannon.cc and johnson.cc.

#include "matrix.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#ifdef GROMA_OPENBLAS
#include <cblas.h>
#endif
#ifdef GROMA_CUDA
#include "gpu_arrays.h"
#endif

namespace matrix {

using namespace Legion;

namespace {

template <PrivilegeMode mode>
using Elements = FieldAccessor<mode, double, 2, coord_t, Realm::AffineAccessor<double, 2, coord_t>>;
using Sum = SumReduction<double>;
using Sums = ReductionAccessor<Sum, /*EXCLUSIVE=*/false, 2, coord_t,
                               Realm::AffineAccessor<double, 2, coord_t>>;

// Returns the rows and columns of the matrix that the block contains.
Rect<2> bounds_of(const PhysicalRegion& block) { return block.get_bounds<2, coord_t>().bounds; }

// The check compares at most this many rows and this many columns of a matrix.
constexpr coord_t kCompared = 256;

// A block of a matrix in column order, as BLAS reads it.
struct Columns {
  const double* first;
  // The number of elements from one column to the next.
  int stride;
  int rows, columns;
};

// Returns a block as BLAS reads it. The stride that Legion reports for a block with one column may
// be less than the number of rows, which BLAS refuses. The number of rows is then used as the
// stride.
Columns columns_of(const PhysicalRegion& block) {
  const Rect<2> bounds = bounds_of(block);
  std::size_t strides[2] = {1, 1};
  const double* const first = Elements<LEGION_READ_ONLY>(block, kValues).ptr(bounds, strides);
  const int rows = static_cast<int>(bounds.hi[0] - bounds.lo[0] + 1);
  return {first, std::max(static_cast<int>(strides[1]), rows), rows,
          static_cast<int>(bounds.hi[1] - bounds.lo[1] + 1)};
}

// Adds the product of B and C to `a`, which is in column order with the given stride.
void multiply(const Columns& b, const Columns& c, double* a, int a_stride) {
#ifdef GROMA_OPENBLAS
  // OpenBLAS must use one thread, because Legion already has one for each processor.
  static const int once = (openblas_set_num_threads(1), 0);
  static_cast<void>(once);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, b.rows, c.columns, b.columns, 1, b.first,
              b.stride, c.first, c.stride, 1, a, a_stride);
#else
  // Take four columns of B at a time, so that each sum is loaded and stored once for four products.
  for (std::ptrdiff_t j = 0; j < c.columns; ++j) {
    double* const sums = a + j * a_stride;
    const double* const factors = c.first + j * c.stride;
    std::ptrdiff_t k = 0;
    for (; k + 4 <= b.columns; k += 4) {
      const double* const b0 = b.first + k * b.stride;
      const double *b1 = b0 + b.stride, *b2 = b1 + b.stride, *b3 = b2 + b.stride;
      const double f0 = factors[k], f1 = factors[k + 1], f2 = factors[k + 2], f3 = factors[k + 3];
      for (std::ptrdiff_t i = 0; i < b.rows; ++i) {
        sums[i] += b0[i] * f0 + b1[i] * f1 + b2[i] * f2 + b3[i] * f3;
      }
    }
    for (; k < b.columns; ++k) {
      const double* const column = b.first + k * b.stride;
      for (std::ptrdiff_t i = 0; i < b.rows; ++i) sums[i] += column[i] * factors[k];
    }
  }
#endif
}

// Maps a point of a launch to a block. Two coordinates of the point form the colour (row, column)
// of the block: the constructor gets their dimensions. A dimension of -1 stands for the constant 0.
class Coordinates final : public ProjectionFunctor {
 public:
  Coordinates(int row, int column) : dimensions_{row, column} {}

  LogicalRegion project(LogicalPartition blocks, const DomainPoint& point, const Domain&) override {
    Point<2> color(0, 0);
    for (unsigned d = 0; d < 2; ++d) {
      if (dimensions_[d] >= 0)
        color[static_cast<int>(d)] = point[static_cast<unsigned>(dimensions_[d])];
    }
    return runtime->get_logical_subregion_by_color(blocks, DomainPoint(color));
  }
  bool is_functional() const override { return true; }
  unsigned get_depth() const override { return 0; }

 private:
  int dimensions_[2];
};

}  // namespace

LogicalRegion make(Context context, Runtime* runtime, coord_t n, const char* name) {
  return program::make_region(context, runtime, Rect<2>({0, 0}, {n - 1, n - 1}), name,
                              {{kValues, "vals", sizeof(double)}});
}

LogicalPartition cut(Context context, Runtime* runtime, LogicalRegion block, coord_t n,
                     coord_t rows, coord_t columns, const char* name, Color color) {
  const Rect<2> bounds = runtime->get_index_space_domain(context, block.get_index_space());
  // The whole extent n of dimension `d` is divided into `blocks` blocks. Returns the index of the
  // first block that begins within `bounds`, and the number of blocks that begin there.
  const auto first_and_count = [&](int d, coord_t blocks) {
    coord_t first = 0, count = 0;
    for (coord_t i = 0; i < blocks; ++i) {
      const coord_t start = i * n / blocks;
      if (start < bounds.lo[d]) first = i + 1;
      if (start >= bounds.lo[d] && start <= bounds.hi[d]) ++count;
    }
    return std::pair(first, count);
  };
  // The blocks that lie in the given block, in both dimensions.
  const auto [first_row, row_count] = first_and_count(0, rows);
  const auto [first_column, column_count] = first_and_count(1, columns);
  // The boundaries are those of a rows x columns grid over the whole matrix, not over the block, so
  // that all levels fit together.
  std::map<DomainPoint, Domain> pieces;
  const Rect<2> colors({0, 0}, {row_count - 1, column_count - 1});
  for (PointInRectIterator<2> at(colors); at(); at++) {
    const coord_t row = first_row + at[0], column = first_column + at[1];
    pieces[*at] = Rect<2>({row * n / rows, column * n / columns},
                          {(row + 1) * n / rows - 1, (column + 1) * n / columns - 1});
  }
  const IndexPartition partition = runtime->create_partition_by_domain(
      context, block.get_index_space(), pieces, runtime->create_index_space(context, colors),
      /*perform_intersections=*/false, LEGION_DISJOINT_COMPLETE_KIND, color);
  const LogicalPartition blocks = runtime->get_logical_partition(context, block, partition);
  runtime->attach_name(blocks, name);
  return blocks;
}

// Registers the functors of the enum Projection. kSame is Legion's own functor 0.
void register_projections() {
  Runtime::preregister_projection_functor(kRow, new Coordinates(0, -1));
  Runtime::preregister_projection_functor(kColumn, new Coordinates(-1, 1));
  Runtime::preregister_projection_functor(kIJ, new Coordinates(0, 1));
  Runtime::preregister_projection_functor(kIK, new Coordinates(0, 2));
  Runtime::preregister_projection_functor(kKJ, new Coordinates(2, 1));
}

RegionRequirement needs(LogicalRegion block, LogicalRegion parent, PrivilegeMode privilege) {
  return RegionRequirement(block, privilege, LEGION_EXCLUSIVE, parent).add_field(kValues);
}

RegionRequirement needs(LogicalPartition blocks, Projection projection, LogicalRegion parent,
                        PrivilegeMode privilege) {
  return RegionRequirement(blocks, projection, privilege, LEGION_EXCLUSIVE, parent)
      .add_field(kValues);
}

// Each element depends only on its row and column, so a block can be filled anywhere.
void fill(const PhysicalRegion& block, Name matrix) {
  const Elements<LEGION_WRITE_DISCARD> elements(block, kValues);
  for (PointInRectIterator<2> at(bounds_of(block)); at(); at++) {
    elements[*at] = element(matrix, at[0], at[1]);
  }
}

void multiply_add(const PhysicalRegion& a, const PhysicalRegion& b, const PhysicalRegion& c) {
  const Rect<2> bounds = bounds_of(a);
  std::size_t strides[2] = {1, 1};
  double* const sums = Elements<LEGION_READ_WRITE>(a, kValues).ptr(bounds, strides);
  const coord_t rows = bounds.hi[0] - bounds.lo[0] + 1;
  multiply(columns_of(b), columns_of(c), sums,
           static_cast<int>(std::max(static_cast<coord_t>(strides[1]), rows)));
}

void multiply_reduce(const PhysicalRegion& a, const PhysicalRegion& b, const PhysicalRegion& c) {
  const Rect<2> bounds = bounds_of(a);
  const coord_t rows = bounds.hi[0] - bounds.lo[0] + 1;
  // A reduction instance cannot be read, so BLAS writes to a buffer, and each element is then
  // reduced.
  std::vector<double> product(bounds.volume(), 0.0);
  multiply(columns_of(b), columns_of(c), product.data(), static_cast<int>(rows));
  const Sums sums(a, kValues, LEGION_REDOP_SUM_FLOAT64);
  for (PointInRectIterator<2> at(bounds); at(); at++) {
    const coord_t i = at[0] - bounds.lo[0] + (at[1] - bounds.lo[1]) * rows;
    sums[*at] <<= product[static_cast<std::size_t>(i)];
  }
}

#ifdef GROMA_CUDA
namespace {

template <PrivilegeMode mode>
gpu::Matrix on_gpu(const PhysicalRegion& block) {
  return gpu::matrix(Elements<mode>(block, kValues), bounds_of(block).lo);
}

// Returns the extents of the product of two blocks.
gpu::Product product_of(const PhysicalRegion& b, const PhysicalRegion& c) {
  const Point<2> b_size = bounds_of(b).hi - bounds_of(b).lo + Point<2>(1, 1);
  const Point<2> c_size = bounds_of(c).hi - bounds_of(c).lo + Point<2>(1, 1);
  return {static_cast<int>(b_size[0]), static_cast<int>(c_size[1]), static_cast<int>(b_size[1])};
}

}  // namespace

void fill_on_gpu(const PhysicalRegion& block, Name matrix) {
  const Rect<2> bounds = bounds_of(block);
  const Point<2> size = bounds.hi - bounds.lo + Point<2>(1, 1);
  gpu::fill({{bounds.lo[0], bounds.lo[1]}, {size[0], size[1]}}, static_cast<int>(matrix),
            on_gpu<LEGION_WRITE_DISCARD>(block));
}

void multiply_add_on_gpu(const PhysicalRegion& a, const PhysicalRegion& b,
                         const PhysicalRegion& c) {
  gpu::multiply_add(product_of(b, c), on_gpu<LEGION_READ_WRITE>(a), on_gpu<LEGION_READ_ONLY>(b),
                    on_gpu<LEGION_READ_ONLY>(c));
}

void multiply_reduce_on_gpu(const PhysicalRegion& a, const PhysicalRegion& b,
                            const PhysicalRegion& c) {
  gpu::multiply_reduce(product_of(b, c),
                       gpu::matrix(Sums(a, kValues, LEGION_REDOP_SUM_FLOAT64), bounds_of(a).lo),
                       on_gpu<LEGION_READ_ONLY>(b), on_gpu<LEGION_READ_ONLY>(c));
}
#endif

std::int64_t count_wrong(const PhysicalRegion& a, coord_t n, std::int64_t times) {
  const Elements<LEGION_READ_ONLY> elements(a, kValues);
  const Rect<2> bounds = bounds_of(a);
  // Large matrices are compared at every `step`-th row and column.
  const coord_t step = std::max<coord_t>(1, n / kCompared);
  std::vector<double> row(static_cast<std::size_t>(n));
  std::int64_t wrong = 0;
  for (coord_t i = bounds.lo[0]; i <= bounds.hi[0]; i += step) {
    for (coord_t k = 0; k < n; ++k) row[static_cast<std::size_t>(k)] = element(Name::kB, i, k);
    for (coord_t j = bounds.lo[1]; j <= bounds.hi[1]; j += step) {
      // Compute the element with loops. The sums are exact, so the comparison is exact, too.
      double sum = 0;
      for (coord_t k = 0; k < n; ++k) {
        sum += row[static_cast<std::size_t>(k)] * element(Name::kC, k, j);
      }
      if (elements[Point<2>(i, j)] != static_cast<double>(times) * sum) ++wrong;
    }
  }
  return wrong;
}

}  // namespace matrix
