// tune(): the loop between proposer and evaluator, with its budget, its journal and its reports.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <unordered_map>

#include "base/names.h"
#include "edit/mapping.h"
#include "groma/tune.h"
#include "groma/version.h"
#include "guide/detail.h"
#include "search/recent.h"
#include "tune/channel.h"
#include "tune/estimates.h"
#include "tune/parallel.h"
#include "tune/progress.h"
#include "tune/record.h"
#include "tune/report.h"

namespace groma::tuning {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostRejected = 5;    // limit on consecutive rounds without a proposal
constexpr int kMostRepeated = 200;  // limit on consecutive proposals that cost nothing
constexpr auto kLongestTidying = std::chrono::seconds(10);
constexpr std::size_t kUnbounded = 1 << 20;  // proposals in a round without a limit
// Level of detail for the reports, even if the proposer reads less. More detail about simulated
// runs would cost more time.
constexpr GuideDetail kOfSimulated = GuideDetail::kExecution, kOfMeasured = GuideDetail::kExplain;

// The results of the most recent texts that were tried.
class Tried {
 public:
  struct Known {  // an Evaluation without its feedback, to save memory
    std::int64_t number = 0;
    Evaluation::Status status = Evaluation::Status::kRefused;
    std::vector<double> values;
    double score = 0, noise = 0;

    Evaluation evaluation() const {
      Evaluation made;
      made.status = status;
      made.values = values;
      made.score = score;
      made.noise = noise;
      return made;
    }
  };

  const Known* find(const std::string& canonical) const { return known_.find(key_of(canonical)); }
  void add(const std::string& canonical, const Step& step) {
    const Evaluation& evaluation = step.evaluation;
    known_.add(key_of(canonical), {step.number, evaluation.status, evaluation.values,
                                   evaluation.score, evaluation.noise});
  }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const { return key.first; }
  };
  // Returns a hash of 128 bits, so that different texts do not share a result.
  static Key key_of(const std::string& text) {
    std::uint64_t a = text.size(), b = ~a;
    for (std::size_t at = 0; at < text.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + at, std::min<std::size_t>(8, text.size() - at));
      a = mix(a ^ word);
      b = mix(b + word * 0x9E3779B97F4A7C15U);
    }
    return {a, b};
  }

  RecentMap<Known, Key, Hash> known_;
};

class Search : public Round {
 public:
  Search(const Problem& problem, Evaluator& evaluator, Proposer& proposer, llm::ChatClient* model,
         Evaluator* estimator, const TuneOptions& options)
      : problem_(problem),
        evaluator_(evaluator),
        proposer_(proposer),
        options_(options),
        progress_(options, record_),
        channel_(model, options.budget, record_, progress_),
        estimates_(estimator, options, record_, progress_) {
    progress_.when_resumed = [this] {
      channel_.add_spent_before();
      if (outcome_.best) keep_best();
      progress_.report_event(TuneEvent::Kind::kResumed, [](TuneEvent*) {});
    };
  }

  Result<TuneOutcome> run();

  // ---- Round
  const Problem& problem() const override { return problem_; }
  const History& history() const override { return history_; }
  std::size_t most() const override { return most_; }
  GuideDetail detail() const override { return options_.feedback; }
  const Evaluator& evaluator() const override { return evaluator_; }
  std::vector<Result<llm::ChatReply, llm::ChatError>> ask(
      std::span<const llm::ChatRequest> requests) override {
    return channel_.ask(requests);
  }
  bool has_estimates() const override { return estimates_.available(); }
  std::vector<Evaluation> estimate(std::span<const std::string> texts,
                                   GuideDetail detail) override {
    return estimates_.evaluations_of(texts, detail);
  }
  void reject(std::string why) override {
    rejected_ = why;
    progress_.report_event(TuneEvent::Kind::kRejected,
                           [&](TuneEvent* event) { event->text = std::move(why); });
  }
  void reject_proposal(std::string why) override {
    ++unusable_;
    reject(std::move(why));
  }
  bool stop() const override { return progress_.stop(); }

