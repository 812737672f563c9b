// The commands that measure a benchmark's own Legion program.
#include <fmt/format.h>

#include <utility>

#include "groma/evaluators.h"

namespace groma::tuning {
namespace {

// Quotes a word for sh.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

}  // namespace

// The check command runs the program under Legion's checks; the other command measures it.
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
  options.check_command = run("--checks always");  // prints text: people read its errors
  options.inputs = std::move(apps);
  options.metric_pointer = "/seconds";
  return options;
}

}  // namespace groma::tuning
