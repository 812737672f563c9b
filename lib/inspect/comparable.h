// Whether what a process printed can be compared with what another one prints (groma/results.h).
#pragma once

#include "groma/results.h"
#include "groma/system.h"

namespace groma::inspect {

// False if some of the output was left out, or if it is too long.
inline bool is_comparable(const CommandOutcome& outcome) {
  return outcome.out.left_out_bytes == 0 && outcome.err.left_out_bytes == 0 &&
         Results::fits(outcome.out.text, outcome.err.text);
}

}  // namespace groma::inspect
