// Implements Views, by which mappers see the tasks, launches and regions of an application.
#include "simulate/views.h"

#include "app/view.h"
#include "groma/mapper.h"

namespace groma::sim {
namespace {

// Mappers refer to a piece by a number. Its upper bits hold the number of the partition, counted
// from 1. Its lower kColorBits bits hold the row-major position of the colour of the piece.
constexpr int kColorBits = 40;

}  // namespace

Views::Views(const app::Data& data, const DataSpaces& spaces)
    : data_(data), spaces_(spaces), launches_(data.launches + 1) {
  for (const app::Task& task : data.tasks) variants_.push_back(app::views_of(task.variants));
}

// Returns the requirements of a launch as mappers see them, without pieces. The views are built
// when they are first asked for, and then kept.
const std::vector<RequirementView>& Views::requirements(std::uint32_t task,
                                                        const app::Launch* launch) {
  std::vector<RequirementView>& views = launches_[launch ? launch->number : data_.launches];
  if (!views.empty()) return views;
  const std::vector<app::Requirement>& all = data_.tasks[task].requirements;
  for (std::size_t r = 0; r < all.size(); ++r) {
    const app::RequirementData& where = app::data_of_requirement(data_.tasks[task], launch, r);
    Requirement& kept = kept_.emplace_back();
    for (const std::string& name : where.names) kept.names.emplace_back(name);
    const bool known = where.kind != app::RequirementData::Kind::kUnknown;
    for (const std::uint32_t id : where.fields) {
      const AppField& field = data_.regions[where.region].fields[id];
      kept.fields.push_back({id, field.bytes, field.name});
    }
    for (std::size_t f = 0; f < all[r].fields.size() && !known; ++f) {
      const AppField& field = all[r].fields[f];
      kept.fields.push_back({static_cast<FieldId>(f), field.bytes, field.name});
    }
    RequirementView& view = views.emplace_back(app::view_of(all[r], where.privilege));
    if (known) view.region_dimensions = data_.regions[where.region].box.dimensions();
    view.aliases = kept.names;
    view.aliases_key = name_keys_.emplace(where.names, name_keys_.size() + 1).first->second;
    view.fields = kept.fields;
    view.parent = where.region + 1;
    if (where.kind == app::RequirementData::Kind::kPartition) {
      view.partition = where.index + 1;
      const bool single = launch == nullptr || !launch->is_index;
      view.projection = single ? Projection::kSingle : Projection::kPartition;
      view.projection_functor = where.from == app::RequirementData::Color::kPoint ? 0 : 1;
    } else {
      view.region = where.region + 1;
      view.projection =
          launch != nullptr && launch->is_index ? Projection::kRegion : Projection::kSingle;
    }
  }
  return views;
}

// Copies the requirements into `requirements`, so that the caller can set the pieces of one point.
TaskView Views::view(std::uint32_t task, const app::Launch* launch,
                     std::vector<RequirementView>& requirements) {
  requirements = this->requirements(task, launch);
  TaskView view;
  view.id = id_of(task);
  view.name = data_.tasks[task].name;
  view.variants = variants_[task];
  view.requirements = requirements;
  if (launch != nullptr && launch->same_address_space) view.tag = kTagSameAddressSpace;
  return view;
}

// Sets the piece in the view of a requirement. Only a piece of a partition gets a number of its
// own. A whole region keeps its number.
void Views::set_piece(const app::RequirementData& where, const Piece& piece,
                      RequirementView& requirement) const {
  requirement.points = piece.points();
  if (where.kind != app::RequirementData::Kind::kPartition) return;
  requirement.region = (std::uint64_t{where.index} + 1) << kColorBits |
                       static_cast<std::uint64_t>(spaces_.color_of(where.index, piece));
}

TaskView Views::view_of(const TaskRun& run, std::vector<RequirementView>& requirements) {
  TaskView view = this->view(run.task, run.launch, requirements);
  for (std::size_t r = 0; r < requirements.size(); ++r) {
    if (run.pieces[r] == nullptr) continue;
    set_piece(data_of_requirement(data_, run, r), *run.pieces[r], requirements[r]);
  }
  view.unique_id = run.op;
  view.current = *run.processor;
  view.point = point_of(run);
  view.shard_variant = run.shard_variant;
  if (run.parent == nullptr) return view;
  view.parent = &run.parent->view;
  view.depth = run.parent->view.depth + 1;
  view.is_index = run.launch->is_index;
  view.domain = run.of->domain.box;
  view.points = run.of->domain.some_points();
  return view;
}

// If the upper bits of `id` are 0, it stands for a whole region, and its lower bits are the number
// of the region, counted from 1. Returns null if `id` stands for nothing.
const Piece* Views::piece_of(RegionId id, std::uint32_t& region) const {
  const std::uint64_t partition = id >> kColorBits;
  if (partition == 0) {
    if (id == 0 || id > data_.regions.size()) return nullptr;
    region = static_cast<std::uint32_t>(id - 1);
    return &spaces_.region(region).whole;
  }
  const auto color = static_cast<std::int64_t>(id & ((std::uint64_t{1} << kColorBits) - 1));
  if (partition > data_.partitions.size()) return nullptr;
  const app::Partition& of = data_.partitions[partition - 1];
  if (color >= of.colors.volume()) return nullptr;
  region = of.region;
  return &spaces_.piece(static_cast<std::uint32_t>(partition - 1), color);
}

}  // namespace groma::sim
