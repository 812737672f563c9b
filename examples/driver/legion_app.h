// The Legion programs that come with Groma (examples/legion): `--on legion --app cannon`.
#pragma once

#include <string>
#include <vector>

#include "groma/machine.h"
#include "groma/result.h"
#include "groma/workload.h"

namespace driver {

// libgroma_preload.so of the build or the installation that this command is of. Fails where there
// is none.
groma::Result<std::string> own_library();

// `cannon:n=512` in the size for a simulated machine's GPUs that suits this computer: the small
// one, unless it names one.
std::string for_this_computer(const std::string& app);

// Legion's flags, which say how many CPUs it has: all of this computer unless `flags` does.
std::vector<std::string> with_cpus(std::vector<std::string> flags);
// Wrong usage where a flag behind `--` names a parameter of `app`, which the program would take
// instead of what is reported, or where one that says what Legion has is without its number.
void check_flags(const std::string& app, const groma::Workload& workload,
                 const std::vector<std::string>& flags);
// The machine that Legion then has: CPUs and the memories that the flags give it. Its speeds are
// those of the default preset.
groma::Result<groma::Machine> machine_of(const std::vector<std::string>& flags);

// The program of an application. Fails where it has none: it is no benchmark, one of those that
// were not written for Legion, or this build is without Legion.
groma::Result<std::string> legion_program(const std::string& app);
// What it is told: `-n 512`.
std::vector<std::string> parameters_of(const groma::Workload& workload);

}  // namespace driver
