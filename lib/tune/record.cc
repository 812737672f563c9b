// SearchRecord: turns the lines of a journal into values, and values into lines.
#include "tune/record.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "groma/search_directory.h"
#include "system/sync.h"

namespace groma::tuning {
namespace {

// Returns the requests as the journal records them: an array with one object for each.
Json questions(std::span<const llm::ChatRequest> requests) {
  Json all = Json::array();
  for (const llm::ChatRequest& request : requests) all.push_back(json_of(request));
  return all;
}

}  // namespace

// Makes the directory for a new search, locks it, removes temporary files that a killed process
// left, and opens the journal.
std::optional<Error> SearchRecord::open(const std::string& directory, const Json& search,
                                        bool resume, const std::function<bool()>& stop) {
  if (directory.empty()) return std::nullopt;
  directory_ = directory;
  made_directory_ = !resume && mkdir(directory.c_str(), 0777) == 0;
  if (!resume && !made_directory_ && errno != EEXIST) {
    return Error{Error::Code::kUnreadable, fmt::format("cannot make the directory `{}`: {}",
                                                       directory, std::strerror(errno))};
  }
  // Best effort: the entry of the new directory should survive a crash of the system.
  if (!resume) static_cast<void>(system::sync_folder(directory + "/.."));
  // An error is ignored here, because opening the journal reports it.
  std::error_code ignored;
  if (!resume || std::filesystem::is_directory(directory, ignored)) {
    auto lock = FileLock::take(directory + "/lock");
    if (!lock) return lock.error();
    lock_ = std::move(lock).value();
    for (const char* name : kSearchFiles) remove_unfinished_replacements(directory + "/" + name);
  }
  auto journal = Journal::open(directory + "/journal.jsonl", search, resume, stop);
  if (!journal) return journal.error();
  journal_ = std::move(journal).value();
  was_resumed_ = journal_.has_lines_to_replay();
  return std::nullopt;
}

// Best effort: what cannot be removed stays.
void SearchRecord::withdraw() {
  if (directory_.empty()) return;
  journal_ = Journal();
  std::error_code ignored;
  std::filesystem::remove(directory_ + "/journal.jsonl", ignored);
  std::filesystem::remove(directory_ + "/lock", ignored);
  lock_.reset();
  if (made_directory_) std::filesystem::remove(directory_, ignored);
  directory_.clear();
}

void SearchRecord::replace(const std::string& name, const std::string& text) {
  if (!directory_.empty() && !failed_) failed_ = replace_file(directory_ + "/" + name, text);
}

// Reads no line after an error.
std::optional<Json> SearchRecord::next(const char* about) {
  if (failed_) return std::nullopt;
  auto line = journal_.next_recorded_value(about);
  if (line) return std::move(line).value();
  failed_ = line.error();
  return std::nullopt;
}

// A number outside 1 to `most` means that the line is damaged.
std::size_t SearchRecord::read_round_size(std::size_t most) {
  const auto line = next("round");
  if (!line) return 0;
  if (line->is_number_unsigned() && *line >= 1 && *line <= most) return line->get<std::size_t>();
  failed_ = journal_.damaged_line_error("it is not a number of proposals");
  return 0;
}

// Fails if the search now asks other questions than the recorded ones. Replies may be recorded in
// any order, because the questions were asked at the same time; each reply names its question.
std::vector<RecordedReply> SearchRecord::replies(
    std::span<const llm::ChatRequest> requests,
    const std::function<RecordedReply(std::size_t)>& unanswered) {
  const auto asked = next("asked");
  if (asked && *asked != questions(requests)) {
    failed_ = journal_.different_search_error("the search now asks the model something else");
  }
  std::vector<std::optional<RecordedReply>> known(requests.size());
  // A reply that is missing at the end of the journal is not an error: the process ended while the
  // question was with the model.
  for (std::size_t left = known.size(); left > 0 && !failed_ && replaying(); --left) {
    const auto line = next("reply");
    if (!line) break;
    auto recorded = reply_from_json(*line);
    if (!recorded || recorded->question >= known.size() || known[recorded->question]) {
      failed_ =
          journal_.damaged_line_error(fmt::format("a reply to one of {} questions is due", left));
    } else {
      known[recorded->question] = std::move(recorded);
    }
  }
  std::vector<RecordedReply> all;
  for (std::size_t i = 0; i < known.size() && !failed_; ++i) {
    if (!known[i]) {
      known[i] = unanswered(i);
      write("reply", json_of(*known[i]), true);
    }
    all.push_back(*std::move(known[i]));
  }
  return all;
}

void SearchRecord::write_questions(std::span<const llm::ChatRequest> requests) {
  write("asked", questions(requests), false);
}

// Fails if the estimated texts have another hash than the recorded ones, or if results are missing.
// Fewer results than `count` are valid only if the line says that time ran out.
std::vector<Evaluation> SearchRecord::estimates(std::size_t count, std::uint64_t texts) {
  const auto line = next("estimated");
  if (!line) return {};
  const Json& results = member(*line, "results");
  const bool out_of_time = line->contains("out_of_time");
  if (!results.is_array() || (out_of_time ? results.size() >= count : results.size() != count)) {
    failed_ = journal_.damaged_line_error(fmt::format("{} estimates are due", count));
  } else if (member(*line, "texts") != texts) {
    failed_ = journal_.different_search_error("the search now estimates something else");
  }
  std::vector<Evaluation> all;
  for (std::size_t i = 0; !failed_ && i < results.size(); ++i) {
    auto evaluation = evaluation_of(results[i]);
    if (!evaluation) {
      failed_ = journal_.damaged_line_error(fmt::format("estimate {} is none", i + 1));
    } else {
      all.push_back(*std::move(evaluation));
    }
  }
  return failed_ ? std::vector<Evaluation>() : all;
}

// The mark `out_of_time` tells a reader that the missing results are not damage.
void SearchRecord::write_estimates(std::span<const Evaluation> estimates, std::size_t count,
                                   std::uint64_t texts) {
  Json results = Json::array();
  for (const Evaluation& evaluation : estimates) results.push_back(json_of(evaluation));
  Json line = {{"texts", texts}, {"results", std::move(results)}};
  if (estimates.size() < count) line["out_of_time"] = true;
  write("estimated", line, false);
}

// Fails if the recorded step has another number or another text. Another number means a damaged
// journal; another text means that the search now proposes something else.
std::optional<RecordedStep> SearchRecord::read_step(std::int64_t number, const std::string& text) {
  const auto line = next("step");
  if (!line) return std::nullopt;
  auto recorded = step_from_json(*line);
  if (!recorded || recorded->step.number != number) {
    failed_ = journal_.damaged_line_error(fmt::format("it should be step {}", number));
  } else if (recorded->step.proposal.text != text) {
    failed_ = journal_.different_search_error("the search now proposes something else than it did");
  }
  return failed_ ? std::nullopt : recorded;
}

// Ignores a comparison of the start with an earlier best step.
std::optional<Evaluation> SearchRecord::beside_start(std::int64_t best) const {
  auto recorded = step_from_json(journal_.comparison_with_start());
  if (!recorded || recorded->step.number != best) return std::nullopt;
  return std::move(recorded->step.evaluation);
}

}  // namespace groma::tuning