 private:
  // Returns everything that must be the same when the search is resumed.
  Json identity() const;
  // Returns true if the search continues. Otherwise sets how it ended.
  bool goes_on();
  bool end(TuneOutcome::End end, std::string why = "") {
    outcome_.end = end;
    outcome_.why = std::move(why);
    return false;
  }
  bool end_of_budget(const char* which, std::string why = "") {
    outcome_.budget = which;
    return end(TuneOutcome::End::kBudget, std::move(why));
  }
  // Sets how many proposals may be tried in this round; a replayed round has the recorded number.
  void begin_round();
  // Returns true if the search continues after a round without a proposal. Otherwise sets how it
  // ended. `counted` is the result of count_unusable().
  bool goes_on_without_proposal(bool counted);
  void forget_rejections() {
    rejections_ = 0;
    channel_.forget_replies();
  }
  // With TuneOptions::compare, counts the unusable replies of this round as evaluations, as far as
  // the budget allows. Returns true if it counted any.
  bool count_unusable(std::size_t proposals);
  void try_all(std::vector<Proposal> proposals);
  // A proposal and its result.
  struct Trial {
    Proposal proposal;
    std::string canonical;
    std::optional<Evaluation> evaluation;
    bool repeated = false, free = false, recorded = false, again = false;
  };
  std::optional<Trial> replayed(const Proposal& proposal);
  // Returns the trial with its earlier result, if the text was tried before.
  Trial looked_up(Proposal proposal) const;
  // Checks the text, and evaluates it unless the check refuses it. Any thread may call this.
  void evaluate(Trial& trial) const;
  std::optional<Evaluation> evaluated(EvaluationRequest request) const;
  // If a text looks better than the best, evaluates it again. Among many texts, some look better by
  // chance.
  void make_sure(Trial& trial) const;
  void take(Trial trial);
  void compare_with_start();
  void keep_best();
  // Removes statements that do not help from the best mapping. The journal does not record this.
  void tidy();
  // Writes report and findings. Returns the error of a file that cannot be written.
  std::optional<Error> report();

  GuideDetail wanted() const { return std::min(proposer_.reads(), options_.feedback); }

  const Problem& problem_;
  Evaluator& evaluator_;
  Proposer& proposer_;
  const TuneOptions& options_;
  Record record_;
  Progress progress_;
  Channel channel_;
  Estimates estimates_;

  History history_;
  Tried tried_;
  TuneOutcome outcome_;  // its `spent` is set at the end, from progress_.spent
  std::size_t most_ = 1;
  std::int64_t steps_ = 0;
  // How many rounds without a proposal, and how many proposals that cost nothing, came in a row.
  int rejections_ = 0, repeated_ = 0;
  std::optional<std::string> rejected_;  // last rejection of this round
  std::size_t unusable_ = 0;             // unusable replies of this round
};

// -------------------------------------------------------------------------------------- proposals

// Returns the recorded trial of a proposal; nullopt at the end of the journal.
std::optional<Search::Trial> Search::replayed(const Proposal& proposal) {
  if (!record_.replaying()) return std::nullopt;
  auto recorded = record_.step(steps_ + 1, proposal.text);
  if (!recorded) return std::nullopt;
  progress_.add_replayed(recorded->seconds);
  return Trial{proposal,
               evaluator_.canonical(proposal.text),
               std::move(recorded->step.evaluation),
               recorded->repeated,
               recorded->free,
               true,
               recorded->again};
}

// A repeated text costs no evaluation, except with TuneOptions::compare.
Search::Trial Search::looked_up(Proposal proposal) const {
  Trial trial{std::move(proposal), {}, {}};
  trial.canonical = evaluator_.canonical(trial.proposal.text);
  if (const Tried::Known* known = tried_.find(trial.canonical)) {
    trial.evaluation = known->evaluation();
    trial.evaluation->feedback.explain = {
        fmt::format("This was tried before, as number {}.", known->number)};
    trial.repeated = true;
    trial.free = !options_.compare;
  }
  return trial;
}

