// Files and discovery: machines and applications as JSON, and this computer as hwloc sees it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "groma/app.h"
#include "groma/machine.h"
#include "groma/result.h"

namespace groma {

// The largest machine file that is read.
inline constexpr std::size_t kMaxMachineFileBytes = std::size_t{16} << 20;

// Reads a machine from JSON; docs/machines.md gives the shape. Only the processors' kinds and
// counts must be there, the rest is as the default preset has it. A text that is not JSON fails
// with line and column; a value that is wrong with its JSON pointer and what is due there:
// "`m.json`: /nodes/0/processors/1/count: 0 is no count (1 to 65536)", other values that are wrong
// in Error::more. `name` is for messages, and the machine's where the text has none. Bounded in
// time and memory on any text; kTooLarge beyond.
Result<Machine> machine_from_json(std::string_view text, std::string_view name);

// The inverse, with every figure: machine_from_json(machine_to_json(m)) equals m, but for bytes in
// names that are not UTF-8.
std::string machine_to_json(const Machine& machine);

// This computer: one node, its cores, NUMA sockets and memory by hwloc, its NVIDIA GPUs as far as
// hwloc sees them (PCI, CUDA, NVML or OpenCL). What hwloc cannot tell (speeds, often the GPUs'
// memory) is taken from the default preset.
Result<Machine> local_machine();

// What `--machine M` means: `-` reads JSON from standard input; `local`; what has a `/` or ends in
// `.json` is a JSON file; then a preset with parameters or a line of counts (make_machine); then
// any file of that name.
Result<Machine> load_machine(const std::string& spec);

// The largest application file that is read.
inline constexpr std::size_t kMaxApplicationFileBytes = std::size_t{64} << 20;

// Reads an application from JSON; docs/applications.md gives the shape. Fails as machine_from_json
// does: "`app.json`: /tasks/0/variants/1/kind: `GPUS` is no processor kind".
// `name` is for messages, and the application's where the text has none. What comes back passes
// Workload::make. `stop` is asked now and then (null: never); kStopped once it says true.
Result<Application> application_from_json(std::string_view text, std::string_view name,
                                          const std::function<bool()>& stop = {});

// The inverse, without what may be left out: of what Workload::make takes, application_from_json
// gives the same again, but for bytes in names that are not UTF-8.
std::string application_to_json(const Application& app);

// What `--app A` means: `-` reads JSON from standard input, all else is the path of a JSON file.
// Values may follow, `a.json:n=4096,steps=10` or `a.json:size=small` (with_values); they become the
// parameters' own. Workload::make takes what comes back. `stop` as of application_from_json.
Result<Application> load_application(const std::string& spec,
                                     const std::function<bool()>& stop = {});

}  // namespace groma
