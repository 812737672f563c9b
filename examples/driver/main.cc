// The command `groma`: parses arguments, calls the library, prints. docs/commands.md is its manual.
#include <fmt/format.h>

#include "commands.h"
#include "console.h"
#include "groma/version.h"

int main(int argc, char** argv) {
  int exit_code = driver::kFine;
  CLI::App app("Decides where the tasks and data of a parallel program go.", "groma");
  app.set_version_flag("--version", fmt::format("groma {}", groma::kVersion));
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  groma check my.mapper                          what is wrong with a mapping program\n"
      "  groma place my.mapper --machine p100x4:nodes=2 --task work --domain 8x4\n"
      "                                                 where every point of a launch goes\n"
      "  groma explain my.mapper --machine p100x4 --app my.json\n"
      "                                                 every decision and who took it\n"
      "  groma format --in-place my.mapper              the one style\n"
      "  groma machines                                 machines that come with it\n\n"
      "Exit codes: 0 fine, 1 the input is wrong, 2 wrong usage, 130 after Ctrl-C.");
  driver::add_check(app, &exit_code);
  driver::add_format(app, &exit_code);
  driver::add_place(app, &exit_code);
  driver::add_explain(app, &exit_code);
  driver::add_machines(app, &exit_code);
  driver::add_strategies(app, &exit_code);
  driver::add_grammar(app, &exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? driver::kFine : driver::kWrongUsage;
  }
  return exit_code;
}
