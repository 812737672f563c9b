// Builds the environment variables of a Legion program that Groma runs (lib/legion/preload.h reads
// them).
#pragma once

#include <string>
#include <vector>

#include "groma/program.h"
#include "groma/result.h"
#include "groma/run_program.h"

namespace groma::inspect {

// The flag that makes Legion check a mapper's answers.
inline constexpr const char* kCheckFlag = "-lg:safe_mapper";

// Returns true if a launcher started this process. The launcher then starts Groma once for each
// process of the program.
bool is_launched();

// Returns the variables with which the program runs under the mapping; null means that the program
// maps itself. A name without `=` means that the variable is removed. `checked`: Legion checks the
// mapper's answers. `profile_file`: Legion's measurements go to this file; empty means none. Fails
// like run_program().
Result<std::vector<std::string>> environment_of(const Program* mapping, const ProgramRun& run,
                                                const std::string& profile_file, bool checked);
// Returns the variables with which the program runs without Groma.
std::vector<std::string> environment_without_groma(const ProgramRun& run);

}  // namespace groma::inspect
