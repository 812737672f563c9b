// The list of the expert mappers.
#include "mappers/experts.h"

#include <utility>

namespace groma::examples {

std::unique_ptr<Mapper> expert_mapper(std::string_view benchmark, MapperSite site) {
  // The three algorithms on a two-dimensional grid have the same mapping.
  constexpr std::pair<std::string_view, std::unique_ptr<Mapper> (*)(MapperSite)> kExperts[] = {
      {"circuit", circuit_mapper},  {"stencil", stencil_mapper}, {"pennant", pennant_mapper},
      {"cannon", two_level_mapper}, {"summa", two_level_mapper}, {"pumma", two_level_mapper},
      {"johnson", johnson_mapper},  {"cosma", cosma_mapper},     {"solomonik", solomonik_mapper},
  };
  for (const auto& [name, make] : kExperts) {
    if (name == benchmark) return make(std::move(site));
  }
  return nullptr;
}

}  // namespace groma::examples
