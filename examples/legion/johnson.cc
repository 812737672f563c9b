// Johnson's matrix multiplication on a cube of g x g x g processors:
//
//   johnson [-n 500] [-nodes 1] [-repeats 10] [LEGION'S FLAGS]
//
// Point (i, j, k) of the cube multiplies the tile B(i, k) by C(k, j). The products of all k are
// added to A(i, j).
#include "matrix.h"

#ifdef GROMA_CUDA
#include "gpu.h"
#endif

namespace {

using namespace Legion;
using matrix::Name;
using Regions = std::vector<PhysicalRegion>;

// The tasks have the names of the original program: task_1 to task_4 are kPlaceA to kLeaf.
enum Tasks : TaskID { kTopLevel = 1, kInit, kPlaceA, kPlaceB, kPlaceC, kLeaf };

std::int64_t n = 500, nodes = 1, repeats = 10;

// Returns the edge of the cube. The numbers are those of the original program's runs, for example 8
// points on 4 processors.
coord_t edge() {
  const std::int64_t ranks = 4 * nodes;
  return ranks >= 256 ? 7 : ranks >= 128 ? 6 : ranks >= 16 ? 4 : 2;
}

// ---- the tasks
// The task task_1 does nothing. Its mapping decides where the tiles of A are stored.

// task_2 and task_3 write the initial elements of a tile of B and of C.
void task_2(const Task*, const Regions& regions, Context, Runtime*) {
  matrix::fill(regions[0], Name::kB);
}

void task_3(const Task*, const Regions& regions, Context, Runtime*) {
  matrix::fill(regions[0], Name::kC);
}

// Adds the product of a tile of B and a tile of C to a tile of A.
void task_4(const Task*, const Regions& regions, Context, Runtime*) {
  matrix::multiply_reduce(regions[0], regions[1], regions[2]);
}

#ifdef GROMA_CUDA
void init_on_gpu(const Task*, const Regions&, Context, Runtime*) {
  const int tile = static_cast<int>(std::max<std::int64_t>(n / edge(), 1));
  gpu::prepare({tile, tile, tile});
}

template <Name name>
void fill_on_gpu(const Task*, const Regions& regions, Context, Runtime*) {
  matrix::fill_on_gpu(regions[0], name);
}

void task_4_on_gpu(const Task*, const Regions& regions, Context, Runtime*) {
  matrix::multiply_reduce_on_gpu(regions[0], regions[1], regions[2]);
}

void add_gpu_tasks() {
  program::add_gpu_task<init_on_gpu>(kInit, "init_cublas");
  program::add_gpu_task<program::nothing>(kPlaceA, "task_1");
  program::add_gpu_task<fill_on_gpu<Name::kB>>(kPlaceB, "task_2");
  program::add_gpu_task<fill_on_gpu<Name::kC>>(kPlaceC, "task_3");
  program::add_gpu_task<task_4_on_gpu>(kLeaf, "task_4", program::Kind::kLeaf, {1, 2},
                                       program::Order::kRows);
}
#else
void add_gpu_tasks() {}
#endif

// A matrix, and its partition into edge() x edge() tiles.
struct Matrix {
  LogicalRegion region;
  LogicalPartition tiles;
};

// Makes the region of a matrix and cuts it into tiles.
Matrix make(Context context, Runtime* runtime, const char* name, const char* tiles) {
  const LogicalRegion region = matrix::make(context, runtime, n, name);
  return {region, matrix::cut(context, runtime, region, n, edge(), edge(), tiles)};
}

// Returns how many elements of A are wrong. Maps all of A inline, so Legion copies the tiles from
// where they are.
std::int64_t count_wrong(Context context, Runtime* runtime, const Matrix& a) {
  const PhysicalRegion values = runtime->map_region(
      context, InlineLauncher(matrix::needs(a.region, a.region, LEGION_READ_ONLY)));
  const std::int64_t wrong = matrix::count_wrong(values, n, 1 + repeats);
  runtime->unmap_region(context, values);
  return wrong;
}

// Makes the matrices, places their tiles, and times the multiplications.
void top_level(const Task*, const Regions&, Context context, Runtime* runtime) {
  const Matrix a = make(context, runtime, "A", "A_tiles");
  const Matrix b = make(context, runtime, "B", "B_tiles");
  const Matrix c = make(context, runtime, "C", "C_tiles");

  const coord_t g = edge();
  // Launches a task on each tile of a matrix, so that the tile is then where the task ran. The
  // launch is one layer of the cube.
  const auto place = [&](TaskID task, const Matrix& of, matrix::Projection projection,
                         Point<3> extents, PrivilegeMode privilege) {
    IndexTaskLauncher launcher =
        program::over(task, Rect<3>(Point<3>(0, 0, 0), extents - Point<3>(1, 1, 1)));
    launcher.add_region_requirement(matrix::needs(of.tiles, projection, of.region, privilege));
    runtime->execute_index_space(context, launcher);
  };
  const auto place_a = [&] { place(kPlaceA, a, matrix::kIJ, {g, g, 1}, LEGION_READ_WRITE); };
  // One multiplication: a launch over the cube, whose points all add their products to A.
  const auto multiply = [&] {
    IndexTaskLauncher launcher = program::over(kLeaf, Rect<3>({0, 0, 0}, {g - 1, g - 1, g - 1}));
    launcher.add_region_requirement(RegionRequirement(a.tiles, matrix::kIJ,
                                                      LEGION_REDOP_SUM_FLOAT64, LEGION_SIMULTANEOUS,
                                                      a.region)
                                        .add_field(matrix::kValues));
    launcher.add_region_requirement(
        matrix::needs(b.tiles, matrix::kIK, b.region, LEGION_READ_ONLY));
    launcher.add_region_requirement(
        matrix::needs(c.tiles, matrix::kKJ, c.region, LEGION_READ_ONLY));
    runtime->execute_index_space(context, launcher);
    // The task of place_a() reads A, so Legion has to add the products to A before it.
    place_a();
    program::wait_for_all(context, runtime);
  };

  runtime->execute_index_space(context, program::over(kInit, Rect<1>(0, 4 * nodes - 1)));
  place_a();
  place(kPlaceB, b, matrix::kIK, {g, 1, g}, LEGION_WRITE_DISCARD);
  place(kPlaceC, c, matrix::kKJ, {1, g, g}, LEGION_WRITE_DISCARD);
  program::wait_for_all(context, runtime);
  // The first multiplication is a warm-up, which is not timed.
  multiply();
  const long long elapsed = program::timed(context, runtime, [&] {
    for (std::int64_t i = 0; i < repeats; ++i) multiply();
  });
  program::report(context, runtime, elapsed, count_wrong(context, runtime, a));
}

}  // namespace

// Reads the parameters, registers the tasks, and starts Legion. The leaf task demands column order
// for B and C, but not for the reduction instance of A.
int main(int argc, char** argv) {
  using program::Kind;
  if (!program::read_parameters(
          argc, argv,
          {{"n", &n, 16, 400'000}, {"nodes", &nodes, 1, 1'024}, {"repeats", &repeats, 1, 50}})) {
    return 2;
  }
  program::add_task<top_level>(kTopLevel, "top_level", Kind::kPlain);
  Runtime::set_top_level_task_id(kTopLevel);
  program::add_task<program::nothing>(kInit, "init_cublas");
  program::add_task<program::nothing>(kPlaceA, "task_1");
  program::add_task<task_2>(kPlaceB, "task_2");
  program::add_task<task_3>(kPlaceC, "task_3");
  program::add_task<task_4>(kLeaf, "task_4", Kind::kLeaf, {1, 2});
  add_gpu_tasks();
  matrix::register_projections();
  return Runtime::start(argc, argv);
}
