// The parts of a search: what is searched for (SearchProblem), the texts that were tried (Step,
// History), and the two interfaces that take turns: a Proposer chooses the texts to try, an
// Evaluator measures them. groma/tune.h has the loop between both. docs/tune.md is the manual.
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
#include "groma/text_files.h"
#include "groma/workload.h"

namespace groma::tuning {

// ------------------------------------------------------------------------------------- evaluations

// The result of trying a text.
struct Evaluation {
  enum class Status : std::uint8_t {
    kOk,
    // check() or a correctness command refused the text before it was measured.
    kRefused,
    // A run of the text failed.
    kFailed,
    // A run of the text exceeded its deadline.
    kTimedOut,
  };
  Status status = Status::kRefused;
  // One value for each input, in the evaluator's unit. Empty unless the status is kOk.
  std::vector<double> values;
  // The score of the text; smaller is better. It is the geometric mean of the values, or of their
  // reciprocals if higher values are better. Infinite unless kOk.
  double score = std::numeric_limits<double>::infinity();
  // The relative uncertainty of the score, from repeated measurements. If the text was compared
  // with an incumbent, the uncertainty of that comparison. A smaller difference of scores is
  // ignored.
  double noise = 0;
  // Feedback about the input that failed, or else about the first input, in the requested detail.
  // With several inputs, `execution` names the input.
  GuideFeedback feedback;
  // How the text was measured. nullopt if it was not measured, or if the evaluator does not say.
  struct Measurement {
    // The name of the worker: its number, and how it is reached if it is another computer.
    std::string worker;
    // The geometric mean of the incumbent's values, measured beside the text; 0 if there was no
    // incumbent.
    double incumbent_value = 0;
    // How much slower the worker is than at its first measurement in this process: 1.04 is 4 %
    // slower, found by repeated runs of the incumbent.
    double drift = 1;
  };
  std::optional<Measurement> measured = {};

  bool ok() const { return status == Status::kOk; }
};

// A text to evaluate, and how to evaluate it.
struct EvaluationRequest {
  std::string text;
  // How detailed the feedback on the text must be.
  GuideDetail detail = GuideDetail::kNone;
  // The best text so far; empty if there is none. An evaluator that measures real runs alternates
  // between runs of both texts, so that noise of the machine does not decide.
  std::string incumbent = {};
  double incumbent_score = std::numeric_limits<double>::infinity();
  // True if more runs than at first are needed, because the text looked better or the result must
  // be certain.
  bool again = false;
  // A function that the evaluator calls from time to time. If it returns true, the caller no longer
  // needs the result.
  std::function<bool()> stop = {};
};

// Measures how good a text is. Texts are untrusted: the evaluator must bound their time and memory.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // Returns the name of each value, such as "solomonik:n=8000". At least one.
  virtual std::vector<std::string> inputs() const = 0;
  // Returns the unit of the values, such as "s".
  virtual std::string unit() const = 0;
  virtual bool higher_is_better() const { return false; }
  // Converts a score to a value in the unit.
  double value_of(double score) const { return higher_is_better() ? 1 / score : score; }
  // Returns how many evaluations may run at once without disturbing each other. evaluate() is then
  // called from that number of threads.
  virtual int parallel() const { return 1; }
  // Returns true if a text always gets the same score. Then no text is evaluated twice. If false, a
  // text that looks better than the best is evaluated once more before it is accepted. When the
  // search ends, runs of the best text alternate with runs of the start to compare both.
  virtual bool simulated() const { return false; }

  // Returns a normal form: texts with the same normal form mean the same. It is the cache key of
  // results.
  virtual std::string canonical(const std::string& text) const { return text; }
  // Returns the text after correcting each mistake that has only one possible correction.
  virtual std::string repaired(const std::string& text) const { return text; }
  // Returns why the text is not worth a run, found without a run. Returns nullopt if nothing is
  // known against it. May be called from any thread.
  virtual std::optional<Evaluation> check(const std::string& text, GuideDetail detail) const;
  // Returns true if a text should be evaluated before it is checked, because this is expected to
  // take less time. The text is then checked only if its run fails. An evaluator may return true
  // only if check() refuses no text that runs. May be called from any thread.
  virtual bool runs_before_check() const { return false; }
  // Returns true if it is known that a run of a text that passes check() may still fail. For
  // example, the order of the tasks may decide whether all data of a mapping has room. May be
  // called from any thread.
  virtual bool may_fail(const std::string& text) const;
  // Returns true if two texts that pass check() certainly do the same, found without a run. May be
  // called from any thread.
  virtual bool acts_alike(const std::string& a, const std::string& b) const {
    return canonical(a) == canonical(b);
  }
  // Measures the text. Called from as many threads as parallel() says.
  virtual Evaluation evaluate(const EvaluationRequest& request) = 0;
  // Returns why no text can be evaluated any more, for example because all workers are lost. The
  // last results of evaluate() are then ignored, and the search ends with this error. May be called
  // from any thread.
  virtual std::optional<Error> error() const { return std::nullopt; }
  // Returns what happened to the evaluator's workers since the last call: a sentence without a full
  // stop for each event. May be called from any thread.
  virtual std::vector<std::string> take_notes() { return {}; }
};

