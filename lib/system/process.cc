// Starts processes, and the watcher process that cleans up after this process has ended.
#include "system/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace groma::system {
namespace {

// Returns our environment with the command's changes: `NAME=value` sets a variable, `NAME` removes
// it.
std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> made;
  const auto name_of = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const bool replaced =
        std::any_of(command.environment.begin(), command.environment.end(),
                    [&](const std::string& own) { return name_of(own) == name_of(*entry); });
    if (!replaced) made.emplace_back(*entry);
  }
  for (const std::string& own : command.environment) {
    if (own.find('=') != own.npos) made.push_back(own);
  }
  return made;
}

// Returns the words to run. With a memory limit, a shell sets the limit for itself and then becomes
// the program. A stricter limit that we already have stays in force.
std::vector<std::string> words_of(const Command& command) {
  std::vector<std::string> words = command.words;
  if (command.memory_bytes <= 0) return words;
  rlimit ours{};
  getrlimit(RLIMIT_AS, &ours);
  const rlim_t bytes = std::min(static_cast<rlim_t>(command.memory_bytes), ours.rlim_max);
  words.insert(words.begin(),
               {"sh", "-c", fmt::format("ulimit -v {} && exec \"$@\"", bytes / 1024), "sh"});
  return words;
}

// Returns the null-terminated array that exec functions take. It points into `words`.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

void FileDescriptor::reset() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

// Opens a pipe whose reading end does not block.
bool open_pipe(Pipe* made) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  made->read = FileDescriptor(ends[0]);
  made->write = FileDescriptor(ends[1]);
  return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

// Starts a process with a clean signal state, so that signals that we block or ignore reach it.
// Returns 0 or an errno. `group` 0 makes a new process group.
int spawn(const Command& command, int in, int out, int err, pid_t group, pid_t* child) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
  if (!command.folder.empty()) {
    posix_spawn_file_actions_addchdir_np(&files, command.folder.c_str());
  }
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setflags(&how,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&how, group);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &all);
  std::vector<std::string> words = words_of(command), environment = environment_of(command);
  const int code = posix_spawnp(child, words[0].c_str(), &files, &how, pointers_to(words).data(),
                                pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  return code;
}

// Starts a shell that waits for the end of a pipe, of which only our process has the other end. The
// shell therefore runs `script` when our process ends, however that happens.
std::optional<Error> CleanupShell::start(const std::string& script, const std::string& word) {
  const auto failure = [](int code) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("cannot run `/bin/sh`: {}", std::strerror(code))};
  };
  Pipe alive;
  const FileDescriptor nothing(open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (nothing.get() < 0 || !open_pipe(&alive)) return failure(errno);
  // The shell's reading end of the pipe must block, because the shell waits for the pipe's end.
  fcntl(alive.read.get(), F_SETFL, 0);
  Command watch;
  watch.words = {"/bin/sh", "-c", "trap '' HUP INT TERM; read -r end; " + script, "sh", word};
  alive_ = std::move(alive.write);
  const int code = spawn(watch, alive.read.get(), nothing.get(), nothing.get(), 0, &process_);
  if (code != 0) return failure(code);
  return std::nullopt;
}

// Kills the watcher, with its group, before it runs its script.
CleanupShell::~CleanupShell() {
  if (process_ == 0) return;
  kill_process_group();
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void CleanupShell::kill_process_group() const { kill(-process_, SIGKILL); }

}  // namespace groma::system
