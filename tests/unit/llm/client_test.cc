// The chat client against a real server that fails in every way that we know of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "groma/llm.h"
#include "support/files.h"
#include "support/temporary_folder.h"
#include "unit/llm/chat_fixture.h"

namespace groma {
namespace {

using Code = llm::ChatError::Code;
using Finish = llm::ChatReply::Finish;
using ::groma::testing::read_text;
using nlohmann::json;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(Client, AsksAndIsAnswered) {
  llm::ChatOptions with_key = options("ok");
  with_key.key = key();
  with_key.price = llm::ChatPrice{2, 10};
  llm::ChatClient client = make(with_key);
  llm::ChatRequest request = hello();
  request.messages.insert(request.messages.begin(), {llm::ChatMessage::Role::kSystem, "be brief"});
  request.temperature = 0.5;
  request.seed = 7;
  request.no_thinking = true;
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
              "temperature":0.5,"chat_template_kwargs":{"enable_thinking":false},"messages":[{"role":"system","content":"be brief"},
              {"role":"user","content":"say hello"}]})"));
}

TEST_F(Client, ShowsAStreamAsItComes) {
  std::vector<std::string> pieces;
  llm::ChatClient::ReplyWatcher watch;
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
  llm::ChatClient::ReplyWatcher watch;
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
                                            {"first-429-hints"},
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
           {"always-reset", Code::kUnreachable, 3, "reset by peer"},
           {"always-cut", Code::kUnreachable, 3, "remaining"},
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
           {"broken-json", Code::kBadReply, 1, "not JSON"},
           {"not-json", Code::kBadReply, 1, "all is well"},
           {"number", Code::kBadReply, 1, "no `choices`"},
           {"null", Code::kBadReply, 1, "no `choices`"},
           {"choices-number", Code::kBadReply, 1, "no `choices`"},
           {"choice-null", Code::kBadReply, 1, "no `message`"},
           {"message-text", Code::kNoText, 1, "no text"},
           {"content-number", Code::kBadReply, 1, "`content` is not a text"},
           {"empty-choices", Code::kBadReply, 1, "empty"},
           {"content-null", Code::kNoText, 1, "no text"},
           {"content-empty", Code::kNoText, 1, "no text"},
           {"content-blank", Code::kNoText, 1, "no text"},
           {"content-tool", Code::kNoText, 1, "`lookup`"},
           {"content-refusal", Code::kRefusal, 1, "I would rather not"},
           {"filtered", Code::kRefusal, 1, "filter"},
           {"deep", Code::kBadReply, 1, "not JSON"},
           {"wide", Code::kBadReply, 1, "no `message`"},
           {"504", Code::kServer, 3, "gateway"},
           {"max-range", Code::kBadRequest, 1, "valid range"},
           {"204", Code::kBadReply, 1, "not JSON"},
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
  EXPECT_THAT(ask("redirect-after-hints").error().message, ::testing::Not(HasSubstr("hinted")));
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
           {"all-unseen", "", "", Finish::kLength},
           {"reasoning", "hello", "let me see"},
           {"think", "hello", "let me see"},
           {"think-no-begin", "hello", "let me see"},
           {"think-no-end", "", "let me see", Finish::kLength},
           {"think-twice", "hello", "let me see"},
           {"tag-in-comment", "Task * GPU;  # no </think> and no <think>\nTask a CPU;\n"},
           {"tag-beside-reasoning", "hello</think> you", "let me see"},
           {"201", "hello"},
           {"stream-caps", "hello", "", Finish::kStop, true},
           {"stream-plain", "hello", "", Finish::kStop, true},
           {"no-usage", "hello"},
           {"odd-usage", "hello"},
           {"gzipped", "hello"},
           {"bad-utf8", "he\xEF\xBF\xBD\xEF\xBF\xBDllo"},
           {"bad-utf8-stream", "he\xEF\xBF\xBD\xEF\xBF\xBDllo", "", Finish::kStop, true},
           {"stream-no-done", "hello", "", Finish::kStop, true},
           {"stream-cut-usage", "hello", "", Finish::kStop, true},
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

TEST_F(Client, NobodyThere) {
  llm::ChatOptions refused = options("ok");
  refused.endpoint = "http://127.0.0.1:" + std::to_string(::groma::testing::free_port());
  auto reply = make(refused).ask(hello());
  EXPECT_EQ(reply.error().code, Code::kUnreachable);
  EXPECT_EQ(reply.error().attempts, 3);
  EXPECT_THAT(reply.error().message, HasSubstr("nobody answers"));
  EXPECT_EQ(reply.error().help, "is the server running?");
  llm::ChatOptions unknown = options("ok");
  unknown.endpoint = "http://no-such-host.invalid/v1";
  unknown.attempts = 1;
  reply = make(unknown).ask(hello());
  EXPECT_EQ(reply.error().code, Code::kUnreachable);
  EXPECT_THAT(reply.error().message, HasSubstr("no such host"));
}

TEST_F(Client, DoesWithoutWhatAServerRefuses) {
  llm::ChatClient client = make(options("reasoning-model", true));
  llm::ChatRequest request = hello();
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
  const std::size_t before = asked("max-range").size();
  EXPECT_EQ(ask("max-range").error().code, Code::kBadRequest);
  EXPECT_EQ(asked("max-range").size(), before + 1) << "a limit out of range is no unknown field";
}

TEST_F(Client, FindsTheModelItself) {
  llm::ChatOptions open = options("ok");
  open.model.clear();
  llm::ChatClient client = make(open);
  ASSERT_TRUE(client.ask(hello()).ok());
  EXPECT_EQ(asked("ok").back()["body"]["model"], "served");
  EXPECT_THAT(client.models().value(), ElementsAre("served", "other"));
  llm::ChatClient listed = make(open);
  ASSERT_TRUE(listed.models().ok());
  const std::size_t lists = asked("ok").size();
  ASSERT_TRUE(listed.ask(hello()).ok());
  EXPECT_EQ(asked("ok").back()["body"]["model"], "served");
  EXPECT_EQ(asked("ok").size(), lists + 1) << "the list is known";
  llm::ChatOptions closed = options("no-models");
  closed.model.clear();
  EXPECT_EQ(make(closed).ask(hello()).error().code, Code::kNotFound);
}

TEST_F(Client, ThreadsShareOneClient) {
  llm::ChatClient client = make(options("ok", true));
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
    llm::ChatOptions shape = options("anthropic", stream);
    shape.api = llm::ChatApi::kAnthropic;
    EXPECT_EQ(make(shape).ask(hello()).error().code, Code::kKey);
    shape.key = key();
    llm::ChatClient client = make(shape);
    llm::ChatRequest request = hello();
    request.messages = {{llm::ChatMessage::Role::kSystem, "be brief"},
                        {llm::ChatMessage::Role::kUser, "one"},
                        {llm::ChatMessage::Role::kUser, "two"}};
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
  llm::ChatOptions shape = options("anthropic");
  shape.api = llm::ChatApi::kAnthropic;
  shape.key = key();
  llm::ChatRequest request = hello();
  request.constraint.json_schema = R"({"type":"object"})";
  EXPECT_EQ(make(shape).ask(request)->text, R"({"a":1})");
  EXPECT_EQ(make(shape).ask(request)->finish, Finish::kStop) << "the tool is ours";
  for (const bool stream : {false, true}) {
    llm::ChatOptions empty = options("anthropic-empty", stream);
    empty.api = llm::ChatApi::kAnthropic;
    empty.key = key();
    EXPECT_EQ(make(empty).ask(request)->text, "{}") << stream;
  }
  request.seed = 1;
  EXPECT_THAT(make(shape).ask(request)->left_out, ElementsAre("seed"));
  shape.endpoint = server_->at("anthropic-overloaded");
  shape.stream = true;
  EXPECT_EQ(make(shape).ask(hello()).value().attempts, 2);
}

// Each kind of server is asked in its own way.
TEST_F(Client, AsksForStructureAsTheServerTakesIt) {
  llm::ChatRequest schema = hello(), grammar = hello();
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
    llm::ChatClient client = make(options(behaviour));
    const auto reply = client.ask(grammar);
    ASSERT_TRUE(reply.ok()) << owner << reply.error().message;
    EXPECT_EQ(reply.value().text, "hello") << owner;
    EXPECT_EQ(reply.value().finish, Finish::kStop) << owner;
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
  llm::ChatRequest hot = schema;
  hot.temperature = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(make(options("by-vllm")).ask(hot).error().message, HasSubstr("not a number"));
  for (const char* broken : {"{\"type\":", "3", "{} {}"}) {
    schema.constraint.json_schema = broken;
    EXPECT_THAT(make(options("by-vllm")).ask(schema).error().message,
                HasSubstr("not a JSON object"));
  }
}

TEST_F(Client, ACommandAnswers) {
  llm::ChatOptions exec;
  exec.endpoint =
      "exec:cat > \"$GROMA_TEST_FOLDER/request\"; printf 'hello <think>no'; sleep 0.05; echo 1 >&2";
  const TemporaryFolder folder;
  setenv("GROMA_TEST_FOLDER", folder.path().c_str(), 1);
  llm::ChatRequest request = hello();
  request.constraint.gbnf = "root ::= \"a\"";
  llm::ChatClient client = make(exec);
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
  for (const char* silent : {"exec:true", "exec:echo"}) {
    exec.endpoint = silent;
    reply = make(exec).ask(hello());
    ASSERT_FALSE(reply.ok()) << silent;
    EXPECT_EQ(reply.error().code, Code::kNoText) << silent;
    EXPECT_THAT(reply.error().help, HasSubstr("standard output")) << silent;
  }
  // A reply ends where the limit on its tokens is reached, as that of a server would.
  exec.endpoint = "exec:yes word | head -c 5000";
  request = hello();
  request.max_tokens = 100;
  reply = make(exec).ask(request);
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->finish, llm::ChatReply::Finish::kLength);
  EXPECT_LE(reply->usage.output_tokens, 100);
  EXPECT_GT(reply->text.size(), 300U);
  EXPECT_TRUE(reply->text.starts_with("word\nword\n"));
  exec.endpoint = "exec:sleep 300 & sleep 300";
  exec.total_timeout_ms = 200;
  EXPECT_EQ(make(exec).ask(hello()).error().code, Code::kTimeout);
  exec.total_timeout_ms = 600'000;
  exec.max_reply_bytes = 1000;
  exec.endpoint = "exec:yes";
  EXPECT_EQ(make(exec).ask(hello()).error().code, Code::kTooLarge) << "while it writes";
  exec.endpoint = "exec:yes | head -c 5000";
  EXPECT_EQ(make(exec).ask(hello()).error().code, Code::kTooLarge);
}

