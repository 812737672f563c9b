// ChatClient: makes the calls of a chat client. A call has several attempts with waits between
// them, leaves out fields that the server refuses, and counts its cost.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <random>
#include <thread>

#include "llm/budget.h"
#include "llm/json.h"
#include "llm/outcome.h"
#include "llm/sse.h"
#include "llm/text.h"
#include "llm/wire.h"

namespace groma::llm {

namespace {

using Code = ChatError::Code;
// The longest wait between attempts unless the server asks for more, in milliseconds.
constexpr std::int64_t kMaxBackoffMs = 30'000;
// The time between two checks whether a waiting call should stop.
constexpr auto kTurn = std::chrono::milliseconds(20);

// Returns an error with this code and message.
ChatError failure(Code code, std::string message, std::string help = "") {
  ChatError error;
  error.code = code;
  error.message = std::move(message);
  error.help = std::move(help);
  return error;
}

// Passes the text of a streamed reply to the caller while the text grows. The key is redacted.
class LiveText {
 public:
  LiveText(const ChatClient::ReplyWatcher& watch, const std::string& key, bool restarted)
      : watch_(watch), redactor_(key), restarted_(restarted) {}

  // Shows the new part of the text. `all` is the whole text so far.
  void show(const std::string& all) {
    if (!watch_.on_text || all.size() < taken_) return;
    emit(redactor_.feed(std::string_view(all).substr(taken_)));
    taken_ = all.size();
  }
  // Ends the text, and shows the rest of it, which the redactor held back.
  void finish(const std::string& all) {
    show(all);
    emit(redactor_.finish());
  }

 private:
  // With the first piece of text of a further attempt, the caller is told to forget the text of the
  // attempt before.
  void emit(const std::string& text) {
    if (text.empty()) return;
    watch_.on_text(text, restarted_);
    restarted_ = false;
  }

  const ChatClient::ReplyWatcher& watch_;
  LiveRedactor redactor_;
  bool restarted_;
  // The number of bytes of the text that show() has read.
  std::size_t taken_ = 0;
};

// Returns the error for options that make() refuses.
Error wrong_options(std::string message, std::string help = "") {
  return {Error::Code::kMalformed, std::move(message), std::move(help)};
}

}  // namespace

// The client with its state. Several threads may call its functions at the same time.
class ChatClient::Impl {
 public:
  Impl(ChatOptions options, std::unique_ptr<Transport> transport)
      : options_(std::move(options)),
        key_(ChatKeyText::text_of(options_.key)),
        format_(options_.api == ChatApi::kOpenAi ? openai_format() : anthropic_format()),
        transport_(std::move(transport)),
        budget_(options_),
        random_(std::random_device{}()) {
    if (*format_.field_not_in_format() != 0)
      dialect_.refused_fields.insert(format_.field_not_in_format());
  }

  // Asks the model, with retries. Adds the time and the number of attempts to the reply or to the
  // error.
  Result<ChatReply, ChatError> ask(const ChatRequest& request, const ReplyWatcher& watch) {
    Call call = begin(watch);
    auto reply = ask_with(call, request);
    if (reply) {
      reply->attempts = call.attempts;
      reply->elapsed_ms = call.elapsed_ms;
      return reply;
    }
    return finished(call, reply.error());
  }

  // Returns the names of the models that the endpoint lists.
  Result<std::vector<std::string>, ChatError> models(const ReplyWatcher& watch) {
    Call call = begin(watch);
    auto list = list_models(call);
    if (list) return std::move(list->names);
    return finished(call, list.error());
  }

  ChatSpending spent() const { return budget_.spent(); }
  void add_spent(std::int64_t tokens, double money) { budget_.add_earlier_spending(tokens, money); }
  const ChatOptions& options() const { return options_; }

 private:
  // One call of ask() or models(), with the time and the attempts that it used so far.
  struct Call {
    const ReplyWatcher& watch;
    Clock::time_point begin, deadline;
    int most_attempts;
    int attempts = 0;
    std::int64_t elapsed_ms = 0;
    std::int64_t waited_ms = 0;
  };

  // Starts the clock of a call.
  Call begin(const ReplyWatcher& watch) const {
    const auto now = Clock::now();
    return {watch, now, now + std::chrono::milliseconds(options_.total_timeout_ms),
            options_.attempts};
  }

  // Completes an error: sets the number of attempts, and removes the key from its texts.
  ChatError finished(const Call& call, ChatError error) const {
    error.attempts = std::max(call.attempts, 1);
    error.message = redacted(error.message, key_);
    error.help = redacted(error.help, key_);
    return error;
  }

