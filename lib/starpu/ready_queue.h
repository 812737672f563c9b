// ReadyQueue: tasks that are ready, by priority, and in their order among equal priorities.
#pragma once

#include <starpu.h>
#include <starpu_scheduler.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>

namespace groma::starpu {

// The priority of an empty queue: lower than that of any task.
inline constexpr std::int64_t kNoPriority = std::numeric_limits<std::int64_t>::min();

// Thread-safe. Tasks of priority 0, which most programs use alone, have a list of their own.
class ReadyQueue {
 public:
  // Adds a task. Tells StarPU that it is pushed before any worker can take it.
  void push(starpu_task* task, std::int64_t priority) {
    const std::lock_guard lock(mutex_);
    (priority == 0 ? ordinary_ : others_[priority]).push_back(task);
    starpu_push_task_end(task);
    top_.store(std::max(top(), priority), std::memory_order_release);
  }
  // Takes the first task of the highest priority. Returns null if there is none.
  starpu_task* pop() {
    if (top() == kNoPriority) return nullptr;
    const std::lock_guard lock(mutex_);
    const std::int64_t priority = top();
    if (priority == kNoPriority) return nullptr;
    std::deque<starpu_task*>& tasks = priority == 0 ? ordinary_ : others_.rbegin()->second;
    starpu_task* const task = tasks.front();
    tasks.pop_front();
    if (priority != 0 && tasks.empty()) others_.erase(std::prev(others_.end()));
    top_.store(highest(), std::memory_order_release);
    return task;
  }
  // Returns the highest priority of a task in the queue, or kNoPriority. Needs no lock.
  std::int64_t top() const { return top_.load(std::memory_order_acquire); }

 private:
  std::int64_t highest() const {
    const std::int64_t other = others_.empty() ? kNoPriority : others_.rbegin()->first;
    return ordinary_.empty() ? other : std::max<std::int64_t>(other, 0);
  }

  std::mutex mutex_;
  std::deque<starpu_task*> ordinary_;
  // Lists of the other priorities, none of them empty.
  std::map<std::int64_t, std::deque<starpu_task*>> others_;
  std::atomic<std::int64_t> top_ = kNoPriority;
};

}  // namespace groma::starpu
