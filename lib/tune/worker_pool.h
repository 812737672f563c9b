// WorkerPool: the workers of a command evaluator. It hands out free workers, and starts workers
// again that failed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "groma/evaluators.h"
#include "groma/result.h"
#include "tune/command_worker.h"

namespace groma::tuning {

// Any number of threads may use the pool.
class WorkerPool {
 public:
  // At least one worker. They are started when take_free() is called for the first time.
  WorkerPool(std::vector<std::unique_ptr<CommandWorker>> workers, const WorkerPatience& patience);
  // No worker may be taken any more. Ends all workers.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int size() const { return static_cast<int>(slots_.size()); }
  // Waits for a free worker, of several for the one with the least number. Returns null if `stop`
  // returns true, or if no worker is left. The caller gives the worker to release() or lose().
  CommandWorker* take_free(const std::function<bool()>& stop);
  // Takes a worker back that has evaluated a text.
  void release(const CommandWorker* worker);
  // Takes a worker back that failed. It is started again in another thread, after a pause, unless
  // it failed too often in a row. `reason` is a sentence without a full stop.
  void lose(const CommandWorker* worker, const std::string& reason);

  // Returns the error that names all workers and their last words, once no worker is left.
  std::optional<Error> error() const;
  // Returns and forgets the sentences about workers that failed.
  std::vector<std::string> take_notes();

 private:
  enum class State { kUnused, kStarting, kFree, kTaken, kLost };
  struct Slot {
    std::unique_ptr<CommandWorker> worker;
    State state = State::kUnused;
    // How often the worker failed since it last evaluated a text.
    int failures = 0;
    std::string last_words;
    // Starts the worker.
    std::thread starter;
  };

  Slot& slot_of(const CommandWorker* worker);
  // Notes a failure. Returns true if the worker may be started again. Needs the lock.
  bool note_failure(Slot* slot, const std::string& reason, bool may_try_again);
  // Begins to start the worker in a thread. Needs the lock.
  void begin_start(Slot* slot);
  // Pauses and starts the worker until it runs or has failed too often.
  void start(Slot* slot);
  bool any_left() const;

  const WorkerPatience patience_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> ends_ = false;
  bool began_ = false;
  std::vector<Slot> slots_;
  std::vector<std::string> notes_;
};

}  // namespace groma::tuning
