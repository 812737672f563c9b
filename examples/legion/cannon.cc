// Cannon's matrix multiplication on a grid of gx x gy nodes with 2 x 2 processors each:
//
//   cannon [-n 500] [-nodes 1] [-repeats 10] [LEGION'S FLAGS]
//
// Each node multiplies one block of the dimension k after the other (task_7, task_6). Each of its
// processors multiplies the two halves of the block in turn (task_5, task_4). The nodes and
// processors begin with different blocks, so that no two of them fetch the same block in one step.
#include <mappers/default_mapper.h>

#include "matrix.h"

#ifdef GROMA_CUDA
#include "gpu.h"
#endif

namespace {

using namespace Legion;
using matrix::Name;
// The regions of a task in the order of its requirements.
using Regions = std::vector<PhysicalRegion>;

// The tasks have the names of the original program in traces and mappings: task_1 to task_7 are
// kPlaceA to kNode.
enum Tasks : TaskID {
  kTopLevel = 1,
  kInit,
  kFill,
  kValidate,
  kPlaceA,
  kPlaceB,
  kPlaceC,
  kLeaf,
  kProcessor,
  kBlock,
  kNode,
};

// The parameters of the command line.
std::int64_t n = 500, nodes = 1, repeats = 10;
// The extents of the grid of nodes.
std::int64_t gx, gy;

// Returns the block at (row, column) into which a task's region is cut for its child tasks.
LogicalRegion block_of(Context context, Runtime* runtime, LogicalRegion region, coord_t row,
                       coord_t column) {
  const LogicalPartition blocks =
      runtime->get_logical_partition_by_color(context, region, matrix::kBlocks);
  return runtime->get_logical_subregion_by_color(context, blocks,
                                                 DomainPoint(Point<2>(row, column)));
}

// ---- the tasks

// Multiplies one half of a block on one processor.
void task_4(const Task*, const Regions& regions, Context, Runtime*) {
  matrix::multiply_add(regions[0], regions[1], regions[2]);
}

// Launches task_4 for both halves of a block, on one processor.
void task_5(const Task* task, const Regions&, Context context, Runtime* runtime) {
  const LogicalRegion a = task->regions[0].region, b = task->regions[1].region,
                      c = task->regions[2].region;
  for (coord_t step = 0; step < 2; ++step) {
    // Each processor begins with another half, so that no two fetch the same half in one step.
    const coord_t half = (task->index_point[1] + task->index_point[0] + step) % 2;
    TaskLauncher launcher = program::single(kLeaf);
    launcher.add_region_requirement(matrix::needs(a, a, LEGION_READ_WRITE));
    launcher.add_region_requirement(
        matrix::needs(block_of(context, runtime, b, 0, half), b, LEGION_READ_ONLY));
    launcher.add_region_requirement(
        matrix::needs(block_of(context, runtime, c, half, 0), c, LEGION_READ_ONLY));
    runtime->execute_task(context, launcher);
  }
}

// Launches task_5 on all processors of a node for one block.
void task_6(const Task* task, const Regions&, Context context, Runtime* runtime) {
  IndexTaskLauncher launcher = program::over(kProcessor, Rect<2>({0, 0}, {1, 1}));
  // With this tag, the default mapper keeps all points of the launch on the node of this task.
  launcher.tag = Mapping::DefaultMapper::SAME_ADDRESS_SPACE;
  const matrix::Projection projections[] = {matrix::kSame, matrix::kRow, matrix::kColumn};
  for (unsigned r = 0; r < 3; ++r) {
    const LogicalRegion region = task->regions[r].region;
    launcher.add_region_requirement(
        matrix::needs(runtime->get_logical_partition_by_color(context, region, matrix::kBlocks),
                      projections[r], region, r == 0 ? LEGION_READ_WRITE : LEGION_READ_ONLY));
  }
  runtime->execute_index_space(context, launcher);
}

// Launches task_6 for each block, on one node.
void task_7(const Task* task, const Regions&, Context context, Runtime* runtime) {
  const coord_t in = task->index_point[0], jn = task->index_point[1];
  const LogicalRegion a = task->regions[0].region, b = task->regions[1].region,
                      c = task->regions[2].region;
  for (coord_t step = 0; step < gx; ++step) {
    // The nodes begin with different blocks, which is Cannon's idea.
    const coord_t kk = (jn + in + step) % gx;
    TaskLauncher launcher = program::single(kBlock);
    launcher.add_region_requirement(matrix::needs(a, a, LEGION_READ_WRITE));
    launcher.add_region_requirement(
        matrix::needs(block_of(context, runtime, b, 0, kk), b, LEGION_READ_ONLY));
    launcher.add_region_requirement(
        matrix::needs(block_of(context, runtime, c, kk, 0), c, LEGION_READ_ONLY));
    runtime->execute_task(context, launcher);
  }
}

// Writes the initial elements of one tile of the matrix that the argument names.
void taco_fill(const Task* task, const Regions& regions, Context, Runtime*) {
  matrix::fill(regions[0], *static_cast<const Name*>(task->args));
}

// Returns how many elements of one tile of A are wrong.
std::int64_t taco_validate(const Task*, const Regions& regions, Context, Runtime*) {
  return matrix::count_wrong(regions[0], n, repeats);
}

#ifdef GROMA_CUDA
// Multiplies once, as task_4 does, before the time is measured.
void init_on_gpu(const Task*, const Regions&, Context, Runtime*) {
  const int rows = static_cast<int>(std::max<std::int64_t>(n / (2 * gx), 1));
  const int columns = static_cast<int>(std::max<std::int64_t>(n / (2 * gy), 1));
  gpu::prepare({rows, columns, rows});
}

void fill_on_gpu(const Task* task, const Regions& regions, Context, Runtime*) {
  matrix::fill_on_gpu(regions[0], *static_cast<const Name*>(task->args));
}

void task_4_on_gpu(const Task*, const Regions& regions, Context, Runtime*) {
  matrix::multiply_add_on_gpu(regions[0], regions[1], regions[2]);
}

void add_gpu_tasks() {
  using program::Kind;
  program::add_gpu_task<init_on_gpu>(kInit, "init_cublas");
  program::add_gpu_task<fill_on_gpu>(kFill, "taco_fill");
  program::add_gpu_task<program::nothing>(kPlaceA, "task_1");
  program::add_gpu_task<program::nothing>(kPlaceB, "task_2");
  program::add_gpu_task<program::nothing>(kPlaceC, "task_3");
  program::add_gpu_task<task_4_on_gpu>(kLeaf, "task_4", Kind::kLeaf, {0, 1, 2},
                                       program::Order::kRows);
  program::add_gpu_task<task_5>(kProcessor, "task_5", Kind::kInner);
}
#else
void add_gpu_tasks() {}
#endif

// A grid of blocks into which each block of the level above is cut. The first level cuts the
// matrix.
struct Level {
  coord_t rows, columns;
  const char* name;
};

// A matrix with its partitions.
struct Matrix {
  LogicalRegion region;
  // The partition of the matrix into one tile for each processor.
  LogicalPartition tiles;
  // The blocks that are arguments of task_7.
  LogicalPartition parts;
};

// Cuts each block of a partition into the blocks of the next level, down to the last level.
void cut_all(Context context, Runtime* runtime, LogicalPartition blocks, const Level* level,
             const Level* end) {
  if (level == end) return;
  for (Domain::DomainPointIterator at(
           runtime->get_index_partition_color_space(context, blocks.get_index_partition()));
       at; ++at) {
    const LogicalRegion block = runtime->get_logical_subregion_by_color(context, blocks, *at);
    cut_all(context, runtime,
            matrix::cut(context, runtime, block, n, level->rows, level->columns, level->name),
            level + 1, end);
  }
}

// Makes the region of a matrix with its tiles and the blocks of all levels.
Matrix make(Context context, Runtime* runtime, const char* name, const char* tiles,
            std::initializer_list<Level> levels) {
  constexpr Color kTiles = matrix::kBlocks + 1;
  Matrix made;
  made.region = matrix::make(context, runtime, n, name);
  made.tiles = matrix::cut(context, runtime, made.region, n, 2 * gx, 2 * gy, tiles, kTiles);
  const Level& first = *levels.begin();
  made.parts = matrix::cut(context, runtime, made.region, n, first.rows, first.columns, first.name);
  cut_all(context, runtime, made.parts, levels.begin() + 1, levels.end());
  return made;
}

// Makes the matrices, places their tiles, and times the multiplications.
void top_level(const Task*, const Regions&, Context context, Runtime* runtime) {
  // A is cut into the blocks of nodes and then into those of processors. B and C are cut further,
  // down to the part that one task_4 reads.
  const Matrix a =
      make(context, runtime, "A", "A_tiles", {{gx, gy, "A_nodes"}, {2 * gx, 2 * gy, "A_tiles"}});
  const Matrix b = make(context, runtime, "B", "B_tiles",
                        {{gx, 1, "B_rows"},
                         {gx, gx, "B_blocks"},
                         {2 * gx, gx, "B_halves"},
                         {2 * gx, 2 * gx, "B_quarters"}});
  const Matrix c = make(context, runtime, "C", "C_tiles",
                        {{1, gy, "C_columns"},
                         {gx, gy, "C_blocks"},
                         {gx, 2 * gy, "C_halves"},
                         {2 * gx, 2 * gy, "C_tiles"}});

  runtime->execute_index_space(context, program::over(kInit, Rect<1>(0, 4 * nodes - 1)));
  const Rect<2> tiles({0, 0}, {2 * gx - 1, 2 * gy - 1});
  // Returns a launch with one point for each tile of a matrix.
  const auto over_tiles = [&](TaskID task, const Matrix& of, PrivilegeMode privilege,
                              const UntypedBuffer& argument = UntypedBuffer()) {
    IndexTaskLauncher launcher = program::over(task, tiles, argument);
    launcher.add_region_requirement(matrix::needs(of.tiles, matrix::kSame, of.region, privilege));
    return launcher;
  };
  const std::pair<const Matrix*, Name> all[] = {{&a, Name::kA}, {&b, Name::kB}, {&c, Name::kC}};
  for (const auto& [of, name] : all) {
    runtime->execute_index_space(
        context, over_tiles(kFill, *of, LEGION_WRITE_DISCARD, UntypedBuffer(&name, sizeof name)));
  }
  // The kPlace tasks only read their tiles. After them, each tile is in the memory of the processor
  // on which its task ran.
  for (const auto& [of, name] : all) {
    runtime->execute_index_space(
        context, over_tiles(kPlaceA + static_cast<TaskID>(name), *of, LEGION_READ_ONLY));
  }
  program::wait_for_all(context, runtime);

  const long long elapsed = program::timed(context, runtime, [&] {
    for (std::int64_t i = 0; i < repeats; ++i) {
      IndexTaskLauncher launcher = program::over(kNode, Rect<2>({0, 0}, {gx - 1, gy - 1}));
      launcher.add_region_requirement(
          matrix::needs(a.parts, matrix::kSame, a.region, LEGION_READ_WRITE));
      launcher.add_region_requirement(
          matrix::needs(b.parts, matrix::kRow, b.region, LEGION_READ_ONLY));
      launcher.add_region_requirement(
          matrix::needs(c.parts, matrix::kColumn, c.region, LEGION_READ_ONLY));
      runtime->execute_index_space(context, launcher);
      program::wait_for_all(context, runtime);
    }
  });
  // Each tile counts its wrong elements, and Legion adds up the counts.
  const Future wrong = runtime->execute_index_space(
      context, over_tiles(kValidate, a, LEGION_READ_ONLY), LEGION_REDOP_SUM_INT64);
  program::report(context, runtime, elapsed, wrong.get_result<std::int64_t>());
}

}  // namespace

