// The journal of a search: one line of JSON for each event, written before the next event begins. A
// resumed search runs again from its start and takes the recorded answers from the journal.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
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

// The names of the journal lines that the end of a search writes: the comparison of the best text
// with the start, and the time that the search has taken. A replay skips them.
inline constexpr const char* kBesideStart = "beside_start";
inline constexpr const char* kEnded = "ended";

// Parses one line of a journal as JSON, with texts decoded to their original bytes. The result
// is_discarded() if the line is not JSON, or if it is nested deeper than any line that Groma
// writes.
Json parse_journal_line(const std::string& line);

// Encodes a text for JSON, which holds UTF-8 only. A UTF-8 text stays as it is. In any other text
// each byte becomes one character, and a mark stands in front. parse_journal_line() decodes the
// values of a line, but not the names of its members.
std::string encode_for_json(const std::string& bytes);

// Returns the JSON as one line that ends with a line feed. Invalid UTF-8 becomes replacement
// characters; hidden characters become escapes.
std::string to_journal_line(const Json& json);

// Reads the lines of an untrusted file. The file must be a regular file and not a symbolic link. A
// line has at most 64 MB, the first line at most 8 MB.
class JournalLineReader {
 public:
  // Opens the file without blocking. Fails (kUnreadable) if the path is not a regular file.
  static Result<JournalLineReader> open(const std::string& path);
  // Reads the next line. Returns false at the end of the file.
  bool read_line(std::string* line);
  // has_line_end() returns true if the line that read_line() read last had a line end. too_long()
  // returns true if that line exceeded the limit and was cut off.
  bool has_line_end() const { return whole_; }
  bool too_long() const { return too_long_; }
  // Returns true if the file has no further line.
  bool at_end();

 private:
  struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, FileCloser> file_;
  bool is_first_ = true, whole_ = false, too_long_ = false;
};

// The journal file of a search. Its first line is {"search": ...}, which holds the options of the
// search. These lines follow:
// - {"round": N}: N is the number of proposals that may be tried
// - {"asked": [request, ...]}, followed by {"reply": ...} for each reply as it arrives; a request
//   that was interrupted is asked once more
// - {"estimated": {"texts": hash of the texts, "results": [...]}}
// - {"step": ...}
//
// Each time the search ends, it appends {"beside_start": ...}, the comparison of the best text with
// the start, and {"ended": {"seconds": S}}, the time from the start of the search to its end.
// Readers use the last of these lines. A text that is not UTF-8 is encoded by encode_for_json().
class Journal {
 public:
  // Makes a journal without a file, which records nothing.
  Journal() = default;
  ~Journal();
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;

  // Begins a journal. With `resume`, continues a journal whose first line is `search`, and cuts off
  // an incomplete last line. Fails if
  // - without `resume`, the file exists, unless it ends within its first line
  // - with `resume`, the file does not exist
  // - the file is not a regular file
  // - the journal belongs to another search (kMalformed)
  // - the journal is damaged before its end (kMalformed, with the line)
  // - `stop` returns true while the journal is read (kStopped); it is asked before each line
  static Result<Journal> open(const std::string& path, const Json& search, bool resume,
                              const std::function<bool()>& stop = {});

  // Returns true while the file has recorded lines that next_recorded_value() has not returned yet.
  bool has_lines_to_replay() const { return replayed_ < recorded_; }
  // Return the value of the last "beside_start" line and of the last "ended" line; null if there is
  // none.
  const Json& comparison_with_start() const { return beside_start_; }
  const Json& last_end() const { return ended_; }
  // Returns the value of the next recorded line, which must have the name `about`. Fails if the
  // line has another name: the search then differs from the recorded one.
  Result<Json> next_recorded_value(const char* about);
  // Return errors about the line that next_recorded_value() returned last. damaged_line_error():
  // Groma cannot have written the line. different_search_error(): the line is valid, but the search
  // now does something else than was recorded.
  Error damaged_line_error(std::string_view what) const;
  Error different_search_error(std::string_view what) const;

  // Appends the line {about: value}. With `lasting`, the line is on the disk when the function
  // returns, not only handed to the system. A line that was written only in part is removed again.
  // A line of more than 64 MB, which open() could not read, is not written (kTooLarge).
  [[nodiscard]] std::optional<Error> append_line(const char* about, const Json& value,
                                                 bool lasting);

 private:
  std::string path_;
  int file_ = -1;
  std::int64_t size_ = 0;
  std::optional<JournalLineReader> lines_;
  // How many lines were replayed, and how many the file held when it was opened. Neither number
  // includes the first line or the lines that a replay skips.
  std::int64_t replayed_ = 0, recorded_ = 0;
  // The number of lines that next_recorded_value() has skipped. An error message adds this number
  // to `replayed_` to name the number of the line.
  std::int64_t left_out_ = 0;
  Json beside_start_, ended_;
};

}  // namespace groma::tuning
