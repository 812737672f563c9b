// Refusals of runtimes, at the statements that caused them.
#pragma once

#include "groma/diagnostics.h"
#include "groma/program.h"
#include "groma/validate.h"

namespace groma {

void add_located(const Program& program, const Refusal& refusal, Diagnostics& diags);
// Of a mapper that is no program.
void add_unlocated(const Refusal& refusal, Diagnostics& diags);

}  // namespace groma
