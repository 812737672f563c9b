// groma apps: lists the applications that come with Groma, or shows one of them.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "groma/benchmarks.h"
#include "groma/inspect.h"
#include "groma/io.h"
#include "inputs.h"
#include "json_list.h"

namespace driver {
namespace {

// Returns the list of the benchmarks, one on each line.
std::string list_apps() {
  std::string text;
  for (const groma::Benchmark& benchmark : groma::built_in_applications()) {
    text += fmt::format("{:<11}{}\n", benchmark.name, benchmark.summary);
  }
  return text +
         "\nAlso an application: a JSON file (docs/applications.md). `groma apps NAME` shows "
         "one.\n";
}

// Lists the applications, or shows the named one. Returns the exit code.
int run(const std::string& name, bool json) {
  if (name.empty()) {
    return print(json ? json_list("applications", groma::built_in_applications()) : list_apps());
  }
  // The name may have parameter values behind a colon: `cannon:nodes=4`. The title of the drawn
  // application is the name without these values.
  std::optional<groma::Diagnostics> diags;
  const auto inputs = read_inputs("", name, &diags);
  if (!inputs) return fail(*diags, json);
  if (json) return print(groma::application_to_json(*inputs->app));
  return print(groma::draw(*inputs->app, name.substr(0, name.find(':'))));
}

}  // namespace

void add_apps(CLI::App& app, int* exit_code) {
  auto name = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("apps", "List the built-in applications, or describe one application");
  command
      ->add_option(
          "NAME", *name,
          "The application to describe, as for --app: cannon, cannon:n=8000, or a JSON file")
      ->type_name(kAppType);
  command->add_flag("--json", *json,
                    "Print the application as the JSON that --app reads; without NAME, the names "
                    "of all applications");
  command->footer(
      "Examples:\n"
      "  groma apps\n"
      "  groma apps cannon\n"
      "  groma apps cannon:nodes=4 --json > mine.json\n"
      "  groma apps mine.json");
  command->callback([name, json, exit_code] { *exit_code = run(*name, *json); });
}

}  // namespace driver
