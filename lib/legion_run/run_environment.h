// Builds the environment variables of a Legion program that Groma runs. lib/legion/preload.h reads
// them.
#pragma once

#include <string>
#include <vector>

#include "groma/program.h"
#include "groma/result.h"
#include "groma/run_program.h"

namespace groma::inspect {

// The Legion flag that makes the runtime check a mapper's answers.
inline constexpr const char* kCheckFlag = "-lg:safe_mapper";

// Returns true if a launcher such as mpirun started this process. The launcher then starts Groma
// once for each process of the program.
bool was_started_by_launcher();

// Returns the environment variables with which the program runs under the mapping. If `mapping` is
// null, the program maps itself. A name without `=` means that the variable is removed. `checked`:
// Legion checks the mapper's answers. `profile_file`: the file for Legion's measurements, or empty
// for none. Fails like run_program().
Result<std::vector<std::string>> environment_of(const Program* mapping, const ProgramRun& run,
                                                const std::string& profile_file, bool checked);
// Returns the environment variables with which the program runs without Groma.
std::vector<std::string> environment_without_groma(const ProgramRun& run);

}  // namespace groma::inspect
