// The part of `groma tune` that measures mappings with the benchmarks' own Legion programs.
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "console.h"
#include "groma/evaluators.h"
#include "groma/run.h"
#include "legion_app.h"
#include "tune.h"

namespace driver {
namespace {

// Returns how to tune a Legion program that does not come with Groma.
std::string for_other_programs(const std::string& app) {
  const std::string recorded = app.ends_with(".json") ? visible(app) : "APP.json";
  return fmt::format(
      "any other program: `groma tune --app {0} --machine M --verify -- PROGRAM ARGS` simulates "
      "the mappings and then runs the best ones; `groma tune --app {0} --command 'groma run --map "
      "{{file}} -- PROGRAM ARGS'` runs each one (`groma record` writes {0})",
      recorded);
}

}  // namespace

groma::Result<std::string> benchmark_program(const std::string& app) {
  return legion_program(app, for_other_programs(app));
}

std::optional<groma::Error> begin_on_legion(groma::tuning::SearchSetup* setup) {
  setup->flags = with_cpus(setup->flags);
  // The machine follows from Legion's flags, so --machine is not used.
  setup->machine.clear();
  for (std::string& app : setup->apps) {
    if (const auto program = benchmark_program(app); !program) return program.error();
    app = for_this_computer(app);
  }
  measure_on_legion(setup);
  return std::nullopt;
}

// Sets the commands of the search, which evaluate each mapping: they call this executable again to
// run the Legion program under the mapping. Also sets which kinds of processors and memories Legion
// lacks with the given flags.
void measure_on_legion(groma::tuning::SearchSetup* setup) {
  std::error_code ignored;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  groma::tuning::CommandEvaluatorOptions& command = setup->command;
  command =
      groma::tuning::with_legion_commands(std::move(command), self, setup->apps, setup->flags);
  // Wrong flags are reported where the applications are read.
  if (const auto machine = machine_of(setup->flags)) {
    command.lacking = groma::missing_machine_kinds(*machine);
  }
}

}  // namespace driver
