// A star of radius 2 on a square grid of doubles, after the Parallel Research Kernels:
//
//   stencil [-edge 500] [-nodes 1] [-loops 20] [LEGION'S FLAGS]
//
// Each node has 2 x 2 tiles, and each tile is stored with a border as wide as the radius. Tiles
// exchange their edges through separate regions, one for each direction: a tile writes its own
// strip (out) and reads the strip of its neighbour (in).
#include <array>
#include <map>

#include "arithmetic.h"
#include "program.h"

#ifdef GROMA_CUDA
#include "gpu.h"
#endif

namespace {

using namespace Legion;
using Regions = std::vector<PhysicalRegion>;

enum Tasks : TaskID {
  kMain = 1,
  kReadConfig,
  kMakePrivate,
  kMakeInterior,
  kMakeExterior,
  kGhostX,
  kGhostY,
  kStencil,
  kIncrement,
  kCheck,
  kGetElapsed,
  kPrintTime,
};
// No task computes with `input1`, but the field belongs to the requirements of `stencil` and
// `increment`.
enum Fields : FieldID { kInput = 1, kInput1, kOutput };
enum Traces : TraceID { kWarmUp = 1, kTimed };

using star::kRadius;
constexpr std::int64_t kWarmUps = 2;

// The parameters of the command line, and the grid of tiles that follows from them.
struct Config {
  std::int64_t edge = 500, nodes = 1, loops = 20;

