// Finds, makes and evicts the instances of a run, and tracks which of them hold valid data.
#include "simulate/store.h"

#include <algorithm>
#include <bit>
#include <map>
#include <new>

#include "mapper/demands.h"

namespace groma::sim {
namespace {

// Returns the key of a memory and a region in `at_`.
std::uint64_t place_of(std::int32_t memory, std::uint32_t region) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(memory)) << 32 | region;
}

// Returns the key of a box in `same_`. Equal boxes have equal keys. Boxes with equal keys may
// differ, so the caller compares them.
std::uint64_t box_key(std::uint64_t place, const Rect& box) {
  std::uint64_t key = place;
  for (const Point* point : {&box.lower, &box.extents}) {
    for (std::int64_t x : point->coordinates()) {
      key = (key ^ static_cast<std::uint64_t>(x)) * 0x9E3779B97F4A7C15;
      key ^= key >> 29;
    }
  }
  return key;
}

}  // namespace

// Notes the capacity of each memory and the most finely cut dimension of each region. No cells are
// allocated yet.
Store::Store(const app::Data& data, const Spaces& spaces, const Memories& memories, Ops& ops,
             std::int64_t max_bytes, Budget& budget)
    : spaces_(spaces), ops_(ops), budget_(budget), max_bytes_(max_bytes) {
  used_.resize(memories.size());
  peak_.resize(memories.size());
  idle_.resize(memories.size());
  for (std::size_t m = 0; m < memories.size(); ++m) {
    capacity_.push_back(memories.group(static_cast<std::int32_t>(m)).capacity_bytes);
  }
  cells_.resize(data.regions.size());
  for (std::size_t r = 0; r < data.regions.size(); ++r) {
    const RegionSpace& space = spaces.region(static_cast<std::uint32_t>(r));
    groups_.push_back(std::max<std::size_t>(1, space.group_bytes.size()));
    const auto most =
        std::max_element(space.cuts.begin(), space.cuts.end(),
                         [](const auto& a, const auto& b) { return a.size() < b.size(); });
    cut_most_.push_back(static_cast<int>(most - space.cuts.begin()));
  }
}

std::int64_t Store::free_bytes(std::int32_t memory) const {
  const auto m = static_cast<std::size_t>(memory);
  return capacity_[m] - used_[m];
}

std::int64_t Store::bytes() const {
  constexpr std::int64_t kInMaps = 160;  // bytes of an instance's nodes in at_, same_ and idle_
  return cell_bytes() + heap_bytes(instances_) + alive_ * kInMaps;
}

// Calls visit(cell, bytes) for each cell of the piece in each of the groups, while there is budget.
// `bytes` is the size of the cell's data in that group.
//
// The cells of a region are allocated when they are first visited. Nothing is visited if they would
// exceed `max_bytes_`.
template <typename Visit>
void Store::for_cells(std::uint32_t region, const Piece& piece, std::uint64_t groups,
                      const Visit& visit) {
  const RegionSpace& space = spaces_.region(region);
  if (cells_[region] == nullptr) {
    const std::size_t count = static_cast<std::size_t>(space.cells) * groups_[region];
    array_bytes_ += heap_bytes(count * sizeof(Cell));
    if (cell_bytes() > max_bytes_) return;
    cells_[region].reset(static_cast<Cell*>(std::calloc(count, sizeof(Cell))));
    if (cells_[region] == nullptr) throw std::bad_alloc();
  }
  space.for_cells(piece, [&](std::int64_t c, std::int64_t points) {
    for (std::uint64_t rest = groups; rest != 0; rest &= rest - 1) {
      const auto g = static_cast<std::size_t>(std::countr_zero(rest));
      Cell& each = cell(region, c, g);
      if (budget_.spend(work_of(each))) return false;
      visit(each, points * space.group_bytes[g]);
    }
    return true;
  });
}

// Returns the budget units of one visit, which looks through the lists of the cell a few times.
std::int64_t Store::work_of(const Cell& cell) {
  return static_cast<std::int64_t>(2 + cell.holders.size() + cell.pending.size());
}

