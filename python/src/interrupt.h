// Lets Ctrl-C end a call of the library that has released the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>
#include <mutex>

namespace groma::python {

// Runs the handlers of Python's signals during a long call. Any thread may call should_stop().
class Interrupt {
 public:
  // Returns true if a handler raised an exception, such as KeyboardInterrupt. Asks Python at most
  // every 50 ms, and takes the GIL for that.
  bool should_stop() {
    const std::lock_guard lock(mutex_);
    if (raised_ != nullptr) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < std::chrono::milliseconds(50)) return false;
    asked_ = now;
    const nanobind::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return false;
    try {
      nanobind::raise_python_error();
    } catch (...) {
      raised_ = std::current_exception();
    }
    return true;
  }

  // Throws the exception of the handler, if there was one. The caller holds the GIL.
  void rethrow() const {
    if (raised_ != nullptr) std::rethrow_exception(raised_);
  }

 private:
  std::mutex mutex_;
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
  std::exception_ptr raised_;
};

}  // namespace groma::python
