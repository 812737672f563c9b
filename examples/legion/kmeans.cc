// Finds clusters of samples by Lloyd's k-means:
//
//   kmeans [-nodes 1] [-samples 4000] [-k 8] [-dim 4] [-iterations 10] [-over 4] [LEGION'S FLAGS]
//
// There are `samples` samples for each node, with `dim` coordinates each, cut into
// 4 * nodes * over batches. In each iteration the batches assign their samples to the nearest of k
// centroids and add them up by reductions. Then one task moves the centroids to the means.
#include <algorithm>
#include <cstdio>

#include "program.h"

namespace {

using namespace Legion;
using Regions = std::vector<PhysicalRegion>;

enum Tasks : TaskID {
  kMain = 1,
  kReadPoints,
  kSeedCentroids,
  kZeroSums,
  kAssign,
  kAccumulate,
  kMoveCentroids,
};
enum Traces : TraceID { kIteration = 1 };
// Each region has one field.
enum Fields : FieldID { kField = 1 };

// The parameters of the command line, and the sizes that follow from them.
struct Config {
  std::int64_t nodes = 1, samples = 4'000, k = 8, dim = 4, iterations = 10, over = 4;

  coord_t all_samples() const { return samples * nodes; }
  coord_t batches() const { return 4 * nodes * over; }
  Rect<1> batch(coord_t i) const { return program::block(all_samples(), batches(), i); }
} config;

// ---- the arithmetic, which the tasks and the serial reference share

// A table with a row of `dim` values for each sample or centroid.
template <typename T>
struct Table {
  std::vector<T> values;