// ---- Instances

// Returns the key of a box in Wide: the bit width of its extent in the most cut dimension, and its
// lower bound in that dimension.
Store::Wide::key_type Store::width_key(std::uint32_t region, const Rect& box) const {
  const int d = cut_most_[region];
  return {std::bit_width(static_cast<std::uint64_t>(box.extents[d])), box.lower[d]};
}

// Returns whether the instance answers the query. With `same` it must hold exactly the shape of the
// query; otherwise it may be larger.
bool Store::fits(const Instance& instance, const InstanceQuery& query, bool same) const {
  if (!instance.alive || instance.reduction != query.reduction) return false;
  if ((instance.groups & query.groups) != query.groups) return false;
  if (instance.layout.dimensions != query.layout.dimensions ||
      instance.layout.fields != query.layout.fields ||
      instance.layout.compact != query.layout.compact ||
      instance.layout.align_op != query.layout.align_op ||
      instance.layout.align_bytes != query.layout.align_bytes) {
    return false;
  }
  if (same) return sim::same(*instance.shape, *query.shape);
  return within(*query.piece, *instance.shape);
}

// Looks first for an instance of exactly the same shape, then for one that covers the piece. Exact
// layouts and reductions only take the same shape.
std::optional<InstanceNumber> Store::find(const InstanceQuery& query) const {
  const std::uint64_t place = place_of(query.memory, query.region);
  if (const auto here = same_.find(box_key(place, query.shape->box)); here != same_.end()) {
    for (InstanceNumber number = here->second.oldest; number != kVirtual && !budget_.spend(1);
         number = instances_[number].next) {
      if (fits(instances_[number], query, true)) return number;
    }
  }
  const auto here = at_.find(place);
  if (here == at_.end() || query.layout.exact || query.reduction) return std::nullopt;
  return find_covering(query, here->second);
}

// Returns the oldest instance that covers the piece of the query. Goes through `here` by width, and
// skips boxes that begin after the piece or cannot reach its end.
std::optional<InstanceNumber> Store::find_covering(const InstanceQuery& query,
                                                   const Wide& here) const {
  const Rect& box = query.piece->box;
  const int d = cut_most_[query.region];
  const bool empty = box.volume() == 0;  // every box covers an empty piece
  const std::int64_t begin = empty ? INT64_MAX : box.lower[d];
  // Returns the first key of a width class that can cover the piece. Boxes of the class extend over
  // less than 2^width, so they must begin late enough to reach the end of the piece.
  const auto least = [&](int width) {
    if (empty || width > 62) return Wide::key_type{width, INT64_MIN};
    return Wide::key_type{width, begin + box.extents[d] - ((std::int64_t{1} << width) - 1)};
  };
  std::optional<InstanceNumber> oldest;
  auto at = here.lower_bound(least(empty ? 0 : width_key(query.region, box).first));
  while (at != here.end() && !budget_.spend(4)) {
    const auto [width, lower] = at->first;
    if (lower > begin) {
      at = here.lower_bound(least(width + 1));
    } else if (at->first < least(width)) {
      at = here.lower_bound(least(width));
    } else {
      for (InstanceNumber number : at->second) {
        if ((oldest && *oldest < number) || budget_.spend(1)) break;
        if (fits(instances_[number], query, false)) oldest = number;
      }
      ++at;
    }
  }
  return oldest;
}

// An instance that is found counts as used now and takes the eviction priority of the query.
std::optional<InstanceNumber> Store::find_or_make(const InstanceQuery& query) {
  const auto known = query.fresh ? std::nullopt : find(query);
  if (!known) return make(query);
  change(*known, [&](Instance& instance) {
    instance.used = ++clock_;
    instance.priority = query.priority;
  });
  return known;
}

// Marks the instance as used now. The first statement that takes an instance without one becomes
// its statement.
void Store::take(InstanceNumber number, std::int32_t statement) {
  change(number, [&](Instance& instance) {
    instance.used = ++clock_;
    if (instance.statement == 0) instance.statement = statement;
  });
}

