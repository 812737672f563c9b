// Runs a command as a child process in a process group of its own: passes its input, reads its
// output until it ends, and kills it at its deadline.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "system/process.h"

namespace groma {
namespace {

using system::CleanupShell;
using system::FileDescriptor;
using system::open_pipe;
using system::Pipe;
using system::spawn;
using Clock = std::chrono::steady_clock;
// The longest wait between two checks, in milliseconds, with and without a pidfd.
constexpr int kPollMs = 50, kPollBlindMs = 5;
constexpr auto kDrain = std::chrono::milliseconds(500);

// Keeps the first and the last bytes of one output of the command, half of the limit each. All
// output is also passed to the function `hearer`, if there is one.
class Capture {
 public:
  using Hearer = std::function<void(std::string_view)>;
  Capture(std::size_t limit, Hearer hearer)
      : first_(limit - limit / 2), half_(limit / 2), hearer_(std::move(hearer)) {}

  // The tail is cut only when it is twice as long as necessary, so that bytes are rarely moved.
  void add(std::string_view bytes) {
    if (hearer_) hearer_(bytes);
    const std::size_t first = std::min(bytes.size(), first_ - head_.size());
    head_ += bytes.substr(0, first);
    bytes.remove_prefix(first);
    all_ += first + bytes.size();
    tail_ += bytes;
    if (tail_.size() > 2 * half_ + 4096) tail_.erase(0, tail_.size() - half_);
  }

  std::size_t size() const { return all_; }

  CommandOutput take() {
    if (tail_.size() > half_) tail_.erase(0, tail_.size() - half_);
    CommandOutput output;
    output.cut_at = head_.size();
    output.left_out_bytes = all_ - head_.size() - tail_.size();
    output.text = std::move(head_) + tail_;
    return output;
  }

