// groma prompt: prints what an agent needs to know to write a mapping: the reference card of the
// language, and the facts about an application and a machine.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "commands.h"
#include "console.h"
#include "groma/briefing.h"
#include "inputs.h"

namespace driver {
namespace {

// Returns the text as one word of a shell.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+";
  if (word.find_first_not_of(kPlain) == word.npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

// Returns the commands with which an agent tries a mapping.
std::string commands_text(const std::string& machine, const std::string& app) {
  const std::string on = (app.empty() ? "" : " --app " + quoted(app)) +
                         (machine.empty() ? "" : " --machine " + quoted(machine));
  std::string text =
      fmt::format("\nCOMMANDS\n`groma check my.mapper{}` finds the mistakes of a mapping.\n", on);
  if (!app.empty()) {
    text += fmt::format(
        "`groma explain my.mapper{0}` shows what it decides.\n"
        "`groma run my.mapper{0}` says how long a simulated run takes, and why.\n",
        on);
  }
  return text;
}

int run(const std::string& machine, const std::string& app) {
  check_standard_input({machine, app});
  catch_interrupts();
  // An application is described on a machine, so there is always one.
  const std::string used = machine.empty() && !app.empty() ? "p100x4" : machine;
  std::optional<groma::Diagnostics> diags;
  const auto inputs = read_inputs(used, app, &diags, {[] { return interrupted(); }, {}});
  if (interrupted()) return kInterrupted;
  if (!inputs) return fail(*diags, false);
  std::shared_ptr<const groma::Machine> on;
  if (inputs->machine) on = std::make_shared<const groma::Machine>(*inputs->machine);
  const groma::Workload* workload = inputs->workload ? &*inputs->workload : nullptr;
  return print(groma::tuning::briefing(on, workload) + commands_text(used, app));
}

}  // namespace

void add_prompt(CLI::App& app, int* exit_code) {
  auto machine = std::make_shared<std::string>(), application = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "prompt",
      "Print what an agent needs to know to write a mapping: the language, and the facts");
  add_app_option(
      *command, application.get(),
      "The application to describe: a name that `groma apps` lists, or a JSON file; with "
      "values for its parameters such as cannon:n=8000. Without it, only the language "
      "is described");
  add_machine_option(*command, machine.get(),
                     "The machine to describe (default with --app: p100x4; without --app: none)");
  command->footer(
      "Examples:\n"
      "  groma prompt                                 the language\n"
      "  groma prompt --app circuit --machine lassen  also the tasks, regions and processors\n"
      "  groma prompt --app mine.json >> AGENTS.md    for an agent that reads this file");
  command->callback(
      [machine, application, exit_code] { *exit_code = run(*machine, *application); });
}

}  // namespace driver
