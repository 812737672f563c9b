// Reports refusals at the statements that caused them. A refusal is a diagnostic of a runtime about
// an answer of a mapper.
#pragma once

#include "groma/diagnostics.h"
#include "groma/program.h"
#include "groma/validate.h"

namespace groma {

// Adds the refusal's diagnostic at the range that the refusal gives. Without a range, adds it at
// the statement that caused the refusal.
void add_refusal_at_statement(const Program& program, const Refusal& refusal, Diagnostics& diags);
// Adds the diagnostic of a refusal whose mapper is not a mapping program; it has no location.
void add_refusal_without_place(const Refusal& refusal, Diagnostics& diags);

}  // namespace groma
