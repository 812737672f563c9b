// The mapping dsl/mappers/cosma.mapper, written as a C++ mapper by hand.
#include "mappers/experts.h"
#include "mappers/grid.h"
#include "mappers/matrix.h"

namespace groma::examples {
namespace {

// Returns the GPU with the number of the point's tile. The grid is gx x gy x gz for the usual
// numbers of GPUs, which are powers of 2.
std::optional<Processor> number(const Machine& machine, const Point& ip, const Point&) {
  if (ip.dimensions() < 3) return std::nullopt;
  const std::int64_t ranks = machine.node_count() * machine.processors_per_node(ProcKind::kGpu);
  const std::int64_t gx = ranks >= 512 ? 8 : ranks >= 64 ? 4 : ranks >= 8 ? 2 : 1;
  const std::int64_t gy = ranks >= 256 ? 8 : ranks >= 32 ? 4 : 2;
  return rank(machine, ip[0] + gx * (ip[1] + gy * ip[2]));
}

}  // namespace

std::unique_ptr<Mapper> cosma_mapper(MapperSite site) {
  return std::make_unique<TileMapper>(std::move(site), "cosma, by hand",
                                      "points in blocks, tiles by their number", number);
}

}  // namespace groma::examples
