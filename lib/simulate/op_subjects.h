// OpSubjects: what each op of a run stands for (a task, a copy or a future), and the list of ops
// that became ready.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "simulate/bytes.h"
#include "simulate/op_graph.h"
#include "simulate/task_run.h"

namespace groma::sim {

// What an op stands for.
struct OpSubject {
  // kNone: nothing. kJoin: a future, which is there when all tasks of a launch are over.
  enum class Kind : std::uint8_t { kNone, kTask, kCopy, kJoin } kind = Kind::kNone;
  std::uint32_t copy = 0;
  // For the op of a task: that task. For a future: the task whose body has the launch that gives
  // the future; that task may be finished.
  TaskRun* run = nullptr;
};

// An op that waits for nothing any more, and the number in the record of the event that it waited
// for last (-1: it waited for none).
struct ReadyOp {
  Op op;
  std::int64_t cause;
};

class OpSubjects {
 public:
  explicit OpSubjects(OpGraph& ops) : ops_(ops), uses_(1) {}

  const OpSubject& operator[](Op op) const { return uses_[op]; }
  // Sets what an op stands for.
  void set(Op op, OpSubject use) {
    if (op >= uses_.size()) uses_.resize(ops_.size());
    uses_[op] = use;
  }
  // Lets an op become ready as soon as it waits for nothing.
  void release(Op op) {
    if (ops_.release(op)) note_ready(op);
  }
  // Notes that an op is over. Ops that waited only for it become ready; the record names the event
  // with the number `record` as their cause.
  void complete(Op op, std::int64_t record) {
    ops_.complete(op, [&](Op ready) { note_ready(ready, record); });
  }
  void note_ready(Op op, std::int64_t cause = -1) { ready_.push_back({op, cause}); }
  // Calls handle(ready) for every op that became ready, including those that become ready during
  // these calls. Stops if handle returns false. The ops are taken from a list, so that the calls
  // are not nested.
  template <typename Handle>
  void handle_all_ready(const Handle& handle) {
    for (std::size_t i = 0; i < ready_.size() && handle(ready_[i]); ++i) {
    }
    ready_.clear();
  }

  // Returns the approximate memory of the object in bytes.
  std::int64_t bytes() const { return heap_bytes(uses_) + heap_bytes(ready_); }

 private:
  OpGraph& ops_;
  // For each op: what it stands for.
  std::vector<OpSubject> uses_;
  std::vector<ReadyOp> ready_;
};

}  // namespace groma::sim
