// in_parallel(): calls a function for a range of numbers on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace groma::tuning {

// Calls work(0), ..., work(count - 1) on at most `threads` threads, including the caller's. Returns
// after the last call. `work` must not throw.
template <typename Work>
void in_parallel(std::size_t count, int threads, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  const auto most = std::min(static_cast<std::size_t>(std::clamp(threads, 1, 64)), count);
  for (std::size_t t = 1; t < most; ++t) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
}

}  // namespace groma::tuning
