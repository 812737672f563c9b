// Writes requests and reads replies in the form of OpenAI's chat completions, with the variations
// of servers that are compatible with it.
#include "llm/json.h"

namespace groma::llm {
namespace {

// The names of ChatMessage::Role, in their order.
constexpr const char* kRoles[] = {"system", "user", "assistant"};

// Reads the token counts. A count is -1 if the server did not report it.
ChatUsage usage_of(const json& value) {
  ChatUsage usage;
  usage.input_tokens = count_in(value, "prompt_tokens", -1);
  usage.output_tokens = count_in(value, "completion_tokens", -1);
  if (const json* more = member(value, "prompt_tokens_details")) {
    usage.cached_tokens = count_in(*more, "cached_tokens");
  }
  if (const json* more = member(value, "completion_tokens_details")) {
    usage.reasoning_tokens = count_in(*more, "reasoning_tokens");
  }
  return usage;
}

// Adds the content of a message, which is a text or a list of parts. Returns false if it is
// neither.
bool add_content(const json& content, ParsedReply* reply) {
  if (content.is_string()) {
    reply->text += content.get_ref<const std::string&>();
    reply->has_text = true;
    return true;
  }
  if (!content.is_array()) return false;
  for (const json& part : content) {
    reply->text += part.is_string() ? part.get<std::string>() : text_in(part, "text");
    reply->refusal += text_in(part, "refusal");
  }
  reply->has_text = true;
  return true;
}

// Notes the name of the tool that the model calls. The input of the tool kReplyTool is the text of
// the reply.
void add_tools(const json& calls, ParsedReply* reply) {
  if (!calls.is_array()) return;
  for (const json& call : calls) {
    for (const char* kind : {"custom", "function"}) {
      const json* tool = member(call, kind);
      if (tool == nullptr) continue;
      const std::string name = text_in(*tool, "name");
      if (!name.empty()) reply->tool = name;
      if (reply->tool == kReplyTool && kind == std::string_view("custom")) {
        reply->text += text_in(*tool, "input");
        reply->has_text = true;
      }
      if (reply->tool.empty()) reply->tool = "?";
    }
  }
}

// Adds a message or, in a stream, a piece of a message. Servers put reasoning into one of two
// members.
void add_message(const json& message, ParsedReply* reply) {
  if (const json* content = member(message, "content")) {
    if (!add_content(*content, reply)) reply->parse_error = "`content` is not a text";
  }
  const json* thoughts = member(message, "reasoning_content");
  if (thoughts == nullptr) thoughts = member(message, "reasoning");
  if (thoughts != nullptr && thoughts->is_string())
    reply->reasoning += thoughts->get<std::string>();
  reply->refusal += text_in(message, "refusal");
  if (const json* calls = member(message, "tool_calls")) add_tools(*calls, reply);
}

// Adds one choice of a reply. `key` is `message`, or `delta` in a stream. A choice may also hold an
// error.
void add_choice(const json& choice, const char* key, ParsedReply* reply) {
  if (const json* error = member(choice, "error"))
    reply->error = find_server_error({{"error", *error}});
  if (const json* message = member(choice, key)) add_message(*message, reply);
  const std::string finish = text_in(choice, "finish_reason");
  if (!finish.empty()) reply->finish = finish;
}

// Returns the request's `response_format`, which asks for the JSON schema. llama-cpp-python has a
// form of its own.
json format_of(const std::string& schema, ServerSoftware server) {
  json parsed = parse_json(schema);
  if (server == ServerSoftware::kLlamaCppPython)
    return {{"type", "json_object"}, {"schema", parsed}};
  return {{"type", "json_schema"},
          {"json_schema", {{"name", "reply"}, {"strict", true}, {"schema", parsed}}}};
}

// Adds the grammar to a request in the form that the server takes. OpenAI takes Lark, as the format
// of a tool that the model must call. All others take GBNF, under different names.
void add_grammar(const ChatConstraint& constraint, ServerSoftware server, json* body) {
  switch (server) {
    case ServerSoftware::kVllm:
      (*body)["structured_outputs"] = {{"grammar", constraint.gbnf}};
      break;
    case ServerSoftware::kSglang:
      (*body)["ebnf"] = constraint.gbnf;
      break;
    case ServerSoftware::kFireworks:
      (*body)["response_format"] = {{"type", "grammar"}, {"grammar", constraint.gbnf}};
      break;
    case ServerSoftware::kOpenAi:
      (*body)["tools"] = {
          {{"type", "custom"},
           {"custom",
            {{"name", kReplyTool},
             {"format",
              {{"type", "grammar"},
               {"grammar", {{"syntax", "lark"}, {"definition", constraint.lark}}}}}}}}};
      (*body)["tool_choice"] = {{"type", "custom"}, {"custom", {{"name", kReplyTool}}}};
      break;
    default:
      (*body)["grammar"] = constraint.gbnf;
  }
}

// One object serves all clients, because it has no state.
class OpenAi final : public ChatFormat {
 public:
  const char* path() const override { return "/chat/completions"; }

