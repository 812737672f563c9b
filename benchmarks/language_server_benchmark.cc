// The time from a keystroke to the diagnostics of the new text, for a program of 1,000 lines: with
// a server in this process over buffers in memory, and with `groma lsp` in a process of its own.
// Each checks that the diagnostics are those of the text.
#include <benchmark/benchmark.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "groma/language_server.h"

extern char** environ;

namespace {

using Json = nlohmann::json;

constexpr const char* kUri = "untitled:benchmark.mapper";
constexpr int kLines = 1000;

// A program of kLines lines: statements, functions and globals in equal parts, about tasks of
// circuit and about others. One mistake gives one diagnostic.
std::string program() {
  std::string text = "Task * GPUS, CPU;\n";
  for (int i = 0; i < kLines / 10; ++i) {
    const std::string n = std::to_string(i);
    text += "# Part " + n + "\nTask task_" + n + " GPU, CPU;\nRegion task_" + n +
            " 0 GPU FBMEM, ZCMEM;\nLayout task_" + n + " * GPU C_order SOA;\nm" + n +
            " = Machine(GPU).merge(0, 1);\ndef f" + n +
            "(Task task) {\n  flat = task.ipoint[0] * m" + n +
            ".size[0] / task.ispace[0];\n  return m" + n + "[flat % m" + n +
            ".size[0]];\n}\nIndexTaskMap task_" + n + " f" + n + ";\n";
  }
  return text;
}

std::string framed(const Json& message) {
  const std::string text = message.dump();
  return "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
}

// Takes the first message from a stream. Returns null if it is not complete.
Json take_message(std::string& stream) {
  const std::size_t end = stream.find("\r\n\r\n");
  if (end == std::string::npos) return nullptr;
  const std::size_t length = std::strtoul(stream.c_str() + stream.find(':') + 1, nullptr, 10);
  if (stream.size() < end + 4 + length) return nullptr;
  Json message = Json::parse(stream.substr(end + 4, length));
  stream.erase(0, end + 4 + length);
  return message;
}

// A buffer between two threads.
class Channel {
 public:
  void write(std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    bytes_ += bytes;
    filled_.notify_one();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    filled_.notify_one();
  }
  std::size_t read(char* buffer, std::size_t size) {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return closed_ || !bytes_.empty(); });
    const std::size_t count = bytes_.copy(buffer, size);
    bytes_.erase(0, count);
    return count;
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::string bytes_;
  bool closed_ = false;
};

// A server in this process.
class InProcess {
 public:
  InProcess()
      : thread_([this] {
          groma::serve_language(
              [this](char* buffer, std::size_t size) { return to_.read(buffer, size); },
              [this](std::string_view bytes) { return from_.write(bytes), true; });
        }) {}
  ~InProcess() {
    to_.close();
    thread_.join();
  }
  void write(std::string_view bytes) { to_.write(bytes); }
  std::size_t read(char* buffer, std::size_t size) { return from_.read(buffer, size); }

 private:
  Channel to_, from_;
  std::thread thread_;
};

// `groma lsp`, which lies in the folder of the command, over pipes.
class InChild {
 public:
  InChild() {
    std::array<int, 2> to{}, from{};
    if (pipe(to.data()) != 0 || pipe(from.data()) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    for (const int file : {to[0], to[1], from[0], from[1]}) {
      posix_spawn_file_actions_addclose(&actions, file);
    }
    std::string command = GROMA_COMMAND, argument = "lsp";
    std::array<char*, 3> words = {command.data(), argument.data(), nullptr};
    started_ = posix_spawn(&child_, command.c_str(), &actions, nullptr, words.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    to_ = to[1];
    from_ = from[0];
  }
  ~InChild() {
    close(to_);
    close(from_);
    if (started_) waitpid(child_, nullptr, 0);
  }
  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(to_, bytes.data(), bytes.size());
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  std::size_t read(char* buffer, std::size_t size) {
    const ssize_t count = ::read(from_, buffer, size);
    return count < 0 ? 0 : static_cast<std::size_t>(count);
  }

 private:
  bool started_ = false;
  pid_t child_ = 0;
  int to_ = -1, from_ = -1;
};

// A session with one open document.
template <typename Server>
class Editor {
 public:
  Editor() {
    send({{"id", 1}, {"method", "initialize"}, {"params", {{"capabilities", Json::object()}}}});
    send({{"method", "textDocument/didOpen"},
          {"params",
           {{"textDocument",
             {{"uri", kUri}, {"languageId", "groma"}, {"version", 0}, {"text", program()}}}}}});
  }
  void send(Json message) {
    message["jsonrpc"] = "2.0";
    server_.write(framed(message));
  }
  // Types one letter into a comment, or removes it. Returns the number of diagnostics of the new
  // text, or -1 if the server ended.
  int type(int version) {
    const int before = version % 2 == 0 ? 1 : 0;
    const Json range = {{"start", {{"line", 501}, {"character", 0}}},
                        {"end", {{"line", 501}, {"character", before}}}};
    send({{"method", "textDocument/didChange"},
          {"params",
           {{"textDocument", {{"uri", kUri}, {"version", version}}},
            {"contentChanges", {{{"range", range}, {"text", before == 1 ? "" : "#"}}}}}}});
    return diagnostics_of(version);
  }
  int diagnostics_of(int version) {
    while (true) {
      const Json message = take_message(stream_);
      if (message.is_null()) {
        std::array<char, 65536> buffer{};
        const std::size_t count = server_.read(buffer.data(), buffer.size());
        if (count == 0) return -1;
        stream_.append(buffer.data(), count);
        continue;
      }
      const bool published = message.value("method", "") == "textDocument/publishDiagnostics";
      if (!published || message["params"].value("version", -1) != version) continue;
      return static_cast<int>(message["params"]["diagnostics"].size());
    }
  }

 private:
  Server server_;
  std::string stream_;
};

template <typename Server>
void keystroke(benchmark::State& state) {
  signal(SIGPIPE, SIG_IGN);
  Editor<Server> editor;
  if (editor.diagnostics_of(0) != 1) state.SkipWithError("not one diagnostic");
  int version = 0;
  for (auto _ : state) {
    if (editor.type(++version) != 1) {
      state.SkipWithError("not one diagnostic");
      break;
    }
  }
}

BENCHMARK(keystroke<InProcess>)->Unit(benchmark::kMillisecond)->UseRealTime();
#ifdef GROMA_COMMAND
BENCHMARK(keystroke<InChild>)->Unit(benchmark::kMillisecond)->UseRealTime();
#endif

}  // namespace
