// The parts of a search: what is searched for (Problem), the texts that were tried (Step, History),
// and the two interfaces that take turns: a Proposer chooses the texts to try, an Evaluator
// measures them. groma/tune.h has the loop between both. docs/tune.md is the manual.
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

// The result of trying a text.
struct Evaluation {
  enum class Status : std::uint8_t {
    kOk,
    kRefused,   // before anything ran: by check() or by a correctness command
    kFailed,    // by a run
    kTimedOut,  // by its deadline
  };
  Status status = Status::kRefused;
  std::vector<double> values;  // one for each input, in the evaluator's unit; empty unless kOk
  // Smaller is better. The geometric mean of the values, or of their reciprocals if higher values
  // are better. Infinite unless kOk.
  double score = std::numeric_limits<double>::infinity();
  // The relative uncertainty of the score from repeated measurements; with an incumbent, of the
  // comparisons with it. A smaller difference does not count.
  double noise = 0;
  // Feedback on the input that failed, otherwise on the first input, in the requested detail. With
  // several inputs, `execution` names the input.
  Feedback feedback;

  bool ok() const { return status == Status::kOk; }
};

// A text to evaluate, and how.
struct EvaluationRequest {
  std::string text;
  GuideDetail detail = GuideDetail::kNone;  // detail of the feedback
  // The best text so far. An evaluator that measures runs both in turn, so that noise of the
  // machine does not decide; empty: none.
  std::string incumbent = {};
  double incumbent_score = std::numeric_limits<double>::infinity();
  // Measure with more runs than at first, because the text looked better or the result must be
  // certain.
  bool again = false;
  std::function<bool()> stop = {};  // asked from time to time; true: the answer is no longer needed
};

// Measures how good a text is. Texts are untrusted: the evaluator must bound their time and memory.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // Returns the name of each value, such as "solomonik:n=8000". At least one.
  virtual std::vector<std::string> inputs() const = 0;
  virtual std::string unit() const = 0;
  virtual bool higher_is_better() const { return false; }
  // Converts a score to a value in the unit.
  double value_of(double score) const { return higher_is_better() ? 1 / score : score; }
  // Returns how many evaluations may run at once without disturbing each other. evaluate() is then
  // called from that number of threads.
  virtual int parallel() const { return 1; }
  // Returns true if a text always gets the same score. Then no text is measured twice, and a run
  // costs only time. If false, a text that looks better than the best is evaluated once more before
  // it is accepted, and the best is measured beside the start when the search ends.
  virtual bool simulated() const { return false; }

  // Returns a text that is equal for texts with the same meaning. It is the cache key of results.
  virtual std::string canonical(const std::string& text) const { return text; }
  // Returns the text with those mistakes corrected that have one sure correction.
  virtual std::string repaired(const std::string& text) const { return text; }
  // Returns why the text is not worth a run, found without a run. Returns nullopt if nothing is
  // known against it. May be called from any thread.
  virtual std::optional<Evaluation> check(const std::string& text, GuideDetail detail) const;
  // Returns true if a run of a text that passes check() may still fail, as far as is known. For a
  // mapping: if the order of the tasks decides whether all data has room. May be called from any
  // thread.
  virtual bool may_fail(const std::string& text) const;
  // Returns true if two texts that pass check() certainly do the same, found without a run. May be
  // called from any thread.
  virtual bool acts_alike(const std::string& a, const std::string& b) const {
    return canonical(a) == canonical(b);
  }
  virtual Evaluation evaluate(const EvaluationRequest& request) = 0;
};

// --------------------------------------------------------------------------------------- proposals

// The task of a search.
struct Problem {
  std::string start;  // the text to begin with; for a mapping "" is the default mapper
  // For a mapping: the machine and the workloads. Null and empty for any other text.
  std::shared_ptr<const Machine> machine;
  std::vector<Workload> inputs;
  std::string about;      // for any other text: what it is and must do, in words for a model
  std::string file = {};  // file of the text, for messages; empty: none

  bool is_mapping() const { return machine != nullptr; }
};