  std::vector<std::string> headers(const std::string& key) const override {
    if (key.empty()) return {};
    return {"Authorization: Bearer " + key};
  }

  // A schema is always possible. A grammar must be in the syntax that the server takes.
  std::string why_unsupported(const ChatConstraint& constraint,
                              ServerSoftware server) const override {
    if (constraint.gbnf.empty() && constraint.lark.empty()) return "";
    if (server == ServerSoftware::kOllama) return "Ollama takes no grammar";
    const bool lark = server == ServerSoftware::kOpenAi;
    return (lark ? constraint.lark : constraint.gbnf).empty()
               ? std::string("the server takes grammars in ") + (lark ? "Lark" : "GBNF")
               : "";
  }

  // Leaves out the fields that the server refused (`dialect.left_out`), and the model if it has no
  // name.
  std::string request_body(const ChatRequest& request, const std::string& model, bool stream,
                           const ServerDialect& dialect) const override {
    const auto wanted = [&dialect](const char* name) {
      return !dialect.refused_fields.contains(name);
    };
    json body = {{"messages", json::array()}};
    if (!model.empty()) body["model"] = model;
    for (const ChatMessage& message : request.messages) {
      body["messages"].push_back(
          {{"role", kRoles[static_cast<int>(message.role)]}, {"content", message.text}});
    }
    const char* limit = dialect.uses_max_completion_tokens ? "max_completion_tokens" : "max_tokens";
    if (wanted(limit)) body[limit] = request.max_tokens;
    if (request.temperature && wanted("temperature")) body["temperature"] = *request.temperature;
    if (request.seed && wanted("seed")) body["seed"] = *request.seed;
    if (request.no_thinking && wanted("chat_template_kwargs")) {
      body["chat_template_kwargs"] = {{"enable_thinking", false}};
    }
    body["stream"] = stream;
    if (stream && wanted("stream_options")) body["stream_options"] = {{"include_usage", true}};
    const ChatConstraint& constraint = request.constraint;
    if (!constraint.json_schema.empty()) {
      body["response_format"] = format_of(constraint.json_schema, dialect.server);
    } else if (!constraint.gbnf.empty() || !constraint.lark.empty()) {
      add_grammar(constraint, dialect.server, &body);
    }
    return dump(body);
  }

  // In a stream, the last event has the counts.
  void add_usage(const json& value, ParsedReply* reply) const override {
    const json* usage = member(value, "usage");
    if (usage == nullptr || !usage->is_object()) return;
    reply->reported_usage = usage_of(*usage);
  }

  // Reads the first choice of a reply, and ignores the others.
  void read_content(const json& body, ParsedReply* reply) const override {
    const json* choices = member(body, "choices");
    if (choices == nullptr || !choices->is_array()) {
      reply->parse_error = "it has no `choices`";
    } else if (choices->empty()) {
      reply->parse_error = "its `choices` are empty";
    } else if (member((*choices)[0], "message") == nullptr) {
      reply->parse_error = "its first choice has no `message`";
    } else {
      add_choice((*choices)[0], "message", reply);
    }
  }

  // Reads an event of a stream. Ignores choices other than the first one.
  void read_event(const json& event, ParsedReply* reply) const override {
    const json* choices = member(event, "choices");
    if (choices == nullptr || !choices->is_array()) return;
    for (const json& choice : *choices) {
      if (count_in(choice, "index") == 0) add_choice(choice, "delta", reply);
    }
  }
};

}  // namespace

const ChatFormat& openai_format() {
  static const OpenAi format;
  return format;
}

}  // namespace groma::llm