// --------------------------------------------------------------------------------------- proposals

// Limit on the bytes of SearchProblem::about that a prompt has.
inline constexpr std::size_t kMaxAboutBytes = 32'000;

// What a search is about: the text to begin with, and what the text is for.
struct SearchProblem {
  // The text to begin with. For a mapping, "" stands for the default mapper.
  std::string start;
  // For a mapping: the machine and the workloads. Null and empty for any other text.
  std::shared_ptr<const Machine> machine;
  std::vector<Workload> inputs;
  // A description for a language model of what the text is and must do. Empty for a mapping.
  std::string about;
  // The file of the text, for messages. Empty if there is none. A text may stand for several files
  // (text_files.h).
  std::string file = {};
  // For a mapping: mapping programs of other applications. Prompts for a language model show them
  // as examples of the language. Empty: prompts have no examples.
  std::vector<std::string> examples = {};
  // For any other text: facts about the machine, as a command printed them, and documents on
  // hardware and techniques. Prompts quote the passages of the documents that fit their question.
  std::string hardware = {};
  std::vector<NamedText> knowledge = {};

  bool is_mapping() const { return machine != nullptr; }
  // Returns true if the text is not a mapping and stands for several files.
  bool has_several_files() const { return !is_mapping() && stands_for_files(start); }
};

// A text that a proposer wants to try.
struct Proposal {
  std::string text;
  // One line for people that says what the proposal changes.
  std::string why;
  // A number for the proposer's own use.
  std::int64_t tag = 0;
  // The numbers of the steps from whose texts this text was made, the most important one first.
  // Empty if the text was not made from an earlier one, or if the proposer does not say. The search
  // ignores numbers that are not those of earlier steps, repeated numbers, and all numbers after
  // the first kMaxParents.
  std::vector<std::int64_t> parents = {};
  static constexpr std::size_t kMaxParents = 8;
};

// A step of a search: a proposal that was tried, with its evaluation.
struct Step {
  // The number of the step, from 1, in the order of the proposals.
  std::int64_t number = 0;
  // The proposal. Its text is the one that was evaluated, after repairs.
  Proposal proposal;
  Evaluation evaluation;

  // What is known of the best step before this one, even if the history does not keep that step.
  struct BestBefore {
    std::int64_t number = 0;
    double score = 0, noise = 0;
  };
  // The best step before this one; nullopt if no earlier step was valid. History::add() sets it.
  std::optional<BestBefore> best_before = {};
  // True if the step was better than every step before it. History::add() sets it.
  bool was_best = false;
};

// The steps of a search so far. For a long search, only the best and the last steps are kept.
class History {
 public:
  // The limit on the steps in each list of the history.
  static constexpr std::size_t kKept = 64;

  // Returns true if the evaluation is better than the best by more than its own noise. The noise of
  // the best is ignored, since the best is measured again together with each text.
  bool is_better(const Evaluation& evaluation) const;
  // Adds a step to the lists, and notes in it which step was the best before.
  void add(Step step);
  // Adds the step that tries the text with which the search begins.
  void add_start(Step step);

  // Returns the best step so far: the last one that is_better() accepted. Null if no step was
  // valid.
  const Step* best() const;
  // Returns the last step. Null if nothing was tried.
  const Step* last() const;
  // Returns the valid steps with the best scores and different texts, the best first.
  const std::vector<Step>& best_first() const { return best_; }
  // Returns the last steps, the oldest first.
  const std::vector<Step>& recent() const { return recent_; }
  // Returns the steps whose proposals were invalid, the oldest first. Of several with the same
  // message only the latest is kept.
  const std::vector<Step>& failures() const { return failures_; }
  // Returns Proposal::parents for a change of the text of this step. Null stands for the text with
  // which the search begins; the result is empty if no step has tried that text.
  std::vector<std::int64_t> parents_of(const Step* step) const;

