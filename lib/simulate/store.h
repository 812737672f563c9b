// Store: the instances of a run, the data that each of them holds, and the copies that are needed
// before an instance can be used. The rules are Legion's: data is valid where it was last written
// or to where it was copied since. Reductions wait in separate instances until someone reads.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "groma/wish.h"
#include "simulate/arena.h"
#include "simulate/links.h"
#include "simulate/ops.h"
#include "simulate/spaces.h"

namespace groma::sim {

using InstanceNumber = std::uint32_t;
inline constexpr InstanceNumber kVirtual = 0xFFFFFFFF;

// An instance.
struct Instance {
  std::uint32_t region = 0;
  std::int32_t memory = 0;
  const Piece* shape = nullptr;  // the data that it holds
  std::uint64_t groups = 0;
  LayoutSpec layout;
  bool reduction = false;
  bool alive = true;
  std::int64_t bytes = 0;
  std::int32_t users = 0;  // unfinished tasks that are mapped to it, and copies
  CollectPriority priority = kCollectDefault;
  std::int64_t used = 0;  // time of the last mapping, counted in calls
  // The number of cells and groups for which only this instance holds valid data, or reductions
  // that nobody has read.
  std::int64_t needed = 0;
  std::int64_t left = -1;          // Store::leave: number of all_over() calls before it
  std::int32_t statement = 0;      // the statement of the mapping that put it there
  InstanceNumber next = kVirtual;  // the next newer instance with a box of the same hash
};

// A request for an instance.
struct InstanceQuery {
  std::uint32_t region = 0;
  std::int32_t memory = 0;
  const Piece* piece = nullptr;  // must be covered
  const Piece* shape = nullptr;  // covered by a new instance
  std::uint64_t groups = 0;      // must be held
  std::uint64_t new_groups = 0;  // held by a new instance
  LayoutSpec layout;
  bool reduction = false;
  bool fresh = false;
  CollectPriority priority = kCollectDefault;
  std::int32_t statement = 0;
};

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

// The instances of one run.
class Store {
 public:
  // `max_bytes` limits the store's own memory; beyond it, use() does nothing. The store counts its
  // work on `budget`, which must outlive it. Once the budget is exceeded, the state and results of
  // the store are meaningless.
  Store(const app::Data& data, const Spaces& spaces, const Memories& memories, Ops& ops,
        std::int64_t max_bytes, Budget& budget);

  // Returns the store's own memory, approximately.
  std::int64_t bytes() const;

  const Instance& instance(InstanceNumber number) const { return instances_[number]; }
  std::int64_t used_bytes(std::int32_t memory) const {
    return used_[static_cast<std::size_t>(memory)];
  }
  std::int64_t peak_bytes(std::int32_t memory) const {
    return peak_[static_cast<std::size_t>(memory)];
  }
  std::int64_t free_bytes(std::int32_t memory) const;

  // Returns an existing instance that fits: the oldest with the same box, otherwise the oldest that
  // covers the piece.
  std::optional<InstanceNumber> find(const InstanceQuery& query) const;
  // Makes a new instance. Unneeded instances may be evicted for it. Returns nullopt if there is no
  // room.
  std::optional<InstanceNumber> make(const InstanceQuery& query);
  // Returns an existing instance that fits, unless `fresh`, otherwise a new one, and takes it for a
  // task.
  std::optional<InstanceNumber> find_or_make(const InstanceQuery& query);
  // Takes an instance for a task. If no statement is recorded for the instance, records
  // `statement`.
  void take(InstanceNumber instance, std::int32_t statement = 0);
  // Returns true if an instance with that number ever existed.
  bool knows(std::uint64_t instance) const { return instance < instances_.size(); }
  // Frees an instance if nobody uses it and all its data is valid elsewhere too. Returns true if it
  // is gone.
  bool collect(InstanceNumber instance);
  void set_priority(InstanceNumber instance, CollectPriority priority);
  // Add or remove one user.
  void acquire(InstanceNumber instance);
  void release(InstanceNumber instance);

  // For callers without a clock: removes one user now or at any time before the next all_over().
  void leave(InstanceNumber instance);
  void all_over() { ++waits_; }
  // guessed() returns true if find_or_make evicted an instance that may still be in use: the state
  // is then one of several possible states. forked() also returns true if there was no room
  // regardless of what is in use, but it is unknown what was evicted before that was noticed.
  bool guessed() const { return guessed_; }
  bool forked() const { return guessed_ || forked_; }
  // Returns true if an instance exists that was left and would have been examined at the end of its
  // use (kCollectEager).
  bool keeps_eager() const { return keeps_eager_; }
  // Returns the bytes of an instance made for the query. If no address in the memory is a multiple
  // of the alignment, returns the alignment.
  std::int64_t bytes_of(const InstanceQuery& query) const;

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
  // A part of the contents of a memory: the instances of one region together. fill() returns those
  // with the most bytes first.
  struct Held {
    std::uint32_t region = 0;
    std::int64_t count = 0, used = 0, bytes = 0;
  };
  std::vector<Held> fill(std::int32_t memory, std::size_t most) const;

