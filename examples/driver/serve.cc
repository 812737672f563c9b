// groma serve: a server of the Model Context Protocol, so that the agent of an editor or a chat
// program can use groma.
#include "groma/serve.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "commands.h"
#include "console.h"
#include "groma/version.h"
#include "inputs.h"
#include "llm.h"
#include "serve_calls.h"
#include "serve_tools.h"

namespace driver {
namespace {

namespace fs = std::filesystem;
namespace serve = groma::serve;
using groma::Error;

// The values of the options of `groma serve`.
struct ServeArguments {
  std::string root = ".";
  bool allows_commands = false;
  std::vector<std::string> endpoints;
  std::string api, model, key_file, price;
  double seconds = 600;
  std::int64_t memory_mib = 8192, result_kib = 100;
  int jobs = 4;
};

constexpr std::string_view kInstructions =
    "Groma decides where the tasks and the data of a parallel program go. You write a short "
    "mapping "
    "in its language; it never changes the program's results, only its speed. Begin with the tool "
    "`reference` for the language and the facts about the application and the machine. Then write "
    "a "
    "mapping, `check` it, see what it decides with `explain` and `place`, and measure it with "
    "`run` "
    "in a simulator. `tune` searches for a faster one. Mappings are given as text, or as paths "
    "below the folder of the server.";

// Returns the options that belong to each allowed endpoint.
std::vector<std::string> model_options(const ServeArguments& arguments) {
  std::vector<std::string> options;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) options.push_back(fmt::format("{}={}", name, value));
  };
  add("--api", arguments.api);
  add("--model", arguments.model);
  add("--price", arguments.price);
  std::error_code ignored;
  if (!arguments.key_file.empty()) {
    add("--key-file", fs::absolute(arguments.key_file, ignored).string());
  }
  return options;
}

// Makes what the server offers. The setup must outlive it.
serve::Service make_service(ServeSetup& setup) {
  serve::Service service;
  service.name = "groma";
  service.title = "Groma";
  service.version = groma::kVersion;
  service.instructions = kInstructions;
  for (const ToolDefinition& definition : tool_definitions()) {
    serve::Tool tool;
    tool.name = definition.name;
    tool.title = definition.title;
    tool.description = definition.about;
    tool.input_schema = input_schema(definition, setup.allows_commands).dump();
    tool.reads_only = definition.reads_only;
    tool.destroys = definition.destroys;
    tool.is_idempotent = definition.is_idempotent;
    tool.open_world = definition.open_world;
    // Such an exception is the lack of memory.
    tool.run = [&setup, &definition](const serve::Call& call) {
      try {
        return call_tool(setup, definition, call);
      } catch (const std::exception& exception) {
        return refusal({Error::Code::kUnreadable, exception.what()});
      }
    };
    service.tools.push_back(std::move(tool));
  }
  service.list_resources = [&setup](const serve::Call& call) {
    return list_resources(setup, call);
  };
  service.resource_templates = resource_templates();
  service.read_resource =
      [&setup](const std::string& uri,
               const serve::Call& call) -> groma::Result<std::vector<serve::ResourceText>> {
    try {
      return read_resource(setup, uri, call);
    } catch (const std::exception& exception) {
      return Error{Error::Code::kUnreadable, exception.what()};
    }
  };
  return service;
}

// A person at a terminal may have started the server by mistake, and would wait for ever.
void greet(const ServeSetup& setup) {
  if (isatty(STDIN_FILENO) == 0) return;
  print_error(fmt::format(
      "groma: serves {} to a client of the Model Context Protocol. A client starts this command "
      "and writes to its standard input; docs/agents.md says how. Ctrl-C ends it\n",
      setup.root.path().string()));
}

