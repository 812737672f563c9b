// The journal of a search: one line of JSON for each thing that happened, written before the next
// begins. A search is resumed by going through it again with the answers that stand there.
#pragma once

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "groma/llm.h"
#include "groma/result.h"
#include "groma/tune.h"

namespace groma::tuning {

using Json = nlohmann::ordered_json;

// What a line holds; discarded where it is no JSON, or deeper than any that we write.
Json parsed(const std::string& line);

// Why a search cannot be resumed that no longer goes as the journal says.
Error another_way(std::string message);

// With its end; what is no UTF-8 becomes replacement characters.
std::string line_of(const Json& json);

// A journal's lines: {"search": ...} first, then in turn what a line is about and that: {"round":
// how many proposals may be tried}, {"asked": [request, ...]} and then {"replies": [reply, ...]},
// {"step": ...}.
class Journal {
 public:
  // Of no file: remembers nothing.
  Journal() = default;
  ~Journal();
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;

  // Begins one, or with `resume` goes on with one whose first line is `search`. A last line that
  // was not finished is cut off. Fails on a file that is there (without `resume`), is not there
  // (with), holds another search (kMalformed) or is damaged before its end (kMalformed, with the
  // line).
  static Result<Journal> open(const std::string& path, const Json& search, bool resume);

  // Whether there are lines that were written before; next() takes them in turn.
  bool replaying() const { return replayed_ < recorded_; }
  // The next of them, which must be about this; else the search does not go the way that it went.
  Result<Json> next(const char* about);

  // Appends a line. `lasting`: it is on the disk, not only with the system, when this returns. A
  // line that does not fit is taken back.
  [[nodiscard]] std::optional<Error> write(const char* about, const Json& value, bool lasting);

 private:
  std::string path_;
  int file_ = -1;
  std::int64_t size_ = 0;
  std::ifstream lines_;
  std::int64_t replayed_ = 0, recorded_ = 0;  // lines without the first
};

Json json_of(const Step& step);
Step step_of(const Json& json);
Json json_of(const ChatRequest& request);
Json json_of(const Result<ChatReply, ChatError>& reply);
Result<ChatReply, ChatError> reply_of(const Json& json);

}  // namespace groma::tuning
