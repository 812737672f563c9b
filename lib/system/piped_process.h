// PipedProcess: a child process that stays, such as a shell, and answers what it is sent.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "groma/result.h"
#include "groma/system.h"
#include "system/process.h"

namespace groma::system {

// A child process in its own process group, whose standard input stays open. It learns from the end
// of its input that it must end. This process closes the input when it ends, in whatever way, even
// by SIGKILL. What is left of the group ten seconds later is terminated, and then killed.
//
// One thread at a time.
class PipedProcess {
 public:
  // Starts `words` in `folder` with `environment`; the other members of the command are ignored.
  // Fails as run_command() does.
  static Result<std::unique_ptr<PipedProcess>> start(const Command& command);
  // Closes the input and waits up to three seconds until the process ends. Otherwise sends SIGTERM
  // to its group and waits up to two more seconds. Then kills the group.
  ~PipedProcess();
  PipedProcess(const PipedProcess&) = delete;
  PipedProcess& operator=(const PipedProcess&) = delete;

  // Appends bytes to those that wait to be written to the standard input. wait() writes them.
  void send(std::string_view bytes);
  // Closes the standard input. Bytes that wait are dropped.
  void close_input();
  // Waits at most `wait_ms` milliseconds until output has come or the process has ended. Writes the
  // bytes of send() meanwhile. Returns false if no further output can come: the process has ended
  // or has closed its output.
  bool wait(int wait_ms);
  // The standard output that nobody has taken yet. The caller removes what it has read.
  std::string& output() { return output_; }
  // Returns the last 4 kB of standard error.
  std::string last_errors() const;
  // Returns how the process ended, after at most half a second: "exit code 255", "signal 9
  // (Killed)", or "it closed its output".
  std::string how_it_ended();
  // Returns the exit code; nullopt if the process has not ended by itself.
  std::optional<int> exit_code() const;

 private:
  PipedProcess() = default;
  void write_waiting();
  void read_output();
  // Returns true if the process has ended. It stays a zombie until this object is destroyed.
  bool has_ended() const;
  // Waits until the process has ended, at most this long. Discards its output meanwhile.
  void wait_for_end(std::chrono::milliseconds most);

  CleanupShell watcher_;
  pid_t process_ = 0;
  FileDescriptor input_, out_, err_;
  // The bytes that wait to be written, and how many of them were.
  std::string waiting_;
  std::size_t written_ = 0;
  std::string output_, errors_;
};

}  // namespace groma::system
