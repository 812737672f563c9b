// IndexMapCache: tells where the mapping functions of a bound program send the points of launches.
// It has an IndexMap for each launch, which is made at the first use and shared by all threads.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/index_map.h"
#include "groma/task_view.h"
#include "index_map/recently_used_cache.h"

namespace groma::mapper {

// The processors of a single task and of its parent.
template <typename Text>
struct SingleTaskProcessors {
  Processor processor, parent;
  Text parent_name;
};

// A launch that a mapping function places: an index launch of a task, or a single task, whose
// domain is ignored. `kind`, if known, is the processor kind of the task.
struct LaunchToPlace {
  FunctionId function = 0;
  std::string_view task;
  const Rect& domain;
  std::optional<ProcKind> kind;
  const SingleTaskProcessors<std::string_view>* single = nullptr;
  // The points of a launch that has only some points of `domain`. Null: it has every point, or the
  // function does not read ranks, so that one map serves all launches with this domain.
  const PointSet* points = nullptr;
};

// Returns the domain in which the shards of a replicated task divide this launch, if that is not
// the domain of the launch; otherwise null. The points are then placed in it, so that the slices of
// a shard agree with its sharding functor. Also returns null if the domain does not contain the
// launch.
const LaunchDomain* space_of_shards(const TaskView& task);

// A cache key: the data of a LaunchToPlace with its own storage for the names.
struct LaunchKey {
  explicit LaunchKey(const LaunchToPlace& launch);

  FunctionId function;
  std::string task;
  Rect domain;
  std::optional<ProcKind> kind;
  std::optional<SingleTaskProcessors<std::string>> single;
  std::optional<PointSet> points;
};
struct LaunchHash {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's
  std::size_t operator()(const LaunchToPlace& launch) const;
  std::size_t operator()(const LaunchKey& key) const;
};
struct LaunchEqual {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's
  bool operator()(const LaunchToPlace& a, const LaunchKey& b) const { return same(a, b); }
  bool operator()(const LaunchKey& a, const LaunchToPlace& b) const { return same(a, b); }
  bool operator()(const LaunchKey& a, const LaunchKey& b) const { return same(a, b); }

 private:
  static bool same(const Point& a, const Point& b) {
    bool same = a.dimensions() == b.dimensions();
    for (int d = 0; d < a.dimensions(); ++d) same = same && a[d] == b[d];
    return same;
  }
  template <typename A, typename B>
  static bool same(const A& a, const B& b) {
    if (a.function != b.function || a.kind != b.kind || !same(a.domain.lower, b.domain.lower) ||
        !same(a.domain.extents, b.domain.extents) || a.task != b.task || !a.single != !b.single ||
        !a.points != !b.points || (a.points && !(*a.points == *b.points))) {
      return false;
    }
    return !a.single ||
           (a.single->processor == b.single->processor && a.single->parent == b.single->parent &&
            a.single->parent_name == b.single->parent_name);
  }
};

// The index maps of a program's launches, which all threads share.
class IndexMapCache {
 public:
  // `stop` is passed to every IndexMap::Cursor.
  explicit IndexMapCache(BoundProgram bound, std::function<bool()> stop = {})
      : bound_(std::move(bound)), stop_(std::move(stop)) {}
  const BoundProgram& bound() const { return bound_; }
  const std::function<bool()>& stop() const { return stop_; }

  // Returns the map of that launch. Returns null if the machine is too large for a map; `diags`
  // then has the error.
  std::shared_ptr<const IndexMap> find_map(const LaunchToPlace& launch, Diagnostics& diags) const;

 private:
  // The size of the cache of maps. The application decides how many different launches there are.
  // At about 10 KB each, the cache takes 40 to 80 MB. An application that cycles through more
  // launches has maps made again, at about 10 us each.
  static constexpr std::size_t kKept = 4'096;

