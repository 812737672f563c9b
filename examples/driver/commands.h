// The subcommands: each adds itself to the command line and, when chosen, sets *exit_code.
#pragma once

#include <CLI/CLI.hpp>

namespace driver {

void add_check(CLI::App& app, int* exit_code);
void add_format(CLI::App& app, int* exit_code);
void add_explain(CLI::App& app, int* exit_code);
void add_place(CLI::App& app, int* exit_code);
void add_machines(CLI::App& app, int* exit_code);
void add_strategies(CLI::App& app, int* exit_code);
void add_grammar(CLI::App& app, int* exit_code);

}  // namespace driver
