// Implements InstanceStore: finds, makes and evicts the instances of a run.
#include "simulate/store.h"

#include <algorithm>
#include <map>

#include "mapper/demands.h"
#include "simulate/bytes.h"

namespace groma::sim {
namespace {

// Returns true if the instance may be evicted: no task or copy uses it, none of the valid data is
// in this instance alone, and its eviction priority allows it.
bool may_go(const Instance& instance) {
  return instance.alive && instance.users == 0 && instance.needed == 0 &&
         instance.priority != kCollectNever;
}

}  // namespace

// Notes the capacity of each memory.
InstanceStore::InstanceStore(std::size_t regions, const DataSpaces& spaces,
                             const Memories& memories, Budget& budget)
    : spaces_(spaces), budget_(budget), index_(regions, spaces, instances_, budget) {
  used_.resize(memories.size());
  peak_.resize(memories.size());
  idle_.resize(memories.size());
  for (std::size_t m = 0; m < memories.size(); ++m) {
    capacity_.push_back(memories.group(static_cast<std::int32_t>(m)).capacity_bytes);
  }
}

std::int64_t InstanceStore::free_bytes(std::int32_t memory) const {
  const auto m = static_cast<std::size_t>(memory);
  return capacity_[m] - used_[m];
}

std::int64_t InstanceStore::bytes() const {
  // The estimated bytes that one instance takes in the maps of `index_` and `idle_`.
  constexpr std::int64_t kInTables = 160;
  return heap_bytes(instances_) + alive_ * kInTables;
}

// If an existing instance is found, it is marked as taken now, and gets the eviction priority of
// the query.
std::optional<InstanceNumber> InstanceStore::find_or_make(const InstanceQuery& query) {
  const auto known = query.fresh ? std::nullopt : find(query);
  if (!known) return make(query);
  change(*known, [&](Instance& instance) {
    instance.used = ++clock_;
    instance.priority = query.priority;
  });
  return known;
}

// Marks the instance as taken now. If no statement of the mapping is recorded for the instance yet,
// records `statement`.
void InstanceStore::mark_taken(InstanceNumber number, std::int32_t statement) {
  change(number, [&](Instance& instance) {
    instance.used = ++clock_;
    if (instance.statement == 0) instance.statement = statement;
  });
}

// The new instance is marked as taken now. Returns nullopt if evicting idle instances does not free
// enough bytes.
std::optional<InstanceNumber> InstanceStore::make(const InstanceQuery& query) {
  const std::int64_t bytes = bytes_of(query);
  if (!make_room(query.memory, bytes)) return std::nullopt;
  const auto number = static_cast<InstanceNumber>(instances_.size());
  Instance& made = instances_.emplace_back();
  made.alive = false;
  made.region = query.region;
  made.memory = query.memory;
  made.shape = query.shape;
  made.groups = query.new_groups;
  made.layout = query.layout;
  made.reduction = query.reduction;
  made.bytes = bytes;
  made.priority = query.priority;
  made.used = ++clock_;
  made.statement = query.statement;
  index_.add(number);
  const auto m = static_cast<std::size_t>(query.memory);
  change(number, [](Instance& instance) { instance.alive = true; });
  ++alive_;
  used_[m] += bytes;
  peak_[m] = std::max(peak_[m], used_[m]);
  if (on_allocation) on_allocation(made, true);
  return number;
}

// Returns the size of a new instance in bytes; the query names its memory. An alignment larger than
// the memory itself is returned as the size, so that the instance never fits.
std::int64_t InstanceStore::bytes_of(const InstanceQuery& query) const {
  const LayoutSpec& layout = query.layout;
  const std::int64_t align = mapper::least_alignment(layout.align_op, layout.align_bytes);
  if (align > capacity_[static_cast<std::size_t>(query.memory)]) return align;
  return spaces_.region(query.region)
      .instance_bytes(query.new_groups, layout, query.shape->points_with_room(layout));
}

// Returns the position of an instance in the order of eviction: by priority, then the least
// recently used first.
InstanceStore::Order::value_type InstanceStore::eviction_order_of(InstanceNumber number) const {
  const Instance& instance = instances_[number];
  return {-std::int64_t{instance.priority}, instance.used, number};
}

// Every change of a member of an instance that affects its eviction is made by this function, which
// keeps `idle_` sorted.
template <typename Change>
void InstanceStore::change(InstanceNumber number, const Change& change) {
  Instance& instance = instances_[number];
  std::optional<Order>& idle = idle_[static_cast<std::size_t>(instance.memory)];
  if (!idle) return change(instance);
  if (may_go(instance)) idle->erase(eviction_order_of(number));
  change(instance);
  if (may_go(instance)) idle->insert(eviction_order_of(number));
}

// Evicts idle instances, in the order of eviction_order_of(), until `bytes` are free in the memory.
// Returns false if there is still no room. The index `idle_` of a memory is built when the memory
// is full for the first time.
bool InstanceStore::make_room(std::int32_t memory, std::int64_t bytes) {
  const auto m = static_cast<std::size_t>(memory);
  if (bytes > capacity_[m]) return false;
  const std::int64_t most = capacity_[m] - bytes;
  if (used_[m] <= most) return true;
  std::optional<Order>& idle = idle_[m];
  if (!idle) {
    idle.emplace();
    for (InstanceNumber number = 0; number < instances_.size() && !budget_.spend(1); ++number) {
      const Instance& instance = instances_[number];
      if (instance.memory == memory && may_go(instance)) idle->insert(eviction_order_of(number));
    }
  }
  if (evicting_all_leaves_no_room(*idle, used_[m] - most)) return false;
  while (used_[m] > most && !idle->empty() && !budget_.spend(16)) {
    const InstanceNumber number = std::get<InstanceNumber>(*idle->begin());
    doubts_.guessed |= instances_[number].left == waits_;
    remove(number);
  }
  return used_[m] <= most;
}

// Returns true if two things hold: the memory would not have enough room even if every idle
// instance were evicted, and some of these idle instances may still be in use. make_room() then
// evicts nothing. In that case, sets UncertainFacts::forked.
bool InstanceStore::evicting_all_leaves_no_room(const Order& idle, std::int64_t missing) {
  bool certain = true;
  for (const auto& place : idle) {
    if (budget_.spend(2)) return false;
    const Instance& instance = instances_[std::get<InstanceNumber>(place)];
    missing -= instance.bytes;
    if (missing <= 0) return false;
    certain = certain && instance.left != waits_;
  }
  doubts_.forked |= !certain;
  return !certain;
}

// Removes an instance from its memory and from the index, and reports the removal.
void InstanceStore::remove(InstanceNumber number) {
  change(number, [](Instance& instance) { instance.alive = false; });
  const Instance& instance = instances_[number];
  if (forget_data) forget_data(number);
  --alive_;
  used_[static_cast<std::size_t>(instance.memory)] -= instance.bytes;
  index_.remove(number);
  if (on_allocation) on_allocation(instance, false);
  if (on_removal) on_removal(number);
}

// Returns true if the instance is gone afterwards.
bool InstanceStore::collect(InstanceNumber number) {
  const Instance& instance = instances_[number];
  if (!instance.alive) return true;
  if (!may_go(instance)) return false;
  doubts_.guessed |= instance.left == waits_;
  remove(number);
  return true;
}

void InstanceStore::acquire(InstanceNumber number) {
  change(number, [](Instance& instance) { ++instance.users; });
}

void InstanceStore::add_to_needed_count(InstanceNumber number, std::int64_t more) {
  change(number, [more](Instance& instance) { instance.needed += more; });
}

void InstanceStore::take_existing_instance(InstanceNumber number, CollectPriority priority) {
  change(number, [&](Instance& instance) {
    instance.used = ++clock_;
    instance.priority = priority;
    ++instance.users;
  });
}

bool InstanceStore::has_eagerly_collected_instance() const {
  return std::any_of(instances_.begin(), instances_.end(), [](const Instance& instance) {
    return instance.alive && instance.priority == kCollectEager;
  });
}

// If the instance has the priority kCollectEager and nobody else uses it, collects it at once.
void InstanceStore::release(InstanceNumber number) {
  change(number, [](Instance& instance) { --instance.users; });
  const Instance& instance = instances_[number];
  if (instance.users == 0 && instance.priority == kCollectEager) collect(number);
}

void InstanceStore::set_priority(InstanceNumber number, CollectPriority priority) {
  change(number, [priority](Instance& instance) { instance.priority = priority; });
  if (priority == kCollectEager) collect(number);
}

// Until the next call of note_all_tasks_over(), the instance may still be in use. Instance::left
// remembers this.
void InstanceStore::release_at_unknown_time(InstanceNumber number) {
  change(number, [](Instance& instance) { --instance.users; });
  instances_[number].left = waits_;
  doubts_.keeps_eager |= instances_[number].priority == kCollectEager;
}

// Sums the live instances of a memory by region. Returns at most `most` regions.
std::vector<InstanceStore::RegionUsage> InstanceStore::contents(std::int32_t memory,
                                                                std::size_t most) const {
  std::map<std::uint32_t, RegionUsage> by_region;
  for (const Instance& instance : instances_) {
    if (!instance.alive || instance.memory != memory) continue;
    RegionUsage& held = by_region[instance.region];
    held.region = instance.region;
    ++held.count;
    held.used += instance.users > 0 ? 1 : 0;
    held.bytes += instance.bytes;
  }
  std::vector<RegionUsage> found;
  for (const auto& [region, held] : by_region) found.push_back(held);
  std::stable_sort(found.begin(), found.end(),
                   [](const RegionUsage& a, const RegionUsage& b) { return a.bytes > b.bytes; });
  if (found.size() > most) found.resize(most);
  return found;
}

}  // namespace groma::sim
