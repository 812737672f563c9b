// The mapping dsl/mappers/circuit.mapper, written as a C++ mapper by hand.
#include "mappers/experts.h"
#include "mappers/grid.h"
#include "mappers/regent.h"

namespace groma::examples {
namespace {

class CircuitMapper final : public RegentMapper {
 public:
  explicit CircuitMapper(MapperSite site)
      : RegentMapper(std::move(site),
                     {"GPUs first, then CPUs", "what pieces share in zero-copy memory",
                      "all data in C order, fields apart", "pieces in linear blocks"},
                     linear_gpu, linear_owner) {}
  std::string_view name() const override { return "circuit, by hand"; }

 private:
  // Nodes at the ends of wires of several pieces are shared.
  bool is_shared(const RequirementView& requirement) const override {
    return is_called(requirement, "rp_shared") || is_called(requirement, "rp_ghost");
  }
  LayoutSpec layout() const override { return {.dimensions = DimensionOrder::kC}; }
};

}  // namespace

// Returns a CPU of the node on which linear_gpu() places the point. Its index is that of the GPU,
// modulo the number of CPUs.
std::optional<Processor> linear_owner(const Machine& machine, const Point& ip, const Point&) {
  const std::int64_t gpus = machine.processors_per_node(ProcKind::kGpu);
  if (gpus == 0) return std::nullopt;
  return processor_modulo(machine, ProcKind::kCpu, ip[0] / gpus, ip[0] % gpus);
}

std::unique_ptr<Mapper> circuit_mapper(MapperSite site) {
  return std::make_unique<CircuitMapper>(std::move(site));
}

}  // namespace groma::examples
