// SearchRecord: what a search writes to its directory, and reads back when it is resumed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "groma/llm.h"
#include "groma/result.h"
#include "groma/system.h"
#include "groma/tune.h"
#include "tune/journal.h"
#include "tune/recorded.h"

namespace groma::tuning {

// Reads and writes the journal of a search as values. A resumed search runs again from its start.
// As long as recorded lines remain, the search takes its rounds, replies, estimates and steps from
// the record, in the recorded order. After that, new ones are written to the record.
//
// The first error ends the search: after it nothing is read or written. Only one thread may use the
// record, except where a function says otherwise.
class SearchRecord {
 public:
  // Makes and locks the directory, and opens its journal, whose first line is `search`. With
  // `resume`, the directory must hold a journal. If `directory` is empty, nothing is recorded.
  // Fails as Journal::open does.
  std::optional<Error> open(const std::string& directory, const Json& search, bool resume,
                            const std::function<bool()>& stop);

  // Returns true while recorded lines remain that were not replayed. May be called from any thread.
  bool replaying() const { return journal_.has_lines_to_replay(); }
  // Returns true if recorded lines remained when the record was opened.
  bool was_resumed() const { return was_resumed_; }
  // Returns the first error; nullopt if there is none. May be called from any thread while no
  // thread writes.
  const std::optional<Error>& first_error() const { return failed_; }
  // Stores the error, unless an earlier one is stored. Ignores nullopt.
  void fail(std::optional<Error> error) {
    if (!failed_) failed_ = std::move(error);
  }
  // Fails because the proposer ends the search although recorded lines remain, so this is not the
  // recorded search.
  void fail_because_of_early_end() {
    fail(journal_.different_search_error("the search now ends here"));
  }
  // Removes the journal of a new search that could not begin, and the directory if open() made it,
  // so that the search can be begun again in the same place. Nothing is recorded after this call.
  void withdraw();
  // Replaces a file in the directory. Does nothing if the search has no directory or has failed.
  void replace(const std::string& name, const std::string& text);

  // ---- Reading, only while replaying() is true. A line that does not fit the search is an error.

  // Returns how many proposals may be tried in the next round, at most `most`.
  std::size_t read_round_size(std::size_t most);
  // Returns a reply to each request, in the order of the requests. If the process ended before a
  // reply came, the server may have charged for that reply. `unanswered(i)` is then recorded as the
  // reply to request i.
  std::vector<RecordedReply> replies(std::span<const llm::ChatRequest> requests,
                                     const std::function<RecordedReply(std::size_t)>& unanswered);
  // Returns the `count` estimates of texts whose hash is `texts`. Returns fewer if the recorded
  // search had no time for more.
  std::vector<Evaluation> estimates(std::size_t count, std::uint64_t texts);
  // Returns the recorded step, which must have this number and this text. Otherwise fails and
  // returns nullopt.
  std::optional<RecordedStep> read_step(std::int64_t number, const std::string& text);
  // Returns the last recorded comparison of the best step with the start; nullopt if there is none
  // for the step with the number `best`.
  std::optional<Evaluation> beside_start(std::int64_t best) const;
  // Returns the seconds from the start of the search to its last recorded end; 0 if it has not
  // ended yet.
  double seconds_at_end() const { return end_from_json(journal_.last_end()).value_or(0); }

  // ---- Writing, only after the last recorded line was read

  void write_round_size(std::size_t most) { write("round", most, false); }
  void write_questions(std::span<const llm::ChatRequest> requests);
  // Writes a reply. Returns the error instead of keeping it, because other threads may call
  // first_error() at the same time.
  [[nodiscard]] std::optional<Error> write_reply(const RecordedReply& reply) {
    return journal_.append_line("reply", json_of(reply), true);
  }
  // Writes the estimates. `count` is how many were requested; `estimates` may have fewer.
  void write_estimates(std::span<const Evaluation> estimates, std::size_t count,
                       std::uint64_t texts);
  // Writes a step. With `lasting`, waits until the step is on the disk.
  void write_step(const RecordedStep& step, bool lasting) { write("step", json_of(step), lasting); }
  void write_comparison_with_start(std::int64_t best, const Evaluation& evaluation) {
    write(kBesideStart, json_of(RecordedStep{.step = {best, {}, evaluation}}), true);
  }
  // Writes that the search ends now, `seconds` after its start.
  void write_end(double seconds) { write(kEnded, {{"seconds", seconds}}, false); }

 private:
  void write(const char* about, const Json& value, bool lasting) {
    if (!failed_) failed_ = journal_.append_line(about, value, lasting);
  }
  // Returns the value of the next line, which must have the name `about`. Otherwise fails and
  // returns nullopt.
  std::optional<Json> next(const char* about);

  std::string directory_;
  std::optional<FileLock> lock_;
  Journal journal_;
  bool was_resumed_ = false, made_directory_ = false;
  std::optional<Error> failed_;
};

}  // namespace groma::tuning