  explicit Table(coord_t rows) : values(static_cast<std::size_t>(rows * config.dim)) {}
  T* row(coord_t i) { return &values[static_cast<std::size_t>(i * config.dim)]; }
  const T* row(coord_t i) const { return &values[static_cast<std::size_t>(i * config.dim)]; }
};

// Returns a number of `bits` bits that depends on two numbers.
float draw(std::int64_t a, std::int64_t b, int bits) {
  auto mixed = static_cast<std::uint64_t>(a) * 0x9E3779B97F4A7C15U ^
               static_cast<std::uint64_t>(b + 1) * 0xC2B2AE3D27D4EB4FU;
  mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9U;
  return static_cast<float>(mixed >> (64 - bits));
}

// Returns a coordinate of a sample. Samples lie around one of k points. All coordinates are small
// integers, so their sums are exact in any order.
float coordinate(std::int64_t sample, std::int64_t d) {
  const auto cluster = static_cast<std::int64_t>(draw(sample, -1, 20)) % config.k;
  return draw(-1 - cluster, d, 7) + draw(sample, d, 4);
}

// Returns the nearest centroid of a sample, and of several the first one.
std::int32_t nearest(const float* sample, const Table<float>& centroids) {
  std::int32_t best = 0;
  float least = 0;
  for (std::int32_t c = 0; c < config.k; ++c) {
    float distance = 0;
    for (coord_t d = 0; d < config.dim; ++d) {
      const float difference = sample[d] - centroids.row(c)[d];
      distance += difference * difference;
    }
    if (c > 0 && distance >= least) continue;
    best = c;
    least = distance;
  }
  return best;
}

// Moves a centroid to the mean of its samples. A centroid without samples stays where it is.
// Returns the square of the distance.
double move(const double* sums, std::int64_t count, float* centroid) {
  double shift = 0;
  for (coord_t d = 0; d < config.dim && count > 0; ++d) {
    const auto mean = static_cast<float>(sums[d] / static_cast<double>(count));
    const double difference = static_cast<double>(mean) - static_cast<double>(centroid[d]);
    shift += difference * difference;
    centroid[d] = mean;
  }
  return shift;
}

// ---- the tasks

template <PrivilegeMode mode, typename T, int dimensions>
using Array =
    FieldAccessor<mode, T, dimensions, coord_t, Realm::AffineAccessor<T, dimensions, coord_t>>;
template <typename T, int dimensions>
using Sum = ReductionAccessor<SumReduction<T>, /*EXCLUSIVE=*/false, dimensions, coord_t,
                              Realm::AffineAccessor<T, dimensions, coord_t>>;

// Calls each(i) for all rows of a piece, which may have one or two dimensions.
template <typename Each>
void for_rows(const PhysicalRegion& region, const Each& each) {
  const Domain rows = region.get_logical_region().get_index_space().get_dim() == 1
                          ? Domain(region.get_bounds<1, coord_t>())
                          : Domain(region.get_bounds<2, coord_t>());
  for (coord_t i = rows.lo()[0]; i <= rows.hi()[0]; ++i) each(i);
}

// Copies a row to `to`, which has room for `dim` values.
template <typename Values, typename T>
void read_row(const Values& values, coord_t i, T* to) {
  for (coord_t d = 0; d < config.dim; ++d) to[d] = values[Point<2>(i, d)];
}

template <typename Values, typename T>
void write_row(const Values& values, coord_t i, const T* from) {
  for (coord_t d = 0; d < config.dim; ++d) values[Point<2>(i, d)] = from[d];
}

// Returns a copy of all centroids.
template <PrivilegeMode mode>
Table<float> centroids_of(const PhysicalRegion& region) {
  const Array<mode, float, 2> values(region, kField);
  Table<float> centroids(config.k);
  for (coord_t c = 0; c < config.k; ++c) read_row(values, c, centroids.row(c));
  return centroids;
}

// Writes a batch of samples, or the centroids, which begin as the first k samples.
void write_samples(const Task*, const Regions& regions, Context, Runtime*) {
  const Array<LEGION_WRITE_DISCARD, float, 2> values(regions[0], kField);
  for_rows(regions[0], [&](coord_t i) {
    for (coord_t d = 0; d < config.dim; ++d) values[Point<2>(i, d)] = coordinate(i, d);
  });
}

void zero_sums(const Task*, const Regions& regions, Context, Runtime*) {
  const Array<LEGION_WRITE_DISCARD, double, 2> sums(regions[0], kField);
  const Array<LEGION_WRITE_DISCARD, std::int64_t, 1> counts(regions[1], kField);
  for (coord_t c = 0; c < config.k; ++c) {
    for (coord_t d = 0; d < config.dim; ++d) sums[Point<2>(c, d)] = 0;
    counts[c] = 0;
  }
}

// Writes the nearest centroid of each sample of the batch.
void assign(const Task*, const Regions& regions, Context, Runtime*) {
  const Array<LEGION_READ_ONLY, float, 2> samples(regions[0], kField);
  const Table<float> centroids = centroids_of<LEGION_READ_ONLY>(regions[1]);
  const Array<LEGION_WRITE_DISCARD, std::int32_t, 1> labels(regions[2], kField);
  std::vector<float> sample(static_cast<std::size_t>(config.dim));
  for_rows(regions[0], [&](coord_t i) {
    read_row(samples, i, sample.data());
    labels[i] = nearest(sample.data(), centroids);
  });
}

// Adds the samples of the batch to the sums of their centroids.
void accumulate(const Task*, const Regions& regions, Context, Runtime*) {
  const Array<LEGION_READ_ONLY, float, 2> samples(regions[0], kField);
  const Array<LEGION_READ_ONLY, std::int32_t, 1> labels(regions[1], kField);
  const Sum<double, 2> sums(regions[2], kField, LEGION_REDOP_SUM_FLOAT64);
  const Sum<std::int64_t, 1> counts(regions[3], kField, LEGION_REDOP_SUM_INT64);
  for_rows(regions[0], [&](coord_t i) {
    const coord_t c = labels[i];
    for (coord_t d = 0; d < config.dim; ++d) {
      sums[Point<2>(c, d)] <<= static_cast<double>(samples[Point<2>(i, d)]);
    }
    counts[Point<1>(c)] <<= 1;
  });
}

// Moves all centroids. Returns the sum of the squares of their distances.
double move_centroids(const Task*, const Regions& regions, Context, Runtime*) {
  const Array<LEGION_READ_ONLY, double, 2> sums(regions[0], kField);
  const Array<LEGION_READ_ONLY, std::int64_t, 1> counts(regions[1], kField);
  const Array<LEGION_READ_WRITE, float, 2> values(regions[2], kField);
  Table<float> centroids = centroids_of<LEGION_READ_WRITE>(regions[2]);
  std::vector<double> sum(static_cast<std::size_t>(config.dim));
  double shift = 0;
  for (coord_t c = 0; c < config.k; ++c) {
    read_row(sums, c, sum.data());
    shift += move(sum.data(), counts[c], centroids.row(c));
    write_row(values, c, centroids.row(c));
  }
  return shift;
}

// ---- the serial reference

// The labels of all samples, the centroids, and how far the last iteration moved them.
struct Result {
  std::vector<std::int32_t> labels;
  Table<float> centroids;
  double shift;
};

Result serial() {
  const coord_t n = config.all_samples();
  Table<float> samples(n);
  for (coord_t i = 0; i < n; ++i) {
    for (coord_t d = 0; d < config.dim; ++d) samples.row(i)[d] = coordinate(i, d);
  }
  Result result = {std::vector<std::int32_t>(static_cast<std::size_t>(n)), Table<float>(config.k),
                   0};
  std::copy_n(samples.values.begin(), config.k * config.dim, result.centroids.values.begin());
  for (std::int64_t iteration = 0; iteration < config.iterations; ++iteration) {
    Table<double> sums(config.k);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(config.k));
    for (coord_t i = 0; i < n; ++i) {
      const std::int32_t label = nearest(samples.row(i), result.centroids);
      for (coord_t d = 0; d < config.dim; ++d) {
        sums.row(label)[d] += static_cast<double>(samples.row(i)[d]);
      }
      ++counts[static_cast<std::size_t>(label)];
      result.labels[static_cast<std::size_t>(i)] = label;
    }
    result.shift = 0;
    for (coord_t c = 0; c < config.k; ++c) {
      result.shift +=
          move(sums.row(c), counts[static_cast<std::size_t>(c)], result.centroids.row(c));
    }
  }
  return result;
}

