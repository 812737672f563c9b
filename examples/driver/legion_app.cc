// Finds and describes the Legion programs that come with Groma.
#include "legion_app.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "console.h"
#include "groma/benchmarks.h"
#include "groma/io.h"

namespace driver {
namespace {

namespace fs = std::filesystem;

// True if the programs of this build have variants for GPUs.
#ifdef GROMA_PROGRAMS_ON_GPUS
constexpr bool kBuiltForGpus = true;
#else
constexpr bool kBuiltForGpus = false;
#endif

// The flags that set a machine's processors, and its memories in MiB.
constexpr std::string_view kAmounts[] = {"-ll:cpu", "-ll:csize", "-ll:nsize", "-ll:rsize",
                                         "-ll:gpu", "-ll:fsize", "-ll:zsize"};

// Returns the number behind a flag, or `otherwise` if the flag is not given.
std::int64_t amount(const std::vector<std::string>& flags, std::string_view flag,
                    std::int64_t otherwise) {
  const auto at = std::find(flags.begin(), flags.end(), flag);
  if (at == flags.end() || at + 1 == flags.end()) return otherwise;
  std::from_chars(at[1].data(), at[1].data() + at[1].size(), otherwise);
  return otherwise;
}

// Returns the names of the benchmarks with a program in a folder: "circuit, johnson".
std::string names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    std::string name = entry->path().filename().string();
    if (groma::find_benchmark(name) != nullptr) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

// Searches the library in the build folder, then in the installation, relative to this command.
groma::Result<std::string> own_library() {
  std::error_code code;
  const fs::path folder = fs::read_symlink("/proc/self/exe", code).parent_path();
  for (const char* to_libraries : {GROMA_LIBRARIES_FROM_BUILT, GROMA_LIBRARIES_FROM_INSTALLED}) {
    const fs::path library = folder / to_libraries / "groma" / "libgroma_preload.so";
    if (fs::is_regular_file(library, code)) return library.lexically_normal().string();
  }
  return groma::Error{groma::Error::Code::kUnreadable,
                      "this build has no library for Legion programs",
                      "build Groma with a Legion (docs/legion.md, \"Build\")"};
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

void check_flags(const std::string& app, const groma::Workload& workload,
                 const std::vector<std::string>& flags) {
  const std::string name = app.substr(0, app.find(':'));
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string& flag = flags[i];
    const std::string value = i + 1 < flags.size() ? flags[i + 1] : "";
    // A parameter of the application is refused among the flags of Legion. The program would accept
    // `-n 512`, but the report would still show the parameter value of --app.
    for (const auto& [parameter, given] : workload.values()) {
      if (flag != "-" + parameter) continue;
      throw CLI::ValidationError(
          "--", fmt::format("`{}` is a parameter of {}, not a flag of Legion: --app {}:{}={}", flag,
                            name, name, parameter, value.empty() ? std::to_string(given) : value));
    }
    // The flags in kAmounts need a number behind them.
    if (std::find(std::begin(kAmounts), std::end(kAmounts), flag) == std::end(kAmounts)) continue;
    const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    if (!value.empty() && std::all_of(value.begin(), value.end(), is_digit)) continue;
    throw CLI::ValidationError(
        "--", fmt::format("`{}` takes a number{}", flag,
                          value.empty() ? "" : fmt::format(", not `{}`", visible(value))));
  }
}

// Uses Legion's default value for each flag that is not given.
groma::Result<groma::Machine> machine_of(const std::vector<std::string>& flags) {
  // The machine is described as JSON, so that missing figures come from the default preset.
  using Json = nlohmann::json;
  Json memories = Json::array();
  const auto add = [&](const char* kind, std::int64_t megabytes) {
    if (megabytes > 0) memories.push_back({{"kind", kind}, {"capacity_bytes", megabytes << 20}});
  };
  add("SYSMEM", amount(flags, "-ll:csize", 512));
  add("SOCKMEM", amount(flags, "-ll:nsize", 0));
  add("RDMEM", amount(flags, "-ll:rsize", 0));
  Json processors = Json::array();
  processors.push_back({{"kind", "CPU"}, {"count", amount(flags, "-ll:cpu", 1)}});
  if (const std::int64_t gpus = amount(flags, "-ll:gpu", 0); gpus > 0) {
    processors.push_back({{"kind", "GPU"}, {"count", gpus}});
    add("FBMEM", amount(flags, "-ll:fsize", 256));
    add("ZCMEM", amount(flags, "-ll:zsize", 64));
  }
  const Json node = {{"processors", processors}, {"memories", memories}};
  return groma::machine_from_json(Json{{"nodes", {node}}}.dump(), "legion");
}

groma::ProgramVariants program_variants(const std::vector<std::string>& flags) {
  return kBuiltForGpus && amount(flags, "-ll:gpu", 0) > 0 ? groma::ProgramVariants::kCpusAndGpus
                                                          : groma::ProgramVariants::kCpus;
}

groma::Result<std::string> legion_program(const std::string& app, const std::string& for_others) {
  using Code = groma::Error::Code;
  const auto library = own_library();
  if (!library) return library.error();
  const std::string name = app.substr(0, app.find(':'));
  const fs::path programs = fs::path(*library).parent_path() / "apps";
  std::error_code code;
  // A benchmark may exist without a Legion program. The help lists those that have one.
  if (groma::find_benchmark(name) == nullptr || !fs::is_regular_file(programs / name, code)) {
    return groma::Error{Code::kUnknown, fmt::format("there is no Legion program for `{}`", name),
                        fmt::format("there is {}; {}", names_in(programs), for_others)};
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
