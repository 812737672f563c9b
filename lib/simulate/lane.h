// Lane: when a link is taken. Neither who looks for a free time nor who takes one goes through all
// of a long schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "groma/run_record.h"

namespace groma::sim {

class Lane {
 public:
  // When a copy that is ready now starts, and who had the link that it waited for last (-1: it did
  // not wait).
  struct Start {
    RunTime time;
    std::int64_t after;
  };
  // Puts it off to the first moment from its time on at which the link is free for so long. False:
  // it is at once.
  bool put_off(Start& start, RunTime duration) const;
  // Takes a free time. What is over by `now`, when nobody looks for a time before any more, may be
  // forgotten.
  void take(RunTime begin, RunTime end, std::int64_t user, RunTime now);

 private:
  struct Busy {
    RunTime begin, end;
    std::int64_t user;  // at the end
  };
  struct Block {
    std::vector<Busy> all;  // in order, with time between them
    RunTime widest = 0;     // time between two of them
    void measure();
  };
  static constexpr std::size_t kMost = 32;

  std::vector<Block> blocks_;  // in order, none empty
};

}  // namespace groma::sim
