// The report of a search: everything that its directory tells, as one value, which becomes an HTML
// page or JSON. The directory may come from a person who is not trusted (docs/tune.md): sizes are
// limited, no link is followed, and nothing that stands in it is run. A search that is running can
// be reported, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "groma/machine.h"
#include "groma/result.h"
#include "groma/search.h"
#include "groma/search_setup.h"
#include "groma/tune.h"
#include "groma/workload.h"

namespace groma::tuning {

// Options of read_search_report().
struct SearchReportOptions {
  // Limit on the steps that are shown with their texts. Shown are the start, the ancestors of the
  // best, the improvements and the last steps.
  std::size_t max_steps = 500;
  // Limit on the steps whose results are read at all.
  std::size_t max_results = 1'000'000;
  // Limits on the bytes of all texts of steps, and of all prompts and replies. Each text gets an
  // equal part, and at least 1 KiB. What a text has beyond its part is left out.
  std::size_t max_text_bytes = std::size_t{4} << 20, max_exchange_bytes = std::size_t{8} << 20;
  // Limit on the bytes of the journal that are read.
  std::int64_t max_journal_bytes = std::int64_t{1} << 30;
  // Called from time to time. Reading fails with kStopped when it returns true.
  std::function<bool()> stop = {};
};

// A question to the model, and its reply.
struct ReportedExchange {
  // The messages of the question.
  std::vector<std::string> prompt;
  // The reply, or, if `failed`, why there is none.
  std::string reply;
  bool failed = false;
  // The tokens that the question and its reply cost; `estimated`: not all of them were reported.
  std::int64_t tokens = 0;
  bool estimated = false;
};

// A step of the search that the report shows in full.
struct ReportedStep {
  // The step. Its text may be cut: `left_out_bytes` is what is missing.
  Step step;
  std::size_t left_out_bytes = 0;
  // The index of the step in SearchReport::results.
  std::size_t index = 0;
  // True if the step was better than all earlier ones by more than the noise.
  bool is_improvement = false;
  // True as in the journal: better than the best only within the noise; tried before; without cost
  // for the budget; measured twice.
  bool within_noise = false, repeated = false, free = false, again = false;
  // The seconds from the start of the search to the step; 0 if they are not known.
  double seconds = 0;
  // The questions that were asked after the previous step and before this one.
  std::vector<ReportedExchange> exchanges;
  // The text of the best step before this one, cut in the same way. nullopt if there was none.
  std::optional<std::string> best_before;
  std::int64_t best_before_number = 0;
};

// The result of one step, for the chart.
struct ReportedResult {
  std::int64_t number = 0;
  Evaluation::Status status = Evaluation::Status::kRefused;
  // The value in the unit of the search. Only if the status is kOk.
  double value = 0;
  bool is_improvement = false;
  // True if the search had tried the text before.
  bool repeated = false;
  // The indices in SearchReport::results of the parents of the step (Proposal::parents), the most
  // important one first. Parents that the report does not have are left out.
  std::vector<std::uint32_t> parents;
};

// What was found out about the best mapping for the report, beside what the search recorded.
struct BestExplained {
  // The decisions of statements about one task, in words.
  struct Task {
    std::string task;
    // A decision, and the line of the statement that made it.
    std::vector<std::pair<std::string, std::int64_t>> decisions;
  };
  std::vector<Task> tasks;
  // How many tasks are not listed.
  std::size_t left_out_tasks = 0;
  // The text that `groma explain` prints.
  std::string all_decisions;
  // The text that `groma diff` prints for the start and the best. Empty if nothing differs.
  std::string difference;
  // The feedback of a simulated run of the best mapping. nullopt if there was no run.
  std::optional<GuideFeedback> feedback;
};

// The report of a search.
struct SearchReport {
  enum class State : std::uint8_t {
    // The search has ended by itself or by Ctrl-C, and has written its reports.
    kEnded,
    // A process has the lock of the directory.
    kRunning,
    // The search has written steps after its last report. It was killed.
    kInterrupted,
  };
  std::string directory;
  State state = State::kInterrupted;
  // The options of `groma tune`. nullopt if another program began the search.
  std::optional<SearchSetup> setup;
  // The names of the inputs of the search and hashes of their contents (unchanged_input()).
  std::vector<std::pair<std::string, std::string>> marks;
  std::string proposer, unit = "s";
  bool higher_is_better = false;
  std::vector<std::string> inputs;
  // The text with which the search began, and the best text: that of best.mapper or best.txt, or of
  // the best step. nullopt if no step was valid.
  std::string start_text;
  std::optional<std::string> best_text;
  // True if the best text is not that of the best step, because the search simplified it at its
  // end.
  bool best_is_simplified = false;
  // True if the search kept its start, because the best step gained too little
  // (TuneOptions::least_gain). The best text is then the start.
  bool kept_start = false;

