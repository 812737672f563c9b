#include "run_map.h"

#include <fmt/format.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "commands.h"
#include "console.h"
#include "groma/run.h"
#include "groma/run_program.h"

namespace driver {
namespace {

namespace fs = std::filesystem;

// libgroma_preload.so of the build or the installation that this command is of; empty where there
// is none.
std::string own_library() {
  std::error_code code;
  const fs::path folder = fs::read_symlink("/proc/self/exe", code).parent_path();
  for (const char* to_libraries : {GROMA_LIBRARIES_FROM_BUILT, GROMA_LIBRARIES_FROM_INSTALLED}) {
    const fs::path library = folder / to_libraries / "groma" / "libgroma_preload.so";
    if (fs::is_regular_file(library, code)) return library.lexically_normal().string();
  }
  return {};
}

// In the user's own folder; empty where there is none.
std::string checked_file() {
  const auto variable = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  const std::string cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (!cache.empty()) return cache + "/groma/checked";
  return home.empty() ? "" : home + "/.cache/groma/checked";
}

}  // namespace

void add_program_options(CLI::App& command, ProgramArguments* arguments, CLI::Option* map,
                         bool always) {
  const std::string with = always ? "" : "With --map: ";
  CLI::Option* const timeout =
      command
          .add_option("--timeout", arguments->timeout_s,
                      with + "the program is ended after so many seconds; 0: never")
          ->check(CLI::Range(0.0, 1e9))
          ->capture_default_str();
  command
      .add_option("--checks", arguments->checks,
                  "With --map: when Legion checks what the mapping decides, which costs time; "
                  "first: until the program has run well under it")
      ->check(CLI::IsMember({"first", "always", "never"}))
      ->needs(map)
      ->capture_default_str();
  CLI::Option* const library =
      command.add_option("--library", arguments->library,
                         with + "libgroma_preload.so of a Groma built with the program's Legion");
  if (always) return;
  timeout->needs(map);
  library->needs(map);
}

groma::Result<groma::ProgramRun> program_run(const ProgramArguments& arguments) {
  groma::ProgramRun run;
  run.words = arguments.words;
  run.library = arguments.library.empty() ? own_library() : arguments.library;
  if (run.library.empty()) {
    return groma::Error{
        groma::Error::Code::kUnknown, "this build has no library for Legion programs",
        "build Groma with a Legion (docs/legion.md), or name the library: --library FILE"};
  }
  run.timeout_ms = static_cast<std::int64_t>(arguments.timeout_s * 1000);
  run.checks = arguments.checks == "always"  ? groma::ProgramRun::Checks::kAlways
               : arguments.checks == "never" ? groma::ProgramRun::Checks::kNever
                                             : groma::ProgramRun::Checks::kFirst;
  run.checked_file = checked_file();
  // Nobody may end us but together with the program.
  signal(SIGPIPE, SIG_IGN);
  catch_interrupts();
  return run;
}

Hearing::Hearing(groma::ProgramRun& run, bool quiet) {
  run.on_output = [this, quiet](std::string_view bytes, bool is_error) {
    if (is_error || quiet) {
      print_error(bytes);
    } else {
      unheard_ = unheard_ || print(bytes) != kFine;
    }
  };
  run.stop = [this] { return interrupted() || unheard_; };
}

int run_under_mapping(const MapArguments& arguments) {
  check_standard_input({arguments.file});
  std::optional<groma::Diagnostics> diags;
  if (!read_source(arguments.file, &diags)) return fail(*diags, arguments.json);
  const groma::Program mapping = groma::compile(diags->source(), *diags);
  if (diags->has_errors()) {
    if (!arguments.json) return fail(*diags, false);
    print(groma::check_failed_json(*diags));
    return kWrongInput;
  }

  auto run = program_run(arguments.program);
  if (!run) return refuse(run.error());
  const Hearing hearing(*run, arguments.json);
  const auto result = groma::run_program(mapping, *run);
  if (interrupted()) return kInterrupted;
  if (!result) return refuse(result.error());
  if (!arguments.json) print_error(render(*diags, color_on_stderr()));
  const std::string text = arguments.json ? groma::to_json(*result, *diags)
                                          : groma::draw(*result, mapping, *run, color_on_stdout());
  const bool printed = !hearing.unheard() && print(text) == kFine;
  return result->ok() && printed ? kFine : kWrongInput;
}

}  // namespace driver
