// Reads the parts that both formats have in common: errors, lists of models, and the frame of
// replies.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/json_bounds.h"
#include "llm/json.h"
#include "llm/text.h"

namespace groma::llm {
namespace {

// Returns the size of the context, in tokens, that an error message states; 0 if it states none.
// Servers use several phrases, such as "maximum context length is 4096" and "5000 > 4096 maximum".
std::int64_t context_in(const std::string& message) {
  for (const std::string_view phrase :
       {"maximum context length is ", "context length is only ", "context window of "}) {
    const std::size_t at = message.find(phrase);
    if (at == message.npos) continue;
    std::int64_t number = 0;
    std::from_chars(message.data() + at + phrase.size(), message.data() + message.size(), number);
    if (number > 0) return number;
  }
  const std::size_t maximum = message.find(" maximum"), more = message.find("> ");
  if (maximum == message.npos || more == message.npos || more > maximum) return 0;
  std::int64_t number = 0;
  std::from_chars(message.data() + more + 2, message.data() + maximum, number);
  return std::max<std::int64_t>(number, 0);
}

// Reads an error object. A numeric code from 400 to 599 is an HTTP status.
ServerError error_of(const json& value) {
  ServerError error;
  error.message = text_in(value, "message");
  error.type = text_in(value, "type");
  error.param = text_in(value, "param");
  error.code = text_in(value, "code");
  const std::int64_t number = count_in(value, "code");
  if (number >= 400 && number < 600) error.status = static_cast<int>(number);
  error.context_tokens = count_in(value, "n_ctx", context_in(error.message));
  return error;
}

// Reads an error of FastAPI: a text, or a list of errors of which only the first is read.
ServerError detail_of(const json& detail) {
  ServerError error;
  if (detail.is_string()) error.message = detail.get<std::string>();
  if (!detail.is_array() || detail.empty()) return error;
  error.message = text_in(detail[0], "msg");
  const json* place = member(detail[0], "loc");
  if (place != nullptr && place->is_array() && !place->empty() && place->back().is_string()) {
    error.param = place->back().get<std::string>();
    error.message += " (" + error.param + ")";
  }
  return error;
}

// Returns true if the character may be part of the name of a field.
bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns true if the text contains the word as a whole word.
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; ++at) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) {
      return true;
    }
  }
  return false;
}

}  // namespace

// The limits on the size and nesting of the JSON are checked before the text is parsed, because the
// parser is recursive.
json parse_json(std::string_view text) {
  return within_json_bounds(text) ? json::parse(text, nullptr, false)
                                  : json(json::value_t::discarded);
}

// Returns the error in a body; nullopt if the body is not an error. Servers put errors in `error`,
// in `detail`, or at the top of the object.
std::optional<ServerError> find_server_error(const json& value) {
  if (!value.is_object()) return std::nullopt;
  if (const json* error = member(value, "error")) {
    if (error->is_object()) return error_of(*error);
    ServerError plain;
    plain.message = error->is_string() ? error->get<std::string>() : dump(*error);
    return plain;
  }
  if (const json* detail = member(value, "detail")) return detail_of(*detail);
  if (text_in(value, "object") == "error") return error_of(value);
  if (member(value, "choices") == nullptr && !text_in(value, "message").empty()) {
    return error_of(value);
  }
  return std::nullopt;
}

// The content type of the reply decides. Some servers send no content type; then the beginning of
// the body decides.
bool WireReply::is_stream() const {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  const auto typed = [&](std::string_view type) {
    return content_type.size() >= type.size() &&
           std::equal(type.begin(), type.end(), content_type.begin(),
                      [&](char wanted, char c) { return same(c, wanted); });
  };
  const bool begins = body.starts_with("data:") || body.starts_with("event:");
  if (is_reply_text) return false;
  return typed("text/event-stream") || (begins && !typed("application/json"));
}

// If both token counts are 0, they are treated as missing, because some servers report 0 for "not
// known".
std::optional<ChatUsage> ParsedReply::usage() const {
  const bool said = reported_usage.input_tokens >= 0 && reported_usage.output_tokens >= 0;
  if (!said || reported_usage.input_tokens + reported_usage.output_tokens == 0) return std::nullopt;
  return reported_usage;
}

