// Reports a runtime's refusals at the statements that caused them.
#pragma once

#include "groma/diagnostics.h"
#include "groma/program.h"
#include "groma/validate.h"

namespace groma {

// Adds the refusal's diagnostic at its own range, or else at the statement that caused it.
void add_located(const Program& program, const Refusal& refusal, Diagnostics& diags);
// Adds the diagnostic of a refusal whose mapper is not a mapping program; it has no location.
void add_unlocated(const Refusal& refusal, Diagnostics& diags);

}  // namespace groma