  void log(LogLevel level, const std::string& line) const {
    if (options_.log != nullptr) options_.log->log(level, redacted(line, key_));
  }

  // Returns true if the caller wants the call to stop.
  bool stopped(const Call& call) const { return call.watch.stop && call.watch.stop(); }

  // Makes one exchange with the endpoint and adds its time to the call.
  WireReply exchange(Call& call, const WireRequest& request,
                     std::function<bool(std::string_view)> on_body = {}) {
    const ExchangeControl watch{call.deadline, call.watch.stop, std::move(on_body)};
    WireReply reply = transport_->exchange(request, watch);
    call.elapsed_ms += reply.elapsed_ms;
    return reply;
  }

  // Returns how long to wait after a failed attempt, in milliseconds. The wait is random between 0
  // and a bound that doubles with each attempt (full jitter). If the server asks for a wait, that
  // wait and a short random time are used.
  std::int64_t wait_before(int attempt, const FailureVerdict& verdict) {
    const std::int64_t base = std::min<std::int64_t>(
        kMaxBackoffMs, std::int64_t{options_.backoff_ms} << std::min(attempt - 1, 14));
    const std::lock_guard lock(mutex_);
    const auto up_to = [this](std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(0,
                                                         std::max<std::int64_t>(most, 0))(random_);
    };
    if (!verdict.wait_ms) return up_to(base);
    return *verdict.wait_ms + up_to(std::min<std::int64_t>(options_.backoff_ms, 1000));
  }

  // Waits for `wait_ms` milliseconds. Returns false at once if the call is stopped meanwhile.
  bool wait(const Call& call, std::int64_t wait_ms) const {
    const auto until = Clock::now() + std::chrono::milliseconds(wait_ms);
    while (Clock::now() < until) {
      if (stopped(call)) return false;
      std::this_thread::sleep_for(std::min<Clock::duration>(kTurn, until - Clock::now()));
    }
    return true;
  }

  // Calls `once` until it gives a value, fails in a way that a retry cannot help, or the attempts
  // or the time run out.
  template <typename T, typename Once>
  Result<T, ChatError> with_retries(Call& call, const Once& once) {
    for (int attempt = 1;; ++attempt) {
      call.attempts = attempt;
      AttemptResult<T> step = once(attempt);
      if (step.value) return std::move(*step.value);
      FailureVerdict& verdict = step.verdict;
      if (!verdict.may_retry || attempt >= call.most_attempts) return verdict.error;
      const std::int64_t wait_ms = wait_before(attempt, verdict);
      // A server may ask for a wait of hours. The caller then gets the error and can decide.
      if (verdict.wait_ms.value_or(0) > options_.max_retry_after_ms) {
        verdict.error.help = fmt::format("it asks to wait for {} s", *verdict.wait_ms / 1000);
        return verdict.error;
      }
      log(LogLevel::kInfo, fmt::format("attempt {} of {}: {}; again in {} ms", attempt,
                                       options_.attempts, verdict.error.message, wait_ms));
      if (gone_ms(call) + wait_ms >= options_.total_timeout_ms) {
        verdict.error.help = "no time is left to try again";
        return verdict.error;
      }
      call.waited_ms += wait_ms;
      if (transport_->waits_between_attempts() && !wait(call, wait_ms))
        return failure(Code::kStopped, "stopped");
    }
  }

  // Returns how long the call has taken, in milliseconds. A replay uses the recorded times, so that
  // it ends as the recorded call did.
  std::int64_t gone_ms(const Call& call) const {
    if (!transport_->waits_between_attempts()) return call.elapsed_ms + call.waited_ms;
    const auto gone = Clock::now() - call.begin;
    return std::chrono::duration_cast<std::chrono::milliseconds>(gone).count();
  }

  // Asks for the list of models, and learns from the list which software the server runs.
  Result<ModelList, ChatError> list_models(Call& call) {
    return with_retries<ModelList>(call, [&](int) {
      const WireRequest request{false, "/models", "", false};
      const WireReply reply = exchange(call, request);
      if (!reply.succeeded()) {
        return AttemptResult<ModelList>{{}, judge_failed_exchange(reply, options_.endpoint)};
      }
      auto list = read_models(reply.body);
      if (!list)
        return AttemptResult<ModelList>{{}, judge_unusable_reply(reply, "no list of models")};
      if (reply.server.starts_with("llama.cpp")) list->server = ServerSoftware::kLlamaCpp;
      const std::lock_guard lock(mutex_);
      dialect_.server = list->server;
      listed_ = true;
      if (model_.empty() && !list->names.empty()) model_ = list->names.front();
      return AttemptResult<ModelList>{std::move(*list), {}};
    });
  }