 private:
  std::size_t first_, half_, all_ = 0;
  Hearer hearer_;
  std::string head_, tail_;
};

// Writes the input to a file in memory, so that a child which does not read its input blocks
// nobody.
FileDescriptor input_file(const std::string& text) {
  FileDescriptor file(memfd_create("groma-input", MFD_CLOEXEC));
  std::string_view rest = text;
  while (file.get() >= 0 && !rest.empty()) {
    const ssize_t written = write(file.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileDescriptor();
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file.get() >= 0) lseek(file.get(), 0, SEEK_SET);
  return file;
}

// Returns true if the child has ended. The child stays a zombie, so that the system cannot give its
// process id to another process.
bool has_ended(pid_t child, siginfo_t* info) {
  *info = {};
  return waitid(P_PID, static_cast<id_t>(child), info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info->si_pid == child;
}

// Reads the output that is available now. Closes the file descriptor at the end of the output or
// after an error.
void read_some(FileDescriptor* file, Capture* capture) {
  std::array<char, 65536> bytes;
  const ssize_t count = read(file->get(), bytes.data(), bytes.size());
  if (count > 0) {
    capture->add({bytes.data(), static_cast<std::size_t>(count)});
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    file->reset();
  }
}

// Waits at most `wait_ms` milliseconds for output or for the child's end, and reads the output.
// `ended` is a pidfd, or -1.
void read_for(int wait_ms, FileDescriptor* out, Capture* out_text, FileDescriptor* err,
              Capture* err_text, int ended) {
  std::array<pollfd, 3> files = {pollfd{out->get(), POLLIN, 0}, pollfd{err->get(), POLLIN, 0},
                                 pollfd{ended, POLLIN, 0}};
  if (poll(files.data(), files.size(), wait_ms) <= 0) return;
  if (files[0].revents != 0) read_some(out, out_text);
  if (files[1].revents != 0) read_some(err, err_text);
}

}  // namespace

// Returns the path of a program as the shell would find it. A word with `/` is the path; any other
// is searched in the folders of PATH. Returns nothing if there is no such executable file.
std::optional<std::string> find_program(const std::string& word) {
  const auto runs = [](const std::string& file) {
    struct stat about {};
    return stat(file.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
           access(file.c_str(), X_OK) == 0;
  };
  if (word.find('/') != word.npos) return runs(word) ? std::optional(word) : std::nullopt;
  const char* const variable = std::getenv("PATH");
  std::istringstream folders(variable == nullptr ? "/bin:/usr/bin" : variable);
  for (std::string folder; !word.empty() && std::getline(folders, folder, ':');) {
    std::string file = (folder.empty() ? "." : folder) + "/" + word;
    if (runs(file)) return file;
  }
  return std::nullopt;
}

// Runs a command to its end and returns its outputs and how it ended. Fails if the command cannot
// be started. `stop` is asked about every kPollMs milliseconds.
Result<CommandOutcome> run_command(const Command& command) {
  GROMA_CHECK(!command.words.empty());
  const auto failure = [&command](int code) {
    const bool unknown = code == ENOENT || code == ENOTDIR;
    const std::string& word = command.words[0];
    const std::string in_folder = "./" + word;
    std::string help;
    if (code == EACCES) {
      help = "it is a folder, or not marked as a program: chmod +x";
    } else if (unknown && word.find('/') == word.npos && find_program(in_folder)) {
      help = fmt::format("the folder of `{0}` is not in PATH: write `{0}`", in_folder);
    }
    return Error{unknown ? Error::Code::kUnknown : Error::Code::kUnreadable,
                 fmt::format("cannot run `{}`: {}", word, std::strerror(code)), std::move(help)};
  };
  struct sigaction on_end {};
  sigaction(SIGCHLD, nullptr, &on_end);
  if (on_end.sa_handler == SIG_IGN || (on_end.sa_flags & SA_NOCLDWAIT) != 0) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("cannot run `{}`: SIGCHLD is ignored, so nobody learns its end",
                             command.words[0])};
  }
  const FileDescriptor in = input_file(command.input);
  Pipe out, err;
  if (in.get() < 0 || !open_pipe(&out) || !open_pipe(&err)) return failure(errno);

  // The watcher is the first process of the group. It kills the group if our process ends in any
  // way, even by SIGKILL.
  CleanupShell watcher;
  if (const auto error = watcher.start("kill -s KILL 0")) return *error;
  const auto begin = Clock::now();
  pid_t child = 0;
  const int code =
      spawn(command, in.get(), out.write.get(), err.write.get(), watcher.group(), &child);
  if (code != 0) return failure(code);
  out.write.reset();
  err.write.reset();

  // An old kernel has no pidfd; the loop then polls more often.
  const FileDescriptor ended(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  const auto hearer = [&command](bool is_error) -> Capture::Hearer {
    if (!command.on_output) return {};
    return [&command, is_error](std::string_view bytes) { command.on_output(bytes, is_error); };
  };
  Capture out_text(command.max_output_bytes, hearer(false));
  Capture err_text(command.max_output_bytes, hearer(true));
  CommandOutcome outcome;
  siginfo_t info{};
  const auto deadline = begin + std::chrono::milliseconds(command.deadline_ms);
  // Returns the reason to end the command now, or nothing.
  const auto cause = [&](Clock::time_point now) -> std::optional<CommandOutcome::End> {
    using End = CommandOutcome::End;
    if (command.deadline_ms > 0 && now >= deadline) return End::kDeadline;
    if (command.stop && command.stop()) return End::kStopped;
    const bool full = command.end_at_max_output && out_text.size() > command.max_output_bytes;
    return full ? std::optional(End::kTooMuchOutput) : std::nullopt;
  };
  bool broken_off = false;
  // The time until which the program may end by itself after SIGINT.
  std::optional<Clock::time_point> farewell;
  while (!has_ended(child, &info)) {
    const auto now = Clock::now();
    const auto end = farewell ? std::nullopt : cause(now);
    if (end) outcome.end = *end;
    if (end && command.farewell_ms > 0 && *end != CommandOutcome::End::kTooMuchOutput) {
      kill(child, SIGINT);
      farewell = now + std::chrono::milliseconds(command.farewell_ms);
    } else if (end || (farewell && now >= *farewell)) {
      broken_off = true;
      break;
    }
    int wait_ms = ended.get() >= 0 ? kPollMs : kPollBlindMs;
    if (command.deadline_ms > 0 && !farewell) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now);
      wait_ms = static_cast<int>(std::min<std::int64_t>(wait_ms, left.count()));
    }
    read_for(wait_ms, &out.read, &out_text, &err.read, &err_text, ended.get());
  }
  watcher.kill_process_group();
  // The child may have left its group, so it is killed by its own id, too.
  kill(child, SIGKILL);
  outcome.seconds = std::chrono::duration<double>(Clock::now() - begin).count();

  // Reads the rest of the output. A process that escaped the group may keep the pipe open, so this
  // takes at most kDrain. After a deadline or a stop, only the output at hand is read.
  const auto drained = Clock::now() + (broken_off ? std::chrono::milliseconds(0) : kDrain);
  for (bool again = true; again && (out.read.get() >= 0 || err.read.get() >= 0);) {
    read_for(broken_off ? 0 : kPollMs, &out.read, &out_text, &err.read, &err_text, -1);
    const auto now = Clock::now();
    again = now < drained && (farewell || !cause(now));
  }
  info = {};
  while (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED) != 0 && errno == EINTR) {
  }
  if (command.end_at_max_output && !broken_off && out_text.size() > command.max_output_bytes) {
    outcome.end = CommandOutcome::End::kTooMuchOutput;
  }
  const bool ended_itself = outcome.end == CommandOutcome::End::kExited;
  if (ended_itself && info.si_code != CLD_EXITED) outcome.end = CommandOutcome::End::kSignalled;
  outcome.code = info.si_status;
  outcome.out = out_text.take();
  outcome.err = err_text.take();
  return outcome;
}

}  // namespace groma
