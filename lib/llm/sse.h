// Parses server-sent events. The bytes may arrive in pieces that are cut anywhere.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace groma::llm {

// Accepts LF, CR LF and CR as line ends, and a byte order mark at the beginning. Joins the `data`
// lines of an event, and ignores comments and other fields. An `error` field counts as data, since
// some servers use it instead. The parser holds at most one event, whose size is not limited, so
// the caller must limit the bytes.
class SseParser {
 public:
  using OnData = std::function<void(std::string_view data)>;

  // Reads the next bytes, and calls `on_data` for each event that is complete.
  void feed(std::string_view bytes, const OnData& on_data);
  // Ends the stream. Calls `on_data` for the last event if no empty line ended it.
  void finish(const OnData& on_data);

 private:
  void read_line(std::string_view text, const OnData& on_data);

  std::string line_, data_;
  bool begun_ = false, has_data_ = false, after_cr_ = false;
};

}  // namespace groma::llm
