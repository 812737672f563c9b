// Names come from semantic information, which is on the handle that the program named: for a
// subregion one walks up to it.
#include "legion/task_views.h"

#include <algorithm>

namespace groma::legion {
namespace {

// Regions that are remembered by name; a program may make new ones for ever.
constexpr std::size_t kMaxRegions = 65'536;

template <typename Handle>
void add_name(Legion::Mapping::MapperRuntime* runtime, MapperContext context, Handle handle,
              std::vector<std::string>& names) {
  const void* text = nullptr;
  std::size_t size = 0;
  if (!runtime->retrieve_semantic_information(context, handle, LEGION_NAME_SEMANTIC_TAG, text, size,
                                              true)) {
    return;
  }
  std::string_view name(static_cast<const char*>(text), size);
  name = name.substr(0, name.find('\0'));
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
  names.emplace_back(name);
}

Privilege privilege_of(const Legion::RegionRequirement& requirement) {
  const auto mode = requirement.privilege & LEGION_READ_WRITE;
  if (requirement.is_no_access() || mode == LEGION_NO_ACCESS) return Privilege::kNoAccess;
  if (mode == LEGION_REDUCE) return Privilege::kReduce;
  if (mode == LEGION_READ_PRIV) return Privilege::kReadOnly;
  const bool discards = (requirement.privilege & LEGION_DISCARD_INPUT_MASK) != 0;
  return discards ? Privilege::kWriteDiscard : Privilege::kReadWrite;
}

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

AlignOp align_op(Legion::EqualityKind kind) {
  switch (kind) {
    case LEGION_LT_EK:
      return AlignOp::kLt;
    case LEGION_LE_EK:
      return AlignOp::kLe;
    case LEGION_GT_EK:
      return AlignOp::kGt;
    case LEGION_GE_EK:
      return AlignOp::kGe;
    case LEGION_NE_EK:
      return AlignOp::kNe;
    default:
      return AlignOp::kEq;
  }
}

template <int kDimensions>
void boxes(const Legion::Domain& domain, const std::function<void(const Rect&)>& box) {
  const Legion::DomainT<kDimensions> space = domain;
  for (Realm::IndexSpaceIterator<kDimensions, Legion::coord_t> at(space); at.valid; at.step()) {
    box(rect_of(Legion::Domain(Legion::Rect<kDimensions>(at.rect))));
  }
}

}  // namespace

Point point_of(const Legion::DomainPoint& point) {
  Point result = Point::zeros(point.get_dim());
  for (int d = 0; d < point.get_dim(); ++d) result[d] = point[static_cast<unsigned>(d)];
  return result;
}

Rect rect_of(const Legion::Domain& domain) {
  Rect rect{point_of(domain.lo()), point_of(domain.hi())};
  for (int d = 0; d < rect.dimensions(); ++d) {
    rect.extents[d] = std::max<std::int64_t>(0, rect.extents[d] - rect.lower[d] + 1);
  }
  return rect;
}

Legion::DomainPoint realm_point(const Point& point) {
  Legion::DomainPoint result;
  result.dim = point.dimensions();
  for (int d = 0; d < point.dimensions(); ++d) result[static_cast<unsigned>(d)] = point[d];
  return result;
}

Legion::Domain domain_of(const Rect& rect) {
  Point last = rect.lower;
  for (int d = 0; d < rect.dimensions(); ++d) last[d] += rect.extents[d] - 1;
  return Legion::Domain(realm_point(rect.lower), realm_point(last));
}

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

// ---- Tasks

void TaskViews::fill(MapperContext context, const Legion::Task& task, const Processor& current,
                     TaskView& view) {
  const Known& facts = known(context, task);
  view = {};
  view.id = task.task_id;
  view.unique_id = task.get_unique_id();
  view.name = facts.name;
  view.variants = facts.variants;
  view.depth = task.get_depth();
  view.tag = task.tag;
  view.provenance = task.get_provenance_string();
  view.mapper_data = {static_cast<const std::byte*>(task.mapper_data), task.mapper_data_size};
  view.is_index = task.is_index_space;
  if (task.is_index_space) {
    view.domain = rect_of(task.index_domain);
    view.sharding_domain = view.domain;
  }
  view.point = point_of(task.index_point);
  view.current = current;
  view.must_epoch = task.must_epoch_task;
  view.concurrent = task.concurrent_task;
}

void TaskViews::fill_parent(MapperContext context, const Legion::Task& parent,
                            const Processor& otherwise, TaskView& view) {
  view = {};
  view.id = parent.task_id;
  view.name = known(context, parent).name;
  view.depth = parent.get_depth();
  view.current = machine_.processor(parent.current_proc).value_or(otherwise);
}

const TaskView& TaskViews::make(MapperContext context, const Legion::Task& task,
                                const Processor& current, bool requirements, ViewStorage& storage) {
  TaskView& view = storage.view;
  fill(context, task, current, view);
  if (const Legion::Task* parent = task.get_parent_task()) {
    fill_parent(context, *parent, current, storage.parent);
    view.parent = &storage.parent;
  }
  if (!requirements) return view;
  storage.requirements.clear();
  storage.fields.resize(task.regions.size());
  for (const Legion::RegionRequirement& requirement : task.regions) {
    add_requirement(context, requirement, storage);
  }
  view.requirements = storage.requirements;
  storage.futures.assign(task.futures.size(), FutureView{});
  view.futures = storage.futures;
  return view;
}

const TaskViews::Known& TaskViews::known(MapperContext context, const Legion::Task& task) {
  const auto found = known_.find(task.task_id);
  if (found != known_.end()) return found->second;
  Known made;
  made.name = task.get_task_name();
  for (std::size_t k = 0; k < kProcKindCount; ++k) {
    const auto kind = static_cast<ProcKind>(k);
    std::vector<Legion::VariantID> ids;
    runtime_->find_valid_variants(context, task.task_id, ids, realm_kind(kind));
    for (Legion::VariantID id : ids) {
      made.demands.push_back(demands(context, task.task_id, id));  // a deque: these stay
      made.variants.push_back(
          {static_cast<VariantId>(id), kind, runtime_->is_leaf_variant(context, task.task_id, id),
           runtime_->is_inner_variant(context, task.task_id, id),
           runtime_->is_idempotent_variant(context, task.task_id, id),
           runtime_->is_replicable_variant(context, task.task_id, id), made.demands.back()});
    }
  }
  return known_.emplace(task.task_id, std::move(made)).first->second;
}

std::vector<LayoutDemand> TaskViews::demands(MapperContext context, Legion::TaskID task,
                                             Legion::VariantID variant) {
  std::vector<LayoutDemand> found;
  const auto& layouts = runtime_->find_task_layout_constraints(context, task, variant).layouts;
  for (const auto& [position, id] : layouts) {
    const Legion::LayoutConstraintSet& set = runtime_->find_layout_constraints(context, id);
    LayoutDemand demand;
    demand.requirement = position;
    if (set.memory_constraint.has_kind) demand.memory = kind_of(set.memory_constraint.kind);
    const auto& order = set.ordering_constraint.ordering;
    if (order.size() > 1) {
      const bool fields_first = order.front() == LEGION_DIM_F;
      const std::size_t fastest = fields_first ? 1 : 0;
      demand.fields = fields_first ? FieldOrder::kAos : FieldOrder::kSoa;
      const bool fortran = order[fastest] == LEGION_DIM_X;
      demand.dimensions = fortran ? DimensionOrder::kFortran : DimensionOrder::kC;
    }
    demand.exact = set.specialized_constraint.is_exact();
    for (const Legion::AlignmentConstraint& alignment : set.alignment_constraints) {
      demand.align_op = align_op(alignment.eqk);
      demand.align_bytes = static_cast<std::int64_t>(alignment.alignment);
    }
    found.push_back(demand);
  }
  return found;
}

// ---- Requirements

void TaskViews::add_requirement(MapperContext context, const Legion::RegionRequirement& requirement,
                                ViewStorage& storage) {
  const Aliases& names = aliases(context, requirement);
  RequirementView view;
  view.aliases = names.views;
  view.aliases_key = names.key;
  view.region_dimensions = std::max(1, requirement.region.get_dim());
  view.privilege = privilege_of(requirement);
  view.coherence = coherence_of(requirement);
  view.reduction = requirement.redop;
  if (requirement.handle_type == LEGION_REGION_PROJECTION) view.projection = Projection::kRegion;
  if (requirement.handle_type == LEGION_PARTITION_PROJECTION) {
    view.projection = Projection::kPartition;
  }
  view.projection_functor = requirement.projection;
  view.tag = requirement.tag;
  view.restricted = requirement.is_restricted();
  auto& fields = storage.fields[storage.requirements.size()];
  fields.clear();
  for (Legion::FieldID field : requirement.privilege_fields) fields.push_back({field, 0, {}});
  view.fields = fields;
  storage.requirements.push_back(view);
}

const TaskViews::Aliases& TaskViews::aliases(MapperContext context,
                                             const Legion::RegionRequirement& requirement) {
  const AliasKey key{requirement.region, requirement.parent};
  const auto found = by_region_.find(key);
  if (found != by_region_.end()) return *found->second;
  std::vector<std::string> names;
  Legion::LogicalRegion region = requirement.region;
  while (region.exists()) {
    add_name(runtime_, context, region, names);
    if (!runtime_->has_parent_logical_partition(context, region)) break;
    const auto partition = runtime_->get_parent_logical_partition(context, region);
    add_name(runtime_, context, partition, names);
    region = runtime_->get_parent_logical_region(context, partition);
  }
  if (requirement.parent.exists()) add_name(runtime_, context, requirement.parent, names);
  if (by_region_.size() >= kMaxRegions) {
    by_region_.clear();
    sets_.clear();
  }
  auto& set = sets_[names];
  if (set == nullptr) {
    set = std::make_unique<Aliases>();
    set->names = names;
    for (const std::string& name : set->names) set->views.push_back(name);
    set->key = ++last_key_;
  }
  by_region_[key] = set.get();
  return *set;
}

}  // namespace groma::legion