  // Checks the request, and finds out what must be known before it is sent: the name of the model,
  // and how the server takes a constraint. Returns an error if the request cannot be sent;
  // otherwise sets `*model`.
  std::optional<ChatError> prepare(Call& call, const ChatRequest& request, std::string* model) {
    const ChatConstraint& constraint = request.constraint;
    const bool grammar = !constraint.gbnf.empty() || !constraint.lark.empty();
    const bool constrained = grammar || !constraint.json_schema.empty();
    if (request.messages.empty()) return failure(Code::kBadRequest, "the request has no message");
    if (request.max_tokens < 1) return failure(Code::kBadRequest, "the request allows no tokens");
    if (!std::isfinite(request.temperature.value_or(0))) {
      return failure(Code::kBadRequest, "the temperature is not a number");
    }
    if (grammar && !constraint.json_schema.empty()) {
      return failure(Code::kBadRequest, "a schema and a grammar at once");
    }
    if (!constraint.json_schema.empty() && !parse_json(constraint.json_schema).is_object()) {
      return failure(Code::kBadRequest, "the schema is not a JSON object");
    }
    if (constraint.gbnf.find('\0') != std::string::npos) {
      return failure(Code::kBadRequest, "the grammar has a NUL in it");
    }
    if (auto error = learn(call, constrained, model)) return error;
    const std::string why = format_.why_unsupported(constraint, dialect().server);
    if (!why.empty()) return failure(Code::kUnsupported, why);
    return std::nullopt;
  }

  // Asks for the list of models, at most once, if the model or the software of the server must be
  // known for this request. Several threads may do so at the same time.
  std::optional<ChatError> learn(Call& call, bool constrained, std::string* model) {
    bool listed = false;
    {
      const std::lock_guard lock(mutex_);
      *model = options_.model.empty() ? model_ : options_.model;
      listed = listed_;
    }
    if (options_.endpoint.starts_with("exec:")) return std::nullopt;
    if (!model->empty() && (listed || !constrained)) return std::nullopt;
    Call asking = call;
    // The model is known, so the list of models only tells the server's software and may be
    // missing.
    if (!model->empty()) {
      const auto soon = Clock::now() + std::chrono::milliseconds(options_.connect_timeout_ms);
      asking.deadline = std::min(call.deadline, soon);
      asking.most_attempts = 1;
    }
    const auto list = list_models(asking);
    call.elapsed_ms = asking.elapsed_ms;
    call.waited_ms = asking.waited_ms;
    call.attempts = asking.attempts;
    if (!list && (model->empty() || list.error().code == Code::kStopped)) return list.error();
    // Without a wanted model, the first one in the list is used.
    if (list && model->empty()) {
      if (list->names.empty()) {
        return failure(Code::kNotFound, "the endpoint lists no model", "name one with --model");
      }
      *model = list->names.front();
    }
    const std::lock_guard lock(mutex_);
    model_ = *model;
    // The list of models is not asked for again, even if this request for it failed.
    listed_ = true;
    return std::nullopt;
  }

  // Returns an error if the call must stop waiting for the requests of other threads, because it
  // was stopped or its time is over. Otherwise returns nullopt.
  std::optional<ChatError> given_up(const Call& call) const {
    if (stopped(call)) return failure(Code::kStopped, "stopped");
    if (Clock::now() < call.deadline) return std::nullopt;
    return failure(Code::kTimeout, "out of time: other threads' requests came first");
  }

  ServerDialect dialect() const {
    const std::lock_guard lock(mutex_);
    return dialect_;
  }

  // Sends the request with retries. If the server refuses a field, asks again at once without that
  // field, and remembers this for later requests.
  Result<ChatReply, ChatError> ask_with(Call& call, const ChatRequest& request) {
    std::string model;
    if (auto error = prepare(call, request, &model)) return *error;
    call.attempts = 0;
    ServerDialect dialect = this->dialect();
    return with_retries<ChatReply>(call, [&](int attempt) {
      for (;;) {
        if (!transport_->waits_between_attempts())
          dialect = recorded_way(request, model, std::move(dialect));
        const WireRequest wire = wire_of(request, model, dialect);
        std::optional<ServerError> told;
        AttemptResult<ChatReply> step = attempt_once(call, request, wire, attempt, &told);
        if (step.value) {
          for (const std::string& field : dialect.refused_fields) {
            if (asks_for(request, field)) step.value->left_out.push_back(field);
          }
          keep(dialect);
          return step;
        }
        if (!told || !leave_out(*told, wire.body, &dialect)) return step;
        if (stopped(call))
          return AttemptResult<ChatReply>{{}, {failure(Code::kStopped, "stopped")}};
      }
    });
  }

