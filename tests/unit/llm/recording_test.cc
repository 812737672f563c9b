// Recordings: a replay needs no network and gives the same again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "groma/llm.h"
#include "support/temporary_folder.h"
#include "unit/llm/chat_fixture.h"

namespace groma {
namespace {

using Code = llm::ChatError::Code;
using test::TemporaryFolder;
using ::testing::HasSubstr;

struct RecordedCase {
  const char* behaviour;
  bool stream = false;
};

TEST_F(Client, ARecordingGivesTheSameAgain) {
  const TemporaryFolder folder;
  for (const RecordedCase& recorded : std::vector<RecordedCase>{{"ok"},
                                                                {"ok", true},
                                                                {"first-503"},
                                                                {"html"},
                                                                {"bad-utf8"},
                                                                {"always-closed"},
                                                                {"anthropic", true}}) {
    llm::ChatOptions live = options(recorded.behaviour, recorded.stream);
    live.record = folder.path() + "/" + recorded.behaviour + (recorded.stream ? "-stream" : "");
    live.backoff_ms = 0;
    if (recorded.behaviour == std::string("anthropic")) live.api = llm::ChatApi::kAnthropic;
    live.key = key();
    live.price = llm::ChatPrice{1, 1};
    const auto first = make(live).ask(hello());
    llm::ChatOptions again = live;
    again.endpoint = "";
    again.api = llm::ChatApi::kOpenAi;
    again.key = {};
    again.replay = live.record;
    again.record = "";
    llm::ChatClient replay = make(again);
    const auto second = replay.ask(hello());
    ASSERT_EQ(first.ok(), second.ok()) << recorded.behaviour;
    if (first) {
      EXPECT_EQ(first.value().text, second.value().text);
      EXPECT_EQ(first.value().attempts, second.value().attempts);
      EXPECT_EQ(first.value().elapsed_ms, second.value().elapsed_ms);
      EXPECT_EQ(first.value().money, second.value().money);
    } else {
      EXPECT_EQ(first.error().code, second.error().code);
      EXPECT_EQ(first.error().message, second.error().message);
      EXPECT_EQ(first.error().attempts, second.error().attempts);
    }
    const auto third = replay.ask(hello());
    EXPECT_EQ(third.error().code, Code::kReplay) << "all was given";
    struct stat status {};
    EXPECT_EQ(stat(live.record.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
    EXPECT_FALSE(llm::ChatClient::make(live).ok()) << "a recording is not written over";
  }
}

TEST_F(Client, ARequestThatDiffersFromTheRecordingSaysWhere) {
  const TemporaryFolder folder;
  llm::ChatOptions live = options("ok");
  live.record = folder.path() + "/recording";
  ASSERT_TRUE(make(live).ask(hello()).ok());
  live.replay = live.record;
  live.record = "";
  llm::ChatRequest other = hello();
  other.messages[0].text = "say goodbye";
  other.max_tokens = 65;
  const auto reply = make(live).ask(other);
  EXPECT_EQ(reply.error().code, Code::kReplay);
  EXPECT_EQ(reply.error().message,
            "this request is not the one recorded in `" + live.replay +
                "` line 2: /body/max_tokens: recorded 64, now 65; /body/messages/0/content: "
                "recorded \"say hello\", now \"say goodbye\"");
  // Nor is a field left out that nobody refused.
  other = hello();
  other.temperature = 0.5;
  EXPECT_THAT(make(live).ask(other).error().message,
              HasSubstr("/body/temperature: recorded nothing, now 0.5"));
}

TEST_F(Client, ADifferenceIsFromTheNearestRequest) {
  const TemporaryFolder folder;
  llm::ChatOptions live = options("ok");
  live.record = folder.path() + "/recording";
  {
    llm::ChatClient client = make(live);
    for (const char* text : {"one thing", "quite another matter", "the third"}) {
      llm::ChatRequest request = hello();
      request.messages[0].text = text;
      ASSERT_TRUE(client.ask(request).ok());
    }
  }
  live.replay = live.record;
  live.record = "";
  llm::ChatRequest near = hello();
  near.messages[0].text = "quite another subject";
  EXPECT_THAT(make(live).ask(near).error().message, HasSubstr("line 3: /body/messages/0/content"));
}

TEST_F(Client, AStatusThatNoServerHasIsNoExchange) {
  const TemporaryFolder folder;
  llm::ChatOptions again;
  again.replay = folder.write("recording",
                              "{\"groma_chat_recording\":1}\n"
                              "{\"request\":{\"method\":\"GET\",\"path\":\"/models\"},\"reply\":"
                              "{\"status\":1000000000000,\"body\":\"x\"}}\n{}\n");
  const auto client = llm::ChatClient::make(again);
  ASSERT_FALSE(client.ok());
  EXPECT_THAT(client.error().message, HasSubstr("line 2: no exchange"));
}

TEST_F(Client, ACommandIsReplayedToo) {
  const TemporaryFolder folder;
  for (const char* script : {"exec:echo hello", "exec:echo useless >&2; exit 3"}) {
    llm::ChatOptions live;
    live.endpoint = script;
    live.record = folder.path() + "/" + std::to_string(std::string(script).size());
    llm::ChatClient client = make(live);
    const auto first = client.ask(hello());
    llm::ChatOptions again;
    again.replay = live.record;
    const auto second = make(again).ask(hello());
    ASSERT_EQ(first.ok(), second.ok());
    EXPECT_EQ(first ? first->text : first.error().message,
              second ? second->text : second.error().message);
  }
}

// By the time that was recorded: once at the first wait, once at the second.
TEST_F(Client, AWaitThatWasTooLongIsTooLongAgain) {
  const TemporaryFolder folder;
  for (const auto& [behaviour, total_ms] :
       {std::pair{"later-5", 500}, std::pair{"always-429-seconds", 350}}) {
    llm::ChatOptions live = options(behaviour);
    live.total_timeout_ms = total_ms;
    live.record = folder.path() + "/" + behaviour;
    const auto first = make(live).ask(hello());
    EXPECT_EQ(first.error().code, Code::kRateLimit);
    live.replay = live.record;
    live.record = "";
    const auto second = make(live).ask(hello());
    EXPECT_EQ(second.error().code, Code::kRateLimit) << second.error().message;
    EXPECT_EQ(second.error().attempts, first.error().attempts);
    EXPECT_EQ(second.error().help, first.error().help);
  }
}

TEST_F(Client, APromptWithTheKeyIsFoundAgain) {
  const TemporaryFolder folder;
  llm::ChatOptions live = options("ok");
  live.key = key();
  live.record = folder.path() + "/recording";
  llm::ChatRequest request = hello();
  request.messages[0].text = std::string("my key is ") + kKey;
  ASSERT_TRUE(make(live).ask(request).ok());
  live.replay = live.record;
  live.record = "";
  EXPECT_TRUE(make(live).ask(request).ok());
}

// What was learnt of a server, and in which order, is another one each time.
TEST_F(Client, ThreadsReplayWhatThreadsRecorded) {
  const TemporaryFolder folder;
  const auto run = [](const llm::ChatOptions& options, bool at_once) {
    llm::ChatClient client = make(options);
    std::vector<std::thread> threads;
    std::vector<std::string> said(8);
    for (std::size_t i = 0; i < said.size(); ++i) {
      threads.emplace_back([&client, &said, i] {
        llm::ChatRequest request = hello();
        request.messages[0].text = "question " + std::to_string(i);
        request.temperature = 0.5;
        request.constraint.gbnf = "root ::= \"a\"";
        const auto reply = client.ask(request);
        said[i] =
            reply ? reply->text + ::testing::PrintToString(reply->left_out) : reply.error().message;
      });
      if (!at_once) threads.back().join();
    }
    for (std::thread& thread : threads) {
      if (thread.joinable()) thread.join();
    }
    return said;
  };
  for (const bool recorded_at_once : {false, true}) {
    llm::ChatOptions live = options("no-temperature");
    live.record = folder.path() + (recorded_at_once ? "/at-once" : "/in-turn");
    const auto first = run(live, recorded_at_once);
    EXPECT_THAT(first, ::testing::Each(HasSubstr("question")));
    live.replay = live.record;
    live.record = "";
    for (const bool at_once : {true, false}) EXPECT_EQ(run(live, at_once), first);
  }
}

// The recorded client left a field out of all requests after the first. A replay that asks for the
// last one first has not been refused the field yet.
TEST_F(Client, AReplayInAnotherOrderLeavesOutWhatWasRefused) {
  const TemporaryFolder folder;
  const auto asks = [](llm::ChatClient& client, int number) {
    llm::ChatRequest request = hello();
    request.messages[0].text = "question " + std::to_string(number);
    request.temperature = 0.5;
    const auto reply = client.ask(request);
    return reply ? reply->text + ::testing::PrintToString(reply->left_out) : reply.error().message;
  };
  for (const std::string behaviour : {"no-temperature", "no-max_tokens", "reasoning-model"}) {
    llm::ChatOptions options = Client::options(behaviour);
    options.record = folder.path() + "/" + behaviour;
    std::vector<std::string> recorded;
    {
      llm::ChatClient client = make(options);
      for (int i = 0; i < 3; ++i) recorded.push_back(asks(client, i));
    }
    options.replay = options.record;
    options.record = "";
    llm::ChatClient client = make(options);
    for (std::size_t i = recorded.size(); i-- > 0;) {
      EXPECT_EQ(asks(client, static_cast<int>(i)), recorded[i]) << behaviour;
    }
  }
}

TEST_F(Client, AListOfModelsIsGivenAgain) {
  const TemporaryFolder folder;
  llm::ChatOptions live = options("ok");
  live.record = folder.path() + "/recording";
  live.model = "";
  ASSERT_TRUE(make(live).ask(hello()).ok());
  live.replay = live.record;
  live.record = "";
  llm::ChatClient replay = make(live);
  EXPECT_TRUE(replay.models().ok());
  EXPECT_TRUE(replay.models().ok());
  EXPECT_TRUE(replay.ask(hello()).ok());
}

TEST(ChatRecordings, AreFilesOfBoundedSize) {
  llm::ChatOptions options;
  for (const char* path : {"/dev/zero", "/dev/null", "/"}) {
    options.replay = path;
    EXPECT_FALSE(llm::ChatClient::make(options).ok()) << path;
  }
}

}  // namespace
}  // namespace groma