TEST_F(Client, Check) {
  auto line_of = [](const llm::ChatOptions& options) {
    llm::ChatClient client = make(options);
    const auto check = llm::check_chat(client, 0.0);
    return check ? render(*check) : check.error().message;
  };
  llm::ChatOptions full = options("schema");
  full.price = llm::ChatPrice{1, 1};
  EXPECT_THAT(line_of(full), HasSubstr("/schema/v1: has the model `served`\n"
                                       "structured  JSON schema kept, grammar kept\n"
                                       "a round     "));
  EXPECT_THAT(line_of(full), HasSubstr(" ms, 5 + 2 tokens, costs 7e-06\n"));
  EXPECT_THAT(line_of(options("schema-only")),
              HasSubstr("structured  JSON schema kept, grammar ignored\n"));
  full = options("no-models");
  EXPECT_THAT(line_of(full), HasSubstr("it does not list its models\n"
                                       "structured  not kept: JSON schema ignored, grammar "
                                       "ignored; replies are parsed anyway\n"));
  EXPECT_THAT(line_of(options("refuses-structure")),
              HasSubstr("structured  not kept: JSON schema refused, grammar refused; replies"));
  full = options("ok");
  full.model = "serve";
  EXPECT_THAT(line_of(full), HasSubstr("does not list `serve` among 2 models (did you mean "
                                       "`served`?), but answers"));
  EXPECT_THAT(line_of(options("401")), HasSubstr("Invalid API key"));
  full.endpoint = "exec:true";
  EXPECT_THAT(line_of(full), HasSubstr("no text"));
}

