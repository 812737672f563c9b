// LinkSchedule: the schedule of one link, that is, the time intervals in which copies occupy the
// link. Finding and reserving a free interval does not visit all of a long schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "groma/run_record.h"

namespace groma::sim {

class LinkSchedule {
 public:
  // The start time of a copy, and the last user of the link for which the copy has to wait. -1: the
  // copy does not wait.
  struct CopyStart {
    RunTime time;
    std::int64_t after;
  };
  // Looks for the first time, not before `start.time`, from which the link is free for `duration`,
  // and stores it in `start.time`. Returns true if this changed `start.time`.
  bool delay_until_free(CopyStart& start, RunTime duration) const;
  // Marks the link as busy in an interval that was free. Intervals that end by `now` may be
  // forgotten, so later calls must not ask for a time before `now`.
  void reserve_interval(RunTime begin, RunTime end, std::int64_t user, RunTime now);
  // Returns whether the link is free for some time after `now` and busy after that. May return true
  // if the link is busy without a gap.
  bool has_gap_after(RunTime now) const;

 private:
  struct BusyInterval {
    RunTime begin, end;
    // The user that occupies the link at the end of the interval. Adjoining intervals of several
    // users are stored as one interval.
    std::int64_t user;
  };
  struct Block {
    // The busy intervals of the block in the order of time, with gaps between them.
    std::vector<BusyInterval> all;
    // The length of the longest gap between two busy intervals of the block, in picoseconds.
    RunTime widest = 0;
    void update_widest_gap();
  };
  static constexpr std::size_t kMost = 32;

  // The blocks in the order of time. No block is empty.
  std::vector<Block> blocks_;
};

}  // namespace groma::sim
