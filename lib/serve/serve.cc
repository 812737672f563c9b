// The loop of the server: lines in, lines out, until one side ends.
#include "groma/serve.h"

#include <chrono>

#include "serve/line_channel.h"
#include "serve/session.h"
#include "serve/versions.h"

namespace groma::serve {

ServeEnd serve_client(const Service& service, int input, int output, const ServeOptions& options) {
  const auto stopped = [&options] { return options.stop && options.stop(); };
  LineReader reader(input, options.max_message_bytes);
  LineWriter writer(output, input, stopped);
  Session session(service, options, writer);
  std::string line;
  for (;;) {
    using Status = LineReader::Status;
    const auto must_end = [&] { return stopped() || writer.is_broken(); };
    const Status status = reader.next(&line, must_end);
    if (status == Status::kLine) {
      session.take_line(line);
    } else if (status == Status::kTooLong) {
      session.take_too_long_line();
    } else if (status == Status::kEnd) {
      session.finish(std::chrono::milliseconds(options.last_calls_ms), must_end);
      return ServeEnd::kInputClosed;
    } else {
      session.finish(std::chrono::milliseconds(0), must_end);
      return writer.is_broken() ? ServeEnd::kOutputClosed : ServeEnd::kStopped;
    }
  }
}

std::vector<std::string_view> protocol_versions() { return {kVersions.begin(), kVersions.end()}; }

}  // namespace groma::serve
