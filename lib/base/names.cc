// Interns names: equal names get the same id.
#include "base/names.h"

#include <cstring>
#include <random>
#include <utility>

#include "base/name_pattern.h"

namespace groma {
namespace {

// Returns the hash of a text, which is read eight bytes at a time.
std::uint64_t hash_text(std::string_view text, std::uint64_t seed) {
  std::uint64_t hash = seed ^ text.size();
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    hash = mix_bits(hash ^ word);
  }
  std::uint64_t word = 0;
  std::memcpy(&word, text.data() + at, text.size() - at);
  return mix_bits(hash ^ word);
}

}  // namespace

// Chooses a random seed for the hashes of this process, so that a crafted text cannot cause many
// collisions. `*` is always the first name.
NameTable::NameTable() {
  static const std::uint64_t seed = (std::uint64_t{std::random_device()()} << 32) | 0x9E3779B9U;
  seed_ = seed;
  intern_name("*");
}

// Returns the id of a name and adds it if it is new. The text must outlive the table.
NameId NameTable::intern_name(std::string_view text) {
  const std::uint64_t hash = hash_text(text, seed_);
  const NameId known = index_.find(hash, [&](std::uint32_t i) { return texts_[i] == text; });
  if (known != FlatIndex::kNone) return known;
  const auto id = static_cast<NameId>(texts_.size());
  texts_.push_back(text);
  index_.insert(hash, id);
  return id;
}

// Returns the id of a name and adds it if it is new, like intern_name(). The table keeps a copy of
// the text.
NameId NameTable::intern_copy(std::string text) {
  const NameId known = find(text);
  if (known != FlatIndex::kNone) return known;
  owned_.push_back(std::move(text));
  return intern_name(owned_.back());
}

NameId NameTable::add_pattern(std::string text) {
  const auto id = static_cast<NameId>(texts_.size());
  owned_.push_back(std::move(text));
  texts_.push_back(owned_.back());
  patterns_.push_back(id);
  return id;
}

NameId NameTable::intern_pattern(std::string text) {
  const auto known = pattern_ids_.find(text);
  if (known != pattern_ids_.end()) return known->second;
  const NameId id = add_pattern(text);
  pattern_ids_.emplace(std::move(text), id);
  return id;
}

NameId NameTable::intern_selector(TaskSelector selector, std::string text) {
  const auto known = selector_ids_.find(selector);
  if (known != selector_ids_.end()) return known->second;
  const NameId id = add_pattern(std::move(text));
  selectors_.emplace(id, selector);
  selector_ids_.emplace(std::move(selector), id);
  return id;
}

bool NameTable::stands_for(NameId id, std::string_view name) const {
  if (id == kStarName) return true;
  if (const TaskSelector* const selected = selector(id)) {
    return stands_for(selected->path.back(), name);
  }
  return is_pattern(id) ? matches_pattern(name, text(id)) : text(id) == name;
}

bool NameTable::stands_for_task(NameId id, std::string_view name,
                                std::span<const std::string_view> parents, int dimensions) const {
  if (!stands_for(id, name)) return false;
  const TaskSelector* const selected = selector(id);
  if (selected == nullptr) return true;
  if (selected->dimensions >= 0 && selected->dimensions != dimensions) return false;
  const std::size_t above = selected->path.size() - 1;
  if (above > parents.size()) return false;
  for (std::size_t i = 0; i < above; ++i) {
    if (!stands_for(selected->path[above - 1 - i], parents[i])) return false;
  }
  return true;
}

NameId NameTable::find(std::string_view text) const {
  return index_.find(hash_text(text, seed_), [&](std::uint32_t i) { return texts_[i] == text; });
}

}  // namespace groma
