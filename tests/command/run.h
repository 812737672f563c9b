// Runs the command as a user does: a shell line, with what it printed and how it ended.
#pragma once

#include <string>

#include "support/temporary_folder.h"

namespace groma::test {

struct Outcome {
  int exit_code = -1;
  std::string out, err;
};

// `line` is given to sh in the source folder; `groma` in it is the command that was built, and
// the programs of examples/legion have their names. `input` is its standard input.
Outcome run(const std::string& line, const std::string& input = "");

std::string read_text(const std::string& path);

// Returns true if this computer has the program.
bool is_installed(const std::string& program);

}  // namespace groma::test
