// load_machine: what `--machine M` means.
#include <fmt/format.h>
#include <sys/stat.h>

#include "groma/io.h"
#include "groma/source.h"

namespace groma {
namespace {

bool looks_like_path(std::string_view spec) {
  return spec == "-" || spec.find('/') != spec.npos || spec.ends_with(".json");
}

bool is_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

Result<Machine> read_machine(const std::string& path) {
  const Result<std::string> text = read_file(path, kMaxMachineFileBytes);
  if (!text) return text.error();
  return machine_from_json(*text, path == "-" ? "<stdin>" : path);
}

}  // namespace

Result<Machine> load_machine(const std::string& spec) {
  constexpr std::size_t kLongestPath = 4096;
  if (spec == "local") return local_machine();
  if (spec.size() <= kLongestPath && looks_like_path(spec)) return read_machine(spec);
  Result<Machine> machine = make_machine(spec);
  if (machine) return machine;
  if (spec.size() <= kLongestPath && is_file(spec)) return read_machine(spec);
  if (machine.error().code != Error::Code::kUnknown || spec.find('=') != spec.npos) return machine;
  Error error = machine.error();
  error.help += error.help.ends_with('?') ? " " : "; ";
  error.help += "a machine is also `local`, a line such as `nodes=4,gpu=4`, or a JSON file";
  return error;
}

}  // namespace groma
