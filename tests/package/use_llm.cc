// groma::llm from outside: a question and its answer, here from a child process.
#include <cstdio>

#include "groma/llm.h"

int main() {
  groma::llm::ChatOptions options;
  options.endpoint = "exec:cat >/dev/null; echo 'Task * GPU;'";  // or https://host/v1
  options.max_tokens = 10'000;                                   // of all requests together
  auto client = groma::llm::ChatClient::make(options);
  if (!client) {
    std::puts(client.error().message.c_str());
    return 1;
  }
  groma::llm::ChatRequest request;
  request.messages = {{groma::llm::ChatMessage::Role::kUser, "Map all tasks."}};
  const auto reply = client.value().ask(request);
  if (!reply) {
    std::puts(reply.error().message.c_str());
    return 1;
  }
  std::fputs(reply.value().text.c_str(), stdout);
  return reply.value().text == "Task * GPU;\n" ? 0 : 1;
}