// A text that the check refuses costs no evaluation, except with TuneOptions::compare.
void Search::evaluate(Trial& trial) const {
  trial.evaluation = evaluator_.check(trial.proposal.text, std::max(wanted(), kOfSimulated));
  if (trial.evaluation) {
    trial.free = !options_.compare;
    return;
  }
  EvaluationRequest request{
      trial.proposal.text, std::max(wanted(), evaluator_.simulated() ? kOfSimulated : kOfMeasured)};
  if (outcome_.best) {
    request.incumbent = outcome_.best->proposal.text;
    request.incumbent_score = outcome_.best->evaluation.score;
  }
  trial.evaluation = evaluated(std::move(request));
}

// Evaluates a text. Returns nullopt if the search was stopped, because the evaluation may be
// incomplete.
std::optional<Evaluation> Search::evaluated(EvaluationRequest request) const {
  request.stop = [this] { return stop(); };
  Evaluation evaluation = evaluator_.evaluate(request);
  if (!is_sound(evaluation)) {
    Evaluation none;
    none.status = Evaluation::Status::kFailed;
    none.feedback.execution = fmt::format(
        "The evaluator gave the score {}, not a finite number above 0.", evaluation.score);
    evaluation = std::move(none);
  }
  if (stop()) return std::nullopt;
  return evaluation;
}

// Only measured texts that were not tried before are evaluated again.
void Search::make_sure(Trial& trial) const {
  if (evaluator_.simulated() || trial.repeated || trial.free || !outcome_.best) return;
  if (!history_.is_better(*trial.evaluation)) return;
  trial.again = true;
  trial.evaluation =
      evaluated({trial.proposal.text, std::max(wanted(), kOfMeasured), outcome_.best->proposal.text,
                 outcome_.best->evaluation.score, true});
}

// Resets the state of a round.
void Search::begin_round() {
  rejected_.reset();
  unusable_ = 0;
  channel_.begin_round();
  estimates_.begin_round();
  if (record_.replaying()) {
    most_ = record_.round(kUnbounded);
    return;
  }
  const std::int64_t left = options_.budget.evaluations - progress_.spent.evaluations;
  most_ = options_.budget.evaluations == 0
              ? kUnbounded
              : std::clamp<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(left, 1)),
                                        1, kUnbounded);
  record_.write_round(most_);
}

// Counts at most as many replies as the round may still try.
bool Search::count_unusable(std::size_t proposals) {
  if (!options_.compare || record_.failed() || channel_.is_broken_off()) return false;
  const std::size_t room = most_ - std::min(most_, proposals);
  const auto count = static_cast<std::int64_t>(std::min(unusable_, room));
  progress_.spent.evaluations += count;
  progress_.spent.unusable += count;
  return count > 0;
}

// Evaluates proposals in parallel, and takes their results in the order of the proposals.
void Search::try_all(std::vector<Proposal> proposals) {
  proposals.resize(std::min(proposals.size(), most()));
  std::vector<Trial> trials;
  std::vector<std::size_t> open;  // indices of trials to evaluate
  std::unordered_map<std::string, std::size_t> batch;
  for (Proposal& proposal : proposals) {
    if (!options_.compare) proposal.text = evaluator_.repaired(proposal.text);
    if (auto trial = replayed(proposal)) {
      take(*std::move(trial));
      continue;
    }
    if (record_.failed()) return;
    progress_.begin_work();
    trials.push_back(looked_up(std::move(proposal)));
    Trial& last = trials.back();
    const bool is_first = batch.emplace(last.canonical, trials.size() - 1).second;
    if (!last.evaluation && is_first) open.push_back(trials.size() - 1);
    progress_.report_event(TuneEvent::Kind::kProposed,
                           [&](TuneEvent* event) { event->proposal = &last.proposal; });
  }
  const int threads = threads_of(evaluator_, options_);
  std::size_t taken = 0;
  for (std::size_t first = 0; taken < trials.size();) {
    const std::size_t count = std::min(open.size() - first, static_cast<std::size_t>(threads));
    in_parallel(count, threads, [&](std::size_t i) { evaluate(trials[open[first + i]]); });
    first += count;
    for (; taken < trials.size(); ++taken) {
      Trial& trial = trials[taken];
      if (!trial.evaluation) {  // the text equals another one of this batch
        if (batch.at(trial.canonical) == taken) break;
        trial = looked_up(std::move(trial.proposal));
      }
      make_sure(trial);
      if (!trial.evaluation) break;
      take(std::move(trial));
      if (record_.failed()) return;
    }
    if (stop()) return;
  }
}