  // Returns the number of nodes in dimension y: the largest power of 2 up to 64 whose square
  // divides the number of nodes. So 8 nodes form a grid of 4 (x) by 2 (y).
  coord_t across() const {
    for (const coord_t rows : {64, 32, 16, 8, 4, 2}) {
      if (nodes % (rows * rows) == 0) return rows;
    }
    return 1;
  }
  // Returns the number of tiles in x.
  coord_t ntx() const { return 2 * nodes / across(); }
  // Returns the number of tiles in y.
  coord_t nty() const { return 2 * across(); }
  coord_t tiles() const { return ntx() * nty(); }
} config;

// Returns the point (edge, edge), for example as the extents of a square.
Point<2> square(coord_t edge) { return {edge, edge}; }

// Returns the position of point i's tile in the grid of tiles.
Point<2> tile(coord_t i) { return {i % config.ntx(), i / config.ntx()}; }

// A direction in which a tile has a neighbour. `name` is the name of the region with the strips of
// this direction, `in` and `out` are the names of its partitions, and `step` leads from a tile to
// its neighbour.
struct Direction {
  const char *name, *in, *out;
  Point<2> step;
  // Returns true if the neighbour differs in dimension x, false if it differs in y.
  bool in_x() const { return step[0] != 0; }
  // Returns true if the neighbour has the smaller coordinate: x - 1 or y - 1.
  bool before() const { return step[0] + step[1] < 0; }
};
const std::array<Direction, 4> kDirections = {{
    {"xm", "pxm_in", "pxm_out", {-1, 0}},
    {"xp", "pxp_in", "pxp_out", {1, 0}},
    {"ym", "pym_in", "pym_out", {0, -1}},
    {"yp", "pyp_in", "pyp_out", {0, 1}},
}};

// ---- partitions

// Makes a partition with one piece for each tile. `piece(i)` returns the points of tile i's piece.
template <typename Piece>
LogicalPartition cut(Context context, Runtime* runtime, LogicalRegion region, PartitionKind kind,
                     const Piece& piece) {
  std::map<DomainPoint, Domain> pieces;
  for (coord_t i = 0; i < config.tiles(); ++i) pieces[Point<1>(i)] = piece(i);
  const IndexSpace colors = runtime->create_index_space(context, Rect<1>(0, config.tiles() - 1));
  return runtime->get_logical_partition(
      context, region,
      runtime->create_partition_by_domain(context, region.get_index_space(), pieces, colors,
                                          /*perform_intersections=*/true, kind));
}

// Makes the partition of the tiles. `border` points at each side of a tile are left out.
template <coord_t border>
LogicalPartition make_tiles(const Task* task, const Regions&, Context context, Runtime* runtime) {
  const coord_t stored = config.edge + 2 * kRadius;
  return cut(context, runtime, task->regions[0].region, LEGION_DISJOINT_KIND, [&](coord_t i) {
    const Point<2> lower = tile(i) * square(stored);
    return Rect<2>(lower + square(border), lower + square(stored - border - 1));
  });
}

// Makes the partition of the strips. The task's argument is a step: (0, 0) gives each tile its own
// strip, any other step the strip of the neighbour there. Beyond the grid's border a strip is
// empty.
LogicalPartition make_strips(const Task* task, const Regions&, Context context, Runtime* runtime) {
  const auto neighbour = *static_cast<const Point<2>*>(task->args);
  const Point<2> extents =
      task->task_id == kGhostX ? Point<2>(kRadius, config.edge) : Point<2>(config.edge, kRadius);
  return cut(context, runtime, task->regions[0].region, LEGION_DISJOINT_KIND, [&](coord_t i) {
    const Point<2> lower = (tile(i) + neighbour) * extents;
    return Rect<2>(lower, lower + extents - square(1));
  });
}

// ---- the tasks

// A field of a tile or strip in column order. The point (0, 0) is the tile's first inner point.
struct Values {
  double* first;
  std::ptrdiff_t stride;
  double& operator()(coord_t x, coord_t y) const { return first[x + y * stride]; }
};

template <PrivilegeMode mode>
// Returns an accessor of the field. Its point (0, 0) is the stored point in column `border` and row
// `border`, counted from 0.
Values values(const PhysicalRegion& region, FieldID field, coord_t border) {
  using Accessor =
      FieldAccessor<mode, double, 2, coord_t, Realm::AffineAccessor<double, 2, coord_t>>;
  const Rect<2> bounds = region.get_bounds<2, coord_t>().bounds;
  std::size_t strides[2] = {1, 1};
  const double* const data = Accessor(region, field).ptr(bounds, strides);
  const auto stride = static_cast<std::ptrdiff_t>(strides[1]);
  return {const_cast<double*>(data) + border + border * stride, stride};
}

// Calls each(x, y, tile_x, tile_y) for every point of a strip: (x, y) are its coordinates in the
// strip, which begin at (0, 0), and (tile_x, tile_y) its coordinates in the tile. If the direction
// is x, tile_x is x + shift and tile_y is y; otherwise tile_x is x and tile_y is y + shift.
template <typename Each>
void for_strip(const Direction& direction, coord_t shift, const Each& each) {
  const coord_t edge = config.edge;
  const coord_t width = direction.in_x() ? kRadius : edge;
  const coord_t height = direction.in_x() ? edge : kRadius;
  for (coord_t y = 0; y < height; ++y) {
    for (coord_t x = 0; x < width; ++x) {
      each(x, y, direction.in_x() ? x + shift : x, direction.in_x() ? y : y + shift);
    }
  }
}

// Copies the neighbours' edges into the border, then adds the stencil's sum to the output of each
// point.
void stencil(const Task*, const Regions& regions, Context, Runtime*) {
  program::set_time(regions[6], program::kStart);
  const coord_t edge = config.edge;
  const Values input = values<LEGION_READ_WRITE>(regions[0], kInput, kRadius);
  const Values output = values<LEGION_READ_WRITE>(regions[0], kOutput, kRadius);
  for (std::size_t d = 0; d < kDirections.size(); ++d) {
    const PhysicalRegion& strip = regions[2 + d];
    if (strip.get_bounds<2, coord_t>().empty()) continue;
    const Values theirs = values<LEGION_READ_ONLY>(strip, kInput, 0);
    for_strip(kDirections[d], kDirections[d].before() ? -kRadius : edge,
              [&](coord_t x, coord_t y, coord_t tile_x, coord_t tile_y) {
                input(tile_x, tile_y) = theirs(x, y);
              });
  }
  for (coord_t y = 0; y < edge; ++y) {
    for (coord_t x = 0; x < edge; ++x) {
      output(x, y) += star::star([&](coord_t dx, coord_t dy) { return input(x + dx, y + dy); });
    }
  }
}

// Adds the slope to each point's input, then copies the edges to the strips that neighbours read.
void increment(const Task* task, const Regions& regions, Context, Runtime*) {
  const coord_t edge = config.edge;
  const Point<2> lower = tile(task->index_point[0]) * square(edge);
  const Values input = values<LEGION_READ_WRITE>(regions[0], kInput, kRadius);
  for (coord_t y = 0; y < edge; ++y) {
    for (coord_t x = 0; x < edge; ++x) input(x, y) += star::slope(lower[0] + x, lower[1] + y);
  }
  for (std::size_t d = 0; d < kDirections.size(); ++d) {
    // A strip of a negative direction is read by the next tile, which needs the end of this tile. A
    // strip of a positive direction is read by the tile before, which needs the beginning.
    const Values ours = values<LEGION_READ_WRITE>(regions[2 + d], kInput, 0);
    for_strip(kDirections[d], kDirections[d].before() ? edge - kRadius : 0,
              [&](coord_t x, coord_t y, coord_t tile_x, coord_t tile_y) {
                ours(x, y) = input(tile_x, tile_y);
              });
  }
  program::set_time(regions[6], program::kStop);
}

#ifdef GROMA_CUDA
// Returns the values from (x, y) on as a matrix for the GPU.
gpu::Matrix on_gpu(const Values& values, coord_t x, coord_t y) {
  constexpr std::ptrdiff_t kBytes = sizeof(double);
  return {reinterpret_cast<char*>(values.first + x + y * values.stride),
          {kBytes, values.stride * kBytes}};
}

// Copies a strip to a tile if `to_tile` is true, otherwise from the tile to the strip.
void copy_on_gpu(const Direction& direction, coord_t shift, const Values& strip, const Values& tile,
                 bool to_tile) {
  const bool in_x = direction.in_x();
  const gpu::Matrix theirs = on_gpu(strip, 0, 0);
  const gpu::Matrix ours = on_gpu(tile, in_x ? shift : 0, in_x ? 0 : shift);
  gpu::copy(in_x ? kRadius : config.edge, in_x ? config.edge : kRadius, to_tile ? theirs : ours,
            to_tile ? ours : theirs);
}

// The GPU variants do the same as stencil() and increment().
void stencil_on_gpu(const Task*, const Regions& regions, Context, Runtime*) {
  program::set_time_on_gpu(regions[6], program::kStart);
  const Values input = values<LEGION_READ_WRITE>(regions[0], kInput, kRadius);
  const Values output = values<LEGION_READ_WRITE>(regions[0], kOutput, kRadius);
  for (std::size_t d = 0; d < kDirections.size(); ++d) {
    const PhysicalRegion& strip = regions[2 + d];
    if (strip.get_bounds<2, coord_t>().empty()) continue;
    copy_on_gpu(kDirections[d], kDirections[d].before() ? -kRadius : config.edge,
                values<LEGION_READ_ONLY>(strip, kInput, 0), input, true);
  }
  gpu::add_star(config.edge, on_gpu(input, 0, 0), on_gpu(output, 0, 0));
}

void increment_on_gpu(const Task* task, const Regions& regions, Context, Runtime*) {
  const Point<2> lower = tile(task->index_point[0]) * square(config.edge);
  const Values input = values<LEGION_READ_WRITE>(regions[0], kInput, kRadius);
  gpu::add_slope(config.edge, lower[0], lower[1], on_gpu(input, 0, 0));
  for (std::size_t d = 0; d < kDirections.size(); ++d) {
    copy_on_gpu(kDirections[d], kDirections[d].before() ? config.edge - kRadius : 0,
                values<LEGION_READ_WRITE>(regions[2 + d], kInput, 0), input, false);
  }
  program::set_time_on_gpu(regions[6], program::kStop);
}

void add_gpu_tasks() {
  program::add_gpu_task<stencil_on_gpu>(kStencil, "stencil", program::Kind::kLeaf, {0, 2, 3, 4, 5});
  program::add_gpu_task<increment_on_gpu>(kIncrement, "increment", program::Kind::kLeaf,
                                          {0, 2, 3, 4, 5});
}
#else
void add_gpu_tasks() {}
#endif

// Returns how many points of a tile differ from those of a serial program. In iteration t the input
// is t times the slope, so the output is 0 + 1 + 2 + ... times the stencil's sum of the slope.
std::int64_t check(const Task* task, const Regions& regions, Context, Runtime*) {
  const Point<2> size = Point<2>(config.ntx(), config.nty()) * square(config.edge);
  const auto slope_at = [&](coord_t x, coord_t y) {
    return x < 0 || y < 0 || x >= size[0] || y >= size[1] ? 0 : star::slope(x, y);
  };
  const Point<2> lower = tile(task->index_point[0]) * square(config.edge);
  const Values input = values<LEGION_READ_ONLY>(regions[0], kInput, kRadius);
  const Values output = values<LEGION_READ_ONLY>(regions[0], kOutput, kRadius);
  // All values are multiples of a small power of 2, so the expected values are exact.
  const auto times = static_cast<double>(kWarmUps + config.loops);
  std::int64_t wrong = 0;
  for (coord_t j = 0; j < config.edge; ++j) {
    for (coord_t i = 0; i < config.edge; ++i) {
      const coord_t x = lower[0] + i, y = lower[1] + j;
      const double star =
          star::star([&](coord_t dx, coord_t dy) { return slope_at(x + dx, y + dy); });
      if (input(i, j) != times * star::slope(x, y) ||
          output(i, j) != star * (times * (times - 1) / 2)) {
        ++wrong;
      }
    }
  }
  return wrong;
}

// ---- the top level

// The strips of one direction. The partition `out` gives each tile the strip that it writes, and
// `in` the strip of the neighbour that it reads.
struct Strips {
  LogicalRegion region;
  LogicalPartition in, out;
};

// All regions and partitions of the program. The pieces of both `interior` and `exterior` are the
// points of a tile without its border.
struct Data {
  LogicalRegion points, times;
  LogicalPartition tiles, interior, exterior, times_of_tiles;
  std::array<Strips, 4> strips;
};

const std::vector<FieldID> kAll = {kInput, kInput1, kOutput};

// Launches a task that makes a partition. Returns the partition.
LogicalPartition made_by(TaskID task, Context context, Runtime* runtime, LogicalRegion region,
                         const char* name, Point<2> neighbour = {0, 0}) {
  TaskLauncher launcher(task, UntypedBuffer(&neighbour, sizeof neighbour));
  launcher.add_region_requirement(program::needs(region, LEGION_NO_ACCESS, kAll));
  const auto made = runtime->execute_task(context, launcher).get_result<LogicalPartition>();
  runtime->attach_name(made, name);
  return made;
}

// Makes the regions of the grid and of the strips, and their partitions.
Data make_data(Context context, Runtime* runtime) {
  const auto make = [&](const char* name, coord_t width, coord_t height) {
    return program::make_region(
        context, runtime, Rect<2>({0, 0}, {width - 1, height - 1}), name,
        {{kInput, "input", 8}, {kInput1, "input1", 8}, {kOutput, "output", 8}});
  };
  const coord_t ntx = config.ntx(), nty = config.nty(), edge = config.edge;
  // The stored points of a tile include its border, so the region is larger than the grid.
  Data data;
  data.points = make("points", ntx * (edge + 2 * kRadius), nty * (edge + 2 * kRadius));
  data.tiles = made_by(kMakePrivate, context, runtime, data.points, "private");
  data.interior = made_by(kMakeInterior, context, runtime, data.points, "interior");
  data.exterior = made_by(kMakeExterior, context, runtime, data.points, "exterior");
  for (std::size_t d = 0; d < kDirections.size(); ++d) {
    const Direction& direction = kDirections[d];
    Strips& strips = data.strips[d];
    strips.region = direction.in_x() ? make(direction.name, ntx * kRadius, nty * edge)
                                     : make(direction.name, ntx * edge, nty * kRadius);
    const TaskID task = direction.in_x() ? kGhostX : kGhostY;
    strips.out = made_by(task, context, runtime, strips.region, direction.out);
    strips.in = made_by(task, context, runtime, strips.region, direction.in, direction.step);
  }
  data.times = program::make_times(context, runtime, config.tiles(), "times");
  data.times_of_tiles = program::cut_equal(context, runtime, data.times, config.tiles(), "p_times");
  return data;
}

// Makes the data, runs the iterations, and checks the result. An iteration is a launch of stencil
// and a launch of increment.
void top_level(const Task*, const Regions&, Context context, Runtime* runtime) {
  // This task does nothing useful, because main() has already read the parameters. It exists only
  // because the original program has such a task.
  runtime->execute_task(context, program::single(kReadConfig)).wait();
  const Data data = make_data(context, runtime);

  const auto over_tiles = [&](TaskID task) {
    return program::over(task, Rect<1>(0, config.tiles() - 1));
  };
  const RegionRequirement times = program::needs(data.times_of_tiles, data.times, LEGION_READ_WRITE,
                                                 {program::kStart, program::kStop});
  // Tasks of an iteration depend on each other only through the strips and their own tile, which
  // Legion finds out.
  const auto step = [&] {
    IndexTaskLauncher stencil = over_tiles(kStencil);
    stencil.add_region_requirement(
        program::needs(data.tiles, data.points, LEGION_READ_WRITE, kAll));
    stencil.add_region_requirement(
        program::needs(data.interior, data.points, LEGION_NO_ACCESS, kAll));
    for (const Strips& strips : data.strips) {
      stencil.add_region_requirement(
          program::needs(strips.in, strips.region, LEGION_READ_ONLY, {kInput}));
    }
    stencil.add_region_requirement(times);
    runtime->execute_index_space(context, stencil);

    IndexTaskLauncher increment = over_tiles(kIncrement);
    increment.add_region_requirement(
        program::needs(data.tiles, data.points, LEGION_READ_WRITE, {kInput, kInput1}));
    increment.add_region_requirement(
        program::needs(data.exterior, data.points, LEGION_NO_ACCESS, kAll));
    for (const Strips& strips : data.strips) {
      increment.add_region_requirement(
          program::needs(strips.out, strips.region, LEGION_READ_WRITE, {kInput}));
    }
    increment.add_region_requirement(times);
    runtime->execute_index_space(context, increment);
  };
  program::traced(context, runtime, kWarmUp, kWarmUps, step);
  const long long elapsed = program::timed(
      context, runtime, [&] { program::traced(context, runtime, kTimed, config.loops, step); });

  IndexTaskLauncher check = over_tiles(kCheck);
  check.add_region_requirement(
      program::needs(data.tiles, data.points, LEGION_READ_ONLY, {kInput, kOutput}));
  check.add_region_requirement(program::needs(data.interior, data.points, LEGION_NO_ACCESS, kAll));
  const Future wrong = runtime->execute_index_space(context, check, LEGION_REDOP_SUM_INT64);
  TaskLauncher last = program::single(kGetElapsed);
  last.add_region_requirement(
      program::needs(data.times, LEGION_READ_ONLY, {program::kStart, program::kStop}));
  runtime->execute_task(context, last).wait();
  runtime->execute_index_space(context, over_tiles(kPrintTime));
  program::report(context, runtime, elapsed, wrong.get_result<std::int64_t>());
}

}  // namespace

