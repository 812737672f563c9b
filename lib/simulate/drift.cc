// Implements periods_in_order(), which extrapolates the events of a loop.
#include "simulate/drift.h"

#include <algorithm>
#include <cstddef>

namespace groma::sim {
namespace {

bool is_same_event(const EndedOp& before, const EndedOp& last, Op ops) {
  const bool ends = last.kind == Event::Kind::kTaskEnd || last.kind == Event::Kind::kCopyEnd;
  return ends && before.kind == last.kind && before.op + ops == last.op;
}

}  // namespace

std::int64_t periods_in_order(std::span<const EndedOp> before, std::span<const EndedOp> last,
                              Op ops, std::int64_t most) {
  const auto same = [ops](const EndedOp& a, const EndedOp& b) { return is_same_event(a, b, ops); };
  if (last.empty() || !std::equal(before.begin(), before.end(), last.begin(), last.end(), same)) {
    return 0;
  }
  // The time between event i and the next one, and by how much it grows in each period. After the
  // last event of a period comes the first one of the next period.
  const auto later = [&](std::size_t i) { return last[i].time - before[i].time; };
  const std::size_t end = last.size() - 1;
  for (std::size_t i = 0; i <= end && most > 0; ++i) {
    const RunTime next = i < end ? last[i + 1].time : last[0].time + later(0);
    const RunTime gap = next - last[i].time;
    const RunTime growth = later(i < end ? i + 1 : 0) - later(i);
    if (growth == 0) continue;
    if (gap <= 0) return 0;
    if (growth < 0) most = std::min(most, (gap - 1) / -growth);
  }
  return most;
}

}  // namespace groma::sim
