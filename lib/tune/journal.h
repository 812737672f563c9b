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

inline constexpr const char* kBesideStart = "beside_start";  // the name of one kind of line

// Returns the JSON of a journal line, byte for byte. The result is discarded if the line is not
// JSON, or is nested deeper than any line that Groma writes.
Json parsed(const std::string& line);

// Encodes a text for JSON. A UTF-8 text stays as it is. Any other text is encoded with one
// character for each byte, after a mark. parsed() decodes values, but not the names of members.
std::string characters_of(const std::string& bytes);

// Returns the JSON as one line with its line end. Invalid UTF-8 becomes replacement characters;
// hidden characters become escapes.
std::string line_of(const Json& json);

// Reads the lines of an untrusted file. The file must be a regular file and not a link. A line has
// at most 64 MB, the first line at most 8 MB.
class Lines {
 public:
  // Opens the file without blocking. Fails (kUnreadable) if it is not such a file.
  static Result<Lines> open(const std::string& path);
  // Reads the next line. Returns false at the end of the file.
  bool next(std::string* line);
  // About the last line read: whole() is true if the line had a line end; too_long() is true if the
  // line exceeded the limit and was cut off.
  bool whole() const { return whole_; }
  bool too_long() const { return too_long_; }
  bool at_end();  // true: no line follows

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  bool is_first_ = true, whole_ = false, too_long_ = false;
};

// A journal. Its first line is {"search": ...}. Then these lines follow in turn:
// - {"round": N}: N is the number of proposals that may be tried
// - {"asked": [request, ...]}, followed by {"reply": ...} for each reply as it arrives; a request
//   that was interrupted is asked once more
// - {"estimated": {"texts": hash of the texts, "results": [...]}}
// - {"step": ...}
//
// Each time the search ends, it writes {"beside_start": ...}; readers use the last such line. A
// text that is not UTF-8 is encoded by characters_of().
class Journal {
 public:
  // A journal without a file; it records nothing.
  Journal() = default;
  ~Journal();
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;

  // Begins a journal. With `resume`, continues a journal whose first line is `search`; an
  // incomplete last line is cut off. Fails if
  // - without `resume`, the file exists, unless it ends within its first line
  // - with `resume`, the file does not exist
  // - the file is not a regular file
  // - the journal belongs to another search (kMalformed)
  // - the journal is damaged before its end (kMalformed, with the line)
  // - `stop` returns true while the journal is read (kStopped); it is asked before each line
  static Result<Journal> open(const std::string& path, const Json& search, bool resume,
                              const std::function<bool()>& stop = {});

  // Returns true while recorded lines remain; next() takes them in turn.
  bool replaying() const { return replayed_ < recorded_; }
  // The value of the last "beside_start" line; null if there is none.
  const Json& beside_start() const { return beside_start_; }
  // Returns the value of the next recorded line. Fails if the line is not about `about`: the search
  // then differs from the recorded one.
  Result<Json> next(const char* about);
  // Errors about the line that next() returned last. damaged(): Groma cannot have written the line.
  // search_differs(): the search differs from the recorded one.
  Error damaged(std::string_view what) const;
  Error search_differs(std::string_view what) const;

  // Appends a line. With `lasting`, the line is on the disk when this returns, not only handed to
  // the system. A line that was written only in part is removed. A line that open() could not read
  // (more than 64 MB) is not written (kTooLarge).
  [[nodiscard]] std::optional<Error> write(const char* about, const Json& value, bool lasting);

 private:
  std::string path_;
  int file_ = -1;
  std::int64_t size_ = 0;
  std::optional<Lines> lines_;
  // How many lines were replayed, and how many the file has. Both exclude the first line and
  // skipped lines.
  std::int64_t replayed_ = 0, recorded_ = 0;
  std::int64_t left_out_ = 0;  // how many of the lines that were read were skipped
  Json beside_start_;
};

}  // namespace groma::tuning
