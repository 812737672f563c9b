// llama.cpp's own server with a tiny model of random weights, for tests that are built where
// GROMA_LLAMA_PYTHON is set.
#pragma once

#include <cstdlib>
#include <string>

#include "groma/llm.h"
#include "support/chat_server.h"
#include "support/temporary_folder.h"

namespace groma::testing {

class LlamaServer {
 public:
  static constexpr const char* kKey = "llama-test-key";

  // Two at once have a window of `tokens`; a token is a byte.
  explicit LlamaServer(const std::string& tokens = "2048")
      : process_({GROMA_PYTHON, support() + "serve_llama.py", model(), kKey, tokens}) {}

  llm::ChatClient client(bool stream = false, const char* key = kKey) const {
    llm::ChatOptions options;
    options.endpoint = process_.first_line();
    options.key = llm::ChatKey::make(key).value();
    options.stream = stream;
    options.backoff_ms = 100;
    return llm::ChatClient::make(options).value();
  }

 private:
  static std::string support() { return GROMA_SOURCE_DIR "/tests/support/"; }
  std::string model() const {
    std::string path = folder_.path() + "/tiny.gguf";
    const std::string make = "'" GROMA_PYTHON "' '" + support() + "tiny_model.py' '" + path + "'";
    GROMA_CHECK(std::system(make.c_str()) == 0);
    return path;
  }

  test::TemporaryFolder folder_;
  ServerProcess process_;
};

}  // namespace groma::testing
