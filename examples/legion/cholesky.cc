// Factors a symmetric matrix by a right-looking Cholesky factorisation over tiles:
//
//   cholesky [-nodes 1] [-edge 64] [-tiles 8] [LEGION'S FLAGS]
//
// Only the tiles at and below the diagonal are used, so the launches over tiles are triangles:
// their domains are sparse index spaces. Step k factors tile (k, k), solves for the tiles below it,
// and updates the triangle of tiles to the right of column k.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "program.h"

namespace {

using namespace Legion;
using Regions = std::vector<PhysicalRegion>;

enum Tasks : TaskID { kMain = 1, kFillTile, kPotrf, kTrsm, kUpdate };
enum Fields : FieldID { kV = 1 };
// Tell which tile a point (i) or (i, j) of step k accesses: tile (i, k), tile (j, k) or the tile
// of step k on the diagonal. Functor 0 gives tile (i, j).
enum Projections : ProjectionID { kOfRow = 1, kOfColumn, kDiagonal };

// The parameters of the command line. `nodes` is that of the application; it changes nothing.
struct Config {
  std::int64_t nodes = 1, edge = 64, tiles = 8;

  coord_t rows() const { return edge * tiles; }
} config;

// Returns an element of the matrix before the factorisation. The matrix is positive definite,
// because the sum of the other elements of a row is less than the element on the diagonal.
double element(coord_t i, coord_t j) {
  if (i == j) return 4;
  const auto distance = static_cast<double>(i > j ? i - j : j - i);
  return 1 / (distance * distance);
}

// ---- projections

// Launches of step k begin at k + 1, so the lower corner of the launch tells the step.
class TileOfPoint final : public ProjectionFunctor {
 public:
  explicit TileOfPoint(Projections what) : what_(what) {}
  using ProjectionFunctor::project;
  LogicalRegion project(LogicalPartition tiles, const DomainPoint& point,
                        const Domain& launch) override {
    const coord_t k = launch.lo()[0] - 1;
    const coord_t row = what_ == kDiagonal ? k : point[what_ == kOfRow ? 0 : 1];
    return runtime->get_logical_subregion_by_color(tiles, DomainPoint(Point<2>(row, k)));
  }
  bool is_functional() const override { return true; }
  unsigned get_depth() const override { return 0; }

