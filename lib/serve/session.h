// Session: the conversation with one client. It answers each message, at once or by a call in a
// thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "groma/serve.h"
#include "serve/call_pool.h"
#include "serve/line_channel.h"
#include "serve/message.h"

namespace groma::serve {

class Session {
 public:
  // All arguments must outlive the session.
  Session(const Service& service, const ServeOptions& options, LineWriter& writer);
  // Answers the messages of a line.
  void take_line(std::string_view line);
  // Answers a line that was too long to be read.
  void take_too_long_line();
  // Waits for the calls in flight, at most this long or until `stop` returns true. Then cancels
  // those that are left. The destructor waits for them.
  void finish(std::chrono::milliseconds most, const std::function<bool()>& stop);

 private:
  // Takes the reply to a request. A null reply stands for a request that is not answered, because
  // it was cancelled.
  using Reply = std::function<void(json reply)>;
  class Batch;

  void take(const Message& message, const Reply& reply);
  void take_request(const Message& message, const Reply& reply);
  void take_notification(const Message& message);
  json initialize(const Message& message);
  json list_tools() const;
  json list_resource_templates() const;
  // Have the reply made by a call.
  void call_tool(const Message& message, const Reply& reply);
  void list_resources(const Message& message, const Reply& reply);
  void read_resource(const Message& message, const Reply& reply);
  // Adds a call whose reply `make` makes.
  void add_call(const Message& message, const Reply& reply,
                std::function<json(const Call& call)> make);
  // Returns the function that reports the progress of a request.
  auto progress_reporter(const Message& message, const std::atomic<bool>& cancelled) const
      -> decltype(Call::report_progress);
  json described(const Resource& resource) const;

  const Service& service_;
  const ServeOptions& options_;
  LineWriter& writer_;
  // The version of the protocol; empty before `initialize`.
  std::string_view version_;
  // The last member: its threads use the others.
  CallPool pool_;
};

}  // namespace groma::serve
