// The chat client against a real server that fails in every way that we know of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "groma/llm.h"
#include "support/chat_server.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace groma {
namespace {

using Code = ChatError::Code;
using Finish = ChatReply::Finish;
using ::groma::testing::read_text;
using nlohmann::json;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kKey = "sk-groma-SECRET-0123456789";

ChatRequest hello() {
  ChatRequest request;
  request.messages = {{ChatMessage::Role::kUser, "say hello"}};
  request.max_tokens = 64;
  return request;
}

class Client : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new ::groma::testing::ChatServer; }
  static void TearDownTestSuite() { delete server_; }

  static ChatOptions options(const std::string& behaviour, bool stream = false) {
    ChatOptions options;
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

  static ChatClient make(ChatOptions options) {
    auto client = ChatClient::make(std::move(options));
    GROMA_CHECK(client.ok());
    return std::move(client).value();
  }

  static Result<ChatReply, ChatError> ask(const std::string& behaviour, bool stream = false) {
    return make(options(behaviour, stream)).ask(hello());
  }

  // What was asked under this behaviour.
  static std::vector<json> asked(const std::string& behaviour) {
    std::vector<json> found;
    for (const json& request : json::parse(server_->log())) {
      if (request["path"].get<std::string>().starts_with("/" + behaviour + "/")) {
        found.push_back(request);
      }
    }
    return found;
  }

  static ChatKey key() { return ChatKey::make(kKey).value(); }

  static ::groma::testing::ChatServer* server_;
};

::groma::testing::ChatServer* Client::server_ = nullptr;

TEST_F(Client, AsksAndIsAnswered) {
  ChatOptions with_key = options("ok");
  with_key.key = key();
  with_key.price = ChatPrice{2, 10};
  ChatClient client = make(with_key);
  ChatRequest request = hello();
  request.messages.insert(request.messages.begin(), {ChatMessage::Role::kSystem, "be brief"});
  request.temperature = 0.5;
  request.seed = 7;
  const auto reply = client.ask(request);
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply.value().text, "hello");
  EXPECT_EQ(reply.value().finish, Finish::kStop);
  EXPECT_EQ(reply.value().model, "served");
  EXPECT_EQ(reply.value().usage.input_tokens, 5);
  EXPECT_EQ(reply.value().usage.output_tokens, 2);
  EXPECT_FALSE(reply.value().usage.estimated);
  EXPECT_DOUBLE_EQ(*reply.value().money, 30e-6);
  EXPECT_EQ(client.spent().requests, 1);
  EXPECT_DOUBLE_EQ(client.spent().money, 30e-6);
  const json sent = asked("ok").back();
  EXPECT_EQ(sent["path"], "/ok/v1/chat/completions");
  EXPECT_EQ(sent["headers"]["authorization"], std::string("Bearer ") + kKey);
  EXPECT_EQ(sent["body"], json::parse(R"({"model":"served","max_tokens":64,"seed":7,"stream":false,
              "temperature":0.5,"messages":[{"role":"system","content":"be brief"},
              {"role":"user","content":"say hello"}]})"));
}

TEST_F(Client, ShowsAStreamAsItComes) {
  std::vector<std::string> pieces;
  ChatClient::Watch watch;
  watch.on_text = [&pieces](std::string_view text, bool restarted) {
    EXPECT_FALSE(restarted);
    pieces.emplace_back(text);
  };
  const auto reply = make(options("ok", true)).ask(hello(), watch);
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply.value().text, "hello");
  EXPECT_EQ(reply.value().usage.output_tokens, 2);
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  EXPECT_EQ(all, "hello");
  const json sent = asked("ok").back();
  EXPECT_EQ(sent["body"]["stream_options"], json::parse(R"({"include_usage":true})"));
}

TEST_F(Client, SaysWhereATextBeginsAgain) {
  std::string shown;
  ChatClient::Watch watch;
  watch.on_text = [&shown](std::string_view text, bool restarted) {
    shown += restarted ? "|" : "";
    shown += text;
  };
  const auto reply = make(options("first-stream-error", true)).ask(hello(), watch);
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply.value().attempts, 2);
  EXPECT_EQ(shown, "hel|hello");
}

struct Case {
  const char* behaviour;
  bool stream = false;
};

