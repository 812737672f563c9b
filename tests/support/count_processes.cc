// A library to preload: writes a line into the file GROMA_PROCESSES for each process that is
// started, however that is done.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

void note(const char* how, const char* what) {
  const char* const path = std::getenv("GROMA_PROCESSES");
  if (path == nullptr) return;
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) abort();  // what is not counted would look like nothing
  const std::string line = std::string(how) + " " + (what == nullptr ? "" : what) + "\n";
  if (write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) abort();
  close(file);
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));  // NOLINT: as POSIX has it
}

}  // namespace

extern "C" {

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* files,
                const posix_spawnattr_t* how, char* const* words, char* const* environment) {
  note("posix_spawn", path);
  return next<decltype(&posix_spawn)>("posix_spawn")(process, path, files, how, words, environment);
}

int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* files,
                 const posix_spawnattr_t* how, char* const* words, char* const* environment) {
  note("posix_spawnp", file);
  return next<decltype(&posix_spawnp)>("posix_spawnp")(process, file, files, how, words,
                                                       environment);
}

pid_t fork() {
  note("fork", nullptr);
  return next<decltype(&fork)>("fork")();
}

pid_t vfork() {
  note("vfork", nullptr);
  return fork();
}

int system(const char* line) {
  note("system", line);
  return next<decltype(&system)>("system")(line);
}

FILE* popen(const char* line, const char* how) {
  note("popen", line);
  return next<decltype(&popen)>("popen")(line, how);
}

int execve(const char* path, char* const* words, char* const* environment) {
  note("execve", path);
  return next<decltype(&execve)>("execve")(path, words, environment);
}

}  // extern "C"