 private:
  Projections what_;
};

// ---- the tasks

template <PrivilegeMode mode>
using Values = FieldAccessor<mode, double, 2, coord_t, Realm::AffineAccessor<double, 2, coord_t>>;

Rect<2> bounds_of(const PhysicalRegion& region) { return region.get_bounds<2, coord_t>().bounds; }

void fill_tile(const Task*, const Regions& regions, Context, Runtime*) {
  const Values<LEGION_WRITE_DISCARD> values(regions[0], kV);
  for (PointInRectIterator<2> at(bounds_of(regions[0])); at(); at++) {
    values[*at] = element(at[0], at[1]);
  }
}

// Factors a tile on the diagonal: afterwards its lower triangle holds L.
void potrf(const Task*, const Regions& regions, Context, Runtime*) {
  const Values<LEGION_READ_WRITE> a(regions[0], kV);
  const Rect<2> tile = bounds_of(regions[0]);
  const coord_t begin = tile.lo[0], end = tile.hi[0] + 1;
  for (coord_t j = begin; j < end; ++j) {
    double sum = a[Point<2>(j, j)];
    for (coord_t p = begin; p < j; ++p) sum -= a[Point<2>(j, p)] * a[Point<2>(j, p)];
    const double root = std::sqrt(sum);
    a[Point<2>(j, j)] = root;
    for (coord_t i = j + 1; i < end; ++i) {
      double rest = a[Point<2>(i, j)];
      for (coord_t p = begin; p < j; ++p) rest -= a[Point<2>(i, p)] * a[Point<2>(j, p)];
      a[Point<2>(i, j)] = rest / root;
    }
  }
}

// Solves X L^T = A for a tile A below the factored tile L.
void trsm(const Task*, const Regions& regions, Context, Runtime*) {
  const Values<LEGION_READ_ONLY> l(regions[0], kV);
  const Values<LEGION_READ_WRITE> a(regions[1], kV);
  const Rect<2> tile = bounds_of(regions[1]);
  for (coord_t i = tile.lo[0]; i <= tile.hi[0]; ++i) {
    for (coord_t j = tile.lo[1]; j <= tile.hi[1]; ++j) {
      double rest = a[Point<2>(i, j)];
      for (coord_t p = tile.lo[1]; p < j; ++p) rest -= a[Point<2>(i, p)] * l[Point<2>(j, p)];
      a[Point<2>(i, j)] = rest / l[Point<2>(j, j)];
    }
  }
}

// Subtracts the product of two tiles of the factored column: A -= B C^T. The tile A of the diagonal
// is updated at and below the diagonal only.
void update(const Task*, const Regions& regions, Context, Runtime*) {
  const Values<LEGION_READ_ONLY> b(regions[0], kV), c(regions[1], kV);
  const Values<LEGION_READ_WRITE> a(regions[2], kV);
  const Rect<2> tile = bounds_of(regions[2]), column = bounds_of(regions[0]);
  for (coord_t i = tile.lo[0]; i <= tile.hi[0]; ++i) {
    for (coord_t j = tile.lo[1]; j <= std::min(tile.hi[1], i); ++j) {
      double sum = 0;
      for (coord_t p = column.lo[1]; p <= column.hi[1]; ++p) {
        sum += b[Point<2>(i, p)] * c[Point<2>(j, p)];
      }
      a[Point<2>(i, j)] -= sum;
    }
  }
}

// ---- the top level

// Returns the index space of the tiles (i, j) with first <= j <= i.
IndexSpace triangle(Context context, Runtime* runtime, coord_t first) {
  std::vector<DomainPoint> points;
  for (coord_t i = first; i < config.tiles; ++i) {
    for (coord_t j = first; j <= i; ++j) points.emplace_back(Point<2>(i, j));
  }
  return runtime->create_index_space(context, points);
}

// Returns a requirement for the tile that a projection gives each point.
RegionRequirement needs_tile(LogicalPartition tiles, LogicalRegion matrix, ProjectionID projection,
                             PrivilegeMode privilege) {
  RegionRequirement requirement(tiles, projection, privilege, LEGION_EXCLUSIVE, matrix);
  requirement.add_field(kV);
  return requirement;
}

// Launches the tasks of all steps.
void factor(Context context, Runtime* runtime, LogicalRegion matrix, LogicalPartition tiles) {
  for (coord_t k = 0; k < config.tiles; ++k) {
    TaskLauncher potrf = program::single(kPotrf);
    RegionRequirement diagonal = program::needs(
        runtime->get_logical_subregion_by_color(context, tiles, DomainPoint(Point<2>(k, k))),
        LEGION_READ_WRITE, {kV});
    diagonal.parent = matrix;
    potrf.add_region_requirement(diagonal);
    runtime->execute_task(context, potrf);
    if (k + 1 == config.tiles) return;

    IndexTaskLauncher trsm = program::over(kTrsm, Rect<1>(k + 1, config.tiles - 1));
    trsm.add_region_requirement(needs_tile(tiles, matrix, kDiagonal, LEGION_READ_ONLY));
    trsm.add_region_requirement(needs_tile(tiles, matrix, kOfRow, LEGION_READ_WRITE));
    runtime->execute_index_space(context, trsm);

    const IndexSpace rest = triangle(context, runtime, k + 1);
    IndexTaskLauncher update(kUpdate, rest, UntypedBuffer(), ArgumentMap());
    update.add_region_requirement(needs_tile(tiles, matrix, kOfRow, LEGION_READ_ONLY));
    update.add_region_requirement(needs_tile(tiles, matrix, kOfColumn, LEGION_READ_ONLY));
    update.add_region_requirement(needs_tile(tiles, matrix, 0, LEGION_READ_WRITE));
    runtime->execute_index_space(context, update);
    runtime->destroy_index_space(context, rest);
  }
}

// Returns how many elements of the factor differ from that of a serial program. Prints a digest of
// all elements, so that the results of two runs can be compared. Of a large matrix, only the rows
// of the first tiles are compared, which depend on nothing else.
std::int64_t count_wrong(Context context, Runtime* runtime, LogicalRegion matrix) {
  constexpr coord_t kMostRows = 512;
  const PhysicalRegion mapped =
      runtime->map_region(context, InlineLauncher(program::needs(matrix, LEGION_READ_ONLY, {kV})));
  const Values<LEGION_READ_ONLY> values(mapped, kV);
  const coord_t rows = std::min<coord_t>(config.rows(), kMostRows);
  std::vector<std::vector<double>> l(static_cast<std::size_t>(rows));
  std::int64_t wrong = 0;
  std::uint64_t digest = 0;
  for (coord_t i = 0; i < rows; ++i) {
    std::vector<double>& row = l[static_cast<std::size_t>(i)];
    for (coord_t j = 0; j <= i; ++j) {
      double sum = element(i, j);
      for (std::size_t p = 0; p < static_cast<std::size_t>(j); ++p) {
        sum -= row[p] * (j == i ? row[p] : l[static_cast<std::size_t>(j)][p]);
      }
      row.push_back(j == i ? std::sqrt(sum) : sum / l[static_cast<std::size_t>(j)].back());
      const double value = values[Point<2>(i, j)];
      if (!(std::fabs(value - row.back()) < 1e-9)) ++wrong;
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      digest = (digest ^ bits) * 0x100000001B3U;
    }
  }
  runtime->unmap_region(context, mapped);
  char text[100];
  std::snprintf(text, sizeof text, "digest %016llx\n", static_cast<unsigned long long>(digest));
  runtime->print_once(context, stdout, text);
  return wrong;
}

// Makes the matrix, factors it, and checks the result.
void top_level(const Task*, const Regions&, Context context, Runtime* runtime) {
  const coord_t last = config.rows() - 1;
  const LogicalRegion matrix =
      program::make_region(context, runtime, Rect<2>({0, 0}, {last, last}), "A", {{kV, "v", 8}});
  const IndexPartition cut = runtime->create_partition_by_blockify(
      context, IndexSpaceT<2>(matrix.get_index_space()), Point<2>(config.edge, config.edge));
  const LogicalPartition tiles = runtime->get_logical_partition(context, matrix, cut);
  runtime->attach_name(tiles, "tile");

  const IndexSpace all = triangle(context, runtime, 0);
  IndexTaskLauncher fill(kFillTile, all, UntypedBuffer(), ArgumentMap());
  fill.add_region_requirement(needs_tile(tiles, matrix, 0, LEGION_WRITE_DISCARD));
  runtime->execute_index_space(context, fill);
  runtime->destroy_index_space(context, all);

  const long long elapsed =
      program::timed(context, runtime, [&] { factor(context, runtime, matrix, tiles); });
  program::report(context, runtime, elapsed, count_wrong(context, runtime, matrix));
}

}  // namespace

// Reads the parameters, registers the tasks and the projections, and starts Legion.
int main(int argc, char** argv) {
  using program::Kind;
  if (!program::read_parameters(argc, argv,
                                {{"nodes", &config.nodes, 1, 1 << 16},
                                 {"edge", &config.edge, 1, 1 << 16},
                                 {"tiles", &config.tiles, 1, 1 << 11}})) {
    return 2;
  }
  for (const Projections what : {kOfRow, kOfColumn, kDiagonal}) {
    Runtime::preregister_projection_functor(what, new TileOfPoint(what));
  }
  program::add_task<top_level>(kMain, "main", Kind::kReplicable);
  Runtime::set_top_level_task_id(kMain);
  program::add_task<fill_tile>(kFillTile, "fill_tile");
  program::add_task<potrf>(kPotrf, "potrf");
  program::add_task<trsm>(kTrsm, "trsm");
  program::add_task<update>(kUpdate, "update");
  return Runtime::start(argc, argv);
}
