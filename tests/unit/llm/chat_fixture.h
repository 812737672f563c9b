// A chat client and the server that fails as it is told, for all tests of the channel.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "groma/llm.h"
#include "groma/log.h"
#include "support/chat_server.h"

namespace groma {

inline constexpr const char* kKey = "sk-groma-SECRET-0123456789";

inline llm::ChatRequest hello() {
  llm::ChatRequest request;
  request.messages = {{llm::ChatMessage::Role::kUser, "say hello"}};
  request.max_tokens = 64;
  return request;
}

class Lines : public LogSink {
 public:
  void log(LogLevel, std::string_view line) override { text += std::string(line) + "\n"; }
  std::string text;
};

class Client : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new ::groma::testing::ChatServer; }
  static void TearDownTestSuite() { delete server_; }

  static llm::ChatOptions options(const std::string& behaviour, bool stream = false) {
    llm::ChatOptions options;
    options.endpoint = server_->at(behaviour);
    options.model = "served";
    options.stream = stream;
    options.backoff_ms = 1;
    options.attempts = 3;
    const bool falls_silent = behaviour.find("stall") != behaviour.npos || behaviour == "pings" ||
                              behaviour == "slow-first";
    if (falls_silent) options.idle_timeout_ms = 200;
    options.total_timeout_ms = 60'000;
    return options;
  }

  static llm::ChatClient make(llm::ChatOptions options) {
    auto client = llm::ChatClient::make(std::move(options));
    GROMA_CHECK(client.ok());
    return std::move(client).value();
  }

  static Result<llm::ChatReply, llm::ChatError> ask(const std::string& behaviour,
                                                    bool stream = false) {
    return make(options(behaviour, stream)).ask(hello());
  }

  // What was asked under this behaviour.
  static std::vector<nlohmann::json> asked(const std::string& behaviour) {
    std::vector<nlohmann::json> found;
    for (const nlohmann::json& request : nlohmann::json::parse(server_->log())) {
      if (request["path"].get<std::string>().starts_with("/" + behaviour + "/")) {
        found.push_back(request);
      }
    }
    return found;
  }

  static llm::ChatKey key() { return llm::ChatKey::make(kKey).value(); }

  static inline ::groma::testing::ChatServer* server_ = nullptr;
};

}  // namespace groma
