// Lane: the times at which a link is busy. Looking for a free time and taking one do not visit all
// of a long schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "groma/run_record.h"

namespace groma::sim {

class Lane {
 public:
  // The start of a copy, and the last user of the link that it waited for (-1: it did not wait).
  struct Start {
    RunTime time;
    std::int64_t after;
  };
  // Moves `start.time` to the first moment from then on at which the link is free for `duration`.
  // Returns false if that is immediately.
  bool put_off(Start& start, RunTime duration) const;
  // Takes a free interval. Intervals that are over by `now` may be forgotten; later calls must not
  // ask for a time before `now`.
  void take(RunTime begin, RunTime end, std::int64_t user, RunTime now);

 private:
  struct Busy {
    RunTime begin, end;
    std::int64_t user;  // at the end of the interval
  };
  struct Block {
    std::vector<Busy> all;  // in order, with gaps between them
    RunTime widest = 0;     // the widest gap between two of them
    void measure();
  };
  static constexpr std::size_t kMost = 32;

  std::vector<Block> blocks_;  // in order; none is empty
};

}  // namespace groma::sim
