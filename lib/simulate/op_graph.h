// OpGraph: the tasks, copies and futures of a run, as a dependency graph that is built during the
// run.
#pragma once

#include <cstdint>
#include <vector>

#include "groma/run_record.h"
#include "simulate/bytes.h"

namespace groma::sim {

// The number of an op (a task, a copy or a future), in the order in which the ops are added. Op 0
// is the beginning of the run, which is done.
using Op = std::uint32_t;
inline constexpr Op kBeginning = 0;

class OpGraph {
 public:
  OpGraph() { ops_.push_back({0, 0, true}); }

  // How far an op has come: how many ops and calls of release() it waits for, and whether it is
  // done.
  struct OpState {
    std::uint32_t missing;
    bool done;
  };

  // Adds an op and returns its number. The op is not ready before release() is called for it.
  Op add() {
    ops_.push_back({1, 0, false});
    ++undone_;
    return static_cast<Op>(ops_.size() - 1);
  }
  std::size_t size() const { return ops_.size(); }
  bool done(Op op) const { return ops_[op].done; }
  OpState state(Op op) const { return {ops_[op].missing, ops_[op].done}; }
  // Returns the number of ops that are not done.
  std::size_t undone() const { return undone_; }
  std::int64_t bytes() const { return heap_bytes(ops_) + heap_bytes(edges_); }

  // Makes `op` wait for `on`.
  void add_dependence(Op op, Op on) {
    if (ops_[on].done || op == on) return;
    const std::uint32_t last = ops_[on].first;
    // The last op that began to wait for `on` is `op` itself, so do not add the dependence again.
    if (last != 0 && edges_[last - 1].op == op) return;
    edges_.push_back({op, ops_[on].first});
    ops_[on].first = static_cast<std::uint32_t>(edges_.size());
    ++ops_[op].missing;
  }
  // Lets an op become ready. Returns true if it waits for nothing, so that it is ready now.
  bool release(Op op) { return --ops_[op].missing == 0; }

  // Notes that `op` is done. Calls ready(waiter) for all ops that waited only for this one, in the
  // order in which they began to wait.
  template <typename Ready>
  void complete(Op op, const Ready& ready) {
    ops_[op].done = true;
    --undone_;
    waiting_.clear();
    for (std::uint32_t e = ops_[op].first; e != 0; e = edges_[e - 1].next) {
      waiting_.push_back(edges_[e - 1].op);
    }
    ops_[op].first = 0;
    std::vector<Op> waiting;
    waiting.swap(waiting_);
    for (Op each : waiting) --ops_[each].missing;
    for (std::size_t i = waiting.size(); i-- > 0;) {
      if (ops_[waiting[i]].missing != 0) continue;
      ops_[waiting[i]].missing = kReady;
      ready(waiting[i]);
    }
    waiting_.swap(waiting);
  }

 private:
  struct Node {
    std::uint32_t missing;
    // The head of the list of ops that wait for this op: an index into `edges_`, counted from 1. 0:
    // no op waits.
    std::uint32_t first;
    bool done;
  };
  struct Edge {
    Op op;
    std::uint32_t next;
  };
  // A special value of Node::missing: the op has already been reported as ready.
  static constexpr std::uint32_t kReady = 0xFFFFFFFF;

  std::vector<Node> ops_;
  std::vector<Edge> edges_;
  std::vector<Op> waiting_;
  std::size_t undone_ = 0;
};

}  // namespace groma::sim
