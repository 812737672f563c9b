// Starts a child process with pipes to its three standard files, and moves bytes through them
// without blocking.
#include "system/piped_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <thread>

namespace groma::system {
namespace {

// Limit on the bytes of standard error that are kept.
constexpr std::size_t kMaxErrorBytes = 4096;
// The longest wait between two looks at whether the process has ended.
constexpr int kLookMs = 20;
// How long the process may take to end after the end of its input, and then after SIGTERM.
constexpr auto kFarewell = std::chrono::seconds(3), kTermination = std::chrono::seconds(2);

// Keeps SIGPIPE from this thread while it exists: a write to a process that has ended must not end
// this one.
class NoBrokenPipeSignal {
 public:
  NoBrokenPipeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoBrokenPipeSignal() {
    const timespec now{};
    if (!was_pending_) {
      while (sigtimedwait(&signal_, nullptr, &now) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipeSignal(const NoBrokenPipeSignal&) = delete;
  NoBrokenPipeSignal& operator=(const NoBrokenPipeSignal&) = delete;

 private:
  sigset_t signal_, before_;
  bool was_pending_ = false;
};

// Appends the bytes that the file has now. Closes the file at its end.
void read_available(FileDescriptor* file, std::string* text) {
  std::array<char, 65536> bytes;
  const ssize_t count = read(file->get(), bytes.data(), bytes.size());
  if (count > 0) {
    text->append(bytes.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    file->reset();
  }
}

}  // namespace

// The watcher is the first process of the group. If our process ends without a farewell, the
// child's input ends too, and the child has ten seconds to clean up.
Result<std::unique_ptr<PipedProcess>> PipedProcess::start(const Command& command) {
  GROMA_CHECK(!command.words.empty());
  const auto failure = [&](int code) {
    return Error{code == ENOENT ? Error::Code::kUnknown : Error::Code::kUnreadable,
                 fmt::format("cannot run `{}`: {}", command.words[0], std::strerror(code))};
  };
  std::unique_ptr<PipedProcess> made(new PipedProcess());
  Pipe in, out, err;
  if (!open_pipe(&in) || !open_pipe(&out) || !open_pipe(&err)) return failure(errno);
  // The child's end of the input must block, and our end must not.
  fcntl(in.read.get(), F_SETFL, 0);
  fcntl(in.write.get(), F_SETFL, O_NONBLOCK);
  if (auto error = made->watcher_.start("sleep 10; kill -s TERM 0; sleep 2; kill -s KILL 0"))
    return *error;
  const int code = spawn(command, in.read.get(), out.write.get(), err.write.get(),
                         made->watcher_.group(), &made->process_);
  if (code != 0) {
    made->process_ = 0;
    return failure(code);
  }
  made->input_ = std::move(in.write);
  made->out_ = std::move(out.read);
  made->err_ = std::move(err.read);
  return made;
}

PipedProcess::~PipedProcess() {
  if (process_ == 0) return;
  close_input();
  wait_for_end(kFarewell);
  if (!has_ended()) {
    kill(-watcher_.group(), SIGTERM);
    wait_for_end(kTermination);
  }
  watcher_.kill_process_group();
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void PipedProcess::send(std::string_view bytes) {
  if (input_.get() >= 0) waiting_ += bytes;
}

void PipedProcess::close_input() {
  input_.reset();
  waiting_.clear();
  written_ = 0;
}

void PipedProcess::write_waiting() {
  const NoBrokenPipeSignal no_signal;
  const ssize_t count =
      ::write(input_.get(), waiting_.data() + written_, waiting_.size() - written_);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count < 0) return close_input();
  written_ += static_cast<std::size_t>(count);
  if (written_ < waiting_.size()) return;
  waiting_.clear();
  written_ = 0;
}

void PipedProcess::read_output() {
  if (out_.get() >= 0) read_available(&out_, &output_);
  if (err_.get() >= 0) read_available(&err_, &errors_);
  if (errors_.size() > 2 * kMaxErrorBytes) errors_.erase(0, errors_.size() - kMaxErrorBytes);
}

// A process that has ended may have left another one that keeps the output open. So the end of the
// process counts, too, after the output at hand was read.
bool PipedProcess::wait(int wait_ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(wait_ms);
  for (;;) {
    const std::size_t before = output_.size();
    const bool ended = has_ended();
    if (!waiting_.empty() && input_.get() >= 0) write_waiting();
    read_output();
    if (output_.size() > before) return true;
    if (ended || out_.get() < 0) return false;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    const bool writes = !waiting_.empty() && input_.get() >= 0;
    std::array<pollfd, 3> files = {pollfd{out_.get(), POLLIN, 0}, pollfd{err_.get(), POLLIN, 0},
                                   pollfd{writes ? input_.get() : -1, POLLOUT, 0}};
    poll(files.data(), files.size(),
         static_cast<int>(std::min<std::int64_t>(left.count(), kLookMs)));
  }
}

std::string PipedProcess::last_errors() const {
  return errors_.substr(errors_.size() - std::min(errors_.size(), kMaxErrorBytes));
}

bool PipedProcess::has_ended() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == process_;
}

void PipedProcess::wait_for_end(std::chrono::milliseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (!has_ended() && std::chrono::steady_clock::now() < end) {
    read_output();
    output_.clear();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (has_ended()) read_output();
}

std::string PipedProcess::how_it_ended() {
  wait_for_end(std::chrono::milliseconds(500));
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != process_) {
    return "it closed its output";
  }
  if (info.si_code == CLD_EXITED) return fmt::format("exit code {}", info.si_status);
  return fmt::format("signal {} ({})", info.si_status, strsignal(info.si_status));
}

std::optional<int> PipedProcess::exit_code() const {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != process_ || info.si_code != CLD_EXITED) {
    return std::nullopt;
  }
  return info.si_status;
}

}  // namespace groma::system
