// The protocol with the shell of a worker. Each request is one line of shell code; answers begin
// with a random word (nonce) that the user's commands do not know (worker_script.h).
#include "tune/worker_shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <random>
#include <sstream>

#include "groma/harmless.h"
#include "tune/worker_script.h"

namespace groma::tuning {
namespace {

using Clock = std::chrono::steady_clock;
using CommandEnd = CommandOutcome::End;

// The longest wait between two ticks.
constexpr int kTickMs = 20;
// Limit on what the connection may print before it answers, such as a greeting.
constexpr std::size_t kMaxSkippedBytes = std::size_t{1} << 20;
// How long the shell may take to kill a command when the search is stopped.
constexpr std::int64_t kStopMs = 5000;
// `timeout` on the worker ends a command this long after its deadline.
constexpr std::int64_t kBackstopS = 30;
// A shell ends with these exit codes if it cannot run a command.
constexpr int kNoPermission = 126, kNoProgram = 127;
// The exit code of a shell command that was ended by a signal is 128 plus the signal.
constexpr int kSignalBase = 128, kMaxSignal = 64, kKilled = 9;

// Returns a random word of 32 letters and digits.
std::string random_word() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

// Quotes a text for the shell. A line feed becomes "$nl", so that a request stays one line.
std::string shell_quoted(std::string_view text) {
  std::string made = "'";
  for (const char c : text) {
    if (c == '\'') {
      made += "'\\''";
    } else if (c == '\n') {
      made += "'\"$nl\"'";
    } else {
      made += c;
    }
  }
  return made + "'";
}

// Returns the last line of the text that is not empty.
std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const std::size_t begin = text.rfind('\n');
  return harmless(begin == text.npos ? text : text.substr(begin + 1));
}

std::int64_t ms_since(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
}

}  // namespace

// The first request is the script itself. Nothing else is sent before its answer, because a shell
// may read its program in blocks.
Result<std::unique_ptr<WorkerShell>> WorkerShell::start(const Command& connect,
                                                        std::int64_t answer_ms, const Stop& stop) {
  auto process = system::PipedProcess::start(connect);
  if (!process) return process.error();
  std::unique_ptr<WorkerShell> shell(new WorkerShell(std::move(*process), answer_ms));
  const std::string nonce = random_word();
  shell->send_line("groma_nonce=" + nonce);
  shell->send_line(kWorkerScript);
  const auto ready = shell->answer(nonce, 0, [&] { return !stop || !stop(); });
  if (!ready && !shell->lost_) return Error{Error::Code::kStopped, "it was stopped"};
  if (!ready) {
    const int code = shell->process_->exit_code().value_or(0);
    const bool unknown = code == kNoProgram || code == kNoPermission;
    return Error{unknown ? Error::Code::kUnknown : Error::Code::kUnreadable, *shell->lost_};
  }
  constexpr std::string_view kReady = "ready /", kMissing = "missing ";
  if (ready->starts_with(kMissing)) {
    return Error{Error::Code::kUnknown,
                 "it has no " + harmless(std::string_view(*ready).substr(kMissing.size()))};
  }
  if (!ready->starts_with(kReady)) {
    return Error{Error::Code::kUnreadable, "its first answer is not one: " + harmless(*ready)};
  }
  shell->folder_ = ready->substr(kReady.size() - 1);
  return shell;
}

void WorkerShell::lose(std::string why) {
  if (lost_) return;
  const std::string words = last_line(process_->last_errors());
  lost_ = std::move(why) + (words.empty() ? "" : ": " + words);
  process_->close_input();
}

std::optional<std::string> WorkerShell::take_line(const std::string& nonce) {
  std::string& output = process_->output();
  for (std::size_t end = output.find('\n'); end != output.npos; end = output.find('\n')) {
    std::string line = output.substr(0, end);
    output.erase(0, end + 1);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.starts_with(nonce + " ")) {
      skipped_bytes_ = 0;
      return line.substr(nonce.size() + 1);
    }
    skipped_bytes_ += end + 1;
  }
  return std::nullopt;
}

