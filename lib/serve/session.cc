// Answers the methods of the protocol.
#include "serve/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "groma/harmless.h"
#include "serve/versions.h"

namespace groma::serve {
namespace {

// The least time between two notifications about the progress of a request.
constexpr auto kBetweenProgress = std::chrono::milliseconds(100);
// Limit on the bytes of a client's text that an error repeats.
constexpr std::size_t kMaxRepeated = 100;

// Returns the member of an object; null if it has none.
const json* member(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}
// Returns the member of an object if it is a string; otherwise null.
const std::string* string_member(const json& object, const char* key) {
  const json* found = member(object, key);
  return found == nullptr ? nullptr : found->get_ptr<const std::string*>();
}

// Parses what a tool or this server itself has written. A text that is not JSON is our mistake; the
// client then gets null instead of a broken message.
json parsed(const std::string& text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() ? json(nullptr) : value;
}

json text_content(const std::string& text) { return {{"type", "text"}, {"text", text}}; }

}  // namespace

// Collects the replies to an array of messages. They are sent together, as an array, when the last
// one is there.
class Session::Batch {
 public:
  Batch(std::size_t requests, LineWriter& writer) : left_(requests), writer_(writer) {}
  void add(json reply) {
    const std::lock_guard lock(mutex_);
    if (!reply.is_null()) replies_.push_back(std::move(reply));
    if (--left_ == 0 && !replies_.empty()) writer_.write_line(to_line(replies_));
  }

 private:
  std::mutex mutex_;
  std::size_t left_;
  json replies_ = json::array();
  LineWriter& writer_;
};

Session::Session(const Service& service, const ServeOptions& options, LineWriter& writer)
    : service_(service),
      options_(options),
      writer_(writer),
      pool_(options.jobs, options.max_waiting) {}

void Session::take_line(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == line.npos) return;
  const Messages messages = read_messages(line);
  Reply reply = [this](const json& each) {
    if (!each.is_null()) writer_.write_line(to_line(each));
  };
  if (messages.is_batch && !version_.empty() && !has_batches(version_)) {
    reply(
        make_error(nullptr, RpcCode::kInvalidRequest,
                   fmt::format("version {} of the protocol has no arrays of messages", version_)));
    return;
  }
  if (messages.is_batch) {
    const auto answered =
        std::count_if(messages.all.begin(), messages.all.end(), [](const Message& message) {
          return message.kind == Message::Kind::kRequest || message.kind == Message::Kind::kInvalid;
        });
    auto batch = std::make_shared<Batch>(static_cast<std::size_t>(answered), writer_);
    reply = [batch](json each) { batch->add(std::move(each)); };
  }
  for (const Message& message : messages.all) take(message, reply);
}

void Session::take_too_long_line() {
  writer_.write_line(to_line(
      make_error(nullptr, RpcCode::kInvalidRequest,
                 fmt::format("a message has more than {} bytes", options_.max_message_bytes))));
}

void Session::finish(std::chrono::milliseconds most, const std::function<bool()>& stop) {
  constexpr auto kLook = std::chrono::milliseconds(50);
  const auto end = std::chrono::steady_clock::now() + most;
  while (!pool_.wait_until_idle(kLook)) {
    if (stop() || std::chrono::steady_clock::now() >= end) return pool_.cancel_all();
  }
}

void Session::take(const Message& message, const Reply& reply) {
  switch (message.kind) {
    case Message::Kind::kRequest:
      return take_request(message, reply);
    case Message::Kind::kNotification:
      return take_notification(message);
    case Message::Kind::kInvalid:
      return reply(make_error(message.id, message.code, message.error));
    case Message::Kind::kResponse:
      // The server asks the client nothing, so nobody waits for a response.
      return;
  }
}

