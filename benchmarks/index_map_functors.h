// The functions of index_maps.mapper as one writes them by hand: functors in Legion's manner, with
// what the launch and the machine decide computed beforehand and the formula for each point.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "groma/geometry.h"

namespace groma::benchmarks {

class Functor {
 public:
  virtual ~Functor() = default;
  // node * GPUs of a node + GPU.
  virtual std::int64_t place(const Point& point, const Rect& domain) const = 0;
};

// How many blocks there are in each dimension, over nodes and over the GPUs of each.
struct Grids {
  std::vector<std::int64_t> nodes, gpus;
};

std::unique_ptr<Functor> make_functor(std::string_view name, std::int64_t nodes, std::int64_t gpus,
                                      const Rect& domain, const Grids& grids);

}  // namespace groma::benchmarks