// What fails once is asked again, and answered.
TEST_F(Client, TriesAgainWhereThatHelps) {
  for (const Case& once : std::vector<Case>{{"first-closed"},
                                            {"first-reset"},
                                            {"first-cut"},
                                            {"first-stall", true},
                                            {"first-408"},
                                            {"first-500"},
                                            {"first-502"},
                                            {"first-503"},
                                            {"first-529"},
                                            {"first-429"},
                                            {"first-429-past"},
                                            {"first-error-in-200"},
                                            {"first-stream-no-finish", true},
                                            {"first-stream-cut", true},
                                            {"first-stream-nothing", true}}) {
    const auto reply = ask(once.behaviour, once.stream);
    ASSERT_TRUE(reply.ok()) << once.behaviour << ": " << reply.error().message;
    EXPECT_EQ(reply.value().text, "hello") << once.behaviour;
    EXPECT_EQ(reply.value().attempts, 2) << once.behaviour;
  }
}

struct Failing {
  const char* behaviour;
  Code code;
  int attempts;
  const char* words;
  bool stream = false;
};

// What goes on failing ends, with a reason to branch on.
TEST_F(Client, TellsFailuresApart) {
  for (const Failing& failing : std::vector<Failing>{
           {"always-closed", Code::kUnreachable, 3, "without an answer"},
           {"always-reset", Code::kUnreachable, 3, "broke"},
           {"always-cut", Code::kUnreachable, 3, "broke"},
           {"always-408", Code::kServer, 3, "too slow"},
           {"always-429", Code::kRateLimit, 3, "slow down"},
           {"always-500", Code::kServer, 3, "Internal Server Error"},
           {"always-503", Code::kServer, 3, "Loading model"},
           {"always-stall", Code::kTimeout, 3, "silent", true},
           {"pings", Code::kTimeout, 3, "silent", true},
           {"always-stream-error", Code::kServer, 3, "it broke", true},
           {"always-stream-cut", Code::kUnreachable, 3, "before the reply did", true},
           {"always-stream-nothing", Code::kUnreachable, 3, "too long", true},
           {"error-words", Code::kServer, 3, "it broke"},
           {"long-wait", Code::kRateLimit, 1, "slow down"},
           {"do-not-retry", Code::kServer, 1, "never"},
           {"501", Code::kServer, 1, "not built"},
           {"quota", Code::kQuota, 1, "quota"},
           {"400", Code::kBadRequest, 1, "bad request"},
           {"400-context", Code::kContextTooLong, 1, "context size"},
           {"400-context-openai", Code::kContextTooLong, 1, "8192"},
           {"400-context-anthropic", Code::kContextTooLong, 1, "too long"},
           {"401", Code::kKey, 1, "Invalid API key"},
           {"403", Code::kKey, 1, "region"},
           {"404", Code::kNotFound, 1, "does not exist"},
           {"redirect", Code::kNotFound, 1, "elsewhere"},
           {"html", Code::kBadReply, 1, "<!doctype html>"},
           {"broken-json", Code::kBadReply, 1, "no JSON"},
           {"not-json", Code::kBadReply, 1, "all is well"},
           {"number", Code::kBadReply, 1, "no `choices`"},
           {"null", Code::kBadReply, 1, "no `choices`"},
           {"choices-number", Code::kBadReply, 1, "no `choices`"},
           {"choice-null", Code::kBadReply, 1, "no `message`"},
           {"message-text", Code::kNoText, 1, "no text"},
           {"content-number", Code::kBadReply, 1, "`content` is no text"},
           {"empty-choices", Code::kBadReply, 1, "empty"},
           {"content-null", Code::kNoText, 1, "no text"},
           {"content-tool", Code::kNoText, 1, "`lookup`"},
           {"content-refusal", Code::kRefusal, 1, "I would rather not"},
           {"filtered", Code::kRefusal, 1, "filter"},
           {"deep", Code::kBadReply, 1, "no JSON"},
           {"gzip-broken", Code::kBadReply, 1, "compressed"},
           {"gzip-bomb", Code::kTooLarge, 1, "larger"},
           {"big", Code::kTooLarge, 1, "larger"},
           {"not-http", Code::kBadReply, 1, "no HTTP"}}) {
    const auto reply = ask(failing.behaviour, failing.stream);
    ASSERT_FALSE(reply.ok()) << failing.behaviour;
    EXPECT_EQ(reply.error().code, failing.code) << failing.behaviour << reply.error().message;
    EXPECT_EQ(reply.error().attempts, failing.attempts) << failing.behaviour;
    EXPECT_THAT(reply.error().message, HasSubstr(failing.words)) << failing.behaviour;
  }
  EXPECT_EQ(ask("400-context").error().context_tokens, 4096);
  EXPECT_EQ(ask("400-context-openai").error().context_tokens, 8192);
  EXPECT_EQ(ask("400-context-anthropic").error().context_tokens, 200000);
}

