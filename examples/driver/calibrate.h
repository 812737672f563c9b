// groma machines calibrate: measures this computer.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "groma/machine.h"

namespace driver {

// Adds the subcommand `calibrate` to `groma machines`.
void add_calibrate(CLI::App& machines, int* exit_code);

// Returns the measured figures of a machine, one on each line, with their spread and source.
// Returns "" if the machine was not measured.
std::string describe_measurement(const groma::Machine& machine);

}  // namespace driver
