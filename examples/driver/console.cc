#include "console.h"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>

#include "groma/inspect.h"
#include "groma/io.h"

namespace driver {
namespace {

std::atomic<bool> interrupt_seen{false};

bool color_on(int file) {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(file) != 0 && (no_color == nullptr || *no_color == '\0');
}

std::int64_t now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

class SpdlogSink final : public groma::LogSink {
 public:
  SpdlogSink() : logger_("groma", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger_.set_pattern("%v");
  }
  void log(groma::LogLevel level, std::string_view line) override {
    constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                     spdlog::level::warn, spdlog::level::err};
    std::string shown(line);  // a program's text must not steer the terminal
    for (char& c : shown) {
      if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F) c = '?';
    }
    logger_.log(kLevels[static_cast<int>(level)], "{}", shown);
    logger_.flush();
  }

 private:
  spdlog::logger logger_;
};

}  // namespace

bool color_on_stdout() { return color_on(STDOUT_FILENO); }
bool color_on_stderr() { return color_on(STDERR_FILENO); }

int terminal_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

int print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return kFine;
  print_error("groma: cannot write to standard output\n");
  return kWrongInput;
}

void print_error(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

int fail(const groma::Diagnostics& diags, bool json) {
  if (json) {
    print(groma::to_json({&diags}));
  } else {
    print_error(render(diags, color_on_stderr()));
  }
  return kWrongInput;
}

int refuse(std::string_view message, std::string_view help) {
  print_error(fmt::format("groma: {}\n", message));
  if (!help.empty()) print_error(fmt::format("help: {}\n", help));
  return kWrongInput;
}

bool read_source(const std::string& path, std::optional<groma::Diagnostics>* diags) {
  auto source = groma::Source::read(path);
  if (source) {
    diags->emplace(std::move(source).value());
    return true;
  }
  diags->emplace(groma::Source(path == "-" ? "<stdin>" : path, ""));
  (*diags)->report(groma::DiagId::kUnreadableFile, std::nullopt, source.error().message);
  return false;
}

std::optional<groma::BoundProgram> read_mapping(const std::string& path,
                                                const groma::Machine& machine,
                                                std::optional<groma::Diagnostics>* diags) {
  if (!read_source(path, diags)) return std::nullopt;
  return groma::bind(groma::compile((*diags)->source(), **diags), machine, **diags, &log());
}

std::optional<groma::BoundProgram> bind_default(const groma::Machine& machine,
                                                std::optional<groma::Diagnostics>* diags) {
  diags->emplace(groma::Source("the default mapper", ""));
  groma::Diagnostics empty((*diags)->source());  // that it has no statements
  return groma::bind(groma::compile(empty.source(), empty), machine, **diags);
}

void check_standard_input(const std::vector<std::string>& inputs) {
  const auto reads = std::count_if(inputs.begin(), inputs.end(), [](const std::string& input) {
    return input == "-" || input.starts_with("-:");
  });
  if (reads > 1) throw CLI::ValidationError("FILE", "standard input can be read once");
}

namespace {

// Why what `--machine` or `--app` names cannot be had.
std::nullopt_t refuse(const std::string& spec, const groma::Error& error, groma::DiagId unknown,
                      groma::DiagId otherwise, std::optional<groma::Diagnostics>* diags) {
  using Code = groma::Error::Code;
  const groma::DiagId id = error.code == Code::kUnknown      ? unknown
                           : error.code == Code::kUnreadable ? groma::DiagId::kUnreadableFile
                                                             : otherwise;
  const std::string name = spec == "-" || spec.starts_with("-:") ? "<stdin>" : spec;
  diags->emplace(groma::Source(name, ""));
  // The file's name is said by what stands before every diagnostic, perhaps with values.
  const auto report = [&](const groma::Error& each) {
    std::string_view message = each.message;
    for (const std::string& file : {name, name.substr(0, name.rfind(':'))}) {
      const std::string prefix = fmt::format("`{}`: ", file);
      if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
    }
    groma::Diagnostic& diagnostic = (*diags)->report(id, std::nullopt, message);
    if (!each.help.empty()) diagnostic.help(each.help);
  };
  report(error);
  for (const groma::Error& each : error.more) report(each);
  return std::nullopt;
}

}  // namespace

std::optional<Inputs> read_inputs(const std::string& machine, const std::string& app,
                                  std::optional<groma::Diagnostics>* diags) {
  Inputs inputs;
  if (!machine.empty()) {
    auto read = groma::load_machine(machine);
    if (!read)
      return refuse(machine, read.error(), groma::DiagId::kUnknownMachine,
                    groma::DiagId::kBadMachine, diags);
    inputs.machine = std::move(read).value();
  }
  if (app.empty()) return inputs;
  auto read = groma::load_application(app);
  auto workload =
      read ? groma::Workload::make(*read) : groma::Result<groma::Workload>(read.error());
  if (!workload) {
    return refuse(app, workload.error(), groma::DiagId::kUnknownApplication,
                  groma::DiagId::kBadApplication, diags);
  }
  inputs.app = std::move(read).value();
  inputs.workload = std::move(workload).value();
  return inputs;
}

groma::LogSink& log() {
  static SpdlogSink sink;
  return sink;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt_seen = true; };
  // A second one ends the process at once.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  // Batch systems and terminals that close; not below nohup.
  for (const int signal : {SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

bool interrupted() { return interrupt_seen; }

Deadline::Deadline(double seconds)
    : end_ms_(now_ms() + static_cast<std::int64_t>(1000 * std::min(seconds, 1e9))) {}

bool Deadline::over() const { return now_ms() >= end_ms_; }

ProgressLine::ProgressLine(std::string_view what) : what_(what), begin_ms_(now_ms()) {}

ProgressLine::~ProgressLine() {
  if (shown_ms_ != 0) print_error("\r\x1b[K");
}

bool ProgressLine::due() {
  constexpr std::int64_t kQuietMs = 2000, kBetweenMs = 100;
  const std::int64_t now = now_ms();
  if (now - begin_ms_ < kQuietMs || now - shown_ms_ < kBetweenMs) return false;
  if (isatty(STDERR_FILENO) == 0) return false;
  shown_ms_ = now;
  return true;
}

void ProgressLine::show(std::string_view state) {
  print_error(fmt::format("\r{}: {}\x1b[K", what_, state));
}

void ProgressLine::update(std::int64_t done, std::int64_t all) {
  if (due()) show(fmt::format("{} of {} ({} %)", done, all, done * 100 / all));
}

void ProgressLine::update(std::string_view state) {
  if (!due()) return;
  show(fmt::format("{}{} s", state, (shown_ms_ - begin_ms_) / 1000));
}

}  // namespace driver
