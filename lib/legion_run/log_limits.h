// LogLimits: limits the total size of the names that are kept of a mapper log, and counts the log
// entries that were left out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "groma/explain_log.h"

namespace groma::inspect {

class LogLimits {
 public:
  // Counts a log entry as left out.
  void leave_out() { ++left_out_; }
  // Returns true if names of this many bytes may be kept. Otherwise counts a log entry as left out.
  bool has_room(std::size_t bytes) {
    if (name_bytes_ + bytes > kMaxLogNames) {
      leave_out();
      return false;
    }
    name_bytes_ += bytes;
    return true;
  }
  std::int64_t left_out() const { return left_out_; }

 private:
  std::size_t name_bytes_ = 0;
  std::int64_t left_out_ = 0;
};

}  // namespace groma::inspect
