// Store: the instances of a run, which of them hold which data, and what has to be copied before
// somebody may use one. Legion's rules: data is valid where it was written last or copied to since;
// reductions wait in instances of their own until somebody reads.
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

struct Instance {
  std::uint32_t region = 0;
  std::int32_t memory = 0;
  const Piece* shape = nullptr;  // what it holds
  std::uint64_t groups = 0;
  LayoutSpec layout;
  bool reduction = false;
  bool alive = true;
  std::int64_t bytes = 0;
  std::int32_t users = 0;  // tasks that are mapped to it and copies, not over yet
  CollectPriority priority = kCollectDefault;
  std::int64_t used = 0;  // when it was mapped last, counted in calls
  // Cells and groups of which it alone holds valid data, or reductions that nobody read.
  std::int64_t needed = 0;
  std::int64_t left = -1;          // Store::leave: before which all_over
  std::int32_t statement = 0;      // of the mapping, that put it there
  InstanceNumber next = kVirtual;  // the next newer one with a box of the same hash
};

// An instance that somebody wants.
struct InstanceQuery {
  std::uint32_t region = 0;
  std::int32_t memory = 0;
  const Piece* piece = nullptr;  // that it has to cover
  const Piece* shape = nullptr;  // that a new one covers
  std::uint64_t groups = 0;      // that it has to hold
  std::uint64_t new_groups = 0;  // that a new one holds
  LayoutSpec layout;
  bool reduction = false;
  bool fresh = false;
  CollectPriority priority = kCollectDefault;
  std::int32_t statement = 0;
};

// A copy (or reduction) that has to be made.
struct Fetch {
  Op op = kBeginning;
  InstanceNumber from = 0, to = 0;
  bool reduction = false;
  std::int64_t bytes = 0;
};

// A task uses an instance.
struct Use {
  Op task = kBeginning;
  InstanceNumber instance = 0;
  const Piece* piece = nullptr;
  std::uint64_t groups = 0;
  Privilege privilege = Privilege::kReadOnly;
  bool shares = false;       // coherence: no order among the points of a launch
  bool untracked = false;    // what it read need not be remembered as valid here
  std::uint32_t launch = 0;  // of the run, counted from 1
  // Tasks that run while this one does, since it runs inside them.
  std::span<const Op> ancestors;
};

class Store {
 public:
  // `max_bytes`: of its own memory; beyond, use() does nothing. Counts its work on `budget`, which
  // must outlive it; once that is exceeded nothing that the store says or holds means anything.
  Store(const app::Data& data, const Spaces& spaces, const Memories& memories, Ops& ops,
        std::int64_t max_bytes, Budget& budget);

  // Of its own memory, about.
  std::int64_t bytes() const;

  const Instance& instance(InstanceNumber number) const { return instances_[number]; }
  std::int64_t used_bytes(std::int32_t memory) const {
    return used_[static_cast<std::size_t>(memory)];
  }
  std::int64_t peak_bytes(std::int32_t memory) const {
    return peak_[static_cast<std::size_t>(memory)];
  }
  std::int64_t free_bytes(std::int32_t memory) const;

  // One that will do: the oldest of the same box before the oldest that covers it.
  std::optional<InstanceNumber> find(const InstanceQuery& query) const;
  // A new one, for which those that nobody needs may have to go. Nothing when there is no room.
  std::optional<InstanceNumber> make(const InstanceQuery& query);
  // One that will do, unless `fresh`, else a new one: taken for a task.
  std::optional<InstanceNumber> find_or_make(const InstanceQuery& query);
  // It is taken for a task; by which statement, if nobody's put it there.
  void take(InstanceNumber instance, std::int32_t statement = 0);
  // Whether there was ever one of that number.
  bool knows(std::uint64_t instance) const { return instance < instances_.size(); }
  // Frees it, if nobody uses it and all that it holds is valid elsewhere too: whether it is gone.
  bool collect(InstanceNumber instance);
  void set_priority(InstanceNumber instance, CollectPriority priority);
  // A user more; one less.
  void acquire(InstanceNumber instance);
  void release(InstanceNumber instance);

