// Parses server-sent events. The bytes may come in pieces that are cut anywhere.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace groma::llm {

// Accepts LF, CR LF and CR as line ends, and a byte order mark at the beginning. Joins the `data`
// lines of an event, and ignores comments and other fields. An `error` field counts as data, since
// some servers use it instead. Holds at most one event, so the caller must limit the total.
class SseParser {
 public:
  using OnData = std::function<void(std::string_view data)>;

  void feed(std::string_view bytes, const OnData& on_data);
  // Ends the stream. Emits the last event if it has no final empty line.
  void finish(const OnData& on_data);

 private:
  void line(std::string_view text, const OnData& on_data);

  std::string line_, data_;
  bool begun_ = false, has_data_ = false, after_cr_ = false;
};

}  // namespace groma::llm
