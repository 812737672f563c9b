// Compiled with -O2, as a user's mapper is.
#include "index_map_functors.h"

#include <array>

namespace groma::benchmarks {
namespace {

using Numbers = std::array<std::int64_t, 3>;

std::int64_t row_major(const Point& point, const Rect& domain) {
  std::int64_t i = 0;
  for (int d = 0; d < point.dimensions(); ++d) {
    i = i * domain.extents[d] + point[d] - domain.lower[d];
  }
  return i;
}

class Simple : public Functor {
 public:
  Simple(std::int64_t nodes, std::int64_t gpus) : nodes_(nodes), gpus_(gpus) {}

 protected:
  const std::int64_t nodes_, gpus_;
};

class Cyclic1 : public Simple {
  using Simple::Simple;
  std::int64_t place(const Point& point, const Rect& domain) const override {
    const std::int64_t i = point[0] - domain.lower[0];
    return i % nodes_ * gpus_ + i / nodes_ % gpus_;
  }
};

class CyclicSum : public Simple {
  using Simple::Simple;
  std::int64_t place(const Point& point, const Rect& domain) const override {
    std::int64_t linear = 0;
    for (int d = 0; d < point.dimensions(); ++d) linear += point[d] - domain.lower[d];
    return linear % nodes_ * gpus_ + linear % gpus_;
  }
};

class RowCyclic : public Simple {
  using Simple::Simple;
  std::int64_t place(const Point& point, const Rect& domain) const override {
    const std::int64_t i = row_major(point, domain);
    return i / gpus_ % nodes_ * gpus_ + i % gpus_;
  }
};

class RowCyclicNodes : public Simple {
  using Simple::Simple;
  std::int64_t place(const Point& point, const Rect& domain) const override {
    const std::int64_t i = row_major(point, domain);
    return i % nodes_ * gpus_ + i / nodes_ % gpus_;
  }
};

class Block1 : public Simple {
  using Simple::Simple;
  std::int64_t place(const Point& point, const Rect& domain) const override {
    return (point[0] - domain.lower[0]) * (nodes_ * gpus_) / domain.extents[0];
  }
};

class LinearBlock : public Simple {
  using Simple::Simple;
  std::int64_t place(const Point& point, const Rect& domain) const override {
    const std::int64_t i = point[0] - domain.lower[0];
    return i / gpus_ * gpus_ + i % gpus_;
  }
};

template <int kDimensions>
class BlockDecompose : public Functor {
 public:
  BlockDecompose(std::int64_t gpus, const Rect& domain, const Grids& grids) : all_gpus_(gpus) {
    for (std::size_t d = 0; d < kDimensions; ++d) {
      nodes_[d] = grids.nodes[d];
      gpus_[d] = grids.gpus[d];
      outer_[d] = (domain.extents[static_cast<int>(d)] + nodes_[d] - 1) / nodes_[d];
      inner_[d] = (outer_[d] + gpus_[d] - 1) / gpus_[d];
    }
  }
  std::int64_t place(const Point& point, const Rect& domain) const override {
    std::int64_t node = 0, gpu = 0;
    for (int d = kDimensions; d-- > 0;) {
      const auto i = static_cast<std::size_t>(d);
      const std::int64_t x = point[d] - domain.lower[d];
      node = node * nodes_[i] + x / outer_[i];
      gpu = gpu * gpus_[i] + x % outer_[i] / inner_[i];
    }
    return node * all_gpus_ + gpu;
  }

 private:
  std::int64_t all_gpus_;
  Numbers nodes_{}, gpus_{}, outer_{}, inner_{};
};

template <int kDimensions>
class BlockAutoSplit : public Functor {
 public:
  BlockAutoSplit(std::int64_t gpus, const Grids& grids) : all_gpus_(gpus) {
    for (std::size_t d = 0; d < kDimensions; ++d) {
      nodes_[d] = grids.nodes[d];
      gpus_[d] = grids.gpus[d];
    }
  }
  std::int64_t place(const Point& point, const Rect& domain) const override {
    std::int64_t node = 0, gpu = 0;
    for (int d = kDimensions; d-- > 0;) {
      const auto i = static_cast<std::size_t>(d);
      const std::int64_t x = point[d] - domain.lower[d];
      node = node * nodes_[i] + x * nodes_[i] / domain.extents[d];
      gpu = gpu * gpus_[i] + x % gpus_[i];
    }
    return node * all_gpus_ + gpu;
  }

 private:
  std::int64_t all_gpus_;
  Numbers nodes_{}, gpus_{};
};

}  // namespace

std::unique_ptr<Functor> make_functor(std::string_view name, std::int64_t nodes, std::int64_t gpus,
                                      const Rect& domain, const Grids& grids) {
  if (name == "cyclic1") return std::make_unique<Cyclic1>(nodes, gpus);
  if (name == "cyclic2" || name == "cyclic3") return std::make_unique<CyclicSum>(nodes, gpus);
  if (name == "row_cyclic" || name == "row_cyclic_merged") {
    return std::make_unique<RowCyclic>(nodes, gpus);
  }
  if (name == "row_cyclic_nodes") return std::make_unique<RowCyclicNodes>(nodes, gpus);
  if (name == "block1") return std::make_unique<Block1>(nodes, gpus);
  if (name == "linearblock") return std::make_unique<LinearBlock>(nodes, gpus);
  const int dimensions = domain.dimensions();
  if (name == "block_decompose") {
    if (dimensions == 1) return std::make_unique<BlockDecompose<1>>(gpus, domain, grids);
    if (dimensions == 2) return std::make_unique<BlockDecompose<2>>(gpus, domain, grids);
    return std::make_unique<BlockDecompose<3>>(gpus, domain, grids);
  }
  if (dimensions == 1) return std::make_unique<BlockAutoSplit<1>>(gpus, grids);
  if (dimensions == 2) return std::make_unique<BlockAutoSplit<2>>(gpus, grids);
  return std::make_unique<BlockAutoSplit<3>>(gpus, grids);
}

}  // namespace groma::benchmarks
