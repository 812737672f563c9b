// Builds the environment variables with which Groma's library takes over a Legion program.
#include "legion_run/run_environment.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "groma/source.h"
#include "legion_run/program_name.h"

namespace groma::inspect {
namespace {

namespace fs = std::filesystem;

// The largest length of a mapping's text in an environment variable, in bytes. Linux allows 128 KB
// for one variable.
constexpr std::size_t kMaxTextBytes = 96 << 10;

// Returns "NAME=first", followed by the separator and the present value of the environment
// variable, if there is one.
std::string before(const char* name, const std::string& first, std::string_view between) {
  const char* const present = std::getenv(name);
  const std::string_view rest = present == nullptr ? "" : present;
  return fmt::format("{}={}{}{}", name, first, rest.empty() ? "" : between, rest);
}

// Returns the environment variable with which Realm logs to standard error, unless the program
// chooses a file.
std::string log_to_standard_error() { return before("REALM_DEFAULT_ARGS", "-logfile stderr", " "); }

// Returns the environment variable that passes the mapping to Groma's library. It holds the text of
// the mapping, or the path of its file if the text is too long. Fails if a long text is not in a
// file.
Result<std::string> mapping_variable(const Source& source) {
  if (source.text().size() <= kMaxTextBytes) {
    std::string name(source.name());
    std::replace(name.begin(), name.end(), '\n', '?');
    return fmt::format("GROMA_MAPPING={}\n{}", name, source.text());
  }
  std::error_code code;
  const fs::path path = fs::absolute(source.name(), code);
  if (!code && fs::is_regular_file(path, code)) return "GROMA_MAPPING=" + path.string();
  return Error{Error::Code::kTooLarge,
               fmt::format("`{}` has {} bytes: a mapping of more than {} is handed over as a file",
                           source.name(), source.text().size(), kMaxTextBytes)};
}

// Returns true if this computer has a CUDA driver.
bool has_cuda_driver() {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver != nullptr) dlclose(driver);
  return driver != nullptr;
}

// Returns the absolute path, or the path itself if there is no current folder.
fs::path absolute(const std::string& path) {
  std::error_code code;
  fs::path made = fs::absolute(path, code);
  return code ? fs::path(path) : made;
}

// Lets the program start on a computer without a CUDA driver: adds the folder of an empty driver
// library to the environment. A Legion that was built with CUDA cannot be loaded without the
// driver. Does nothing if the program may run on other computers.
void add_stand_in(const ProgramRun& run, std::vector<std::string>& environment) {
  std::error_code code;
  const fs::path stand_in = absolute(run.library).parent_path() / "no_driver";
  if (!may_use_other_computers(run.words.front()) && fs::is_directory(stand_in, code) &&
      !has_cuda_driver()) {
    environment.push_back(before("LD_LIBRARY_PATH", stand_in.string(), ":"));
  }
}

}  // namespace

// Returns true if a launcher started this process. Each launcher sets one of these variables for
// the processes that it starts.
bool was_started_by_launcher() {
  static constexpr std::array kRanks = {
      "OMPI_COMM_WORLD_RANK", "PMIX_RANK",      "PMI_RANK",    "MV2_COMM_WORLD_RANK",
      "SLURM_STEP_ID",        "FLUX_TASK_RANK", "ALPS_APP_PE", "JSM_NAMESPACE_RANK"};
  return std::any_of(kRanks.begin(), kRanks.end(),
                     [](const char* rank) { return std::getenv(rank) != nullptr; });
}

// Returns the environment variables for a run under the mapping. Variables of an earlier run are
// removed, so that a Groma that was started by Groma does not inherit them. LD_PRELOAD separates
// its paths by spaces and colons, so the library's path may contain neither.
Result<std::vector<std::string>> environment_of(const Program* mapping, const ProgramRun& run,
                                                const std::string& profile_file, bool checked) {
  const fs::path library = absolute(run.library);
  std::error_code code;
  if (!fs::is_regular_file(library, code)) {
    return Error{Error::Code::kUnreadable, fmt::format("there is no `{}`", run.library)};
  }
  if (library.string().find_first_of(" :") != std::string::npos) {
    return Error{
        Error::Code::kMalformed,
        fmt::format("`{}` cannot be preloaded: its path has a space or a colon", library.string())};
  }
  std::vector<std::string> made = {before("LD_PRELOAD", library.string(), ":"),
                                   log_to_standard_error(), "GROMA_API_KEY"};
  if (mapping != nullptr) {
    auto text = mapping_variable(mapping->source());
    if (!text) return text.error();
    made.push_back(std::move(text).value());
  } else {
    made.emplace_back("GROMA_MAPPING");
  }
  const auto hand_over = [&made](const std::string& name, const std::string& file) {
    made.push_back(file.empty() ? name : name + "=" + absolute(file).string());
  };
  hand_over("GROMA_RECORD", run.record_file);
  hand_over("GROMA_LOG", run.log_file);
  hand_over("GROMA_PROFILE", profile_file);
  if (checked) made.push_back(before("LEGION_DEFAULT_ARGS", kCheckFlag, " "));
  const bool each = was_started_by_launcher() && !may_use_other_computers(run.words.front());
  made.emplace_back(each ? "GROMA_EACH_PROCESS=1" : "GROMA_EACH_PROCESS");
  const std::vector<std::string>& any_layout = run.override_layouts.tasks;
  made.push_back(any_layout.empty()
                     ? "GROMA_OVERRIDE_LAYOUTS"
                     : fmt::format("GROMA_OVERRIDE_LAYOUTS={}", fmt::join(any_layout, "\n")));
  add_stand_in(run, made);
  return made;
}

// Returns the environment variables for a run without Groma. Legion logs to standard error in both
// kinds of runs, so that their outputs can be compared.
std::vector<std::string> environment_without_groma(const ProgramRun& run) {
  std::vector<std::string> made = {log_to_standard_error(), "GROMA_API_KEY", "GROMA_MAPPING",
                                   "GROMA_RECORD",          "GROMA_LOG",     "GROMA_PROFILE"};
  add_stand_in(run, made);
  return made;
}

}  // namespace groma::inspect
