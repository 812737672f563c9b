// SuccessfulRuns: remembers in a file (ProgramRun::checked_file) which programs ran successfully
// under which mappings. The file has one line for each pair of a program and a mapping. Errors are
// harmless: a program that is not remembered is checked again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "groma/program.h"
#include "groma/run_program.h"

namespace groma::inspect {

// Returns the environment variables of the terminal, the shell and the login session, which do not
// change what a program computes. A name that ends with `*` stands for all variables that begin so.
std::span<const std::string_view> ignored_variables();

class SuccessfulRuns {
 public:
  // Two runs count as runs of the same program if these are equal:
  // * the words of the command
  // * the current folder
  // * the environment variables, except those of ignored_variables()
  // * the files that the words name (`FILE` and `--input=FILE`), by size and modification time
  //
  // The files that these files read are not known, so an entry expires after a week. `compares`:
  // the results are compared if there are ProgramRun::results. `today`: days since 1970.
  SuccessfulRuns(const Program& mapping, const ProgramRun& run, bool compares,
                 std::int64_t today = days_since_1970());

  // Returns true if this program ran successfully under this mapping within the last week.
  bool has_recent_success() const;
  // Adds the pair of program and mapping to the file, unless the file has a valid line for it.
  void add_success() const;

  static std::int64_t days_since_1970();

 private:
  std::string file_, own_, rest_;
  std::int64_t today_;
};

}  // namespace groma::inspect
