// What holds of every text that is taken for a program, however broken: shared by the random tests
// and the fuzzer. Each check answers with what does not hold, for a person; empty when all does.
#pragma once

#include <string>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/geometry.h"
#include "groma/machine.h"
#include "groma/program.h"

namespace groma::testing {

// Ranges and fixes lie in the text, messages render on a terminal and as JSON, sure fixes apply.
std::string check_diagnostics(const Diagnostics& diags);

// The tree prints as text of the same tree, and formatting is idempotent. Nothing to check of a
// text with syntax errors.
std::string check_printer(const Source& source);

// Every table answers every question, with statements that exist.
std::string check_tables(const Program& program);

// Where the mapping function sends every point of a launch: on the machine, or one error says why
// not. A launch of 0 dimensions stands for a single task, whose parent runs on `parent`. Stops,
// content, once the evaluations took `max_steps`.
struct LaunchCheck {
  Rect domain;
  Processor parent = {};
  std::int64_t max_steps = 100'000;
  bool output = false;  // render, draw and write as JSON what comes out
};
std::string check_launch(const BoundProgram& bound, FunctionId function, const LaunchCheck& launch);

// All of the above for one text: its diagnostics, its print, its tables, and each of its mapping
// functions on each machine and launch.
std::string check_text(const std::string& text, const std::vector<Machine>& machines,
                       const std::vector<LaunchCheck>& launches);

}  // namespace groma::testing