// An unknown method is reported as such before `initialize`, too: clients of later versions of the
// protocol find out in this way that the server speaks an earlier one.
void Session::take_request(const Message& message, const Reply& reply) {
  using Method = void (Session::*)(const Message&, const Reply&);
  const std::string& method = message.method;
  const auto answer = [&](json result) { reply(make_reply(message.id, std::move(result))); };
  if (method == "ping") return answer(json::object());
  if (method == "initialize") return reply(initialize(message));
  const bool lists_tools = method == "tools/list";
  const bool lists_templates = method == "resources/templates/list";
  const Method called = method == "tools/call"       ? &Session::call_tool
                        : method == "resources/list" ? &Session::list_resources
                        : method == "resources/read" ? &Session::read_resource
                                                     : nullptr;
  if (!lists_tools && !lists_templates && called == nullptr) {
    return reply(
        make_error(message.id, RpcCode::kMethodNotFound,
                   fmt::format("no method is named `{}`",
                               visible(std::string_view(method).substr(0, kMaxRepeated)))));
  }
  if (version_.empty()) {
    return reply(make_error(message.id, RpcCode::kInvalidRequest,
                            "the first request of a client is `initialize`"));
  }
  // Every list is sent as a whole, so no cursor was ever given to the client.
  if (message.params.contains("cursor") && called != &Session::call_tool &&
      called != &Session::read_resource && !message.params["cursor"].is_null()) {
    return reply(make_error(message.id, RpcCode::kInvalidParams,
                            "no such `cursor`: the list is sent as a whole"));
  }
  if (lists_tools) return answer(list_tools());
  if (lists_templates) return answer(list_resource_templates());
  (this->*called)(message, reply);
}

void Session::take_notification(const Message& message) {
  if (message.method != "notifications/cancelled") return;
  const json* id = member(message.params, "requestId");
  if (id != nullptr) pool_.cancel(to_line(*id));
}

json Session::initialize(const Message& message) {
  if (!version_.empty()) {
    return make_error(message.id, RpcCode::kInvalidRequest, "`initialize` was called before");
  }
  const std::string* asked = string_member(message.params, "protocolVersion");
  if (asked == nullptr) {
    return make_error(message.id, RpcCode::kInvalidParams, "`protocolVersion` is not a string",
                      {{"supported", kVersions}});
  }
  version_ = negotiate(*asked);
  json server = {{"name", service_.name}, {"version", service_.version}};
  if (has_structured_results(version_)) server["title"] = service_.title;
  return make_reply(message.id, {{"protocolVersion", version_},
                                 {"capabilities",
                                  {{"tools", {{"listChanged", false}}},
                                   {"resources", {{"subscribe", false}, {"listChanged", false}}}}},
                                 {"serverInfo", std::move(server)},
                                 {"instructions", service_.instructions}});
}

json Session::list_tools() const {
  json tools = json::array();
  for (const Tool& tool : service_.tools) {
    json described = {{"name", tool.name},
                      {"description", tool.description},
                      {"inputSchema", parsed(tool.input_schema)}};
    if (has_structured_results(version_)) described["title"] = tool.title;
    if (has_tool_hints(version_)) {
      described["annotations"] = {{"title", tool.title},
                                  {"readOnlyHint", tool.reads_only},
                                  {"destructiveHint", tool.destroys},
                                  {"idempotentHint", tool.is_idempotent},
                                  {"openWorldHint", tool.open_world}};
    }
    tools.push_back(std::move(described));
  }
  return {{"tools", std::move(tools)}};
}

json Session::described(const Resource& resource) const {
  json made = {{"uri", resource.uri},
               {"name", resource.name},
               {"description", resource.description},
               {"mimeType", resource.mime_type}};
  if (has_structured_results(version_)) made["title"] = resource.title;
  return made;
}

json Session::list_resource_templates() const {
  json templates = json::array();
  for (const ResourceTemplate& each : service_.resource_templates) {
    json made = {{"uriTemplate", each.uri_template},
                 {"name", each.name},
                 {"description", each.description},
                 {"mimeType", each.mime_type}};
    if (has_structured_results(version_)) made["title"] = each.title;
    templates.push_back(std::move(made));
  }
  return {{"resourceTemplates", std::move(templates)}};
}

