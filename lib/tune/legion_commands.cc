// Makes the commands that measure a benchmark by its own Legion program, instead of simulating it.
#include <fmt/format.h>

#include <utility>

#include "groma/evaluators.h"

namespace groma::tuning {
namespace {

// Returns the word in single quotes, so that sh takes it literally.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

}  // namespace

// Sets both commands of the options to `groma run`. The correctness command runs the program with
// Legion's checks on. The measuring command runs it without these checks and reads the seconds from
// the JSON.
CommandEvaluatorOptions with_legion_commands(CommandEvaluatorOptions options,
                                             const std::string& groma,
                                             std::vector<std::string> apps,
                                             const std::vector<std::string>& flags) {
  std::string words;
  for (const std::string& flag : flags) words += " " + quoted(flag);
  const auto run = [&](const char* how) {
    return fmt::format("{} run {{file}} --on legion --app {{input}} {} --{}", quoted(groma), how,
                       words);
  };
  options.command = run("--json --checks never");
  // The correctness command prints text instead of JSON, because people read its errors.
  options.check_command = run("--checks always");
  options.inputs = std::move(apps);
  options.metric_pointer = "/seconds";
  return options;
}

}  // namespace groma::tuning
