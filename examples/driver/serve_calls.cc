// What the calls of all tools share: folders, child processes, limits, endpoints.
#include "serve_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "groma/harmless.h"
#include "groma/spelling.h"

namespace driver {
namespace {

namespace fs = std::filesystem;
using groma::CommandOutcome;
using groma::Error;
using groma::Result;
using groma::serve::Call;
using groma::serve::ToolResult;

// How long a command may take to end after SIGINT.
constexpr std::int64_t kFarewellMs = 10'000;
// Limit on the output of a command that the server keeps. Results have lower limits.
constexpr std::size_t kMaxOutputBytes = std::size_t{64} << 20;
// Keeps the beginning and the end of a text that is too long, in whole lines.
std::string cut(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t first = text.rfind('\n', 2 * most / 3);
  first = first == text.npos ? 0 : first + 1;
  std::size_t last = text.find('\n', text.size() - most / 3);
  last = last == text.npos ? text.size() : last + 1;
  return fmt::format(
      "{}[{} bytes are left out here. Ask for less, or let the user raise the limit "
      "with `groma serve --max-result`]\n{}",
      text.substr(0, first), last - first, text.substr(last));
}

}  // namespace

CallFolder::CallFolder(ServeSetup& setup) {
  const std::string path = fmt::format("{}/{}", setup.scratch.path(), ++setup.calls);
  std::error_code code;
  if (fs::create_directory(path, code)) path_ = path;
}

CallFolder::~CallFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::string CallFolder::without_path(std::string text) const {
  const std::string path = path_ + "/";
  std::string kept;
  std::size_t begin = 0;
  for (std::size_t at; (at = text.find(path, begin)) != text.npos; begin = at + path.size()) {
    kept.append(text, begin, at - begin);
  }
  if (begin == 0) return text;
  return kept.append(text, begin, text.npos);
}

Result<CommandOutcome> run_child(const ServeSetup& setup, const ChildRun& child, const Call& call) {
  groma::Command command;
  command.words = {setup.groma};
  command.words.insert(command.words.end(), child.words.begin(), child.words.end());
  command.input = child.input;
  command.folder = setup.root.path().string();
  // A name without a value removes the variable.
  if (!child.asks_model) command.environment = {"GROMA_API_KEY"};
  command.deadline_ms = static_cast<std::int64_t>(1000 * child.seconds);
  command.farewell_ms = kFarewellMs;
  command.memory_bytes = setup.memory_bytes;
  command.max_output_bytes = kMaxOutputBytes;
  command.end_at_max_output = !child.on_output;
  const auto begin = std::chrono::steady_clock::now();
  command.stop = [&] {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (child.on_tick) child.on_tick(seconds.count());
    return call.cancelled();
  };
  if (child.on_output) {
    command.max_output_bytes = std::size_t{1} << 20;
    command.on_output = [&child](std::string_view bytes, bool is_error) {
      if (!is_error) child.on_output(bytes);
    };
  }
  return groma::run_command(command);
}

std::string why_broken_off(const CommandOutcome& outcome, double seconds) {
  using End = CommandOutcome::End;
  switch (outcome.end) {
    case End::kExited:
      return "";
    case End::kSignalled:
      return fmt::format("was ended by signal {}", outcome.code);
    case End::kDeadline:
      return fmt::format("took longer than {:.4g} s, the limit of the server (--call-time)",
                         seconds);
    case End::kStopped:
      return "was cancelled";
    case End::kTooMuchOutput:
      return fmt::format("printed more than {} MiB", kMaxOutputBytes >> 20);
  }
  return "";
}

namespace {

// Replaces the options in a line by the tool's arguments. Adds those that the tool lacks to
// `*foreign`.
std::string line_in_words_of(const ToolDefinition& tool, std::string_view line,
                             std::vector<std::string_view>* foreign) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-';
  };
  std::string said;
  while (!line.empty()) {
    // An option begins behind a space, a quotation mark or a bracket.
    const bool begins =
        line.starts_with("--") &&
        (said.empty() || std::string_view(" `'\"(").find(said.back()) != std::string_view::npos);
    const std::size_t end =
        begins ? static_cast<std::size_t>(std::find_if_not(line.begin(), line.end(), is_part) -
                                          line.begin())
               : 0;
    if (end < 3) {
      said += line.front();
      line.remove_prefix(1);
      continue;
    }
    const std::string_view option = line.substr(0, end);
    const auto known =
        std::find_if(tool.parameters.begin(), tool.parameters.end(),
                     [&](const ToolParameter& each) { return each.option == option; });
    if (known == tool.parameters.end()) {
      said += option;
      if (std::find(foreign->begin(), foreign->end(), option) == foreign->end()) {
        foreign->push_back(option);
      }
    } else {
      said += said.ends_with('`') ? std::string(known->name) : fmt::format("`{}`", known->name);
    }
    line.remove_prefix(end);
  }
  return said;
}

// Returns true for a line that shows a line of the user's text, with its number before a bar.
bool shows_text(std::string_view line) {
  const std::size_t bar = line.find_first_not_of(" 0123456789");
  return bar != line.npos && line[bar] == '|';
}

}  // namespace

std::string in_words_of(const ToolDefinition& tool, std::string_view text) {
  std::string said;
  std::vector<std::string_view> foreign;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (line.starts_with("Run with --help")) continue;
    said += shows_text(line) ? std::string(line) : line_in_words_of(tool, line, &foreign);
  }
  if (foreign.empty()) return said;
  if (!said.ends_with('\n')) said += '\n';
  return said + fmt::format(
                    "note: {} belong{} to the command line of groma; this tool has no such "
                    "argument\n",
                    groma::join_names(foreign, "and"), foreign.size() == 1 ? "s" : "");
}

ToolResult refusal(const Error& error) {
  std::string text = error.message + "\n";
  if (!error.help.empty()) text += fmt::format("help: {}\n", error.help);
  return {.text = groma::harmless_lines(text), .is_error = true};
}

ToolResult limited_result(const ServeSetup& setup, const std::string& text, std::string structured,
                          bool is_error) {
  ToolResult result;
  result.is_error = is_error;
  result.text = cut(text, setup.result_bytes);
  if (structured.size() <= setup.result_bytes) {
    result.structured = std::move(structured);
  } else {
    result.text += fmt::format(
        "[The structured content is left out, because it has {} bytes. Ask for less, or let the "
        "user raise the limit with `groma serve --max-result`]\n",
        structured.size());
  }
  return result;
}

// An address that a model chooses could get the user's key, so only the user's addresses count.
std::optional<Error> add_endpoint(const ServeSetup& setup, const std::string& asked,
                                  std::vector<std::string>* options) {
  const bool is_command = asked.starts_with("exec:");
  const bool allowed =
      std::find(setup.endpoints.begin(), setup.endpoints.end(), asked) != setup.endpoints.end();
  if (asked.empty() && setup.endpoints.empty()) {
    return Error{Error::Code::kUnreadable, "this server may not ask a language model",
                 "the user may allow an endpoint: groma serve --allow-endpoint URL"};
  }
  if (!asked.empty() && !allowed && !(is_command && setup.allows_commands)) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("this server may not use the endpoint `{}`", groma::visible(asked)),
                 is_command ? "the user may start it with --allow-commands"
                            : "the user may allow it: groma serve --allow-endpoint URL"};
  }
  options->push_back("--endpoint=" + (asked.empty() ? setup.endpoints.front() : asked));
  options->insert(options->end(), setup.model_options.begin(), setup.model_options.end());
  return std::nullopt;
}

}  // namespace driver
