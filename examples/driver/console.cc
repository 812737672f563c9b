// Terminals, input and output, Ctrl-C and progress lines for all subcommands.
#include "console.h"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>

#include "groma/inspect.h"

namespace driver {
namespace {

// True after Ctrl-C, SIGTERM or SIGHUP. The signal handler sets this flag and may do nothing else.
std::atomic<bool> interrupt_seen{false};

// Returns true if the file is a terminal and NO_COLOR is unset or empty.
bool color_on(int file) {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(file) != 0 && (no_color == nullptr || *no_color == '\0');
}

// Returns the time in milliseconds of a clock that never goes backwards.
std::int64_t now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// Returns the width of the terminal, or 100 if the file is not a terminal.
int columns_of_terminal(int file) {
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

// Passes log lines to spdlog. Hidden characters in a line are replaced before, and each line is
// flushed so that it appears in the right order with other output.
class SpdlogSink final : public groma::LogSink {
 public:
  SpdlogSink() : logger_("groma", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger_.set_pattern("%v");
  }
  void log(groma::LogLevel level, std::string_view line) override {
    constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                     spdlog::level::warn, spdlog::level::err};
    logger_.log(kLevels[static_cast<int>(level)], "{}", groma::harmless(line));
    logger_.flush();
  }

 private:
  spdlog::logger logger_;
};

}  // namespace

bool color_on_stdout() { return color_on(STDOUT_FILENO); }
bool color_on_stderr() { return color_on(STDERR_FILENO); }

int terminal_columns() { return columns_of_terminal(STDOUT_FILENO); }
std::size_t error_columns() { return static_cast<std::size_t>(columns_of_terminal(STDERR_FILENO)); }

bool can_rewrite_lines() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && term != nullptr && *term != '\0' &&
         std::string_view(term) != "dumb";
}

int pass_on(std::string_view bytes) {
  // A full disk may show only when the buffer is flushed.
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
  if (written && std::fflush(stdout) == 0) return kFine;
  print_error("groma: cannot write to standard output\n");
  return kWrongInput;
}

void pass_on_error(std::string_view bytes) { std::fwrite(bytes.data(), 1, bytes.size(), stderr); }

int print(std::string_view text) { return pass_on(groma::harmless_lines(text)); }
int print_painted(std::string_view text) {
  return pass_on(groma::harmless_lines(text, color_on_stdout()));
}

void print_error(std::string_view text) { pass_on_error(groma::harmless_lines(text)); }
void print_painted_error(std::string_view text) {
  pass_on_error(groma::harmless_lines(text, color_on_stderr()));
}

void show_diagnostics(const groma::Diagnostics& diags) {
  print_painted_error(render(diags, color_on_stderr()));
}

void rewrite_line(std::string_view text) { pass_on_error("\r\x1b[K" + groma::harmless(text)); }

// With --json, the diagnostics are the output of the command. Otherwise they go to standard error.
int fail(const groma::Diagnostics& diags, bool json) {
  if (json) {
    print(groma::to_json({&diags}));
  } else {
    show_diagnostics(diags);
  }
  return kWrongInput;
}

// The help stands on a line of its own, as below a diagnostic.
int refuse(std::string_view message, std::string_view help) {
  print_error(fmt::format("groma: {}\n", message));
  if (!help.empty()) print_error(fmt::format("help: {}\n", help));
  return kWrongInput;
}

// Returns the sink for log lines. The sink is made at the first call, and lives until the process
// ends.
groma::LogSink& log() {
  static SpdlogSink sink;
  return sink;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt_seen = true; };
  // A second Ctrl-C ends the process at once.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  // SIGTERM comes from batch systems, and SIGHUP from a terminal that closes. A signal that was
  // ignored before stays ignored, as `nohup` wants it.
  for (const int signal : {SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

bool interrupted() { return interrupt_seen; }

// The limit of 1e9 seconds keeps the number of milliseconds within 64 bits. With HUGE_VAL, the
// deadline is therefore never reached.
Deadline::Deadline(double seconds)
    : end_ms_(now_ms() + static_cast<std::int64_t>(1000 * std::min(seconds, 1e9))) {}

bool Deadline::over() const { return now_ms() >= end_ms_; }

double Deadline::seconds_left() const {
  return 1e-3 * static_cast<double>(std::max<std::int64_t>(0, end_ms_ - now_ms()));
}

ProgressLine::ProgressLine(std::string_view what) : what_(what), begin_ms_(now_ms()) {}

// Removes the progress line from the terminal if the line was ever shown.
ProgressLine::~ProgressLine() {
  if (shown_ms_ != 0) rewrite_line("");
}

// Returns false in the first two seconds, and then at most ten times a second returns true. Short
// work therefore shows no line.
bool ProgressLine::due() {
  constexpr std::int64_t kQuietMs = 2000, kBetweenMs = 100;
  const std::int64_t now = now_ms();
  if (now - begin_ms_ < kQuietMs || now - shown_ms_ < kBetweenMs) return false;
  if (!can_rewrite_lines()) return false;
  shown_ms_ = now;
  return true;
}

void ProgressLine::show(std::string_view state) {
  rewrite_line(fmt::format("{}: {}", what_, state));
}

void ProgressLine::update(std::int64_t done, std::int64_t all) {
  if (due()) show(fmt::format("{} of {} ({} %)", done, all, done * 100 / all));
}

// The elapsed time shows that the command still works.
void ProgressLine::update(std::string_view state) {
  if (!due()) return;
  show(fmt::format("{}{} s", state, (shown_ms_ - begin_ms_) / 1000));
}

}  // namespace driver
