// Builds the TaskView that a mapper gets for a task of an application.
#include "app/view.h"

namespace groma::app {

// Returns the names by which a mapping may refer to each requirement of the launched task.
LaunchNames names_of(const Data& data, const DistinctLaunch& use) {
  LaunchNames names;
  const Task& task = data.tasks[use.task];
  for (std::size_t r = 0; r < task.requirements.size(); ++r) {
    names.push_back(data_of_requirement(task, use.launch, r).names);
  }
  return names;
}

// Returns the views of a task's variants. The id of a variant is its position, counted from 1.
std::vector<VariantView> views_of(const std::vector<Variant>& variants) {
  std::vector<VariantView> views;
  for (const Variant& variant : variants) {
    VariantView& view = views.emplace_back();
    view.id = static_cast<VariantId>(views.size());
    view.kind = variant.kind;
    view.leaf = variant.leaf;
    view.inner = variant.inner;
    view.replicable = variant.replicable;
    view.chosen_by_mapper = variant.chosen_by_mapper;
    view.demands = variant.demands;
  }
  return views;
}

// Returns the view of a requirement, without names, fields and region. `privilege` may differ from
// the requirement's own, because a launch may ask for another one.
RequirementView view_of(const Requirement& requirement, Privilege privilege) {
  RequirementView view;
  view.region_dimensions = requirement.dimensions;
  view.privilege = privilege;
  view.coherence = requirement.coherence;
  view.reduction = privilege == Privilege::kReduce ? 1 : 0;
  return view;
}

// Makes the views of the requirements, which are the same in every launch with these names. The ids
// of regions and fields are positions. `parts_` is reserved first, because the views point into it.
AppView::AppView(const Data& data, std::uint32_t task, const LaunchNames& names)
    : task_(data.tasks[task]), id_(task + 1), variants_(views_of(task_.variants)) {
  parts_.reserve(task_.requirements.size());
  for (std::size_t r = 0; r < task_.requirements.size(); ++r) {
    const Requirement& requirement = task_.requirements[r];
    RequirementFields& part = parts_.emplace_back();
    part.names.assign(names[r].begin(), names[r].end());
    for (const AppField& field : requirement.fields) {
      part.fields.push_back({static_cast<FieldId>(part.fields.size()), field.bytes, field.name});
    }
    RequirementView view = view_of(requirement, requirement.privilege);
    view.aliases = part.names;
    view.region = requirements_.size() + 1;
    view.fields = part.fields;
    requirements_.push_back(view);
  }
}

// Returns the view of a task for one launch: its domain, if it is an index launch, its depth and
// the processor on which it stands.
TaskView AppView::view(const DistinctLaunch& use, const Processor& current) const {
  TaskView view;
  view.id = id_;
  view.name = task_.name;
  view.variants = variants_;
  view.requirements = requirements_;
  view.depth = use.depth;
  view.current = current;
  if (use.domain) {
    view.is_index = true;
    view.domain = use.domain->box;
    view.points = use.domain->some_points();
  }
  return view;
}

}  // namespace groma::app
