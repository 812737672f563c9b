// Budget: lets a computation whose length nobody knows end early. The computation counts its work;
// now and then the budget asks whether it is to stop.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace groma {

class Budget {
 public:
  // Work between two questions. A unit is some ten nanoseconds of work, so this is a millisecond.
  static constexpr std::int64_t kInterval = std::int64_t{1} << 16;

  // `exceeded` says whether the computation is to stop; null: never.
  explicit Budget(std::function<bool()> exceeded = {}) : ask_(std::move(exceeded)) {}

  // Counts work that is about to be done or was just done. True: the computation is to stop, its
  // result does not matter any more. Once true it stays true.
  bool spend(std::int64_t units) {
    left_ -= units;
    return left_ < 0 && ask();
  }
  // Asks at once, however little was done since the last time.
  bool ask() {
    if (exceeded_) return true;
    spent_ += kInterval - left_;
    left_ = kInterval;
    exceeded_ = ask_ && ask_();
    if (exceeded_) left_ = -1;
    return exceeded_;
  }
  bool exceeded() const { return exceeded_; }
  // Units so far, those since the last question left out.
  std::int64_t spent() const { return spent_; }

 private:
  std::function<bool()> ask_;
  std::int64_t left_ = kInterval, spent_ = 0;
  bool exceeded_ = false;
};

}  // namespace groma
