// The tuner: searches for a better text (a mapping program, or any other). tune() alternates
// between a proposer and an evaluator (groma/search.h) within budgets and writes everything down.
// docs/tune.md is the manual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "groma/guide.h"
#include "groma/llm.h"
#include "groma/result.h"
#include "groma/search.h"

namespace groma::tuning {

// -------------------------------------------------------------------------------------- the search

// The budgets of a search. 0 means no limit for that budget.
struct TuneBudget {
  std::int64_t evaluations = 10;
  // The limit on the estimates: the runs of the cheaper evaluator.
  std::int64_t estimates = 10'000;
  double seconds = 0;
  // The tokens of the model, input and output together.
  std::int64_t tokens = 0;
  double money = 0;
};

// What a search has spent so far.
struct TuneSpending {
  std::int64_t evaluations = 0, estimates = 0, model_calls = 0;
  // The repeated evaluations, which do not count as evaluations.
  std::int64_t again = 0;
  // The evaluations that gave no score: the text was refused, failed or ran too long.
  std::int64_t failed = 0;
  // The unusable replies of the model. They are counted only with TuneOptions::compare.
  std::int64_t unusable = 0;
  double seconds = 0;
  std::int64_t tokens = 0;
  double money = 0;
  // True if a part of the tokens and of the money is an estimate (llm::ChatSpending).
  bool estimated = false;
};

// An event of the search, for a display.
struct TuneEvent {
  enum class Kind : std::uint8_t {
    // The search is about to try `proposal`.
    kProposed,
    // The search has evaluated `step`.
    kEvaluated,
    // The search is asking the language model.
    kAsking,
    // A reply of the language model was unusable. `text` gives the reason.
    kRejected,
    // The search has read its journal again and continues from it.
    kResumed,
    // A batch of estimates is about to begin. spent.estimates includes the batch.
    kEstimating,
    // Something happened to a worker of the evaluator. `text` is the sentence.
    kWorker,
  } kind = Kind::kProposed;
  const Proposal* proposal = nullptr;
  const Step* step = nullptr;
  // True if `step` is the best so far.
  bool is_best = false;
  // True if the score is better than the best, but only within the noise of measurements, so that
  // the text was not accepted.
  bool within_noise = false;
  // True if the step's text had been tried before.
  bool from_cache = false;
  // True if the step joined the Pareto front (TuneOptions::pareto).
  bool in_front = false;
  // For kEstimating: the budget of estimates.
  std::int64_t most_estimates = 0;
  std::string text;
  TuneSpending spent;
  double best_score = std::numeric_limits<double>::infinity();
};

// Options of tune(), which runs a search.
struct TuneOptions {
  TuneBudget budget;
  std::uint64_t seed = 0;
  // The most detailed level of feedback that the proposer may see.
  GuideDetail feedback = GuideDetail::kProfile;
  // For comparisons of proposers. Every proposal counts as an evaluation, even if it is refused or
  // was tried before, and so does an unusable reply. No proposal is repaired.
  bool compare = false;
  // True if the search begins with an evaluation of the problem's start.
  bool evaluate_start = true;
  // True to keep the Pareto front of the search (groma/pareto_front.h). It is useful with several
  // inputs. The front only observes: the steps of the search are the same without it. It is not
  // recorded, because a resumed search rebuilds it from its steps.
  bool pareto = false;
  // The least gain for which the search recommends another text than its start: 0.02 keeps the
  // start unless the best takes 2 % less time. The smaller gain is in TuneOutcome::too_little.
  double least_gain = 0;
  // The folder for the journal, best.mapper (best.txt for any other text), report.txt and
  // steps.txt. With `pareto` also for front/N.mapper (front/N.txt), the text of each step N of the
  // front. If it is empty, nothing is written.
  std::string directory;
  // True to resume the search in `directory`. If false, the directory must not contain a search.
  bool resume = false;
  // Identifies the inputs from which the caller made the problem. A resumed search must have the
  // same fingerprint.
  std::string fingerprint;
  // Names and contents of inputs that other people may change, such as files. If the search is
  // resumed, the contents must be the same.
  std::vector<std::pair<std::string, std::string>> marks;
  // The number of threads. 0 stands for as many as the evaluator allows, at most those of the
  // computer.
  int threads = 0;
  // Called for each event, in the thread that called tune().
  std::function<void(const TuneEvent&)> on_event = {};
  // Called from time to time, from any thread. The search ends when it returns true.
  std::function<bool()> stop = {};
};

// The result of a search.
struct TuneOutcome {
  enum class End : std::uint8_t {
    // One of the budgets of the search is used up.
    kBudget,
    // The proposer has no more proposals.
    kExhausted,
    kStopped,
    // Too many consecutive replies of the language model were unusable.
    kRejected,
    // The language model cannot be asked, or it gave no reply for too many consecutive rounds.
    kModel,
  } end = End::kBudget;
  // The reason for kRejected and kModel. For kExhausted: how many proposals in a row were refused
  // or had been tried; empty if the proposer ended. For a budget of the model: what the next
  // question might have cost.
  std::string why;
  // For kBudget: the budget that is used up, as "evaluations", "time", "tokens" or "money".
  std::string budget;
  // True: the search was resumed after its budget had been spent, so nothing new was tried. `spent`
  // is then what the journal holds.
  bool spent_before = false;
  // The number of steps, including those that cost nothing.
  std::int64_t steps = 0;
  std::optional<Step> best;
  std::optional<Step> start;
  // With TuneOptions::pareto: the steps that no other step beats on all inputs, as
  // ParetoFront::steps() returns them. The best is among them if its values can be compared.
  std::vector<Step> front;
  // The evaluation of the best text at the end of the search, from runs that alternate with runs of
  // the start. Not set if runs are simulated, the best is the start, or the search was stopped.
  std::optional<Evaluation> beside_start;
  // The best step if its gain was less than TuneOptions::least_gain, with the score that decided
  // it. `best` is then the start.
  std::optional<Step> too_little;
  // Statements that the search had added to the best mapping and that were removed at the end,
  // because the mapping is not slower without them. Only if runs are simulated, and not with
  // TuneOptions::compare. The runs that tell this do not count as evaluations.
  std::vector<std::string> dropped;
  // For each improvement: the number of evaluations after which it was known, and the score.
  std::vector<std::pair<std::int64_t, double>> trajectory;
  // The workers that measured the texts, in the order of their first evaluation: how many texts
  // each of them measured, and how much slower it was (Evaluation::Measurement::drift) at last, at
  // its fastest and at its slowest. At most kMaxWorkers are listed.
  struct Worker {
    std::string name;
    std::int64_t evaluations = 0;
    double drift = 1, least_drift = 1, greatest_drift = 1;
  };
  std::vector<Worker> workers;
  static constexpr std::size_t kMaxWorkers = 256;
  TuneSpending spent;
};

// Returns a line of letters for a person, one for each score in order, at most `most`. If there are
// too many scores, a letter stands for the best of several later ones. An invalid score is a dot. A
// higher letter is worse, or, with `higher_is_better` (as in Evaluator), better.
std::string sparkline(std::span<const double> scores, std::size_t most = 60,
                      bool higher_is_better = false);
// Returns a score as a value with its unit for a person, with this number of digits: "217.1 ms" for
// seconds below 1, "48.3 GFLOP/s".
std::string value_words(const Evaluator& evaluator, double score, int digits = 4);
// Returns text for a person: start, best, how the search found it, and its cost. Ends with a line
// end.
std::string draw(const TuneOutcome& outcome, const Evaluator& evaluator);
// Returns the Pareto front as a table for a person, with a row for each step and a column for each
// input. The start and the best are marked; the start has a row even if it is not in the front.
// Returns an empty text if the outcome has no front.
std::string draw_front(const TuneOutcome& outcome, const Evaluator& evaluator);

// Returns one line of JSON with its line end, as docs/commands.md describes for `groma tune
// --json`.
std::string to_json(const TuneEvent& event);
std::string to_json(const TuneOutcome& outcome);

// The inputs with which the search in a directory was begun. recorded_search() fails if there is
// none.
struct RecordedSearch {
  // The fingerprint is that of TuneOptions, and the start is that of SearchProblem.
  std::string fingerprint, start;
};
Result<RecordedSearch> recorded_search(const std::string& directory);

// Returns true if the directory has a journal that ends within its first line, because the search
// was killed or the disk was full. A new search may begin there, since nothing is lost.
bool holds_no_search_yet(const std::string& directory);

// Runs the search. `model` and `estimator` may be null; all arguments must outlive the call. Fails
// if the directory is in use, cannot be written, holds another search or has a damaged journal, and
// with kStopped if its time was over before the journal was read.
Result<TuneOutcome> tune(const SearchProblem& problem, Evaluator& evaluator, Proposer& proposer,
                         llm::ChatClient* model, Evaluator* estimator, const TuneOptions& options);

}  // namespace groma::tuning