// Serves the client until it closes the input. Returns the exit code.
int run(const ServeArguments& arguments) {
  catch_interrupts();
  signal(SIGPIPE, SIG_IGN);
  auto root = ServeRoot::make(arguments.root);
  if (!root) return refuse(root.error());
  auto scratch = groma::ScratchFolder::make();
  if (!scratch) return refuse(scratch.error());
  std::error_code code;
  const std::string self = fs::read_symlink("/proc/self/exe", code).string();
  if (code) return refuse("cannot find the command groma itself: " + code.message(), "");
  for (const std::string& endpoint : arguments.endpoints) {
    ChatArguments chat;
    chat.endpoint = endpoint;
    chat.key_file = arguments.key_file;
    if (!arguments.api.empty()) chat.api = arguments.api;
    const auto client = make_chat_client(chat);
    if (!client) return refuse(client.error());
  }
  ServeSetup setup{.groma = self,
                   .root = std::move(root).value(),
                   .scratch = std::move(scratch).value(),
                   .allows_commands = arguments.allows_commands,
                   .endpoints = arguments.endpoints,
                   .model_options = model_options(arguments),
                   .seconds = arguments.seconds,
                   .memory_bytes = arguments.memory_mib << 20,
                   .result_bytes = static_cast<std::size_t>(arguments.result_kib) << 10};
  // The names of new searches are looked for in the working folder.
  fs::current_path(setup.root.path(), code);
  if (code) return refuse("cannot enter the root: " + code.message(), "");
  greet(setup);
  serve::ServeOptions options;
  options.jobs = arguments.jobs;
  options.stop = interrupted;
  const serve::Service service = make_service(setup);
  const serve::ServeEnd end = serve::serve_client(service, STDIN_FILENO, STDOUT_FILENO, options);
  return end == serve::ServeEnd::kStopped ? kInterrupted : kFine;
}

}  // namespace

void add_serve(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<ServeArguments>();
  CLI::App* command = app.add_subcommand(
      "serve", "Let an agent use groma: a server of the Model Context Protocol on standard input");
  command
      ->add_option("--root", arguments->root,
                   "The folder below which all files are that a call may read or write")
      ->check(not_empty)
      ->capture_default_str();
  command->add_flag("--allow-commands", arguments->allows_commands,
                    "Let calls run programs and shell commands of their choice, as you");
  command
      ->add_option("--allow-endpoint", arguments->endpoints,
                   "An endpoint of a language model that calls may use, as for `groma write`. May "
                   "be given several times; the first one is the default (default: none)")
      ->check(not_empty)
      ->allow_extra_args(false);
  command->add_option("--api", arguments->api, "The protocol that the endpoints speak")
      ->check(CLI::IsMember({"openai", "anthropic"}));
  command->add_option("--model", arguments->model, "The name of the model at the endpoints");
  command->add_option("--key-file", arguments->key_file,
                      "A file with the key for the endpoints (default: the variable "
                      "GROMA_API_KEY)");
  command
      ->add_option("--price", arguments->price,
                   "IN,OUT: the price of a million input tokens and of a million output tokens")
      ->check(chat_price_error);
  command->add_option("--call-time", arguments->seconds, "Limit the time of a call, in seconds")
      ->check(is_number)
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  command
      ->add_option("--call-memory", arguments->memory_mib,
                   "Limit the memory of each process of a call, in MiB")
      ->check(CLI::Range(std::int64_t{64}, std::int64_t{1} << 30))
      ->capture_default_str();
  command
      ->add_option("--max-result", arguments->result_kib,
                   "Limit the text of a result, and its structured content, in KiB")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  command->add_option("-j,--jobs", arguments->jobs, "Limit the calls that run at the same time")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  groma serve --root my_project\n"
      "                                   files below my_project, and simulated runs\n"
      "  groma serve --allow-commands     also runs programs and commands of the agent's choice\n"
      "  groma serve --allow-endpoint http://127.0.0.1:8080/v1\n"
      "                                   `write` and `tune` may ask this language model\n"
      "  claude mcp add groma -- groma serve --root .\n"
      "                                   tells Claude Code about it\n\n"
      "docs/agents.md has the configuration of other clients, and what each tool does.");
  command->callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace driver