  // The results of all steps in their order, up to a limit, and what they are about in one line for
  // at most kMaxChartPoints of them (a cut `why`; empty for the others).
  std::vector<ReportedResult> results;
  std::vector<std::string> changes;
  // The steps that are shown in full, in their order.
  std::vector<ReportedStep> steps;
  // The questions after the last step.
  std::vector<ReportedExchange> last_exchanges;
  // The index of the start and of the best in `results`.
  std::optional<std::size_t> start, best;
  // How many steps name parents. 0 if the proposer does not record them, or if the search is older
  // than this record.
  std::size_t steps_with_parents = 0;
  // The line of the best: the indices in `results` of the oldest ancestor, of its child, and so on
  // to the best, each the first parent of the next one. Empty unless there is a best and some step
  // names parents.
  std::vector<std::size_t> line_of_best;
  // The measurement of the best beside the start at the end of the search.
  std::optional<Evaluation> beside_start;
  // What the steps and replies in the journal cost.
  TuneSpending spent;
  // The summary that the search printed when it last ended; empty if it has not ended yet.
  std::string closing_words;
  // What could not be read and what was left out, in sentences.
  std::vector<std::string> notes;

  // Filled in by explain_best().
  std::optional<BestExplained> explained;
  // Why the best mapping is not explained, in a sentence.
  std::string why_not_explained;

  bool is_mapping() const { return !setup || setup->files.empty(); }
  // Returns true if the results are simulated times.
  bool simulated() const { return setup && setup->command.command.empty() && !setup->on_legion; }
  // Returns how many times as good the best is as the start. nullopt if one of them is not valid.
  std::optional<double> gain() const;
};

// Limit on the points of the chart for which `changes` has a text.
inline constexpr std::size_t kMaxChartPoints = 1500;
// Limit on the steps of the family tree in the page, and on those of `line_of_best` in the JSON.
inline constexpr std::size_t kMaxTreeSteps = 1000;

// Reads the directory of a search. A damaged journal is read as far as possible, and `notes` says
// what is missing. Fails if the directory does not exist, has no search (kUnreadable), or if one of
// its files is a link.
Result<SearchReport> read_search_report(const std::string& directory,
                                        const SearchReportOptions& options = {});

// Returns true if an input of the search (TuneOptions::marks) has the content that it had when the
// search began.
bool unchanged_input(const SearchReport& report, const std::string& name, std::string_view content);

// Explains the decisions of the best mapping about the first input, compares it with the start, and
// simulates one run of it for its feedback if the search simulated its runs. `stop` as for
// SimulateOptions. Sets `explained` or `why_not_explained`.
void explain_best(const Machine& machine, const Workload& workload,
                  const std::function<bool()>& stop, SearchReport* report);

// Returns the report as one HTML page that needs no other file.
std::string to_html(const SearchReport& report);
// Returns true if the text begins as a page of to_html() does.
bool is_search_page(std::string_view text);

// The name of the page in the directory of its search.
inline constexpr std::string_view kSearchPageFile = "report.html";
// Writes the page into the directory of its search, completely or not at all, and never through a
// link. An older page is replaced. Fails (kUnreadable) if another file has the name. The caller
// adds to the error's help how to name another file.
[[nodiscard]] std::optional<Error> write_search_page(const std::string& directory,
                                                     std::string_view html);
// Returns the summary of the report as JSON with a line end (docs/commands.md). `page` is the path
// of the page.
std::string to_json(const SearchReport& report, const std::string& page);

}  // namespace groma::tuning
