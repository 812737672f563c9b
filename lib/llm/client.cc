// A call: attempts, waits between them, what a server refuses left out, what it costs counted.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <thread>

#include "llm/budget.h"
#include "llm/shape.h"
#include "llm/sse.h"
#include "llm/text.h"
#include "llm/verdict.h"
#include "llm/wire.h"

namespace groma {

using namespace llm;  // NOLINT: of our own

namespace {

using Code = ChatError::Code;
constexpr std::int64_t kMaxBackoffMs = 30'000;

ChatError failure(Code code, std::string message, std::string help = "") {
  ChatError error;
  error.code = code;
  error.message = std::move(message);
  error.help = std::move(help);
  return error;
}

// Text as it grows, with the key held back where it may just be coming.
class LiveText {
 public:
  LiveText(const ChatClient::Watch& watch, const std::string& key, bool restarted)
      : watch_(watch), key_(key), restarted_(restarted) {}

  void show(const std::string& all) {
    if (!watch_.on_text || all.size() < taken_) return;
    open_ = redacted(open_ + all.substr(taken_), key_);
    taken_ = all.size();
    std::size_t held = std::min(key_.size(), open_.size());
    while (!std::string_view(key_).starts_with(std::string_view(open_).substr(open_.size() - held)))
      --held;
    emit(open_.size() - held);
  }
  void finish(const std::string& all) {
    show(all);
    emit(open_.size());
  }

 private:
  void emit(std::size_t count) {
    if (count == 0) return;
    watch_.on_text(std::string_view(open_).substr(0, count), restarted_);
    restarted_ = false;
    open_.erase(0, count);
  }

  const ChatClient::Watch& watch_;
  const std::string& key_;
  bool restarted_;
  std::size_t taken_ = 0;
  std::string open_;  // taken, but not shown
};

ChatReply::Finish finish_of(std::string_view word) {
  if (word == "stop" || word == "end_turn" || word == "stop_sequence" || word == "eos") {
    return ChatReply::Finish::kStop;
  }
  if (word == "length" || word == "max_tokens" || word == "model_context_window_exceeded") {
    return ChatReply::Finish::kLength;
  }
  const bool tool = word == "tool_calls" || word == "tool_use" || word == "function_call";
  return tool ? ChatReply::Finish::kToolCall : ChatReply::Finish::kOther;
}

// At most this: no tokeniser makes more tokens than bytes, but templates add some.
ChatUsage worst_case(const WireRequest& request, int max_tokens) {
  ChatUsage usage;
  usage.input_tokens = static_cast<std::int64_t>(request.body.size());
  usage.output_tokens = max_tokens;
  usage.estimated = true;
  return usage;
}

ChatUsage estimate(const ChatRequest& request, const ReadReply& reply) {
  std::size_t in = request.constraint.json_schema.size();
  for (const ChatMessage& message : request.messages) in += message.text.size() + 4;
  ChatUsage usage;
  usage.input_tokens = static_cast<std::int64_t>((in + 2) / 3);
  usage.output_tokens =
      static_cast<std::int64_t>((reply.text.size() + reply.reasoning.size() + 2) / 3);
  usage.estimated = true;
  return usage;
}

Error wrong_options(std::string message, std::string help = "") {
  return {Error::Code::kMalformed, std::move(message), std::move(help)};
}

}  // namespace

class ChatClient::Impl {
 public:
  Impl(ChatOptions options, std::unique_ptr<Transport> transport)
      : options_(std::move(options)),
        key_(ChatKeyText::of(options_.key)),
        shape_(options_.api == ChatApi::kOpenAi ? openai_shape() : anthropic_shape()),
        transport_(std::move(transport)),
        budget_(options_),
        random_(std::random_device{}()) {}

  Result<ChatReply, ChatError> ask(const ChatRequest& request, const Watch& watch) {
    Call call = begin(watch);
    auto reply = ask_with(call, request);
    if (reply) {
      reply->attempts = call.attempts;
      reply->elapsed_ms = call.elapsed_ms;
      return reply;
    }
    return finished(call, reply.error());
  }

  Result<std::vector<std::string>, ChatError> models(const Watch& watch) {
    Call call = begin(watch);
    auto list = list_models(call);
    if (list) return std::move(list->names);
    return finished(call, list.error());
  }

  ChatSpending spent() const { return budget_.spent(); }
  const ChatOptions& options() const { return options_; }

 private:
  // One call of the user's, with all of its exchanges.
  struct Call {
    const Watch& watch;
    Clock::time_point deadline;
    int attempts = 0;
    std::int64_t elapsed_ms = 0;
    std::int64_t waited_ms = 0;
  };

  // What an attempt ended with: a value, or a verdict.
  template <typename T>
  struct Step {
    std::optional<T> value;
    Verdict verdict;
  };