// The new instance is entered in `at_`, in `same_` and in the bytes of its memory. Returns nothing
// if evicting idle instances does not free enough bytes.
std::optional<InstanceNumber> Store::make(const InstanceQuery& query) {
  const std::int64_t bytes = bytes_of(query);
  if (!make_room(query.memory, bytes)) return std::nullopt;
  const std::uint64_t place = place_of(query.memory, query.region);
  const std::uint64_t key = box_key(place, query.shape->box);
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
  at_[place][width_key(query.region, made.shape->box)].push_back(number);
  const auto [chain, is_new] = same_.try_emplace(key, Chain{number, number});
  if (!is_new) {
    instances_[chain->second.newest].next = number;
    chain->second.newest = number;
  }
  const auto m = static_cast<std::size_t>(query.memory);
  change(number, [](Instance& instance) { instance.alive = true; });
  ++alive_;
  used_[m] += bytes;
  peak_[m] = std::max(peak_[m], used_[m]);
  if (on_allocation) on_allocation(made, true);
  return number;
}

// Returns the size of a new instance in bytes. An alignment larger than the memory itself is
// returned as the size, so that the instance never fits.
std::int64_t Store::bytes_of(const InstanceQuery& query) const {
  const LayoutSpec& layout = query.layout;
  const std::int64_t align = mapper::least_alignment(layout.align_op, layout.align_bytes);
  if (align > capacity_[static_cast<std::size_t>(query.memory)]) return align;
  return spaces_.region(query.region)
      .instance_bytes(query.new_groups, layout, query.shape->points_held(layout));
}

// Returns whether the instance may be evicted: nobody uses it, its data is valid elsewhere too, and
// its priority allows it.
bool Store::may_go(const Instance& instance) {
  return instance.alive && instance.users == 0 && instance.needed == 0 &&
         instance.priority != kCollectNever;
}

// Returns the place in the order of eviction: by priority, then the least recently used first.
Store::Order::value_type Store::place_in_order(InstanceNumber number) const {
  const Instance& instance = instances_[number];
  return {-std::int64_t{instance.priority}, instance.used, number};
}

// Every change that affects eviction goes through here, so that `idle_` stays sorted.
template <typename Change>
void Store::change(InstanceNumber number, const Change& change) {
  Instance& instance = instances_[number];
  std::optional<Order>& idle = idle_[static_cast<std::size_t>(instance.memory)];
  if (!idle) return change(instance);
  if (may_go(instance)) idle->erase(place_in_order(number));
  change(instance);
  if (may_go(instance)) idle->insert(place_in_order(number));
}

// Evicts idle instances, in the order of place_in_order(), until `bytes` are free in the memory.
// Returns false if there is still no room. The index `idle_` of a memory is built when the memory
// is full for the first time.
bool Store::make_room(std::int32_t memory, std::int64_t bytes) {
  const auto m = static_cast<std::size_t>(memory);
  if (bytes > capacity_[m]) return false;
  const std::int64_t most = capacity_[m] - bytes;
  if (used_[m] <= most) return true;
  std::optional<Order>& idle = idle_[m];
  if (!idle) {
    idle.emplace();
    for (InstanceNumber number = 0; number < instances_.size() && !budget_.spend(1); ++number) {
      const Instance& instance = instances_[number];
      if (instance.memory == memory && may_go(instance)) idle->insert(place_in_order(number));
    }
  }
  if (never_fits(*idle, used_[m] - most)) return false;
  while (used_[m] > most && !idle->empty() && !budget_.spend(16)) {
    const InstanceNumber number = std::get<InstanceNumber>(*idle->begin());
    guessed_ |= instances_[number].left == waits_;
    remove(number);
  }
  return used_[m] <= most;
}