struct Answered {
  const char* behaviour;
  const char* text;
  const char* reasoning = "";
  Finish finish = Finish::kStop;
  bool stream = false;
};

TEST_F(Client, TakesRepliesAsTheyCome) {
  for (const Answered& answered : std::vector<Answered>{
           {"content-parts", "hello"},
           {"length", "hel", "", Finish::kLength},
           {"reasoning-only", "", "let me see", Finish::kLength},
           {"reasoning", "hello", "let me see"},
           {"think", "hello", "let me see"},
           {"think-no-begin", "hello", "let me see"},
           {"think-no-end", "", "let me see", Finish::kLength},
           {"no-usage", "hello"},
           {"odd-usage", "hello"},
           {"gzipped", "hello"},
           {"bad-utf8", "he\xEF\xBF\xBD\xEF\xBF\xBDllo"},
           {"bad-utf8-stream", "he\xEF\xBF\xBD\xEF\xBF\xBDllo", "", Finish::kStop, true},
           {"stream-no-done", "hello", "", Finish::kStop, true},
           {"stream-split", "h\xC3\xA9llo", "", Finish::kStop, true},
           {"stream-as-json", "hello", "", Finish::kStop, true},
           {"slow-first", "hello"}}) {  // later than the idle time-out
    const auto reply = ask(answered.behaviour, answered.stream);
    ASSERT_TRUE(reply.ok()) << answered.behaviour << ": " << reply.error().message;
    EXPECT_EQ(reply.value().text, answered.text) << answered.behaviour;
    EXPECT_EQ(reply.value().reasoning, answered.reasoning) << answered.behaviour;
    EXPECT_EQ(reply.value().finish, answered.finish) << answered.behaviour;
    EXPECT_EQ(reply.value().attempts, 1) << answered.behaviour;
  }
  for (const char* behaviour : {"no-usage", "odd-usage"}) {
    const auto reply = ask(behaviour);
    EXPECT_TRUE(reply.value().usage.estimated);
    EXPECT_GT(reply.value().usage.input_tokens, 0);
    EXPECT_EQ(reply.value().usage.output_tokens, 2);  // five bytes
  }
}

TEST_F(Client, WaitsAsLongAsItIsAsked) {
  for (const auto& [behaviour, least_ms] :
       {std::pair{"first-429-seconds", 200}, {"first-429-date", 900}, {"first-429-ms", 200}}) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(ask(behaviour).ok()) << behaviour;
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(took, std::chrono::milliseconds(least_ms)) << behaviour;
    EXPECT_LT(took, std::chrono::seconds(60)) << behaviour;
  }
  ChatOptions impatient = options("always-429-seconds");
  impatient.total_timeout_ms = 150;
  const auto late = make(impatient).ask(hello());
  EXPECT_EQ(late.error().code, Code::kRateLimit);
  EXPECT_EQ(late.error().attempts, 1);
}

TEST_F(Client, NobodyThere) {
  ChatOptions refused = options("ok");
  refused.endpoint = "http://127.0.0.1:" + std::to_string(::groma::testing::free_port());
  auto reply = make(refused).ask(hello());
  EXPECT_EQ(reply.error().code, Code::kUnreachable);
  EXPECT_EQ(reply.error().attempts, 3);
  EXPECT_THAT(reply.error().message, HasSubstr("nobody answers"));
  EXPECT_EQ(reply.error().help, "is the server running?");
  ChatOptions unknown = options("ok");
  unknown.endpoint = "http://no-such-host.invalid/v1";
  unknown.attempts = 1;
  reply = make(unknown).ask(hello());
  EXPECT_EQ(reply.error().code, Code::kUnreachable);
  EXPECT_THAT(reply.error().message, HasSubstr("no such host"));
}

