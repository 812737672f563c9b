// ValidData: tracks which instances hold valid data of each cell, and finds the copies that are
// needed before an instance can be used. The rules are Legion's: data is valid where it was last
// written or to where it was copied since. Reductions stay in separate instances until a task reads
// the data.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/budget.h"
#include "groma/kinds.h"
#include "simulate/arena.h"
#include "simulate/hash.h"
#include "simulate/instance.h"
#include "simulate/op_graph.h"
#include "simulate/spaces.h"
#include "simulate/store.h"

namespace groma::sim {

// A copy of data to another instance, or a reduction into it, that must be made for a task.
struct NeededCopy {
  Op op = kBeginning;
  InstanceNumber from = 0, to = 0;
  bool reduction = false;
  std::int64_t bytes = 0;
};

// The use of an instance by a task for one of its requirements.
struct InstanceUse {
  Op task = kBeginning;
  InstanceNumber instance = 0;
  const Piece* piece = nullptr;
  std::uint64_t groups = 0;
  Privilege privilege = Privilege::kReadOnly;
  // True if the coherence of the requirement leaves the points of a launch unordered.
  bool shares = false;
  // True if the data that the task reads need not be remembered as valid in the instance.
  bool untracked = false;
  // The number of the index launch within the run, counted from 1. 0: the task is a single task.
  std::uint32_t launch = 0;
  // The ops of the ancestors of the task, for which it does not wait since it runs while they run.
  std::span<const Op> ancestors;
};

class ValidData {
 public:
  // The object keeps references to all arguments, so they must outlive it. `lists` provides the
  // memory for the contents of cells. `max_bytes` limits the memory of `lists` and of the cells;
  // beyond it, apply_use() does nothing. Work is counted on `budget`. Once the budget is exceeded,
  // the state and results are meaningless. The data of each instance that `store` removes is
  // forgotten.
  ValidData(std::size_t regions, const DataSpaces& spaces, OpGraph& ops, InstanceStore& store,
            Arena& lists, std::int64_t max_bytes, Budget& budget);
  ValidData(const ValidData&) = delete;
  ValidData& operator=(const ValidData&) = delete;

  // Applies the use of an instance by a task: makes the task wait for the ops before it, and adds
  // the copies that it needs to `fetches`. The ops of the copies are not released; they wait only
  // for each other and for existing ops. `rank` sorts the instances that have the data, the best
  // source of a copy first. Returns false if two points of one launch conflict.
  using Rank = std::function<void(InstanceNumber target, std::vector<InstanceNumber>& sources)>;
  bool apply_use(const InstanceUse& use, const Rank& rank, std::vector<NeededCopy>& fetches);
  // Notes that a task uses data of a region without an instance, because the tasks that it launches
  // take instances. Returns false if two points of one launch conflict.
  bool note_virtual_use(std::uint32_t region, const InstanceUse& use);

  // Adds to `answer`, which must be empty, the instances with valid data for all of a piece, the
  // oldest first.
  void find_valid_instances(std::uint32_t region, const Piece& piece, std::uint64_t groups,
                            std::vector<InstanceNumber>& answer) const;

  // The following functions serve LoopReplay, which repeats the iterations of a loop that all do
  // the same.

  // A dependence: the op `op` waits for the op `on`, which may already be done. `for_user` is true
  // if the reason for waiting is that `on` used data that `op` changes.
  struct DataDependence {
    Op op = kBeginning, on = kBeginning;
    bool for_user = false;
  };
  // What calls of apply_use() log: the dependences that they find, and how the sources of copies
  // were ranked.
  struct Log {
    // All dependences, including those on ops that are already done.
    std::vector<DataDependence> waits;
    // The lists of instances, as sorted by the calls of `rank`, one list after the other.
    std::vector<InstanceNumber> ranked;
    void clear() {
      waits.clear();
      ranked.clear();
    }
  };
  // From now on apply_use() adds to `log`, and ops that use data are kept in the lists of the cells
  // when they are done. If `log` is null, neither happens any more.
  void log_uses_to(Log* log) { log_ = log; }
  // Returns the number of cells of the region, counted once for each group of fields.
  std::int64_t cells_of(std::uint32_t region) const;
  // Returns a hash of the state of all cells of these regions. Ops from `since` on are numbered
  // relative to `since`. Older ops that use data do not influence the hash: an iteration that waits
  // for such an op is not repeated.
  StateHash hash_of(std::span<const std::uint32_t> regions, Op since) const;
  // Changes the state of these regions as repetitions of an iteration would. The iteration added
  // the ops from `since` to `since + ops - 1`. The new state is the one after `times` more equal
  // iterations, each of which adds `ops` ops.
  void repeat(std::span<const std::uint32_t> regions, Op since, Op ops, std::int64_t times);