// Records a result in the journal and the history, and tells the proposer.
void Search::take(Trial trial) {
  Step step{++steps_, std::move(trial.proposal), *std::move(trial.evaluation)};
  const bool is_start = step.number == 1 && options_.evaluate_start;
  if (is_start) outcome_.start = step;
  // If the start fails, its text or the evaluator may be at fault. The step is not recorded, so
  // that a resumed search tries it again.
  if (is_start && !step.evaluation.ok() && !problem_.is_mapping()) return;
  keep_what_is_recorded(&step.evaluation);
  const Evaluation& evaluation = step.evaluation;
  const bool is_best = history_.is_better(evaluation);
  const bool within_noise =
      !is_best && evaluation.ok() && evaluation.score < history_.best()->evaluation.score;
  if (!trial.recorded) {
    const RecordedStep recorded{step,       within_noise, trial.repeated,
                                trial.free, trial.again,  progress_.seconds()};
    record_.write_step(recorded, !evaluator_.simulated());
    if (record_.failed()) return;
  }
  if (!trial.repeated) tried_.add(trial.canonical, step);
  repeated_ = trial.free ? repeated_ + 1 : 0;
  if (!trial.free) ++progress_.spent.evaluations;
  if (trial.again) ++progress_.spent.again;
  if (is_best) {
    outcome_.best = step;
    progress_.best_score = evaluation.score;
    outcome_.trajectory.emplace_back(progress_.spent.evaluations, evaluation.score);
    if (!trial.recorded) keep_best();
  }
  Step seen = step;
  if (!trial.repeated) cut_to(wanted(), &seen.evaluation.feedback);
  history_.add(seen);
  proposer_.learn(seen);
  if (trial.recorded) return;
  progress_.worked = true;
  progress_.report_event(TuneEvent::Kind::kEvaluated, [&](TuneEvent* event) {
    event->step = &step;
    event->is_best = is_best;
    event->within_noise = within_noise;
    event->from_cache = trial.repeated;
  });
}

void Search::keep_best() {
  const std::string& text = outcome_.best->proposal.text;
  const bool is_default = problem_.is_mapping() && text.empty();
  record_.replace(problem_.is_mapping() ? "best.mapper" : "best.txt",
                  is_default ? "# No statement: the default mapper decides.\n" : text);
}

// Compares the best with the start once, also if the search is resumed later.
void Search::compare_with_start() {
  const std::optional<Step>&best = outcome_.best, &start = outcome_.start;
  if (evaluator_.simulated() || !best || !start || best->number == start->number) return;
  if (!start->evaluation.ok() || record_.failed() || record_.replaying()) return;
  outcome_.beside_start = record_.beside_start(best->number);
  const bool over = outcome_.end == TuneOutcome::End::kStopped || progress_.out_of_time() || stop();
  if (outcome_.beside_start || over) return;
  auto evaluation = evaluated(
      {best->proposal.text, kOfMeasured, start->proposal.text, start->evaluation.score, true});
  if (!evaluation) return;
  keep_what_is_recorded(&*evaluation);
  outcome_.beside_start = *evaluation;
  record_.write_beside_start(best->number, *evaluation);
}

