// The threads that carry out calls.
#include "serve/call_pool.h"

#include <utility>

namespace groma::serve {

CallPool::CallPool(int threads, std::size_t max_waiting) : max_waiting_(max_waiting) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work_until_closed(); });
}

CallPool::~CallPool() {
  cancel_all();
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  added_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

CallPool::Added CallPool::add(const std::string& id, Work work) {
  const std::lock_guard lock(mutex_);
  if (in_flight_.contains(id)) return Added::kRepeatedId;
  if (waiting_.size() >= max_waiting_) return Added::kTooMany;
  auto call = std::make_shared<InFlight>();
  call->work = std::move(work);
  in_flight_.emplace(id, std::move(call));
  waiting_.push_back(id);
  added_.notify_one();
  return Added::kYes;
}

void CallPool::cancel(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = in_flight_.find(id);
  if (found != in_flight_.end()) found->second->cancelled = true;
}

void CallPool::cancel_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, call] : in_flight_) call->cancelled = true;
}

bool CallPool::wait_until_idle(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, most, [this] { return in_flight_.empty(); });
}

// A closed pool still carries out the calls that wait: they are cancelled, so they return at once.
void CallPool::work_until_closed() {
  std::unique_lock lock(mutex_);
  for (;;) {
    added_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::string id = std::move(waiting_.front());
    waiting_.pop_front();
    const std::shared_ptr<InFlight> call = in_flight_.at(id);
    lock.unlock();
    call->work(call->cancelled);
    // The work may hold much, so it is dropped before the lock is taken.
    call->work = nullptr;
    lock.lock();
    in_flight_.erase(id);
    if (in_flight_.empty()) idle_.notify_all();
  }
}

}  // namespace groma::serve