std::optional<std::string> WorkerShell::answer(const std::string& nonce, std::int64_t silent_ms,
                                               const Tick& tick) {
  auto heard = Clock::now();
  for (std::size_t before = process_->output().size(); !lost_; before = process_->output().size()) {
    const bool open = process_->wait(kTickMs);
    if (process_->output().size() != before) heard = Clock::now();
    if (auto line = take_line(nonce)) return line;
    if (!open) {
      lose("the connection ended, " + process_->how_it_ended());
    } else if (skipped_bytes_ + process_->output().size() > kMaxSkippedBytes) {
      lose("it prints something else than answers");
    } else if (silent_ms > 0 && ms_since(heard) > silent_ms) {
      lose(fmt::format("it did not answer for {:.3g} s", static_cast<double>(silent_ms) / 1e3));
    } else if (tick && !tick()) {
      break;
    }
  }
  return std::nullopt;
}

std::optional<std::string> WorkerShell::read_bytes(std::size_t count) {
  std::string& output = process_->output();
  auto heard = Clock::now();
  while (output.size() < count && !lost_) {
    const std::size_t before = output.size();
    if (!process_->wait(kTickMs)) {
      lose("the connection ended in the middle of an answer, " + process_->how_it_ended());
    } else if (output.size() != before) {
      heard = Clock::now();
    } else if (ms_since(heard) > answer_ms_) {
      lose("the connection stopped in the middle of an answer");
    }
  }
  if (output.size() < count) return std::nullopt;
  std::string bytes = output.substr(0, count);
  output.erase(0, count);
  return bytes;
}

// The text follows the request only after the answer "send", so that a program on the worker that
// reads ahead cannot take it.
Result<std::string> WorkerShell::store(std::span<const NamedText> files, const Stop& stop) {
  const std::string folder = fmt::format("{}/{}", folder_, ++stored_);
  const Tick tick = [&] { return !stop || !stop(); };
  for (const NamedText& file : files) {
    const std::string nonce = random_word();
    const std::string path = fmt::format("{}/{}", folder, file.name);
    send_line(fmt::format(
        "mkdir -p {1} && echo {0} send && head -c {3} >{2} && [ $(wc -c <{2}) -eq {3} ] && "
        "echo {0} ok || echo {0} failed",
        nonce, shell_quoted(folder), shell_quoted(path), file.text.size()));
    auto line = answer(nonce, answer_ms_, tick);
    if (line && *line == "send") {
      process_->send(file.text);
      line = answer(nonce, answer_ms_, tick);
    }
    if (line && *line == "ok") continue;
    // A worker whose disk is full says nothing about a text.
    lose(line ? "it cannot store a text" : "it was stopped");
    return lost_error();
  }
  return fmt::format("{}/{}", folder, files.front().name);
}

bool WorkerShell::has_file(const std::string& path) {
  if (lost_) return false;
  const std::string nonce = random_word();
  send_line(fmt::format("[ -e {1} ] && echo {0} yes || echo {0} no", nonce, shell_quoted(path)));
  const auto line = answer(nonce, answer_ms_, {});
  return line && *line == "yes";
}

// Needs no answer. The line is sent with the next request.
void WorkerShell::remove_folder_of(const std::string& path) {
  if (lost_) return;
  send_line("groma_remove " + shell_quoted(path.substr(0, path.rfind('/'))));
  process_->wait(0);
}

