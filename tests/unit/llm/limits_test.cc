// What a call may take: time, tokens, money; and that it is stopped when asked.
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <set>
#include <thread>

#include "groma/llm.h"
#include "support/temporary_folder.h"
#include "unit/llm/chat_fixture.h"

namespace groma {
namespace {

using Code = llm::ChatError::Code;
using test::TemporaryFolder;
using ::testing::HasSubstr;

TEST_F(Client, WaitsAsLongAsItIsAsked) {
  for (const auto& [behaviour, least_ms] :
       {std::pair{"first-429-seconds", 200}, {"first-429-date", 900}, {"first-429-ms", 200}}) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(ask(behaviour).ok()) << behaviour;
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(took, std::chrono::milliseconds(least_ms)) << behaviour;
    EXPECT_LT(took, std::chrono::seconds(60)) << behaviour;
  }
  llm::ChatOptions impatient = options("always-429-seconds");
  impatient.total_timeout_ms = 150;
  const auto late = make(impatient).ask(hello());
  EXPECT_EQ(late.error().code, Code::kRateLimit);
  EXPECT_EQ(late.error().attempts, 1);
}

TEST_F(Client, TimeEnds) {
  for (const char* behaviour : {"silent", "drip"}) {
    llm::ChatOptions hasty = options(behaviour);
    hasty.total_timeout_ms = 200;
    hasty.idle_timeout_ms = 60'000;
    const auto reply = make(hasty).ask(hello());
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().code, Code::kTimeout) << behaviour;
    EXPECT_EQ(reply.error().attempts, 1) << behaviour;
    EXPECT_THAT(reply.error().message, HasSubstr("not done after"));
  }
}

constexpr int kAskedAfterMs = 60;

// How long a call goes on after it is asked to stop.
double stopped_after_ms(const llm::ChatOptions& options) {
  auto client = llm::ChatClient::make(options);
  GROMA_CHECK(client.ok());
  const auto ask_at = std::chrono::steady_clock::now() + std::chrono::milliseconds(kAskedAfterMs);
  llm::ChatClient::ReplyWatcher watch;
  watch.stop = [ask_at] { return std::chrono::steady_clock::now() >= ask_at; };
  const auto reply = client->ask(hello(), watch);
  const auto late = std::chrono::steady_clock::now() - ask_at;
  EXPECT_TRUE(!reply.ok() && reply.error().code == Code::kStopped);
  return std::chrono::duration<double, std::milli>(late).count();
}

// Within 100 ms in each phase; the best of some tries, since the machine may be busy.
TEST_F(Client, StopsWhenAsked) {
  std::vector<std::pair<std::string, llm::ChatOptions>> phases;
  for (const char* behaviour : {"silent", "drip", "pings", "long-wait"}) {
    phases.emplace_back(behaviour, options(behaviour, std::string(behaviour) == "pings"));
  }
  for (const auto& [phase, endpoint] :
       std::vector<std::pair<std::string, std::string>>{{"name", "http://slow-name.invalid/v1"},
                                                        {"connect", server_->deaf()},
                                                        {"handshake", server_->mute()},
                                                        {"command", "exec:sleep 30"},
                                                        {"escaped", "exec:setsid sleep 2"}}) {
    phases.emplace_back(phase, options("ok")).second.endpoint = endpoint;
  }
  phases.emplace_back("models", options("hang-models")).second.model = "";
  for (auto& [phase, patient] : phases) {
    patient.idle_timeout_ms = patient.connect_timeout_ms = 60'000;
    patient.max_retry_after_ms = patient.total_timeout_ms = 4'000'000;
    double best_ms = 1e9;
    for (int i = 0; i < 8 && best_ms >= 100; ++i) {
      best_ms = std::min(best_ms, stopped_after_ms(patient));
    }
    EXPECT_LT(best_ms, 100) << phase;
  }
}

TEST_F(Client, AConnectionHasItsOwnTime) {
  llm::ChatOptions hasty = options("ok");
  hasty.endpoint = server_->deaf();
  hasty.connect_timeout_ms = 100;
  hasty.attempts = 1;
  hasty.total_timeout_ms = 5'000;
  const auto reply = make(hasty).ask(hello());
  EXPECT_EQ(reply.error().code, Code::kTimeout);
  EXPECT_THAT(reply.error().message, HasSubstr("no connection in time"));
}