// A text that a proposer wants to try.
struct Proposal {
  std::string text;
  std::string why;       // what is tried; a line for people
  std::int64_t tag = 0;  // for the proposer's own use
};

// A proposal that was tried.
struct Step {
  std::int64_t number = 0;  // counted from 1, in the order of the proposals
  Proposal proposal;        // with the text as it was evaluated
  Evaluation evaluation;
};

// The steps so far. For a long search only the best and the last are kept.
class History {
 public:
  static constexpr std::size_t kKept = 64;  // in each of the lists below

  // Returns true if the evaluation is better than the best by more than its noise. The noise of the
  // best does not count, since the best is measured again beside each text.
  bool is_better(const Evaluation& evaluation) const;
  void add(Step step);

  // Returns the last step that was better than the best before it; null: none was valid.
  const Step* best() const;
  const Step* last() const;  // null: nothing was tried
  // The valid steps with the best scores and different texts, the best first.
  const std::vector<Step>& best_first() const { return best_; }
  // The oldest first.
  const std::vector<Step>& recent() const { return recent_; }
  // Invalid proposals, the oldest first. Of several with the same message only the latest is kept.
  const std::vector<Step>& failures() const { return failures_; }

 private:
  std::vector<Step> best_, recent_, failures_;
};

// The services for a proposer while it makes its proposals.
class Round {
 public:
  virtual ~Round() = default;
  virtual const Problem& problem() const = 0;
  virtual const History& history() const = 0;
  virtual std::size_t most() const = 0;  // number of proposals that can still be tried, at least 1
  virtual GuideDetail detail() const = 0;  // detail of the feedback that may be shown to a model
  // only its check functions may be called, not evaluate()
  virtual const Evaluator& evaluator() const = 0;

  // Asks the model, up to eight questions at once, and returns the answers in their order. The cost
  // is counted and written down before the answers are returned. Without a model: kUnsupported.
  virtual std::vector<Result<ChatReply, ChatError>> ask(std::span<const ChatRequest> requests) = 0;
  // Returns the evaluations of a cheaper evaluator, if there is one (has_estimates), in the order
  // of the texts. The result may be shorter. It is limited by the rest of the evaluator's budget,
  // and by a third of the time that was left when the round began.
  virtual bool has_estimates() const = 0;
  virtual std::vector<Evaluation> estimate(std::span<const std::string> texts,
                                           GuideDetail detail) = 0;
  // Notes that a reply of a model was unusable, and why. A round that neither proposes nor rejects
  // anything ends the search.
  virtual void reject(std::string why) = 0;
  // Notes that a reply of a model should have been a proposal but is unusable, and why. It works
  // like reject(). With TuneOptions::compare it also counts as a failed evaluation.
  virtual void reject_proposal(std::string why) { reject(std::move(why)); }
  // Returns true if the proposer should propose what it has now. Returns false while a journal is
  // replayed.
  virtual bool stop() const = 0;
};

// Chooses the texts to try. Its proposals may depend only on its constructor arguments and on the
// answers of its Round, not on a clock or a random device. The reason is that a search is resumed
// by replaying it with the recorded answers. One thread at a time.
class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual std::string_view name() const = 0;
  // Returns how much of the feedback it reads.
  virtual GuideDetail reads() const { return GuideDetail::kNone; }
  // Returns at most round.most() proposals. They are tried in any order; learn() is called in their
  // order.
  virtual std::vector<Proposal> propose(Round& round) = 0;
  virtual void learn(const Step& step);
  // Returns the proposer's findings in words, one on a line. Returns "" if it keeps none. At most a
  // megabyte.
  virtual std::string findings() const { return {}; }
};

// Options of the proposers that ask a model.
struct AskOptions {
  // Makes the server enforce the form of replies if it can: for a mapping the grammar, narrowed to
  // the existing names. If false, the form is only requested in the prompt.
  bool constrain = false;
  int max_tokens = 4096;                   // limit on the tokens of a reply
  std::optional<double> temperature = {};  // nullopt: each proposer has its own
};

}  // namespace groma
