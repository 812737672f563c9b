// Runs a command that answers requests. The command reads the JSON of the request on its standard
// input, and writes the text of the reply to its standard output.
#include <fmt/format.h>

#include "groma/system.h"
#include "llm/text.h"
#include "llm/wire.h"

namespace groma::llm {
namespace {

// Returns the part of the command's output that may be used: all of it, or its beginning if the
// output was too long to keep. The beginning may end within the key, so the caller redacts it as a
// text of its own.
std::string_view first_part(const CommandOutput& output) {
  const std::string_view text = output.text;
  return output.left_out_bytes == 0 ? text : text.substr(0, output.cut_at);
}

// Runs the command once for each request.
class ExecTransport final : public Transport {
 public:
  explicit ExecTransport(const ChatOptions& options)
      : script_(options.endpoint.substr(5)),
        key_(ChatKeyText::text_of(options.key)),
        max_bytes_(options.max_reply_bytes) {}

  // Runs the command with the request on its input. The command does not get the key in its
  // environment. If the command fails, the end of its standard error becomes the detail of the
  // failure.
  WireReply exchange(const WireRequest& request, const ExchangeControl& watch) override {
    WireReply reply;
    // A GET asks for the list of models, which a command does not have.
    if (!request.post) {
      reply.status = 404;
      return reply;
    }
    Command command;
    command.words = {"sh", "-c", script_};
    command.input = request.body;
    command.stop = watch.stop;
    // This removes the variable, so that the command does not get the key.
    command.environment = {"GROMA_API_KEY"};
    command.max_output_bytes = max_bytes_;
    command.end_at_max_output = true;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(watch.deadline - Clock::now());
    command.deadline_ms = std::max<std::int64_t>(left.count(), 1);
    const auto outcome = run_command(command);
    if (!outcome) {
      reply.failure = TransportFailure::kChild;
      reply.detail = outcome.error().message;
      reply.sent = false;
      return reply;
    }
    reply.is_reply_text = true;
    reply.body = redacted(valid_utf8(first_part(outcome->out)), key_);
    reply.elapsed_ms = static_cast<std::int64_t>(outcome->seconds * 1000);
    std::string said = redacted(valid_utf8(last_part(outcome->err)), key_);
    if (said.size() > 200) said = valid_utf8(said.substr(said.size() - 200));
    const std::string because = said.empty() ? "" : fmt::format(": {}", said);
    using End = CommandOutcome::End;
    if (outcome->end == End::kDeadline) {
      reply.failure = TransportFailure::kTotal;
      reply.detail = fmt::format("not done after {:.1f} s", outcome->seconds);
    } else if (outcome->end == End::kStopped) {
      reply.failure = TransportFailure::kStopped;
    } else if (outcome->end == End::kTooMuchOutput) {
      reply.failure = TransportFailure::kTooLarge;
    } else if (outcome->end == End::kSignalled || outcome->code != 0) {
      const char* how = outcome->end == End::kSignalled ? "ended by signal" : "ended with";
      reply.failure = TransportFailure::kChild;
      reply.detail = fmt::format("the command {} {}{}", how, outcome->code, because);
    } else {
      reply.status = 200;
    }
    return reply;
  }

 private:
  // Returns the end of the command's output; all of it if nothing was dropped from its middle. If
  // the end begins within the key, the rest of the key is left out.
  std::string_view last_part(const CommandOutput& output) const {
    const std::string_view text = output.text;
    if (output.left_out_bytes == 0) return text;
    const std::string_view tail = text.substr(output.cut_at);
    for (std::size_t begin = 1; begin < key_.size(); ++begin) {
      const std::string_view end_of_key = std::string_view(key_).substr(begin);
      if (tail.starts_with(end_of_key)) return tail.substr(end_of_key.size());
    }
    return tail;
  }

  std::string script_, key_;
  std::size_t max_bytes_;
};

}  // namespace

std::unique_ptr<Transport> make_command_transport(const ChatOptions& options) {
  return std::make_unique<ExecTransport>(options);
}

}  // namespace groma::llm
