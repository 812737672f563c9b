// The command `groma`: parses the arguments, calls the library and prints the results. The manual
// is docs/commands.md.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "commands.h"
#include "completion.h"
#include "console.h"
#include "groma/spelling.h"
#include "groma/version.h"

namespace {

// For an unknown command such as `groma strategis`, suggests the closest command. Returns false if
// the first argument is a command.
bool unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-' || !app.get_subcommands().empty()) return false;
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const auto near = groma::near_names(argv[1], names);
  driver::print_error(fmt::format("groma: no command is named `{}`\nhelp: {}\n", argv[1],
                                  near.empty()
                                      ? "`groma --help` lists them"
                                      : fmt::format("did you mean {}?", groma::join_names(near))));
  return true;
}

// Returns the option that was probably meant by an unknown one such as `--evaluation`, or an empty
// string.
std::string option_meant(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands()) {
    for (const CLI::Option* option : command->get_options()) {
      names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
    }
  }
  // Only long options are compared, and the first one that has a similar name is suggested.
  for (const std::string& word : words) {
    if (!word.starts_with("--")) continue;
    const auto near = groma::near_names(word.substr(2, word.find('=') - 2), names);
    if (!near.empty()) return fmt::format("did you mean `--{}`?", near.front());
  }
  return "";
}

// Reports unexpected arguments, such as those of `groma record ./program -n 4`, and where they
// belong.
void say_unexpected(const CLI::App& app, const std::string& command, bool divided,
                    const std::vector<std::string>& words) {
  const auto all = fmt::format("{}", fmt::join(words, " "));
  std::string help = option_meant(app, words);
  if (!help.empty() || divided) {
    // For these words there is no other place on the command line that could be suggested.
  } else if (command == "record") {
    help = "put the program and its arguments after `--`: groma record -- " + all;
  } else if (command == "run") {
    help =
        "put a Legion program, its arguments and flags of Legion after `--`: groma run --map "
        "FILE -- PROGRAM ARGS, groma run --on legion --app A -- -ll:cpu 2";
  } else if (command == "tune" && words.size() == 1 && !words[0].starts_with('-')) {
    help = "name the application with --app: groma tune --app " + all;
  } else if (command == "tune") {
    help =
        "put flags of Legion, or a Legion program, after `--`: groma tune --on legion --app A -- "
        "-ll:cpu 2, groma tune --app A --verify -- PROGRAM ARGS";
  }
  driver::print_error(fmt::format("The following argument{} not expected: {}\n{}",
                                  words.size() == 1 ? " was" : "s were", all,
                                  help.empty() ? "" : "help: " + help + "\n"));
}

}  // namespace

int main(int argc, char** argv) {
  // A parent may have set SIGCHLD to be ignored. Then the end of a child process would go
  // unnoticed.
  signal(SIGCHLD, SIG_DFL);
  int exit_code = driver::kFine;
  CLI::App app("Decides where the tasks and data of a parallel program go.", "groma");
  app.formatter(std::make_shared<driver::HelpFormatter>());
  app.set_version_flag("--version", fmt::format("groma {}", groma::kVersion));
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  groma check my.mapper                          what is wrong with a mapping\n"
      "  groma place my.mapper --machine p100x4:nodes=2 --task work --domain 8x4\n"
      "                                                 where every point of a launch goes\n"
      "  groma explain my.mapper --machine p100x4 --app my.json\n"
      "                                                 every decision and its statement\n"
      "  groma run my.mapper --app circuit              how fast it runs, simulated\n"
      "  groma run --map my.mapper -- ./my_program      runs a Legion program under it\n"
      "  groma record -- ./my_program                   writes its tasks and data for --app\n"
      "  groma diff a.mapper b.mapper --app circuit     what differs, and what that costs\n"
      "  groma guide run.log --program my.mapper        what a run's output means\n"
      "  groma tune --app circuit                       searches for a faster mapping\n"
      "  groma report tune                              a page about the search in `tune`\n"
      "  groma write 'All tasks on GPUs' --app circuit  a language model writes a mapping\n"
      "  groma serve --root my_project                  lets an agent use all of this (MCP)\n"
      "  groma format --in-place my.mapper              formats the file\n"
      "  groma emit my.mapper -o my_mapper.cc           the mapping as C++ for Legion\n"
      "  groma lsp                                      serves editors\n"
      "  groma machines                                 the built-in machines\n"
      "  groma apps                                     the built-in applications\n\n"
      "Exit codes: 0 fine, 1 the input is wrong, 2 wrong usage, 130 after Ctrl-C.");
  driver::add_check(app, &exit_code);
  driver::add_format(app, &exit_code);
  driver::add_place(app, &exit_code);
  driver::add_explain(app, &exit_code);
  driver::add_diff(app, &exit_code);
  driver::add_domain(app, &exit_code);
  // The callbacks of these commands refer to `behind`, the words after `--`. They are filled in
  // below, before app.parse() calls a callback.
  std::vector<std::string> behind;
  driver::add_run(app, behind, &exit_code);
  driver::add_record(app, behind, &exit_code);
  driver::add_guide(app, &exit_code);
  driver::add_tune(app, behind, &exit_code);
  driver::add_report(app, &exit_code);
  driver::add_write(app, &exit_code);
  driver::add_prompt(app, &exit_code);
  driver::add_serve(app, &exit_code);
  driver::add_emit(app, &exit_code);
  driver::add_machines(app, &exit_code);
  driver::add_apps(app, &exit_code);
  driver::add_sample(app, &exit_code);
  driver::add_strategies(app, &exit_code);
  driver::add_grammar(app, &exit_code);
  driver::add_llm(app, &exit_code);
#ifdef GROMA_LANGUAGE_SERVER
  driver::add_lsp(app, &exit_code);
#endif
  driver::add_completion(app, behind, &exit_code);
  driver::add_manual(app, &exit_code);
  // `groma help` means `groma --help`; `groma help run` means `groma run --help`.
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  // Arguments after `--` belong to the program, whatever they look like.
  const std::string command = arguments.empty() ? "" : arguments.front();
  // `divided` is false if the command takes words after `--` and the user did not write `--`.
  bool divided = true;
  const CLI::App* const chosen = driver::find_command(app, command);
  if (chosen != nullptr && !driver::help_formatter(*chosen).behind().empty()) {
    const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
    divided = dashes != arguments.end();
    if (dashes != arguments.end()) behind.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }
  // CLI11 expects the arguments in reverse order.
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    const int asks_help = argc > 1 && std::string_view(argv[1]) == "help" ? 1 : 0;
    // An unknown command gets a suggestion instead of CLI11's message.
    if (unknown_command(app, argc - asks_help, argv + asks_help)) return driver::kWrongUsage;
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
      say_unexpected(app, command, divided, app.remaining(/*recurse=*/true));
      driver::print_error("Run with --help for more information.\n");
      return driver::kWrongUsage;
    }
    std::ostringstream out, err;
    // `asked` is true if the user requested the help or the version.
    const bool asked = app.exit(error, out, err) == 0;
    driver::print_error(err.str());
    return asked ? driver::print(out.str()) : driver::kWrongUsage;
  } catch (const std::bad_alloc&) {
    driver::print_error(
        "groma: this computer has too little memory for that\n"
        "help: a smaller machine or a smaller problem needs less; `--memory` limits what a "
        "simulated run may take\n");
    return driver::kWrongInput;
  }
  return exit_code;
}
