// Budget: lets a computation of unknown length end early. The computation counts its work, and from
// time to time the budget asks whether to stop.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace groma {

class Budget {
 public:
  // The units of work between two calls of `exceeded`. A unit is about ten nanoseconds of work, so
  // this is about a millisecond.
  static constexpr std::int64_t kInterval = std::int64_t{1} << 16;

  // `exceeded` returns true if the computation must stop. An empty function never stops the
  // computation.
  explicit Budget(std::function<bool()> exceeded = {}) : ask_(std::move(exceeded)) {}

  // Counts work that is about to be done or was just done. Returns true if the computation must
  // stop; its result is then ignored. Once true, it stays true.
  bool spend(std::int64_t units) {
    left_ -= units;
    return left_ < 0 && must_stop_now();
  }
  // Calls the function `exceeded` now, however little work was counted since its last call. Returns
  // true if the computation must stop.
  bool must_stop_now() {
    if (exceeded_) return true;
    spent_ += kInterval - left_;
    left_ = kInterval;
    exceeded_ = ask_ && ask_();
    if (exceeded_) left_ = -1;
    return exceeded_;
  }
  bool exceeded() const { return exceeded_; }
  // Returns the units of work that were counted up to the last call of the function `exceeded`.
  std::int64_t spent() const { return spent_; }

 private:
  std::function<bool()> ask_;
  std::int64_t left_ = kInterval, spent_ = 0;
  bool exceeded_ = false;
};

}  // namespace groma
