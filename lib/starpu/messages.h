// Messages: what the policy tells the user on standard error, each message once.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "groma/log.h"

namespace groma::starpu {

// Thread-safe. As a LogSink it receives what the mapper reports: the statements that have no effect
// under StarPU, and the output of a mapping's `print`.
class Messages final : public LogSink {
 public:
  // Prints a line after "groma: ", unless the same line was printed before. Prints at most
  // kMaxMessages lines.
  void warn(std::string_view line);
  // Prints a line as the mapper wrote it.
  void log(LogLevel level, std::string_view line) override;

  static constexpr std::size_t kMaxMessages = 100;

 private:
  std::mutex mutex_;
  std::set<std::string, std::less<>> printed_;
};

// Ends the process with a message that the program is not mapped. The run without the mapping would
// otherwise be mistaken for a run with it.
[[noreturn]] void refuse(std::string_view why);

}  // namespace groma::starpu