// The list is a hint there: a server that does not give it is asked all the same.
TEST_F(Client, AListThatNeverComesHoldsNobodyUp) {
  llm::ChatOptions named = options("hang-models");
  named.connect_timeout_ms = 100;
  llm::ChatRequest request = hello();
  request.constraint.gbnf = "root ::= \"a\"";
  const auto reply = make(named).ask(request);
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(asked("hang-models").back()["body"]["grammar"], request.constraint.gbnf);
}

TEST_F(Client, NoRetryPassesTheCeilings) {
  llm::ChatOptions poor = options("always-cut");
  poor.attempts = 100;
  poor.max_tokens = 1000;
  poor.price = llm::ChatPrice{1, 1};
  llm::ChatClient client = make(poor);
  const std::size_t before = asked("always-cut").size();
  const auto reply = client.ask(hello());
  EXPECT_EQ(reply.error().code, Code::kCeiling) << reply.error().message;
  EXPECT_GT(reply.error().attempts, 1);
  const llm::ChatSpending spent = client.spent();
  EXPECT_LE(spent.input_tokens + spent.output_tokens, 1000);
  EXPECT_GT(spent.output_tokens, 0) << "what broke off may have cost";
  EXPECT_TRUE(spent.estimated);
  EXPECT_EQ(static_cast<std::size_t>(spent.requests), asked("always-cut").size() - before);

  poor = options("ok");
  poor.price = llm::ChatPrice{0, 1e6};  // a unit for a token of output
  poor.max_money = 67;
  llm::ChatClient rich = make(poor);
  EXPECT_TRUE(rich.ask(hello()).ok());  // 64 at most, 2 in truth
  EXPECT_TRUE(rich.ask(hello()).ok());
  EXPECT_EQ(rich.ask(hello()).error().code, Code::kCeiling);
  EXPECT_DOUBLE_EQ(rich.spent().money, 4);
  // What is refused before it is worked on costs nothing.
  llm::ChatClient refused = make(options("always-503"));
  EXPECT_FALSE(refused.ask(hello()).ok());
  EXPECT_EQ(refused.spent().input_tokens, 0);
}

// What an exchange may have cost counts, whatever became of it. The request is "say hello", of nine
// bytes. Of what broke off, the reply may have had its 64 tokens.
TEST_F(Client, EstimatesTheTokensWhereTheServerDoesNotSay) {
  struct Spent {
    const char* behaviour;
    std::int64_t output_tokens;
    bool stream = false;
    llm::ChatApi api = llm::ChatApi::kOpenAi;
    bool estimated = output_tokens == 64;
    std::int64_t input_tokens = estimated ? 3 : output_tokens == 0 ? 0 : 5;
  };
  constexpr auto kOpenAi = llm::ChatApi::kOpenAi;
  for (const Spent& one :
       std::vector<Spent>{{"ok", 2},
                          {"ok", 2, true},
                          {"no-usage", 2, false, kOpenAi, true},  // "hello"
                          {"half-usage", 2, false, kOpenAi, true, 5},
                          {"odd-usage", 2, false, kOpenAi, true},
                          {"unseen-no-usage", 64},  // all of it thoughts that are not shown
                          {"always-cut", 64},
                          {"always-stream-cut", 64, true},
                          {"always-408", 64},
                          {"always-500", 64},
                          {"always-502", 64},
                          {"504", 64},
                          {"501", 0},
                          {"always-503", 0},
                          {"always-529", 0},
                          {"always-429", 0},
                          {"400", 0},
                          {"error-words", 64},
                          {"always-stream-error", 64, true},
                          {"html", 64},
                          {"empty-choices-costly", 2},
                          {"anthropic-cut", 64, true, llm::ChatApi::kAnthropic, true, 5},
                          {"anthropic-no-usage", 2, false, llm::ChatApi::kAnthropic, true},
                          {"anthropic", 2, true, llm::ChatApi::kAnthropic, false, 8}}) {
    llm::ChatOptions once = options(one.behaviour, one.stream);
    once.attempts = 1;
    once.api = one.api;
    if (one.api == llm::ChatApi::kAnthropic) once.key = key();
    llm::ChatClient client = make(once);
    static_cast<void>(client.ask(hello()));
    EXPECT_EQ(client.spent().output_tokens, one.output_tokens) << one.behaviour;
    EXPECT_EQ(client.spent().input_tokens, one.input_tokens) << one.behaviour;
    EXPECT_EQ(client.spent().estimated, one.estimated) << one.behaviour;
  }
  for (llm::ChatOptions unsent : {options("ok"), options("ok")}) {
    unsent.attempts = 1;
    unsent.endpoint = server_->deaf();
    unsent.total_timeout_ms = 100;
    llm::ChatClient client = make(unsent);
    EXPECT_EQ(client.ask(hello()).error().code, Code::kTimeout);
    EXPECT_EQ(client.spent().input_tokens, 0) << "nothing was sent";
  }
}

