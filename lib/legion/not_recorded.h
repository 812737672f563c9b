// NotRecorded: counts the operations that a recording of a run leaves out, by a description such as
// "inline mappings".
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace groma::legion {

// Counts omitted operations by their description. Thread-safe.
class NotRecorded {
 public:
  void add(const char* what, std::int64_t times = 1) {
    const std::lock_guard lock(mutex_);
    counts_[what] += times;
  }
  std::map<std::string, std::int64_t> counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::int64_t> counts_;
};

}  // namespace groma::legion
