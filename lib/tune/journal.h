// The journal of a search: one line of JSON for each thing that happened, written before the next
// begins. A search is resumed by going through it again with the answers that stand there.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/llm.h"
#include "groma/result.h"
#include "groma/tune.h"

namespace groma::tuning {

using Json = nlohmann::ordered_json;

inline constexpr const char* kBesideStart = "beside_start";  // what a line is about

// What a line of a journal holds, byte for byte; discarded where it is not JSON, or deeper than any
// that we write.
Json parsed(const std::string& line);

// A text as JSON can hold it: itself if it is UTF-8, else marked and with a character for each
// byte. parsed() undoes that in values, not in members' names.
std::string characters_of(const std::string& bytes);

// With its end. Bytes that are not UTF-8 become replacement characters, hidden characters escapes.
std::string line_of(const Json& json);

// The lines of a file that others may have made: a regular one and no link, with lines of up to
// 64 MB, the first of up to 8 MB.
class Lines {
 public:
  // Fails (kUnreadable) where it is no such file; waits for nothing.
  static Result<Lines> open(const std::string& path);
  // False where there is none.
  bool next(std::string* line);
  // Of the line that was read last: it had its end; it was longer, and is cut off.
  bool whole() const { return whole_; }
  bool too_long() const { return too_long_; }
  bool at_end();  // none is behind it

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  bool is_first_ = true, whole_ = false, too_long_ = false;
};

// A journal's lines: {"search": ...} first, then in turn what a line is about and that: {"round":
// how many proposals may be tried}, {"asked": [request, ...]} and then for each, as it comes,
// {"reply": ...} (what was stopped is asked once more), {"estimated": {"texts": their hash,
// "results": [...]}}, {"step": ...}. Whenever the search ended, {"beside_start": ...}, of which the
// last counts. A text that is no UTF-8 is marked and has a character for each byte.
class Journal {
 public:
  // Of no file: remembers nothing.
  Journal() = default;
  ~Journal();
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;

  // Begins one, or with `resume` goes on with one whose first line is `search`. A last line that
  // was not finished is cut off. Fails on a file that is there (without `resume`, unless
  // it was broken off in its first line), is not there (with), is no regular file, holds another
  // search (kMalformed) or is damaged before its end (kMalformed, with the line).
  static Result<Journal> open(const std::string& path, const Json& search, bool resume);

  // Whether there are lines that were written before; next() takes them in turn.
  bool replaying() const { return replayed_ < recorded_; }
  // What it last ended with; null: nothing.
  const Json& beside_start() const { return beside_start_; }
  // The next of them, which must be about this; else the search does not go the way that it went.
  Result<Json> next(const char* about);
  // Of the line that was taken last: it is not as one that was written; the search no longer goes
  // as it says.
  Error damaged(std::string_view what) const;
  Error another_way(std::string_view what) const;

  // Appends a line. `lasting`: it is on the disk, not only with the system, when this returns. A
  // line that does not fit is taken back; one that open() would not read (64 MB) is not written
  // (kTooLarge).
  [[nodiscard]] std::optional<Error> write(const char* about, const Json& value, bool lasting);

 private:
  std::string path_;
  int file_ = -1;
  std::int64_t size_ = 0;
  std::optional<Lines> lines_;
  std::int64_t replayed_ = 0, recorded_ = 0;  // lines without the first and those left out
  std::int64_t left_out_ = 0;                 // of those that were read
  Json beside_start_;
};

// A score is finite and above 0, and there are values.
bool sound(const Evaluation& evaluation);

// What is read is nothing where it is not as it was written, whatever a file holds.
struct RecordedStep {
  Step step;
  bool within_noise = false;            // of what was the best then
  bool repeated = false, free = false;  // it had been tried; it cost nothing
  bool again = false;                   // it was evaluated twice, of which this is the second
  double seconds = 0;                   // since the search was begun
};
Json json_of(const Evaluation& evaluation);
std::optional<Evaluation> evaluation_of(const Json& json);
Json json_of(const Step& step);
std::optional<RecordedStep> step_of(const Json& json);
Json json_of(const ChatRequest& request);
// Of its messages; empty where there are none.
std::vector<std::string> messages_of(const Json& request);
// To one of the questions that were asked at once, with what was spent meanwhile, also in vain.
struct RecordedReply {
  std::size_t of = 0;
  Result<ChatReply, ChatError> reply = ChatError{};
  std::int64_t tokens = 0;
  double money = 0;
};
Json json_of(const RecordedReply& recorded);
std::optional<RecordedReply> reply_of(const Json& json);

}  // namespace groma::tuning