// ---- the top level

// The regions of the program and their partitions.
struct Data {
  LogicalRegion samples, labels, centroids, sums, counts;
  LogicalPartition batches, labels_of_batches;
};

Data make_data(Context context, Runtime* runtime) {
  const auto make = [&](const Domain& space, const char* name, const program::Field& field) {
    return program::make_region(context, runtime, space, name, {field});
  };
  const coord_t n = config.all_samples(), k = config.k, dim = config.dim;
  Data data;
  data.samples = make(Rect<2>({0, 0}, {n - 1, dim - 1}), "data", {kField, "x", 4});
  data.labels = make(Rect<1>(0, n - 1), "label", {kField, "c", 4});
  data.centroids = make(Rect<2>({0, 0}, {k - 1, dim - 1}), "centroid", {kField, "x", 4});
  data.sums = make(Rect<2>({0, 0}, {k - 1, dim - 1}), "sums", {kField, "s", 8});
  data.counts = make(Rect<1>(0, k - 1), "counts", {kField, "n", 8});
  data.batches =
      program::cut(context, runtime, data.samples, config.batches(), "batch", [&](coord_t i) {
        const Rect<1> rows = config.batch(i);
        return Rect<2>({rows.lo[0], 0}, {rows.hi[0], dim - 1});
      });
  data.labels_of_batches = program::cut(context, runtime, data.labels, config.batches(), "label_of",
                                        [](coord_t i) { return config.batch(i); });
  return data;
}

// Adds requirements to a launch of any kind, and returns it.
template <typename Launcher>
Launcher with(Launcher launcher, std::initializer_list<RegionRequirement> requirements) {
  for (const RegionRequirement& requirement : requirements) {
    launcher.add_region_requirement(requirement);
  }
  return launcher;
}

// Returns the launch of a task for all batches.
IndexTaskLauncher over_batches(TaskID task) {
  return program::over(task, Rect<1>(0, config.batches() - 1));
}

// Returns the requirement for a batch of samples.
RegionRequirement batch(const Data& data, PrivilegeMode privilege) {
  return program::needs(data.batches, data.samples, privilege, {kField});
}

// Returns the requirement for the labels of a batch.
RegionRequirement labels(const Data& data, PrivilegeMode privilege) {
  return program::needs(data.labels_of_batches, data.labels, privilege, {kField});
}

// Returns the requirement for a whole region.
RegionRequirement whole(LogicalRegion region, PrivilegeMode privilege) {
  return program::needs(region, privilege, {kField});
}

// Returns the requirement of an index launch whose points all add to a region.
RegionRequirement added(LogicalRegion region, ReductionOpID reduction) {
  return RegionRequirement(region, /*projection=*/0, reduction, LEGION_EXCLUSIVE, region)
      .add_field(kField);
}

