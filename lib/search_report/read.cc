// Reads the directory of a search into a SearchReport. The journal is read twice: first the results
// of all steps, then the texts of those steps that the report shows.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/regular_file.h"
#include "edit/mapping.h"
#include "groma/harmless.h"
#include "groma/search_directory.h"
#include "groma/search_report.h"
#include "groma/system.h"
#include "profile/words.h"
#include "search/recent.h"
#include "search_report/descent.h"
#include "search_report/journal_pass.h"
#include "search_report/words.h"
#include "tune/recorded.h"

namespace groma::tuning {
namespace {

namespace fs = std::filesystem;

// Limit on the bytes of the best text and of the start.
constexpr std::size_t kMaxBestBytes = std::size_t{1} << 20;
// Limits on the exchanges with a model that are shown, and on those of one step.
constexpr std::size_t kMaxExchanges = 2000, kMaxExchangesOfStep = 100;
// Limits on the bytes of a line about a step, on those of one text of its feedback, and on the
// texts in one list of its feedback.
constexpr std::size_t kMaxLineBytes = 300, kMaxFeedbackBytes = 4000, kMaxFeedbackTexts = 20;
// The least part that a text gets of the limit on all texts.
constexpr std::size_t kLeastPart = 1024;
// Limits on the bytes and the lines of the summary that is read from report.txt.
constexpr std::size_t kMaxClosingBytes = 4096;
// How much older than the journal a report may be and still count as its report. Copies of a
// directory may have the times of its files in another order.
constexpr auto kReportTolerance = std::chrono::seconds(1);

// Returns the first bytes of a regular file that is not a link; nullopt if it cannot be read.
std::optional<std::string> read_beginning(const std::string& path, std::size_t most) {
  const auto file = open_regular_file(path, "read", O_RDONLY);
  if (!file) return std::nullopt;
  std::string text(most, '\0');
  std::size_t size = 0;
  for (ssize_t count = 1; count > 0 && size < most; size += static_cast<std::size_t>(count)) {
    count = ::read(*file, text.data() + size, most - size);
    if (count < 0) break;
  }
  close(*file);
  text.resize(size);
  return text;
}

void cut(std::string* text, std::size_t most) { text->resize(beginning(*text, most).size()); }

// Cuts the texts of a step's feedback, which may have `most` bytes together, and drops the parts
// that the report does not show.
void cut(GuideFeedback* feedback, std::size_t most) {
  const auto shorten = [&most](std::string* text) {
    cut(text, std::min(most, kMaxFeedbackBytes));
    most -= text->size();
  };
  shorten(&feedback->execution);
  for (auto* list : {&feedback->explain, &feedback->suggest, &feedback->last_lines}) {
    list->resize(std::min(list->size(), kMaxFeedbackTexts));
    for (std::string& text : *list) shorten(&text);
  }
  if (!feedback->profile) return;
  auto& causes = feedback->profile->causes;
  causes.resize(std::min<std::size_t>(causes.size(), 1));
  for (auto& cause : causes) {
    for (std::string* text : {&cause.doing, &cause.task, &cause.region, &cause.from, &cause.to}) {
      cut(text, kMaxLineBytes);
    }
  }
}

// Returns how many bytes each of `count` texts may have.
std::size_t part_of(std::size_t bytes, std::size_t count) {
  return std::max(kLeastPart, bytes / std::max<std::size_t>(count, 1));
}

// Reads one search.
class ReportReader {
 public:
  ReportReader(std::string directory, const SearchReportOptions& options)
      : options_(options), journal_(directory + "/journal.jsonl") {
    report_.directory = std::move(directory);
  }

  Result<SearchReport> read() {
    find_state();
    if (auto error = read_results()) return *std::move(error);
    choose_steps();
    if (auto error = read_texts()) return *std::move(error);
    read_best_text();
    add_notes();
    return std::move(report_);
  }

