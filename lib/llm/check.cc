// Makes the check of `groma llm check`: asks an endpoint a few questions to find out whether it
// works, and which constraints it enforces.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "groma/harmless.h"
#include "groma/spelling.h"
#include "llm/json.h"
#include "llm/text.h"

namespace groma::llm {
namespace {

using Code = ChatError::Code;
using Obeys = ChatCheck::Obeys;
using Json = nlohmann::ordered_json;

// The names of the error codes for `--json`, in the order of ChatError::Code.
constexpr std::array<std::string_view, 18> kCodeNames = {
    "unreachable",      "certificate", "timeout",    "stopped", "key",         "not-found",
    "context-too-long", "bad-request", "rate-limit", "quota",   "server",      "bad-reply",
    "no-text",          "refusal",     "too-large",  "ceiling", "unsupported", "replay"};
static_assert(kCodeNames.size() == static_cast<std::size_t>(Code::kReplay) + 1);

// A JSON schema, and the only text that the grammar of the check allows. A model gives a reply of
// this form only if the server enforces the schema or the grammar.
constexpr std::string_view kSchema =
    R"({"type":"object","properties":{"groma":{"type":"string","enum":["cohort"]}},)"
    R"("required":["groma"],"additionalProperties":false})";
constexpr std::string_view kAnswer = "Task * GPU;";

// Returns a short question: at most 256 tokens and no thinking.
ChatRequest question(std::optional<double> temperature, std::string text) {
  ChatRequest request;
  request.messages = {{ChatMessage::Role::kUser, std::move(text)}};
  request.temperature = temperature;
  request.max_tokens = 256;
  request.no_thinking = true;
  return request;
}

// Returns true if a reply has exactly the form that kSchema demands.
bool keeps_schema(const std::string& text) {
  const json value = parse_json(text);
  return value.is_object() && value.size() == 1 && text_in(value, "groma") == "cohort";
}

// Returns whether the server enforced the constraint, ignored it or refused it. keeps(text) returns
// true if the text obeys the constraint. Returns nullopt if the request failed for a reason that
// says nothing about the constraint.
template <typename Keeps>
std::optional<Obeys> judged(const Result<ChatReply, ChatError>& reply, const Keeps& keeps) {
  if (reply) return keeps(reply.value().text) ? Obeys::kYes : Obeys::kIgnored;
  switch (reply.error().code) {
    case Code::kBadRequest:
    case Code::kUnsupported:
    case Code::kServer:
    case Code::kNoText:
    case Code::kUnreachable:
      return Obeys::kRefused;
    default:
      return std::nullopt;
  }
}

std::string_view words_of(Obeys obeys) {
  constexpr std::string_view kWords[] = {"kept", "ignored", "refused"};
  return kWords[static_cast<int>(obeys)];
}

// Returns the JSON value as one line.
std::string as_line(const Json& json) {
  return harmless_lines(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

// Returns what the report says about the models: how many the endpoint lists, and whether the
// wanted model is among them.
std::string model_words(const ChatCheck& check) {
  const std::string& wanted = check.wanted_model;
  if (!check.models) return "it does not list its models";
  const auto& models = *check.models;
  const std::string count = fmt::format("{} model{}", models.size(), models.size() == 1 ? "" : "s");
  if (wanted.empty()) return fmt::format("{}, took `{}`", count, printable_line(models.at(0), 80));
  if (std::find(models.begin(), models.end(), wanted) != models.end()) {
    return fmt::format("has the model `{}`", printable_line(wanted, 80));
  }
  const std::vector<std::string_view> names(models.begin(), models.end());
  const auto near = near_names(wanted, names);
  return fmt::format("does not list `{}` among {}{}, but answers", printable_line(wanted, 80),
                     count,
                     near.empty() ? "" : fmt::format(" (did you mean {}?)", join_names(near)));
}

}  // namespace

// Asks for the list of models, then one question without a constraint, one with a schema and one
// with a grammar. A server without a list of models passes. Returns an error if the question
// without a constraint fails, or if another one fails for a reason that says nothing about its
// constraint.
Result<ChatCheck, ChatError> check_chat(ChatClient& client, std::optional<double> temperature,
                                        const ChatClient::ReplyWatcher& watch) {
  ChatCheck check;
  const ChatOptions& options = client.options();
  check.endpoint = options.replay.empty() ? options.endpoint : "the recording";
  check.wanted_model = redacted(options.model, ChatKeyText::text_of(options.key));
  auto models = client.models(watch);
  if (models) {
    if (!models->empty()) check.models = std::move(models).value();
  } else if (models.error().code != Code::kNotFound && models.error().code != Code::kBadReply) {
    return models.error();
  }
  auto round = client.ask(question(temperature, "Answer with the one word: ready"), watch);
  if (!round) return round.error();
  check.round = std::move(round).value();

  // The model is asked for prose, so a reply in the wanted form comes from the constraint.
  ChatRequest schema = question(temperature, "Say something about a camp, as JSON.");
  schema.constraint.json_schema = kSchema;
  const auto by_schema = client.ask(schema, watch);
  const auto schema_kept = judged(by_schema, keeps_schema);
  if (!schema_kept) return by_schema.error();
  check.schema = *schema_kept;

  ChatRequest grammar = question(temperature, "Say something about a camp.");
  grammar.constraint.gbnf = fmt::format("root ::= \"{}\"\n", kAnswer);
  grammar.constraint.lark = fmt::format("start: \"{}\"\n", kAnswer);
  const auto by_grammar = client.ask(grammar, watch);
  const auto grammar_kept =
      judged(by_grammar, [](std::string_view text) { return text == kAnswer; });
  if (!grammar_kept) return by_grammar.error();
  check.grammar = *grammar_kept;
  return check;
}

// Returns the report as three lines of text for a person.
std::string render(const ChatCheck& check) {
  const ChatReply& round = check.round;
  const std::string money =
      round.money ? fmt::format("costs {:.2g}", *round.money) : "price not known";
  return fmt::format(
      "reachable   {}: {}\n"
      "structured  {}JSON schema {}, grammar {}{}\n"
      "a round     {} ms, {} + {} tokens{}, {}\n",
      check.endpoint, model_words(check),
      check.structured() ? "" : "not kept: ", words_of(check.schema), words_of(check.grammar),
      check.structured() ? "" : "; replies are parsed anyway", round.elapsed_ms,
      round.usage.input_tokens, round.usage.output_tokens,
      round.usage.estimated ? " (estimated)" : "", money);
}

// Returns the report as one line of JSON. Missing values are null.
std::string to_json(const ChatCheck& check) {
  const ChatReply& round = check.round;
  const Json money = round.money ? Json(*round.money) : Json();
  const Json of_round = {{"model", round.model},
                         {"elapsed_ms", round.elapsed_ms},
                         {"input_tokens", round.usage.input_tokens},
                         {"output_tokens", round.usage.output_tokens},
                         {"estimated", round.usage.estimated},
                         {"money", money}};
  const Json answer = {
      {"status", "ok"},
      {"endpoint", check.endpoint},
      {"wanted_model", check.wanted_model.empty() ? Json() : Json(check.wanted_model)},
      {"models", check.models ? Json(*check.models) : Json()},
      {"schema", words_of(check.schema)},
      {"grammar", words_of(check.grammar)},
      {"structured", check.structured()},
      {"round", of_round}};
  return as_line(answer);
}

// The JSON contains the name of the error code, which does not change between versions.
std::string to_json(const ChatError& error) {
  return as_line({{"status", "error"},
                  {"code", kCodeNames.at(static_cast<std::size_t>(error.code))},
                  {"message", error.message},
                  {"help", error.help},
                  {"http_status", error.status == 0 ? Json() : Json(error.status)},
                  {"attempts", error.attempts}});
}

std::string to_json(const Error& error) {
  return as_line(
      {{"status", "error"}, {"code", "options"}, {"message", error.message}, {"help", error.help}});
}

}  // namespace groma::llm