  // Returns the request as it is sent to the endpoint.
  WireRequest wire_of(const ChatRequest& request, const std::string& model,
                      const ServerDialect& dialect) const {
    return {true, format_.path(), format_.request_body(request, model, options_.stream, dialect),
            options_.stream};
  }

  // Returns true if the request sets this field, which servers may refuse.
  bool asks_for(const ChatRequest& request, std::string_view field) const {
    if (field == "temperature") return request.temperature.has_value();
    if (field == "seed") return request.seed.has_value();
    return field == "stream_options" ? options_.stream : request.no_thinking;
  }

  // For a replay: finds out which refused fields were left out when the request was recorded. Tries
  // every combination of the fields that the recorded server refused. Returns the combination whose
  // request comes first in the recording.
  ServerDialect recorded_way(const ChatRequest& request, const std::string& model,
                             ServerDialect now) const {
    std::vector<ServerDialect> ways = {now};
    for (const std::string& field : transport_->refused_fields()) {
      const bool limit = field == "max_tokens";
      if (!limit && !asks_for(request, field)) continue;
      const std::size_t count = ways.size();
      for (std::size_t i = 0; i < count; ++i) {
        ServerDialect other = ways[i];
        if (limit) {
          other.uses_max_completion_tokens = !other.uses_max_completion_tokens;
        } else if (other.refused_fields.erase(field) == 0) {
          other.refused_fields.insert(field);
        }
        ways.push_back(std::move(other));
      }
    }
    std::optional<std::size_t> first;
    for (ServerDialect& way : ways) {
      const auto place = transport_->position_of_answer(wire_of(request, model, way));
      if (!place || (first && *first <= *place)) continue;
      first = place;
      now = std::move(way);
    }
    return now;
  }

  // Remembers which fields the server refuses. The known software of the server stays, since
  // another thread may have set it meanwhile.
  void keep(const ServerDialect& dialect) {
    const std::lock_guard lock(mutex_);
    dialect_.uses_max_completion_tokens = dialect.uses_max_completion_tokens;
    dialect_.refused_fields = dialect.refused_fields;
  }

  // Changes `*dialect` so that requests leave out the field that the server refused. Returns false
  // if the error names no field that can still be left out.
  bool leave_out(const ServerError& told, const std::string& body, ServerDialect* dialect) const {
    const std::string field = refused_field(told, body);
    if (field.empty()) return false;
    if (field == "max_tokens") {
      dialect->uses_max_completion_tokens = true;
    } else if (field == "max_completion_tokens" || !dialect->refused_fields.insert(field).second) {
      // A request always limits the tokens, because without a limit the reply might cost any
      // amount.
      return false;
    }
    log(LogLevel::kInfo, fmt::format("the server refuses `{}`: asking without it", field));
    return true;
  }

  // Makes one attempt within the budget. If the server refused the content of the request, sets
  // `*told` to the server's error.
  AttemptResult<ChatReply> attempt_once(Call& call, const ChatRequest& request,
                                        const WireRequest& wire, int attempt,
                                        std::optional<ServerError>* told) {
    const ChatUsage reserved = reserved_usage(request);
    ChatError ceiling;
    auto aside = budget_.reserve(reserved, &ceiling);
    // Other requests may cost less than they have reserved, so this request waits until they are
    // settled.
    for (; aside == Budget::ReserveResult::kLater; aside = budget_.reserve(reserved, &ceiling)) {
      if (auto error = given_up(call)) return {{}, {*error}};
      std::this_thread::sleep_for(kTurn);
    }
    if (aside == Budget::ReserveResult::kRefused) return {{}, {ceiling}};

    ParsedReply live;
    SseParser parser;
    LiveText text(call.watch, key_, attempt > 1);
    const auto add = [&](std::string_view data) { return format_.add_event(data, &live); };
    // This function receives the bytes of a stream while they arrive.
    const WireReply reply = exchange(call, wire, [&](std::string_view bytes) {
      bool came = false;
      parser.feed(bytes, [&](std::string_view data) { came = add(data) || came; });
      if (came) text.show(live.text);
      return came;
    });
    ParsedReply read = read_body(format_, reply);
    if (reply.succeeded() && options_.stream) {
      parser.finish(add);
      // If no event came, the server ignored the choice for a stream and sent the whole reply at
      // once.
      text.finish(live.text.empty() ? read.text : live.text);
    }

    AttemptResult<ChatReply> step = make_chat_reply(request, reply, &read, options_);
    // A failed attempt may also have cost tokens, because the server may have worked on it.
    budget_.replace_reservation(reserved, charged_usage(request, reply, read, step));
    if (step.value) step.value->money = budget_.money_of(step.value->usage);
    const bool refused = reply.status == 400 || reply.status == 422;
    if (refused && step.verdict.error.code == Code::kBadRequest) *told = read_error(reply.body);
    return step;
  }