  Call begin(const Watch& watch) const {
    return {watch, Clock::now() + std::chrono::milliseconds(options_.total_timeout_ms)};
  }

  ChatError finished(const Call& call, ChatError error) const {
    error.attempts = std::max(call.attempts, 1);
    error.message = redacted(std::move(error.message), key_);
    error.help = redacted(std::move(error.help), key_);
    return error;
  }

  void log(LogLevel level, const std::string& line) const {
    if (options_.log != nullptr) options_.log->log(level, redacted(line, key_));
  }

  bool stopped(const Call& call) const { return call.watch.stop && call.watch.stop(); }

  WireReply exchange(Call& call, const WireRequest& request,
                     std::function<bool(std::string_view)> on_body = {}) {
    const WireWatch watch{call.deadline, call.watch.stop, std::move(on_body)};
    WireReply reply = transport_->exchange(request, watch);
    call.elapsed_ms += reply.elapsed_ms;
    return reply;
  }

  std::int64_t wait_before(int attempt, const Verdict& verdict) {
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

  // Waits as long, unless it is stopped.
  bool wait(const Call& call, std::int64_t wait_ms) const {
    const auto until = Clock::now() + std::chrono::milliseconds(wait_ms);
    while (Clock::now() < until) {
      if (stopped(call)) return false;
      std::this_thread::sleep_for(
          std::min<Clock::duration>(std::chrono::milliseconds(20), until - Clock::now()));
    }
    return true;
  }

  // `once` until it gives a value, fails for good, or attempts or time run out.
  template <typename T, typename Once>
  Result<T, ChatError> with_retries(Call& call, const Once& once) {
    for (int attempt = 1;; ++attempt) {
      call.attempts = attempt;
      Step<T> step = once(attempt);
      if (step.value) return std::move(*step.value);
      Verdict& verdict = step.verdict;
      if (!verdict.again || attempt >= options_.attempts) return verdict.error;
      const std::int64_t wait_ms = wait_before(attempt, verdict);
      if (verdict.wait_ms.value_or(0) > options_.max_retry_after_ms) {
        verdict.error.help = fmt::format("it asks to wait for {} s", *verdict.wait_ms / 1000);
        return verdict.error;
      }
      log(LogLevel::kInfo, fmt::format("attempt {} of {}: {}; again in {} ms", attempt,
                                       options_.attempts, verdict.error.message, wait_ms));
      if (!transport_->waits()) continue;
      if (Clock::now() + std::chrono::milliseconds(wait_ms) >= call.deadline) {
        verdict.error.help = "no time is left to try again";
        return verdict.error;
      }
      if (!wait(call, wait_ms)) return failure(Code::kStopped, "stopped");
    }
  }

  Result<ModelList, ChatError> list_models(Call& call) {
    return with_retries<ModelList>(call, [&](int) {
      const WireRequest request{false, "/models", "", false};
      const WireReply reply = exchange(call, request);
      if (reply.failure != Failure::kNone || reply.status != 200) {
        return Step<ModelList>{{}, judge(reply, options_.endpoint)};
      }
      auto list = read_models(reply.body);
      if (!list) return Step<ModelList>{{}, judge_wrong(reply, "no list of models")};
      if (reply.server.starts_with("llama.cpp")) list->server = Server::kLlamaCpp;
      const std::lock_guard lock(mutex_);
      dialect_.server = list->server;
      listed_ = true;
      return Step<ModelList>{std::move(*list), {}};
    });
  }

  // What has to be known before the first request: the model's name, and how the server takes a
  // constraint.
  std::optional<ChatError> prepare(Call& call, const ChatRequest& request, std::string* model) {
    const ChatConstraint& constraint = request.constraint;
    const bool grammar = !constraint.gbnf.empty() || !constraint.lark.empty();
    const bool constrained = grammar || !constraint.json_schema.empty();
    if (request.messages.empty()) return failure(Code::kBadRequest, "the request has no message");
    if (request.max_tokens < 1) return failure(Code::kBadRequest, "the request allows no tokens");
    if (grammar && !constraint.json_schema.empty()) {
      return failure(Code::kBadRequest, "a schema and a grammar at once");
    }
    if (constraint.gbnf.find('\0') != std::string::npos) {
      return failure(Code::kBadRequest, "the grammar has a NUL in it");
    }
    bool listed = false;
    {
      const std::lock_guard lock(mutex_);
      *model = options_.model.empty() ? model_ : options_.model;
      listed = listed_;
    }
    const bool exec = options_.endpoint.starts_with("exec:");
    if (!exec && !listed && (model->empty() || constrained)) {
      const auto list = list_models(call);
      if (!list && (model->empty() || list.error().code == Code::kStopped)) return list.error();
      if (list && model->empty()) {
        if (list->names.empty()) {
          return failure(Code::kNotFound, "the endpoint lists no model", "name one with --model");
        }
        *model = list->names.front();
      }
      const std::lock_guard lock(mutex_);
      model_ = *model;
      listed_ = true;  // asked once, whatever came of it
    }
    const std::string why = shape_.unsupported(constraint, dialect().server);
    if (!why.empty()) return failure(Code::kUnsupported, why);
    return std::nullopt;
  }

  Dialect dialect() const {
    const std::lock_guard lock(mutex_);
    return dialect_;
  }

  Result<ChatReply, ChatError> ask_with(Call& call, const ChatRequest& request) {
    std::string model;
    if (auto error = prepare(call, request, &model)) return *error;
    call.attempts = 0;
    Dialect dialect = this->dialect();
    return with_retries<ChatReply>(call, [&](int attempt) {
      for (;;) {
        const WireRequest wire{true, shape_.path(),
                               shape_.body(request, model, options_.stream, dialect),
                               options_.stream};
        std::optional<ServerError> told;
        Step<ChatReply> step = attempt_once(call, request, wire, attempt, &told);
        if (step.value) {
          step.value->left_out.assign(dialect.left_out.begin(), dialect.left_out.end());
          keep(dialect);
          return step;
        }
        if (!told || !leave_out(*told, wire.body, &dialect)) return step;
        if (stopped(call)) return Step<ChatReply>{{}, {failure(Code::kStopped, "stopped")}};
      }
    });
  }

  void keep(const Dialect& dialect) {
    const std::lock_guard lock(mutex_);
    dialect_.completion_limit = dialect.completion_limit;
    dialect_.left_out = dialect.left_out;
  }

  // Whether there is another way to ask, without what the server refuses.
  bool leave_out(const ServerError& told, const std::string& body, Dialect* dialect) const {
    const std::string field = refused_field(told, body);
    if (field.empty()) return false;
    if (field == "max_tokens") {
      dialect->completion_limit = true;
    } else if (field == "max_completion_tokens" || !dialect->left_out.insert(field).second) {
      return false;  // without a limit a reply may cost anything
    }
    log(LogLevel::kInfo, fmt::format("the server refuses `{}`: asking without it", field));
    return true;
  }

  // `*told`: the error of a request that was refused for what is in it.
  Step<ChatReply> attempt_once(Call& call, const ChatRequest& request, const WireRequest& wire,
                               int attempt, std::optional<ServerError>* told) {
    const ChatUsage worst = worst_case(wire, request.max_tokens);
    if (auto error = budget_.reserve(worst)) return {{}, {*error}};

    ReadReply live;
    SseParser parser;
    LiveText text(call.watch, key_, attempt > 1);
    const WireReply reply = exchange(call, wire, [&](std::string_view bytes) {
      bool came = false;
      parser.feed(bytes,
                  [&](std::string_view data) { came = shape_.add_event(data, &live) || came; });
      if (came) text.show(live.text);
      return came;
    });
    ReadReply read = read_body(reply);
    if (reply.failure == Failure::kNone && reply.status == 200 && options_.stream) {
      text.finish(read.text);
    }

    Step<ChatReply> step = conclude(call, request, reply, &read);
    ChatUsage cost;
    if (read.usage) {
      cost = *read.usage;
    } else if (step.value) {
      cost = step.value->usage;
    } else if (step.verdict.may_have_cost) {
      cost = worst;
    }
    budget_.settle(worst, cost);
    if (step.value) step.value->money = budget_.money_of(step.value->usage);
    const bool refused = reply.status == 400 || reply.status == 422;
    if (refused && step.verdict.error.code == Code::kBadRequest) *told = read_error(reply.body);
    return step;
  }

  // Again from the whole body, so that a stream and its recording are read in one way.
  ReadReply read_body(const WireReply& reply) const {
    ReadReply read;
    if (reply.plain) {
      read.text = reply.body;
      read.has_text = true;
      read.finish = "stop";
    } else if (reply.status == 200 && reply.is_stream()) {
      SseParser parser;
      const auto add = [&](std::string_view data) { shape_.add_event(data, &read); };
      parser.feed(reply.body, add);
      parser.finish(add);
    } else if (reply.status == 200) {
      read = shape_.read(reply.body);
    }
    return read;
  }

  Step<ChatReply> conclude(const Call&, const ChatRequest& request, const WireReply& reply,
                           ReadReply* read) const {
    if (reply.failure != Failure::kNone || reply.status != 200) {
      return {{}, judge(reply, options_.endpoint)};
    }
    if (read->error) return {{}, judge_error(*read->error, 200)};
    if (reply.is_stream() && read->finish.empty()) {
      WireReply cut = reply;
      cut.failure = Failure::kCut;
      const bool nothing = read->text.empty() && read->reasoning.empty();
      cut.detail = nothing ? "a stream without text; perhaps the prompt is too long for it"
                           : "the stream ended before the reply did";
      return {{}, judge(cut, options_.endpoint)};
    }
    if (!read->wrong.empty()) return {{}, judge_wrong(reply, read->wrong)};
    return accept(request, read);
  }

  Step<ChatReply> accept(const ChatRequest& request, ReadReply* read) const {
    Verdict verdict;
    verdict.may_have_cost = true;
    verdict.error.status = 200;
    const bool filtered = read->finish == "content_filter" || read->finish == "refusal";
    if (!read->refusal.empty() || (filtered && read->text.empty())) {
      verdict.error.code = Code::kRefusal;
      verdict.error.message = read->refusal.empty()
                                  ? "a filter refuses"
                                  : fmt::format("the model refuses: {}", shown(read->refusal));
      return {{}, verdict};
    }
    if (!read->has_text && read->reasoning.empty()) {
      verdict.error.code = Code::kNoText;
      verdict.error.message = read->tool.empty()
                                  ? "the reply has no text"
                                  : fmt::format("the model calls a tool `{}` instead of answering",
                                                shown(read->tool, 60));
      return {{}, verdict};
    }
    ChatReply reply;
    reply.usage = read->usage ? *read->usage : estimate(request, *read);
    reply.text = std::move(read->text);
    reply.reasoning = std::move(read->reasoning);
    split_thoughts(&reply.text, &reply.reasoning);
    reply.text = redacted(std::move(reply.text), key_);
    reply.reasoning = redacted(std::move(reply.reasoning), key_);
    reply.model = redacted(shown(read->model, 200), key_);
    reply.finish = finish_of(read->finish);
    return {std::move(reply), {}};
  }

  const ChatOptions options_;
  const std::string key_;
  const Shape& shape_;
  const std::unique_ptr<Transport> transport_;
  Budget budget_;
  mutable std::mutex mutex_;  // of all below
  Dialect dialect_;
  std::string model_;
  bool listed_ = false;
  std::minstd_rand random_;
};

ChatClient::ChatClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatClient::ChatClient(ChatClient&&) noexcept = default;
ChatClient& ChatClient::operator=(ChatClient&&) noexcept = default;
ChatClient::~ChatClient() = default;

Result<ChatClient> ChatClient::make(ChatOptions options) {
  if (options.max_money > 0 && !options.price) {
    return wrong_options("a ceiling on money needs the price of tokens");
  }
  if (!options.record.empty() && !options.replay.empty()) {
    return wrong_options("a replay cannot be recorded");
  }
  if (options.connect_timeout_ms < 1 || options.idle_timeout_ms < 1 ||
      options.total_timeout_ms < 1 || options.attempts < 1 || options.backoff_ms < 0 ||
      options.max_tokens < 0 || !(options.max_money >= 0) || options.max_reply_bytes == 0) {
    return wrong_options("a limit is out of range");
  }
  const std::string key = ChatKeyText::of(options.key);
  if (options.endpoint.empty() && options.replay.empty() && key.empty()) {
    return wrong_options("there is neither an endpoint nor a key for the public one",
                         "name an endpoint, such as http://127.0.0.1:8080/v1, or put a key into "
                         "GROMA_API_KEY or a file");
  }
  Result<std::string> endpoint = normal_endpoint(options);
  if (!endpoint) return endpoint.error();
  options.endpoint = std::move(endpoint).value();
  if (!key.empty() && options.endpoint.find(key) != std::string::npos) {
    return wrong_options("the endpoint has the key in it");
  }
  std::unique_ptr<Transport> transport;
  if (!options.replay.empty()) {
    auto replay = make_replay(options.replay);
    if (!replay) return replay.error();
    transport = std::move(replay).value();
  } else if (options.endpoint.starts_with("exec:")) {
    transport = make_exec(options);
  } else {
    const Shape& shape = options.api == ChatApi::kOpenAi ? openai_shape() : anthropic_shape();
    transport = make_http(options, shape.headers(key));
  }
  if (!options.record.empty()) {
    auto recorder = make_recorder(options.record, key, std::move(transport));
    if (!recorder) return recorder.error();
    transport = std::move(recorder).value();
  }
  return ChatClient(std::make_unique<Impl>(std::move(options), std::move(transport)));
}

Result<ChatReply, ChatError> ChatClient::ask(const ChatRequest& request, const Watch& watch) {
  return impl_->ask(request, watch);
}

Result<std::vector<std::string>, ChatError> ChatClient::models(const Watch& watch) {
  return impl_->models(watch);
}

ChatSpending ChatClient::spent() const { return impl_->spent(); }
const ChatOptions& ChatClient::options() const { return impl_->options(); }

}  // namespace groma
