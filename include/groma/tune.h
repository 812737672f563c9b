// The tuner: searches for a text (a mapping program, or any other) that is better. A Proposer says
// what to try next, an Evaluator how good that is, tune() goes round between them within budgets
// and writes everything down. docs/tune.md is the manual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/guide.h"
#include "groma/llm.h"
#include "groma/machine.h"
#include "groma/result.h"
#include "groma/workload.h"

namespace groma {

// ------------------------------------------------------------------------------------- evaluations

// What came of trying a text.
struct Evaluation {
  enum class Status : std::uint8_t {
    kOk,
    kRefused,   // before anything ran: by check, by a correctness command
    kFailed,    // by a run
    kTimedOut,  // by its deadline
  };
  Status status = Status::kRefused;
  std::vector<double> values;  // of each input, in the evaluator's unit; empty unless kOk
  // Smaller is better: the geometric mean of the values, of their reciprocals where higher values
  // are better; infinite unless kOk.
  double score = std::numeric_limits<double>::infinity();
  // Part of the score by which repeated measurements differ, beside an incumbent the comparisons
  // with it: less than this is no difference.
  double noise = 0;
  // Of the input that failed, else of the first; of several its `execution` names it. As much as
  // was asked for.
  Feedback feedback;

  bool ok() const { return status == Status::kOk; }
};

struct EvaluationRequest {
  std::string text;
  GuideDetail detail = GuideDetail::kNone;  // of the feedback
  // The best text so far, for those that measure: both in turn, so that a noisy machine does not
  // decide; empty: none.
  std::string incumbent = {};
  double incumbent_score = std::numeric_limits<double>::infinity();
  bool again = false;  // it looked better, or is to be sure of: with more runs than at first
  std::function<bool()> stop = {};  // asked now and then; true: the answer is of no interest
};

// Says how good a text is. Texts are untrusted: time and memory are the evaluator's to bound.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // What each value is of: "solomonik:n=8000". At least one.
  virtual std::vector<std::string> inputs() const = 0;
  virtual std::string unit() const = 0;
  virtual bool higher_is_better() const { return false; }
  // A score in the unit.
  double value_of(double score) const { return higher_is_better() ? 1 / score : score; }
  // How many may run at once without disturbing each other; evaluate() is then called from so many
  // threads.
  virtual int parallel() const { return 1; }
  // Whether one text always gets one score, so that none is measured twice and the runs themselves
  // cost nothing but time. Else what looks better than the best is evaluated once more before it is
  // taken, and the best beside the start when the search ends.
  virtual bool simulated() const { return false; }

  // The same for texts that mean the same: results are kept by it.
  virtual std::string canonical(const std::string& text) const { return text; }
  // The text with mistakes corrected that have one sure correction.
  virtual std::string repaired(const std::string& text) const { return text; }
  // Why the text is not worth a run, found without one; nothing where nothing is known against it.
  // From any thread.
  virtual std::optional<Evaluation> check(const std::string& text, GuideDetail detail) const;
  // Whether a run of a text that check() lets pass may fail all the same, as far as is known: of a
  // mapping, where the order in which tasks run decides whether all data has room. From any thread.
  virtual bool may_fail(const std::string& text) const;
  // Whether two texts that check() lets pass surely do the same, found without a run. From any
  // thread.
  virtual bool acts_alike(const std::string& a, const std::string& b) const {
    return canonical(a) == canonical(b);
  }
  virtual Evaluation evaluate(const EvaluationRequest& request) = 0;
};

// --------------------------------------------------------------------------------------- proposals

// What is searched for.
struct Problem {
  std::string start;  // a text to begin with; of a mapping "" is the default mapper
  // Of a mapping, where it is to run what; null and none of any other text.
  std::shared_ptr<const Machine> machine;
  std::vector<Workload> inputs;
  std::string about;      // of any other text: what it is and must do, in words for a model
  std::string file = {};  // where the text was read from, for messages; empty: from nowhere

  bool is_mapping() const { return machine != nullptr; }
};

struct Proposal {
  std::string text;
  std::string why;       // a line for people: what is tried
  std::int64_t tag = 0;  // the proposer's own
};

// A proposal that was tried.
struct Step {
  std::int64_t number = 0;  // from 1, in the order of the proposals
  Proposal proposal;        // its text as it was evaluated
  Evaluation evaluation;
};

// What was tried so far; of a long search the best and the last.
class History {
 public:
  static constexpr std::size_t kKept = 64;  // of each of the lists below

  // Whether it is better than the best by more than its noise. The best's own noise does not count:
  // it is measured anew beside each text.
  bool is_better(const Evaluation& evaluation) const;
  void add(Step step);

