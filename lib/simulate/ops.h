// Ops: the tasks and copies of a run, as a dependency graph that is built during the run.
#pragma once

#include <cstdint>
#include <vector>

#include "groma/run_record.h"
#include "simulate/bytes.h"

namespace groma::sim {

// The number of an op, in the order of addition. 0: the beginning, which is done.
using Op = std::uint32_t;
inline constexpr Op kBeginning = 0;

class Ops {
 public:
  Ops() { ops_.push_back({0, 0, true}); }

  // Adds an op. It is not ready before release() is called for it.
  Op add() {
    ops_.push_back({1, 0, false});
    return static_cast<Op>(ops_.size() - 1);
  }
  std::size_t size() const { return ops_.size(); }
  bool done(Op op) const { return ops_[op].done; }
  std::int64_t bytes() const { return heap_bytes(ops_) + heap_bytes(edges_); }

  // Makes `op` wait for `on`.
  void depend(Op op, Op on) {
    if (ops_[on].done || op == on) return;
    const std::uint32_t last = ops_[on].first;
    if (last != 0 && edges_[last - 1].op == op) return;  // already waits
    edges_.push_back({op, ops_[on].first});
    ops_[on].first = static_cast<std::uint32_t>(edges_.size());
    ++ops_[op].missing;
  }
  // Returns true if the op is ready now.
  bool release(Op op) { return --ops_[op].missing == 0; }

  // Calls ready(op) for all ops that only waited for this one, in the order in which they began to
  // wait.
  template <typename Ready>
  void complete(Op op, const Ready& ready) {
    ops_[op].done = true;
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
    std::uint32_t first;  // index into edges_, from 1
    bool done;
  };
  struct Edge {
    Op op;
    std::uint32_t next;
  };
  static constexpr std::uint32_t kReady = 0xFFFFFFFF;  // reported as ready

  std::vector<Node> ops_;
  std::vector<Edge> edges_;
  std::vector<Op> waiting_;
};

}  // namespace groma::sim