TEST_F(Client, TimeEnds) {
  for (const char* behaviour : {"silent", "drip"}) {
    ChatOptions hasty = options(behaviour);
    hasty.total_timeout_ms = 200;
    hasty.idle_timeout_ms = 60'000;
    const auto reply = make(hasty).ask(hello());
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().code, Code::kTimeout) << behaviour;
    EXPECT_EQ(reply.error().attempts, 1) << behaviour;
    EXPECT_THAT(reply.error().message, HasSubstr("not done after"));
  }
}

TEST_F(Client, StopsWhenAsked) {
  for (const char* behaviour : {"silent", "drip", "pings", "long-wait"}) {
    ChatOptions patient = options(behaviour, std::string(behaviour) == "pings");
    patient.idle_timeout_ms = 60'000;
    patient.max_retry_after_ms = 4'000'000;
    patient.total_timeout_ms = 4'000'000;
    const auto begin = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point asked;
    ChatClient::Watch watch;
    watch.stop = [&] {
      if (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(200)) return false;
      if (asked == decltype(asked)()) asked = std::chrono::steady_clock::now();
      return true;
    };
    const auto reply = make(patient).ask(hello(), watch);
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().code, Code::kStopped) << behaviour;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << behaviour;
  }
}

TEST_F(Client, ACertificateThatNobodySignedIsNotTrusted) {
  ChatOptions secure = options("ok");
  secure.endpoint = server_->secure("ok");
  secure.key = key();
  const auto reply = make(secure).ask(hello());
  EXPECT_EQ(reply.error().code, Code::kCertificate);
  EXPECT_EQ(reply.error().attempts, 1);
  secure.ca_file = GROMA_SOURCE_DIR "/tests/data/localhost.pem";
  const auto trusted = make(secure).ask(hello());
  ASSERT_TRUE(trusted.ok()) << trusted.error().message;
  EXPECT_EQ(trusted.value().text, "hello");
}

TEST_F(Client, AKeyFollowsNoRedirect) {
  ChatOptions with_key = options("redirect");
  with_key.key = key();
  const std::size_t before = asked("ok").size();
  EXPECT_EQ(make(with_key).ask(hello()).error().code, Code::kNotFound);
  EXPECT_EQ(asked("redirect").back()["headers"].count("authorization"), 1U);
  EXPECT_EQ(asked("ok").size(), before);
}

TEST_F(Client, DoesWithoutWhatAServerRefuses) {
  ChatClient client = make(options("reasoning-model", true));
  ChatRequest request = hello();
  request.temperature = 0.2;
  request.seed = 1;
  auto reply = client.ask(request);
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply.value().attempts, 1);
  EXPECT_THAT(reply.value().left_out, ElementsAre("seed", "temperature"));
  EXPECT_EQ(asked("reasoning-model").size(), 4U);
  const json last = asked("reasoning-model").back()["body"];
  EXPECT_EQ(last["max_completion_tokens"], 64);
  EXPECT_FALSE(last.contains("max_tokens"));
  ASSERT_TRUE(client.ask(request).ok());
  EXPECT_EQ(asked("reasoning-model").size(), 5U) << "it is remembered";
  // Without any limit a reply may cost anything.
  EXPECT_EQ(ask("refuses-limits").error().code, Code::kBadRequest);
  EXPECT_EQ(asked("refuses-limits").size(), 2U);
}

TEST_F(Client, FindsTheModelItself) {
  ChatOptions open = options("ok");
  open.model.clear();
  ChatClient client = make(open);
  ASSERT_TRUE(client.ask(hello()).ok());
  EXPECT_EQ(asked("ok").back()["body"]["model"], "served");
  EXPECT_THAT(client.models().value(), ElementsAre("served", "other"));
  ChatOptions closed = options("no-models");
  closed.model.clear();
  EXPECT_EQ(make(closed).ask(hello()).error().code, Code::kNotFound);
}

