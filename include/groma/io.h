// Files and discovery: reads and writes machines and applications as JSON, and describes this
// computer with hwloc.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "groma/app.h"
#include "groma/log.h"
#include "groma/machine.h"
#include "groma/result.h"

namespace groma {

// The largest machine file that is read.
inline constexpr std::size_t kMaxMachineFileBytes = std::size_t{16} << 20;

// Reads a machine from JSON; docs/machines.md describes the shape. Only the kinds and counts of the
// processors are required. Missing figures come from the default preset. `name` is used in
// messages, and as the machine's name if the text has none. Time and memory are bounded on any
// text; kTooLarge beyond the limits.
// A text that is not JSON fails with line and column. A wrong value fails with its JSON pointer and
// the expected value: "`m.json`: /nodes/0/processors/1/count: 0 is not a count (1 to 65536)".
// Further wrong values are in Error::more.
Result<Machine> machine_from_json(std::string_view text, std::string_view name);

// Writes a machine as JSON with every figure. machine_from_json(machine_to_json(m)) equals m,
// except for bytes in names that are not UTF-8.
std::string machine_to_json(const Machine& machine);

// Describes this computer as a machine with one node. hwloc gives its cores, NUMA sockets and
// memory, and its NVIDIA GPUs as far as hwloc sees them (PCI, CUDA, NVML or OpenCL). Figures that
// hwloc does not know (speeds, often the GPUs' memory) come from the default preset.
// If the file local_machine_file() exists, it gives the whole machine (calibrate() in
// groma/calibrate.h measures it). If it was measured on another computer, it is ignored: `log`
// (null: nobody) gets a warning, and the machine's description says so. Fails if the file cannot be
// read or is not a measured machine.
Result<Machine> local_machine(LogSink* log = nullptr);

// Returns the path of the file with the measured figures of this computer:
// $XDG_CONFIG_HOME/groma/local.machine.json, or ~/.config/groma/local.machine.json if that variable
// is not set. Empty if HOME is not set either.
std::string local_machine_file();

// Loads the machine that `--machine M` names. The first rule that applies decides:
// * `-`: JSON from standard input
// * `local`: this computer
// * a spec that contains `/` or ends in `.json`: a JSON file
// * a preset with parameters, or a line of counts (make_machine)
// * any file of that name
// `log` gets the warnings of local_machine().
Result<Machine> load_machine(const std::string& spec, LogSink* log = nullptr);

// The largest application file that is read.
inline constexpr std::size_t kMaxApplicationFileBytes = std::size_t{64} << 20;

// Reads an application from JSON; docs/applications.md describes the shape. Fails as
// machine_from_json does: "`app.json`: /tasks/0/variants/1/kind: `GPUS` is not a processor kind".
// `name` is used in messages, and as the application's name if the text has none. The result passes
// Workload::make. `stop` (null: never) is asked from time to time; kStopped once it returns true.
Result<Application> application_from_json(std::string_view text, std::string_view name,
                                          const std::function<bool()>& stop = {});

// Writes an application as JSON without optional members that have their default. For an
// application that Workload::make accepts, application_from_json returns an equal one, except for
// bytes in names that are not UTF-8.
std::string application_to_json(const Application& app);

// Loads the application that `--app A` names: `-` reads JSON from standard input. Otherwise A is
// the name of a benchmark (groma/benchmarks.h) or the path of a JSON file; A is a path if it
// contains `/` or ends in `.json`. Values may follow: `a.json:n=4096,steps=10` or
// `a.json:size=small` (with_values). They become the values of the parameters. Workload::make
// accepts the result. `stop` is as in application_from_json.
Result<Application> load_application(const std::string& spec,
                                     const std::function<bool()>& stop = {});

// Returns the place of the colon before the values in `a.json:n=4096,steps=10`, which
// load_application() would read as the name `a.json` and values; the size of the text if it has no
// values.
std::size_t begin_of_application_values(std::string_view spec);

}  // namespace groma
