// The mapping dsl/mappers/solomonik.mapper, written as a C++ mapper by hand.
#include "mappers/experts.h"
#include "mappers/grid.h"
#include "mappers/matrix.h"

namespace groma::examples {
namespace {

// Deals the tiles to the nodes in turn, and within a node to the GPUs in turn.
std::optional<Processor> cyclic(const Machine& machine, const Point& ip, const Point& space) {
  if (ip.dimensions() < 3) return std::nullopt;
  const std::int64_t i = ip[0] + space[0] * (ip[1] + space[1] * ip[2]);
  return processor_modulo(machine, ProcKind::kGpu, i, i / machine.node_count());
}

// Places the points of the cube in blocks over the nodes.
std::optional<Processor> layers(const Machine& machine, const Point& ip, const Point& space) {
  return ip.dimensions() == 3 ? hierarchical_gpu(machine, ip, space) : std::nullopt;
}

class SolomonikMapper final : public MatrixMapper {
 public:
  explicit SolomonikMapper(MapperSite site)
      : MatrixMapper(std::move(site), "blocks over nodes, round the GPUs inside",
                     {linear_gpu, cyclic, layers}) {}
  std::string_view name() const override { return "solomonik, by hand"; }

 private:
  Formula formula_of(const TaskView& task, ProcKind) const override {
    if (task.name == "init_cublas") return linear_gpu;
    if (task.name == "task_5") return layers;
    return places_tiles(task) ? cyclic : nullptr;
  }
  // A leaf task runs where its parent runs, so that its data is already there.
  bool follows_parent(const TaskView& task) const override { return task.name == "task_4"; }
};

}  // namespace

std::unique_ptr<Mapper> solomonik_mapper(MapperSite site) {
  return std::make_unique<SolomonikMapper>(std::move(site));
}

}  // namespace groma::examples
