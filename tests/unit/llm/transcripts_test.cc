// What two real servers answered (tests/data/chat_server_transcripts.json), given to the client
// again through recordings. What it has to make of an exchange is worked out here, in another way.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "groma/llm.h"
#include "llm/chat_format.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace groma {
namespace {

using Code = llm::ChatError::Code;
using nlohmann::json;

struct Expected {
  std::string text, reasoning, finish;
  std::optional<Code> error;
};

Expected of_stream(const std::string& body) {
  Expected expected;
  for (std::size_t at = 0; (at = body.find("data: ", at)) != body.npos;) {
    const std::size_t end = body.find('\n', at);
    const json event = json::parse(body.substr(at + 6, end - at - 6), nullptr, false);
    at = std::min(end, body.size());
    if (event.is_object() && event.contains("error")) expected.error = Code::kServer;
    if (!event.is_object() || !event.contains("choices") || event["choices"].empty()) continue;
    const json& choice = event["choices"][0];
    if (choice.value("index", 0) != 0) continue;
    const json& delta = choice["delta"];
    if (delta.contains("content") && delta["content"].is_string()) {
      expected.text += delta["content"].get<std::string>();
    }
    if (delta.contains("reasoning_content") && delta["reasoning_content"].is_string()) {
      expected.reasoning += delta["reasoning_content"].get<std::string>();
    }
    if (choice["finish_reason"].is_string()) expected.finish = choice["finish_reason"];
  }
  if (expected.finish.empty() && !expected.error) expected.error = Code::kUnreachable;
  return expected;
}

Expected of_body(const std::string& text) {
  const json body = json::parse(text);
  Expected expected;
  if (!body.contains("choices") || !body["choices"][0].contains("message")) {
    expected.error = Code::kBadReply;  // another interface than ours
    return expected;
  }
  const json& message = body["choices"][0]["message"];
  expected.finish = body["choices"][0]["finish_reason"];
  expected.reasoning = message.value("reasoning_content", "");
  if (message["content"].is_string()) {
    expected.text = message["content"];
  } else {
    expected.error = Code::kNoText;
  }
  return expected;
}

Code code_of(int status, const std::string& body) {
  if (body.find("context_length_exceeded") != body.npos) return Code::kContextTooLong;
  if (body.find("exceed_context_size_error") != body.npos) return Code::kContextTooLong;
  switch (status) {
    case 0:
      return Code::kUnreachable;
    case 401:
      return Code::kKey;
    case 307:
    case 404:
    case 405:
      return Code::kNotFound;
    case 400:
      return Code::kBadRequest;
    default:
      return Code::kServer;
  }
}

TEST(Transcripts, AreReadAsTheyWereMeant) {
  const test::TemporaryFolder folder;
  llm::ChatRequest request;
  request.messages = {{llm::ChatMessage::Role::kUser, "x"}};
  // Some errors name `max_tokens`; then it is tried by its other name.
  std::vector<json> sent;
  for (const bool completion_limit : {false, true}) {
    llm::ServerDialect dialect;
    dialect.uses_max_completion_tokens = completion_limit;
    const std::string body = llm::openai_format().request_body(request, "m", false, dialect);
    sent.push_back(
        {{"method", "POST"}, {"path", "/chat/completions"}, {"body", json::parse(body)}});
  }
  int read = 0, replies = 0, lists = 0;
  for (const json& exchange : json::parse(
           testing::read_text(testing::in_tree("tests/data/chat_server_transcripts.json")))) {
    const std::string name = exchange["name"];
    const json& response = exchange["response"];
    const int status = response["status"];
    const std::string body = response["body"];
    ++read;
    if (name.find("/models") != name.npos && status == 200) {
      const auto list = llm::read_models(body);
      ASSERT_TRUE(list.has_value()) << name;
      EXPECT_EQ(list->server, name.starts_with("llama.cpp/")
                                  ? llm::ServerSoftware::kLlamaCpp
                                  : llm::ServerSoftware::kLlamaCppPython);
      ++lists;
      continue;
    }
    if (exchange["request"]["method"] != "POST") continue;
    json reply = {{"status", status}, {"body", body}};
    for (const json& header : response["headers"]) {
      const std::string key = header[0];
      if (key == "Content-Type" || key == "content-type") reply["content_type"] = header[1];
    }
    if (response.contains("closed")) reply["failure"] = "closed";
    if (response.contains("cut_off")) reply["failure"] = "cut";
    llm::ChatOptions options;
    options.model = "m";
    options.attempts = 1;
    std::string recording = "{\"groma_chat_recording\":1}\n";
    for (const json& one : sent)
      recording += json{{"request", one}, {"reply", reply}}.dump() + "\n";
    options.replay = folder.write("recording", recording);
    auto client = llm::ChatClient::make(options);
    ASSERT_TRUE(client.ok()) << client.error().message;
    const auto got = client.value().ask(request);

    const bool stream = reply.value("content_type", "").starts_with("text/event-stream");
    Expected expected;
    if (status == 200) expected = stream ? of_stream(body) : of_body(body);
    if (status != 200) expected.error = code_of(status, body);
    if (response.contains("cut_off")) expected.error = Code::kUnreachable;
    ASSERT_EQ(got.ok(), !expected.error)
        << name << ": " << (got ? got.value().text : got.error().message);
    if (!got) {
      EXPECT_EQ(got.error().code, *expected.error) << name << ": " << got.error().message;
      continue;
    }
    ++replies;
    if (expected.text.find("</think>") != expected.text.npos) {  // thoughts left in the text
      EXPECT_EQ(got.value().text.find("</think>"), std::string::npos) << name;
      EXPECT_FALSE(got.value().reasoning.empty()) << name;
      continue;
    }
    EXPECT_EQ(got.value().text, expected.text) << name;
    EXPECT_EQ(got.value().reasoning, expected.reasoning) << name;
    EXPECT_EQ(got.value().finish == llm::ChatReply::Finish::kLength, expected.finish == "length")
        << name;
    EXPECT_EQ(got.value().usage.estimated, body.find("\"usage\":{") == body.npos) << name;
  }
  EXPECT_EQ(read, 234);
  EXPECT_EQ(lists, 3);
  EXPECT_GT(replies, 120);
}

}  // namespace
}  // namespace groma
