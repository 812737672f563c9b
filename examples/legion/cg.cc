// Solves a system of linear equations by the conjugate gradient method with a Jacobi
// preconditioner, as HPCG does without multigrid:
//
//   cg [-nodes 1] [-nx 16] [-nz 16] [-iterations 25] [-over 1] [LEGION'S FLAGS]
//
// The unknowns are the points of a grid of nx x nx x (nz * nodes) points. A row of the matrix
// couples a point with its 26 neighbours. The rows are cut into 4 * nodes * over parts of whole
// planes. Dot products are sums over all parts, which the next tasks take as futures.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "program.h"

namespace {

using namespace Legion;
using Regions = std::vector<PhysicalRegion>;

enum Tasks : TaskID {
  kMain = 1,
  kAssemble,
  kInitGuess,
  kPrecondition,
  kDotRz,
  kUpdateP,
  kSpmv,
  kDotPAp,
  kUpdateX,
  kUpdateR,
  kNormR,
};
enum Traces : TraceID { kIteration = 1 };
// The fields of three field spaces: those of the matrix, those of the vectors, and the field kV of
// the right-hand side. Fields of different spaces may have the same number.
enum Fields : FieldID {
  kValues = 1,
  kColumns,
  kDiagonal,
  kX = 1,
  kR,
  kZ,
  kP,
  kAp,
  kV = 1,
};

// The parameters of the command line, and the sizes that follow from them.
struct Config {
  std::int64_t nodes = 1, nx = 16, nz = 16, iterations = 25, over = 1;