// Returns true if evicting every idle instance would still not free enough, and some of these
// instances may still be in use. make_room() then evicts nothing. Sets `forked_` in that case.
bool Store::never_fits(const Order& idle, std::int64_t missing) {
  bool certain = true;
  for (const auto& place : idle) {
    if (budget_.spend(2)) return false;
    const Instance& instance = instances_[std::get<InstanceNumber>(place)];
    missing -= instance.bytes;
    if (missing <= 0) return false;
    certain = certain && instance.left != waits_;
  }
  forked_ |= !certain;
  return !certain;
}

// Removes an instance from the chain of instances whose boxes have the same key.
void Store::unchain(InstanceNumber number, Chains::iterator chain) {
  InstanceNumber before = kVirtual;
  std::int64_t passed = 0;
  for (InstanceNumber at = chain->second.oldest; at != number; at = instances_[at].next) {
    before = at;
    ++passed;
  }
  budget_.spend(passed);
  const InstanceNumber after = instances_[number].next;
  (before == kVirtual ? chain->second.oldest : instances_[before].next) = after;
  if (after == kVirtual) chain->second.newest = before;
  if (chain->second.oldest == kVirtual) same_.erase(chain);
}

// Removes an instance from its memory, its cells and all indexes, and reports the removal.
void Store::remove(InstanceNumber number) {
  change(number, [](Instance& instance) { instance.alive = false; });
  const Instance& instance = instances_[number];
  for_cells(instance.region, *instance.shape, instance.groups, [&](Cell& cell, std::int64_t) {
    revise(cell, [&] {
      cell.holders.erase_if([&](Holder& each) {
        if (each.instance != number) return false;
        each.users.ops.release(arena_);
        return true;
      });
    });
  });
  --alive_;
  used_[static_cast<std::size_t>(instance.memory)] -= instance.bytes;
  const std::uint64_t place = place_of(instance.memory, instance.region);
  Wide& here = at_[place];
  const auto alike = here.find(width_key(instance.region, instance.shape->box));
  std::erase(alike->second, number);
  if (alike->second.empty()) here.erase(alike);
  unchain(number, same_.find(box_key(place, instance.shape->box)));
  if (on_allocation) on_allocation(instance, false);
  if (on_removal) on_removal(number);
}

// Returns true if the instance is gone afterwards.
bool Store::collect(InstanceNumber number) {
  const Instance& instance = instances_[number];
  if (!instance.alive) return true;
  if (!may_go(instance)) return false;
  guessed_ |= instance.left == waits_;
  remove(number);
  return true;
}

void Store::acquire(InstanceNumber number) {
  change(number, [](Instance& instance) { ++instance.users; });
}

// An instance with the priority kCollectEager is collected as soon as it has no users.
void Store::release(InstanceNumber number) {
  change(number, [](Instance& instance) { --instance.users; });
  const Instance& instance = instances_[number];
  if (instance.users == 0 && instance.priority == kCollectEager) collect(number);
}

void Store::set_priority(InstanceNumber number, CollectPriority priority) {
  change(number, [priority](Instance& instance) { instance.priority = priority; });
  if (priority == kCollectEager) collect(number);
}

// The instance may still be in use until the next all_over(); `left` marks this.
void Store::leave(InstanceNumber number) {
  change(number, [](Instance& instance) { --instance.users; });
  instances_[number].left = waits_;
  keeps_eager_ |= instances_[number].priority == kCollectEager;
}

// Sums the live instances of a memory by region. Returns at most `most` regions.
std::vector<Store::Held> Store::fill(std::int32_t memory, std::size_t most) const {
  std::map<std::uint32_t, Held> by_region;
  for (const Instance& instance : instances_) {
    if (!instance.alive || instance.memory != memory) continue;
    Held& held = by_region[instance.region];
    held.region = instance.region;
    ++held.count;
    held.used += instance.users > 0 ? 1 : 0;
    held.bytes += instance.bytes;
  }
  std::vector<Held> found;
  for (const auto& [region, held] : by_region) found.push_back(held);
  std::stable_sort(found.begin(), found.end(),
                   [](const Held& a, const Held& b) { return a.bytes > b.bytes; });
  if (found.size() > most) found.resize(most);
  return found;
}

