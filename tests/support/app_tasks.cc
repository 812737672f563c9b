#include "support/app_tasks.h"

namespace groma::test {

std::unique_ptr<FakeTask> fake_task(const app::Data& data, const app::DistinctLaunch& use) {
  const app::Task& from = data.tasks[use.task];
  std::vector<ProcKind> kinds;
  for (const app::Variant& variant : from.variants) kinds.push_back(variant.kind);
  auto task = std::make_unique<FakeTask>(from.name, kinds, use.task + 1);
  for (std::size_t v = 0; v < kinds.size(); ++v) {
    VariantView& variant = task->variants[v];
    variant.leaf = from.variants[v].leaf;
    variant.inner = from.variants[v].inner;
    variant.replicable = from.variants[v].replicable;
    variant.demands = from.variants[v].demands;
  }
  for (std::size_t r = 0; r < from.requirements.size(); ++r) {
    const app::Requirement& requirement = from.requirements[r];
    const app::RequirementData& where =
        use.launch == nullptr ? requirement.data : use.launch->data[r];
    RequirementView& view =
        task->region({where.names.begin(), where.names.end()}, requirement.privilege);
    view.coherence = requirement.coherence;
    view.region_dimensions = requirement.dimensions;
  }
  task->base.depth = use.depth;
  if (use.domain) task->launch(use.domain->box);
  return task;
}

}  // namespace groma::test