// Tries the last statements first, because statements use what stands before them.
void Search::tidy() {
  using End = TuneOutcome::End;
  const bool regular = outcome_.end == End::kBudget || outcome_.end == End::kExhausted;
  const bool free = problem_.is_mapping() && evaluator_.simulated() && !options_.compare;
  if (!regular || !free || !outcome_.best || record_.failed() || record_.replaying()) return;
  std::set<std::string, std::less<>> given;
  const edit::Mapping start(problem_.start);
  for (const edit::Mapping::ProgramItem& item : start.items()) given.emplace(start.text(item));
  const auto end = Clock::now() + kLongestTidying;
  std::string& text = outcome_.best->proposal.text;
  Evaluation& best = outcome_.best->evaluation;
  const bool risky = evaluator_.may_fail(text);
  for (std::size_t number = edit::Mapping(text).items().size(); number-- > 0;) {
    if (progress_.interrupted() || Clock::now() > end) break;
    const edit::Mapping mapping(text);
    const edit::Mapping::ProgramItem& item = mapping.items()[number];
    std::string statement(mapping.text(item));
    if (!item.is_separate || given.contains(statement)) continue;
    EvaluationRequest request{mapping.without(number)};
    if (evaluator_.check(request.text, GuideDetail::kNone)) continue;
    if (!risky && evaluator_.may_fail(request.text)) continue;
    request.stop = [this] { return progress_.interrupted(); };
    const Evaluation without = evaluator_.evaluate(request);
    if (!is_sound(without) || !without.ok() || without.score > best.score) continue;
    if (without.score < best.score) {
      best.score = without.score;
      best.values = without.values;
      outcome_.trajectory.emplace_back(progress_.spent.evaluations, best.score);
    }
    text = std::move(request.text);
    outcome_.dropped.push_back(std::move(statement));
  }
  if (!outcome_.dropped.empty()) keep_best();
}

// ------------------------------------------------------------------------------------- the search

// Includes the options and inputs on which a replay depends.
Json Search::identity() const {
  Json search = {{"version", kVersion},
                 {"proposer", proposer_.name()},
                 {"seed", options_.seed},
                 {"feedback", static_cast<int>(options_.feedback)},
                 {"compare", options_.compare},
                 {"evaluate_start", options_.evaluate_start},
                 {"estimates", options_.budget.estimates},
                 {"inputs", evaluator_.inputs()},
                 {"unit", evaluator_.unit()},
                 {"higher_is_better", evaluator_.higher_is_better()},
                 {"start", problem_.start},
                 {"about", problem_.about},
                 {"of", options_.fingerprint},
                 {"marks", Json::object()}};
  for (const auto& [name, content] : options_.marks) {
    search["marks"][characters_of(name)] = fmt::format("{:016x}", hash_of(content));
  }
  return search;
}

// Checks the budgets and the user's stop. A replay ignores the budgets.
bool Search::goes_on() {
  using End = TuneOutcome::End;
  const TuneBudget& budget = options_.budget;
  if (record_.replaying()) return !progress_.interrupted() || end(End::kStopped);
  progress_.begin_work();
  if (record_.failed()) return false;
  if (progress_.out_of_time()) return end_of_budget("time");
  if (stop()) return end(End::kStopped);
  if (budget.evaluations > 0 && progress_.spent.evaluations >= budget.evaluations) {
    return end_of_budget("evaluations");
  }
  if (repeated_ >= kMostRepeated) {
    return end(End::kExhausted,
               fmt::format("{} proposals in a row were refused or had been tried", kMostRepeated));
  }
  return true;
}

