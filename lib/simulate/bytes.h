// Estimates the memory of a run: the heap memory of its vectors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace groma::sim {

// Returns the heap memory of a block: its size plus a header, at least a few words.
inline std::int64_t heap_bytes(std::size_t bytes) {
  return bytes == 0 ? 0 : static_cast<std::int64_t>(std::max<std::size_t>(32, bytes + 16));
}
template <typename T>
std::int64_t heap_bytes(const std::vector<T>& of) {
  return heap_bytes(of.capacity() *
                    sizeof(T));  // NOLINT(bugprone-sizeof-expression): of pointers, too
}

// Appends a value, and adds the heap memory that this took to `bytes`.
template <typename T>
T& append(std::vector<T>& to, T value, std::int64_t& bytes) {
  const bool grows = to.size() == to.capacity();
  if (grows) bytes -= heap_bytes(to);
  T& added = to.emplace_back(std::move(value));
  if (grows) bytes += heap_bytes(to);
  return added;
}

}  // namespace groma::sim
