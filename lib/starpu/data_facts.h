// DataFacts: what Groma knows about StarPU's data handles. StarPU forgets the name of a handle, and
// does not tell which handle is a piece of which, so the preloaded library reports both here
// (starpu/preload.h).
#pragma once

#include <starpu.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "groma/geometry.h"

namespace groma::starpu {

// The names of a handle as a mapping sees them: its own name, then the names of the handles of
// which it is a piece. Never changes, and lives as long as the process.
struct DataNames {
  std::vector<std::string> texts;
  // Views of `texts`, in the form of RequirementView::aliases.
  std::vector<std::string_view> aliases;
  // Equal keys mean equal names. Not 0.
  std::uint64_t key = 0;
};

// The facts about one handle.
struct DataFact {
  // The name that the program gave the handle itself; empty without a name.
  std::string own_name;
  // Null if neither the handle nor one that it is a piece of has a name.
  const DataNames* names = nullptr;
  // For a piece of a partitioned handle: its place among all pieces. No dimensions for others.
  // There is one dimension for each filter, the first filter first.
  Point piece;
  // The number of pieces in each dimension.
  Point pieces;
};

// Thread-safe. The functions that change facts are called rarely: when data is registered, named or
// partitioned.
class DataFacts {
 public:
  // Forgets a handle. Called for each new handle, because StarPU reuses addresses.
  void forget(starpu_data_handle_t handle);
  void set_name(starpu_data_handle_t handle, std::string_view name);
  // Notes that `child` is the piece with this index of `count` pieces of `parent`.
  void set_piece(starpu_data_handle_t child, starpu_data_handle_t parent, int index, int count);

  // Returns all names that were ever given to data.
  std::set<std::string, std::less<>> all_names() const;
  // Returns true if no fact was ever reported, so that a look-up would find nothing.
  bool empty() const { return count_.load(std::memory_order_acquire) == 0; }
  // Calls look(const DataFact*) with the fact of each handle in order, or with null for a handle
  // without facts. The pointers are valid during the call.
  template <typename Handles, typename Look>
  void look_up(const Handles& handles, std::size_t count, const Look& look) const {
    const std::shared_lock lock(mutex_);
    for (std::size_t i = 0; i < count; ++i) {
      const auto found = facts_.find(handles[i]);
      look(i, found == facts_.end() ? nullptr : &found->second);
    }
  }

 private:
  const DataNames* intern(const std::vector<std::string>& texts);

  mutable std::shared_mutex mutex_;
  std::unordered_map<starpu_data_handle_t, DataFact> facts_;
  // All lists of names that occurred, by their texts joined with zero bytes.
  std::unordered_map<std::string, std::unique_ptr<const DataNames>> names_;
  std::atomic<std::size_t> count_ = 0;
};

// Returns the facts of this process.
DataFacts& data_facts();

}  // namespace groma::starpu
