// groma llm: tests whether a chat endpoint works.
#include "llm.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "commands.h"
#include "console.h"
#include "inputs.h"

namespace driver {
namespace {

// The values of the options of `groma llm check`.
struct ChatCheckArguments {
  ChatArguments chat;
  bool strict = false, json = false;
};

// Reports an Error or a ChatError, as text or as JSON. Returns kWrongInput.
template <typename E>
int refuse_check(const E& error, bool json) {
  if (!json) return refuse(error.message, error.help);
  static_cast<void>(print(groma::llm::to_json(error)));
  return kWrongInput;
}

// Asks the endpoint and prints what it can do. Returns the exit code.
int run_check(const ChatCheckArguments& arguments) {
  catch_interrupts();
  groma::llm::ChatOptions options;
  // Few attempts are made, because a person waits for the result.
  options.attempts = 3;
  auto client = make_chat_client(arguments.chat, std::move(options));
  if (!client) return refuse_check(client.error(), arguments.json);
  const auto check =
      groma::llm::check_chat(client.value(), arguments.chat.temperature, chat_watch());
  if (!check && check.error().code == groma::llm::ChatError::Code::kStopped) return kInterrupted;
  if (!check) return refuse_check(check.error(), arguments.json);
  const int printed = print(arguments.json ? to_json(*check) : render(*check));
  if (!arguments.strict || check->structured()) return printed;
  print_error(
      "groma: the endpoint can force replies neither into a JSON schema nor into a grammar\n");
  return kWrongInput;
}

}  // namespace

std::string chat_price_error(const std::string& price) {
  const auto parsed = groma::llm::parse_chat_price(price);
  return parsed ? "" : parsed.error().message;
}

void add_chat_options(CLI::App& command, ChatArguments* arguments) {
  command.add_option("--endpoint", arguments->endpoint,
                     "The address of the chat endpoint, such as http://127.0.0.1:8080/v1, or "
                     "exec:CMD for a program (default: the public address of the API)");
  command.add_option("--api", arguments->api, "The protocol that the endpoint speaks")
      ->capture_default_str()
      ->check(CLI::IsMember({"openai", "anthropic"}));
  command.add_option("--model", arguments->model,
                     "The name of the model (default: the first one that the endpoint lists)");
  command
      .add_option(
          "--key-file", arguments->key_file,
          "A file with the API key, readable only by you (default: the variable GROMA_API_KEY)")
      ->type_name(kFileType);
  command
      .add_option("--temperature", arguments->temperature,
                  "The sampling temperature, passed to the model as it is")
      ->check(is_number)
      ->check(CLI::Range(0.0, 2.0));
  command
      .add_option("--price", arguments->price,
                  "IN,OUT: the price of a million input tokens and of a million output tokens")
      ->check(chat_price_error);
  command
      .add_option("--reply-timeout", arguments->reply_timeout_s,
                  "How long a reply may take, in seconds, with the time in the server's queue and "
                  "all attempts (default: 600, or 120 of silence within a reply)")
      ->check(is_number)
      ->check(CLI::Range(0.001, 1e6));
  auto* record = command
                     .add_option("--record", arguments->record,
                                 "Write every request and reply to this new file")
                     ->type_name(kFileType);
  command
      .add_option("--replay", arguments->replay,
                  "Take the replies from a file that --record wrote, without calling the endpoint")
      ->type_name(kFileType)
      ->excludes(record);
}

groma::Result<groma::llm::ChatClient> make_chat_client(const ChatArguments& arguments,
                                                       groma::llm::ChatOptions options) {
  options.endpoint = arguments.endpoint;
  options.api =
      arguments.api == "openai" ? groma::llm::ChatApi::kOpenAi : groma::llm::ChatApi::kAnthropic;
  options.model = arguments.model;
  options.record = arguments.record;
  options.replay = arguments.replay;
  // A model that thinks for long may also be silent for as long.
  if (arguments.reply_timeout_s) {
    options.total_timeout_ms = static_cast<int>(std::ceil(1000 * *arguments.reply_timeout_s));
    options.idle_timeout_ms = options.total_timeout_ms;
  }
  // Retries and waits are reported, so that the user does not wonder about a long silence.
  options.log = &log();
  if (!arguments.price.empty())
    options.price = groma::llm::parse_chat_price(arguments.price).value();
  // A replay does not call the endpoint, so it needs no key.
  if (arguments.replay.empty()) {
    auto key = groma::llm::find_chat_key(arguments.key_file);
    if (!key) return key.error();
    options.key = std::move(key).value();
  }
  return groma::llm::ChatClient::make(std::move(options));
}

groma::llm::ChatClient::ReplyWatcher chat_watch() {
  return {[] { return interrupted(); }, {}};
}

void add_llm(CLI::App& app, int* exit_code) {
  CLI::App* group = app.add_subcommand("llm", "Check endpoints of language models");
  group->require_subcommand(1);
  auto arguments = std::make_shared<ChatCheckArguments>();
  CLI::App* command =
      group->add_subcommand("check", "Check whether a chat endpoint works, and what it supports");
  add_chat_options(*command, &arguments->chat);
  command->add_flag("--strict", arguments->strict,
                    "Exit with 1 if the endpoint can force replies neither into a JSON schema nor "
                    "into a grammar");
  add_json_flag(*command, &arguments->json);
  command->footer(
      "Examples:\n"
      "  groma llm check --endpoint http://127.0.0.1:8080/v1\n"
      "  GROMA_API_KEY=... groma llm check --model gpt-4o --price 2.5,10\n"
      "  groma llm check --endpoint 'exec:python3 my_model.py' --record round.jsonl\n"
      "  groma llm check --replay round.jsonl");
  command->callback([arguments, exit_code] { *exit_code = run_check(*arguments); });
}

}  // namespace driver
