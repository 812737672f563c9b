// The mappings cannon.mapper, summa.mapper and pumma.mapper of dsl/mappers, written as one C++
// mapper by hand.
#include "mappers/experts.h"
#include "mappers/grid.h"
#include "mappers/matrix.h"

namespace groma::examples {
namespace {

// Places a tile: blocks of tiles on the nodes, and the tiles of a block cyclically on the GPUs of
// the node.
std::optional<Processor> tile(const Machine& machine, const Point& ip, const Point& space) {
  return ip.dimensions() == 2 ? hierarchical_gpu(machine, ip, space) : std::nullopt;
}

// Places task_7 on the first OpenMP processor of the node that has the block.
std::optional<Processor> node_block(const Machine& machine, const Point& ip, const Point& space) {
  if (ip.dimensions() != 2) return std::nullopt;
  const Point nodes = auto_split(machine.node_count(), space);
  return processor_at(machine, ProcKind::kOmp, linear_of(block_of(ip, space, nodes), nodes), 0);
}

class TwoLevelMapper final : public MatrixMapper {
 public:
  explicit TwoLevelMapper(MapperSite site)
      : MatrixMapper(std::move(site), "blocks over nodes, round the GPUs inside",
                     {linear_gpu, tile, node_block}) {}
  std::string_view name() const override { return "cannon, by hand"; }

 private:
  Formula formula_of(const TaskView& task, ProcKind) const override {
    if (task.name == "init_cublas") return linear_gpu;
    if (task.name == "task_7") return node_block;
    // The tasks that fill and check the tiles run where the tiles are.
    const bool of_all = task.name == "taco_fill" || task.name == "taco_validate";
    return of_all || places_tiles(task) ? tile : nullptr;
  }
  // A leaf task runs where its parent runs, so that its data is already there.
  bool follows_parent(const TaskView& task) const override { return task.name == "task_4"; }
};

}  // namespace

std::unique_ptr<Mapper> two_level_mapper(MapperSite site) {
  return std::make_unique<TwoLevelMapper>(std::move(site));
}

}  // namespace groma::examples
