// ValidData: which instances hold valid data of each cell, and the copies that are needed before an
// instance can be used. The rules are Legion's: data is valid where it was last written or to where
// it was copied since. Reductions wait in separate instances until someone reads.
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
#include "simulate/ops.h"
#include "simulate/spaces.h"
#include "simulate/store.h"

namespace groma::sim {

// A copy (or reduction) that must be made.
struct Fetch {
  Op op = kBeginning;
  InstanceNumber from = 0, to = 0;
  bool reduction = false;
  std::int64_t bytes = 0;
};

// The use of an instance by a task.
struct Use {
  Op task = kBeginning;
  InstanceNumber instance = 0;
  const Piece* piece = nullptr;
  std::uint64_t groups = 0;
  Privilege privilege = Privilege::kReadOnly;
  bool shares = false;       // coherence: the points of a launch are not ordered
  bool untracked = false;    // the data that it read need not be remembered as valid here
  std::uint32_t launch = 0;  // number of the launch in the run, from 1
  // Tasks that run during this task, since it runs inside them.
  std::span<const Op> ancestors;
};

class ValidData {
 public:
  // Refers to all arguments, so they must outlive it. `lists` has the memory of the contents of
  // cells. `max_bytes` limits the memory of `lists` and of the cells; beyond it, use() does
  // nothing. It counts its work on `budget`. Once the budget is exceeded, its state and results are
  // meaningless. It forgets the data of each instance that `store` removes.
  ValidData(std::size_t regions, const Spaces& spaces, Ops& ops, Store& store, Arena& lists,
            std::int64_t max_bytes, Budget& budget);
  ValidData(const ValidData&) = delete;
  ValidData& operator=(const ValidData&) = delete;

  // Makes use.task wait for its predecessors, and adds the copies that are needed before it. Their
  // ops are not released; they wait only for each other and for existing ops. `rank` sorts the
  // instances that have the data, the best first. Returns false if two points of one launch
  // conflict.
  using Rank = std::function<void(InstanceNumber target, std::vector<InstanceNumber>& sources)>;
  bool use(const Use& use, const Rank& rank, std::vector<Fetch>& fetches);
  // Does the same for a task that needs no instance of the region, because the tasks that it
  // launches need one.
  bool touch(std::uint32_t region, const Use& use);

  // Returns the instances with valid data for all of a piece, the oldest first.
  void valid_for(std::uint32_t region, const Piece& piece, std::uint64_t groups,
                 std::vector<InstanceNumber>& answer) const;

  // The following functions are for a loop whose iterations do the same (LoopReplay).

  // One op waits for another one, which may be done. `for_user`: since that one used the data that
  // the op changes.
  struct Wait {
    Op op = kBeginning, on = kBeginning;
    bool for_user = false;
  };
  // What happened in calls of use().
  struct Log {
    std::vector<Wait> waits;             // also those for ops that are done
    std::vector<InstanceNumber> ranked;  // the results of `rank`, one after the other
    void clear() {
      waits.clear();
      ranked.clear();
    }
  };
  // From now on adds to `log`, and keeps users that are done. Null: neither of these any more.
  void use_log(Log* log) { log_ = log; }
  // Returns the number of cells of the region, counted once for each group of fields.
  std::int64_t cells_of(std::uint32_t region) const;
  // Returns a hash of the state of all cells of these regions. Ops since `since` count relative to
  // it. Users before `since` do not count: an iteration that waits for one is not repeated.
  StateHash hash_of(std::span<const std::uint32_t> regions, Op since) const;
  // Changes the state of these regions as if the iteration that added the ops from `since` to
  // before `since + ops` had been followed by `times` equal ones, which added as many ops each.
  void repeat(std::span<const std::uint32_t> regions, Op since, Op ops, std::int64_t times);

  // Changes the state as use() did, when everything else that use() does was done already. Its
  // copies are those in `known`, from number `fetches.size()` on; they are added to `fetches`.
  void use_again(const Use& use, const Rank& rank, std::span<const Fetch> known,
                 std::vector<Fetch>& fetches);

  // Returns the memory of its cells and of `lists`, approximately.
  std::int64_t bytes() const { return array_bytes_ + arena_.bytes(); }

 private:
  struct Holder {
    InstanceNumber instance = 0;
    Op ready = kBeginning;  // the op after which its data is there
    Few<Op> users;          // ops that have read the instance since its data became valid
    bool valid = false;
  };
  struct PendingReduction {
    InstanceNumber instance = 0;
    Few<Op> users;  // ops that reduce to it
  };
  static constexpr Op kSeveral = 0xFFFFFFFF;
  // One cell of one group. All bytes 0 is an unused cell.
  struct Cell {
    Few<Holder> holders;
    Few<PendingReduction> pending;
    // The last launch that read or reduced and the last that wrote, with their tasks (kSeveral:
    // several tasks).
    std::uint32_t read_launch = 0, write_launch = 0;
    Op reader = kBeginning, writer = kBeginning;
  };
  // The cells of a region. The memory is zeroed by the system, which provides it when it is
  // touched.
  struct FreeCells {
    void operator()(Cell* cells) const { std::free(cells); }
  };
  using Cells = std::unique_ptr<Cell[], FreeCells>;
  // A use while it is applied cell by cell. The copies from `first` on belong to it.
  struct Step {
    const Use& use;
    std::vector<Fetch>& fetches;
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
  Holder& holder(Cell& cell, InstanceNumber instance);
  void add_user(Few<Op>& users, Op op);
  static void add_to(StateHash& hash, const Few<Op>& users, Op since);
  void repeat_users(Few<Op>& users, Op since, Op ops, std::int64_t times);
  static InstanceNumber only_valid(const Cell& cell);
  template <typename Change>
  void revise(Cell& cell, const Change& change);
  void make_only_valid(Cell& cell, InstanceNumber instance);
  void drop_pending(Cell& cell);
  void wait(const Use& use, Op op, Op on, bool for_user = false);
  void wait_for_users(const Use& use, Op op, Holder& holder);
  static bool note_use(const Use& use, Cell& cell);
  Fetch& fetch(const Step& step, InstanceNumber from, bool reduction);
  void copy_in(const Step& step, Cell& cell, std::int64_t bytes, Holder& mine);
  void fold_pending(const Step& step, Cell& cell, std::int64_t bytes, Holder& mine);
  void reduce_to(const Use& use, Cell& cell);
  void use_cell(const Step& step, Cell& cell, std::int64_t bytes);

  const Spaces& spaces_;
  Ops& ops_;
  Store& store_;
  Budget& budget_;
  Arena& arena_;                         // memory of the contents of cells
  std::vector<Cells> cells_;             // by region; null before the first use
  std::vector<std::size_t> groups_;      // number of groups, by region
  std::vector<InstanceNumber> sources_;  // ranked sources of the current use
  Log* log_ = nullptr;                   // null: nothing is noted
  const Fetch* known_ = nullptr;         // use_again(): the copies of the task; else null
  std::int64_t max_bytes_;               // limit on its own memory
  std::int64_t array_bytes_ = 0;         // memory of cells_
};

}  // namespace groma::sim
