// Loads the machine of `--machine M` and the application of `--app A`, from a name or a file.
#include <fmt/format.h>
#include <sys/stat.h>

#include "groma/benchmarks.h"
#include "groma/io.h"
#include "groma/source.h"
#include "groma/spelling.h"
#include "groma/workload.h"
#include "machine/quote.h"

namespace groma {
namespace {

// Returns true if the text can only mean a file or standard input (`-`), not something built in.
bool looks_like_path(std::string_view spec) {
  return spec == "-" || spec.find('/') != spec.npos || spec.ends_with(".json");
}

// Returns true if something other than a folder stands at the path, such as a file or a pipe.
bool is_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

// Limit on the length of a path. A longer text is not tried as the name of a file.
constexpr std::size_t kLongestPath = 4096;

// Reads a machine from a JSON file, or from standard input if the path is `-`.
Result<Machine> read_machine(const std::string& path) {
  const Result<std::string> text = read_file(path, kMaxMachineFileBytes);
  if (!text) return text.error();
  return machine_from_json(*text, path == "-" ? "<stdin>" : path);
}

// Returns a built-in benchmark or reads a file. An unknown name is an error with similar names as
// help.
Result<Application> read_application(const std::string& path, const std::function<bool()>& stop) {
  const bool is_path = path.size() <= kLongestPath && looks_like_path(path);
  const Benchmark* const benchmark = is_path ? nullptr : find_benchmark(path);
  if (benchmark != nullptr) return benchmark->make();
  if (!is_path && (path.size() > kLongestPath || !is_file(path))) {
    std::vector<std::string_view> names;
    for (const Benchmark& each : built_in_applications()) names.push_back(each.name);
    const auto near = near_names(path, names);
    return Error{Error::Code::kUnknown, fmt::format("no application {}", in_quotes(path)),
                 near.empty() ? "`groma apps` lists those that there are; or give a JSON file"
                              : fmt::format("did you mean {}?", join_names(near))};
  }
  const Result<std::string> text = read_file(path, kMaxApplicationFileBytes);
  if (!text) return text.error();
  return application_from_json(*text, path == "-" ? "<stdin>" : path, stop);
}

}  // namespace

// A colon without `=` behind it begins values only if an application stands before it, as in
// "cannon:n".
std::size_t begin_of_application_values(std::string_view spec) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const std::size_t colon = spec.rfind(':');
  if (colon == spec.npos) return spec.size();
  const std::size_t equals = spec.find('=', colon);
  const std::string_view name = spec.substr(colon + 1, equals - colon - 1);
  if (equals != spec.npos)
    return name.find_first_not_of(kLetters) == name.npos ? colon : spec.size();
  const std::string_view before = spec.substr(0, colon);
  return before == "-" || before.ends_with(".json") || find_benchmark(before) != nullptr
             ? colon
             : spec.size();
}

// Loads an application and sets its parameters to the values behind the colon. The workload is
// built once so that values which do not fit are reported here.
Result<Application> load_application(const std::string& spec, const std::function<bool()>& stop) {
  const std::size_t values = begin_of_application_values(spec);
  Result<Application> app = read_application(spec.substr(0, values), stop);
  if (!app || values == spec.size()) return app;
  if (values + 1 == spec.size()) {
    return Error{Error::Code::kMalformed,
                 fmt::format("no values stand behind the colon of {}", in_quotes(spec)),
                 "they are written `:name=1,other=2`"};
  }
  app = with_values(std::move(app).value(), std::string_view(spec).substr(values + 1));
  if (!app) return app;
  const Result<Workload> workload = Workload::make(*app, {}, stop);
  if (!workload) return workload.error();
  return app;
}

// Loads `local`, a file, a preset or a line of parameters, in this order. A file without `.json` or
// `/` in its name is read only if the text is not a valid machine.
Result<Machine> load_machine(const std::string& spec, LogSink* log) {
  if (spec == "local") return local_machine(log);
  if (spec.size() <= kLongestPath && looks_like_path(spec)) return read_machine(spec);
  // A line such as `nodes=4` may also be the name of a file. The line wins if it is valid.
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