TEST_F(Client, NoRetryPassesTheCeilings) {
  ChatOptions poor = options("always-cut");
  poor.attempts = 100;
  poor.max_tokens = 1000;
  poor.price = ChatPrice{1, 1};
  ChatClient client = make(poor);
  const std::size_t before = asked("always-cut").size();
  const auto reply = client.ask(hello());
  EXPECT_EQ(reply.error().code, Code::kCeiling) << reply.error().message;
  EXPECT_GT(reply.error().attempts, 1);
  const ChatSpending spent = client.spent();
  EXPECT_LE(spent.input_tokens + spent.output_tokens, 1000);
  EXPECT_GT(spent.output_tokens, 0) << "what broke off may have cost";
  EXPECT_TRUE(spent.estimated);
  EXPECT_EQ(static_cast<std::size_t>(spent.requests), asked("always-cut").size() - before);

  poor = options("ok");
  poor.price = ChatPrice{0, 1e6};  // a unit for a token of output
  poor.max_money = 67;
  ChatClient rich = make(poor);
  EXPECT_TRUE(rich.ask(hello()).ok());  // 64 at most, 2 in truth
  EXPECT_TRUE(rich.ask(hello()).ok());
  EXPECT_EQ(rich.ask(hello()).error().code, Code::kCeiling);
  EXPECT_DOUBLE_EQ(rich.spent().money, 4);
  // What is refused before it is worked on costs nothing.
  ChatClient refused = make(options("always-503"));
  EXPECT_FALSE(refused.ask(hello()).ok());
  EXPECT_EQ(refused.spent().input_tokens, 0);
}

