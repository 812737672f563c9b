// CallPool: carries out the calls of a client in a fixed number of threads, so that several calls
// can be in flight, and cancels them by the id of their request.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace groma::serve {

class CallPool {
 public:
  // The work of a call. It is given the flag that says whether the call is cancelled, and has to
  // return soon once it is. Must not throw.
  using Work = std::function<void(const std::atomic<bool>& cancelled)>;
  enum class Added { kYes, kTooMany, kRepeatedId };

  // Starts the threads.
  CallPool(int threads, std::size_t max_waiting);
  // Cancels all calls and waits for them.
  ~CallPool();
  CallPool(const CallPool&) = delete;
  CallPool& operator=(const CallPool&) = delete;

  // Adds a call. Nothing is done if too many calls wait, or one with this id is in flight.
  Added add(const std::string& id, Work work);
  // Cancels the call with this id. Its work still runs, to notice it. Does nothing if there is
  // none.
  void cancel(const std::string& id);
  void cancel_all();
  // Waits until no call is left, at most this long. Returns false if some are left.
  bool wait_until_idle(std::chrono::milliseconds most);

 private:
  struct InFlight {
    Work work;
    std::atomic<bool> cancelled{false};
  };

  void work_until_closed();

  std::mutex mutex_;
  std::condition_variable added_, idle_;
  // Every call that has not returned, by its id, and those of them that wait for a thread.
  std::map<std::string, std::shared_ptr<InFlight>> in_flight_;
  std::deque<std::string> waiting_;
  std::size_t max_waiting_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace groma::serve
