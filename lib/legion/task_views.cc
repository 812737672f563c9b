// Makes views of Legion's tasks and regions for a groma::Mapper. Names are those that the program
// attached as semantic information. A region without a name has the names of the partitions and
// regions above it.
#include "legion/task_views.h"

#include <algorithm>
#include <set>

#include "legion/layouts.h"
#include "legion/rendezvous.h"

namespace groma::legion {
namespace {

// The largest number of cached regions, of 100 to 200 bytes each. A program may create any number
// of regions.
constexpr std::size_t kMaxRegions = 262'144;

// The largest number of cached fields.
constexpr std::size_t kMaxFields = 65'536;

// Appends the name of a region or partition, unless it has none or the name is in the list already.
template <typename Handle>
void add_name(Legion::Mapping::MapperRuntime* runtime, MapperContext context, Handle handle,
              std::vector<std::string>& names) {
  const std::string_view name = attached_name(runtime, context, handle);
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
  names.emplace_back(name);
}

// Calls `box` with each box of a domain with holes. Realm's iterator is a template on the number of
// dimensions.
template <int kDimensions>
void boxes(const Legion::Domain& domain, const std::function<void(const Rect&)>& box) {
  const Legion::DomainT<kDimensions> space = domain;
  for (Realm::IndexSpaceIterator<kDimensions, Legion::coord_t> at(space); at.valid; at.step()) {
    box(rect_of(Legion::Domain(Legion::Rect<kDimensions>(at.rect))));
  }
}

}  // namespace

// Returns the privilege of a region requirement. Reading and writing are two bits of Legion's mode.
// A write whose input is discarded is WriteDiscard.
Privilege privilege_of(const Legion::RegionRequirement& requirement) {
  const auto mode = requirement.privilege & LEGION_READ_WRITE;
  if (mode == LEGION_NO_ACCESS) return Privilege::kNoAccess;
  if (mode == LEGION_REDUCE) return Privilege::kReduce;
  if (mode == LEGION_READ_PRIV) return Privilege::kReadOnly;
  const bool discards = (requirement.privilege & LEGION_DISCARD_INPUT_MASK) != 0;
  return discards ? Privilege::kWriteDiscard : Privilege::kReadWrite;
}

// Returns the coherence of a region requirement. LEGION_RELAXED has the bits of all other kinds of
// coherence.
Coherence coherence_of(const Legion::RegionRequirement& requirement) {
  switch (requirement.prop & LEGION_RELAXED) {
    case LEGION_EXCLUSIVE:
      return Coherence::kExclusive;
    case LEGION_ATOMIC:
      return Coherence::kAtomic;
    case LEGION_SIMULTANEOUS:
      return Coherence::kSimultaneous;
    default:
      return Coherence::kRelaxed;
  }
}

Point point_of(const Legion::DomainPoint& point) {
  const int dimensions = point.get_dim();
  Point result = Point::zeros(dimensions);
  for (int d = 0; d < dimensions; ++d) result[d] = point.point_data[d];
  return result;
}

// Returns a Legion domain as a box. Legion's rectangles name the last point, Groma's the number of
// points in each dimension. An empty domain has an extent of 0.
Rect rect_of(const Legion::Domain& domain) {
  const int dimensions = domain.get_dim();
  Rect rect{Point::zeros(dimensions), Point::zeros(dimensions)};
  for (int d = 0; d < dimensions; ++d) {
    rect.lower[d] = domain.rect_data[d];
    rect.extents[d] =
        std::max<std::int64_t>(0, domain.rect_data[dimensions + d] - rect.lower[d] + 1);
  }
  return rect;
}

Legion::DomainPoint realm_point(const Point& point) {
  Legion::DomainPoint result;
  result.dim = point.dimensions();
  for (int d = 0; d < point.dimensions(); ++d) result[static_cast<unsigned>(d)] = point[d];
  return result;
}

// Returns a box as a Legion domain: the inverse of rect_of().
Legion::Domain domain_of(const Rect& rect) {
  Point last = rect.lower;
  for (int d = 0; d < rect.dimensions(); ++d) last[d] += rect.extents[d] - 1;
  return Legion::Domain(realm_point(rect.lower), realm_point(last));
}

// Calls `box` with each box of a domain. A dense domain is one box. LEGION_FOREACH_N makes one case
// for each number of dimensions with which Legion was built.
void for_each_box(const Legion::Domain& domain, const std::function<void(const Rect&)>& box) {
  if (domain.dense()) return box(rect_of(domain));
  switch (domain.get_dim()) {
#define GROMA_BOXES(N) \
  case N:              \
    return boxes<N>(domain, box);
    LEGION_FOREACH_N(GROMA_BOXES)
#undef GROMA_BOXES
    default:
      break;
  }
}

// ---- Views of tasks

// Fills in a view of a task. For an adapter above a mapper of the program, the view shows the
// processor kind that this mapper chose, and no tag, because the tag is meant for that mapper.
void TaskViews::fill(MapperContext context, const Legion::Task& task, const Processor& current,
                     TaskView& view) {
  const SeenTask& facts = current_facts_of_task(context, task);
  view = {};
  view.id = task.task_id;
  view.unique_id = task.get_unique_id();
  view.name = facts.name;
  view.variants = facts.variants;
  view.depth = task.get_depth();
  if (over_own_mapper_) {
    view.own_kind = current.kind;
  } else {
    view.tag = task.tag;
  }
  view.provenance = task.get_provenance_string();
  view.mapper_data = {static_cast<const std::byte*>(task.mapper_data), task.mapper_data_size};
  view.is_index = task.is_index_space;
  if (task.is_index_space) {
    view.domain = rect_of(task.index_domain);
  }
  view.point = point_of(task.index_point);
  view.current = current;
  view.local = current.node == node_;
  view.must_epoch = task.must_epoch_task;
  view.concurrent = task.concurrent_task;
  view.rendezvous = is_rendezvous(task);
}

// Fills in the view of a parent task: its name, depth, processor and shards, but no regions or
// variants. The views of the tasks above it have names and depths alone.
void TaskViews::fill_parents(MapperContext context, const Legion::Task& parent,
                             const Processor& otherwise, ParentViews& views) {
  TaskView& view = views.front();
  view = {};
  view.id = parent.task_id;
  view.name = facts_of_task(context, parent).name;
  view.depth = parent.get_depth();
  view.current = machine_.processor(parent.current_proc).value_or(otherwise);
  view.local = view.current.node == node_;
  view.shards = static_cast<std::uint32_t>(parent.get_total_shards());
  const Legion::Task* above = parent.get_parent_task();
  for (std::size_t i = 1; i < views.size() && above != nullptr; ++i) {
    views[i] = {};
    views[i].id = above->task_id;
    views[i].name = facts_of_parent(context, *above).name;
    views[i].depth = above->get_depth();
    views[i - 1].parent = &views[i];
    above = above->get_parent_task();
  }
}

// Returns all names of tasks and regions seen so far.
groma::mapper::NamesOfRun TaskViews::names() const {
  groma::mapper::NamesOfRun names;
  for (const auto& [id, known] : known_) {
    std::size_t& most = names.tasks[known.name];
    most = std::max(most, known.regions);
  }
  for (const auto& [set, aliases] : sets_) names.regions.insert(set.begin(), set.end());
  names.all_regions = !forgot_sets_;
  return names;
}

std::string_view TaskViews::name(TaskId task) const {
  const auto found = known_.find(task);
  return found == known_.end() ? std::string_view() : found->second.name;
}

std::span<const VariantView> TaskViews::variants(TaskId task) const {
  const auto found = known_.find(task);
  if (found == known_.end()) return {};
  return found->second.variants;
}

// Makes a view of a task. The storage is reused for one task after the other, so the view refers to
// it and is valid only until the next call.
const TaskView& TaskViews::make(MapperContext context, const Legion::Task& task,
                                const Processor& current, Regions regions, ViewStorage& storage) {
  TaskView& view = storage.view;
  fill(context, task, current, view);
  // Notes the largest number of requirements of any launch of the task, for names() at the end of
  // the run.
  std::size_t& most = facts_of_task(context, task).regions;
  most = std::max(most, task.regions.size() + task.output_regions.size());
  if (const Legion::Task* parent = task.get_parent_task()) {
    const Legion::UniqueID id = parent->get_unique_id();
    // Consecutive tasks often have the same parent. The view of the parent is then reused.
    if (storage.parent_id != id) {
      fill_parents(context, *parent, current, storage.parents);
      // If mappings cannot name the parent's processor, the view of the parent shows the processor
      // `current` of this call, so the next call must not reuse the view.
      storage.parent_id = machine_.processor(parent->current_proc) ? id : 0;
    }
    view.parent = &storage.parents.front();
  }
  if (task.is_index_space && task.sharding_space.exists()) {
    const Legion::Domain space = runtime_->get_index_space_domain(context, task.sharding_space);
    if (!(space == task.index_domain)) {
      storage.sharding_space.emplace(rect_of(space));
      if (have_launch_points()) storage.sharding_space->points = points_->points_of(space);
      view.sharding_space = &*storage.sharding_space;
    }
  }
  if (have_launch_points() && task.is_index_space) {
    storage.points = points_->points_of(task.index_domain);
    if (storage.points) view.points = &*storage.points;
  }
  if (regions == Regions::kNone) return view;
  storage.requirements.clear();
  storage.regions.clear();
  storage.fields.resize(task.regions.size() + task.output_regions.size());
  for (const Legion::RegionRequirement& requirement : task.regions) {
    add_requirement(context, requirement, regions, storage);
  }
  for (const Legion::OutputRequirement& requirement : task.output_regions) {
    add_requirement(context, requirement, Regions::kNamed, storage);
    storage.requirements.back().output = true;
  }
  view.requirements = storage.requirements;
  storage.futures.assign(task.futures.size(), FutureView{});
  view.futures = storage.futures;
  return view;
}

// Returns the task's facts, and looks them up when the task is seen for the first time. Most calls
// are for the same task as the call before, whose entry is therefore tried first.
TaskViews::SeenTask& TaskViews::facts_of_task(MapperContext context, const Legion::Task& task) {
  if (last_ != nullptr && last_->task == task.task_id) return *last_;
  return *(last_ = &facts_of_parent(context, task));
}

// Returns the same for a task that is only a parent in this call.
TaskViews::SeenTask& TaskViews::facts_of_parent(MapperContext context, const Legion::Task& task) {
  auto found = known_.find(task.task_id);
  if (found == known_.end()) {
    found = known_.emplace(task.task_id, look_up(context, task)).first;
  }
  return found->second;
}

// Returns the task's facts with the variants that exist now. The program may register variants
// while it runs, so their number is checked at each new launch.
const TaskViews::SeenTask& TaskViews::current_facts_of_task(MapperContext context,
                                                            const Legion::Task& task) {
  SeenTask& known = this->facts_of_task(context, task);
  const Legion::Task* parent = task.get_parent_task();
  const std::uint64_t index = task.get_context_index();
  if (known.parent == parent && known.index_in_parent == index) return known;
  std::vector<Legion::VariantID> all;
  runtime_->find_valid_variants(context, task.task_id, all);
  if (known.variant_ids != all.size()) {
    SeenTask now = look_up(context, task);
    now.regions = known.regions;
    outdated_.push_back(std::move(known));
    known = std::move(now);
  }
  known.parent = parent;
  known.index_in_parent = index;
  return known;
}

// Asks Legion for the name and the variants of a task. Variants for processor kinds that Groma does
// not have are counted only.
TaskViews::SeenTask TaskViews::look_up(MapperContext context, const Legion::Task& task) {
  SeenTask made;
  made.task = task.task_id;
  made.name = task.get_task_name();
  std::vector<Legion::VariantID> all;
  runtime_->find_valid_variants(context, task.task_id, all);
  made.variant_ids = all.size();
  for (std::size_t k = 0; k < kProcKindCount; ++k) {
    const auto kind = static_cast<ProcKind>(k);
    std::vector<Legion::VariantID> ids;
    runtime_->find_valid_variants(context, task.task_id, ids, realm_kind(kind));
    for (Legion::VariantID id : ids) {
      // References to the elements of a deque stay valid when it grows.
      made.demands.push_back(demands(context, task.task_id, id));
      made.colocated.push_back(colocated(context, task.task_id, id));
      made.variants.push_back(
          {.id = static_cast<VariantId>(id),
           .kind = kind,
           .leaf = runtime_->is_leaf_variant(context, task.task_id, id),
           .inner = runtime_->is_inner_variant(context, task.task_id, id),
           .idempotent = runtime_->is_idempotent_variant(context, task.task_id, id),
           .replicable = runtime_->is_replicable_variant(context, task.task_id, id),
           .demands = made.demands.back()});
    }
  }
  return made;
}

// Returns the layouts that the variant demands, for all requirements.
std::vector<LayoutDemand> TaskViews::demands(MapperContext context, Legion::TaskID task,
                                             Legion::VariantID variant) {
  std::vector<LayoutDemand> found;
  const auto& layouts = runtime_->find_task_layout_constraints(context, task, variant).layouts;
  for (const auto& [position, id] : layouts) {
    found.push_back(demand_of(position, runtime_->find_layout_constraints(context, id)));
  }
  return found;
}

// Returns the groups of requirements that the variant demands in one instance. They were looked up
// together with the variants, so Legion is not called.
std::span<const std::vector<std::size_t>> TaskViews::colocated(TaskId task,
                                                               VariantId variant) const {
  const auto found = known_.find(task);
  if (found == known_.end()) return {};
  const SeenTask& known = found->second;
  for (std::size_t i = 0; i < known.variants.size(); ++i) {
    if (known.variants[i].id == variant) return known.colocated[i];
  }
  return {};
}

// Returns the groups of requirements that the variant demands in one instance. Constraints with a
// common position are merged: {0, 1} and {1, 2} become the group {0, 1, 2}.
std::vector<std::vector<std::size_t>> TaskViews::colocated(MapperContext context,
                                                           Legion::TaskID task,
                                                           Legion::VariantID variant) {
  std::vector<std::vector<std::size_t>> groups;
  const auto& all = runtime_->find_execution_constraints(context, task, variant);
  for (const Legion::ColocationConstraint& constraint : all.colocation_constraints) {
    std::set<std::size_t> together(constraint.indexes.begin(), constraint.indexes.end());
    if (together.size() < 2) continue;
    std::erase_if(groups, [&](const std::vector<std::size_t>& group) {
      const auto is_in = [&](std::size_t position) { return together.contains(position); };
      const bool joins = std::any_of(group.begin(), group.end(), is_in);
      if (joins) together.insert(group.begin(), group.end());
      return joins;
    });
    groups.emplace_back(together.begin(), together.end());
  }
  return groups;
}

// ---- Views of region requirements

// Returns the number of a region. At the limit, all numbers are forgotten but none is used again,
// so an old number can only become unknown.
RegionId RegionIds::of(Legion::LogicalRegion region) {
  if (!region.exists()) return 0;
  const std::lock_guard lock(mutex_);
  // At the limit, the maps are cleared, but not `last_`, the last number that was given. So no
  // number is ever used again.
  if (regions_.size() >= kMaxRegions) {
    regions_.clear();
    by_number_.clear();
  }
  const auto [found, is_new] = regions_.try_emplace(region, last_ + 1);
  if (is_new) by_number_.emplace(++last_, region);
  return found->second;
}

Legion::LogicalRegion RegionIds::region(RegionId number) {
  const std::lock_guard lock(mutex_);
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? Legion::LogicalRegion::NO_REGION : found->second;
}

PartitionId RegionIds::of(Legion::LogicalPartition partition) {
  if (!partition.exists()) return 0;
  const std::lock_guard lock(mutex_);
  if (partitions_.size() >= kMaxRegions) partitions_.clear();
  const auto [found, is_new] = partitions_.try_emplace(partition, last_ + 1);
  if (is_new) ++last_;
  return found->second;
}

// Appends a view of a region requirement. The number of points is asked for only if a mapper needs
// it (kCounted), because this may be a slow call to Legion.
void TaskViews::add_requirement(MapperContext context, const Legion::RegionRequirement& requirement,
                                Regions regions, ViewStorage& storage) {
  const std::shared_ptr<RegionFacts>& facts =
      storage.regions.emplace_back(this->facts(context, requirement));
  if (regions == Regions::kCounted && facts->points == 0 && requirement.region.exists()) {
    const auto space = requirement.region.get_index_space();
    facts->points =
        static_cast<std::int64_t>(runtime_->get_index_space_domain(context, space).get_volume());
  }
  RequirementView view;
  view.aliases = facts->aliases->views;
  view.aliases_key = facts->aliases->key;
  view.region = facts->region;
  view.partition = facts->partition;
  view.parent = facts->parent;
  view.region_dimensions = facts->dimensions;
  view.points = facts->points;
  view.privilege = privilege_of(requirement);
  view.coherence = coherence_of(requirement);
  view.collective = (requirement.prop & LEGION_COLLECTIVE_MASK) != 0;
  view.reduction = requirement.redop;
  if (requirement.handle_type == LEGION_REGION_PROJECTION) view.projection = Projection::kRegion;
  if (requirement.handle_type == LEGION_PARTITION_PROJECTION) {
    view.projection = Projection::kPartition;
  }
  view.projection_functor = requirement.projection;
  if (!over_own_mapper_) view.tag = requirement.tag;
  view.restricted = requirement.is_restricted();
  auto& fields = storage.fields[storage.requirements.size()];
  fields.clear();
  const Legion::FieldSpace space = requirement.parent.exists()
                                       ? requirement.parent.get_field_space()
                                       : requirement.region.get_field_space();
  for (Legion::FieldID id : requirement.privilege_fields) {
    const FieldSizeAndName& facts_of_field = field(context, space, id);
    fields.push_back({id, facts_of_field.bytes, facts_of_field.name});
  }
  view.fields = fields;
  storage.requirements.push_back(view);
}

// Returns the size and name of a field. At the limit, or without a field space, the result is
// empty.
const TaskViews::FieldSizeAndName& TaskViews::field(MapperContext context, Legion::FieldSpace space,
                                                    Legion::FieldID id) {
  static const FieldSizeAndName kUnknown;
  const std::pair key{space, id};
  const auto found = fields_.find(key);
  if (found != fields_.end()) return found->second;
  if (!space.exists() || fields_.size() >= kMaxFields) return kUnknown;
  FieldSizeAndName made;
  made.bytes = static_cast<std::int64_t>(runtime_->get_field_size(context, space, id));
  made.name = attached_name(runtime_, context, space, id);
  return fields_.emplace(key, std::move(made)).first->second;
}

// Returns the facts about the region of a requirement, and looks them up if they are not cached.
std::shared_ptr<RegionFacts> TaskViews::facts(MapperContext context,
                                              const Legion::RegionRequirement& requirement) {
  // True if the requirement is that of a whole index launch: each point has its own region, and
  // only the partition is known.
  const bool whole = !requirement.region.exists();
  RegionKey key{requirement.region, Legion::LogicalPartition::NO_PART, requirement.parent};
  if (whole) key.partition = requirement.partition;
  const auto found = by_region_.find(key);
  if (found != by_region_.end()) return found->second;
  auto made = std::make_shared<RegionFacts>();
  made->aliases = aliases(context, key);
  made->region = ids_.of(key.region);
  made->partition = ids_.of(key.partition);
  made->parent = ids_.of(key.parent);
  made->dimensions = std::max(1, whole ? key.partition.get_dim() : key.region.get_dim());
  if (by_region_.size() >= kMaxRegions) by_region_.clear();
  return by_region_[key] = made;
}

// Returns the names by which a statement can refer to a region requirement: those of its region or
// partition, of everything above it, and of its parent. All regions with the same names share one
// set, whose key lets mappers compare sets quickly.
std::shared_ptr<const RegionFacts::Aliases> TaskViews::aliases(MapperContext context,
                                                               const RegionKey& key) {
  std::vector<std::string> names;
  const auto add = [&](const auto& handle) { add_name(runtime_, context, handle, names); };
  Legion::LogicalRegion region = key.region;
  if (key.partition.exists()) {
    add(key.partition);
    region = runtime_->get_parent_logical_region(context, key.partition);
  }
  if (region.exists()) for_each_ancestor(runtime_, context, region, add);
  if (key.parent.exists()) add_name(runtime_, context, key.parent, names);
  if (sets_.size() >= kMaxRegions) {
    sets_.clear();
    forgot_sets_ = true;
  }
  auto& set = sets_[names];
  if (set == nullptr) {
    auto made = std::make_shared<RegionFacts::Aliases>();
    made->names = std::move(names);
    for (const std::string& name : made->names) made->views.push_back(name);
    made->key = ++last_key_;
    set = std::move(made);
  }
  return set;
}

}  // namespace groma::legion
