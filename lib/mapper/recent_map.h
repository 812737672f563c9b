// RecentMap: a hash map that keeps what was used last.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <utility>

namespace groma::mapper {

// Keeps at least the `kKept` keys that were used last, at most twice as many. What is kept stays
// where it is. Hash and Equal are transparent: a key may be asked for in another form.
template <typename Key, typename Value, typename Hash, typename Equal, std::size_t kKept>
class RecentMap {
 public:
  // Null where it is not kept.
  template <typename Like>
  Value* find(const Like& key) {
    if (const auto found = young_.find(key); found != young_.end()) return &found->second;
    const auto found = old_.find(key);
    if (found == old_.end()) return nullptr;
    auto node = old_.extract(found);
    make_room();
    return &young_.insert(std::move(node)).position->second;
  }

  // The key must not be kept.
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
