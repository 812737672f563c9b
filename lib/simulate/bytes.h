// Estimates how much heap memory the vectors of a run take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace groma::sim {

// Returns the estimated heap memory of an allocated block in bytes: the size plus the header of the
// allocator, at least 32. A size of 0 takes no memory.
inline std::int64_t heap_bytes(std::size_t bytes) {
  return bytes == 0 ? 0 : static_cast<std::int64_t>(std::max<std::size_t>(32, bytes + 16));
}
template <typename T>
std::int64_t heap_bytes(const std::vector<T>& of) {
  return heap_bytes(of.capacity() *
                    sizeof(T));  // NOLINT(bugprone-sizeof-expression): of pointers, too
}

// Appends a value to a vector, and adds the heap memory by which the vector grew to `bytes`.
template <typename T>
T& append_counting_bytes(std::vector<T>& to, T value, std::int64_t& bytes) {
  const bool grows = to.size() == to.capacity();
  if (grows) bytes -= heap_bytes(to);
  T& added = to.emplace_back(std::move(value));
  if (grows) bytes += heap_bytes(to);
  return added;
}

}  // namespace groma::sim
