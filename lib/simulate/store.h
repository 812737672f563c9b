// InstanceStore: the instances of a run and the room that they take. It finds and makes instances,
// counts their users, and evicts those that nobody needs. ValidData tracks which data they hold.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "base/budget.h"
#include "groma/mapper_output.h"
#include "simulate/instance.h"
#include "simulate/instance_index.h"
#include "simulate/machine_index.h"
#include "simulate/spaces.h"

namespace groma::sim {

class InstanceStore {
 public:
  // The store refers to all arguments, so they must outlive it. It counts its work on `budget`.
  // Once the budget is exceeded, the state and results of the store are meaningless.
  InstanceStore(std::size_t regions, const DataSpaces& spaces, const Memories& memories,
                Budget& budget);

  // Returns the approximate memory of the store itself, in bytes.
  std::int64_t bytes() const;

  const Instance& instance(InstanceNumber number) const { return instances_[number]; }
  // Returns true if an instance with that number ever existed.
  bool knows(std::uint64_t instance) const { return instance < instances_.size(); }
  std::int64_t peak_bytes(std::int32_t memory) const {
    return peak_[static_cast<std::size_t>(memory)];
  }
  std::int64_t free_bytes(std::int32_t memory) const;
  // Returns the bytes of a new instance for the query. If no address in the memory is a multiple of
  // the alignment, returns the alignment.
  std::int64_t bytes_of(const InstanceQuery& query) const;
  // The instances of one region in a memory: their number, how many of them are in use, and their
  // bytes.
  struct RegionUsage {
    std::uint32_t region = 0;
    std::int64_t count = 0, used = 0, bytes = 0;
  };
  // Returns the contents of a memory: the `most` regions whose instances take the most bytes, the
  // largest first.
  std::vector<RegionUsage> contents(std::int32_t memory, std::size_t most) const;

  // Returns an existing instance that fits the query: the oldest one that covers exactly the wanted
  // shape, otherwise the oldest one that covers at least the needed piece.
  std::optional<InstanceNumber> find(const InstanceQuery& query) const {
    return index_.find(query);
  }
  // Makes a new instance for the query. Unneeded instances may be evicted for it. Returns nullopt
  // if there is no room.
  std::optional<InstanceNumber> make(const InstanceQuery& query);
  // Returns an existing instance that fits the query, otherwise a new one, and marks it as taken
  // for a task. If query.fresh is true, always makes a new one. Returns nullopt if there is no
  // room.
  std::optional<InstanceNumber> find_or_make(const InstanceQuery& query);
  // Marks an existing instance as taken for a task. `statement` is recorded for the instance if no
  // statement is recorded for it yet.
  void mark_taken(InstanceNumber instance, std::int32_t statement = 0);
  // Frees an instance if nobody uses it, all its data is valid elsewhere too, and its priority is
  // not kCollectNever. Returns true if the instance is gone.
  bool collect(InstanceNumber instance);
  void set_priority(InstanceNumber instance, CollectPriority priority);
  // Add or remove one user (a task or a copy) of an instance.
  void acquire(InstanceNumber instance);
  void release(InstanceNumber instance);
  // Adds `more` to the member `needed` of the instance.
  void add_to_needed_count(InstanceNumber instance, std::int64_t more);

  // For callers that do not simulate time: removes one user of an instance. In a run, that use may
  // end at once, or at any time before the next call of note_all_tasks_over().
  void release_at_unknown_time(InstanceNumber instance);
  void note_all_tasks_over() { ++waits_; }
  // For a repeated task: takes an existing instance, as find_or_make() does when it finds one, and
  // adds the task as a user of the instance.
  void take_existing_instance(InstanceNumber instance, CollectPriority priority);
  // Returns how many instances were made and removed so far.
  std::int64_t changes() const { return 2 * static_cast<std::int64_t>(instances_.size()) - alive_; }
  // Returns true if an instance exists that is removed as soon as nobody uses it (kCollectEager).
  bool has_eagerly_collected_instance() const;
  // Things about the state of the store that a caller that does not simulate time (a rehearsal)
  // cannot know for sure.
  struct UncertainFacts {
    // An instance was evicted that may still be in use in a run. So a run may evict another one,
    // and the state of the store is only one of several possible ones.
    bool guessed = false;
    // There was no room for an instance, whatever is in use. But a run may evict some other
    // instances before it finds out that there is no room, and it is unknown which.
    bool forked = false;
    // The use of an instance with the priority kCollectEager has ended at an unknown time. A run
    // would have removed the instance when its last use ended, if no data had been lost.
    bool keeps_eager = false;
  };
  const UncertainFacts& doubts() const { return doubts_; }

  // Called first when an instance is removed, to forget which data it holds. ValidData sets this
  // function.
  std::function<void(InstanceNumber)> forget_data;
  // Called for every instance that is allocated (`made` is true) or freed.
  std::function<void(const Instance&, bool made)> on_allocation;
  std::function<void(InstanceNumber)> on_removal;

 private:
  using Order = std::set<std::tuple<std::int64_t, std::int64_t, InstanceNumber>>;

  Order::value_type eviction_order_of(InstanceNumber number) const;
  template <typename Change>
  void change(InstanceNumber number, const Change& change);
  bool make_room(std::int32_t memory, std::int64_t bytes);
  bool evicting_all_leaves_no_room(const Order& idle, std::int64_t missing);
  void remove(InstanceNumber number);

  const DataSpaces& spaces_;
  Budget& budget_;
  std::vector<Instance> instances_;
  InstanceIndex index_;
  // For each memory: the used bytes, the most that were used so far, and the capacity.
  std::vector<std::int64_t> used_, peak_, capacity_;
  // For each memory: the instances that may be evicted, in the order of their eviction. The list is
  // made only when the memory is full for the first time.
  std::vector<std::optional<Order>> idle_;
  std::int64_t clock_ = 0;
  // The number of calls of note_all_tasks_over() so far.
  std::int64_t waits_ = 0;
  // The number of instances that exist now.
  std::int64_t alive_ = 0;
  UncertainFacts doubts_;
};

}  // namespace groma::sim
