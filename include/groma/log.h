// LogSink: receives what the library reports outside of diagnostics, such as the output of a
// program's own `print`.
#pragma once

#include <string_view>

namespace groma {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Receives one line at a time, without its line end. The library calls it only from the thread that
// called the library. This default sink discards every line.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void log(LogLevel level, std::string_view line) {
    static_cast<void>(level);
    static_cast<void>(line);
  }
};

}  // namespace groma