  // Called for every allocation and for every freed instance.
  std::function<void(const Instance&, bool made)> on_allocation;
  std::function<void(InstanceNumber)> on_removal;

 private:
  // A list of users. Finished users are dropped from time to time.
  struct Users {
    Few<Op> ops;
    std::uint32_t most = 8;  // size at which finished users are dropped
    void add(Op op, const Ops& all, Arena& arena);
  };
  struct Holder {
    InstanceNumber instance = 0;
    Op ready = kBeginning;  // the op after which its data is there
    Users users;            // ops that read the data, or the instance since then
    bool valid = false;
  };
  struct PendingReduction {
    InstanceNumber instance = 0;
    Users users;  // ops that reduce to it
  };
  struct Chain {
    InstanceNumber oldest, newest;
  };
  using Chains = std::unordered_map<std::uint64_t, Chain>;
  // The instances of a region in a memory, from the oldest. The key is their width in the dimension
  // that is cut most (logarithm, rounded up) and their begin there. So only few must be examined to
  // cover a box.
  using Wide = std::map<std::pair<int, std::int64_t>, std::vector<InstanceNumber>>;
  Wide::key_type width_key(std::uint32_t region, const Rect& box) const;
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

  Cell& cell(std::uint32_t region, std::int64_t cell, std::size_t group) {
    return cells_[region][static_cast<std::size_t>(cell) * groups_[region] + group];
  }
  std::int64_t cell_bytes() const { return array_bytes_ + arena_.bytes(); }
  static std::int64_t work_of(const Cell& cell);
  template <typename Visit>
  void for_cells(std::uint32_t region, const Piece& piece, std::uint64_t groups,
                 const Visit& visit);
  Holder& holder(Cell& cell, InstanceNumber instance);
  static InstanceNumber only_valid(const Cell& cell);
  template <typename Change>
  void revise(Cell& cell, const Change& change);
  void make_only_valid(Cell& cell, InstanceNumber instance);
  void drop_pending(Cell& cell);
  void wait(const Use& use, Op op, Op on);
  void wait_for_users(const Use& use, Op op, Holder& holder);
  bool in_the_way(const Use& use, Cell& cell) const;
  Fetch& fetch(const Use& use, InstanceNumber from, bool reduction, std::vector<Fetch>& fetches,
               std::size_t first);
  void use_cell(const Use& use, Cell& cell, std::int64_t bytes, std::vector<Fetch>& fetches,
                std::size_t first);
  void bring(const Use& use, Cell& cell, std::int64_t bytes, std::vector<Fetch>& fetches,
             std::size_t first);
  std::optional<InstanceNumber> find_covering(const InstanceQuery& query, const Wide& here) const;
  void unchain(InstanceNumber number, Chains::iterator chain);
  bool fits(const Instance& instance, const InstanceQuery& query, bool same_box) const;
  bool make_room(std::int32_t memory, std::int64_t bytes);
  using Order = std::set<std::tuple<std::int64_t, std::int64_t, InstanceNumber>>;
  bool never_fits(const Order& idle, std::int64_t missing);
  static bool may_go(const Instance& instance);
  Order::value_type place_in_order(InstanceNumber number) const;
  template <typename Change>
  void change(InstanceNumber number, const Change& change);
  void remove(InstanceNumber number);

  const Spaces& spaces_;
  Ops& ops_;
  Budget& budget_;
  std::vector<Instance> instances_;
  std::vector<std::int64_t> used_, peak_, capacity_;  // by memory
  // For each memory that was full once: the instances that may be evicted, in order of eviction.
  std::vector<std::optional<Order>> idle_;
  std::unordered_map<std::uint64_t, Wide> at_;  // by memory and region
  Chains same_;                          // by memory, region and hash of the box; none is empty
  Arena arena_;                          // memory of the contents of cells
  std::vector<Cells> cells_;             // by region; null before the first use
  std::vector<std::size_t> groups_;      // number of groups, by region
  std::vector<int> cut_most_;            // dimension that is cut most, by region
  std::vector<InstanceNumber> sources_;  // ranked sources of the current use
  std::int64_t clock_ = 0;
  std::int64_t waits_ = 0;
  std::int64_t alive_ = 0;        // number of instances
  std::int64_t max_bytes_;        // limit on its own memory
  std::int64_t array_bytes_ = 0;  // memory of cells_
  bool guessed_ = false, forked_ = false, keeps_eager_ = false;
};

}  // namespace groma::sim
