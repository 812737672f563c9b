// RecentMap: a map that keeps only the entries that were added last, so that the memory of a search
// is bounded however long it runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/names.h"

namespace groma::tuning {

// Returns a 64-bit hash of a text.
inline std::uint64_t hash_of(std::string_view text) {
  // The start value of the FNV-1a hash.
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return mix_bits(hash);
}

// A map that holds at most `kept` entries. When the map is full, each new entry evicts the oldest
// one.
template <typename Value, typename Key = std::uint64_t, typename Hash = std::hash<Key>>
class RecentMap {
 public:
  static constexpr std::size_t kKept = 1 << 17;
  explicit RecentMap(std::size_t kept = kKept) : kept_(kept) {}

  // Returns the value of a key. The pointer is valid until the next add(). Returns null if the key
  // was not added or was evicted.
  const Value* find(const Key& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }
  // Adds a value and returns true. If the key is already there, keeps the old value and returns
  // false. Evicts the oldest entry if the map is full.
  bool add(const Key& key, Value value) {
    if (!values_.emplace(key, std::move(value)).second) return false;
    if (order_.size() < kept_) {
      order_.push_back(key);
      return true;
    }
    values_.erase(order_[oldest_]);
    order_[oldest_] = key;
    oldest_ = (oldest_ + 1) % kept_;
    return true;
  }
  // Removes an entry. Takes time in proportion to the number of entries.
  void erase(const Key& key) {
    if (values_.erase(key) == 0) return;
    std::rotate(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(oldest_),
                order_.end());
    oldest_ = 0;
    order_.erase(std::find(order_.begin(), order_.end(), key));
  }

 private:
  std::size_t kept_, oldest_ = 0;
  std::unordered_map<Key, Value, Hash> values_;
  // The keys in the order in which they were added. Once full, a ring buffer whose oldest key is at
  // `oldest_`.
  std::vector<Key> order_;
};

}  // namespace groma::tuning
