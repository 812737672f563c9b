// NameTable: stores every name of a program once and gives it a small number. FlatIndex: the
// open-addressed hash table below NameTable and below the Program's statement tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace groma {

using NameId = std::uint32_t;
// The id of the name `*`, which every table contains.
inline constexpr NameId kStarName = 0;

// Maps hashes to indices that are kept elsewhere. The caller compares the values behind the
// indices. The table grows by doubling, never shrinks, and has no removal.
class FlatIndex {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  // Returns the index for which same(index) is true, or kNone. `same` is called only for indices
  // whose hash agrees.
  template <typename Same>
  std::uint32_t find(std::uint64_t hash, const Same& same) const {
    if (slots_.empty()) return kNone;
    for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
      if (slots_[at].index == kNone) return kNone;
      if (slots_[at].hash == static_cast<std::uint32_t>(hash >> 32) && same(slots_[at].index)) {
        return slots_[at].index;
      }
    }
  }
  // Reserves space for `count` entries.
  void reserve(std::size_t count) {
    while (slots_.size() * 3 < count * 4) grow();
  }
  // Adds an index. It must not be in the table under `hash`.
  void insert(std::uint64_t hash, std::uint32_t index) {
    if ((count_ + 1) * 4 > slots_.size() * 3) grow();
    insert_slot({static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(hash), index});
    ++count_;
  }

 private:
  struct HashSlot {
    // The upper 32 bits of the entry's hash. A look-up compares them before it calls `same`.
    std::uint32_t hash = 0;
    // The lower 32 bits of the entry's hash. They choose the slot at which look-ups begin.
    std::uint32_t home = 0;
    std::uint32_t index = kNone;
  };
  std::size_t mask() const { return slots_.size() - 1; }
  void insert_slot(HashSlot slot) {
    std::size_t at = slot.home & mask();
    while (slots_[at].index != kNone) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  void grow() {
    std::vector<HashSlot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    for (const HashSlot& slot : old) {
      if (slot.index != kNone) insert_slot(slot);
    }
  }

  std::vector<HashSlot> slots_;
  std::size_t count_ = 0;
};

// Returns a well-mixed hash of 64 bits (the finaliser of SplitMix64).
inline std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

// Limit on the tasks in the path of a selector.
inline constexpr std::size_t kMaxSelectorPath = 8;

// A selector such as `main > step > update[dim=2]`: it names a task by the tasks above it and by
// the form of its launch.
struct TaskSelector {
  // The outermost task first, the selected task last. Each is a name, a pattern or kStarName.
  std::vector<NameId> path;
  // The number of dimensions of the launch domain, and 0 for a single task. -1: any launch.
  int dimensions = -1;
  friend auto operator<=>(const TaskSelector&, const TaskSelector&) = default;
};

// Maps names to ids. Texts are views of memory that the caller keeps alive (the Source), except the
// texts given to intern_copy().
class NameTable {
 public:
  NameTable();

  // Reserves space for `count` names.
  void reserve(std::size_t count) {
    texts_.reserve(count);
    index_.reserve(count);
  }
  // Returns the id of a name, and adds the name if it is new. The text must outlive the table.
  NameId intern_name(std::string_view text);
  // Adds a name and keeps a copy of its text. It is for names that the source writes differently
  // (escapes).
  NameId intern_copy(std::string text);
  // Returns the id of a name pattern such as `calc_*`, and adds the pattern if it is new. find()
  // and the functions above never return this id, because a quoted name may have the same text.
  NameId intern_pattern(std::string text);
  // Returns the id of a selector, and adds it if it is new, with the text that shows it. A selector
  // counts as a pattern, because it too may stand for several names.
  NameId intern_selector(TaskSelector selector, std::string text);
  // Returns the ids of all patterns, in the order in which they were added.
  const std::vector<NameId>& patterns() const { return patterns_; }
  // Returns the selector with this id; null if the id is not that of a selector.
  const TaskSelector* selector(NameId id) const {
    const auto found = selectors_.find(id);
    return found == selectors_.end() ? nullptr : &found->second;
  }
  const std::map<NameId, TaskSelector>& selectors() const { return selectors_; }
  bool is_pattern(NameId id) const {
    return std::binary_search(patterns_.begin(), patterns_.end(), id);
  }
  // Returns true if the id is that of a name: not `*`, a pattern or a selector.
  bool is_name(NameId id) const { return id != kStarName && !is_pattern(id); }
  // Returns true if the word `id` of a statement (`*`, a name or a pattern) stands for this name. A
  // selector stands for the names that its last word stands for.
  bool stands_for(NameId id, std::string_view name) const;
  // Returns true if the word stands for a task of this name in this launch. `parents` are the names
  // of the tasks above it, the launching task first; `dimensions` as in TaskSelector, with -1 if
  // the launch is not known.
  bool stands_for_task(NameId id, std::string_view name, std::span<const std::string_view> parents,
                       int dimensions) const;
  // Returns the id of `text`, or FlatIndex::kNone.
  NameId find(std::string_view text) const;
  std::string_view text(NameId id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  // Adds a text that find() does not return, and returns its id.
  NameId add_pattern(std::string text);

  // Random for each process, so that no text can contain colliding names.
  std::uint64_t seed_;
  std::vector<std::string_view> texts_;
  std::deque<std::string> owned_;
  FlatIndex index_;
  std::vector<NameId> patterns_;
  std::map<std::string, NameId, std::less<>> pattern_ids_;
  std::map<TaskSelector, NameId> selector_ids_;
  std::map<NameId, TaskSelector> selectors_;
};

}  // namespace groma
