// Tells if the output of a process can be compared with another output (groma/results.h).
#pragma once

#include "groma/results.h"
#include "groma/system.h"

namespace groma::inspect {

// Returns false if some of the output was left out, or if the output is too long.
inline bool is_comparable(const CommandOutcome& outcome) {
  return outcome.out.left_out_bytes == 0 && outcome.err.left_out_bytes == 0 &&
         Results::fits(outcome.out.text, outcome.err.text);
}

}  // namespace groma::inspect