  const Step* best() const;  // that was better than the best before it; null: none was valid
  const Step* last() const;  // null: none was tried
  // The best first, then the others by their scores, of different texts, valid ones.
  const std::vector<Step>& best_first() const { return best_; }
  // The oldest first.
  const std::vector<Step>& recent() const { return recent_; }
  // Invalid proposals, the oldest first. Of those refused with the same message only the latest is
  // kept.
  const std::vector<Step>& failures() const { return failures_; }

 private:
  std::vector<Step> best_, recent_, failures_;
};

// What a proposer may use while it makes up its mind.
class Round {
 public:
  virtual ~Round() = default;
  virtual const Problem& problem() const = 0;
  virtual const History& history() const = 0;
  virtual std::size_t most() const = 0;            // proposals that can still be tried, at least 1
  virtual GuideDetail detail() const = 0;          // of the feedback that may be shown to a model
  virtual const Evaluator& evaluator() const = 0;  // to check, not to evaluate

  // Asks the model, up to eight at once, and answers in their order. What it costs is counted, and
  // written down before the answer is given. Without a model: kUnsupported.
  virtual std::vector<Result<ChatReply, ChatError>> ask(std::span<const ChatRequest> requests) = 0;
  // What a cheaper evaluator says, where there is one (has_estimates), in their order; at most what
  // is left of its budget, and of a third of the time that was left when the round began, so the
  // answer may be shorter.
  virtual bool has_estimates() const = 0;
  virtual std::vector<Evaluation> estimate(std::span<const std::string> texts,
                                           GuideDetail detail) = 0;
  // Notes that a model's reply was of no use, and why. A round that neither proposes nor rejects
  // anything ends the search.
  virtual void reject(std::string why) = 0;
  // Notes that a model's reply should have been a proposal and cannot be used, and why. Works like
  // reject(); with TuneOptions::compare it also counts as a failed evaluation.
  virtual void reject_proposal(std::string why) { reject(std::move(why)); }
  virtual bool stop() const = 0;  // to propose what there is; not while a journal is gone through
};

// Decides what is tried next. What it proposes may depend on what it was made of and on what its
// Round answers, on nothing else (no clock, no random device): a search is resumed by going through
// it again with the answers that are written down. One thread at a time.
class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual std::string_view name() const = 0;
  // How much of the feedback it reads.
  virtual GuideDetail reads() const { return GuideDetail::kNone; }
  // At most round.most() proposals, which are tried in any order and learnt of in this one.
  virtual std::vector<Proposal> propose(Round& round) = 0;
  virtual void learn(const Step& step);
  // What it has found out in words, a line each; empty: it keeps none. At most a megabyte.
  virtual std::string findings() const { return {}; }
};

struct ProposerInfo {
  std::string_view name;
  std::string_view what;  // a line for people
  bool asks_model = false;
  bool mappings_only = false;  // not any marked text
};
std::span<const ProposerInfo> proposers();
// Of those that ask a model.
struct AskOptions {
  // Has the server keep replies to their form where it can: a mapping to the grammar, narrowed to
  // the names that there are. Else the form is asked for.
  bool constrain = false;
  int max_tokens = 4096;                   // of a reply
  std::optional<double> temperature = {};  // else each proposer has its own
};
// Fails (kUnknown) for no such name, where it cannot search for such a text, and for inputs of
// different applications; those that ask a model as Segments::of_marked does.
Result<std::unique_ptr<Proposer>> make_proposer(std::string_view name, const Problem& problem,
                                                std::uint64_t seed, const AskOptions& options = {});

// -------------------------------------------------------------------------------------- the search

// 0: no bound, of each.
struct TuneBudget {
  std::int64_t evaluations = 10;
  std::int64_t estimates = 10'000;  // runs of the cheaper evaluator
  double seconds = 0;
  std::int64_t tokens = 0;  // of the model, input and output
  double money = 0;
};

// What the search has used.
struct TuneSpending {
  std::int64_t evaluations = 0, estimates = 0, model_calls = 0;
  std::int64_t again = 0;     // evaluations made once more, which do not count as such
  std::int64_t unusable = 0;  // with `compare`, evaluations that are replies of no use
  double seconds = 0;
  std::int64_t tokens = 0;
  double money = 0;
};

