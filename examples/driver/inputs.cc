// Reads the inputs of commands, and checks the values of options.
#include "inputs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "console.h"
#include "groma/io.h"

namespace driver {

namespace fs = std::filesystem;

// Reads in blocks of 256 KiB. A read that a signal interrupted is repeated, unless the signal was
// Ctrl-C.
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

// Reads the file into `*diags`. On failure, returns false; `*diags` then has the error, and its
// source has the file's name and an empty text.
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
  // Compiling an empty source warns that there are no statements. This warning is dropped.
  groma::Diagnostics empty((*diags)->source());
  return groma::bind(groma::compile(empty.source(), empty), machine, **diags);
}

std::string not_empty(const std::string& text) { return text.empty() ? "it is empty" : ""; }

// The option parser itself accepts only numbers, so only `nan` and `inf` remain to be rejected.
std::string is_number(const std::string& text) {
  return text.find_first_of("nN") == text.npos ? "" : "it is not a number";
}

std::string is_count(const std::string& text) {
  const bool fits =
      !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == text.npos;
  return fits ? "" : "it is not a whole number from 0 to 10^18 - 1";
}

std::string is_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seed);
  const bool fits = code == std::errc() && end == text.data() + text.size();
  return fits ? "" : "it is not a whole number from 0 to 2^64 - 1";
}

std::string is_above_0(const std::string& text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool fits =
      code == std::errc() && end == text.data() + text.size() && std::isfinite(value) && value > 0;
  return fits ? "" : "it is not a number above 0";
}

void check_standard_input(const std::vector<std::string>& inputs) {
  const auto reads = std::count_if(inputs.begin(), inputs.end(), [](const std::string& input) {
    return input == "-" || input.starts_with("-:");
  });
  if (reads > 1) throw CLI::ValidationError("FILE", "standard input can be read only once");
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
  // Compare each written file with all that is read, and with the files written before it.
  for (auto each = written.begin(); each != written.end(); ++each) {
    if (each->path.empty() || each->path == "-") continue;
    for (const std::string& spec : read) {
      // An application may be given as FILE:n=4, so the part before the colon is compared, too.
      for (const std::string& path : {spec, spec.substr(0, spec.rfind(':'))}) {
        std::error_code code;
        if (!fs::exists(path, code) || !same_file(each->path, path)) continue;
        throw CLI::ValidationError(
            each->option,
            fmt::format("`{}` is an input file and would be overwritten", visible(path)));
      }
    }
    for (auto other = written.begin(); other != each; ++other) {
      if (other->path.empty() || !same_file(each->path, other->path)) continue;
      throw CLI::ValidationError(each->option,
                                 fmt::format("the same file is given with {}", other->option));
    }
  }
}

std::optional<groma::Error> first_unwritable_file(const std::vector<WrittenFile>& written) {
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
    // A regular file is replaced by a new file, so its folder must be writable.
    const bool beside = !exists || fs::is_regular_file(file, code);
    if (!beside || access(file.parent_path().c_str(), W_OK | X_OK) == 0) continue;
    return error(std::strerror(errno));
  }
  return std::nullopt;
}

namespace {

// Reports why the machine or application that an option names cannot be used. `unknown` is the id
// of the diagnostic for an unknown name, and `otherwise` the id for all other mistakes. Creates
// *diags.
std::nullopt_t refuse_input(const std::string& spec, const groma::Error& error,
                            groma::DiagId unknown, groma::DiagId otherwise,
                            std::optional<groma::Diagnostics>* diags) {
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

}  // namespace

// Reads the machine first. Stops at the first input that cannot be read.
std::optional<Inputs> read_inputs(const std::string& machine, const std::string& app,
                                  std::optional<groma::Diagnostics>* diags,
                                  const ReadOptions& options) {
  Inputs inputs;
  if (!machine.empty()) {
    auto read = groma::load_machine(machine, &log());
    if (!read)
      return refuse_input(machine, read.error(), groma::DiagId::kUnknownMachine,
                          groma::DiagId::kBadMachine, diags);
    inputs.machine = std::move(read).value();
  }
  if (app.empty()) return inputs;
  auto read = groma::load_application(app, options.stop);
  if (read) {
    if (const auto error = groma::override_layouts(options.override_layouts, *read)) read = *error;
  }
  // The workload fixes the values of the parameters, and checks the application as a whole.
  auto workload = read ? groma::Workload::make(*read, {}, options.stop)
                       : groma::Result<groma::Workload>(read.error());
  if (!workload) {
    groma::Error error = workload.error();
    if (error.code == groma::Error::Code::kStopped) {
      error.message = "reading it takes longer than `--time` allows";
    }
    // A common mistake is to pass a mapping as the application.
    if (error.help.empty() && app.ends_with(".mapper")) {
      error.help =
          "an application is a JSON file or the name of a benchmark; give a mapping as FILE to "
          "`run` and `check`, or with `--start` to `tune`";
    }
    return refuse_input(app, error, groma::DiagId::kUnknownApplication,
                        groma::DiagId::kBadApplication, diags);
  }
  inputs.app = std::move(read).value();
  inputs.workload = std::move(workload).value();
  return inputs;
}

}  // namespace driver
