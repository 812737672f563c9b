// The mapping dsl/mappers/stencil.mapper, written as a C++ mapper by hand.
#include "mappers/experts.h"
#include "mappers/grid.h"
#include "mappers/regent.h"

namespace groma::examples {
namespace {

class StencilMapper final : public RegentMapper {
 public:
  explicit StencilMapper(MapperSite site)
      : RegentMapper(std::move(site),
                     {"GPUs first, then CPUs", "data in the memory of the processor",
                      "all data in Fortran order, fields apart", "tiles in linear blocks"},
                     linear_gpu, linear_owner) {}
  std::string_view name() const override { return "stencil, by hand"; }

 private:
  LayoutSpec layout() const override { return {}; }
};

}  // namespace

std::unique_ptr<Mapper> stencil_mapper(MapperSite site) {
  return std::make_unique<StencilMapper>(std::move(site));
}

}  // namespace groma::examples
