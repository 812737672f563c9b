// Drift: a loop whose iterations do the same in the same order, but not everything in them is later
// by the same time. For example, a GPU that is a little faster than the others may gain a
// microsecond on them with each iteration, until it has to wait for their data.
#pragma once

#include <cstdint>
#include <span>

#include "simulate/agenda.h"
#include "simulate/op_graph.h"

namespace groma::sim {

// The end of a task or of a copy.
struct EndedOp {
  RunTime time;
  Event::Kind kind;
  // The op of the task or copy, or kBeginning for an event of another kind.
  Op op;
};

// Says how long a loop goes on as in its last period (a number of iterations). `before` and `last`
// are the events of the last two periods, in their order; an op of `last` has a number that is
// larger by `ops` than that of the same op in `before`.
//
// If both periods have the same events, then an event that was later by d in `last` than in
// `before` is later by d again in the next period, as long as the order of the events stays the
// same: for every event begins a task or a copy at its own time, or at the later one of its own
// time and those of other events. Returns for how many periods the order certainly stays the same,
// at most `most`. Events at the same time count as in order only if they are later by the same d.
// Returns 0 if the periods do not have the same events, or other events than ends.
std::int64_t periods_in_order(std::span<const EndedOp> before, std::span<const EndedOp> last,
                              Op ops, std::int64_t most);

}  // namespace groma::sim