  coord_t planes() const { return nz * nodes; }
  coord_t rows_of_plane() const { return nx * nx; }
  coord_t rows() const { return rows_of_plane() * planes(); }
  coord_t parts() const { return 4 * nodes * over; }
  Rect<1> part(coord_t i) const { return program::block(rows(), parts(), i); }
} config;

// ---- the matrix

// The nonzero values of a row and their columns.
constexpr std::size_t kNonzeros = 27;
struct RowValues {
  double at[kNonzeros];
};
struct RowColumns {
  std::int32_t at[kNonzeros];
};

// Calls each(row) for the row of every neighbour of a point that lies in the grid, including the
// point itself.
template <typename Each>
void for_neighbours(coord_t row, const Each& each) {
  const coord_t nx = config.nx, x = row % nx, y = row / nx % nx, z = row / config.rows_of_plane();
  const auto last = [](coord_t at, coord_t size) { return std::min(at + 1, size - 1); };
  const auto first = [](coord_t at) { return std::max<coord_t>(at - 1, 0); };
  for (coord_t k = first(z); k <= last(z, config.planes()); ++k) {
    for (coord_t j = first(y); j <= last(y, nx); ++j) {
      for (coord_t i = first(x); i <= last(x, nx); ++i) each(i + nx * (j + nx * k));
    }
  }
}

// Returns the value of a row on the diagonal. All other values that are not 0 are -1.
double diagonal_of(coord_t row) { return 26.0 + static_cast<double>(row % 5); }

// Returns the sum of a row's values. The vector of these sums is the right-hand side, so that all
// elements of the exact solution are 1.
double right_side(coord_t row) {
  double sum = diagonal_of(row);
  for_neighbours(row, [&](coord_t column) { sum -= column == row ? 0 : 1; });
  return sum;
}

// ---- the tasks

template <PrivilegeMode mode, typename T>
using Array = FieldAccessor<mode, T, 1, coord_t, Realm::AffineAccessor<T, 1, coord_t>>;
using Input = Array<LEGION_READ_ONLY, double>;
using Output = Array<LEGION_WRITE_DISCARD, double>;
using Changed = Array<LEGION_READ_WRITE, double>;

// Calls each(row) for all rows of a piece.
template <typename Each>
void for_rows(const PhysicalRegion& region, const Each& each) {
  const Rect<1> rows = region.get_bounds<1, coord_t>().bounds;
  for (PointInRectIterator<1> at(rows); at(); at++) each(*at);
}

// Returns a / b, or 0 if b is 0: then the residual is 0, and no step is needed.
double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

// Returns the value of the task's future number i.
double future(const Task* task, std::size_t i) {
  return Future(task->futures[i]).get_result<double>();
}

// Fills the part's rows of the matrix and of the right-hand side. A neighbour beyond the grid has
// the value 0.
void assemble(const Task*, const Regions& regions, Context, Runtime*) {
  const Array<LEGION_WRITE_DISCARD, RowValues> values(regions[0], kValues);
  const Array<LEGION_WRITE_DISCARD, RowColumns> columns(regions[0], kColumns);
  const Output diagonal(regions[0], kDiagonal), b(regions[1], kV);
  for_rows(regions[0], [&](Point<1> row) {
    RowValues value = {};
    RowColumns column;
    std::fill(std::begin(column.at), std::end(column.at), static_cast<std::int32_t>(row[0]));
    std::size_t next = 0;
    for_neighbours(row[0], [&](coord_t neighbour) {
      value.at[next] = neighbour == row[0] ? diagonal_of(row[0]) : -1;
      column.at[next++] = static_cast<std::int32_t>(neighbour);
    });
    values[row] = value;
    columns[row] = column;
    diagonal[row] = diagonal_of(row[0]);
    b[row] = right_side(row[0]);
  });
}

// Begins with x = 0, whose residual is the right-hand side.
void init_guess(const Task*, const Regions& regions, Context, Runtime*) {
  const Output x(regions[0], kX), r(regions[0], kR), z(regions[0], kZ), p(regions[0], kP),
      product(regions[0], kAp);
  const Input b(regions[1], kV);
  for_rows(regions[0], [&](Point<1> row) {
    x[row] = z[row] = p[row] = product[row] = 0;
    r[row] = b[row];
  });
}

// z = r / diagonal
void precondition(const Task*, const Regions& regions, Context, Runtime*) {
  const Input r(regions[0], kR), diagonal(regions[1], kDiagonal);
  const Output z(regions[2], kZ);
  for_rows(regions[0], [&](Point<1> row) { z[row] = r[row] / diagonal[row]; });
}

// Returns the part's share of a dot product of two fields.
template <FieldID first, FieldID second>
double dot(const Task*, const Regions& regions, Context, Runtime*) {
  const Input a(regions[0], first), b(regions[0], second);
  double sum = 0;
  for_rows(regions[0], [&](Point<1> row) { sum += a[row] * b[row]; });
  return sum;
}

// p = z + (rz / last rz) p. The futures are both.
void update_p(const Task* task, const Regions& regions, Context, Runtime*) {
  const double beta = ratio(future(task, 0), future(task, 1));
  const Input z(regions[0], kZ);
  const Changed p(regions[1], kP);
  for_rows(regions[0], [&](Point<1> row) { p[row] = z[row] + beta * p[row]; });
}

// Ap = A p. The part's rows of A need elements of p from the neighbouring planes.
void spmv(const Task*, const Regions& regions, Context, Runtime*) {
  const Array<LEGION_READ_ONLY, RowValues> values(regions[0], kValues);
  const Array<LEGION_READ_ONLY, RowColumns> columns(regions[0], kColumns);
  const Input p(regions[1], kP);
  const Output product(regions[2], kAp);
  for_rows(regions[0], [&](Point<1> row) {
    const RowValues& value = values[row];
    const RowColumns& column = columns[row];
    double sum = 0;
    for (std::size_t i = 0; i < kNonzeros; ++i) sum += value.at[i] * p[Point<1>(column.at[i])];
    product[row] = sum;
  });
}

// Adds `sign` * (rz / pAp) times the second requirement's field to the first one's. The futures are
// pAp and rz.
template <FieldID changed, FieldID added, int sign>
void update(const Task* task, const Regions& regions, Context, Runtime*) {
  const double alpha = sign * ratio(future(task, 1), future(task, 0));
  const Changed to(regions[0], changed);
  const Input from(regions[1], added);
  for_rows(regions[0], [&](Point<1> row) { to[row] += alpha * from[row]; });
}

// ---- the serial reference

using Vector = std::vector<double>;

double serial_dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Returns x after all iterations. It needs no matrix.
Vector serial() {
  const auto rows = static_cast<std::size_t>(config.rows());
  const auto row_of = [](std::size_t i) { return static_cast<coord_t>(i); };
  Vector x(rows), r(rows), z(rows), p(rows), product(rows);
  for (std::size_t i = 0; i < rows; ++i) r[i] = right_side(row_of(i));
  double last = 0;
  for (std::int64_t iteration = 0; iteration < config.iterations; ++iteration) {
    for (std::size_t i = 0; i < rows; ++i) z[i] = r[i] / diagonal_of(row_of(i));
    const double rz = serial_dot(r, z);
    const double beta = ratio(rz, last);
    for (std::size_t i = 0; i < rows; ++i) p[i] = z[i] + beta * p[i];
    for (std::size_t i = 0; i < rows; ++i) {
      product[i] = (diagonal_of(row_of(i)) + 1) * p[i];
      for_neighbours(row_of(i),
                     [&](coord_t column) { product[i] -= p[static_cast<std::size_t>(column)]; });
    }
    const double alpha = ratio(rz, serial_dot(p, product));
    for (std::size_t i = 0; i < rows; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * product[i];
    }
    last = rz;
  }
  return x;
}

// ---- the top level

// The regions of the program and their partitions. A piece of `ghosts` has the rows of a part and
// one plane more at each side.
struct Data {
  LogicalRegion a, vectors, b;
  LogicalPartition a_rows, rows, ghosts, b_rows;
};

Data make_data(Context context, Runtime* runtime) {
  const Rect<1> all(0, config.rows() - 1);
  Data data;
  data.a = program::make_region(context, runtime, all, "A",
                                {{kValues, "values", sizeof(RowValues)},
                                 {kColumns, "columns", sizeof(RowColumns)},
                                 {kDiagonal, "diagonal", 8}});
  data.vectors = program::make_region(
      context, runtime, all, "vec",
      {{kX, "x", 8}, {kR, "r", 8}, {kZ, "z", 8}, {kP, "p", 8}, {kAp, "Ap", 8}});
  data.b = program::make_region(context, runtime, all, "b", {{kV, "v", 8}});
  const auto cut = [&](LogicalRegion region, const char* name) {
    return program::cut(context, runtime, region, config.parts(), name,
                        [](coord_t i) { return config.part(i); });
  };
  data.a_rows = cut(data.a, "A_rows");
  data.rows = cut(data.vectors, "vec_rows");
  data.b_rows = cut(data.b, "b_rows");
  data.ghosts = program::cut(
      context, runtime, data.vectors, config.parts(), "vec_ghost",
      [](coord_t i) {
        const coord_t plane = config.rows_of_plane();
        return Rect<1>(config.part(i).lo - plane, config.part(i).hi + plane);
      },
      LEGION_ALIASED_COMPLETE_KIND);
  return data;
}

// Returns the launch of a task for all parts.
IndexTaskLauncher over_parts(TaskID task, std::initializer_list<RegionRequirement> requirements,
                             std::initializer_list<Future> futures = {}) {
  IndexTaskLauncher launcher = program::over(task, Rect<1>(0, config.parts() - 1));
  for (const RegionRequirement& requirement : requirements) {
    launcher.add_region_requirement(requirement);
  }
  for (const Future& future : futures) launcher.add_future(future);
  return launcher;
}

// Runs the iterations on data that are filled already. Returns the square of the residual's norm.
double iterate(Context context, Runtime* runtime, const Data& data) {
  const auto vectors = [&](PrivilegeMode privilege, const std::vector<FieldID>& fields) {
    return program::needs(data.rows, data.vectors, privilege, fields);
  };
  const auto matrix = [&](const std::vector<FieldID>& fields) {
    return program::needs(data.a_rows, data.a, LEGION_READ_ONLY, fields);
  };
  const auto launch = [&](const IndexTaskLauncher& launcher) {
    runtime->execute_index_space(context, launcher);
  };
  // The parts' shares are added in the order of the parts, so a mapping does not change the sum.
  const auto sum = [&](TaskID task, const std::vector<FieldID>& fields) {
    return runtime->execute_index_space(
        context, over_parts(task, {vectors(LEGION_READ_ONLY, fields)}), LEGION_REDOP_SUM_FLOAT64,
        /*ordered=*/true);
  };
  constexpr PrivilegeMode kRead = LEGION_READ_ONLY, kWrite = LEGION_WRITE_DISCARD,
                          kChange = LEGION_READ_WRITE;
  Future last = Future::from_value<double>(0);
  double residual = 0;
  for (std::int64_t i = 0; i < config.iterations; ++i) {
    Future norm;
    program::traced(context, runtime, kIteration, 1, [&] {
      launch(over_parts(kPrecondition,
                        {vectors(kRead, {kR}), matrix({kDiagonal}), vectors(kWrite, {kZ})}));
      const Future rz = sum(kDotRz, {kR, kZ});
      launch(over_parts(kUpdateP, {vectors(kRead, {kZ}), vectors(kChange, {kP})}, {rz, last}));
      launch(over_parts(
          kSpmv, {matrix({kValues, kColumns}),
                  program::needs(data.ghosts, data.vectors, kRead, {kP}), vectors(kWrite, {kAp})}));
      const Future product = sum(kDotPAp, {kP, kAp});
      launch(over_parts(kUpdateX, {vectors(kChange, {kX}), vectors(kRead, {kP})}, {product, rz}));
      launch(over_parts(kUpdateR, {vectors(kChange, {kR}), vectors(kRead, {kAp})}, {product, rz}));
      norm = sum(kNormR, {kR});
      last = rz;
    });
    // Legion cannot replay a trace in which a task waits.
    residual = norm.get_result<double>();
  }
  return residual;
}

// Returns how many elements of x are not those of the serial program. A small difference is
// allowed, because sums are added in another order.
std::int64_t count_wrong(Context context, Runtime* runtime, const Data& data) {
  const Vector expected = serial();
  const PhysicalRegion mapped = runtime->map_region(
      context, InlineLauncher(program::needs(data.vectors, LEGION_READ_ONLY, {kX})));
  const Input x(mapped, kX);
  std::int64_t wrong = 0;
  for_rows(mapped, [&](Point<1> row) {
    const double value = expected[static_cast<std::size_t>(row[0])];
    if (!(std::abs(x[row] - value) <= 1e-9 * std::max(1.0, std::abs(value)))) ++wrong;
  });
  runtime->unmap_region(context, mapped);
  return wrong;
}

// Fills the data, runs the iterations, prints the norm of the residual, and checks the result.
void top_level(const Task*, const Regions&, Context context, Runtime* runtime) {
  const Data data = make_data(context, runtime);
  runtime->execute_index_space(
      context,
      over_parts(kAssemble, {program::needs(data.a_rows, data.a, LEGION_WRITE_DISCARD,
                                            {kValues, kColumns, kDiagonal}),
                             program::needs(data.b_rows, data.b, LEGION_WRITE_DISCARD, {kV})}));
  runtime->execute_index_space(
      context,
      over_parts(kInitGuess, {program::needs(data.rows, data.vectors, LEGION_WRITE_DISCARD,
                                             {kX, kR, kZ, kP, kAp}),
                              program::needs(data.b_rows, data.b, LEGION_READ_ONLY, {kV})}));
  double residual = 0;
  const long long elapsed =
      program::timed(context, runtime, [&] { residual = iterate(context, runtime, data); });
  char text[100];
  std::snprintf(text, sizeof text, "residual %.9e\n", std::sqrt(residual));
  runtime->print_once(context, stdout, text);
  program::report(context, runtime, elapsed, count_wrong(context, runtime, data));
}

// Returns false, with the reason on standard error, if the sizes do not fit together.
bool check_sizes(const char* program) {
  if (config.nz % (4 * config.over) != 0) {
    std::fprintf(stderr, "%s: -nz takes a multiple of 4 * over = %lld, not `%lld`\n", program,
                 static_cast<long long>(4 * config.over), static_cast<long long>(config.nz));
    return false;
  }
  if (config.rows() > INT32_MAX) {
    std::fprintf(stderr, "%s: nx * nx * nz * nodes is %lld, at most %d fit into a column number\n",
                 program, static_cast<long long>(config.rows()), INT32_MAX);
    return false;
  }
  return true;
}

}  // namespace