// Runs the iterations on data that are filled already. Returns how far the last one moved the
// centroids.
double iterate(Context context, Runtime* runtime, const Data& data) {
  const TaskLauncher zero =
      with(program::single(kZeroSums),
           {whole(data.sums, LEGION_WRITE_DISCARD), whole(data.counts, LEGION_WRITE_DISCARD)});
  // Every point reads all centroids.
  const IndexTaskLauncher assign = with(
      over_batches(kAssign), {batch(data, LEGION_READ_ONLY),
                              RegionRequirement(data.centroids, /*projection=*/0, LEGION_READ_ONLY,
                                                LEGION_EXCLUSIVE, data.centroids)
                                  .add_field(kField),
                              labels(data, LEGION_WRITE_DISCARD)});
  const IndexTaskLauncher accumulate = with(
      over_batches(kAccumulate),
      {batch(data, LEGION_READ_ONLY), labels(data, LEGION_READ_ONLY),
       added(data.sums, LEGION_REDOP_SUM_FLOAT64), added(data.counts, LEGION_REDOP_SUM_INT64)});
  const TaskLauncher move =
      with(program::single(kMoveCentroids),
           {whole(data.sums, LEGION_READ_ONLY), whole(data.counts, LEGION_READ_ONLY),
            whole(data.centroids, LEGION_READ_WRITE)});
  double shift = 0;
  for (std::int64_t i = 0; i < config.iterations; ++i) {
    Future moved;
    program::traced(context, runtime, kIteration, 1, [&] {
      runtime->execute_task(context, zero);
      runtime->execute_index_space(context, assign);
      runtime->execute_index_space(context, accumulate);
      moved = runtime->execute_task(context, move);
    });
    // Legion cannot replay a trace in which a task waits.
    shift = moved.get_result<double>();
  }
  return shift;
}

// Returns how many labels and coordinates of centroids are not those of the serial program.
std::int64_t count_wrong(Context context, Runtime* runtime, const Data& data, double shift) {
  const Result expected = serial();
  const auto map = [&](LogicalRegion region) {
    return runtime->map_region(context, InlineLauncher(whole(region, LEGION_READ_ONLY)));
  };
  std::int64_t wrong = shift == expected.shift ? 0 : 1;
  const PhysicalRegion centroids = map(data.centroids);
  const Table<float> found = centroids_of<LEGION_READ_ONLY>(centroids);
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    if (found.values[i] != expected.centroids.values[i]) ++wrong;
  }
  runtime->unmap_region(context, centroids);
  const PhysicalRegion mapped = map(data.labels);
  const Array<LEGION_READ_ONLY, std::int32_t, 1> label(mapped, kField);
  for_rows(mapped, [&](coord_t i) {
    if (label[i] != expected.labels[static_cast<std::size_t>(i)]) ++wrong;
  });
  runtime->unmap_region(context, mapped);
  return wrong;
}

// Fills the data, runs the iterations, prints how far the last one moved the centroids, and checks
// the result.
void top_level(const Task*, const Regions&, Context context, Runtime* runtime) {
  const Data data = make_data(context, runtime);
  runtime->execute_index_space(
      context, with(over_batches(kReadPoints), {batch(data, LEGION_WRITE_DISCARD)}));
  runtime->execute_task(context, with(program::single(kSeedCentroids),
                                      {whole(data.centroids, LEGION_WRITE_DISCARD)}));
  double shift = 0;
  const long long elapsed =
      program::timed(context, runtime, [&] { shift = iterate(context, runtime, data); });
  char text[100];
  std::snprintf(text, sizeof text, "shift %.9e\n", shift);
  runtime->print_once(context, stdout, text);
  program::report(context, runtime, elapsed, count_wrong(context, runtime, data, shift));
}

// Returns false, with the reason on standard error, if the sizes do not fit together.
bool check_sizes(const char* program) {
  const std::int64_t least = std::max<std::int64_t>(config.k, config.batches());
  if (config.all_samples() >= least) return true;
  std::fprintf(stderr, "%s: %lld samples are fewer than %lld, the number of %s\n", program,
               static_cast<long long>(config.all_samples()), static_cast<long long>(least),
               least == config.k ? "clusters" : "batches");
  return false;
}

}  // namespace

// Reads the parameters, registers the tasks, and starts Legion.
int main(int argc, char** argv) {
  using program::Kind;
  if (!program::read_parameters(argc, argv,
                                {{"nodes", &config.nodes, 1, 1 << 16},
                                 {"samples", &config.samples, 1, 1 << 28},
                                 {"k", &config.k, 1, 1 << 16},
                                 {"dim", &config.dim, 1, 1 << 10},
                                 {"iterations", &config.iterations, 1, 1 << 20},
                                 {"over", &config.over, 1, 1 << 10}}) ||
      !check_sizes(argv[0])) {
    return 2;
  }
  program::add_task<top_level>(kMain, "main", Kind::kReplicable);
  Runtime::set_top_level_task_id(kMain);
  program::add_task<write_samples>(kReadPoints, "read_points");
  program::add_task<write_samples>(kSeedCentroids, "seed_centroids");
  program::add_task<zero_sums>(kZeroSums, "zero_sums");
  program::add_task<assign>(kAssign, "assign");
  program::add_task<accumulate>(kAccumulate, "accumulate");
  program::add_task<move_centroids>(kMoveCentroids, "move_centroids");
  return Runtime::start(argc, argv);
}
