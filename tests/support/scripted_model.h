// A chat endpoint for tests: a shell script that answers the questions with prepared replies.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "groma/llm.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace groma::testing {

// Answers the first question with the first reply, and so on. After the last reply it fails.
class ScriptedModel {
 public:
  explicit ScriptedModel(const std::vector<std::string>& replies) {
    for (std::size_t i = 0; i < replies.size(); ++i) {
      folder_.write(fmt::format("reply{}", i), replies[i]);
    }
    folder_.write("answer.sh",
                  "cd \"$(dirname \"$0\")\"\n"
                  "n=$(cat count 2>/dev/null || echo 0)\n"
                  "echo $((n + 1)) >count\n"
                  "cat >question$n\n"
                  "cat reply$n\n");
  }

  // Returns the address of the endpoint.
  std::string endpoint() const { return fmt::format("exec:sh {}/answer.sh", folder_.path()); }
  llm::ChatClient client() const {
    llm::ChatOptions options;
    options.endpoint = endpoint();
    options.attempts = 1;
    return llm::ChatClient::make(std::move(options)).value();
  }

  // Returns the number of questions that were asked.
  int questions() const {
    const std::string count = read_text(folder_.path() + "/count");
    return count.empty() ? 0 : std::stoi(count);
  }
  // Returns the request with a question, in OpenAI's form. An empty object if there is none.
  nlohmann::json request(int number) const {
    const std::string text = read_text(fmt::format("{}/question{}", folder_.path(), number));
    return text.empty() ? nlohmann::json::object() : nlohmann::json::parse(text);
  }
  // Returns a question: its messages, each as "role: text", with line ends between them.
  std::string question(int number) const {
    std::string text;
    for (const auto& message : request(number).value("messages", nlohmann::json::array())) {
      text += fmt::format("{}: {}\n", message["role"].get<std::string>(),
                          message["content"].get<std::string>());
    }
    return text;
  }

 private:
  test::TemporaryFolder folder_;
};

// Returns the text in a fenced block, as models reply.
inline std::string fenced(const std::string& text) { return "```\n" + text + "```\n"; }

}  // namespace groma::testing