  BoundProgram bound_;
  std::function<bool()> stop_;
  mutable std::mutex mutex_;
  mutable RecentlyUsedCache<LaunchKey, std::shared_ptr<const IndexMap>, LaunchHash, LaunchEqual,
                            kKept>
      maps_;
};

// Answers the queries of one thread about the maps. `maps` must outlive the cursor. The cost of an
// answer does not depend on the number of launches that were seen. A query about a known launch
// allocates nothing, except at points where the function fails or the reference evaluator is
// needed.
class LaunchCursor {
 public:
  explicit LaunchCursor(const IndexMapCache* maps)
      : maps_(maps), diags_(maps->bound().program().source()) {}

  // Cuts `part` of the launch into boxes that each go to one processor. Returns the error of the
  // first point that cannot be placed; nothing is cut after that point.
  std::optional<Diagnostic> cut_slices(
      const LaunchToPlace& launch, const Rect& part,
      const std::function<void(const Rect&, const Processor&)>& slice);
  // Appends the processors of a point. Returns the error if the function fails.
  std::optional<Diagnostic> place_point(const LaunchToPlace& launch, const Point& point,
                                        std::vector<Processor>& processors);
  // Returns the first processor of the point; nullopt if the function fails.
  std::optional<Processor> first_processor(const LaunchToPlace& launch, const Point& point);

  // A map of a launch and a cursor on it, for queries that this class does not offer. The points of
  // the map of a launch with `points` are their ranks. open_map()
  // returns null if IndexMapCache::find_map does. The result is valid until the next query about
  // another launch.
  struct MapAndCursor {
    std::shared_ptr<const IndexMap> map;
    IndexMap::Cursor cursor;
  };
  MapAndCursor* open_map(const LaunchToPlace& launch);
  Diagnostics& diags() { return diags_; }
  const std::function<bool()>& stop() const { return maps_->stop(); }

 private:
  // The most launches that a cursor keeps open. A launch that was evicted is opened again, under
  // IndexMapCache' lock, in less than 1 us.
  static constexpr std::size_t kKept = 2'048;

  std::optional<Diagnostic> last_error() const;

  const IndexMapCache* maps_;
  Diagnostics diags_;
  RecentlyUsedCache<LaunchKey, MapAndCursor, LaunchHash, LaunchEqual, kKept> open_;
  std::optional<LaunchKey> last_key_;
  MapAndCursor* last_ = nullptr;
};

// A pool of cursors for threads that do not keep one. Threads do not wait for each other: each
// takes a free cursor, usually the one that it had before.
class CursorPool {
 public:
  explicit CursorPool(const IndexMapCache* maps) : maps_(maps) {}

  // Calls work(cursor) with a cursor that no other thread uses meanwhile. `work` may call
  // with_cursor() again.
  template <typename Work>
  auto with_cursor(const Work& work) const {
    const std::size_t preferred = preferred_slot();
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      CursorSlot& slot = slots_[(preferred + i) % slots_.size()];
      const SlotLease lease(slot.taken);
      if (!lease.taken) continue;
      if (slot.cursor == nullptr) slot.cursor = std::make_unique<LaunchCursor>(maps_);
      return work(*slot.cursor);
    }
    LaunchCursor one(maps_);
    return work(one);
  }

 private:
  static constexpr std::size_t kSlots = 64;
  struct alignas(64) CursorSlot {
    std::atomic_flag taken;
    std::unique_ptr<LaunchCursor> cursor;
  };
  struct SlotLease {
    explicit SlotLease(std::atomic_flag& of)
        : flag(of), taken(!of.test_and_set(std::memory_order_acquire)) {}
    ~SlotLease() {
      if (taken) flag.clear(std::memory_order_release);
    }
    SlotLease(const SlotLease&) = delete;
    std::atomic_flag& flag;
    const bool taken;
  };

  static std::size_t preferred_slot();

  const IndexMapCache* maps_;
  mutable std::array<CursorSlot, kSlots> slots_;
};

}  // namespace groma::mapper
