// A child process that answers: the request on its standard input, the text on its output.
#include <fmt/format.h>

#include <algorithm>

#include "groma/system.h"
#include "llm/text.h"
#include "llm/wire.h"

namespace groma::llm {
namespace {

class ExecTransport final : public Transport {
 public:
  explicit ExecTransport(const ChatOptions& options)
      : script_(options.endpoint.substr(5)),
        key_(ChatKeyText::of(options.key)),
        max_bytes_(options.max_reply_bytes) {}

  WireReply exchange(const WireRequest& request, const WireWatch& watch) override {
    WireReply reply;
    if (!request.post) {  // it lists no models
      reply.status = 404;
      return reply;
    }
    Command command;
    command.words = {"sh", "-c", script_};
    command.input = request.body;
    command.stop = watch.stop;
    // Half of the kept output may be its end.
    command.max_output_bytes = 2 * std::max<std::size_t>(max_bytes_, 1);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(watch.deadline - Clock::now());
    command.deadline_ms = std::max<std::int64_t>(left.count(), 1);
    const auto outcome = run_command(command);
    if (!outcome) {
      reply.failure = Failure::kChild;
      reply.detail = outcome.error().message;
      return reply;
    }
    const auto clean = [this](const std::string& text) { return redacted(valid_utf8(text), key_); };
    reply.plain = true;
    reply.body = clean(outcome->out.text);
    reply.elapsed_ms = static_cast<std::int64_t>(outcome->seconds * 1000);
    const std::string& err = outcome->err.text;
    const std::string said = clean(err.size() > 200 ? err.substr(err.size() - 200) : err);
    const std::string because = said.empty() ? "" : fmt::format(": {}", said);
    using End = CommandOutcome::End;
    if (outcome->end == End::kDeadline) {
      reply.failure = Failure::kTotal;
      reply.detail = fmt::format("not done after {:.1f} s", outcome->seconds);
    } else if (outcome->end == End::kStopped) {
      reply.failure = Failure::kStopped;
    } else if (outcome->end == End::kSignalled || outcome->code != 0) {
      const char* how = outcome->end == End::kSignalled ? "ended by signal" : "ended with";
      reply.failure = Failure::kChild;
      reply.detail = fmt::format("the command {} {}{}", how, outcome->code, because);
    } else if (outcome->out.left_out_bytes > 0 || reply.body.size() > max_bytes_) {
      reply.failure = Failure::kTooLarge;
    } else {
      reply.status = 200;
    }
    return reply;
  }

 private:
  std::string script_, key_;
  std::size_t max_bytes_;
};

}  // namespace

std::unique_ptr<Transport> make_exec(const ChatOptions& options) {
  return std::make_unique<ExecTransport>(options);
}

}  // namespace groma::llm
