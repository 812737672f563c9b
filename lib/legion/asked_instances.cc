#include "legion/asked_instances.h"

#include <utility>

#include "legion/layouts.h"

namespace groma::legion {
namespace {

// Some 500 bytes each. A program may make instances for ever.
constexpr std::size_t kMaxAsked = 65'536;

}  // namespace

void AskedInstances::note(const Legion::Mapping::PhysicalInstance& instance, AskedInstance asked) {
  auto noted = std::make_shared<const AskedInstance>(std::move(asked));
  const std::lock_guard lock(mutex_);
  if (asked_.size() >= kMaxAsked) asked_.clear();
  auto& known = asked_[instance];
  if (known == nullptr || noted->by_program || !known->by_program) known = std::move(noted);
}

std::shared_ptr<const AskedInstance> AskedInstances::find(
    const Legion::Mapping::PhysicalInstance& instance) const {
  const std::lock_guard lock(mutex_);
  const auto found = asked_.find(instance);
  return found == asked_.end() ? nullptr : found->second;
}

LayoutDemand demand_of_mapper(const AskedInstance& asked) {
  LayoutDemand demand = demand_of(0, asked.constraints);
  demand.source = DemandSource::kMapper;
  demand.memory.reset();  // Region statements move data
  demand.exact = demand.exact || asked.tight;
  if (asked.by_program) return demand;
  if (demand.dimensions == DimensionOrder::kFortran) demand.dimensions.reset();
  if (demand.fields == FieldOrder::kSoa) demand.fields.reset();
  demand.exact = false;
  return demand;
}

}  // namespace groma::legion
