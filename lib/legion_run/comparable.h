// is_comparable(): tells whether the output of a process can be compared with another output
// (groma/results.h).
#pragma once

#include "groma/results.h"
#include "groma/system.h"

namespace groma::inspect {

// Returns true if the output of a process is complete and not too long to be compared.
inline bool is_comparable(const CommandOutcome& outcome) {
  return outcome.out.left_out_bytes == 0 && outcome.err.left_out_bytes == 0 &&
         Results::fits(outcome.out.text, outcome.err.text);
}

}  // namespace groma::inspect