  const ChatOptions options_;
  const std::string key_;
  const ChatFormat& format_;
  const std::unique_ptr<Transport> transport_;
  Budget budget_;
  // Guards the members that calls change: the known dialect and model of the server, and the random
  // numbers.
  mutable std::mutex mutex_;
  ServerDialect dialect_;
  std::string model_;
  bool listed_ = false;
  std::minstd_rand random_;
};

ChatClient::ChatClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatClient::ChatClient(ChatClient&&) noexcept = default;
ChatClient& ChatClient::operator=(ChatClient&&) noexcept = default;
ChatClient::~ChatClient() = default;

// Checks the options, then makes the transport: a replay, a command or HTTP. If a recording is
// wanted, a recorder passes each exchange on to that transport.
Result<ChatClient> ChatClient::make(ChatOptions options) {
  if (options.max_money > 0 && !options.price) {
    return wrong_options("a ceiling on money needs the price of tokens");
  }
  const ChatPrice price = options.price.value_or(ChatPrice{});
  if (!std::isfinite(price.input + price.output) || price.input < 0 || price.output < 0) {
    return wrong_options("a price is out of range");
  }
  if (!options.record.empty() && !options.replay.empty()) {
    return wrong_options("a replay cannot be recorded");
  }
  if (options.connect_timeout_ms < 1 || options.idle_timeout_ms < 1 ||
      options.total_timeout_ms < 1 || options.attempts < 1 || options.backoff_ms < 0 ||
      options.max_tokens < 0 || !(options.max_money >= 0) || options.max_reply_bytes == 0) {
    return wrong_options("a limit is out of range");
  }
  const std::string key = ChatKeyText::text_of(options.key);
  // Without an endpoint, the public one of the API is used, which needs a key.
  if (options.endpoint.empty() && options.replay.empty() && key.empty()) {
    return wrong_options("there is neither an endpoint nor a key for the public one",
                         "name an endpoint, such as http://127.0.0.1:8080/v1, or put a key into "
                         "GROMA_API_KEY or a file");
  }
  Result<std::string> endpoint = normalized_endpoint(options);
  if (!endpoint) return endpoint.error();
  options.endpoint = std::move(endpoint).value();
  if (without_whole_key(options.endpoint, key) != options.endpoint) {
    return wrong_options("the endpoint has the key in it");
  }
  std::unique_ptr<Transport> transport;
  if (!options.replay.empty()) {
    RecordingOrigin recorded;
    auto replay = make_replay_transport(options, &recorded);
    if (!replay) return replay.error();
    if (!recorded.endpoint.empty()) {
      options.endpoint = recorded.endpoint;
      options.api = recorded.api;
    }
    transport = std::move(replay).value();
  } else if (options.endpoint.starts_with("exec:")) {
    transport = make_command_transport(options);
  } else {
    const ChatFormat& format =
        options.api == ChatApi::kOpenAi ? openai_format() : anthropic_format();
    transport = make_http_transport(options, format.headers(key));
  }
  if (!options.record.empty()) {
    auto recorder = make_recording_transport(options, std::move(transport));
    if (!recorder) return recorder.error();
    transport = std::move(recorder).value();
  }
  return ChatClient(std::make_unique<Impl>(std::move(options), std::move(transport)));
}

Result<ChatReply, ChatError> ChatClient::ask(const ChatRequest& request,
                                             const ReplyWatcher& watch) {
  return impl_->ask(request, watch);
}

Result<std::vector<std::string>, ChatError> ChatClient::models(const ReplyWatcher& watch) {
  return impl_->models(watch);
}

ChatSpending ChatClient::spent() const { return impl_->spent(); }
void ChatClient::add_spent(std::int64_t tokens, double money) { impl_->add_spent(tokens, money); }
const ChatOptions& ChatClient::options() const { return impl_->options(); }

}  // namespace groma::llm
