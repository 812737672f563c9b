// dsl/mappers/johnson.mapper by hand.
#include <algorithm>

#include "mappers/experts.h"
#include "mappers/grid.h"
#include "mappers/matrix.h"

namespace groma::examples {
namespace {

std::optional<Processor> number(const Machine& machine, const Point& ip, const Point& space) {
  if (ip.dimensions() < 3) return std::nullopt;
  const std::int64_t edge = std::max(space[0], space[1]);
  return rank(machine, ip[0] + edge * (ip[1] + edge * ip[2]));
}

class JohnsonMapper final : public MatrixMapper {
 public:
  explicit JohnsonMapper(MapperSite site)
      : MatrixMapper(std::move(site), "blocks of the cube, tiles by their number",
                     {linear_gpu, number, block_gpu}) {}
  std::string_view name() const override { return "johnson, by hand"; }

 private:
  Formula formula_of(const TaskView& task, ProcKind) const override {
    if (task.name == "init_cublas") return linear_gpu;
    if (task.name == "task_4") return block_gpu;
    return places_tiles(task) ? number : nullptr;
  }
};

}  // namespace

std::unique_ptr<Mapper> johnson_mapper(MapperSite site) {
  return std::make_unique<JohnsonMapper>(std::move(site));
}

}  // namespace groma::examples
