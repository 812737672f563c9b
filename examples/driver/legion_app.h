// Runs the Legion programs that come with Groma (examples/legion): `--on legion --app cannon`.
#pragma once

#include <string>
#include <vector>

#include "groma/benchmarks.h"
#include "groma/machine.h"
#include "groma/result.h"
#include "groma/workload.h"

namespace driver {

// Returns the path of libgroma_preload.so in the build or installation that contains this command.
// Fails if there is no such file.
groma::Result<std::string> own_library();

// Returns the application with `size=small` added (`cannon:n=512` becomes
// `cannon:n=512,size=small`), unless `app` names a size. The default sizes are meant for the GPUs
// of a simulated machine and do not suit this computer.
std::string for_this_computer(const std::string& app);

// Adds `-ll:cpu` with the number of all CPUs of this computer to Legion's flags, unless the flags
// already contain it.
std::vector<std::string> with_cpus(std::vector<std::string> flags);
// Fails with wrong usage if a flag after `--` names a parameter of `app`, because the program would
// then use another value than the report says. Also fails if a flag that sets Legion's resources
// lacks its number.
void check_flags(const std::string& app, const groma::Workload& workload,
                 const std::vector<std::string>& flags);
// Returns the machine that Legion has under these flags: its CPUs, GPUs and memories. The speeds
// are those of the default preset.
groma::Result<groma::Machine> machine_of(const std::vector<std::string>& flags);
// Returns the processors for which tasks of this build's Legion programs have variants and which
// Legion has under these flags.
groma::ProgramVariants program_variants(const std::vector<std::string>& flags);

// Returns the path of the Legion program of the application `app`. Fails if `app` is not a
// benchmark, if the benchmark was not written for Legion, or if this build does not include Legion.
// `for_others` is the end of the error's help: it says what to do with any other program.
groma::Result<std::string> legion_program(const std::string& app, const std::string& for_others);
// Returns the program's command-line arguments for these parameters, such as `-n 512`.
std::vector<std::string> parameters_of(const groma::Workload& workload);

}  // namespace driver