Result<CommandOutcome> WorkerShell::run(const Job& job) {
  const std::string nonce = random_word();
  const std::int64_t backstop_s = (job.deadline_ms + 999) / 1000 + kBackstopS;
  std::string line = fmt::format("groma_run; ( cd {} 2>/dev/null", shell_quoted(job.folder));
  for (const std::string& entry : job.environment) line += "; export " + shell_quoted(entry);
  line += fmt::format("; groma_job {} {}", nonce, backstop_s);
  if (job.memory_bytes > 0) {
    line += fmt::format(" sh -c 'ulimit -v {} && exec \"$@\"' sh", job.memory_bytes / 1024);
  }
  send_line(line + " sh -c " + shell_quoted(job.script) + " ) & groma_runner=$!");
  const auto stopped = [&job] { return job.stop && job.stop(); };
  // The reason why this function asked the shell to kill the job, and when it did.
  std::optional<CommandEnd> cause;
  Clock::time_point asked;
  const auto kill_job = [&](CommandEnd why) {
    if (cause) return;
    cause = why;
    asked = Clock::now();
    send_line("groma_kill");
  };
  const auto began = answer(nonce, answer_ms_, [&] {
    if (stopped()) kill_job(CommandEnd::kStopped);
    return !cause || ms_since(asked) < kStopMs;
  });
  if (began && *began != "started") lose("it cannot run a command");
  const auto begin = Clock::now();
  // The job may be silent for as long as it likes until its deadline.
  const auto end_line = answer(nonce, 0, [&] {
    if (stopped()) kill_job(CommandEnd::kStopped);
    if (ms_since(begin) >= job.deadline_ms) kill_job(CommandEnd::kDeadline);
    return !cause || ms_since(asked) < (cause == CommandEnd::kStopped ? kStopMs : answer_ms_);
  });
  if (!end_line) {
    lose(cause == CommandEnd::kDeadline ? "it did not end a command at its time limit"
                                        : "it was stopped");
    return lost_error();
  }
  auto outcome = outcome_of(*end_line, nonce);
  if (!outcome) return outcome;
  const bool killed =
      outcome->end == CommandEnd::kSignalled && outcome->code == kKilled && cause.has_value();
  if (killed) outcome->end = *cause;
  return outcome;
}

Result<CommandOutcome> WorkerShell::outcome_of(const std::string& end_line,
                                               const std::string& nonce) {
  std::istringstream words(end_line);
  std::string end;
  int code = 0;
  double begin_s = 0, end_s = 0;
  std::array<std::int64_t, 4> sizes{};
  words >> end >> code >> begin_s >> end_s;
  for (std::int64_t& size : sizes) words >> size;
  const bool valid = !words.fail() && end == "end" &&
                     std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) {
                       return size >= 0 && size <= kWorkerOutputHalf;
                     });
  if (!valid) {
    lose("its answer to a command is damaged");
    return lost_error();
  }
  CommandOutcome outcome;
  outcome.code = code;
  if (code > kSignalBase && code <= kSignalBase + kMaxSignal) {
    outcome.end = CommandEnd::kSignalled;
    outcome.code = code - kSignalBase;
  }
  outcome.seconds = std::max(0.0, end_s - begin_s);
  CommandOutput* const outputs[] = {&outcome.out, &outcome.err};
  for (std::size_t i = 0; i < 2; ++i) {
    CommandOutput& output = *outputs[i];
    for (std::size_t part = 2 * i; part < 2 * i + 2; ++part) {
      const auto bytes = read_bytes(static_cast<std::size_t>(sizes[part]));
      if (!bytes) return lost_error();
      output.text += *bytes;
      if (part == 2 * i) output.cut_at = output.text.size();
    }
    if (sizes[2 * i] == kWorkerOutputHalf && sizes[2 * i + 1] == kWorkerOutputHalf) {
      output.left_out_bytes = 1;
    }
  }
  // A command that changes the files of its output shifts the bytes of the answer.
  const auto done = read_bytes(nonce.size() + 6);
  if (!done) return lost_error();
  if (*done != nonce + " done\n") {
    lose("its answer to a command is damaged");
    return lost_error();
  }
  return outcome;
}

}  // namespace groma::tuning
