// Arena, a memory pool, and Few, a list in such a pool. They serve millions of short lists of plain
// values that are all freed together. An empty list takes 16 bytes and no block of the arena.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace groma::sim {

// A memory pool that allocates blocks whose sizes are powers of two. Blocks that are given back are
// reused. The memory comes in large chunks, which are freed together with the arena.
class Arena {
 public:
  static constexpr std::size_t kLeastBlock = 16;

  // Returns a block of uninitialised memory. `bytes` must be a power of two and at least
  // kLeastBlock.
  void* allocate(std::size_t bytes) {
    FreeBlock*& free = free_[static_cast<std::size_t>(std::countr_zero(bytes))];
    if (free != nullptr) {
      void* const block = free;
      free = free->next;
      return block;
    }
    if (bytes > kChunk / 4) return add_chunk(bytes);
    if (bytes > left_) {
      next_ = add_chunk(kChunk);
      left_ = kChunk;
    }
    std::byte* const block = next_;
    next_ += bytes;
    left_ -= bytes;
    return block;
  }
  void deallocate(void* block, std::size_t bytes) {
    FreeBlock*& free = free_[static_cast<std::size_t>(std::countr_zero(bytes))];
    free = ::new (block) FreeBlock{free};
  }
  // Returns the bytes of memory that the arena has allocated.
  std::int64_t bytes() const { return bytes_; }

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  static constexpr std::size_t kChunk = std::size_t{1} << 18;

  std::byte* add_chunk(std::size_t bytes) {
    bytes_ += static_cast<std::int64_t>(bytes);
    return chunks_.emplace_back(new std::byte[bytes]).get();
  }

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  // Lists of free blocks. The index is the binary logarithm of the size of their blocks in bytes.
  std::array<FreeBlock*, 64> free_{};
  // The first free byte of the newest chunk that several blocks share. Null: there is no such
  // chunk.
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
  std::int64_t bytes_ = 0;
};

// A list whose values lie in a block of an arena. Every call must pass the same arena. A copy of
// the list is shallow: after copying, only one of the copies may be used. An object whose bytes are
// all 0 is an empty list.
template <typename T>
class ArenaList {
  static constexpr std::size_t kValueBytes =
      sizeof(T);  // NOLINT(bugprone-sizeof-expression): of pointers, too

 public:
  T* begin() { return values_; }
  T* end() { return values_ + size_; }
  const T* begin() const { return values_; }
  const T* end() const { return values_ + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](std::size_t i) const { return values_[i]; }
  const T& back() const { return values_[size_ - 1]; }

  T& add(const T& value, Arena& arena) {
    if (size_ == capacity_) grow(arena);
    return *::new (values_ + size_++) T(value);
  }
  template <typename Condition>
  void erase_if(const Condition& condition) {
    size_ = static_cast<std::uint32_t>(std::remove_if(begin(), end(), condition) - begin());
  }
  // Removes all values, but keeps the block of memory.
  void clear() { size_ = 0; }
  bool is_full() const { return size_ == capacity_; }
  // Doubles the capacity of the list, or takes the first block of the list from the arena.
  void grow(Arena& arena) {
    ArenaList larger;
    const std::size_t bytes = capacity_ == 0
                                  ? std::max(Arena::kLeastBlock, std::bit_ceil(kValueBytes))
                                  : 2 * block_bytes();
    larger.values_ = static_cast<T*>(arena.allocate(bytes));
    larger.capacity_ = static_cast<std::uint32_t>(bytes / kValueBytes);
    larger.size_ = size_;
    std::uninitialized_copy(begin(), end(), larger.values_);
    release(arena);
    *this = larger;
  }
  void release(Arena& arena) {
    if (capacity_ > 0) arena.deallocate(values_, block_bytes());
    *this = {};
  }

 private:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  std::size_t block_bytes() const {
    return std::max(Arena::kLeastBlock, std::bit_ceil(capacity_ * kValueBytes));
  }

  T* values_ = nullptr;
  std::uint32_t size_ = 0, capacity_ = 0;
};

}  // namespace groma::sim