// Ends the search if a budget or an error prevents further questions to the model, if the proposer
// has no more proposals, or after too many rounds in which every reply was rejected.
bool Search::goes_on_without_proposal(bool counted) {
  using End = TuneOutcome::End;
  if (stop()) return true;  // goes_on() then ends the search
  const auto &ceiling = channel_.ceiling(), &hopeless = channel_.hopeless();
  if (channel_.round_is_replayed() && (ceiling || hopeless)) return true;  // go on after the record
  if (ceiling) {
    end_of_budget(ceiling->of_money ? "money" : "tokens", ceiling->message);
    if (progress_.spent.model_calls == 0) outcome_.why += ": nothing was asked";
    return false;
  }
  if (hopeless) return end(End::kModel, hopeless->message);
  if (counted && options_.budget.evaluations > 0) {  // this ends the search
    forget_rejections();
    return true;
  }
  if (!rejected_ && record_.replaying()) {
    record_.fail_at_end();
    return false;
  }
  if (!rejected_) return end(End::kExhausted);
  if (++rejections_ < kMostRejected) return true;
  if (channel_.round_is_replayed()) {
    forget_rejections();
    return true;
  }
  if (const auto missing = channel_.no_reply()) return end(End::kModel, missing->message);
  return end(End::kRejected, *rejected_);
}

// Runs rounds until the budget, the proposer, the model or the user ends the search.
Result<TuneOutcome> Search::run() {
  const auto stop_reading = [this] { return progress_.interrupted() || progress_.out_of_time(); };
  if (auto error = record_.open(options_.directory, identity(), options_.resume, stop_reading)) {
    if (error->code != Error::Code::kStopped || !progress_.interrupted()) return *error;
    end(TuneOutcome::End::kStopped);
    return std::move(outcome_);
  }
  if (options_.evaluate_start && goes_on()) try_all({{problem_.start, "the start", -1}});
  if (!record_.failed() && outcome_.start && !outcome_.start->evaluation.ok() &&
      !problem_.is_mapping()) {
    const Feedback& feedback = outcome_.start->evaluation.feedback;
    std::string help = feedback.explain.empty() ? "" : feedback.explain.front();
    for (const std::string& line : feedback.last_lines) help += "\n    " + line;
    return Error{Error::Code::kMalformed,
                 fmt::format("the text to begin with cannot be used: {}", feedback.execution),
                 std::move(help)};
  }
  while (!record_.failed() && goes_on()) {
    begin_round();
    if (record_.failed()) break;
    std::vector<Proposal> proposals = proposer_.propose(*this);
    if (record_.failed()) break;
    // Proposals that lack some replies are dropped: a resumed search may make other ones.
    if (channel_.is_broken_off()) proposals.clear();
    const bool counted = count_unusable(proposals.size());
    if (!proposals.empty()) {
      forget_rejections();
      try_all(std::move(proposals));
    } else if (!goes_on_without_proposal(counted)) {
      break;
    }
  }
  tidy();
  compare_with_start();
  if (record_.failed()) return *record_.failed();
  outcome_.steps = steps_;
  outcome_.spent_before =
      options_.resume && outcome_.end == TuneOutcome::End::kBudget && !progress_.worked;
  outcome_.spent = progress_.spent;
  outcome_.spent.seconds = outcome_.spent_before ? progress_.seconds_before() : progress_.seconds();
  if (auto error = report()) return *error;
  return std::move(outcome_);
}

std::optional<Error> Search::report() {
  if (options_.directory.empty() || record_.replaying()) return std::nullopt;
  if (auto error = groma::tuning::report(options_.directory, problem_, evaluator_, outcome_))
    return error;
  if (const std::string findings = proposer_.findings(); !findings.empty()) {
    record_.replace("findings.txt", findings);
  }
  return record_.failed();
}

}  // namespace

Result<TuneOutcome> tune(const Problem& problem, Evaluator& evaluator, Proposer& proposer,
                         llm::ChatClient* model, Evaluator* estimator, const TuneOptions& options) {
  return Search(problem, evaluator, proposer, model, estimator, options).run();
}

}  // namespace groma::tuning