// Reads the parameters, chooses the grid, registers the tasks, and starts Legion.
int main(int argc, char** argv) {
  using program::Kind;
  if (!program::read_parameters(
          argc, argv,
          {{"n", &n, 16, 400'000}, {"nodes", &nodes, 1, 1'024}, {"repeats", &repeats, 1, 50}})) {
    return 2;
  }
  // Choose the grid of nodes that is closest to a square: gy is the largest divisor that is at most
  // the root of the number of nodes.
  gy = 1;
  for (std::int64_t i = 2; i * i <= nodes; ++i) gy = nodes % i == 0 ? i : gy;
  gx = nodes / gy;

  // Tasks 1 to 3 do nothing: only the place where they run matters. The leaf task demands column
  // order, as BLAS does.
  program::add_task<top_level>(kTopLevel, "top_level", Kind::kPlain);
  Runtime::set_top_level_task_id(kTopLevel);
  program::add_task<program::nothing>(kInit, "init_cublas");
  program::add_task<taco_fill>(kFill, "taco_fill");
  program::add_task<taco_validate>(kValidate, "taco_validate");
  program::add_task<program::nothing>(kPlaceA, "task_1");
  program::add_task<program::nothing>(kPlaceB, "task_2");
  program::add_task<program::nothing>(kPlaceC, "task_3");
  program::add_task<task_4>(kLeaf, "task_4", Kind::kLeaf, {0, 1, 2});
  program::add_task<task_5>(kProcessor, "task_5", Kind::kInner);
  program::add_task<task_6>(kBlock, "task_6", Kind::kInner);
  program::add_task<task_7>(kNode, "task_7", Kind::kInner);
  add_gpu_tasks();
  matrix::register_projections();
  return Runtime::start(argc, argv);
}
