// RecentlyUsedCache: a hash map that evicts keys that were not used recently. It serves as a cache.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <utility>

namespace groma::mapper {

// A hash map that keeps at least the `kKept` most recently used keys, and at most twice as many.
// Kept values do not move in memory. Hash and Equal are transparent, so a key may be looked up in
// another form.
template <typename Key, typename Value, typename Hash, typename Equal, std::size_t kKept>
class RecentlyUsedCache {
 public:
  // Returns the value, or null if the key is not kept.
  template <typename Like>
  Value* find(const Like& key) {
    if (const auto found = young_.find(key); found != young_.end()) return &found->second;
    const auto found = old_.find(key);
    if (found == old_.end()) return nullptr;
    auto node = old_.extract(found);
    make_room();
    return &young_.insert(std::move(node)).position->second;
  }

  // Adds a value. The key must not be in the map.
  Value& insert(Key key, Value value) {
    make_room();
    return young_.emplace(std::move(key), std::move(value)).first->second;
  }

 private:
  void make_room() {
    if (young_.size() < kKept) return;
    old_ = std::move(young_);
    young_.clear();
  }

  std::unordered_map<Key, Value, Hash, Equal> young_, old_;
};

}  // namespace groma::mapper
