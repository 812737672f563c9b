// The mapping dsl/mappers/johnson.mapper, written as a C++ mapper by hand.
#include <algorithm>

#include "mappers/experts.h"
#include "mappers/grid.h"
#include "mappers/matrix.h"

namespace groma::examples {
namespace {

// Returns the GPU with the number of the point in a cube. The launch of a matrix's tiles is one
// layer of the cube.
std::optional<Processor> number(const Machine& machine, const Point& ip, const Point& space) {
  if (ip.dimensions() < 3) return std::nullopt;
  const std::int64_t edge = std::max(space[0], space[1]);
  return rank(machine, ip[0] + edge * (ip[1] + edge * ip[2]));
}

}  // namespace

std::unique_ptr<Mapper> johnson_mapper(MapperSite site) {
  return std::make_unique<TileMapper>(std::move(site), "johnson, by hand",
                                      "blocks of the cube, tiles by their number", number);
}

}  // namespace groma::examples
