// Stores, evicts and finds the requests with which a program's mappers got instances. Also tells
// what a request demands of a layout, and whether an existing instance meets the demands.
#include "legion/asked_instances.h"

#include <algorithm>
#include <set>
#include <utility>

#include "legion/layouts.h"

namespace groma::legion {
namespace {

// The largest number of stored requests. A program may make any number of instances, and a stored
// request takes about 500 bytes.
constexpr std::size_t kMaxAsked = 65'536;

// Returns true if the request `other` has every layout demand of `one`: order of dimensions and
// fields, exactness, and at least the same alignment.
bool asks_no_more(const InstanceRequestRecord& one, const InstanceRequestRecord& other) {
  const LayoutDemand &a = one.demand, &b = other.demand;
  const auto within = [](const auto& less, const auto& more) { return !less || less == more; };
  const bool aligned =
      a.align_op == AlignOp::kNone || (a.align_op == b.align_op && a.align_bytes <= b.align_bytes);
  return within(a.dimensions, b.dimensions) && within(a.fields, b.fields) &&
         (b.exact || !a.exact) && aligned;
}

// Returns true if Legion's DefaultMapper fills in this order by itself: the dimensions in Fortran
// order, then the fields. Nobody relies on such an order.
bool is_default_order(const Legion::OrderingConstraint& order) {
  std::vector<Legion::DimensionKind> dimensions = order.ordering;
  if (order.contiguous) return false;
  if (!dimensions.empty() && dimensions.back() == LEGION_DIM_F) dimensions.pop_back();
  return std::is_sorted(dimensions.begin(), dimensions.end()) &&
         std::find(dimensions.begin(), dimensions.end(), LEGION_DIM_F) == dimensions.end();
}

// Returns the alignment in bytes that the constraints give a field, or 1 if they give none.
std::size_t alignment_in(const Legion::LayoutConstraintSet& set, Legion::FieldID field) {
  std::size_t bytes = 1;
  for (const Legion::AlignmentConstraint& one : set.alignment_constraints) {
    const bool is_lower_bound = one.eqk == LEGION_EQ_EK || one.eqk == LEGION_GE_EK;
    if (one.fid == field && is_lower_bound) bytes = std::max(bytes, one.alignment);
  }
  return bytes;
}

// Returns true if the order of an existing instance (`made`) has the fields and dimensions of the
// requested order (`asked`) in the same sequence. Dimensions that only `made` has do not matter.
bool same_order(const Legion::OrderingConstraint& asked, const Legion::OrderingConstraint& made) {
  const auto& wanted = asked.ordering;
  std::vector<Legion::DimensionKind> order = made.ordering;
  std::erase_if(order, [&](Legion::DimensionKind one) {
    return std::find(wanted.begin(), wanted.end(), one) == wanted.end();
  });
  return order == wanted;
}

}  // namespace

bool demands_no_gaps(const InstanceRequestRecord& asked, std::size_t fields) {
  const Legion::LayoutConstraintSet& set = asked.constraints;
  if (fields < 2 || set.field_constraint.get_field_set().size() < 2) return false;
  return asked.by_program || set.field_constraint.contiguous || set.ordering_constraint.contiguous;
}

// Returns the demanded parts of the order that no statement can name. With a single field, the
// position of the fields among the dimensions has no effect, so it is not a demand.
UnnamedOrder demanded_unnamed_order(const InstanceRequestRecord& asked) {
  std::vector<Legion::DimensionKind> order = asked.constraints.ordering_constraint.ordering;
  UnnamedOrder unnamed;
  if (order.empty() || !has_layout_demand(asked)) return unnamed;
  const bool last = order.back() == LEGION_DIM_F, first = order.front() == LEGION_DIM_F;
  const bool has_fields = std::erase(order, LEGION_DIM_F) > 0;
  const bool several = asked.constraints.field_constraint.get_field_set().size() > 1;
  unnamed.fields = has_fields && several && !last && !first;
  unnamed.dimensions = order.size() > 1 && !std::is_sorted(order.begin(), order.end()) &&
                       !std::is_sorted(order.rbegin(), order.rend());
  return unnamed;
}

// Returns the demands of a request for a recording. A LayoutDemand can hold only C or Fortran order
// and AOS or SOA. Any other order becomes two contradicting demands, so that every Layout statement
// about the order is refused.
std::vector<LayoutDemand> layout_demands_of_request(
    const InstanceRequestRecord& asked, std::size_t fields,
    const std::vector<Legion::LogicalRegion>& regions) {
  std::vector<LayoutDemand> all = {asked.demand};
  all.front().not_exact = asked.demand.not_exact && covers_more_regions(asked, regions);
  // `one` is a demand for a single property of the layout. It is added to the list once for each
  // further demand. Before the next property is set, the one before it is reset.
  LayoutDemand one;
  one.source = DemandSource::kMapper;
  const UnnamedOrder unnamed = demanded_unnamed_order(asked);
  for (const auto order : {DimensionOrder::kC, DimensionOrder::kFortran}) {
    one.dimensions = order;
    if (unnamed.dimensions) all.push_back(one);
  }
  one.dimensions.reset();
  for (const auto order : {FieldOrder::kAos, FieldOrder::kSoa}) {
    one.fields = order;
    if (unnamed.fields) all.push_back(one);
  }
  one.fields.reset();
  if (demands_no_gaps(asked, fields)) {
    one.align_op = AlignOp::kLe;
    one.align_bytes = 1;
    for (const Legion::AlignmentConstraint& bound : asked.constraints.alignment_constraints) {
      one.align_bytes = std::max(one.align_bytes, static_cast<std::int64_t>(bound.alignment));
    }
    all.push_back(one);
  }
  return all;
}

bool has_layout_demand(const InstanceRequestRecord& asked) {
  LayoutDemand nothing;
  nothing.source = asked.demand.source;
  nothing.requirement = asked.demand.requirement;
  return asked.by_program || !(asked.demand == nothing);
}

bool covers_more_regions(const InstanceRequestRecord& asked,
                         const std::vector<Legion::LogicalRegion>& regions) {
  return std::any_of(asked.regions.begin(), asked.regions.end(), [&](const auto& region) {
    return std::find(regions.begin(), regions.end(), region) == regions.end();
  });
}

// Compares the layout of an existing instance with a request. The first checks are on alignments
// and offsets, on which any user of the instance may rely. If `as_new` is true, the instance must
// have the layout that a new instance would have, and further checks follow.
bool satisfies_layout(const Legion::LayoutConstraintSet& asked,
                      const Legion::LayoutConstraintSet& made, bool as_new) {
  const std::vector<Legion::FieldID>& fields = asked.field_constraint.get_field_set();
  for (const Legion::FieldID field : fields) {
    if (alignment_in(made, field) % alignment_in(asked, field) != 0) return false;
  }
  for (const Legion::OffsetConstraint& offset : asked.offset_constraints) {
    const auto same = [&](const Legion::OffsetConstraint& one) {
      return one.fid == offset.fid && one.offset == offset.offset;
    };
    const auto& all = made.offset_constraints;
    if (std::none_of(all.begin(), all.end(), same)) return false;
  }
  if (!as_new) return true;
  if (made.specialized_constraint.is_compact() && !asked.specialized_constraint.is_compact()) {
    return false;
  }
  if (!same_order(asked.ordering_constraint, made.ordering_constraint)) return false;
  const auto& order = made.ordering_constraint.ordering;
  const bool separate = !order.empty() && order.back() == LEGION_DIM_F;
  // The request has a single field, and each field of the instance lies in an array of its own
  // (SOA). The other fields of the instance then do not matter to the request.
  if (fields.size() == 1 && separate) return true;
  const std::vector<Legion::FieldID>& all = made.field_constraint.get_field_set();
  return std::set(fields.begin(), fields.end()) == std::set(all.begin(), all.end()) &&
         std::all_of(fields.begin(), fields.end(), [&](Legion::FieldID field) {
           return alignment_in(made, field) == alignment_in(asked, field);
         });
}

// Takes or makes an instance with the requested layout. Legion's own search does not compare
// alignments and offsets, so all instances that Legion considers suitable are tried one by one.
bool find_or_make_suitable(
    const Legion::Mapping::MapperRuntime& runtime, Legion::Mapping::MapperContext context,
    const InstanceQuery& query,
    const std::function<bool(const Legion::Mapping::PhysicalInstance&)>& suits,
    Legion::Mapping::PhysicalInstance& found, bool& made, std::size_t* bytes) {
  made = false;
  if (query.acquire) runtime.release_instance(context, found);
  found = Legion::Mapping::PhysicalInstance();
  std::vector<Legion::Mapping::PhysicalInstance> all;
  runtime.find_physical_instances(context, query.memory, query.constraints, query.regions, all,
                                  false, query.tight);
  for (const Legion::Mapping::PhysicalInstance& one : all) {
    if (!suits(one) || (query.acquire && !runtime.acquire_instance(context, one))) continue;
    found = one;
    return true;
  }
  if (!query.may_make) return false;
  made = runtime.create_physical_instance(context, query.memory, query.constraints, query.regions,
                                          found, query.acquire, query.priority, query.tight, bytes);
  return made;
}

// Marks the beginning of a call of map_task. Only the first object for a mapper context adds an
// entry to calls_, and the destructor of the same object removes it.
RequestedInstances::MapTaskScope::MapTaskScope(RequestedInstances& instances, MapperContext context,
                                               bool own_order)
    : instances_(instances), context_(context), is_first_([&] {
        const std::lock_guard lock(instances.mutex_);
        const auto [call, is_new] = instances.calls_.try_emplace(context);
        call->second.own_order |= own_order;
        return is_new;
      }()) {}

RequestedInstances::MapTaskScope::~MapTaskScope() {
  if (!is_first_) return;
  const std::lock_guard lock(instances_.mutex_);
  instances_.calls_.erase(context_);
}

// Notes that DefaultMapper took an existing instance without a request for a layout. Does nothing
// if no call of map_task is in progress in this mapper context.
void RequestedInstances::note_found(MapperContext context,
                                    const Legion::Mapping::PhysicalInstance& instance) {
  const std::lock_guard lock(mutex_);
  const auto call = calls_.find(context);
  if (call == calls_.end()) return;
  LayoutDemand nothing;
  nothing.source = DemandSource::kMapper;
  call->second.got.try_emplace(instance, InstanceRequester{nothing});
}

// Stores a request. If the stored request for the same instance came from the program's own code
// and the new one demands no more, the stored request stays.
void RequestedInstances::record_request(MapperContext context,
                                        const Legion::Mapping::PhysicalInstance& instance,
                                        InstanceRequestRecord asked) {
  const std::lock_guard lock(mutex_);
  const auto found = asked_.find(instance);
  if (found != asked_.end() && !asked.wants_new_instance)
    asked.made_by_adapter |= found->second->made_by_adapter;
  auto noted = std::make_shared<const InstanceRequestRecord>(std::move(asked));
  // Until this call of map_task ends, it is remembered whether the program's own code or
  // DefaultMapper requested the instance. If both did, the program's own code counts.
  const auto call = calls_.find(context);
  if (call != calls_.end()) {
    InstanceRequester& got =
        call->second.got.try_emplace(instance, InstanceRequester{noted->demand}).first->second;
    if (noted->by_program) {
      got.by_default.reset();
      got.regions = noted->regions;
    } else if (got.by_default) {
      got.by_default = noted->demand;
    }
  }
  // The instance is new here. If the store is full, the oldest entry is evicted.
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
  // A later request that finds the same instance may demand less than the stored request. The
  // stored request then stays.
  std::shared_ptr<const InstanceRequestRecord>& known = found->second;
  const bool less = known->by_program && (!noted->by_program || asks_no_more(*noted, *known));
  if (noted->wants_new_instance || !less) {
    known = std::move(noted);
  } else if (noted->made_by_adapter && !known->made_by_adapter) {
    auto made = std::make_shared<InstanceRequestRecord>(*known);
    made->made_by_adapter = true;
    known = std::move(made);
  }
}

// Returns the stored request for an instance. Inside a call of map_task, it is adjusted to the way
// in which this call got the instance.
std::shared_ptr<const InstanceRequestRecord> RequestedInstances::find(
    MapperContext context, const Legion::Mapping::PhysicalInstance& instance) const {
  const std::lock_guard lock(mutex_);
  const auto found = asked_.find(instance);
  if (found == asked_.end()) return nullptr;
  const auto call = calls_.find(context);
  if (!found->second->by_program || call == calls_.end()) return found->second;
  const auto at = call->second.got.find(instance);
  if (at == call->second.got.end()) return found->second;
  auto here = std::make_shared<InstanceRequestRecord>(*found->second);
  if (at->second.by_default) {
    here->by_program = false;
    here->demand = *at->second.by_default;
    if (here->demand.align_op == AlignOp::kNone) here->constraints.alignment_constraints.clear();
  } else if (!at->second.regions.empty()) {
    here->regions = at->second.regions;
  }
  return here;
}

bool RequestedInstances::is_made_by_adapter(
    const Legion::Mapping::PhysicalInstance& instance) const {
  const std::lock_guard lock(mutex_);
  const auto found = asked_.find(instance);
  return found != asked_.end() && found->second->made_by_adapter;
}

bool RequestedInstances::may_choose_order(MapperContext context) const {
  const std::lock_guard lock(mutex_);
  const auto call = calls_.find(context);
  return call != calls_.end() && call->second.own_order;
}

void RequestedInstances::clear() {
  const std::lock_guard lock(mutex_);
  asked_.clear();
  calls_.clear();
  oldest_.clear();
}

bool RequestedInstances::has_evicted_requests() const {
  const std::lock_guard lock(mutex_);
  return has_forgotten_;
}

// Returns the layout that the program's mapper demands. Everything that the program's own code
// requested is a demand. If DefaultMapper made the request, only an unusual order and the alignment
// are demands.
LayoutDemand mapper_layout_demand(const InstanceRequestRecord& asked) {
  LayoutDemand demand = demand_of(0, asked.constraints);
  demand.source = DemandSource::kMapper;
  // The memory in the request is not a demand, because Region statements may move the data to
  // another memory.
  demand.memory.reset();
  demand.exact = demand.exact || asked.tight;
  // An instance with a single field has no order of fields.
  const auto& fields = asked.constraints.field_constraint.get_field_set();
  if (fields.size() == 1) demand.fields.reset();
  demand.not_exact = asked.by_program && !demand.exact;
  if (asked.by_program) return demand;
  // If the program overrides a policy hook of DefaultMapper, this hook may have chosen the order.
  // Then the order is a demand even if it looks like the default.
  if (!asked.own_order && is_default_order(asked.constraints.ordering_constraint)) {
    demand.dimensions.reset();
    demand.fields.reset();
  }
  demand.exact = false;
  return demand;
}

}  // namespace groma::legion