  // Changes the state of the data as apply_use() does, for a task whose copies and dependences
  // exist already. `known` holds all copies of the task in their order, and `fetches` those of them
  // that earlier calls have used. The copies of this use are the next ones in `known`; they are
  // added to `fetches`.
  void reapply_use(const InstanceUse& use, const Rank& rank, std::span<const NeededCopy> known,
                   std::vector<NeededCopy>& fetches);

  // Returns the approximate memory of the cells and of `lists` in bytes.
  std::int64_t bytes() const { return array_bytes_ + arena_.bytes(); }

 private:
  struct InstanceEntry {
    InstanceNumber instance = 0;
    // The op after whose end the data is in the instance.
    Op ready = kBeginning;
    // The ops that have read the instance since its data became valid.
    ArenaList<Op> users;
    bool valid = false;
  };
  struct PendingReduction {
    InstanceNumber instance = 0;
    // The ops that reduce to the instance.
    ArenaList<Op> users;
  };
  static constexpr Op kSeveral = 0xFFFFFFFF;
  // The state of one cell in one group of fields. An object whose bytes are all 0 is an unused
  // cell.
  struct Cell {
    ArenaList<InstanceEntry> holders;
    ArenaList<PendingReduction> pending;
    // The number of the last launch that read or reduced to the cell and of the last launch that
    // wrote it, and the ops of the tasks of these launches that did so. kSeveral: several tasks of
    // the launch did.
    std::uint32_t read_launch = 0, write_launch = 0;
    Op reader = kBeginning, writer = kBeginning;
  };
  // Frees the array of cells of a region. The operating system zeroes that memory, and provides
  // each part of it when the part is first touched.
  struct FreeCells {
    void operator()(Cell* cells) const { std::free(cells); }
  };
  using Cells = std::unique_ptr<Cell[], FreeCells>;
  // The use of an instance while it is applied cell by cell. Its copies are the elements of
  // `fetches` from the index `first` to the end.
  struct UseInProgress {
    const InstanceUse& use;
    std::vector<NeededCopy>& fetches;
    std::size_t first;
  };

  Cell& cell(std::uint32_t region, std::int64_t cell, std::size_t group) const {
    return cells_[region][static_cast<std::size_t>(cell) * groups_[region] + group];
  }
  static std::int64_t work_of(const Cell& cell);
  // Calls visit(cell) for every cell of the regions that has a state, while there is budget.
  template <typename Visit>
  void for_all_cells(std::span<const std::uint32_t> regions, const Visit& visit) const;
  template <typename Visit>
  void for_cells(std::uint32_t region, const Piece& piece, std::uint64_t groups,
                 const Visit& visit);
  void forget(InstanceNumber number);
  InstanceEntry& holder(Cell& cell, InstanceNumber instance);
  void add_user(ArenaList<Op>& users, Op op);
  static void add_to(StateHash& hash, const ArenaList<Op>& users, Op since);
  void repeat_users(ArenaList<Op>& users, Op since, Op ops, std::int64_t times);
  static InstanceNumber only_valid_instance(const Cell& cell);
  template <typename Change>
  void change_valid_holders(Cell& cell, const Change& change);
  void make_only_valid(Cell& cell, InstanceNumber instance);
  void forget_pending_reductions(Cell& cell);
  void wait(const InstanceUse& use, Op op, Op on, bool for_user = false);
  void wait_for_users(const InstanceUse& use, Op op, InstanceEntry& holder);
  static bool note_use_of_cell(const InstanceUse& use, Cell& cell);
  NeededCopy& fetch(const UseInProgress& step, InstanceNumber from, bool reduction);
  void copy_missing_data(const UseInProgress& step, Cell& cell, std::int64_t bytes,
                         InstanceEntry& mine);
  void fold_pending_reductions(const UseInProgress& step, Cell& cell, std::int64_t bytes,
                               InstanceEntry& mine);
  void add_pending_reduction(const InstanceUse& use, Cell& cell);
  void use_cell(const UseInProgress& step, Cell& cell, std::int64_t bytes);

  const DataSpaces& spaces_;
  OpGraph& ops_;
  InstanceStore& store_;
  Budget& budget_;
  // Provides the memory of the contents of cells.
  Arena& arena_;
  // For each region: its cells. Null: no cell was used yet.
  std::vector<Cells> cells_;
  // For each region: the number of its groups of fields, at least 1.
  std::vector<std::size_t> groups_;
  // The instances from which the current use copies data, the best first.
  std::vector<InstanceNumber> sources_;
  // The log of apply_use(). Null: nothing is logged.
  Log* log_ = nullptr;
  // During reapply_use(): the known copies of the task; else null.
  const NeededCopy* known_ = nullptr;
  // The limit on the memory of this object in bytes.
  std::int64_t max_bytes_;
  // The memory of `cells_` in bytes.
  std::int64_t array_bytes_ = 0;
};

}  // namespace groma::sim
