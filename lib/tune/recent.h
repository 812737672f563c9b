// Recent: values by key, of many the last that were added, so that a search may be as long as one
// likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/names.h"

namespace groma::tuning {

inline std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return mix(hash);
}

template <typename Value, typename Key = std::uint64_t, typename Hash = std::hash<Key>>
class Recent {
 public:
  static constexpr std::size_t kKept = 1 << 17;
  explicit Recent(std::size_t kept = kKept) : kept_(kept) {}

  // Null: not added, or too long ago. Good until the next add.
  const Value* find(const Key& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }
  // Of two with one key the first stays. Whether it is new.
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
  // As if it had not been added.
  void forget(const Key& key) { values_.erase(key); }

 private:
  std::size_t kept_, oldest_ = 0;
  std::unordered_map<Key, Value, Hash> values_;
  std::vector<Key> order_;  // a ring once it is full; has what was forgotten, too
};

}  // namespace groma::tuning