// Reads the parameters, registers the tasks, and starts Legion.
int main(int argc, char** argv) {
  using program::Kind;
  if (!program::read_parameters(argc, argv,
                                {{"nodes", &config.nodes, 1, 1 << 16},
                                 {"nx", &config.nx, 1, 1 << 12},
                                 {"nz", &config.nz, 1, 1 << 16},
                                 {"iterations", &config.iterations, 1, 1 << 20},
                                 {"over", &config.over, 1, 1 << 10}}) ||
      !check_sizes(argv[0])) {
    return 2;
  }
  program::add_task<top_level>(kMain, "main", Kind::kReplicable);
  Runtime::set_top_level_task_id(kMain);
  program::add_task<assemble>(kAssemble, "assemble");
  program::add_task<init_guess>(kInitGuess, "init_guess");
  program::add_task<precondition>(kPrecondition, "precondition");
  program::add_task<dot<kR, kZ>>(kDotRz, "dot_rz");
  program::add_task<update_p>(kUpdateP, "update_p");
  program::add_task<spmv>(kSpmv, "spmv");
  program::add_task<dot<kP, kAp>>(kDotPAp, "dot_pAp");
  program::add_task<update<kX, kP, 1>>(kUpdateX, "update_x");
  program::add_task<update<kR, kAp, -1>>(kUpdateR, "update_r");
  program::add_task<dot<kR, kR>>(kNormR, "norm_r");
  return Runtime::start(argc, argv);
}
