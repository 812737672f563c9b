// The options of commands that ask a language model, and the client that they make.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "groma/llm.h"

namespace driver {

struct ChatArguments {
  std::string endpoint, api = "openai", model, key_file, price, record, replay;
  std::optional<double> temperature;
};

void add_chat_options(CLI::App& command, ChatArguments* arguments);

// With the key of the file or of GROMA_API_KEY, and attempts that failed told to log(). `options`
// has what no argument says.
groma::Result<groma::ChatClient> make_chat_client(const ChatArguments& arguments,
                                                  groma::ChatOptions options = {});

// Ctrl-C ends a call. (`catch_interrupts` comes first.)
groma::ChatClient::Watch chat_watch();

}  // namespace driver
