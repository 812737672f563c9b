// The server with tools of the test's own, between two pipes: what it answers while calls are in
// flight, and how it ends. tests/command/serve.py tests it with Groma's tools.
#include "groma/serve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

namespace groma::serve {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

// A service with a tool `wait`, which reports its progress until it is cancelled or released, and a
// tool `echo`.
class Fake {
 public:
  Fake() {
    signal(SIGPIPE, SIG_IGN);
    service_.tools.push_back(
        {.name = "wait", .input_schema = "{}", .run = [this](const Call& call) {
           ++begun;
           for (double i = 0; !call.cancelled() && !released; ++i) {
             call.report_progress(i, 1000, "waits");
             call.report_progress(i - 5, 1000, "goes back");
             std::this_thread::sleep_for(std::chrono::milliseconds(1));
           }
           ++ended;
           return ToolResult{.text = "waited"};
         }});
    service_.tools.push_back({.name = "echo", .input_schema = "{}", .run = [](const Call& call) {
                                return ToolResult{.text = call.arguments, .structured = "no JSON"};
                              }});
    service_.list_resources = [](const Call&) { return std::vector<Resource>(); };
    service_.read_resource = [](const std::string&, const Call&) {
      return Result<std::vector<ResourceText>>(Error{Error::Code::kUnreadable, "broken"});
    };
    EXPECT_EQ(pipe(to_.data()), 0);
    EXPECT_EQ(pipe(from_.data()), 0);
    replies_ = fdopen(from_[0], "r");
    options.max_message_bytes = 1000;
    options.last_calls_ms = 100;
    server_ = std::thread([this] {
      end = serve_client(service_, to_[0], from_[1], options);
      close(from_[1]);
    });
    send({{"id", 0}, {"method", "initialize"}, {"params", {{"protocolVersion", "2025-06-18"}}}});
    EXPECT_EQ(next()["result"]["protocolVersion"], "2025-06-18");
  }
  ~Fake() {
    close_input();
    if (server_.joinable()) server_.join();
    fclose(replies_);
    close(to_[0]);
  }

  void send(json message) {
    message["jsonrpc"] = "2.0";
    send_line(message.dump());
  }
  void send_line(const std::string& line) {
    const std::string text = line + "\n";
    EXPECT_EQ(write(to_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void call(int id, const char* tool) {
    send({{"id", id},
          {"method", "tools/call"},
          {"params", {{"name", tool}, {"_meta", {{"progressToken", id}}}}}});
  }
  json next() {
    std::string line;
    for (int c; (c = fgetc(replies_)) != EOF && c != '\n';) line += static_cast<char>(c);
    return line.empty() ? json(nullptr) : json::parse(line);
  }
  // Returns the next message that is no progress, and adds that to `progress`.
  json next_reply() {
    for (;;) {
      json message = next();
      if (!message.contains("method")) return message;
      progress.push_back(message["params"]["progress"].get<double>());
    }
  }
  void close_input() {
    if (!closed_) close(to_[1]);
    closed_ = true;
  }
  void join() { server_.join(); }

  std::atomic<int> begun{0}, ended{0};
  std::atomic<bool> released{false};
  std::vector<double> progress;
  ServeOptions options;
  ServeEnd end = ServeEnd::kStopped;

 private:
  Service service_;
  std::array<int, 2> to_{}, from_{};
  FILE* replies_ = nullptr;
  bool closed_ = false;
  std::thread server_;
};

TEST(Serve, AnswersWhileACallIsInFlight) {
  Fake fake;
  fake.call(1, "wait");
  fake.call(2, "echo");
  const json echoed = fake.next_reply();
  EXPECT_EQ(echoed["id"], 2);
  EXPECT_EQ(echoed["result"]["content"][0]["text"], "{}");
  // A tool whose structured content is not JSON does not break the message.
  EXPECT_FALSE(echoed["result"].contains("structuredContent"));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  fake.released = true;
  EXPECT_EQ(fake.next_reply()["id"], 1);
  EXPECT_GE(fake.progress.size(), 2U);
  EXPECT_TRUE(std::is_sorted(fake.progress.begin(), fake.progress.end()));
}

TEST(Serve, DoesNotAnswerACancelledCall) {
  Fake fake;
  fake.call(1, "wait");
  while (fake.begun == 0) std::this_thread::yield();
  fake.send({{"method", "notifications/cancelled"}, {"params", {{"requestId", 1}}}});
  while (fake.ended == 0) std::this_thread::yield();
  fake.send({{"id", 2}, {"method", "ping"}});
  EXPECT_EQ(fake.next_reply()["id"], 2);
}

TEST(Serve, SkipsALineThatIsTooLong) {
  Fake fake;
  fake.send_line(std::string(5000, 'x'));
  EXPECT_EQ(fake.next()["error"]["code"], -32600);
  fake.send({{"id", 2}, {"method", "resources/read"}, {"params", {{"uri", "x"}}}});
  const json error = fake.next()["error"];
  EXPECT_EQ(error["code"], -32603);
  EXPECT_EQ(error["message"], "broken");
}

TEST(Serve, CancelsItsCallsAtTheEndOfTheInput) {
  Fake fake;
  fake.call(1, "wait");
  while (fake.begun == 0) std::this_thread::yield();
  fake.close_input();
  fake.join();
  EXPECT_EQ(fake.end, ServeEnd::kInputClosed);
  EXPECT_EQ(fake.ended, 1);
}

TEST(Serve, KnowsItsVersions) {
  EXPECT_THAT(protocol_versions(), ElementsAre("2024-11-05", "2025-03-26", "2025-06-18"));
}

}  // namespace
}  // namespace groma::serve
