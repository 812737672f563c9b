// The subcommands: each adds itself to the command line and, when chosen, sets *exit_code.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace driver {

// `--machine`, which is read by read_machine.
inline void add_machine_option(CLI::App& command, std::string* machine, const std::string& help) {
  command.add_option("--machine", *machine, help)
      ->check([](const std::string& spec) { return spec.empty() ? "it is empty" : ""; })
      ->capture_default_str();
}

void add_apps(CLI::App& app, int* exit_code);
void add_check(CLI::App& app, int* exit_code);
void add_diff(CLI::App& app, int* exit_code);
void add_format(CLI::App& app, int* exit_code);
void add_explain(CLI::App& app, int* exit_code);
void add_guide(CLI::App& app, int* exit_code);
void add_place(CLI::App& app, int* exit_code);
void add_llm(CLI::App& app, int* exit_code);
void add_machines(CLI::App& app, int* exit_code);
void add_run(CLI::App& app, int* exit_code);
void add_strategies(CLI::App& app, int* exit_code);
void add_grammar(CLI::App& app, int* exit_code);

}  // namespace driver
