// Writes requests and reads replies in the form of Anthropic's messages API. Structured replies are
// calls of a tool, because this API has no other form for them.
#include "llm/json.h"

namespace groma::llm {
namespace {

// Adds one content block of a reply. If the request had a schema, the model replies by calling the
// tool kReplyTool, and the input of the tool is the reply. `whole`: the block contains that input.
// In a stream, the input follows in later events.
void add_block(const json& block, bool whole, ParsedReply* reply) {
  const std::string type = text_in(block, "type");
  if (type == "text" || type == "text_delta") {
    reply->text += text_in(block, "text");
    reply->has_text = true;
  } else if (type == "thinking" || type == "thinking_delta") {
    reply->reasoning += text_in(block, "thinking");
  } else if (type == "input_json_delta" && reply->tool == kReplyTool) {
    reply->text += text_in(block, "partial_json");
    reply->has_text = true;
  } else if (type == "tool_use") {
    reply->tool = text_in(block, "name");
    const json* input = member(block, "input");
    if (reply->tool != kReplyTool || input == nullptr || !whole) return;
    reply->text += dump(*input);
    reply->has_text = true;
  }
}

// One object serves all clients, because it has no state.
class Anthropic final : public ChatFormat {
 public:
  const char* path() const override { return "/messages"; }

  // Requests without a key are allowed, for servers on this computer.
  std::vector<std::string> headers(const std::string& key) const override {
    std::vector<std::string> lines = {"anthropic-version: 2023-06-01"};
    if (!key.empty()) lines.push_back("x-api-key: " + key);
    return lines;
  }

  const char* field_not_in_format() const override { return "seed"; }

  // This API can ask for a reply that obeys a JSON schema, as the input of a tool, but not for one
  // that obeys a grammar.
  std::string why_unsupported(const ChatConstraint& constraint, ServerSoftware) const override {
    return constraint.gbnf.empty() && constraint.lark.empty() ? "" : "this API takes no grammar";
  }

  // System messages are joined into the member `system`. Neighbouring messages of one role are
  // joined, because the API wants the roles to alternate. A schema becomes a tool that the model
  // has to call.
  std::string request_body(const ChatRequest& request, const std::string& model, bool stream,
                           const ServerDialect& dialect) const override {
    json body = {{"model", model}, {"max_tokens", request.max_tokens}, {"stream", stream}};
    json& messages = body["messages"] = json::array();
    std::string system;
    for (const ChatMessage& message : request.messages) {
      if (message.role == ChatMessage::Role::kSystem) {
        system += (system.empty() ? "" : "\n\n") + message.text;
        continue;
      }
      const char* role = message.role == ChatMessage::Role::kUser ? "user" : "assistant";
      if (!messages.empty() &&
          messages.back()["role"] == role) {  // The API wants the roles to alternate.
        messages.back()["content"] =
            messages.back()["content"].get<std::string>() + "\n\n" + message.text;
      } else {
        messages.push_back({{"role", role}, {"content", message.text}});
      }
    }
    if (!system.empty()) body["system"] = system;
    if (request.temperature && !dialect.refused_fields.contains("temperature")) {
      body["temperature"] = *request.temperature;
    }
    if (!request.constraint.json_schema.empty()) {
      body["tools"] = {{{"name", kReplyTool},
                        {"description", "Takes the reply."},
                        {"input_schema", parse_json(request.constraint.json_schema)}}};
      body["tool_choice"] = {{"type", "tool"}, {"name", kReplyTool}};
    }
    return dump(body);
  }

  // Adds the cached tokens to the input tokens, because OpenAI's counts contain them, too.
  void add_usage(const json& value, ParsedReply* reply) const override {
    const json* usage = member(value, "usage");
    if (usage == nullptr || !usage->is_object()) return;
    // The counts in each event of a stream replace the counts of earlier events.
    ChatUsage& total = reply->reported_usage;
    total.cached_tokens = count_in(*usage, "cache_read_input_tokens", total.cached_tokens);
    if (member(*usage, "input_tokens") != nullptr) {
      total.input_tokens = count_in(*usage, "input_tokens") + total.cached_tokens +
                           count_in(*usage, "cache_creation_input_tokens");
    }
    total.output_tokens = count_in(*usage, "output_tokens", total.output_tokens);
  }

  // A reply is a list of content blocks, which are joined.
  void read_content(const json& body, ParsedReply* reply) const override {
    reply->finish = text_in(body, "stop_reason");
    const json* content = member(body, "content");
    if (content == nullptr || !content->is_array()) {
      reply->parse_error = "it has no `content`";
      return;
    }
    for (const json& block : *content) add_block(block, true, reply);
  }

  // Reads one event of a stream. The first event has the input tokens, a later one the output
  // tokens. A call of kReplyTool without input becomes the reply `{}`.
  void read_event(const json& event, ParsedReply* reply) const override {
    if (const json* message = member(event, "message");
        message != nullptr && message->is_object()) {
      reply->model = text_in(*message, "model");
      add_usage(*message, reply);
      // A later event of the stream reports the output tokens.
      reply->reported_usage.output_tokens = -1;
    }
    if (const json* block = member(event, "content_block")) add_block(*block, false, reply);
    if (const json* delta = member(event, "delta")) {
      add_block(*delta, false, reply);
      const std::string finish = text_in(*delta, "stop_reason");
      if (!finish.empty()) reply->finish = finish;
      if (finish == "tool_use" && reply->tool == kReplyTool && !reply->has_text) {
        reply->text = "{}";
        reply->has_text = true;
      }
    }
  }
};

}  // namespace

const ChatFormat& anthropic_format() {
  static const Anthropic format;
  return format;
}

}  // namespace groma::llm
