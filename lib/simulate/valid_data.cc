// Implements ValidData, the rules of valid data, cell by cell: what a use copies, folds and waits
// for.
#include "simulate/valid_data.h"

#include <algorithm>
#include <bit>
#include <new>

#include "simulate/bytes.h"

namespace groma::sim {

// Counts the groups of fields of each region. No cells are allocated yet.
ValidData::ValidData(std::size_t regions, const DataSpaces& spaces, OpGraph& ops,
                     InstanceStore& store, Arena& lists, std::int64_t max_bytes, Budget& budget)
    : spaces_(spaces),
      ops_(ops),
      store_(store),
      budget_(budget),
      arena_(lists),
      max_bytes_(max_bytes) {
  cells_.resize(regions);
  for (std::size_t r = 0; r < regions; ++r) {
    const RegionSpace& space = spaces.region(static_cast<std::uint32_t>(r));
    groups_.push_back(std::max<std::size_t>(1, space.group_bytes.size()));
  }
  store.forget_data = [this](InstanceNumber number) { forget(number); };
}

// Calls visit(cell, bytes) for each cell of the piece in each of the groups, while there is budget.
// `bytes` is the size of the cell's data in that group.
//
// The cells of a region are allocated when they are first visited. Nothing is visited if they would
// exceed `max_bytes_`.
template <typename Visit>
void ValidData::for_cells(std::uint32_t region, const Piece& piece, std::uint64_t groups,
                          const Visit& visit) {
  const RegionSpace& space = spaces_.region(region);
  if (cells_[region] == nullptr) {
    const std::size_t count = static_cast<std::size_t>(space.cells) * groups_[region];
    array_bytes_ += heap_bytes(count * sizeof(Cell));
    if (bytes() > max_bytes_) return;
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

// Returns the units of work that one visit of a cell counts on the budget. A visit looks through
// the lists of the cell a few times.
std::int64_t ValidData::work_of(const Cell& cell) {
  return static_cast<std::int64_t>(2 + cell.holders.size() + cell.pending.size());
}

// Removes an instance from all cells whose data it may hold.
void ValidData::forget(InstanceNumber number) {
  const Instance& instance = store_.instance(number);
  for_cells(instance.region, *instance.shape, instance.groups, [&](Cell& cell, std::int64_t) {
    change_valid_holders(cell, [&] {
      cell.holders.erase_if([&](InstanceEntry& each) {
        if (each.instance != number) return false;
        each.users.release(arena_);
        return true;
      });
    });
  });
}

// Takes the instances that are valid in the first cell, and removes those that are not valid in one
// of the other cells. Stops when the budget is exceeded.
void ValidData::find_valid_instances(std::uint32_t region, const Piece& piece, std::uint64_t groups,
                                     std::vector<InstanceNumber>& answer) const {
  if (cells_[region] == nullptr) return;
  const RegionSpace& space = spaces_.region(region);
  bool first = true;
  space.for_cells(piece, [&](std::int64_t c, std::int64_t) {
    for (std::size_t g = 0; g < space.group_bytes.size(); ++g) {
      if ((groups >> g & 1) == 0) continue;
      const Cell& at = cell(region, c, g);
      const auto looked_for = static_cast<std::int64_t>(1 + answer.size());
      if (budget_.spend(looked_for * work_of(at))) return false;
      const auto has = [&](InstanceNumber number) {
        return std::any_of(at.holders.begin(), at.holders.end(), [&](const InstanceEntry& each) {
          return each.instance == number && each.valid;
        });
      };
      if (first) {
        for (const InstanceEntry& each : at.holders) {
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

// Returns the entry of an instance in the list of instances of a cell. If there is none, adds an
// entry that says that the instance has no valid data.
ValidData::InstanceEntry& ValidData::holder(Cell& cell, InstanceNumber instance) {
  for (InstanceEntry& each : cell.holders) {
    if (each.instance == instance) return each;
  }
  // A new entry counts as additional work, since it may use memory that was never touched before.
  budget_.spend(8);
  return cell.holders.add({instance, kBeginning, {}, false}, arena_);
}

// Returns the only instance with valid data of the cell, or kVirtual if there is none or several.
InstanceNumber ValidData::only_valid_instance(const Cell& cell) {
  InstanceNumber only = kVirtual;
  for (const InstanceEntry& each : cell.holders) {
    if (!each.valid) continue;
    if (only != kVirtual) return kVirtual;
    only = each.instance;
  }
  return only;
}

// Calls change(), which changes which instances hold valid data of the cell. Then corrects
// Instance::needed, the number of cells whose valid data is in that instance alone.
template <typename Change>
void ValidData::change_valid_holders(Cell& cell, const Change& change) {
  const InstanceNumber before = only_valid_instance(cell);
  change();
  const InstanceNumber after = only_valid_instance(cell);
  if (before == after) return;
  if (before != kVirtual) store_.add_to_needed_count(before, -1);
  if (after != kVirtual) store_.add_to_needed_count(after, 1);
}

// Makes `instance` the only holder with valid data of the cell.
void ValidData::make_only_valid(Cell& cell, InstanceNumber instance) {
  if (only_valid_instance(cell) == instance) return;
  change_valid_holders(cell, [&] {
    for (InstanceEntry& each : cell.holders) each.valid = each.instance == instance;
  });
}

// Forgets the reductions that wait to be folded into the cell.
void ValidData::forget_pending_reductions(Cell& cell) {
  for (PendingReduction& pending : cell.pending) {
    store_.add_to_needed_count(pending.instance, -1);
    pending.users.release(arena_);
  }
  cell.pending.clear();
}

// Makes the op `op` (a task or copy) wait for the op `on`. A task waits neither for itself nor for
// its ancestors, since they end only after it.
void ValidData::wait(const InstanceUse& use, Op op, Op on, bool for_user) {
  if (on == use.task || on == kBeginning || known_ != nullptr) return;
  if (log_ == nullptr && ops_.done(on)) return;
  if (std::find(use.ancestors.begin(), use.ancestors.end(), on) != use.ancestors.end()) return;
  if (log_ != nullptr) log_->waits.push_back({op, on, for_user});
  ops_.add_dependence(op, on);
}

void ValidData::wait_for_users(const InstanceUse& use, Op op, InstanceEntry& holder) {
  budget_.spend(static_cast<std::int64_t>(holder.users.size()));
  for (Op user : holder.users) wait(use, op, user, true);
}

// Adds an op to a list of ops that use some data. When the memory of the list is full, ops that are
// done are removed. If more than half of the list is then left, the list gets more memory, so that
// this search is not repeated for each new op.
void ValidData::add_user(ArenaList<Op>& users, Op op) {
  if (!users.empty() && users.back() == op) return;
  if (users.is_full() && log_ == nullptr) {
    const std::size_t before = users.size();
    users.erase_if([this](Op user) { return ops_.done(user); });
    if (2 * users.size() > before) users.grow(arena_);
  }
  users.add(op, arena_);
}

// Notes this use of the cell, and returns true if another point of the same launch is in conflict
// with it. The points of a launch run in any order, so no point may write what another one reads,
// writes or reduces to.
bool ValidData::note_use_of_cell(const InstanceUse& use, Cell& cell) {
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

// Notes a use without an instance, and does nothing else. Returns false if it conflicts with
// another point of the same launch.
bool ValidData::note_virtual_use(std::uint32_t region, const InstanceUse& use) {
  bool clash = false;
  for_cells(region, *use.piece, use.groups,
            [&](Cell& cell, std::int64_t) { clash |= note_use_of_cell(use, cell); });
  return !clash;
}

// Goes through the cells twice. First it finds conflicts and the instances from which missing data
// can be copied; then it adds the copies and the waits. Returns false if two points of a launch are
// in conflict.
bool ValidData::apply_use(const InstanceUse& use, const Rank& rank,
                          std::vector<NeededCopy>& fetches) {
  const std::uint32_t region = store_.instance(use.instance).region;
  const bool reads =
      use.privilege == Privilege::kReadOnly || use.privilege == Privilege::kReadWrite;
  bool clash = false;
  sources_.clear();
  // Find the instances to copy from before the state of any cell changes.
  for_cells(region, *use.piece, use.groups, [&](Cell& cell, std::int64_t) {
    clash |= note_use_of_cell(use, cell);
    if (!reads) return;
    bool here = false;
    for (const InstanceEntry& each : cell.holders)
      here |= each.valid && each.instance == use.instance;
    if (here) return;
    budget_.spend(static_cast<std::int64_t>(cell.holders.size() * sources_.size()));
    for (const InstanceEntry& each : cell.holders) {
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
    if (log_ != nullptr) log_->ranked.insert(log_->ranked.end(), sources_.begin(), sources_.end());
  }
  const UseInProgress step{use, fetches, fetches.size()};
  for_cells(region, *use.piece, use.groups, [&](Cell& cell, std::int64_t cell_bytes) {
    if (bytes() <= max_bytes_) use_cell(step, cell, cell_bytes);
  });
  return true;
}

// Returns the copy that brings data from the instance `from` to the instance of this use. If this
// use has no such copy yet, adds it. Both instances have the copy as a user until it is done.
NeededCopy& ValidData::fetch(const UseInProgress& step, InstanceNumber from, bool reduction) {
  std::vector<NeededCopy>& fetches = step.fetches;
  budget_.spend(static_cast<std::int64_t>(fetches.size() - step.first));
  for (std::size_t i = step.first; i < fetches.size(); ++i) {
    if (fetches[i].from == from && fetches[i].reduction == reduction) return fetches[i];
  }
  if (known_ != nullptr) return fetches.emplace_back(known_[fetches.size()]);
  const Op op = ops_.add();
  wait(step.use, step.use.task, op);
  store_.acquire(from);
  store_.acquire(step.use.instance);
  return fetches.emplace_back(NeededCopy{op, from, step.use.instance, reduction, 0});
}

// Makes the data of the cell valid in the instance of this use, whose entry is `mine`. The data is
// copied from the first instance in `sources_` that holds it. Nothing is copied if no instance
// holds it.
void ValidData::copy_missing_data(const UseInProgress& step, Cell& cell, std::int64_t bytes,
                                  InstanceEntry& mine) {
  budget_.spend(static_cast<std::int64_t>(cell.holders.size() * sources_.size()));
  const auto source = std::find_if(sources_.begin(), sources_.end(), [&](InstanceNumber number) {
    return std::any_of(cell.holders.begin(), cell.holders.end(), [&](const InstanceEntry& each) {
      return each.valid && each.instance == number;
    });
  });
  if (source != sources_.end()) {
    NeededCopy& copy = fetch(step, *source, false);
    copy.bytes += bytes;
    InstanceEntry& theirs = holder(cell, *source);
    wait(step.use, copy.op, theirs.ready);
    wait(step.use, copy.op, mine.ready);
    wait_for_users(step.use, copy.op, mine);
    mine.users.clear();
    mine.ready = copy.op;
    add_user(theirs.users, copy.op);
  }
  change_valid_holders(cell, [&] { mine.valid = true; });
}

// Folds the pending reductions of the cell into the instance of this use, whose entry is `mine`.
// Afterwards only this instance has valid data. All cells fold their reductions in the same order,
// so that the copies which do this never wait for each other in a cycle.
void ValidData::fold_pending_reductions(const UseInProgress& step, Cell& cell, std::int64_t bytes,
                                        InstanceEntry& mine) {
  std::sort(
      cell.pending.begin(), cell.pending.end(),
      [](const PendingReduction& a, const PendingReduction& b) { return a.instance < b.instance; });
  for (const PendingReduction& pending : cell.pending) {
    NeededCopy& fold = fetch(step, pending.instance, true);
    fold.bytes += bytes;
    budget_.spend(static_cast<std::int64_t>(pending.users.size()));
    for (Op op : pending.users) wait(step.use, fold.op, op, true);
    wait(step.use, fold.op, mine.ready);
    wait_for_users(step.use, fold.op, mine);
    mine.users.clear();
    mine.ready = fold.op;
    for (InstanceEntry& each : cell.holders) {
      if (each.instance == pending.instance) add_user(each.users, fold.op);
    }
  }
  forget_pending_reductions(cell);
  make_only_valid(cell, step.use.instance);
}

// Adds the task to the reductions that are pending in the cell. Tasks that reduce to the same
// instance do not wait for each other.
void ValidData::add_pending_reduction(const InstanceUse& use, Cell& cell) {
  for (PendingReduction& pending : cell.pending) {
    if (pending.instance != use.instance) continue;
    add_user(pending.users, use.task);
    return;
  }
  InstanceEntry& mine = holder(cell, use.instance);
  // Earlier reductions in this instance may still be read by copies that fold them, so the task
  // waits for the users of the instance.
  wait_for_users(use, use.task, mine);
  mine.users.clear();
  PendingReduction& pending = cell.pending.add({use.instance, {}}, arena_);
  add_user(pending.users, use.task);
  store_.add_to_needed_count(use.instance, 1);
}

// Applies one use of an instance by a task to one cell. The effect depends on the privilege:
// * Reduce: the instance holds a pending reduction, until a task that reads the data folds it.
// * Read: missing data is copied, and pending reductions are folded. The task becomes a user of the
//   data.
// * Read-write: as for read. Afterwards only this instance has valid data.
// * Write-discard: nothing is copied or folded. Afterwards only this instance has valid data.
void ValidData::use_cell(const UseInProgress& step, Cell& cell, std::int64_t bytes) {
  const InstanceUse& use = step.use;
  if (use.privilege == Privilege::kReduce) return add_pending_reduction(use, cell);
  InstanceEntry& mine = holder(cell, use.instance);
  if (use.privilege != Privilege::kWriteDiscard) {
    if (!mine.valid) copy_missing_data(step, cell, bytes, mine);
    if (!cell.pending.empty()) fold_pending_reductions(step, cell, bytes, mine);
  }
  wait(use, use.task, mine.ready);
  if (use.privilege == Privilege::kReadOnly) {
    add_user(mine.users, use.task);
    if (!use.untracked) return;
    const bool elsewhere = std::any_of(
        cell.holders.begin(), cell.holders.end(),
        [&](const InstanceEntry& each) { return each.valid && each.instance != use.instance; });
    if (elsewhere && mine.valid) change_valid_holders(cell, [&] { mine.valid = false; });
    return;
  }
  wait_for_users(use, use.task, mine);
  mine.users.clear();
  forget_pending_reductions(cell);
  mine.ready = use.task;
  make_only_valid(cell, use.instance);
}

// ---- Loops whose iterations do the same

void ValidData::reapply_use(const InstanceUse& use, const Rank& rank,
                            std::span<const NeededCopy> known, std::vector<NeededCopy>& fetches) {
  static constexpr NeededCopy kNone;
  known_ = known.empty() ? &kNone : known.data();
  this->apply_use(use, rank, fetches);
  known_ = nullptr;
}

std::int64_t ValidData::cells_of(std::uint32_t region) const {
  return spaces_.region(region).cells * static_cast<std::int64_t>(groups_[region]);
}

void ValidData::add_to(StateHash& hash, const ArenaList<Op>& users, Op since) {
  for (const Op op : users) {
    if (op >= since) hash.add(op - since);
  }
  hash.add(kSeveral);
}

template <typename Visit>
void ValidData::for_all_cells(std::span<const std::uint32_t> regions, const Visit& visit) const {
  for (const std::uint32_t region : regions) {
    if (cells_[region] == nullptr) continue;
    const std::int64_t count = cells_of(region);
    for (std::int64_t c = 0; c < count; ++c) {
      Cell& cell = cells_[region][static_cast<std::size_t>(c)];
      if (budget_.spend(work_of(cell))) return;
      visit(cell);
    }
  }
}

// Ops from `since` on are numbered relative to `since`, so that equal iterations give equal hashes.
// An op before `since` keeps its number, which is the same for every iteration. After the values of
// each list of a cell, a number that stands for no instance marks the end of the list.
StateHash ValidData::hash_of(std::span<const std::uint32_t> regions, Op since) const {
  StateHash hash;
  for_all_cells(regions, [&](const Cell& cell) {
    for (const InstanceEntry& holder : cell.holders) {
      const bool is_new = holder.ready >= since;
      hash.add(std::uint64_t{holder.instance} << 2 | (holder.valid ? 2 : 0) | (is_new ? 1 : 0));
      hash.add(is_new ? holder.ready - since : holder.ready);
      add_to(hash, holder.users, since);
    }
    hash.add(std::uint64_t{kVirtual} << 2);
    for (const PendingReduction& pending : cell.pending) {
      hash.add(pending.instance);
      add_to(hash, pending.users, since);
    }
    hash.add(std::uint64_t{kVirtual} << 2);
  });
  return hash;
}

// Changes a list of users as `times` repetitions of an iteration would. If the list has no users
// before `since`, the iteration emptied and filled it, so each repetition replaces its users.
// Otherwise the iteration only added users, and so does each repetition.
void ValidData::repeat_users(ArenaList<Op>& users, Op since, Op ops, std::int64_t times) {
  const auto more = static_cast<Op>(times) * ops;
  if (std::none_of(users.begin(), users.end(), [since](Op op) { return op < since; })) {
    for (Op& op : users) op += more;
    return;
  }
  std::vector<Op> last;
  for (const Op op : users) {
    if (op >= since) last.push_back(op);
  }
  for (Op by = ops; by <= more && !last.empty(); by += ops) {
    budget_.spend(static_cast<std::int64_t>(last.size()));
    for (const Op op : last) {
      if (!ops_.done(op + by)) add_user(users, op + by);
    }
  }
}

void ValidData::repeat(std::span<const std::uint32_t> regions, Op since, Op ops,
                       std::int64_t times) {
  for_all_cells(regions, [&](Cell& cell) {
    for (InstanceEntry& holder : cell.holders) {
      if (holder.ready >= since) holder.ready += static_cast<Op>(times) * ops;
      repeat_users(holder.users, since, ops, times);
    }
    for (PendingReduction& pending : cell.pending) {
      repeat_users(pending.users, since, ops, times);
    }
  });
}

}  // namespace groma::sim
