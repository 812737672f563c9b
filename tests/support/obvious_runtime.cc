// The run, and what mappers see of it.
#include "support/obvious_parts.h"

namespace groma::testing::obvious {

std::int32_t Runtime::number(const Processor& wanted) const {
  std::int32_t n = 0;
  for (std::int64_t node = 0; node < machine_->node_count(); ++node) {
    for (std::size_t k = 0; k < kProcKindCount; ++k) {
      const auto kind = static_cast<ProcKind>(k);
      for (std::int64_t i = 0; i < machine_->processor_count(node, kind); ++i, ++n) {
        if (wanted == Processor{kind, node, i}) return n;
      }
    }
  }
  return -1;
}

std::int32_t Runtime::number(const Memory& wanted) const {
  std::int32_t n = 0;
  for (std::int64_t node = 0; node < machine_->node_count(); ++node) {
    for (std::size_t k = 0; k < kMemKindCount; ++k) {
      const auto kind = static_cast<MemKind>(k);
      const MemoryGroup* group = machine_->node(node).find(kind);
      if (group == nullptr || group->capacity_bytes == 0) continue;
      for (std::int64_t i = 0; i < group->count; ++i, ++n) {
        if (wanted == Memory{kind, node, i}) return n;
      }
    }
  }
  return -1;
}

// ---- The run

RunResult Runtime::run() {
  for (const app::Task& task : data_.tasks) {
    std::vector<VariantView>& views = variants_.emplace_back();
    for (const app::Variant& variant : task.variants) {
      VariantView view;
      view.id = static_cast<VariantId>(views.size() + 1);
      view.kind = variant.kind;
      view.leaf = variant.leaf;
      view.inner = variant.inner;
      view.replicable = variant.replicable;
      view.demands = variant.demands;
      views.push_back(view);
    }
  }
  try {
    launch_top();
    settle();
    while (!agenda_.empty()) {
      const auto next = agenda_.extract(agenda_.begin());
      now_ = next.key().first;
      next.mapped()();
      settle();
    }
    if (alive_ > 0) cannot();
  } catch (const Failed& failed) {
    result_.status = failed.status;
    Diagnostic diagnostic;
    diagnostic.id = failed.id;
    result_.refusals.push_back({diagnostic, {}});
  }
  const Time counted =
      data_.metric_phase < 0 ? now_ : phase_time_[static_cast<std::size_t>(data_.metric_phase)];
  result_.total_seconds = static_cast<double>(now_) * kPicosecond;
  result_.seconds = static_cast<double>(counted) * kPicosecond;
  record_->end = now_;
  for (std::int64_t node = 0; node < machine_->node_count(); ++node) {
    for (std::size_t k = 0; k < kMemKindCount; ++k) {
      const auto kind = static_cast<MemKind>(k);
      const MemoryGroup* group = machine_->node(node).find(kind);
      if (group == nullptr || group->capacity_bytes == 0) continue;
      for (std::int64_t i = 0; i < group->count; ++i) {
        const Memory memory{kind, node, i};
        record_->memories.push_back(
            {std::string(name_of(kind)), node, i, group->capacity_bytes, peak_[key(memory)]});
      }
    }
  }
  result_.record = record_;
  return std::move(result_);
}

// ---- Views

TaskView Runtime::view_of_launch(std::uint32_t number, const app::Launch* launch,
                                 std::vector<RequirementView>& requirements) {
  const app::Task& task = data_.tasks[number];
  requirements.clear();
  for (std::size_t r = 0; r < task.requirements.size(); ++r) {
    const app::Requirement& requirement = task.requirements[r];
    const app::RequirementData& where = launch == nullptr ? requirement.data : launch->data[r];
    auto& names = names_.emplace_back(where.names.begin(), where.names.end());
    auto& fields = fields_.emplace_back();
    if (where.kind == app::RequirementData::Kind::kUnknown) {
      for (const AppField& field : requirement.fields) {
        fields.push_back({static_cast<FieldId>(fields.size()), field.bytes, field.name});
      }
    }
    for (std::uint32_t id : where.fields) {
      const AppField& field = data_.regions[where.region].fields[id];
      fields.push_back({id, field.bytes, field.name});
    }
    RequirementView view;
    view.aliases = names;
    view.region_dimensions = requirement.dimensions;
    view.privilege = where.privilege;
    view.coherence = requirement.coherence;
    view.reduction = where.privilege == Privilege::kReduce ? 1 : 0;
    view.fields = fields;
    view.parent = where.region + 1;
    const bool index = launch != nullptr && launch->is_index;
    if (where.kind == app::RequirementData::Kind::kPartition) {
      view.partition = where.index + 1;
      view.projection = index ? Projection::kPartition : Projection::kSingle;
    } else {
      view.region = where.region + 1;
      view.projection = index ? Projection::kRegion : Projection::kSingle;
    }
    requirements.push_back(view);
  }
  TaskView view;
  view.id = number + 1;
  view.name = task.name;
  view.variants = variants_[number];
  view.requirements = requirements;
  if (launch != nullptr && launch->same_address_space) view.tag = kTagSameAddressSpace;
  return view;
}

TaskView Runtime::view_of(const Task& task, std::vector<RequirementView>& requirements) {
  TaskView view = view_of_launch(task.number, task.launch, requirements);
  for (std::size_t r = 0; r < requirements.size(); ++r) {
    const Requirement& requirement = task.requirements[r];
    if (!requirement.shape) continue;
    requirements[r].points = requirement.shape->count();
    if (!requirement.color) continue;
    const app::Partition& partition = data_.partitions[requirement.where->index];
    requirements[r].region =
        (std::uint64_t{requirement.where->index} + 1) << 40 |
        static_cast<std::uint64_t>(row_major(partition.colors, *requirement.color));
  }
  view.current = task.processor;
  view.point = task.point;
  view.shard_variant = task.shard_variant;
  view.depth = task.depth;
  if (task.parent == nullptr) return view;
  view.parent = &task.parent->view;
  view.is_index = task.launch->is_index;
  view.domain = task.domain.box;
  view.points = task.domain.some_points();
  return view;
}

InstanceView Runtime::view_of(const Instance& instance) {
  InstanceView view;
  view.id = static_cast<InstanceId>(instance.number) + 1;
  view.memory = instance.memory;
  view.region = instance.region + 1;
  view.layout = instance.layout;
  view.fields = field_ids_.emplace_back(instance.fields.begin(), instance.fields.end());
  view.reduction = instance.reduction ? 1 : 0;
  view.bytes = instance.bytes;
  return view;
}

}  // namespace groma::testing::obvious

namespace groma::testing {

RunResult simulate_obviously(const Workload& workload, std::shared_ptr<const Machine> machine,
                             const MapperFactory& make, const SimulateOptions& options) {
  return obvious::Runtime(workload.data(), std::move(machine), make, options).run();
}

}  // namespace groma::testing
