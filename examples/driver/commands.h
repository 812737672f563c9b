// The subcommands. Each add_... function adds one subcommand to the command line; the subcommand
// sets *exit_code when it runs.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "console.h"
#include "help_formatter.h"
#include "inputs.h"
#include "value_types.h"

namespace driver {

// Adds --machine. Several commands share this option and the next ones. read_inputs() reads the
// machine and the application that they name.
inline void add_machine_option(CLI::App& command, std::string* machine,
                               const std::string& help = "The machine") {
  command.add_option("--machine", *machine, help)
      ->type_name(kMachineType)
      ->check(not_empty)
      ->capture_default_str();
}
// Adds --app and returns the option, so that a command can make it required or exclusive.
inline CLI::Option* add_app_option(
    CLI::App& command, std::string* app,
    const std::string& help =
        "The application: a name that `groma apps` lists, or a JSON file; with values for its "
        "parameters such as cannon:n=8000,repeats=2") {
  return command.add_option("--app", *app, help)->type_name(kAppType)->check(not_empty);
}
// Adds --memory, the limit for the memory of a simulated run. The option is in MiB; *bytes is set
// in bytes. The default shown is that of SimulateOptions::max_bytes.
inline CLI::Option* add_memory_option(
    CLI::App& command, std::int64_t* bytes,
    const std::string& help = "Limit the memory of a simulated run, in MiB") {
  return command
      .add_option_function<std::int64_t>(
          "--memory", [bytes](std::int64_t megabytes) { *bytes = megabytes << 20; }, help)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))
      ->default_str("2048");
}
// Adds --override-layouts. The flag without a value stands for all tasks, which is stored as `*`.
inline void add_override_layouts_flag(CLI::App& command, groma::LayoutOverrides* overrides) {
  command
      .add_flag(
          "--override-layouts", overrides->tasks,
          "Accept Layout statements that contradict the layouts which the program's own mapper "
          "requests. Without it they are errors, because tasks may rely on those layouts. "
          "--override-layouts=TASK accepts them for that task only and may be given several times")
      ->transform([](const std::string& task) { return task == "true" ? "*" : task; });
}
// Adds --json, which replaces the text on standard output by one JSON document.
inline void add_json_flag(CLI::App& command, bool* json) {
  command.add_flag("--json", *json, "Print one JSON document instead of text");
}
// Adds to the command's `Usage:` line the words that may follow `--`.
inline void add_behind(CLI::App& command, const std::string& words) {
  command.formatter(std::make_shared<HelpFormatter>(words));
}

void add_apps(CLI::App& app, int* exit_code);
void add_check(CLI::App& app, int* exit_code);
void add_diff(CLI::App& app, int* exit_code);
void add_domain(CLI::App& app, int* exit_code);
void add_emit(CLI::App& app, int* exit_code);
void add_format(CLI::App& app, int* exit_code);
void add_explain(CLI::App& app, int* exit_code);
void add_guide(CLI::App& app, int* exit_code);
void add_place(CLI::App& app, int* exit_code);
void add_prompt(CLI::App& app, int* exit_code);
void add_report(CLI::App& app, int* exit_code);
void add_llm(CLI::App& app, int* exit_code);
// Only in builds with the language server.
void add_lsp(CLI::App& app, int* exit_code);
void add_machines(CLI::App& app, int* exit_code);
void add_serve(CLI::App& app, int* exit_code);
// In the next functions, `behind` refers to the words after `--` on the command line. main() fills
// them in before the command runs, so `behind` must live until then.
void add_run(CLI::App& app, const std::vector<std::string>& behind, int* exit_code);
void add_record(CLI::App& app, const std::vector<std::string>& behind, int* exit_code);
void add_tune(CLI::App& app, const std::vector<std::string>& behind, int* exit_code);
void add_sample(CLI::App& app, int* exit_code);
void add_write(CLI::App& app, int* exit_code);
void add_strategies(CLI::App& app, int* exit_code);
void add_grammar(CLI::App& app, int* exit_code);
// Adds the command that describes all the others, so it is added last.
void add_manual(CLI::App& root, int* exit_code);

}  // namespace driver