void Session::call_tool(const Message& message, const Reply& reply) {
  const std::string* name = string_member(message.params, "name");
  const auto refuse = [&](std::string_view why) {
    reply(make_error(message.id, RpcCode::kInvalidParams, why));
  };
  if (name == nullptr) return refuse("`name` is not a string");
  const auto tool = std::find_if(service_.tools.begin(), service_.tools.end(),
                                 [&](const Tool& each) { return each.name == *name; });
  if (tool == service_.tools.end()) {
    return refuse(fmt::format("no tool is named `{}`",
                              visible(std::string_view(*name).substr(0, kMaxRepeated))));
  }
  const json* arguments = member(message.params, "arguments");
  const bool given = arguments != nullptr && !arguments->is_null();
  if (given && !arguments->is_object()) return refuse("`arguments` is not an object");
  std::string text = given ? to_line(*arguments) : "{}";
  add_call(message, reply, [this, id = message.id, tool, text = std::move(text)](const Call& call) {
    Call with_arguments = call;
    with_arguments.arguments = text;
    const ToolResult result = tool->run(with_arguments);
    json made = {{"content", json::array({text_content(result.text)})},
                 {"isError", result.is_error}};
    if (!result.structured.empty() && has_structured_results(version_)) {
      json structured = parsed(result.structured);
      if (structured.is_object()) made["structuredContent"] = std::move(structured);
    }
    return make_reply(id, std::move(made));
  });
}

void Session::list_resources(const Message& message, const Reply& reply) {
  add_call(message, reply, [this, id = message.id](const Call& call) {
    json list = json::array();
    for (const Resource& resource : service_.list_resources(call)) {
      list.push_back(described(resource));
    }
    return make_reply(id, {{"resources", std::move(list)}});
  });
}

void Session::read_resource(const Message& message, const Reply& reply) {
  const std::string* given = string_member(message.params, "uri");
  if (given == nullptr) {
    return reply(make_error(message.id, RpcCode::kInvalidParams, "`uri` is not a string"));
  }
  add_call(message, reply, [this, id = message.id, uri = *given](const Call& call) {
    const auto texts = service_.read_resource(uri, call);
    if (!texts) {
      const bool unknown = texts.error().code == Error::Code::kUnknown;
      return make_error(id, unknown ? RpcCode::kResourceNotFound : RpcCode::kInternalError,
                        texts.error().message, {{"uri", uri}});
    }
    json contents = json::array();
    for (const ResourceText& each : *texts) {
      contents.push_back({{"uri", each.uri}, {"mimeType", each.mime_type}, {"text", each.text}});
    }
    return make_reply(id, {{"contents", std::move(contents)}});
  });
}

void Session::add_call(const Message& message, const Reply& reply,
                       std::function<json(const Call& call)> make) {
  const auto added =
      pool_.add(to_line(message.id),
                [this, message, reply, make = std::move(make)](const std::atomic<bool>& cancelled) {
                  // A client does not expect a reply to a request that it has cancelled.
                  if (cancelled) return reply(nullptr);
                  Call call;
                  call.cancelled = [&cancelled] { return cancelled.load(); };
                  call.report_progress = progress_reporter(message, cancelled);
                  json made = make(call);
                  reply(cancelled ? json(nullptr) : std::move(made));
                });
  if (added == CallPool::Added::kTooMany) {
    reply(make_error(message.id, RpcCode::kTooBusy,
                     fmt::format("{} calls are waiting already", options_.max_waiting)));
  } else if (added == CallPool::Added::kRepeatedId) {
    reply(make_error(message.id, RpcCode::kInvalidRequest,
                     "a request with this `id` is still in flight"));
  }
}

// The protocol demands that the progress grows. A client that sends no token wants no progress.
auto Session::progress_reporter(const Message& message, const std::atomic<bool>& cancelled) const
    -> decltype(Call::report_progress) {
  const json* meta = member(message.params, "_meta");
  const json* token =
      meta != nullptr && meta->is_object() ? member(*meta, "progressToken") : nullptr;
  if (token == nullptr || !(token->is_string() || token->is_number_integer())) {
    return [](double, std::optional<double>, std::string_view) {};
  }
  struct State {
    std::mutex mutex;
    std::optional<double> progress;
    std::chrono::steady_clock::time_point next;
  };
  return [this, token = *token, state = std::make_shared<State>(), &cancelled](
             double progress, std::optional<double> total, std::string_view text) {
    const std::lock_guard lock(state->mutex);
    const auto now = std::chrono::steady_clock::now();
    const bool grows = !state->progress || progress > *state->progress;
    if (cancelled || !grows || now < state->next) return;
    state->progress = progress;
    state->next = now + kBetweenProgress;
    json params = {{"progressToken", token}, {"progress", progress}};
    if (total) params["total"] = *total;
    if (has_tool_hints(version_) && !text.empty()) params["message"] = text;
    writer_.write_line(to_line(make_notification("notifications/progress", std::move(params))));
  };
}

}  // namespace groma::serve
