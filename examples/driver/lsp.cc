// groma lsp: the language server on standard input and standard output.
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "commands.h"
#include "console.h"
#include "groma/language_server.h"
#include "inputs.h"

namespace driver {
namespace {

// The values of the options of `groma lsp`.
struct LspArguments {
  std::string machine, app;
  bool stdio = false;
};

std::size_t read_input(char* buffer, std::size_t size) {
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, buffer, size);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return 0;
  }
}

// Writes all bytes. They are messages of the protocol in JSON, which an editor reads and no
// terminal.
bool write_output(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

int run(const LspArguments& options) {
  check_standard_input({options.machine, options.app});
  for (const std::string& spec : {options.machine, options.app}) {
    if (spec != "-" && !spec.starts_with("-:")) continue;
    throw CLI::ValidationError("`-`", "standard input belongs to the editor");
  }
  if (isatty(STDIN_FILENO) != 0) {
    print_error(
        "note: an editor starts this command and writes messages to it; docs/editors.md shows how. "
        "Ctrl-D ends it\n");
  }
  // An editor that went away ends the session, not the process.
  signal(SIGPIPE, SIG_IGN);
  groma::LanguageServerOptions server;
  server.machine = options.machine;
  server.app = options.app;
  server.log = &log();
  return groma::serve_language(read_input, write_output, server) == 0 ? kFine : kWrongInput;
}

}  // namespace

void add_lsp(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<LspArguments>();
  CLI::App* command = app.add_subcommand(
      "lsp", "Serve editors: the Language Server Protocol on standard input and output");
  add_machine_option(*command, &options->machine,
                     "The machine of mappings for which no `groma.toml` names one");
  add_app_option(*command, &options->app,
                 "The application of mappings for which no `groma.toml` names one");
  command->add_flag("--stdio", options->stdio,
                    "Accepted because some editors pass it; there is no other way to talk");
  command->footer(
      "An editor starts this command. A file `groma.toml` in the folder of a mapping, or above "
      "it,\n"
      "names the machine and the application:\n"
      "  machine = \"p100x4:nodes=2\"\n"
      "  app = \"circuit\"\n\n"
      "Examples:\n"
      "  groma lsp\n"
      "  groma lsp --machine p100x4 --app my.json\n\n"
      "Exit codes: 0 after `shutdown` and `exit`, otherwise 1; 2 wrong usage.");
  command->callback([options, exit_code] { *exit_code = run(*options); });
}

}  // namespace driver
