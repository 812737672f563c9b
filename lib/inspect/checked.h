// Which programs have run well under which mappings, in a file with a line for each
// (ProgramRun::checked_file). Best effort: what is not remembered is checked again.
#pragma once

#include <cstdint>
#include <string>

#include "groma/program.h"
#include "groma/run_program.h"

namespace groma::inspect {

class Checked {
 public:
  // A program is the one that ran before if its words, the folder, the environment variables that
  // Legion, Python and the dynamic loader read, and the files among the words (`FILE` and
  // `--input=FILE`, by size and time of change) are the same. The files that these read in turn are
  // not known, which is why an entry expires after a week. `compares`: whether results are
  // compared, if there are ProgramRun::results. `today`: in days since 1970.
  Checked(const Program& mapping, const ProgramRun& run, bool compares,
          std::int64_t today = days_since_1970());

  bool known() const;
  void remember() const;

  static std::int64_t days_since_1970();

 private:
  std::string file_, own_, rest_;
  std::int64_t today_;
};

}  // namespace groma::inspect
