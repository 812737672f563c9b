#include "legion_app.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "groma/benchmarks.h"

namespace driver {
namespace {

namespace fs = std::filesystem;

// "circuit, johnson"
std::string names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string own_library() {
  std::error_code code;
  const fs::path folder = fs::read_symlink("/proc/self/exe", code).parent_path();
  for (const char* to_libraries : {GROMA_LIBRARIES_FROM_BUILT, GROMA_LIBRARIES_FROM_INSTALLED}) {
    const fs::path library = folder / to_libraries / "groma" / "libgroma_preload.so";
    if (fs::is_regular_file(library, code)) return library.lexically_normal().string();
  }
  return {};
}

std::string for_this_computer(const std::string& app) {
  const std::size_t colon = app.find(':');
  const std::string given = colon == app.npos ? "" : app.substr(colon + 1);
  if (("," + given).find(",size=") != std::string::npos) return app;
  return fmt::format("{}:{}size=small", app.substr(0, colon), given.empty() ? "" : given + ",");
}

std::vector<std::string> with_cpus(std::vector<std::string> flags) {
  if (std::find(flags.begin(), flags.end(), "-ll:cpu") == flags.end()) {
    flags.insert(flags.end(),
                 {"-ll:cpu", std::to_string(std::max(1U, std::thread::hardware_concurrency()))});
  }
  return flags;
}

std::string machine_of(const std::vector<std::string>& flags) {
  const auto cpus = std::find(flags.begin(), flags.end(), "-ll:cpu");
  return fmt::format("nodes=1,gpu=0,omp=0,cpu={}", cpus + 1 < flags.end() ? cpus[1] : "1");
}

groma::Result<std::string> legion_program(const std::string& app) {
  using Code = groma::Error::Code;
  const std::string library = own_library();
  if (library.empty()) {
    return groma::Error{Code::kUnreadable, "this build has no library for Legion programs",
                        "build Groma with a Legion (docs/legion.md)"};
  }
  const std::string name = app.substr(0, app.find(':'));
  const fs::path programs = fs::path(library).parent_path() / "apps";
  std::error_code code;
  if (groma::find_benchmark(name) == nullptr || !fs::is_regular_file(programs / name, code)) {
    return groma::Error{Code::kUnknown, fmt::format("`{}` is not there as a Legion program", name),
                        fmt::format("there is {}; `groma run --map FILE -- PROGRAM` takes any",
                                    names_in(programs))};
  }
  return (programs / name).string();
}

std::vector<std::string> parameters_of(const groma::Workload& workload) {
  std::vector<std::string> words;
  for (const auto& [parameter, value] : workload.values()) {
    words.insert(words.end(), {"-" + parameter, std::to_string(value)});
  }
  return words;
}

}  // namespace driver