 private:
  std::vector<Step> best_, recent_, failures_;
  // The number of the step that tried the text with which the search begins; 0 if there is none.
  std::int64_t start_number_ = 0;
};

// One round of a search: the services for a proposer while it makes its proposals.
class SearchRound {
 public:
  virtual ~SearchRound() = default;
  virtual const SearchProblem& problem() const = 0;
  virtual const History& history() const = 0;
  // Returns the number of proposals that can still be tried, at least 1. If the number is not
  // limited: kUnlimitedProposals.
  virtual std::size_t max_proposals() const = 0;
  static constexpr std::size_t kUnlimitedProposals = 1 << 20;
  // Returns the detail of the feedback that may be shown to a model.
  virtual GuideDetail detail() const = 0;
  // Returns the evaluator. Only its check functions may be called, not evaluate().
  virtual const Evaluator& evaluator() const = 0;

  // Asks the model, up to eight questions at once, and returns the answers in their order. The cost
  // is counted and written down before the answers are returned. Without a model: kUnsupported.
  virtual std::vector<Result<llm::ChatReply, llm::ChatError>> ask(
      std::span<const llm::ChatRequest> requests) = 0;
  // Returns the evaluations of a cheaper evaluator, if there is one (has_estimates()), in the order
  // of the texts. Evaluates fewer texts if the budget of estimates, or a third of the time that was
  // left when the round began, is used up.
  virtual bool has_estimates() const = 0;
  // Returns the number of estimates that are left in the budget; 0 without a cheaper evaluator. If
  // the number is not limited: kUnlimitedProposals.
  virtual std::int64_t estimates_left() const = 0;
  virtual std::vector<Evaluation> estimate(std::span<const std::string> texts,
                                           GuideDetail detail) = 0;
  // Notes that a reply of a model was unusable, and why. A round that neither proposes nor rejects
  // anything ends the search.
  virtual void reject(std::string why) = 0;
  // Notes that a reply of a model should have been a proposal but is unusable, and why. It works
  // like reject(). With TuneOptions::compare it also counts as a failed evaluation.
  virtual void reject_proposal(std::string why) { reject(std::move(why)); }
  // Says why the proposer ends the search. Takes effect if the round then has neither proposals nor
  // rejections.
  virtual void explain_end(const std::string& /*why*/) {}
  // Returns true if the proposer should propose what it has now. Returns false while a journal is
  // replayed.
  virtual bool stop() const = 0;
};

// Chooses the texts to try. Its proposals may depend only on its constructor arguments and on the
// answers of its SearchRound, not on a clock or a random device. The reason is that a search is
// resumed by replaying it with the recorded answers. One thread at a time.
class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual std::string_view name() const = 0;
  // Returns how much of the feedback the proposer reads.
  virtual GuideDetail reads() const { return GuideDetail::kNone; }
  // Returns at most round.most() proposals. They are tried in any order; learn() is called in their
  // order.
  virtual std::vector<Proposal> propose(SearchRound& round) = 0;
  // Tells the proposer the result of one of its proposals. The default does nothing.
  virtual void learn(const Step& step);
  // Returns what the proposer found out, one finding on a line, at most a megabyte. Returns an
  // empty text if the proposer keeps no findings.
  virtual std::string findings() const { return {}; }
};

// Options of the proposers that ask a model.
struct AskOptions {
  // Makes the server enforce the form of replies if it can: for a mapping the grammar, narrowed to
  // the existing names. If false, the form is only requested in the prompt.
  bool constrain = false;
  // The limit on the tokens of a reply.
  int max_tokens = 4096;
  // The limit on the bytes of a prompt. A prompt that would be longer leaves out parts and says so.
  // The default is about 12,000 tokens. It is at least kMinPromptBytes.
  std::size_t prompt_bytes = 48'000;
  static constexpr std::size_t kMinPromptBytes = 2'000;
  // The temperature. nullopt lets each proposer use its own.
  std::optional<double> temperature = {};
  // The number of replies to one prompt that `opro` asks for at once, at least 1.
  std::size_t samples = 8;
};

}  // namespace groma::tuning
