// SseParser: splits a stream of server-sent events into lines, and joins lines to events.
#include "llm/sse.h"

namespace groma::llm {

// The line feed of a line end CR LF may arrive with the next call only. It is then skipped.
void SseParser::feed(std::string_view bytes, const OnData& on_data) {
  while (!bytes.empty()) {
    if (after_cr_ && bytes.front() == '\n') {
      after_cr_ = false;
      bytes.remove_prefix(1);
      continue;
    }
    after_cr_ = false;
    const std::size_t end = bytes.find_first_of("\r\n");
    if (end == bytes.npos) {
      line_ += bytes;
      return;
    }
    after_cr_ = bytes[end] == '\r';
    line_ += bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    read_line(line_, on_data);
    line_.clear();
  }
}

// At the end of the stream, a last line without a line end counts as complete.
void SseParser::finish(const OnData& on_data) {
  if (!line_.empty()) read_line(line_, on_data);
  line_.clear();
  read_line("", on_data);
}

// Reads one line. An empty line ends the event, `data` and `error` lines add to it, and other lines
// are ignored.
void SseParser::read_line(std::string_view text, const OnData& on_data) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (!begun_ && text.starts_with(kMark)) text.remove_prefix(kMark.size());
  begun_ = true;
  if (text.empty()) {
    if (has_data_) on_data(data_);
    data_.clear();
    has_data_ = false;
    return;
  }
  const std::size_t colon = text.find(':');
  const std::string_view field = text.substr(0, colon);
  if (field != "data" && field != "error") return;
  std::string_view value = colon == text.npos ? "" : text.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (has_data_) data_ += '\n';
  data_ += value;
  has_data_ = true;
}

}  // namespace groma::llm