 private:
  // Sets how the search ended, before the journal is read. So a search that ends meanwhile counts
  // as running.
  void find_state();
  void read_identity(const Json& search);
  // Reads the results of all steps.
  std::optional<Error> read_results();
  LineVerdict add_result(const RecordedStep& recorded);
  void count_cost(const RecordedReply& recorded);
  // Chooses the steps that are shown with their texts.
  void choose_steps();
  // Reads the chosen steps with their texts, and the lines about the points of the chart.
  std::optional<Error> read_texts();
  void add_step(RecordedStep recorded, std::size_t index);
  void add_exchange(const Json& asked, const RecordedReply& recorded);
  void read_best_text();
  void add_notes();

  const SearchReportOptions& options_;
  std::string journal_;
  SearchReport report_;
  JournalPass first_pass_;
  double best_score_ = HUGE_VAL;
  ResultNumbers numbers_;
  // The number of replies before each step, and after the last one.
  std::vector<std::uint32_t> replies_before_ = {0};
  // For each result: true if the step is shown.
  std::vector<bool> is_shown_;
  std::size_t step_part_ = 0, exchange_part_ = 0;
  // While read_texts() reads: the exchanges since the last step, and the best text so far.
  std::vector<ReportedExchange> exchanges_;
  std::size_t exchanges_shown_ = 0, exchanges_left_out_ = 0, cut_texts_ = 0;
  std::optional<std::string> best_text_;
  std::int64_t best_number_ = 0;
  std::optional<std::string> whole_best_text_;
};

void ReportReader::find_state() {
  const std::string report = report_.directory + "/report.txt";
  std::error_code no_report, no_journal;
  const auto written = fs::last_write_time(report, no_report);
  const auto searched = fs::last_write_time(journal_, no_journal);
  if (FileLock::is_taken(report_.directory + "/lock")) {
    report_.state = SearchReport::State::kRunning;
  } else if (!no_report && !no_journal && written + kReportTolerance >= searched) {
    report_.state = SearchReport::State::kEnded;
  }
  // The summary is everything before the first empty line.
  if (report_.state != SearchReport::State::kEnded) return;
  std::string text = read_beginning(report, kMaxClosingBytes).value_or("");
  text.resize(std::min(text.find("\n\n"), text.size()));
  report_.closing_words = std::move(text);
}

void ReportReader::read_identity(const Json& search) {
  const auto text = [&](const char* name) {
    const Json& found = member(search, name);
    return found.is_string() ? found.get<std::string>() : std::string();
  };
  auto setup = search_setup(text("of"));
  if (setup) report_.setup = std::move(setup).value();
  report_.proposer = text("proposer");
  report_.unit = text("unit");
  report_.start_text = text("start");
  cut(&report_.proposer, kMaxLineBytes);
  cut(&report_.unit, kMaxLineBytes);
  cut(&report_.start_text, kMaxBestBytes);
  report_.higher_is_better = member(search, "higher_is_better") == true;
  for (const Json& input : member(search, "inputs")) {
    if (!input.is_string() || report_.inputs.size() >= kMaxFeedbackTexts) continue;
    report_.inputs.push_back(input.get<std::string>());
    cut(&report_.inputs.back(), kMaxLineBytes);
  }
  for (const auto& [name, mark] : member(search, "marks").items()) {
    if (mark.is_string()) report_.marks.emplace_back(name, mark.get<std::string>());
  }
  // The first step is the start unless the caller of tune() did not want it.
  if (member(search, "evaluate_start") != false) report_.start = 0;
}

// A step is an improvement if it was better than all earlier ones by more than the noise.
LineVerdict ReportReader::add_result(const RecordedStep& recorded) {
  if (report_.results.size() >= options_.max_results) return LineVerdict::kEnough;
  const Evaluation& evaluation = recorded.step.evaluation;
  ReportedResult& result = report_.results.emplace_back();
  result.number = recorded.step.number;
  result.status = evaluation.status;
  if (evaluation.ok()) {
    result.value = report_.higher_is_better ? 1 / evaluation.score : evaluation.score;
  }
  result.repeated = recorded.repeated;
  result.parents = numbers_.indices_of(recorded.step.proposal.parents);
  if (!recorded.step.proposal.parents.empty()) ++report_.steps_with_parents;
  numbers_.add(result.number, static_cast<std::uint32_t>(report_.results.size() - 1));
  result.is_improvement =
      evaluation.ok() && evaluation.score < best_score_ && !recorded.within_noise;
  if (result.is_improvement) {
    best_score_ = evaluation.score;
    report_.best = report_.results.size() - 1;
  }
  replies_before_.push_back(0);
  TuneSpending& spent = report_.spent;
  if (!recorded.free) ++spent.evaluations;
  if (!recorded.free && !recorded.repeated && !evaluation.ok()) ++spent.failed;
  if (recorded.again) ++spent.again;
  spent.seconds = std::max(spent.seconds, recorded.seconds);
  return LineVerdict::kFine;
}

// Counts as the search does: a question that a budget forbade was not asked.
void ReportReader::count_cost(const RecordedReply& recorded) {
  TuneSpending& spent = report_.spent;
  const bool forbidden =
      !recorded.reply && recorded.reply.error().code == llm::ChatError::Code::kCeiling;
  if (!forbidden || recorded.tokens > 0) ++spent.model_calls;
  profile::add_saturating(spent.tokens, recorded.tokens);
  spent.money += recorded.money;
  spent.estimated = spent.estimated || recorded.estimated;
  ++replies_before_.back();
}

std::optional<Error> ReportReader::read_results() {
  const JournalPassLimits limits{options_.max_journal_bytes, INT64_MAX, options_.stop};
  bool is_first = true;
  auto pass = read_journal(journal_, limits, [&](const std::string& name, const Json& value) {
    if (name == "search" && std::exchange(is_first, false)) {
      read_identity(value);
    } else if (name == "step") {
      const auto recorded = step_from_json(value);
      return recorded ? add_result(*recorded) : LineVerdict::kDamaged;
    } else if (name == "reply") {
      const auto recorded = reply_from_json(value);
      if (!recorded) return LineVerdict::kDamaged;
      count_cost(*recorded);
    } else if (name == "estimated" && member(value, "results").is_array()) {
      report_.spent.estimates += static_cast<std::int64_t>(member(value, "results").size());
    } else if (name == kEnded) {
      report_.spent.seconds = std::max(report_.spent.seconds, end_from_json(value).value_or(0));
    } else if (name == kBesideStart) {
      auto recorded = step_from_json(value);
      if (recorded) report_.beside_start = std::move(recorded->step.evaluation);
    }
    return LineVerdict::kFine;
  });
  if (!pass) return pass.error();
  first_pass_ = *pass;
  if (report_.results.empty()) report_.start.reset();
  report_.line_of_best = find_line_of_best(report_);
  return std::nullopt;
}

// Shows the start, up to a third of the limit of ancestors of the best (the nearest ones), up to a
// third of improvements (the last ones), and the last steps.
void ReportReader::choose_steps() {
  const std::size_t count = report_.results.size();
  const std::size_t most = std::max<std::size_t>(options_.max_steps, 3);
  is_shown_.assign(count, count <= most);
  std::size_t shown = count <= most ? count : 0;
  const auto show = [&](std::size_t index) {
    if (!is_shown_[index]) ++shown;
    is_shown_[index] = true;
  };
  if (count > most) {
    show(0);
    const std::vector<std::size_t>& line = report_.line_of_best;
    for (std::size_t i = line.size(); i-- > 0 && shown < most / 3;) show(line[i]);
    const std::size_t with_improvements = line.empty() ? most / 3 : shown + most / 3;
    for (std::size_t i = count; i-- > 0 && shown < with_improvements;) {
      if (report_.results[i].is_improvement) show(i);
    }
    if (report_.best) show(*report_.best);
    for (std::size_t i = count; i-- > 0 && shown < most;) show(i);
    report_.notes.push_back(
        fmt::format("Of {} steps {} are shown with their texts: the start, {}the last improvements "
                    "and the last steps. The journal has all of them.",
                    counted(static_cast<std::int64_t>(count), ""),
                    counted(static_cast<std::int64_t>(shown), ""),
                    line.empty() ? "" : "ancestors of the best, "));
  }
  std::size_t replies = replies_before_.back();
  for (std::size_t i = 0; i < count; ++i) replies += is_shown_[i] ? replies_before_[i] : 0;
  step_part_ = part_of(options_.max_text_bytes, shown);
  exchange_part_ = part_of(options_.max_exchange_bytes, std::min(replies, kMaxExchanges));
}

void ReportReader::add_exchange(const Json& asked, const RecordedReply& recorded) {
  if (exchanges_.size() >= kMaxExchangesOfStep || exchanges_shown_ >= kMaxExchanges) {
    ++exchanges_left_out_;
    return;
  }
  ReportedExchange& exchange = exchanges_.emplace_back();
  std::size_t left = exchange_part_;
  if (recorded.question < asked.size()) {
    exchange.prompt = message_texts(asked[recorded.question]);
  }
  for (std::string& message : exchange.prompt) {
    if (message.size() > left) ++cut_texts_;
    cut(&message, left);
    left -= message.size();
  }
  std::erase_if(exchange.prompt, [](const std::string& message) { return message.empty(); });
  exchange.failed = !recorded.reply;
  exchange.reply = recorded.reply ? recorded.reply->text : recorded.reply.error().message;
  if (exchange.reply.size() > exchange_part_) ++cut_texts_;
  cut(&exchange.reply, exchange_part_);
  exchange.tokens = recorded.tokens;
  exchange.estimated = recorded.estimated;
}

// Adds a step with the exchanges since the step before it.
void ReportReader::add_step(RecordedStep recorded, std::size_t index) {
  const ReportedResult& result = report_.results[index];
  ReportedStep step;
  step.step = std::move(recorded.step);
  step.index = index;
  step.is_improvement = result.is_improvement;
  step.within_noise = recorded.within_noise;
  step.repeated = recorded.repeated;
  step.free = recorded.free;
  step.again = recorded.again;
  step.seconds = recorded.seconds;
  step.best_before = best_text_;
  step.best_before_number = best_number_;
  std::string& text = step.step.proposal.text;
  if (report_.best == index) whole_best_text_ = text.substr(0, kMaxBestBytes);
  const std::size_t size = text.size();
  cut(&text, step_part_);
  step.left_out_bytes = size - text.size();
  if (step.left_out_bytes > 0) ++cut_texts_;
  if (result.is_improvement) {
    best_text_ = text;
    best_number_ = step.step.number;
  }
  cut(&step.step.proposal.why, kMaxLineBytes);
  cut(&step.step.evaluation.feedback, 2 * step_part_);
  if (!is_shown_[index]) {
    exchanges_.clear();
    return;
  }
  step.exchanges = std::exchange(exchanges_, {});
  exchanges_shown_ += step.exchanges.size();
  report_.steps.push_back(std::move(step));
}

std::optional<Error> ReportReader::read_texts() {
  const std::size_t count = report_.results.size();
  report_.changes.resize(count);
  // The chart has a line about every n-th step and about all steps that are shown in full.
  const std::size_t stride = count / kMaxChartPoints + 1;
  std::size_t index = 0;
  Json asked = Json::array();
  const JournalPassLimits limits{options_.max_journal_bytes, first_pass_.lines, options_.stop};
  auto pass = read_journal(journal_, limits, [&](const std::string& name, const Json& value) {
    if (name == "asked") asked = value.is_array() ? value : Json::array();
    if (name == "reply") {
      if (const auto recorded = reply_from_json(value)) add_exchange(asked, *recorded);
    }
    if (name != "step" || index >= count) return LineVerdict::kFine;
    auto recorded = step_from_json(value);
    if (!recorded) return LineVerdict::kDamaged;
    if (is_shown_[index] || index % stride == 0) {
      report_.changes[index] = beginning(recorded->step.proposal.why, kMaxLineBytes);
    }
    add_step(*std::move(recorded), index++);
    return LineVerdict::kFine;
  });
  if (!pass) return pass.error();
  report_.last_exchanges = std::move(exchanges_);
  return std::nullopt;
}

// The file of the best text may be simpler than the best step, because the search removes
// statements that are worth nothing at its end. For the default mapper the file holds only a
// comment, so the empty text of the step is used.
void ReportReader::read_best_text() {
  report_.best_text = std::move(whole_best_text_);
  if (!report_.best_text || report_.best_text->empty()) return;
  const char* name = report_.is_mapping() ? "/best.mapper" : "/best.txt";
  auto text = read_beginning(report_.directory + name, kMaxBestBytes);
  if (!text || report_.state == SearchReport::State::kRunning) return;
  const bool is_other = *text != *report_.best_text;
  report_.kept_start =
      is_other && (*text == report_.start_text ||
                   (report_.start_text.empty() && edit::EditableMapping(*text).items().empty()));
  report_.best_is_simplified = is_other && !report_.kept_start;
  report_.best_text = report_.kept_start ? report_.start_text : std::move(*text);
}

void ReportReader::add_notes() {
  auto& notes = report_.notes;
  const std::string name = visible(journal_);
  if (first_pass_.damaged > 0) {
    notes.push_back(fmt::format(
        "`{}` is damaged: {} cannot be read, the first of them is line {}. The page shows what "
        "the other lines hold.",
        name, counted(first_pass_.damaged, "line"), first_pass_.first_damaged));
  }
  if (first_pass_.too_long_line > 0) {
    notes.push_back(
        fmt::format("Line {} of `{}` is too long to be a line of a journal. The page shows what "
                    "stands before it.",
                    first_pass_.too_long_line, name));
  }
  if (first_pass_.reached_limit) {
    notes.push_back(
        fmt::format("`{}` is too long for this page, which shows its first {} ({} bytes).", name,
                    counted(first_pass_.lines, "line"), counted(first_pass_.bytes, "")));
  }
  if (exchanges_left_out_ > 0) {
    notes.push_back(
        fmt::format("{} to the model are left out; the journal has them.",
                    counted(static_cast<std::int64_t>(exchanges_left_out_), "question")));
  }
  if (cut_texts_ > 0) {
    notes.push_back(fmt::format(
        "{} too long for this page and end early; the journal has them whole.",
        cut_texts_ == 1 ? std::string("1 text is")
                        : counted(static_cast<std::int64_t>(cut_texts_), "text") + " are"));
  }
}

}  // namespace

// The comparison at the end of a search counts more than the results during the search.
std::optional<double> SearchReport::gain() const {
  if (!start || !best || start == best) return std::nullopt;
  const ReportedResult &from = results[*start], &to = results[*best];
  if (from.status != Evaluation::Status::kOk) return std::nullopt;
  double value = to.value;
  if (beside_start) {
    if (!beside_start->ok()) return std::nullopt;
    value = higher_is_better ? 1 / beside_start->score : beside_start->score;
  }
  const double gain = higher_is_better ? value / from.value : from.value / value;
  return std::isfinite(gain) && gain > 0 ? std::optional(gain) : std::nullopt;
}

bool unchanged_input(const SearchReport& report, const std::string& name,
                     std::string_view content) {
  const std::string mark = fmt::format("{:016x}", hash_of(content));
  return std::any_of(report.marks.begin(), report.marks.end(), [&](const auto& each) {
    return each.first == encode_for_json(name) && each.second == mark;
  });
}

std::optional<Error> write_search_page(const std::string& directory, std::string_view html) {
  const std::string path = fmt::format("{}/{}", directory, kSearchPageFile);
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(path, ignored))) {
    constexpr std::size_t kBeginning = 256;
    const auto old = read_beginning(path, kBeginning);
    if (!old || !is_search_page(*old)) {
      return Error{
          Error::Code::kUnreadable,
          fmt::format("`{}` is not a page of `groma report`, so it is not replaced", visible(path)),
          "name another file"};
    }
  }
  auto error = replace_file(path, html);
  if (error) error->help = "name another file";
  return error;
}

// Links are refused before anything is read.
Result<SearchReport> read_search_report(const std::string& directory,
                                        const SearchReportOptions& options) {
  std::error_code ignored;
  if (!fs::exists(directory, ignored)) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("there is no directory `{}`", visible(directory)),
                 "name the directory of a search, as `groma tune --out` did"};
  }
  if (auto error = not_a_directory(directory)) return *std::move(error);
  if (auto error = error_if_search_has_links(directory)) return *std::move(error);
  const auto recorded = recorded_search(directory);
  if (!recorded) {
    Error error = recorded.error();
    if (error.help.empty())
      error.help = "name the directory of a search, as `groma tune --out` did";
    return error;
  }
  return ReportReader(directory, options).read();
}

}  // namespace groma::tuning
