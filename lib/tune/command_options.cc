// Checks the options of a command evaluator: the commands, the inputs and the numbers. Each error
// says what the option needs.
#include "tune/command_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "groma/text_files.h"

namespace groma::tuning {
namespace {

namespace fs = std::filesystem;

// Returns an error if the placeholders of the commands do not match the inputs. For example, a
// command with `{input}` needs inputs, and inputs need a command with `{input}`.
std::optional<Error> wrong_commands(const CommandEvaluatorOptions& options) {
  const auto wrong = [](std::string message, std::string help = "") {
    return Error{Error::Code::kMalformed, std::move(message), std::move(help)};
  };
  if (options.command.find("{file}") == options.command.npos) {
    return wrong("the command has no `{file}`, so no text would reach it");
  }
  // Inputs and `{input}` are only allowed together. Otherwise each input would give the same
  // measurement.
  const bool takes = options.command.find("{input}") != options.command.npos;
  if (takes && options.inputs.empty()) return wrong("the command has `{input}`, but no inputs");
  if (!takes && !options.inputs.empty()) {
    return wrong("there are inputs, but the command has no `{input}`");
  }
  if (!takes && options.check_command.find("{input}") != options.check_command.npos) {
    return wrong("the correctness command has `{input}`, but there are no inputs");
  }
  // The shell gets a command as a C string, and an input as an environment variable. Neither can
  // hold a NUL byte.
  for (const std::string* text : {&options.command, &options.check_command}) {
    if (text->find('\0') != text->npos) return wrong("a command has a NUL byte in it");
  }
  for (const std::string& input : options.inputs) {
    if (input.find('\0') != input.npos) return wrong("an input has a NUL byte in it");
    if (std::count(options.inputs.begin(), options.inputs.end(), input) > 1) {
      return wrong(fmt::format("the input `{}` is there twice", input));
    }
  }
  return std::nullopt;
}

// Returns an error if a number is out of range, if the name of the file is not valid, or if the
// folder does not exist.
std::optional<Error> wrong_options(const CommandEvaluatorOptions& options) {
  const auto wrong = [](std::string message, Error::Code code = Error::Code::kMalformed) {
    return Error{code, std::move(message)};
  };
  if (options.repeats < 1 || options.repeats > kMaxCommandRuns) {
    return wrong(
        fmt::format("there are 1 to {} repeats, not {}", kMaxCommandRuns, options.repeats));
  }
  if (options.warmup < 0 || options.warmup > kMaxCommandRuns) {
    return wrong(
        fmt::format("there are 0 to {} warm-up runs, not {}", kMaxCommandRuns, options.warmup));
  }
  if (options.results) {
    if (const auto results = Results::make(*options.results); !results) return results.error();
  }
  if (options.timeout_ms <= 0) return wrong("the time limit of a run is above 0");
  if (options.memory_bytes < 0) return wrong("the memory of a run is not below 0");
  const bool measures = !options.metric_pattern.empty() || !options.metric_pointer.empty();
  if (options.higher_is_better && !measures) {
    return wrong("of seconds fewer are better; a metric is missing");
  }
  if (!options.file_name.empty() && !is_text_file_name(options.file_name)) {
    return wrong(fmt::format("`{}` cannot be the name of the text's file", options.file_name));
  }
  std::error_code code;
  if (!options.folder.empty() && !fs::is_directory(options.folder, code)) {
    return wrong(fmt::format("`{}` is not a folder", options.folder), Error::Code::kUnknown);
  }
  return std::nullopt;
}

// Returns the number that the text is, at most kMaxWorkers + 1; nullopt if it is not one.
std::optional<int> number_of(const std::string& text) {
  int count = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    count = std::min(10 * count + (c - '0'), kMaxWorkers + 1);
  }
  return text.empty() ? std::nullopt : std::optional(count);
}

// Returns an error if an element of the workers is neither a number above 0 nor a command, or if
// there are too many.
std::optional<Error> wrong_workers(const CommandEvaluatorOptions& options) {
  const auto wrong = [](std::string message) {
    return Error{Error::Code::kMalformed, std::move(message)};
  };
  for (const std::string& each : options.workers) {
    const bool blank = each.find_first_not_of(" \t\n") == each.npos;
    if (blank || number_of(each) == 0 || each.find('\0') != each.npos) {
      return wrong(fmt::format("`{}` is neither a number of workers nor a command", each));
    }
  }
  if (worker_count(options.workers) > kMaxWorkers)
    return wrong(fmt::format("there are 1 to {} workers", kMaxWorkers));
  const WorkerPatience& patience = options.patience;
  if (patience.answer_ms <= 0 || patience.first_pause_ms < 0 || patience.restarts < 0) {
    return wrong("the times for workers are above 0");
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> connections_of(const std::vector<std::string>& workers) {
  std::vector<std::string> connections;
  for (const std::string& each : workers) {
    const auto count = number_of(each);
    connections.insert(connections.end(), static_cast<std::size_t>(count.value_or(1)),
                       count ? "" : each);
    connections.resize(std::min(connections.size(), std::size_t{kMaxWorkers} + 1));
  }
  if (connections.empty()) connections.emplace_back();
  return connections;
}

int worker_count(const std::vector<std::string>& workers) {
  return static_cast<int>(connections_of(workers).size());
}

// Checks the commands first, because an error in a command is the more likely mistake and explains
// the others.
std::optional<Error> why_invalid(const CommandEvaluatorOptions& options) {
  if (auto error = wrong_commands(options)) return error;
  if (auto error = wrong_workers(options)) return error;
  return wrong_options(options);
}

}  // namespace groma::tuning
