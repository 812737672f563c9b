// Terminals, input and output, Ctrl-C and progress lines for all subcommands.
#include "console.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <system_error>

#include "groma/inspect.h"
#include "groma/io.h"

namespace driver {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> interrupt_seen{false};

bool color_on(int file) {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(file) != 0 && (no_color == nullptr || *no_color == '\0');
}

std::int64_t now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

int columns_of_terminal(int file) {
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

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

int fail(const groma::Diagnostics& diags, bool json) {
  if (json) {
    print(groma::to_json({&diags}));
  } else {
    show_diagnostics(diags);
  }
  return kWrongInput;
}

int refuse(std::string_view message, std::string_view help) {
  print_error(fmt::format("groma: {}\n", message));
  if (!help.empty()) print_error(fmt::format("help: {}\n", help));
  return kWrongInput;
}

// Reads the file in blocks of 256 KB.
bool read_pieces(const std::string& path, const std::function<bool(std::string_view)>& hear) {
  const int file = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  auto bytes = std::make_unique<std::array<char, std::size_t{256} << 10>>();
  ssize_t count = file < 0 ? -1 : 1;
  while (count > 0 && !interrupted()) {
    count = ::read(file, bytes->data(), bytes->size());
    if (count < 0 && errno == EINTR)
      count = 1;
    else if (count > 0 && !hear({bytes->data(), static_cast<std::size_t>(count)}))
      count = 0;
  }
  const int failure = errno;
  if (file > STDIN_FILENO) ::close(file);
  if (count >= 0) return true;
  print_error(fmt::format("groma: cannot read `{}`: {}\n", path, std::strerror(failure)));
  return false;
}

std::string shown_name(const std::string& spec) {
  return spec == "-" || spec.starts_with("-:") ? "<stdin>" : spec;
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
  groma::Diagnostics empty((*diags)->source());  // drops the warning that there are no statements
  return groma::bind(groma::compile(empty.source(), empty), machine, **diags);
}

std::string not_empty(const std::string& text) { return text.empty() ? "it is empty" : ""; }

std::string is_number(const std::string& text) {
  return text.find_first_of("nN") == text.npos ? "" : "it is no number";
}

std::string is_count(const std::string& text) {
  const bool fits =
      !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == text.npos;
  return fits ? "" : "it is no whole number from 0 to 10^18 - 1";
}

std::string is_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seed);
  const bool fits = code == std::errc() && end == text.data() + text.size();
  return fits ? "" : "it is no whole number from 0 to 2^64 - 1";
}

std::string is_above_0(const std::string& text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool fits =
      code == std::errc() && end == text.data() + text.size() && std::isfinite(value) && value > 0;
  return fits ? "" : "it is no number above 0";
}

void check_standard_input(const std::vector<std::string>& inputs) {
  const auto reads = std::count_if(inputs.begin(), inputs.end(), [](const std::string& input) {
    return input == "-" || input.starts_with("-:");
  });
  if (reads > 1) throw CLI::ValidationError("FILE", "standard input can be read once");
}

namespace {

// Returns true if writing one file would write the other. Devices and pipes have no content to
// lose.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code code;
  if (fs::exists(a, code) && fs::exists(b, code)) {
    return fs::is_regular_file(a, code) && fs::equivalent(a, b, code);
  }
  return fs::weakly_canonical(fs::absolute(a, code), code) ==
         fs::weakly_canonical(fs::absolute(b, code), code);
}

}  // namespace

void check_written(const std::vector<WrittenFile>& written, const std::vector<std::string>& read) {
  for (auto each = written.begin(); each != written.end(); ++each) {
    if (each->path.empty() || each->path == "-") continue;
    for (const std::string& spec : read) {
      for (const std::string& path : {spec, spec.substr(0, spec.rfind(':'))}) {
        std::error_code code;
        if (!fs::exists(path, code) || !same_file(each->path, path)) continue;
        throw CLI::ValidationError(
            each->option, fmt::format("`{}` is read, it would be overwritten", visible(path)));
      }
    }
    for (auto other = written.begin(); other != each; ++other) {
      if (other->path.empty() || !same_file(each->path, other->path)) continue;
      throw CLI::ValidationError(each->option, fmt::format("it is the file of {}", other->option));
    }
  }
}

