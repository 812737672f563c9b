// groma explain: every decision about an application, and who took it.
#include "groma/explain.h"

#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "groma/evaluate.h"
#include "groma/inspect.h"

namespace driver {
namespace {

struct Options {
  std::string file, machine = "p100x4", app;
  groma::ExplainQuery query;
  bool as_mapping = false;
  bool json = false;
};

void check_usage(const Options& options) {
  if (options.as_mapping && options.json) {
    throw CLI::ValidationError("--as-mapping", "it prints a program, not JSON");
  }
  if (!options.as_mapping && options.file.empty()) throw CLI::RequiredError("FILE");
  check_standard_input({options.file, options.machine, options.app});
}

int run(const Options& options) {
  check_usage(options);
  std::optional<groma::Diagnostics> diags;
  const auto with = read_inputs(options.machine, options.app, &diags);
  if (!with) return fail(*diags, options.json);
  if (options.as_mapping) {
    if (!options.file.empty()) {
      print_error(fmt::format("note: `{}` is not read: this is what the default mapper decides\n",
                              options.file));
    }
    diags.emplace(groma::Source(options.app, ""));
    const auto text =
        groma::default_mapping(*with->workload, *with->machine, options.query, *diags);
    return text ? print(*text) : fail(*diags, false);
  }
  const auto bound = read_mapping(options.file, *with->machine, &diags);
  if (!bound) return fail(*diags, options.json);
  const auto explanation = groma::explain(*bound, *with->workload, options.query, *diags);
  if (!explanation) return fail(*diags, options.json);
  const bool failed = diags->has_errors();
  if (options.json) {
    if (print(groma::to_json(*explanation, bound->program(), *diags)) != kFine) return kWrongInput;
  } else {
    print_error(render(*diags, color_on_stderr()));
    if (print(groma::draw(*explanation, bound->program(), color_on_stdout())) != kFine)
      return kWrongInput;
  }
  return failed ? kWrongInput : kFine;
}

}  // namespace

void add_explain(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "explain", "Every decision about an application, and the statement that took it");
  command->add_option("FILE", options->file, "A mapping program; `-` is standard input");
  add_machine_option(*command, &options->machine);
  add_app_option(*command, &options->app)->required();
  command->add_option("--task", options->query.task, "This task alone");
  command->add_option("--region", options->query.region,
                      "Of the regions this one alone: a name, or a position");
  command->add_flag("--as-mapping", options->as_mapping,
                    "Instead, what the default mapper decides, as a program; FILE is not read");
  add_json_flag(*command, &options->json);
  command->footer(
      "Examples:\n"
      "  groma explain my.mapper --machine p100x4 --app my.json\n"
      "  groma explain my.mapper --app my.json --task init --region ghosts\n"
      "  groma explain --as-mapping --machine lassen:nodes=16 --app my.json > start.mapper");
  command->callback([options, exit_code] { *exit_code = run(*options); });
}

}  // namespace driver