TEST_F(Client, ThreadsShareOneClient) {
  ChatClient client = make(options("ok", true));
  std::vector<std::thread> threads;
  std::vector<std::string> texts(8);
  for (std::string& text : texts) {
    threads.emplace_back([&client, &text] {
      for (int i = 0; i < 3; ++i) {
        const auto reply = client.ask(hello());
        text += reply ? reply.value().text : reply.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) EXPECT_EQ(text, "hellohellohello");
  EXPECT_EQ(client.spent().requests, 24);
  EXPECT_EQ(client.spent().output_tokens, 48);
}

TEST_F(Client, Anthropic) {
  for (const bool stream : {false, true}) {
    ChatOptions shape = options("anthropic", stream);
    shape.api = ChatApi::kAnthropic;
    EXPECT_EQ(make(shape).ask(hello()).error().code, Code::kKey);
    shape.key = key();
    ChatClient client = make(shape);
    ChatRequest request = hello();
    request.messages = {{ChatMessage::Role::kSystem, "be brief"},
                        {ChatMessage::Role::kUser, "one"},
                        {ChatMessage::Role::kUser, "two"}};
    const auto reply = client.ask(request);
    ASSERT_TRUE(reply.ok()) << reply.error().message;
    EXPECT_EQ(reply.value().text, "hello");
    EXPECT_EQ(reply.value().reasoning, "let me see");
    EXPECT_EQ(reply.value().usage.input_tokens, 8);
    EXPECT_EQ(reply.value().usage.cached_tokens, 3);
    EXPECT_EQ(reply.value().usage.output_tokens, 2);
    const json sent = asked("anthropic").back();
    EXPECT_EQ(sent["path"], "/anthropic/v1/messages");
    EXPECT_EQ(sent["headers"]["x-api-key"], kKey);
    EXPECT_EQ(sent["body"]["system"], "be brief");
    EXPECT_EQ(sent["body"]["messages"], json::parse(R"([{"role":"user","content":"one\n\ntwo"}])"));
    request.constraint.gbnf = "root ::= \"a\"";
    EXPECT_EQ(client.ask(request).error().code, Code::kUnsupported);
  }
  ChatOptions shape = options("anthropic");
  shape.api = ChatApi::kAnthropic;
  shape.key = key();
  ChatRequest request = hello();
  request.constraint.json_schema = R"({"type":"object"})";
  EXPECT_EQ(make(shape).ask(request).value().text, R"({"a":1})");
  shape.endpoint = server_->at("anthropic-overloaded");
  shape.stream = true;
  EXPECT_EQ(make(shape).ask(hello()).value().attempts, 2);
}

// Each kind of server is asked in its own way.
TEST_F(Client, AsksForStructureAsTheServerTakesIt) {
  ChatRequest schema = hello(), grammar = hello();
  schema.constraint.json_schema = R"({"type":"object"})";
  grammar.constraint.gbnf = "root ::= \"a\"";
  grammar.constraint.lark = "start: \"a\"";
  for (const auto& [owner, place] : {std::pair{"llamacpp", "/grammar"},
                                     {"me", "/grammar"},
                                     {"somebody", "/grammar"},
                                     {"vllm", "/structured_outputs/grammar"},
                                     {"sglang", "/ebnf"},
                                     {"fireworks", "/response_format/grammar"},
                                     {"openai", "/tools/0/custom/format/grammar/definition"}}) {
    const std::string behaviour = std::string("by-") + owner;
    ChatClient client = make(options(behaviour));
    const auto reply = client.ask(grammar);
    ASSERT_TRUE(reply.ok()) << owner << reply.error().message;
    EXPECT_EQ(reply.value().text, "hello") << owner;
    const json body = asked(behaviour).back()["body"];
    const std::string sent = body.value(json::json_pointer(place), std::string("nothing"));
    const bool lark = std::string(owner) == "openai";
    EXPECT_EQ(sent, lark ? grammar.constraint.lark : grammar.constraint.gbnf) << owner;
    ASSERT_TRUE(client.ask(schema).ok());
    const json format = asked(behaviour).back()["body"]["response_format"];
    EXPECT_EQ(format["type"], std::string(owner) == "me" ? "json_object" : "json_schema") << owner;
  }
  EXPECT_EQ(make(options("by-library")).ask(grammar).error().code, Code::kUnsupported);
  grammar.constraint.gbnf.clear();
  EXPECT_EQ(make(options("by-vllm")).ask(grammar).error().code, Code::kUnsupported);
  grammar.constraint.gbnf = std::string("root ::= \"\0\"", 12);
  EXPECT_EQ(make(options("by-vllm")).ask(grammar).error().code, Code::kBadRequest);
}

TEST_F(Client, ARecordingGivesTheSameAgain) {
  const TemporaryFolder folder;
  for (const Case& recorded : std::vector<Case>{
           {"ok"}, {"ok", true}, {"first-503"}, {"html"}, {"bad-utf8"}, {"always-closed"}}) {
    ChatOptions live = options(recorded.behaviour, recorded.stream);
    live.record = folder.path() + "/" + recorded.behaviour + (recorded.stream ? "-stream" : "");
    live.backoff_ms = 0;
    live.price = ChatPrice{1, 1};
    const auto first = make(live).ask(hello());
    ChatOptions again = live;
    again.endpoint = "";
    again.replay = live.record;
    again.record = "";
    ChatClient replay = make(again);
    const auto second = replay.ask(hello());
    ASSERT_EQ(first.ok(), second.ok()) << recorded.behaviour;
    if (first) {
      EXPECT_EQ(first.value().text, second.value().text);
      EXPECT_EQ(first.value().attempts, second.value().attempts);
      EXPECT_EQ(first.value().elapsed_ms, second.value().elapsed_ms);
      EXPECT_EQ(first.value().money, second.value().money);
    } else {
      EXPECT_EQ(first.error().code, second.error().code);
      EXPECT_EQ(first.error().attempts, second.error().attempts);
    }
    const auto third = replay.ask(hello());
    EXPECT_EQ(third.error().code, Code::kReplay) << "all was given";
    struct stat status {};
    EXPECT_EQ(stat(live.record.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
    EXPECT_FALSE(ChatClient::make(live).ok()) << "a recording is not written over";
  }
}

TEST_F(Client, ARequestThatDiffersFromTheRecordingSaysWhere) {
  const TemporaryFolder folder;
  ChatOptions live = options("ok");
  live.record = folder.path() + "/recording";
  ASSERT_TRUE(make(live).ask(hello()).ok());
  live.replay = live.record;
  live.record = "";
  ChatRequest other = hello();
  other.messages[0].text = "say goodbye";
  other.max_tokens = 65;
  const auto reply = make(live).ask(other);
  EXPECT_EQ(reply.error().code, Code::kReplay);
  EXPECT_EQ(reply.error().message,
            "this request is not the one recorded in `" + live.replay +
                "` line 2: /body/max_tokens: recorded 64, now 65; /body/messages/0/content: "
                "recorded \"say hello\", now \"say goodbye\"");
}

TEST_F(Client, ACommandAnswers) {
  ChatOptions exec;
  exec.endpoint =
      "exec:cat > \"$GROMA_TEST_FOLDER/request\"; printf 'hello <think>no'; sleep 0.05; echo 1 >&2";
  const TemporaryFolder folder;
  setenv("GROMA_TEST_FOLDER", folder.path().c_str(), 1);
  ChatRequest request = hello();
  request.constraint.gbnf = "root ::= \"a\"";
  ChatClient client = make(exec);
  auto reply = client.ask(request);
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply.value().text, "hello ");
  EXPECT_TRUE(reply.value().usage.estimated);
  const json sent = json::parse(read_text(folder.path() + "/request"));
  EXPECT_EQ(sent["messages"][0]["content"], "say hello");
  EXPECT_EQ(sent["grammar"], request.constraint.gbnf);
  EXPECT_EQ(client.models().error().code, Code::kNotFound);

  exec.endpoint = "exec:echo useless >&2; exit 3";
  reply = make(exec).ask(hello());
  EXPECT_EQ(reply.error().code, Code::kServer);
  EXPECT_EQ(reply.error().attempts, 1);
  EXPECT_THAT(reply.error().message, HasSubstr("the command ended with 3: useless"));
  exec.endpoint = "exec:sleep 300 & sleep 300";
  exec.total_timeout_ms = 200;
  EXPECT_EQ(make(exec).ask(hello()).error().code, Code::kTimeout);
  exec.endpoint = "exec:yes";
  exec.total_timeout_ms = 60'000;
  exec.max_reply_bytes = 1000;
  exec.endpoint = "exec:yes | head -c 5000";
  EXPECT_EQ(make(exec).ask(hello()).error().code, Code::kTooLarge);
}

TEST_F(Client, Check) {
  auto line_of = [](const ChatOptions& options) {
    ChatClient client = make(options);
    const auto check = check_chat(client, 0.0);
    return check ? render(*check) : check.error().message;
  };
  ChatOptions full = options("schema");
  full.price = ChatPrice{1, 1};
  EXPECT_THAT(line_of(full), HasSubstr("/schema/v1: has the model `served`\n"
                                       "structured  JSON schema kept, grammar kept\n"
                                       "a round     "));
  EXPECT_THAT(line_of(full), HasSubstr(" ms, 5 + 2 tokens, costs 7e-06\n"));
  full = options("no-models");
  EXPECT_THAT(line_of(full), HasSubstr("it does not list its models\n"
                                       "structured  JSON schema ignored, grammar ignored\n"));
  full = options("ok");
  full.model = "serve";
  EXPECT_THAT(line_of(full), HasSubstr("does not list `serve` among 2 models (did you mean "
                                       "`served`?), but answers"));
  EXPECT_THAT(line_of(options("401")), HasSubstr("Invalid API key"));
}

class Lines : public LogSink {
 public:
  void log(LogLevel, std::string_view line) override { text += std::string(line) + "\n"; }
  std::string text;
};

// Everything that is written or said, with a server that repeats the key wherever it can.
TEST_F(Client, AKeyAppearsNowhere) {
  const TemporaryFolder folder;
  Lines lines;
  std::string all, shown;
  int number = 0;
  const auto use = [&](const std::string& behaviour, bool stream, const std::string& text) {
    ChatOptions loud = options(behaviour, stream);
    loud.key = key();
    loud.log = &lines;
    loud.record = folder.path() + "/" + std::to_string(number++);
    ChatRequest request = hello();
    request.messages[0].text = text;
    ChatClient::Watch watch;
    watch.on_text = [&shown](std::string_view piece, bool) { shown += piece; };
    const auto reply = make(loud).ask(request, watch);
    all += reply ? reply.value().text + reply.value().reasoning + reply.value().model
                 : reply.error().message + reply.error().help;
    all += read_text(loud.record);
  };
  use("echo", false, std::string("my key is ") + kKey);
  use("echo", false, "fail");
  use("stream-echo", true, "hello");
  use("first-503", false, "hello");
  use("always-500", false, kKey);
  use("redirect", false, "hello");
  use("reasoning-model", true, "hello");
  const auto wrong = ChatClient::make([&] {
    ChatOptions remote;
    remote.endpoint = "http://example.com/v1";
    remote.key = key();
    return remote;
  }());
  all += wrong.error().message + wrong.error().help;
  all += ChatKey::make(std::string(kKey) + " ").error().message;
  EXPECT_THAT(all, HasSubstr("[key]"));
  EXPECT_THAT(shown, HasSubstr("<[key]>"));
  EXPECT_THAT(lines.text, Not(IsEmpty()));
  for (const std::string* text : {&all, &shown, &lines.text}) {
    EXPECT_THAT(*text, Not(HasSubstr(kKey)));
    EXPECT_THAT(*text, Not(HasSubstr("SECRET")));
  }
}

TEST(ChatKeys, ComeFromAFileThatNobodyElseReads) {
  const TemporaryFolder folder;
  const std::string path = folder.write("key", std::string(kKey) + "\n");
  chmod(path.c_str(), 0644);
  const auto open = find_chat_key(path);
  ASSERT_FALSE(open.ok());
  EXPECT_THAT(open.error().message, HasSubstr("others may read it (mode 644)"));
  EXPECT_EQ(open.error().help, "chmod 600 " + path);
  chmod(path.c_str(), 0600);
  EXPECT_TRUE(find_chat_key(path).ok());
  EXPECT_FALSE(find_chat_key(folder.path()).ok());
  EXPECT_FALSE(find_chat_key(folder.path() + "/none").ok());
  for (const char* text :
       {"", "short", "two words here", "line\r\nX-Other: 1", "caf\xC3\xA9-caf"}) {
    EXPECT_FALSE(ChatKey::make(text).ok()) << text;
  }
  EXPECT_FALSE(ChatKey::make(std::string(5000, 'k')).ok());
}

TEST(ChatKeys, ComeFromTheEnvironment) {
  unsetenv("GROMA_API_KEY");
  EXPECT_TRUE(find_chat_key("").value().empty());
  setenv("GROMA_API_KEY", kKey, 1);
  EXPECT_FALSE(find_chat_key("").value().empty());
  unsetenv("GROMA_API_KEY");
}

TEST(ChatEndpoints, AreMadeWholeOrRefused) {
  const auto made = [](const std::string& endpoint, bool with_key = false) {
    ChatOptions options;
    options.endpoint = endpoint;
    if (with_key) options.key = ChatKey::make(kKey).value();
    const auto client = ChatClient::make(options);
    return client ? client.value().options().endpoint : client.error().message;
  };
  EXPECT_EQ(made(""), "https://api.openai.com/v1");
  EXPECT_EQ(made("http://h:8080"), "http://h:8080/v1");
  EXPECT_EQ(made("http://h:8080/"), "http://h:8080/v1");
  EXPECT_EQ(made("http://h/v1/"), "http://h/v1");
  EXPECT_EQ(made("http://h/v1/chat/completions"), "http://h/v1");
  EXPECT_EQ(made("https://h/api/v2"), "https://h/api/v2");
  for (const char* wrong : {"h:8080", "ftp://h/v1", "http://", "http://user:pw@h/v1",
                            "http://h/v1?key=1", "http://h/v1#x", "exec: "}) {
    EXPECT_THAT(made(wrong), ::testing::AnyOf(HasSubstr("the endpoint "), HasSubstr("no command")))
        << wrong;
  }
  EXPECT_THAT(made("http://example.com/v1", true), HasSubstr("plain http to another computer"));
  EXPECT_THAT(made("http://127.example.com/v1", true), HasSubstr("plain http"));
  EXPECT_THAT(made("http://localhost.example.com", true), HasSubstr("plain http"));
  for (const char* here : {"http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1"}) {
    EXPECT_EQ(made(here, true), std::string(here) + "/v1");
  }
  EXPECT_EQ(made("https://example.com", true), "https://example.com/v1");
}

TEST(ChatPrices, AreTwoNumbers) {
  EXPECT_EQ(parse_chat_price("0.15,0.6").value().output, 0.6);
  for (const char* text : {"", "1", "1,", ",1", "1,2,3", "-1,2", "nan,1", "1 ,2", "inf,1"}) {
    EXPECT_FALSE(parse_chat_price(text).ok()) << text;
  }
}

}  // namespace
}  // namespace groma
