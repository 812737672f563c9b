// Computes grids of processors that fit a launch, and the processor for a point on such a grid.

#include "mappers/grid.h"

#include <algorithm>
#include <vector>

#include "mappers/formula.h"

namespace groma::examples {
namespace {

// Factorises n as DefaultMapper does: each prime factor, the largest first, goes to the dimension
// with the largest remaining extent.
Point greedy_split(std::int64_t n, const Point& space) {
  std::vector<std::int64_t> primes;
  for (std::int64_t p = 2; n > 1; ++p) {
    for (; n % p == 0; n /= p) primes.push_back(p);
  }
  // `left` is the extent of a block in each dimension, which shrinks with every factor.
  Point grid = Point::zeros(space.dimensions());
  std::vector<double> left;
  for (int d = 0; d < space.dimensions(); ++d) {
    grid[d] = 1;
    left.push_back(static_cast<double>(space[d]));
  }
  // The primes are in ascending order, so the largest comes first here.
  for (auto prime = primes.rbegin(); prime != primes.rend(); ++prime) {
    const auto most = std::max_element(left.begin(), left.end());
    *most /= static_cast<double>(*prime);
    grid[static_cast<int>(most - left.begin())] *= *prime;
  }
  return grid;
}

// Returns the sum of factor / extent over all dimensions, which auto_split() minimises.
double cost_of(const Point& grid, const Point& space) {
  double cost = 0;
  for (int d = 0; d < grid.dimensions(); ++d) {
    cost += static_cast<double>(grid[d]) / static_cast<double>(std::max<std::int64_t>(space[d], 1));
  }
  return cost;
}

// Tries every factorisation of n over the dimensions from d on, and keeps the best grid.
void search(std::int64_t n, int d, const Point& space, Point& grid, Point& best) {
  if (d + 1 < grid.dimensions()) {
    for (grid[d] = 1; grid[d] <= n; ++grid[d]) {
      if (n % grid[d] == 0) search(n / grid[d], d + 1, space, grid, best);
    }
    return;
  }
  grid[d] = n;
  // Costs that differ by rounding count as equal. The grid of greedy_split() then wins.
  constexpr double kTie = 1e-6;
  if (cost_of(grid, space) < cost_of(best, space) - kTie) best = grid;
}

}  // namespace

Point auto_split(std::int64_t n, const Point& space) {
  Point best = greedy_split(n, space), grid = best;
  search(n, 0, space, grid, best);
  return best;
}

Point block_of(const Point& ip, const Point& space, const Point& grid) {
  Point block = ip;
  for (int d = 0; d < ip.dimensions(); ++d) block[d] = ip[d] * grid[d] / space[d];
  return block;
}

std::int64_t linear_of(const Point& at, const Point& grid) {
  std::int64_t linear = 0;
  for (int d = at.dimensions() - 1; d >= 0; --d) linear = linear * grid[d] + at[d];
  return linear;
}

std::optional<Processor> rank(const Machine& machine, std::int64_t i) {
  const std::int64_t gpus = machine.processors_per_node(ProcKind::kGpu);
  if (gpus == 0) return std::nullopt;
  return processor_modulo(machine, ProcKind::kGpu, i / gpus, i);
}

std::optional<Processor> linear_gpu(const Machine& machine, const Point& ip, const Point&) {
  return rank(machine, ip[0]);
}

std::optional<Processor> block_gpu(const Machine& machine, const Point& ip, const Point& space) {
  const std::int64_t gpus = machine.node_count() * machine.processors_per_node(ProcKind::kGpu);
  if (gpus == 0) return std::nullopt;
  const Point grid = auto_split(gpus, space);
  return rank(machine, linear_of(block_of(ip, space, grid), grid));
}

std::optional<Processor> hierarchical_gpu(const Machine& machine, const Point& ip,
                                          const Point& space) {
  const std::int64_t gpus = machine.processors_per_node(ProcKind::kGpu);
  if (gpus == 0) return std::nullopt;
  // First find the block of points for each node, then deal the points of a block to the node's
  // GPUs.
  const Point nodes = auto_split(machine.node_count(), space);
  Point inside = space, at = ip;
  for (int d = 0; d < inside.dimensions(); ++d) inside[d] /= nodes[d];
  const Point grid = auto_split(gpus, inside);
  for (int d = 0; d < at.dimensions(); ++d) at[d] %= grid[d];
  return processor_at(machine, ProcKind::kGpu, linear_of(block_of(ip, space, nodes), nodes),
                      linear_of(at, grid));
}

}  // namespace groma::examples