// Something that happened, for a display.
struct TuneEvent {
  enum class Kind : std::uint8_t {
    kProposed,    // `proposal` is about to be tried
    kEvaluated,   // `step` was
    kAsking,      // the model is being asked
    kRejected,    // `text` says why a reply was no use
    kResumed,     // what was written down has been gone through
    kEstimating,  // a batch of estimates is about to be made: with it there are spent.estimates
  } kind = Kind::kProposed;
  const Proposal* proposal = nullptr;
  const Step* step = nullptr;
  bool is_best = false;  // the step, of all so far
  // Better than the best, but by no more than measurements differ: so it is not taken.
  bool within_noise = false;
  bool from_cache = false;          // the step's text had been tried
  std::int64_t most_estimates = 0;  // of kEstimating: their budget
  std::string text;
  TuneSpending spent;
  double best_score = std::numeric_limits<double>::infinity();
};

struct TuneOptions {
  TuneBudget budget;
  std::uint64_t seed = 0;
  GuideDetail feedback = GuideDetail::kProfile;  // what the proposer may see of it
  // For comparisons of proposers: every proposal counts as an evaluation, also one that is refused
  // or was tried before, and a reply that is of no use as a proposal; none is repaired.
  bool compare = false;
  // Begin with an evaluation of the problem's start.
  bool evaluate_start = true;
  // Where the journal, best.mapper (of any other text best.txt), report.txt and steps.txt go;
  // empty: nowhere.
  std::string directory;
  bool resume = false;  // of that directory; else it must not hold a search
  // Of what the caller made the problem from; a resumed search has the same.
  std::string fingerprint;
  // What that named and others may change, by name: its content, which stays the same.
  std::vector<std::pair<std::string, std::string>> marks;
  int threads = 0;  // 0: as the evaluator allows, at most the computer's
  std::function<void(const TuneEvent&)> on_event = {};  // in the caller's thread
  std::function<bool()> stop = {};                      // asked now and then, from any thread
};

struct TuneOutcome {
  enum class End : std::uint8_t {
    kBudget,     // one of the budgets is used up
    kExhausted,  // the proposer has nothing more
    kStopped,
    kRejected,  // too many replies in a row were no use
    kModel,     // the model cannot be asked, or did not reply at all for too many rounds in a row
  } end = End::kBudget;
  // Of the last two; of kExhausted where the proposer has more of the same; of kBudget where it is
  // one of the model's, with what the next question might have cost.
  std::string why;
  std::string budget;      // of kBudget: "evaluations", "time", "tokens" or "money"
  std::int64_t steps = 0;  // what was tried, also what cost nothing
  std::optional<Step> best;
  std::optional<Step> start;
  // The best as it was measured beside the start when the search ended by itself: its score by the
  // start's says what it is worth. Not where runs are simulated or the best is the start.
  std::optional<Evaluation> beside_start;
  // Statements that the search had put into the best mapping and that were taken out of its text
  // again when it ended, since without them it is no slower; only where runs are simulated, and not
  // in a comparison. The runs that tell are not counted.
  std::vector<std::string> dropped;
  // Each improvement: the number of evaluations after which it was known, and the score.
  std::vector<std::pair<std::int64_t, double>> trajectory;
  TuneSpending spent;
};

// For a person, of scores in their order: a letter each, at most `most`, of later ones among too
// many the best; invalid ones are a dot. The higher letter is the worse, or with
// `higher_is_better`, as of an Evaluator, the better.
std::string sparkline(std::span<const double> scores, std::size_t most = 60,
                      bool higher_is_better = false);
// For a person, a score as a value with its unit, to so many digits: "217.1 ms" of seconds below 1,
// "48.3 GFLOP/s".
std::string value_words(const Evaluator& evaluator, double score, int digits = 4);
// For a person: start, best, how it came, what it cost. Ends with a line end.
std::string draw(const TuneOutcome& outcome, const Evaluator& evaluator);

// What docs/commands.md says of `groma tune --json`: one line with its end.
std::string to_json(const TuneEvent& event);
std::string to_json(const TuneOutcome& outcome);

// What the search in this directory was begun with. Fails where there is none.
struct RecordedSearch {
  std::string fingerprint, start;  // of TuneOptions and Problem
};
Result<RecordedSearch> recorded_search(const std::string& directory);

// Whether the directory has the journal of a search that was ended in its first line, by a kill or
// a full disk: one may begin there, since nothing is lost.
bool holds_no_search_yet(const std::string& directory);

// Runs the search. `model` and `estimator` may be null; what is passed must outlive the call. Fails
// if the directory is in use, cannot be written, holds another search or has a damaged journal.
Result<TuneOutcome> tune(const Problem& problem, Evaluator& evaluator, Proposer& proposer,
                         ChatClient* model, Evaluator* estimator, const TuneOptions& options);

}  // namespace groma
