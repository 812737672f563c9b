// The mapping dsl/mappers/pennant.mapper, written as a C++ mapper by hand.
#include "mappers/experts.h"
#include "mappers/regent.h"

namespace groma::examples {
namespace {

// Deals the pieces to the nodes in turn, and within a node to the GPUs in turn.
std::optional<Processor> cyclic(const Machine& machine, const Point& ip, const Point&) {
  return processor_modulo(machine, ProcKind::kGpu, ip[0], ip[0] / machine.node_count());
}

// Returns the CPU of the node to which cyclic() gives the piece.
std::optional<Processor> owner(const Machine& machine, const Point& ip, const Point&) {
  return processor_modulo(machine, ProcKind::kCpu, ip[0], ip[0] / machine.node_count());
}

class PennantMapper final : public RegentMapper {
 public:
  explicit PennantMapper(MapperSite site)
      : RegentMapper(std::move(site),
                     {"GPUs first, then CPUs", "points of several pieces in zero-copy memory",
                      "all data in C order, fields apart", "pieces round the nodes, then the GPUs"},
                     cyclic, owner) {}
  std::string_view name() const override { return "pennant, by hand"; }

 private:
  // Points of the mesh that belong to several pieces are shared.
  bool is_shared(const RequirementView& requirement) const override {
    return is_called(requirement, "rp_all_shared_p") || is_called(requirement, "rp_all_ghost_p");
  }
  LayoutSpec layout() const override { return {.dimensions = DimensionOrder::kC}; }
};

}  // namespace

std::unique_ptr<Mapper> pennant_mapper(MapperSite site) {
  return std::make_unique<PennantMapper>(std::move(site));
}

}  // namespace groma::examples
