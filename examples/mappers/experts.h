// The expert mappings of the nine benchmarks (dsl/mappers/<name>.mapper), written as C++ mappers by
// hand. They answer every hook as the mappings do. Cannon, SUMMA and PUMMA share one mapper.
#pragma once

#include <memory>

#include "groma/mapper.h"

namespace groma::examples {

std::unique_ptr<Mapper> circuit_mapper(MapperSite site);
std::unique_ptr<Mapper> stencil_mapper(MapperSite site);
std::unique_ptr<Mapper> pennant_mapper(MapperSite site);
std::unique_ptr<Mapper> two_level_mapper(MapperSite site);
std::unique_ptr<Mapper> johnson_mapper(MapperSite site);
std::unique_ptr<Mapper> solomonik_mapper(MapperSite site);
std::unique_ptr<Mapper> cosma_mapper(MapperSite site);

// Returns the mapper for a benchmark; null if there is none.
std::unique_ptr<Mapper> expert_mapper(std::string_view benchmark, MapperSite site);

}  // namespace groma::examples
