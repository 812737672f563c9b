// Prints the messages of the policy.
#include "starpu/messages.h"

#include <cstdio>
#include <cstdlib>

namespace groma::starpu {
namespace {

// Prints a text in one call, so that lines of several threads do not mix.
void print(std::string text) {
  if (!text.ends_with('\n')) text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

void Messages::warn(std::string_view line) {
  {
    const std::lock_guard lock(mutex_);
    if (printed_.size() > kMaxMessages || !printed_.emplace(line).second) return;
    if (printed_.size() > kMaxMessages) line = "further messages are not printed";
  }
  print("groma: " + std::string(line));
}

void Messages::log(LogLevel, std::string_view line) { print(std::string(line)); }

void refuse(std::string_view why) {
  print("groma: not mapped: " + std::string(why));
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace groma::starpu
