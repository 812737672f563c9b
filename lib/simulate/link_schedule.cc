// Implements Lane, the schedule of one link. Busy intervals are stored in blocks of at most kMost,
// so that a search can skip whole blocks.
#include "simulate/link_schedule.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace groma::sim {

// Updates the length of the widest gap between two busy intervals of the block.
void LinkSchedule::Block::update_widest_gap() {
  widest = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    widest = std::max(widest, all[i].begin - all[i - 1].end);
  }
}

// Finds the first time, not before `start.time`, from which the link is free for `duration`, and
// stores it in `start.time`. Returns true if this changed `start.time`. `start.after` is then the
// user that occupies the link until the found time.
bool LinkSchedule::delay_until_free(CopyStart& start, RunTime duration) const {
  const RunTime chosen = start.time;
  const auto over = [&](const BusyInterval& busy) { return busy.end <= start.time; };
  auto block = std::partition_point(blocks_.begin(), blocks_.end(),
                                    [&](const Block& each) { return over(each.all.back()); });
  for (; block != blocks_.end(); ++block) {
    const std::vector<BusyInterval>& all = block->all;
    if (all.front().begin >= start.time + duration) break;
    // All gaps between the busy intervals of this block are shorter than `duration`, so skip the
    // block.
    if (block->widest < duration) {
      start = {all.back().end, all.back().user};
      continue;
    }
    auto busy = std::partition_point(all.begin(), all.end(), over);
    for (; busy != all.end(); ++busy) {
      if (busy->begin >= start.time + duration) return start.time != chosen;
      start = {busy->end, busy->user};
    }
  }
  return start.time != chosen;
}

// Marks the link as busy from `begin` to `end`. The caller has made sure with delay_until_free()
// that the link is free then.
//
// If the block already holds kMost intervals, it is split in two. On this occasion, blocks at the
// beginning of the list that lie entirely before `now` are removed.
void LinkSchedule::reserve_interval(RunTime begin, RunTime end, std::int64_t user, RunTime now) {
  if (begin == end) return;
  auto block = std::partition_point(blocks_.begin(), blocks_.end(), [&](const Block& each) {
    return each.all.front().begin < begin;
  });
  if (block != blocks_.begin()) {
    block = std::prev(block);
  } else if (block == blocks_.end()) {
    block = blocks_.emplace(block);
  }
  std::vector<BusyInterval>& all = block->all;
  auto at = std::partition_point(all.begin(), all.end(),
                                 [&](const BusyInterval& each) { return each.begin < begin; });
  // If the new interval touches a neighbour (one ends when the other begins), join them.
  if (at != all.begin() && std::prev(at)->end == begin) {
    at = std::prev(at);
    at->end = end;
    at->user = user;
  } else {
    at = all.insert(at, {begin, end, user});
  }
  const bool last = std::next(at) == all.end();
  const auto follows = last ? std::next(block) : block;
  if (follows != blocks_.end()) {
    const auto next = last ? follows->all.begin() : std::next(at);
    if (next->begin == at->end) {
      at->end = next->end;
      at->user = next->user;
      follows->all.erase(next);
      follows->update_widest_gap();
      if (follows->all.empty()) blocks_.erase(follows);
    }
  }
  block->update_widest_gap();
  if (all.size() < kMost) return;
  const auto half = all.begin() + kMost / 2;
  Block upper{{half, all.end()}, 0};
  upper.update_widest_gap();
  all.erase(half, all.end());
  block->update_widest_gap();
  blocks_.insert(std::next(block), std::move(upper));
  blocks_.erase(blocks_.begin(),
                std::find_if(blocks_.begin(), blocks_.end(),
                             [now](const Block& each) { return each.all.back().end > now; }));
}

bool LinkSchedule::has_gap_after(RunTime now) const {
  const auto over = [now](const BusyInterval& busy) { return busy.end <= now; };
  const auto block = std::partition_point(blocks_.begin(), blocks_.end(),
                                          [&](const Block& each) { return over(each.all.back()); });
  if (block == blocks_.end()) return false;
  const auto busy = std::partition_point(block->all.begin(), block->all.end(), over);
  return busy->begin > now || std::next(busy) != block->all.end() ||
         std::next(block) != blocks_.end();
}

}  // namespace groma::sim