// If the body is not JSON, sets `parse_error` and reads nothing else.
ParsedReply ChatFormat::parse_body(std::string_view body) const {
  ParsedReply reply;
  const json value = parse_json(body);
  if (value.is_discarded()) {
    reply.parse_error = "it is not JSON";
    return reply;
  }
  reply.error = find_server_error(value);
  add_usage(value, &reply);
  reply.model = text_in(value, "model");
  read_content(value, &reply);
  return reply;
}

// If an event is not JSON, sets `parse_error`, unless the reply already has its finish reason.
bool ChatFormat::add_event(std::string_view data, ParsedReply* reply) const {
  // In OpenAI's protocol, the last event of a stream is `[DONE]`.
  if (data == "[DONE]") return false;
  const json value = parse_json(valid_utf8(data));
  if (value.is_discarded()) {
    // After the finish reason, only token counts may follow, so a broken event is ignored.
    if (reply->parse_error.empty() && reply->finish.empty())
      reply->parse_error = "an event of it is not JSON";
    return false;
  }
  if (auto error = find_server_error(value)) reply->error = std::move(error);
  add_usage(value, reply);
  if (reply->model.empty()) reply->model = text_in(value, "model");
  const std::size_t before = reply->text.size() + reply->reasoning.size();
  read_event(value, reply);
  return reply->text.size() + reply->reasoning.size() > before;
}

std::optional<ServerError> read_error(std::string_view body) {
  return find_server_error(parse_json(body));
}

// Returns at most 10,000 names of models. The first model with a known `owned_by` tells the
// software of the server.
std::optional<ModelList> read_models(std::string_view body) {
  const json value = parse_json(body);
  const json* data = member(value, "data");
  if (data == nullptr || !data->is_array()) return std::nullopt;
  struct Owner {
    std::string_view name;
    ServerSoftware server;
  };
  constexpr std::array<Owner, 8> kOwners = {{{"llamacpp", ServerSoftware::kLlamaCpp},
                                             {"me", ServerSoftware::kLlamaCppPython},
                                             {"vllm", ServerSoftware::kVllm},
                                             {"sglang", ServerSoftware::kSglang},
                                             {"fireworks", ServerSoftware::kFireworks},
                                             {"openai", ServerSoftware::kOpenAi},
                                             {"system", ServerSoftware::kOpenAi},
                                             {"library", ServerSoftware::kOllama}}};
  ModelList list;
  for (const json& model : *data) {
    const std::string name = text_in(model, "id");
    if (name.empty() || list.names.size() == 10'000) continue;
    list.names.push_back(name);
    const std::string by = text_in(model, "owned_by");
    const auto* owner =
        std::find_if(kOwners.begin(), kOwners.end(), [&](const Owner& o) { return o.name == by; });
    if (owner != kOwners.end() && list.server == ServerSoftware::kUnknown)
      list.server = owner->server;
  }
  return list;
}

// Returns the first known field of the request that the error is about. Returns `max_tokens` only
// if the server does not know that field at all.
std::string refused_field(const ServerError& error, std::string_view body) {
  const json request = parse_json(body);
  // A server may also refuse `max_tokens` because its value is out of range. Another name would not
  // help then.
  const auto unknown = [&error] {
    const std::string& text = error.message;
    return error.code == "unsupported_parameter" || has_word(text, "max_completion_tokens") ||
           has_word(text, "unknown") || has_word(text, "Unknown") ||
           text.find("nsupported") != text.npos || text.find("not permitted") != text.npos;
  };
  for (const char* field : {"max_tokens", "max_completion_tokens", "temperature", "seed",
                            "stream_options", "chat_template_kwargs"}) {
    if (member(request, field) == nullptr) continue;
    if (error.param != field && !has_word(error.message, field)) continue;
    return std::string_view(field) != "max_tokens" || unknown() ? field : "";
  }
  return "";
}

}  // namespace groma::llm
