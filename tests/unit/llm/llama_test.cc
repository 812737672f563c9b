// The chat client against llama.cpp's own server, with a tiny model of random weights: under our
// grammar even that writes programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "groma/llm.h"
#include "groma/source.h"
#include "groma/syntax.h"
#include "support/llama_server.h"

namespace groma {
namespace {

using Code = llm::ChatError::Code;
using ::testing::HasSubstr;
using Finish = llm::ChatReply::Finish;

class Llama : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new testing::LlamaServer; }
  static void TearDownTestSuite() { delete server_; }

  static llm::ChatClient client(bool stream = false, const char* key = testing::LlamaServer::kKey) {
    return server_->client(stream, key);
  }

  static llm::ChatRequest request() {
    llm::ChatRequest made;
    made.messages = {{llm::ChatMessage::Role::kUser, "Write a mapping."}};
    made.temperature = 1.0;
    made.seed = 1;
    made.max_tokens = 40;
    return made;
  }

  static testing::LlamaServer* server_;
};

testing::LlamaServer* Llama::server_ = nullptr;

bool parses(const std::string& text) {
  Diagnostics diags(Source("reply", text));
  return format(diags.source(), diags).has_value();
}

// Up to the end of the last top-level line that another one follows: what was cut is in the rest.
std::string whole_part(const std::string& text) {
  for (std::size_t at = text.size(); at-- > 0;) {
    const char next = at + 1 < text.size() ? text[at + 1] : ' ';
    if (text[at] == '\n' && next != ' ' && next != '}' && next != '\n')
      return text.substr(0, at + 1);
  }
  return "";
}

// Eight at once; the server has two slots and queues the rest.
TEST_F(Llama, WritesProgramsUnderOurGrammar) {
  llm::ChatClient shared = client();
  const std::string whole_grammar = grammar(GrammarFormat::kGbnf);
  // Some of them are to end: random weights seldom want to.
  std::string one_line = whole_grammar;
  const std::size_t root = one_line.find("root ::= ");
  ASSERT_NE(root, one_line.npos);
  one_line.replace(root, one_line.find('\n', root) - root, "root ::= line");
  GrammarNames names;
  names.tasks = {"calculate_new_currents", "distribute_charge", "Update voltages"};
  names.regions = {"rp_shared", "rp_ghost"};
  names.requirements = 5;
  names.processors = {ProcKind::kCpu, ProcKind::kGpu};
  const std::string narrow = grammar(GrammarFormat::kGbnf, names);
  const std::string* const grammars[] = {&whole_grammar, &one_line, &narrow};
  constexpr int kReplies = 500, kThreads = 8;
  std::atomic<int> next{0}, complete{0}, cut{0}, empty{0}, wrong{0};
  std::vector<std::string> first_wrong(kThreads);
  std::vector<std::thread> threads;
  for (std::string& bad : first_wrong) {
    threads.emplace_back([&] {
      for (int seed = next++; seed < kReplies; seed = next++) {
        llm::ChatRequest ask = request();
        ask.seed = seed;
        ask.max_tokens = 240;
        ask.constraint.gbnf = *grammars[seed % 3];
        const auto reply = shared.ask(ask);
        const bool whole = reply && reply.value().finish == Finish::kStop;
        if (reply) ++(whole ? complete : cut);
        const std::string text = !reply  ? ""
                                 : whole ? reply.value().text
                                         : whole_part(reply.value().text);
        if (reply && text.empty()) ++empty;
        if (reply && parses(text)) continue;
        ++wrong;
        bad = reply ? reply.value().text : reply.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0) << ::testing::PrintToString(first_wrong);
  EXPECT_EQ(complete + cut, kReplies);
  EXPECT_GT(complete, kReplies / 10);
  EXPECT_GT(cut, kReplies / 10);
  EXPECT_GT(cut - empty, kReplies / 10) << "of too few was something left to parse";
  EXPECT_EQ(shared.spent().requests, kReplies);
  EXPECT_FALSE(shared.spent().estimated);
  std::printf("%d complete, %d cut\n", complete.load(), cut.load());
}

TEST_F(Llama, StreamsTheSameText) {
  std::string shown;
  llm::ChatClient::ReplyWatcher watch;
  watch.on_text = [&shown](std::string_view text, bool) { shown += text; };
  const auto streamed = client(true).ask(request(), watch);
  const auto whole = client(false).ask(request());
  ASSERT_TRUE(streamed.ok()) << streamed.error().message;
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  EXPECT_EQ(streamed.value().text, whole.value().text);
  EXPECT_EQ(shown, whole.value().text);
  EXPECT_EQ(streamed.value().usage.output_tokens, whole.value().usage.output_tokens);
  EXPECT_EQ(streamed.value().model, "tiny-random");
  EXPECT_FALSE(streamed.value().usage.estimated);
}

TEST_F(Llama, KeepsASchema) {
  llm::ChatClient all = client();
  const auto check = llm::check_chat(all, 1.0);
  ASSERT_TRUE(check.ok()) << check.error().message;
  EXPECT_EQ(check.value().schema, llm::ChatCheck::Obeys::kYes);
  EXPECT_EQ(check.value().grammar, llm::ChatCheck::Obeys::kYes);
}

TEST_F(Llama, SaysWhatIsWrong) {
  EXPECT_EQ(client(false, "another-key").ask(request()).error().code, Code::kKey);
  llm::ChatRequest wrong = request();
  wrong.constraint.gbnf = "root ::= (";
  EXPECT_EQ(client().ask(wrong).error().code, Code::kBadRequest);
  for (const bool stream : {false, true}) {
    llm::ChatRequest large = request();
    large.messages[0].text = std::string(5000, 'x');
    const auto reply = client(stream).ask(large);
    EXPECT_EQ(reply.error().code, Code::kContextTooLong);
    EXPECT_EQ(reply.error().context_tokens, 1024);  // a slot's half of all
  }
}

TEST_F(Llama, IsStoppedInTheMiddle) {
  for (const bool stream : {false, true}) {
    llm::ChatRequest long_one = request();
    long_one.max_tokens = 900;
    long_one.constraint.gbnf = "root ::= [a-z]{1900}";
    int asked = 0;
    llm::ChatClient::ReplyWatcher watch;
    watch.stop = [&asked] { return ++asked > 2; };
    llm::ChatClient stopped = client(stream);
    EXPECT_EQ(stopped.ask(long_one, watch).error().code, Code::kStopped);
    EXPECT_TRUE(stopped.ask(request()).ok()) << "the server goes on";
  }
}

}  // namespace
}  // namespace groma
