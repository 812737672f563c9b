// dsl/mappers/cosma.mapper by hand.
#include "mappers/experts.h"
#include "mappers/grid.h"
#include "mappers/matrix.h"

namespace groma::examples {
namespace {

std::optional<Processor> number(const Machine& machine, const Point& ip, const Point&) {
  if (ip.dimensions() < 3) return std::nullopt;
  const std::int64_t ranks = machine.node_count() * machine.processors_per_node(ProcKind::kGpu);
  const std::int64_t gx = ranks >= 512 ? 8 : ranks >= 64 ? 4 : ranks >= 8 ? 2 : 1;
  const std::int64_t gy = ranks >= 256 ? 8 : ranks >= 32 ? 4 : 2;
  return rank(machine, ip[0] + gx * (ip[1] + gy * ip[2]));
}

class CosmaMapper final : public MatrixMapper {
 public:
  explicit CosmaMapper(MapperSite site)
      : MatrixMapper(std::move(site), "points in blocks, tiles by their number",
                     {linear_gpu, number, block_gpu}) {}
  std::string_view name() const override { return "cosma, by hand"; }

 private:
  Formula formula_of(const TaskView& task, ProcKind) const override {
    if (task.name == "init_cublas") return linear_gpu;
    if (task.name == "task_4") return block_gpu;
    return places_tiles(task) ? number : nullptr;
  }
};

}  // namespace

std::unique_ptr<Mapper> cosma_mapper(MapperSite site) {
  return std::make_unique<CosmaMapper>(std::move(site));
}

}  // namespace groma::examples
