// Hands out the workers of a command evaluator, and starts those again that failed.
#include "tune/worker_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace groma::tuning {
namespace {

// How often a thread that waits for a worker asks whether it is stopped.
constexpr auto kLookAtStop = std::chrono::milliseconds(50);
// Each pause before a start is this many times the one before.
constexpr int kPauseGrowth = 4;
// Limit on the notes that nobody has taken.
constexpr std::size_t kMaxNotes = 1000;

}  // namespace

WorkerPool::WorkerPool(std::vector<std::unique_ptr<CommandWorker>> workers,
                       const WorkerPatience& patience)
    : patience_(patience), slots_(workers.size()) {
  GROMA_CHECK(!workers.empty());
  for (std::size_t i = 0; i < workers.size(); ++i) slots_[i].worker = std::move(workers[i]);
}

// All workers are told to end before the first one is waited for.
WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (Slot& slot : slots_) {
    if (slot.starter.joinable()) slot.starter.join();
    slot.worker->hang_up();
  }
}

WorkerPool::Slot& WorkerPool::slot_of(const CommandWorker* worker) {
  return *std::find_if(slots_.begin(), slots_.end(),
                       [worker](const Slot& slot) { return slot.worker.get() == worker; });
}

bool WorkerPool::any_left() const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const Slot& slot) { return slot.state != State::kLost; });
}

CommandWorker* WorkerPool::take_free(const std::function<bool()>& stop) {
  std::unique_lock lock(mutex_);
  if (!std::exchange(began_, true)) {
    for (Slot& slot : slots_) begin_start(&slot);
  }
  while (any_left()) {
    for (Slot& slot : slots_) {
      if (slot.state != State::kFree) continue;
      slot.state = State::kTaken;
      return slot.worker.get();
    }
    changed_.wait_for(lock, kLookAtStop);
    lock.unlock();
    const bool stopped = stop && stop();
    lock.lock();
    if (stopped) return nullptr;
  }
  return nullptr;
}

void WorkerPool::release(const CommandWorker* worker) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slot_of(worker);
  slot.failures = 0;
  slot.state = State::kFree;
  changed_.notify_all();
}

void WorkerPool::lose(const CommandWorker* worker, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slot_of(worker);
  if (note_failure(&slot, reason, true)) begin_start(&slot);
  changed_.notify_all();
}

bool WorkerPool::note_failure(Slot* slot, const std::string& reason, bool may_try_again) {
  ++slot->failures;
  slot->last_words = reason;
  const bool again = may_try_again && slot->failures <= patience_.restarts;
  slot->state = again ? State::kStarting : State::kLost;
  if (notes_.size() < kMaxNotes) {
    notes_.push_back(fmt::format("worker {} failed{}: {}", slot->worker->name(),
                                 again ? ", it is started again" : " and is not used any more",
                                 reason));
  }
  return again;
}

// A thread that has ended may still have to be joined.
void WorkerPool::begin_start(Slot* slot) {
  slot->state = State::kStarting;
  if (slot->starter.joinable()) slot->starter.join();
  slot->starter = std::thread([this, slot] { start(slot); });
}

void WorkerPool::start(Slot* slot) {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (slot->failures > 0) {
      std::int64_t pause_ms = patience_.first_pause_ms;
      for (int i = 1; i < slot->failures; ++i) pause_ms *= kPauseGrowth;
      const auto ends = [this] { return ends_.load(); };
      if (changed_.wait_for(lock, std::chrono::milliseconds(pause_ms), ends)) return;
    }
    lock.unlock();
    const auto error = slot->worker->start([this] { return ends_.load(); });
    lock.lock();
    if (ends_) return;
    if (!error) {
      slot->state = State::kFree;
      changed_.notify_all();
      return;
    }
    const bool may_try_again = error->code != Error::Code::kUnknown;
    if (!note_failure(slot, error->message, may_try_again)) {
      changed_.notify_all();
      return;
    }
  }
}

std::optional<Error> WorkerPool::error() const {
  const std::lock_guard lock(mutex_);
  if (any_left()) return std::nullopt;
  std::string words;
  for (const Slot& slot : slots_) {
    words += fmt::format("{}worker {}: {}", words.empty() ? "" : "; ", slot.worker->name(),
                         slot.last_words);
  }
  return Error{Error::Code::kUnreadable, "no worker is left: " + words,
               "repair the workers and resume the search"};
}

std::vector<std::string> WorkerPool::take_notes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(notes_, {});
}

}  // namespace groma::tuning
