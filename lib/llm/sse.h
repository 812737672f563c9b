// Server-sent events: bytes, however they are cut, to the data of events.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace groma::llm {

// Takes LF, CR LF and CR, and a byte order mark before it all; joins an event's `data` lines;
// passes comments and other fields over. An `error` field, which some servers write instead, counts
// as data. Holds no more than one event: who feeds it bounds the whole.
class SseParser {
 public:
  using OnData = std::function<void(std::string_view data)>;

  void feed(std::string_view bytes, const OnData& on_data);
  // At the end of the stream: an event that no empty line ended.
  void finish(const OnData& on_data);

 private:
  void line(std::string_view text, const OnData& on_data);

  std::string line_, data_;
  bool begun_ = false, has_data_ = false, after_cr_ = false;
};

}  // namespace groma::llm