  // For who has no clock: the user is one less, now or at any time before the next all_over().
  void leave(InstanceNumber instance);
  void all_over() { ++waits_; }
  // Whether find_or_make gave something up that may still be in use: what follows is one of several
  // ways in which it may go on. Where it is forked() it had no room whatever is in use, but what
  // it gave up before it said so is not known.
  bool guessed() const { return guessed_; }
  bool forked() const { return guessed_ || forked_; }
  // Whether one that was left is there that would have been looked at when it was (kCollectEager).
  bool keeps_eager() const { return keeps_eager_; }
  // The bytes of an instance made for that; its alignment, where no address in the memory is a
  // multiple of that.
  std::int64_t bytes_of(const InstanceQuery& query) const;

  // Makes use.task wait for what it has to wait for, and adds what has to be fetched before:
  // ops that wait for nothing but each other and what was there, not released. `rank` puts the
  // instances that have the data in order, best first. False, when two points of one launch are in
  // each other's way.
  using Rank = std::function<void(InstanceNumber target, std::vector<InstanceNumber>& sources)>;
  bool use(const Use& use, const Rank& rank, std::vector<Fetch>& fetches);
  // The same for who needs no instance of the region, since the tasks that it launches do.
  bool touch(std::uint32_t region, const Use& use);

  // Instances with valid data for all of a piece, oldest first.
  void valid_for(std::uint32_t region, const Piece& piece, std::uint64_t groups,
                 std::vector<InstanceNumber>& answer) const;
  // What fills a memory: the instances of a region together, the most bytes first.
  struct Held {
    std::uint32_t region = 0;
    std::int64_t count = 0, used = 0, bytes = 0;
  };
  std::vector<Held> fill(std::int32_t memory, std::size_t most) const;

  // Told of every allocation and of every freed instance.
  std::function<void(const Instance&, bool made)> on_allocation;
  std::function<void(InstanceNumber)> on_removal;

 private:
  // Those that are over are dropped now and then.
  struct Users {
    Few<Op> ops;
    std::uint32_t most = 8;  // before they are looked through
    void add(Op op, const Ops& all, Arena& arena);
  };
  struct Holder {
    InstanceNumber instance = 0;
    Op ready = kBeginning;  // when what it holds is there
    Users users;            // that read it, or it since
    bool valid = false;
  };
  struct Pending {
    InstanceNumber instance = 0;
    Users users;  // that reduce to it
  };
  struct Chain {
    InstanceNumber oldest, newest;
  };
  using Chains = std::unordered_map<std::uint64_t, Chain>;
  // Instances of a region in a memory, from the oldest, by how wide they are in the dimension that
  // is cut most (its logarithm, rounded up) and where they begin there: few may cover a box.
  using Wide = std::map<std::pair<int, std::int64_t>, std::vector<InstanceNumber>>;
  Wide::key_type width_of(std::uint32_t region, const Rect& box) const;
  static constexpr Op kSeveral = 0xFFFFFFFF;
  // One cell of one group. All bytes 0 is one that nobody used.
  struct Cell {
    Few<Holder> holders;
    Few<Pending> pending;
    // The last launch that read or reduced, that wrote, and its task (kSeveral).
    std::uint32_t read_launch = 0, write_launch = 0;
    Op reader = kBeginning, writer = kBeginning;
  };

  // The cells of a region: memory that the system has set to 0, which it gives when it is touched.
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
  // Instances that may go, the first first, by memory: of those that were full once.
  std::vector<std::optional<Order>> idle_;
  std::unordered_map<std::uint64_t, Wide> at_;  // by memory and region
  Chains same_;                                 // by these and a box's hash; none empty
  Arena arena_;                                 // of what is in cells
  std::vector<Cells> cells_;                    // by region; null before one is used
  std::vector<std::size_t> groups_;             // their number, by region
  std::vector<int> cut_most_;                   // dimension, by region
  std::vector<InstanceNumber> sources_;         // ranked, of the use at hand
  std::int64_t clock_ = 0;
  std::int64_t waits_ = 0;
  std::int64_t alive_ = 0;        // instances
  std::int64_t max_bytes_;        // of its own memory
  std::int64_t array_bytes_ = 0;  // of cells_
  bool guessed_ = false, forked_ = false, keeps_eager_ = false;
};

}  // namespace groma::sim
