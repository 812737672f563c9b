// LogSink: where the library says what is no diagnostic, such as a program's own `print`.
#pragma once

#include <string_view>

namespace groma {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Receives one line at a time, without its line end. The library calls it from the thread that
// called the library, and from no other. The default sink is silent.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void log(LogLevel level, std::string_view line) {
    static_cast<void>(level);
    static_cast<void>(line);
  }
};

}  // namespace groma