// Starts with the valid holders of the first cell and keeps those that are valid in every other
// cell. Stops when the budget is exceeded.
void Store::valid_for(std::uint32_t region, const Piece& piece, std::uint64_t groups,
                      std::vector<InstanceNumber>& answer) const {
  if (cells_[region] == nullptr) return;
  const RegionSpace& space = spaces_.region(region);
  bool first = true;
  space.for_cells(piece, [&](std::int64_t c, std::int64_t) {
    for (std::size_t g = 0; g < space.group_bytes.size(); ++g) {
      if ((groups >> g & 1) == 0) continue;
      const Cell& at = cells_[region][static_cast<std::size_t>(c) * groups_[region] + g];
      const auto looked_for = static_cast<std::int64_t>(1 + answer.size());
      if (budget_.spend(looked_for * work_of(at))) return false;
      const auto has = [&](InstanceNumber number) {
        return std::any_of(at.holders.begin(), at.holders.end(), [&](const Holder& each) {
          return each.instance == number && each.valid;
        });
      };
      if (first) {
        for (const Holder& each : at.holders) {
          if (each.valid) answer.push_back(each.instance);
        }
        first = false;
      } else {
        std::erase_if(answer, [&](InstanceNumber number) { return !has(number); });
      }
    }
    return true;
  });
  std::sort(answer.begin(), answer.end());
}

// ---- Data

// Returns the entry of an instance in a cell. A missing entry is added, without valid data.
Store::Holder& Store::holder(Cell& cell, InstanceNumber instance) {
  for (Holder& each : cell.holders) {
    if (each.instance == instance) return each;
  }
  budget_.spend(8);  // the entry may touch memory for the first time
  return cell.holders.add({instance, kBeginning, {}, false}, arena_);
}

// Returns the only instance with valid data of the cell, or kVirtual if there is none or several.
InstanceNumber Store::only_valid(const Cell& cell) {
  InstanceNumber only = kVirtual;
  for (const Holder& each : cell.holders) {
    if (!each.valid) continue;
    if (only != kVirtual) return kVirtual;
    only = each.instance;
  }
  return only;
}

// Applies a change of which holders are valid. Updates Instance::needed, which counts the cells
// that only that instance holds.
template <typename Change>
void Store::revise(Cell& cell, const Change& change) {
  const InstanceNumber before = only_valid(cell);
  change();
  const InstanceNumber after = only_valid(cell);
  if (before == after) return;
  if (before != kVirtual) this->change(before, [](Instance& each) { --each.needed; });
  if (after != kVirtual) this->change(after, [](Instance& each) { ++each.needed; });
}

// Makes `instance` the only holder with valid data of the cell.
void Store::make_only_valid(Cell& cell, InstanceNumber instance) {
  if (only_valid(cell) == instance) return;
  revise(cell, [&] {
    for (Holder& each : cell.holders) each.valid = each.instance == instance;
  });
}

// Forgets the reductions that wait to be folded into the cell.
void Store::drop_pending(Cell& cell) {
  for (PendingReduction& pending : cell.pending) {
    change(pending.instance, [](Instance& each) { --each.needed; });
    pending.users.ops.release(arena_);
  }
  cell.pending.clear();
}

// Makes `op` wait for `on`. A task waits neither for itself nor for its ancestors, since it runs
// while they run.
void Store::wait(const Use& use, Op op, Op on) {
  if (on == use.task || on == kBeginning || ops_.done(on)) return;
  if (std::find(use.ancestors.begin(), use.ancestors.end(), on) != use.ancestors.end()) return;
  ops_.depend(op, on);
}

void Store::wait_for_users(const Use& use, Op op, Holder& holder) {
  budget_.spend(static_cast<std::int64_t>(holder.users.ops.size()));
  for (Op user : holder.users.ops) wait(use, op, user);
}