std::optional<groma::Error> unwritable(const std::vector<WrittenFile>& written) {
  for (const WrittenFile& each : written) {
    if (each.path.empty() || each.path == "-") continue;
    const auto error = [&](const std::string& why) {
      return groma::Error{groma::Error::Code::kUnreadable,
                          fmt::format("cannot write `{}`: {}", each.path, why),
                          fmt::format("name a file: {} FILE", each.option)};
    };
    std::error_code code;
    const fs::path file = fs::weakly_canonical(fs::absolute(each.path, code), code);
    if (fs::is_directory(file, code)) return error("it is a folder");
    const bool exists = fs::exists(file, code);
    if (exists && access(file.c_str(), W_OK) != 0) return error(std::strerror(errno));
    // A regular file is replaced by a new file in the same folder.
    const bool beside = !exists || fs::is_regular_file(file, code);
    if (!beside || access(file.parent_path().c_str(), W_OK | X_OK) == 0) continue;
    return error(std::strerror(errno));
  }
  return std::nullopt;
}

namespace {

// Reports why the machine or application that an option names is unusable.
std::nullopt_t refuse(const std::string& spec, const groma::Error& error, groma::DiagId unknown,
                      groma::DiagId otherwise, std::optional<groma::Diagnostics>* diags) {
  using Code = groma::Error::Code;
  const groma::DiagId id = error.code == Code::kUnknown      ? unknown
                           : error.code == Code::kUnreadable ? groma::DiagId::kUnreadableFile
                                                             : otherwise;
  const std::string name = shown_name(spec);
  diags->emplace(groma::Source(name, ""));
  // Every diagnostic begins with the file's name, so the message leaves it out.
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

// Removes the program mapper's demands on the layouts of these tasks. Fails if the application does
// not have one of the tasks.
std::optional<groma::Error> override_layouts(const groma::LayoutOverrides& overrides,
                                             groma::Application& app) {
  for (const std::string& name : overrides.tasks) {
    const auto has_name = [&](const groma::AppTask& task) { return task.name == name; };
    if (name == "*" || std::any_of(app.tasks.begin(), app.tasks.end(), has_name)) continue;
    return groma::Error{
        groma::Error::Code::kUnknown,
        fmt::format("`--override-layouts={}`: the application `{}` has no such task", name,
                    app.name)};
  }
  for (groma::AppTask& task : app.tasks) {
    if (!overrides.has(task.name)) continue;
    for (groma::AppVariant& variant : task.variants) {
      const auto forgotten = std::erase_if(variant.demands, [](const groma::LayoutDemand& demand) {
        return demand.source == groma::DemandSource::kMapper;
      });
      variant.chosen_by_mapper = variant.chosen_by_mapper || forgotten > 0;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Inputs> read_inputs(const std::string& machine, const std::string& app,
                                  std::optional<groma::Diagnostics>* diags,
                                  const ReadOptions& options) {
  Inputs inputs;
  if (!machine.empty()) {
    auto read = groma::load_machine(machine);
    if (!read)
      return refuse(machine, read.error(), groma::DiagId::kUnknownMachine,
                    groma::DiagId::kBadMachine, diags);
    inputs.machine = std::move(read).value();
  }
  if (app.empty()) return inputs;
  auto read = groma::load_application(app, options.stop);
  if (read) {
    if (const auto error = override_layouts(options.override_layouts, *read)) read = *error;
  }
  auto workload = read ? groma::Workload::make(*read, {}, options.stop)
                       : groma::Result<groma::Workload>(read.error());
  if (!workload) {
    groma::Error error = workload.error();
    if (error.code == groma::Error::Code::kStopped) {
      error.message = "reading it takes longer than `--time` allows";
    }
    if (error.help.empty() && app.ends_with(".mapper")) {
      error.help =
          "an application is JSON or a benchmark's name; a mapping is what `run` and "
          "`check` are given by itself, and `tune` with `--start`";
    }
    return refuse(app, error, groma::DiagId::kUnknownApplication, groma::DiagId::kBadApplication,
                  diags);
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
  // A second Ctrl-C ends the process at once.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  // Signals of batch systems and of closing terminals. Ignored if they were ignored before (nohup).
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

double Deadline::seconds_left() const {
  return 1e-3 * static_cast<double>(std::max<std::int64_t>(0, end_ms_ - now_ms()));
}

ProgressLine::ProgressLine(std::string_view what) : what_(what), begin_ms_(now_ms()) {}

ProgressLine::~ProgressLine() {
  if (shown_ms_ != 0) rewrite_line("");
}

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

void ProgressLine::update(std::string_view state) {
  if (!due()) return;
  show(fmt::format("{}{} s", state, (shown_ms_ - begin_ms_) / 1000));
}

}  // namespace driver