// The shape of docs/commands.md, whole.
TEST_F(Client, CheckAsJson) {
  const auto checked = [](llm::ChatOptions options) {
    options.key = key();
    llm::ChatClient client = make(options);
    json made = json::parse(to_json(llm::check_chat(client, 0.0).value()));
    EXPECT_GE(made["round"]["elapsed_ms"].get<int>(), 0);
    made["round"].erase("elapsed_ms");
    return made;
  };
  llm::ChatOptions full = options("schema");
  full.price = llm::ChatPrice{1, 1};
  EXPECT_EQ(checked(full), json({{"status", "ok"},
                                 {"endpoint", full.endpoint},
                                 {"wanted_model", "served"},
                                 {"models", {"served"}},
                                 {"schema", "kept"},
                                 {"grammar", "kept"},
                                 {"structured", true},
                                 {"round",
                                  {{"model", "served"},
                                   {"input_tokens", 5},
                                   {"output_tokens", 2},
                                   {"estimated", false},
                                   {"money", 7e-6}}}}));
  EXPECT_EQ(checked(options("schema-only"))["structured"], true);
  llm::ChatOptions none = options("no-models");
  none.model = kKey;  // a slip
  const json made = checked(none);
  EXPECT_EQ(made["models"], nullptr);
  EXPECT_EQ(made["schema"], "ignored");
  EXPECT_EQ(made["structured"], false);
  EXPECT_EQ(made["round"]["money"], nullptr);
  EXPECT_EQ(made["wanted_model"], "[key]");
  EXPECT_EQ(made.dump().find("SECRET"), std::string::npos);
  EXPECT_EQ(checked(options("refuses-structure"))["grammar"], "refused");
  none = options("ok");
  none.model = "";
  EXPECT_EQ(checked(none)["wanted_model"], nullptr);

  EXPECT_EQ(json::parse(to_json(ask("401").error())),
            json({{"status", "error"},
                  {"code", "key"},
                  {"message", "the server answers 401: Invalid API key"},
                  {"help", ask("401").error().help},
                  {"http_status", 401},
                  {"attempts", 1}}));
  llm::ChatError last;
  last.code = Code::kReplay;
  EXPECT_EQ(json::parse(to_json(last))["code"], "replay");
  EXPECT_EQ(json::parse(to_json(last))["http_status"], nullptr);
  EXPECT_EQ(json::parse(llm::to_json(llm::ChatClient::make({}).error()))["code"], "options");
}

}  // namespace
}  // namespace groma