// All that a command writes is known, so that is counted, also where it fails.
TEST_F(Client, EstimatesWhatACommandReadsAndWrites) {
  const auto spent_by = [](const std::string& command) {
    llm::ChatOptions options;
    options.endpoint = "exec:" + command;
    options.attempts = 1;
    llm::ChatClient client = make(options);
    llm::ChatRequest request = hello();
    request.messages.front().text = std::string(7'000, 'x');
    request.max_tokens = 4'096;
    const auto reply = client.ask(request);
    const llm::ChatSpending spent = client.spent();
    EXPECT_TRUE(spent.estimated);
    EXPECT_EQ(spent.input_tokens, 2'000);
    EXPECT_TRUE(!reply || reply->usage.output_tokens == spent.output_tokens);
    return spent.output_tokens;
  };
  EXPECT_EQ(spent_by("printf '%700s' x"), 200);
  EXPECT_EQ(spent_by("printf '%700s' x; exit 3"), 200);
  EXPECT_EQ(spent_by("exit 3"), 1);
  EXPECT_EQ(spent_by("true"), 1);
  EXPECT_EQ(spent_by("printf '<think>%693s' x"), 200);  // thoughts count
}

// What a recording does not say is estimated as it was.
TEST_F(Client, AReplayEstimatesTheSame) {
  const TemporaryFolder folder;
  for (const char* behaviour : {"no-usage", "half-usage", "always-cut", "unseen-no-usage"}) {
    llm::ChatOptions live = options(behaviour);
    live.record = folder.path() + "/" + behaviour;
    llm::ChatClient asked = make(live);
    static_cast<void>(asked.ask(hello()));
    llm::ChatOptions again = options(behaviour);
    again.replay = live.record;
    llm::ChatClient replayed = make(again);
    static_cast<void>(replayed.ask(hello()));
    EXPECT_GT(asked.spent().output_tokens, 0) << behaviour;
    EXPECT_EQ(replayed.spent().output_tokens, asked.spent().output_tokens) << behaviour;
    EXPECT_EQ(replayed.spent().input_tokens, asked.spent().input_tokens) << behaviour;
    EXPECT_TRUE(replayed.spent().estimated) << behaviour;
  }
}

// A prompt of 20,000 bytes has some 5,700 tokens. Were a token reserved for each byte, the ceiling
// would end the questions after two.
TEST_F(Client, TheReservationDoesNotEndABudgetEarly) {
  llm::ChatOptions options;
  options.endpoint = "exec:echo Task";
  options.max_tokens = 50'000;
  llm::ChatClient client = make(options);
  llm::ChatRequest request = hello();
  request.messages.front().text = std::string(20'000, 'x');
  request.max_tokens = 4'096;
  int replies = 0;
  while (client.ask(request).ok()) ++replies;
  EXPECT_EQ(replies, 8);
  const llm::ChatSpending spent = client.spent();
  EXPECT_LE(spent.input_tokens + spent.output_tokens, 50'000);
}

TEST(EstimateTokens, CountsBytes) {
  EXPECT_EQ(llm::estimate_tokens(""), 1);
  EXPECT_EQ(llm::estimate_tokens("a"), 1);
  EXPECT_EQ(llm::estimate_tokens("say hello"), 3);
  EXPECT_EQ(llm::estimate_tokens(std::string(7'000, 'x')), 2'000);
  EXPECT_EQ(llm::estimate_tokens("任务映射"), 4);  // three bytes each
  EXPECT_EQ(llm::estimate_tokens("\xFF\xFF"), 1);
}

TEST_F(Client, ThreadsKeepTheCeilingTogether) {
  const auto all_at_once = [](const llm::ChatOptions& options, int threads) {
    llm::ChatClient client = make(options);
    std::vector<std::thread> running;
    std::atomic<int> replies{0};
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&] { replies += client.ask(hello()).ok() ? 1 : 0; });
    }
    for (std::thread& thread : running) thread.join();
    return std::pair(replies.load(), client.spent());
  };
  llm::ChatOptions poor = options("no-usage-slow");
  poor.max_tokens = 85;  // 67 at most for each, 5 in truth
  const auto [replies, spent] = all_at_once(poor, 8);
  EXPECT_GT(replies, 0);
  EXPECT_LT(replies, 8);
  EXPECT_LE(spent.input_tokens + spent.output_tokens, 85);
  // What others have set aside comes back: nobody is refused for it.
  llm::ChatOptions enough = options("slow-ok");
  enough.max_tokens = 400;
  EXPECT_EQ(all_at_once(enough, 8).first, 8);
}

TEST_F(Client, WaitsAreRandomAndGrow) {
  const TemporaryFolder folder;
  llm::ChatOptions live = options("always-503");
  live.attempts = 8;
  live.backoff_ms = 0;
  live.record = folder.path() + "/recording";
  EXPECT_FALSE(make(live).ask(hello()).ok());
  std::vector<std::set<int>> waits(7);
  for (int i = 0; i < 40; ++i) {
    Lines lines;
    llm::ChatOptions again = options("always-503");
    again.attempts = 8;
    again.backoff_ms = 1000;
    again.total_timeout_ms = 4'000'000;
    again.replay = live.record;
    again.log = &lines;
    EXPECT_EQ(make(again).ask(hello()).error().attempts, 8);
    std::size_t at = 0;
    for (std::set<int>& one : waits) {
      at = lines.text.find("again in ", at);
      ASSERT_NE(at, std::string::npos);
      at += 9;
      one.insert(std::atoi(lines.text.c_str() + at));
    }
  }
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const int most = std::min(1000 << i, 30'000);
    EXPECT_GT(waits[i].size(), 10U) << i;
    EXPECT_LE(*waits[i].rbegin(), most) << i;
    EXPECT_GT(*waits[i].rbegin(), most / 2) << i;
  }
}

// Neither a child that is started meanwhile nor anybody else holds our connections open.
TEST_F(Client, ItsSocketsAreNotInherited) {
  llm::ChatOptions hasty = options("silent");
  hasty.total_timeout_ms = 300;
  int seen = 0;
  llm::ChatClient::ReplyWatcher watch;
  watch.stop = [&seen] {
    for (int file = 3; file < 256; ++file) {
      sockaddr_storage address{};
      socklen_t size = sizeof address;
      if (getpeername(file, reinterpret_cast<sockaddr*>(&address), &size) != 0) continue;
      if (address.ss_family != AF_INET) continue;
      EXPECT_NE(fcntl(file, F_GETFD) & FD_CLOEXEC, 0);
      ++seen;
    }
    return false;
  };
  static_cast<void>(make(hasty).ask(hello(), watch));
  EXPECT_GT(seen, 0);
}

TEST(ChatLimits, AreChecked) {
  const auto made = [](auto change) {
    llm::ChatOptions options;
    options.endpoint = "http://127.0.0.1:1";
    options.price = llm::ChatPrice{1, 1};
    options.max_money = 1;
    change(options);
    return llm::ChatClient::make(options).ok();
  };
  EXPECT_TRUE(made([](llm::ChatOptions&) {}));
  EXPECT_FALSE(made([](llm::ChatOptions& o) { o.price.reset(); }));
  EXPECT_FALSE(made([](llm::ChatOptions& o) { o.price->input = std::nan(""); }));
  EXPECT_FALSE(made([](llm::ChatOptions& o) { o.price->output = -1; }));
  EXPECT_FALSE(made([](llm::ChatOptions& o) { o.price->output = INFINITY; }));
  EXPECT_FALSE(made([](llm::ChatOptions& o) { o.max_money = std::nan(""); }));
  EXPECT_FALSE(made([](llm::ChatOptions& o) { o.attempts = 0; }));
}

}  // namespace
}  // namespace groma

// A name server that is slow for one name; libcurl looks names up by this.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  if (name != nullptr && std::string_view(name) == "slow-name.invalid") {
    sleep(2);
    return EAI_NONAME;
  }
  static const auto real =
      reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(name, service, hints, found);
}
