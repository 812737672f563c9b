// Stores, evicts and finds the requests with which a program's mappers had instances made.
#include "legion/asked_instances.h"

#include <utility>

#include "legion/layouts.h"

namespace groma::legion {
namespace {

// An entry takes about 500 bytes. A program may make any number of instances.
constexpr std::size_t kMaxAsked = 65'536;

// Returns true if `other` has every demand of `one`.
bool asks_no_more(const AskedInstance& one, const AskedInstance& other) {
  const LayoutDemand &a = one.demand, &b = other.demand;
  const auto within = [](const auto& less, const auto& more) { return !less || less == more; };
  const bool aligned =
      a.align_op == AlignOp::kNone || (a.align_op == b.align_op && a.align_bytes <= b.align_bytes);
  return within(a.dimensions, b.dimensions) && within(a.fields, b.fields) &&
         (b.exact || !a.exact) && aligned;
}

}  // namespace

AskedInstances::Call::Call(AskedInstances& instances, MapperContext context)
    : instances_(instances), context_(context), is_first_([&] {
        const std::lock_guard lock(instances.mutex_);
        return instances.calls_.try_emplace(context).second;
      }()) {}

AskedInstances::Call::~Call() {
  if (!is_first_) return;
  const std::lock_guard lock(instances_.mutex_);
  instances_.calls_.erase(context_);
}

void AskedInstances::note_found(MapperContext context,
                                const Legion::Mapping::PhysicalInstance& instance) {
  const std::lock_guard lock(mutex_);
  const auto call = calls_.find(context);
  if (call == calls_.end()) return;
  LayoutDemand nothing;
  nothing.source = DemandSource::kMapper;
  call->second.try_emplace(instance, nothing);
}

// Stores a request. The stored request stays if it came from the program's own code and the new
// request demands no more.
void AskedInstances::note(MapperContext context, const Legion::Mapping::PhysicalInstance& instance,
                          AskedInstance asked) {
  auto noted = std::make_shared<const AskedInstance>(std::move(asked));
  const std::lock_guard lock(mutex_);
  const auto call = calls_.find(context);
  if (call != calls_.end()) {
    const auto [at, is_new] = call->second.try_emplace(instance, noted->demand);
    if (noted->by_program) {
      at->second.reset();
    } else if (at->second) {
      at->second = noted->demand;
    }
  }
  const auto found = asked_.find(instance);
  if (found == asked_.end()) {
    if (asked_.size() >= kMaxAsked) {
      asked_.erase(oldest_.front());
      oldest_.pop_front();
      has_forgotten_ = true;
    }
    asked_.emplace(instance, std::move(noted));
    oldest_.push_back(instance);
    return;
  }
  // A request that finds an instance may demand less than the request that made it.
  std::shared_ptr<const AskedInstance>& known = found->second;
  const bool less = known->by_program && (!noted->by_program || asks_no_more(*noted, *known));
  if (noted->fresh || !less) known = std::move(noted);
}

std::shared_ptr<const AskedInstance> AskedInstances::find(
    MapperContext context, const Legion::Mapping::PhysicalInstance& instance) const {
  const std::lock_guard lock(mutex_);
  const auto found = asked_.find(instance);
  if (found == asked_.end()) return nullptr;
  const auto call = calls_.find(context);
  if (!found->second->by_program || call == calls_.end()) return found->second;
  const auto at = call->second.find(instance);
  if (at == call->second.end() || !at->second) return found->second;
  auto by_default = std::make_shared<AskedInstance>(*found->second);
  by_default->by_program = false;
  by_default->demand = *at->second;
  return by_default;
}

void AskedInstances::clear() {
  const std::lock_guard lock(mutex_);
  asked_.clear();
  calls_.clear();
  oldest_.clear();
}

bool AskedInstances::has_forgotten() const {
  const std::lock_guard lock(mutex_);
  return has_forgotten_;
}

LayoutDemand demand_of_mapper(const AskedInstance& asked) {
  LayoutDemand demand = demand_of(0, asked.constraints);
  demand.source = DemandSource::kMapper;
  demand.memory.reset();  // Region statements may move data
  demand.exact = demand.exact || asked.tight;
  // With a single field there is no order of fields.
  const auto& fields = asked.constraints.field_constraint.get_field_set();
  if (fields.size() == 1) demand.fields.reset();
  demand.not_exact = asked.by_program && !demand.exact;
  if (asked.by_program) return demand;
  if (demand.dimensions == DimensionOrder::kFortran) demand.dimensions.reset();
  if (demand.fields == FieldOrder::kSoa) demand.fields.reset();
  demand.exact = false;
  return demand;
}

}  // namespace groma::legion