// Adds a user. Users that are done are dropped when the list is full; the list may then grow to
// twice what is left.
void Store::Users::add(Op op, const Ops& all, Arena& arena) {
  if (!ops.empty() && ops.back() == op) return;
  if (ops.size() >= most) {
    ops.erase_if([&all](Op user) { return all.done(user); });
    most = std::max<std::uint32_t>(8, 2 * static_cast<std::uint32_t>(ops.size()));
  }
  ops.add(op, arena);
}

// Notes this use of the cell, and returns true if another point of the same launch is in conflict
// with it. The points of a launch run in any order, so no point may write what another one reads,
// writes or reduces to.
bool Store::in_the_way(const Use& use, Cell& cell) const {
  const bool writes =
      use.privilege == Privilege::kReadWrite || use.privilege == Privilege::kWriteDiscard;
  if (use.shares || use.launch == 0) return false;
  bool clash = cell.write_launch == use.launch && cell.writer != use.task;
  if (writes) clash |= cell.read_launch == use.launch && cell.reader != use.task;
  if (writes) {
    cell.write_launch = use.launch;
    cell.writer = use.task;
  } else {
    const bool others = cell.read_launch == use.launch && cell.reader != use.task;
    cell.reader = others ? kSeveral : use.task;
    cell.read_launch = use.launch;
  }
  return clash;
}

// Only looks for conflicts between the points of a launch. Returns false if there is one.
bool Store::touch(std::uint32_t region, const Use& use) {
  bool clash = false;
  for_cells(region, *use.piece, use.groups,
            [&](Cell& cell, std::int64_t) { clash |= in_the_way(use, cell); });
  return !clash;
}

// Works in two passes: the first finds conflicts and the sources of missing data, the second adds
// the copies and the waits. Returns false if two points of a launch are in conflict.
bool Store::use(const Use& use, const Rank& rank, std::vector<Fetch>& fetches) {
  const std::uint32_t region = instances_[use.instance].region;
  const bool reads =
      use.privilege == Privilege::kReadOnly || use.privilege == Privilege::kReadWrite;
  bool clash = false;
  sources_.clear();
  // Find the sources before any cell changes hands.
  for_cells(region, *use.piece, use.groups, [&](Cell& cell, std::int64_t) {
    clash |= in_the_way(use, cell);
    if (!reads) return;
    bool here = false;
    for (const Holder& each : cell.holders) here |= each.valid && each.instance == use.instance;
    if (here) return;
    budget_.spend(static_cast<std::int64_t>(cell.holders.size() * sources_.size()));
    for (const Holder& each : cell.holders) {
      if (!each.valid) continue;
      if (std::find(sources_.begin(), sources_.end(), each.instance) == sources_.end()) {
        sources_.push_back(each.instance);
      }
    }
  });
  if (clash) return false;
  if (budget_.exceeded()) return true;
  if (sources_.size() > 1) {
    std::sort(sources_.begin(), sources_.end());
    rank(use.instance, sources_);
  }
  const std::size_t first = fetches.size();
  for_cells(region, *use.piece, use.groups, [&](Cell& cell, std::int64_t bytes) {
    if (cell_bytes() <= max_bytes_) use_cell(use, cell, bytes, fetches, first);
  });
  return true;
}

// Returns the copy from `from` for this use; adds it if there is none yet. The fetches from `first`
// on belong to this use. Both instances stay acquired until the copy is done.
Fetch& Store::fetch(const Use& use, InstanceNumber from, bool reduction,
                    std::vector<Fetch>& fetches, std::size_t first) {
  budget_.spend(static_cast<std::int64_t>(fetches.size() - first));
  for (std::size_t i = first; i < fetches.size(); ++i) {
    if (fetches[i].from == from && fetches[i].reduction == reduction) return fetches[i];
  }
  const Op op = ops_.add();
  ops_.depend(use.task, op);
  acquire(from);
  acquire(use.instance);
  return fetches.emplace_back(Fetch{op, from, use.instance, reduction, 0});
}