// Reads the parameters, registers the tasks under the names of the original program, and starts
// Legion.
int main(int argc, char** argv) {
  using program::Kind;
  if (!program::read_parameters(argc, argv,
                                {{"edge", &config.edge, 2, 1 << 20},
                                 {"nodes", &config.nodes, 1, 1 << 16},
                                 {"loops", &config.loops, 1, 1 << 20}})) {
    return 2;
  }
  program::add_task<top_level>(kMain, "main", Kind::kReplicable);
  Runtime::set_top_level_task_id(kMain);
  program::add_task<program::nothing>(kReadConfig, "read_config");
  program::add_task<make_tiles<0>>(kMakePrivate, "make_private_partition", Kind::kPlain);
  program::add_task<make_tiles<kRadius>>(kMakeInterior, "make_interior_partition", Kind::kPlain);
  program::add_task<make_tiles<kRadius>>(kMakeExterior, "make_exterior_partition", Kind::kPlain);
  program::add_task<make_strips>(kGhostX, "ghost_x_partition", Kind::kPlain);
  program::add_task<make_strips>(kGhostY, "ghost_y_partition", Kind::kPlain);
  program::add_task<stencil>(kStencil, "stencil", Kind::kLeaf, {0, 2, 3, 4, 5});
  program::add_task<increment>(kIncrement, "increment", Kind::kLeaf, {0, 2, 3, 4, 5});
  program::add_task<check>(kCheck, "check", Kind::kLeaf, {0});
  program::add_task<program::get_elapsed>(kGetElapsed, "get_elapsed");
  program::add_task<program::nothing>(kPrintTime, "print_time");
  add_gpu_tasks();
  return Runtime::start(argc, argv);
}
