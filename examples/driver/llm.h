// The options of commands that ask a language model, and the client that is made from these
// options.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "groma/llm.h"

namespace driver {

// The values of the options that add_chat_options() adds. An empty text or nullopt stands for an
// option that is not given.
struct ChatArguments {
  std::string endpoint, api = "openai", model, key_file, price, record, replay;
  std::optional<double> temperature;
  // The longest time for a reply, in seconds. nullopt: the limits of ChatOptions.
  std::optional<double> reply_timeout_s;
};

// Adds --endpoint, --api, --model, --key-file, --price, --record, --replay, --reply-timeout and
// --temperature.
void add_chat_options(CLI::App& command, ChatArguments* arguments);

// Returns why the text is not a price, or "" if it is one.
std::string chat_price_error(const std::string& price);

// Makes a client with the API key from the key file or from GROMA_API_KEY. Failed attempts are
// reported to log(). `options` supplies everything that the arguments do not set.
groma::Result<groma::llm::ChatClient> make_chat_client(const ChatArguments& arguments,
                                                       groma::llm::ChatOptions options = {});

// Returns a watch that ends a call to the model when Ctrl-C is pressed. Call catch_interrupts()
// first.
groma::llm::ChatClient::ReplyWatcher chat_watch();

}  // namespace driver