// Makes the data of the cell valid in the instance of this use: copies it, if it is not there, then
// folds the pending reductions. The first source in `sources_` with valid data is taken.
void Store::bring(const Use& use, Cell& cell, std::int64_t bytes, std::vector<Fetch>& fetches,
                  std::size_t first) {
  Holder& mine = holder(cell, use.instance);
  if (!mine.valid) {
    budget_.spend(static_cast<std::int64_t>(cell.holders.size() * sources_.size()));
    const auto source = std::find_if(sources_.begin(), sources_.end(), [&](InstanceNumber number) {
      return std::any_of(cell.holders.begin(), cell.holders.end(),
                         [&](const Holder& each) { return each.valid && each.instance == number; });
    });
    if (source != sources_.end()) {
      Fetch& copy = fetch(use, *source, false, fetches, first);
      copy.bytes += bytes;
      Holder& theirs = holder(cell, *source);
      wait(use, copy.op, theirs.ready);
      wait(use, copy.op, mine.ready);
      wait_for_users(use, copy.op, mine);
      mine.users.ops.clear();
      mine.ready = copy.op;
      theirs.users.add(copy.op, ops_, arena_);
    }
    revise(cell, [&] { mine.valid = true; });
  }
  if (cell.pending.empty()) return;
  // Every cell folds in the same order, so that the folds never wait for each other in a cycle.
  std::sort(
      cell.pending.begin(), cell.pending.end(),
      [](const PendingReduction& a, const PendingReduction& b) { return a.instance < b.instance; });
  for (const PendingReduction& pending : cell.pending) {
    Fetch& fold = fetch(use, pending.instance, true, fetches, first);
    fold.bytes += bytes;
    budget_.spend(static_cast<std::int64_t>(pending.users.ops.size()));
    for (Op op : pending.users.ops) wait(use, fold.op, op);
    wait(use, fold.op, mine.ready);
    wait_for_users(use, fold.op, mine);
    mine.users.ops.clear();
    mine.ready = fold.op;
    for (Holder& each : cell.holders) {
      if (each.instance == pending.instance) each.users.add(fold.op, ops_, arena_);
    }
  }
  drop_pending(cell);
  make_only_valid(cell, use.instance);
}

// Applies one use to one cell. The effect depends on the privilege:
// * Reduce: the instance becomes pending until a reader folds it.
// * Read: missing data is copied and pending reductions are folded. The task becomes a user.
// * Read-write: as for read. Afterwards only this instance is valid.
// * Write-discard: nothing is copied or folded. Afterwards only this instance is valid.
void Store::use_cell(const Use& use, Cell& cell, std::int64_t bytes, std::vector<Fetch>& fetches,
                     std::size_t first) {
  if (use.privilege == Privilege::kReduce) {
    for (PendingReduction& pending : cell.pending) {
      if (pending.instance != use.instance) continue;
      pending.users.add(use.task, ops_, arena_);
      return;
    }
    Holder& mine = holder(cell, use.instance);
    wait_for_users(use, use.task, mine);  // folds that still read the old contents
    mine.users.ops.clear();
    PendingReduction& pending = cell.pending.add({use.instance, {}}, arena_);
    pending.users.add(use.task, ops_, arena_);
    change(use.instance, [](Instance& instance) { ++instance.needed; });
    return;
  }
  const bool writes = use.privilege != Privilege::kReadOnly;
  if (use.privilege != Privilege::kWriteDiscard) bring(use, cell, bytes, fetches, first);
  Holder& mine = holder(cell, use.instance);
  wait(use, use.task, mine.ready);
  if (!writes) {
    mine.users.add(use.task, ops_, arena_);
    if (!use.untracked) return;
    const bool elsewhere = std::any_of(
        cell.holders.begin(), cell.holders.end(),
        [&](const Holder& each) { return each.valid && each.instance != use.instance; });
    if (elsewhere && mine.valid) revise(cell, [&] { mine.valid = false; });
    return;
  }
  wait_for_users(use, use.task, mine);
  mine.users.ops.clear();
  drop_pending(cell);
  mine.ready = use.task;
  make_only_valid(cell, use.instance);
}

}  // namespace groma::sim
