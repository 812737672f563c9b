#include "inspect/app_view.h"

#include <algorithm>

namespace groma {

AppView::AppView(const Application& app, std::size_t number)
    : app_(app), task_(app.tasks[number]), id_(static_cast<TaskId>(number + 1)) {
  for (const AppVariant& variant : task_.variants) {
    VariantView view;
    view.id = static_cast<VariantId>(variants_.size() + 1);
    view.kind = variant.kind;
    view.leaf = variant.leaf;
    view.inner = variant.inner;
    view.replicable = variant.replicable;
    view.demands = variant.demands;
    variants_.push_back(view);
  }
  parts_.reserve(task_.requirements.size());
  for (const AppRequirement& requirement : task_.requirements) {
    Requirement& part = parts_.emplace_back();
    part.names.assign(requirement.names.begin(), requirement.names.end());
    for (const AppField& field : requirement.fields) {
      part.fields.push_back({static_cast<FieldId>(part.fields.size()), field.bytes, field.name});
    }
    RequirementView view;
    view.aliases = part.names;
    view.region = requirements_.size() + 1;
    view.region_dimensions = requirement.dimensions;
    view.privilege = requirement.privilege;
    view.coherence = requirement.coherence;
    view.reduction = requirement.privilege == Privilege::kReduce ? 1 : 0;
    view.fields = part.fields;
    requirements_.push_back(view);
  }
}

TaskView AppView::view(const AppLaunch& launch, const Processor& current) const {
  TaskView view;
  view.id = id_;
  view.name = task_.name;
  view.variants = variants_;
  view.requirements = requirements_;
  view.depth = depth_of(app_, task_, launch);
  view.current = current;
  if (launch.domain) {
    view.is_index = true;
    view.domain = view.sharding_domain = *launch.domain;
  }
  return view;
}

FirstProcessors first_of_each_node_type(const Machine& machine) {
  FirstProcessors found;
  std::vector<bool> seen(machine.node_types().size());
  for (std::int64_t node = 0; node < machine.node_count(); ++node) {
    const std::uint32_t type = machine.nodes()[static_cast<std::size_t>(node)];
    if (seen[type]) continue;
    seen[type] = true;
    for (std::size_t k = 0; k < kProcKindCount; ++k) {
      const auto kind = static_cast<ProcKind>(k);
      if (machine.processor_count(node, kind) > 0) found[k].push_back({kind, node, 0});
    }
  }
  return found;
}

bool same_data(const RequirementWish& a, const RequirementWish& b) {
  const auto same_instance = [](const InstanceWish& x, const InstanceWish& y) {
    return x.memory == y.memory && x.memory_origin == y.memory_origin && x.layout == y.layout &&
           x.layout_origin == y.layout_origin;
  };
  return a.is_virtual == b.is_virtual &&
         std::equal(a.candidates().begin(), a.candidates().end(), b.candidates().begin(),
                    b.candidates().end(), same_instance);
}

}  // namespace groma
