// The subcommands: each adds itself to the command line and, when chosen, sets *exit_code.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "console.h"

namespace driver {

// Options of several commands; read_inputs reads what the first two name.
inline void add_machine_option(CLI::App& command, std::string* machine,
                               const std::string& help = "The machine") {
  command.add_option("--machine", *machine, help)->check(not_empty)->capture_default_str();
}
inline CLI::Option* add_app_option(
    CLI::App& command, std::string* app,
    const std::string& help =
        "The application: the name of one of `groma apps` or a JSON file, with values for its "
        "parameters such as cannon:n=8000,repeats=2") {
  return command.add_option("--app", *app, help)->check(not_empty);
}
inline void add_json_flag(CLI::App& command, bool* json) {
  command.add_flag("--json", *json, "One JSON document instead of text");
}

void add_apps(CLI::App& app, int* exit_code);
void add_check(CLI::App& app, int* exit_code);
void add_diff(CLI::App& app, int* exit_code);
void add_emit(CLI::App& app, int* exit_code);
void add_format(CLI::App& app, int* exit_code);
void add_explain(CLI::App& app, int* exit_code);
void add_guide(CLI::App& app, int* exit_code);
void add_place(CLI::App& app, int* exit_code);
void add_llm(CLI::App& app, int* exit_code);
void add_machines(CLI::App& app, int* exit_code);
// `behind`: the words behind `--`, there when the command runs.
void add_run(CLI::App& app, const std::vector<std::string>& behind, int* exit_code);
void add_record(CLI::App& app, const std::vector<std::string>& behind, int* exit_code);
void add_tune(CLI::App& app, const std::vector<std::string>& behind, int* exit_code);
void add_strategies(CLI::App& app, int* exit_code);
void add_grammar(CLI::App& app, int* exit_code);

}  // namespace driver
