// tune(): the loop in which a proposer proposes texts and an evaluator measures them, with its
// budgets, its journal and its reports.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <unordered_map>

#include "edit/mapping.h"
#include "groma/pareto_front.h"
#include "groma/search_directory.h"
#include "groma/tune.h"
#include "groma/version.h"
#include "guide/detail.h"
#include "tune/channel.h"
#include "tune/estimates.h"
#include "tune/front_files.h"
#include "tune/parallel.h"
#include "tune/progress.h"
#include "tune/record.h"
#include "tune/report.h"
#include "tune/tried_texts.h"
#include "tune/worker_summary.h"

namespace groma::tuning {
namespace {

// The limit on consecutive rounds without a proposal.
constexpr int kMostRejected = 5;
// The limit on consecutive proposals that cost no evaluation.
constexpr int kMostRepeated = 200;
// Time limit for removing useless statements from the best mapping at the end of the search.
constexpr auto kLongestTidying = std::chrono::seconds(10);
// The detail of feedback that is requested for the report files, even if the proposer reads less.
// More detail costs more time in simulated runs than in measured ones, so these have two levels.
constexpr GuideDetail kOfSimulated = GuideDetail::kExecution, kOfMeasured = GuideDetail::kExplain;

// One search. The object is also the SearchRound that the proposer sees, and forwards the
// proposer's questions to the channel and its requests for estimates to the estimates.
class SearchLoop : public SearchRound {
 public:
  SearchLoop(const SearchProblem& problem, Evaluator& evaluator, Proposer& proposer,
             llm::ChatClient* model, Evaluator* estimator, const TuneOptions& options)
      : problem_(problem),
        evaluator_(evaluator),
        proposer_(proposer),
        options_(options),
        progress_(options, record_),
        channel_(model, options.budget, record_, progress_),
        estimates_(estimator, options, record_, progress_),
        front_files_(options.directory, problem.is_mapping() ? ".mapper" : ".txt") {
    if (options.pareto) front_.emplace(evaluator.inputs().size(), evaluator.higher_is_better());
    // Progress calls this function when the replay of a resumed search is over and the first new
    // work begins.
    progress_.when_resumed = [this] {
      channel_.add_earlier_spending();
      if (outcome_.best) keep_best();
      keep_front();
      progress_.report_event(TuneEvent::Kind::kResumed, [](TuneEvent*) {});
    };
  }

  Result<TuneOutcome> run();

  // ---- SearchRound: the services for the proposer
  const SearchProblem& problem() const override { return problem_; }
  const History& history() const override { return history_; }
  std::size_t max_proposals() const override { return most_; }
  GuideDetail detail() const override { return options_.feedback; }
  const Evaluator& evaluator() const override { return evaluator_; }
  std::vector<Result<llm::ChatReply, llm::ChatError>> ask(
      std::span<const llm::ChatRequest> requests) override {
    return channel_.ask(requests);
  }
  bool has_estimates() const override { return estimates_.has_estimator(); }
  std::int64_t estimates_left() const override { return estimates_.left(); }
  std::vector<Evaluation> estimate(std::span<const std::string> texts,
                                   GuideDetail detail) override {
    return estimates_.estimates_of(texts, detail);
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
  void explain_end(const std::string& why) override { end_reason_ = why; }
  bool stop() const override { return progress_.should_stop(); }

 private:
  // Returns the options and inputs of the search as JSON. A resumed search must have the same ones,
  // because a replay depends on them.
  Json identity() const;
  // Returns true if the search continues. Otherwise stores in `outcome_` how the search ended.
  bool goes_on();
  // Stores how the search ended. Returns false, so that a caller can return the result as "does not
  // continue".
  bool end(TuneOutcome::End end, std::string why = "") {
    outcome_.end = end;
    outcome_.why = std::move(why);
    return false;
  }
  bool end_of_budget(const char* which, std::string why = "") {
    outcome_.budget = which;
    return end(TuneOutcome::End::kBudget, std::move(why));
  }
  // Resets the state of a round, and decides how many proposals may be tried in it. A replayed
  // round has the recorded number.
  void begin_round();
  // Called after a round without a proposal. Returns true if the search continues. Otherwise stores
  // how the search ended. `counted`: count_unusable() counted at least one reply of the round.
  bool goes_on_without_proposal(bool counted);
  // Only consecutive rounds without a proposal end the search, so a round with proposals resets
  // their count.
  void forget_rejections() {
    rejections_ = 0;
    channel_.begin_reply_series();
  }
  // With TuneOptions::compare, counts the unusable replies of this round as evaluations, as far as
  // the budget allows. Returns true if at least one was counted. `proposals` is the number of
  // proposals of the round.
  bool count_unusable(std::size_t proposals);
  // Evaluates proposals and takes their results into the history, in the order of the proposals.
  void try_all(std::vector<Proposal> proposals);
  // A proposal on its way through the search, and its result. `canonical` is the normal form of its
  // text. `repeated`: the text was tried before; `free`: the trial costs no evaluation; `recorded`:
  // the result comes from the journal; `again`: the text was evaluated twice.
  struct Trial {
    Proposal proposal;
    std::string canonical;
    std::optional<Evaluation> evaluation;
    bool repeated = false, free = false, recorded = false, again = false;
  };
  // Returns the recorded trial of a proposal; nullopt if no recorded lines remain.
  std::optional<Trial> replayed(const Proposal& proposal);
  // Returns the trial with its earlier result, if the text was tried before.
  Trial looked_up(Proposal proposal) const;
  // Checks the text without a run, and evaluates the text unless the check refuses it. Any thread
  // may call this.
  void evaluate(Trial& trial) const;
  // Evaluates a text. Returns nullopt if the search was stopped meanwhile, because the evaluation
  // may then be incomplete.
  std::optional<Evaluation> evaluated(EvaluationRequest request) const;
  // If a measured text looks better than the best, evaluates it again with more runs. Among many
  // texts, some look better by chance.
  void make_sure(Trial& trial) const;
  // Adds a result to the journal and the history, and tells the proposer.
  void take(Trial trial);
  // Measures the best text beside the start at the end of the search, unless runs are simulated.
  void compare_with_start();
  // Reports what happened to the evaluator's workers. Ends the search if no worker is left.
  void report_workers();
  // Writes the best text to its file, best.mapper or best.txt.
  void keep_best();
  // Writes the texts of the Pareto front to their files, if the search keeps a front that is not
  // empty.
  void keep_front();
  // Returns the content of the file of a text.
  std::string file_content(const std::string& text) const;
  // Removes those statements from the best mapping without which the mapping is not slower. The
  // journal does not record this.
  void tidy();
  // Makes the start the best text if the best one gains less than the options want.
  void keep_start_unless_worth_it();
  // Writes the report files and the proposer's findings. Returns the error of a file that cannot be
  // written.
  std::optional<Error> report();

  // Returns the detail of the feedback that the proposer reads and the options allow.
  GuideDetail wanted() const { return std::min(proposer_.reads(), options_.feedback); }

  const SearchProblem& problem_;
  Evaluator& evaluator_;
  Proposer& proposer_;
  const TuneOptions& options_;
  SearchRecord record_;
  Progress progress_;
  ModelChannel channel_;
  Estimates estimates_;

  History history_;
  TriedTexts tried_;
  // With TuneOptions::pareto.
  std::optional<ParetoFront> front_;
  FrontFiles front_files_;
  // The outcome of the search. Its member `spent` is set at the end.
  TuneOutcome outcome_;
  // How many proposals may be tried in this round.
  std::size_t most_ = 1;
  // How many proposals were tried, including those that cost no evaluation.
  std::int64_t steps_ = 0;
  // How many rounds in a row had no proposal, and how many proposals in a row cost no evaluation.
  int rejections_ = 0, repeated_ = 0;
  // The reason of the last rejection in this round; nullopt if nothing was rejected.
  std::optional<std::string> rejected_;
  // The reason that the proposer gave in this round for the end of the search. Empty: it gave none.
  std::string end_reason_;
  // How many replies in this round should have been proposals but could not be used.
  std::size_t unusable_ = 0;
};

// -------------------------------------------------------------------------------- trying proposals

// Extends the search's time to the recorded time of the step, because the budget of time includes
// the time before the search was resumed.
std::optional<SearchLoop::Trial> SearchLoop::replayed(const Proposal& proposal) {
  if (!record_.replaying()) return std::nullopt;
  auto recorded = record_.read_step(steps_ + 1, proposal.text);
  if (!recorded) return std::nullopt;
  progress_.add_replayed_seconds(recorded->seconds);
  return Trial{proposal,
               evaluator_.canonical(proposal.text),
               std::move(recorded->step.evaluation),
               recorded->repeated,
               recorded->free,
               true,
               recorded->again};
}

// Returns a trial that has its earlier result if the text was tried before. Such a trial costs no
// evaluation, except with TuneOptions::compare.
SearchLoop::Trial SearchLoop::looked_up(Proposal proposal) const {
  Trial trial{std::move(proposal), {}, {}};
  trial.canonical = evaluator_.canonical(trial.proposal.text);
  if (const TriedTexts::ResultWithoutFeedback* known = tried_.find(trial.canonical)) {
    trial.evaluation = known->evaluation();
    trial.evaluation->feedback.explain = {
        fmt::format("This was tried before, as number {}.", known->number)};
    trial.repeated = true;
    trial.free = !options_.compare;
  }
  return trial;
}

// A text that the check refuses costs no evaluation, except with TuneOptions::compare. Measured
// runs alternate with runs of the incumbent, so the request names the best text.
void SearchLoop::evaluate(Trial& trial) const {
  const std::string& text = trial.proposal.text;
  EvaluationRequest request{
      text, std::max(wanted(), evaluator_.simulated() ? kOfSimulated : kOfMeasured)};
  if (outcome_.best) {
    request.incumbent = outcome_.best->proposal.text;
    request.incumbent_score = outcome_.best->evaluation.score;
  }
  const bool runs_first = evaluator_.runs_before_check();
  if (runs_first) {
    trial.evaluation = evaluated(request);
    if (!trial.evaluation || trial.evaluation->ok()) return;
  }
  if (auto refused = evaluator_.check(text, std::max(wanted(), kOfSimulated))) {
    trial.evaluation = std::move(refused);
    trial.free = !options_.compare;
  } else if (!runs_first) {
    trial.evaluation = evaluated(std::move(request));
  }
}

// An evaluator may be the user's own code, so its result is checked. A score that is not a finite
// number above 0 becomes a failure with a message.
std::optional<Evaluation> SearchLoop::evaluated(EvaluationRequest request) const {
  request.stop = [this] { return stop(); };
  Evaluation evaluation = evaluator_.evaluate(request);
  if (!has_valid_numbers(evaluation)) {
    Evaluation none;
    none.status = Evaluation::Status::kFailed;
    none.feedback.execution = fmt::format(
        "The evaluator gave the score {}, not a finite number above 0.", evaluation.score);
    evaluation = std::move(none);
  }
  if (stop() || evaluator_.error()) return std::nullopt;
  return evaluation;
}

// If no worker is left, the error ends the search.
void SearchLoop::report_workers() {
  for (std::string& note : evaluator_.take_notes()) {
    progress_.report_event(TuneEvent::Kind::kWorker,
                           [&](TuneEvent* event) { event->text = std::move(note); });
  }
  record_.fail(evaluator_.error());
}

// Only measured texts that were not tried before are evaluated again, because a simulated text
// always gets the same score.
void SearchLoop::make_sure(Trial& trial) const {
  if (evaluator_.simulated() || trial.repeated || trial.free || !outcome_.best) return;
  if (!history_.is_better(*trial.evaluation)) return;
  trial.again = true;
  trial.evaluation =
      evaluated({trial.proposal.text, std::max(wanted(), kOfMeasured), outcome_.best->proposal.text,
                 outcome_.best->evaluation.score, true});
}

// A new round may try as many proposals as the budget of evaluations still allows, but at least
// one. The number is recorded, because the proposals of the round may depend on it.
void SearchLoop::begin_round() {
  rejected_.reset();
  end_reason_.clear();
  unusable_ = 0;
  channel_.begin_round();
  estimates_.begin_round();
  if (record_.replaying()) {
    most_ = record_.read_round_size(kUnlimitedProposals);
    return;
  }
  const std::int64_t left = options_.budget.evaluations - progress_.spent.evaluations;
  most_ = options_.budget.evaluations == 0
              ? kUnlimitedProposals
              : std::clamp<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(left, 1)),
                                        1, kUnlimitedProposals);
  record_.write_round_size(most_);
}

// Counts at most as many replies as the round may still try after its proposals.
bool SearchLoop::count_unusable(std::size_t proposals) {
  if (!options_.compare || record_.first_error() || channel_.was_interrupted()) return false;
  const std::size_t room = most_ - std::min(most_, proposals);
  const auto count = static_cast<std::int64_t>(std::min(unusable_, room));
  progress_.spent.evaluations += count;
  progress_.spent.unusable += count;
  return count > 0;
}

// Proposals with a recorded result are taken first. The other texts are evaluated in groups of as
// many as there are threads. A result is taken as soon as all results in front of it are there, so
// the order of the steps does not depend on the threads.
void SearchLoop::try_all(std::vector<Proposal> proposals) {
  proposals.resize(std::min(proposals.size(), max_proposals()));
  std::vector<Trial> trials;
  // The indices of the trials whose texts must be evaluated: neither tried before nor equal to an
  // earlier text of the batch.
  std::vector<std::size_t> open;
  std::unordered_map<std::string, std::size_t> batch;
  for (Proposal& proposal : proposals) {
    if (!options_.compare) proposal.text = evaluator_.repaired(proposal.text);
    if (auto trial = replayed(proposal)) {
      take(*std::move(trial));
      continue;
    }
    if (record_.first_error()) return;
    progress_.begin_work();
    trials.push_back(looked_up(std::move(proposal)));
    Trial& last = trials.back();
    const bool is_first = batch.emplace(last.canonical, trials.size() - 1).second;
    if (!last.evaluation && is_first) open.push_back(trials.size() - 1);
    progress_.report_event(TuneEvent::Kind::kProposed,
                           [&](TuneEvent* event) { event->proposal = &last.proposal; });
  }
  // `taken` is the number of trials, from the front of `trials`, whose results the search has
  // recorded. `first` is the number of elements, from the front of `open`, that were evaluated.
  const int threads = evaluation_thread_count(evaluator_, options_);
  std::size_t taken = 0;
  for (std::size_t first = 0; taken < trials.size();) {
    const std::size_t count = std::min(open.size() - first, static_cast<std::size_t>(threads));
    in_parallel(count, threads, [&](std::size_t i) { evaluate(trials[open[first + i]]); });
    first += count;
    report_workers();
    for (; taken < trials.size(); ++taken) {
      Trial& trial = trials[taken];
      // If a trial has no evaluation and is the first one of the batch with its text, it still has
      // to be evaluated, and the loop ends. Otherwise an earlier trial of the batch has the same
      // text, and its result is looked up.
      if (!trial.evaluation) {
        if (batch.at(trial.canonical) == taken) break;
        trial = looked_up(std::move(trial.proposal));
      }
      make_sure(trial);
      report_workers();
      // A trial without a result means that the search was stopped or has no workers.
      if (!trial.evaluation || record_.first_error()) break;
      take(std::move(trial));
      if (record_.first_error()) return;
    }
    if (stop() || record_.first_error()) return;
  }
}

// The order matters: the journal is written before the history and the proposer learn of the step.
// If the process is killed in between, the resumed search takes the step from the journal.
void SearchLoop::take(Trial trial) {
  Step step{++steps_, std::move(trial.proposal), *std::move(trial.evaluation)};
  keep_valid_parents(&step);
  const bool is_start = step.number == 1 && options_.evaluate_start;
  if (is_start) outcome_.start = step;
  // If the start of a search for another text than a mapping fails, run() ends the search with an
  // error: the text or the evaluator's command may be wrong. The step is not recorded, so that a
  // resumed search tries the start again.
  if (is_start && !step.evaluation.ok() && !problem_.is_mapping()) return;
  drop_unrecorded_feedback(&step.evaluation);
  const Evaluation& evaluation = step.evaluation;
  const bool is_best = history_.is_better(evaluation);
  const bool within_noise =
      !is_best && evaluation.ok() && evaluation.score < history_.best()->evaluation.score;
  if (!trial.recorded) {
    const RecordedStep recorded{step,       within_noise, trial.repeated,
                                trial.free, trial.again,  progress_.seconds()};
    record_.write_step(recorded, !evaluator_.simulated());
    if (record_.first_error()) return;
  }
  if (!trial.repeated) {
    tried_.add(trial.canonical, step);
    add_measurement(step.evaluation, &outcome_.workers);
  }
  repeated_ = trial.free ? repeated_ + 1 : 0;
  if (!trial.free) ++progress_.spent.evaluations;
  if (!trial.free && !trial.repeated && !evaluation.ok()) ++progress_.spent.failed;
  if (trial.again) ++progress_.spent.again;
  if (is_best) {
    outcome_.best = step;
    progress_.best_score = evaluation.score;
    outcome_.trajectory.emplace_back(progress_.spent.evaluations, evaluation.score);
    if (!trial.recorded) keep_best();
  }
  const bool in_front = front_ && front_->add(step, is_best);
  if (in_front && !trial.recorded) keep_front();
  // The proposer sees only as much feedback as it reads and the options allow. The report shows
  // more.
  Step seen = step;
  if (!trial.repeated) remove_details_above(wanted(), &seen.evaluation.feedback);
  is_start ? history_.add_start(seen) : history_.add(seen);
  proposer_.learn(seen);
  if (trial.recorded) return;
  progress_.worked = true;
  progress_.report_event(TuneEvent::Kind::kEvaluated, [&](TuneEvent* event) {
    event->step = &step;
    event->is_best = is_best;
    event->within_noise = within_noise;
    event->from_cache = trial.repeated;
    event->in_front = in_front;
  });
}

std::string SearchLoop::file_content(const std::string& text) const {
  return problem_.is_mapping() ? mapping_file_content(text) : text;
}

// The best text of several files is written as these, with `best.` before their names.
void SearchLoop::keep_best() {
  const std::string& text = outcome_.best->proposal.text;
  const auto files = split_files(problem_.is_mapping() ? std::string_view() : text);
  if (files && !files->front().name.empty()) {
    for (const NamedText& file : *files) record_.replace("best." + file.name, file.text);
    return;
  }
  record_.replace(problem_.is_mapping() ? "best.mapper" : "best.txt", file_content(text));
}

void SearchLoop::keep_front() {
  if (!front_ || front_->steps().empty() || record_.first_error()) return;
  std::vector<Step> steps = front_->steps();
  for (Step& step : steps) step.proposal.text = file_content(step.proposal.text);
  record_.fail(front_files_.replace(steps));
}

// Runs of the best text alternate with runs of the start, so that the reported gain does not depend
// on a change of the machine during the search. A resumed search that ends with the same best text
// uses the recorded comparison.
void SearchLoop::compare_with_start() {
  const std::optional<Step>&best = outcome_.best, &start = outcome_.start;
  if (evaluator_.simulated() || !best || !start || best->number == start->number) return;
  if (!start->evaluation.ok() || record_.first_error() || record_.replaying()) return;
  outcome_.beside_start = record_.beside_start(best->number);
  const bool over = outcome_.end == TuneOutcome::End::kStopped || progress_.out_of_time() || stop();
  if (outcome_.beside_start || over) return;
  auto evaluation = evaluated(
      {best->proposal.text, kOfMeasured, start->proposal.text, start->evaluation.score, true});
  report_workers();
  if (!evaluation) return;
  drop_unrecorded_feedback(&*evaluation);
  add_measurement(*evaluation, &outcome_.workers);
  outcome_.beside_start = *evaluation;
  record_.write_comparison_with_start(best->number, *evaluation);
}

// Does nothing unless mappings are simulated and the search ended by itself. Tries to remove the
// last statements first, because a statement may use functions that stand before it. The user's own
// statements and those that share a line with others stay.
void SearchLoop::tidy() {
  using End = TuneOutcome::End;
  const bool regular = outcome_.end == End::kBudget || outcome_.end == End::kExhausted;
  const bool free = problem_.is_mapping() && evaluator_.simulated() && !options_.compare;
  if (!regular || !free || !outcome_.best || record_.first_error() || record_.replaying()) return;
  std::set<std::string, std::less<>> given;
  const edit::EditableMapping start(problem_.start);
  for (const edit::EditableMapping::ProgramItem& item : start.items())
    given.emplace(start.item_text(item));
  const auto end = std::chrono::steady_clock::now() + kLongestTidying;
  std::string& text = outcome_.best->proposal.text;
  Evaluation& best = outcome_.best->evaluation;
  // If the best mapping certainly fits into memory, a mapping without a statement must fit as well.
  const bool risky = evaluator_.may_fail(text);
  for (std::size_t number = edit::EditableMapping(text).items().size(); number-- > 0;) {
    if (progress_.has_user_stopped() || std::chrono::steady_clock::now() > end) break;
    const edit::EditableMapping mapping(text);
    const edit::EditableMapping::ProgramItem& item = mapping.items()[number];
    std::string statement(mapping.item_text(item));
    if (!item.is_separate || given.contains(statement)) continue;
    EvaluationRequest request{mapping.text_without(number)};
    if (evaluator_.check(request.text, GuideDetail::kNone)) continue;
    if (!risky && evaluator_.may_fail(request.text)) continue;
    request.stop = [this] { return progress_.has_user_stopped(); };
    const Evaluation without = evaluator_.evaluate(request);
    if (!has_valid_numbers(without) || !without.ok() || without.score > best.score) continue;
    if (without.score < best.score) {
      best.score = without.score;
      best.values = without.values;
      outcome_.trajectory.emplace_back(progress_.spent.evaluations, best.score);
    }
    text = std::move(request.text);
    outcome_.dropped.push_back(std::move(statement));
  }
  if (outcome_.dropped.empty()) return;
  keep_best();
  // The best text and its values have changed, so it may dominate others now.
  if (front_) front_->add(*outcome_.best, true);
}

// If the best was measured beside the start, that measurement counts.
void SearchLoop::keep_start_unless_worth_it() {
  const std::optional<Step>&best = outcome_.best, &start = outcome_.start;
  if (!best || !start || best->number == start->number || !start->evaluation.ok()) return;
  const std::optional<Evaluation>& beside = outcome_.beside_start;
  // A best text that failed beside the start is reported as such.
  if (beside && !beside->ok()) return;
  const double score = beside ? beside->score : best->evaluation.score;
  if (score <= start->evaluation.score * (1 - options_.least_gain) || options_.least_gain <= 0) {
    return;
  }
  outcome_.too_little = std::exchange(outcome_.best, outcome_.start);
  outcome_.too_little->evaluation.score = score;
  outcome_.beside_start.reset();
  outcome_.dropped.clear();
  if (!record_.replaying() && !record_.first_error()) keep_best();
}

// ------------------------------------------------------------------------------ running the search

// The member `marks` of the JSON holds a hash of each input file, so that the journal does not hold
// the contents of the files.
Json SearchLoop::identity() const {
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
  if (!problem_.examples.empty()) search["examples"] = problem_.examples;
  if (!problem_.hardware.empty()) search["hardware"] = problem_.hardware;
  for (const auto& [name, content] : options_.marks) {
    search["marks"][encode_for_json(name)] = fmt::format("{:016x}", hash_of(content));
  }
  return search;
}

// Checks the budgets, the user's stop and the number of proposals in a row that cost nothing. A
// replay ignores all of them except the user's interruption.
bool SearchLoop::goes_on() {
  using End = TuneOutcome::End;
  const TuneBudget& budget = options_.budget;
  if (record_.replaying()) return !progress_.has_user_stopped() || end(End::kStopped);
  progress_.begin_work();
  if (record_.first_error()) return false;
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

// Ends the search in one of three cases: a budget or an error prevents further questions to the
// model; the proposer has no more proposals; too many rounds in a row had only unusable replies.
bool SearchLoop::goes_on_without_proposal(bool counted) {
  using End = TuneOutcome::End;
  // If the search was stopped, this function returns true, and the next call of goes_on() ends the
  // search.
  if (stop()) return true;
  const auto &ceiling = channel_.exceeded_budget_error(), &hopeless = channel_.permanent_error();
  // An error that was recorded does not end the search, which continues after the record.
  if (channel_.round_is_replayed() && (ceiling || hopeless)) return true;
  if (ceiling) {
    end_of_budget(ceiling->of_money ? "money" : "tokens", ceiling->message);
    if (progress_.spent.model_calls == 0) outcome_.why += ": nothing was asked";
    return false;
  }
  if (hopeless) return end(End::kModel, hopeless->message);
  // Counted replies use up the budget of evaluations, so goes_on() ends the search after a finite
  // number of such rounds.
  if (counted && options_.budget.evaluations > 0) {
    forget_rejections();
    return true;
  }
  // The proposer now ends earlier than the recorded search, so it is not the same search.
  if (!rejected_ && record_.replaying()) {
    record_.fail_because_of_early_end();
    return false;
  }
  if (!rejected_) return end(End::kExhausted, end_reason_);
  if (++rejections_ < kMostRejected) return true;
  // A replayed round may have failed because the model could not be reached at that time. So the
  // search asks the model again.
  if (channel_.round_is_replayed()) {
    forget_rejections();
    return true;
  }
  if (const auto missing = channel_.error_if_no_reply()) return end(End::kModel, missing->message);
  return end(End::kRejected, *rejected_);
}

// Opens the journal, evaluates the start, then runs rounds until a budget, the proposer, the model
// or the user ends the search. At the end writes the best text and the reports.
Result<TuneOutcome> SearchLoop::run() {
  const auto stop_reading = [this] {
    return progress_.has_user_stopped() || progress_.out_of_time();
  };
  if (auto error = record_.open(options_.directory, identity(), options_.resume, stop_reading)) {
    if (error->code != Error::Code::kStopped || !progress_.has_user_stopped()) return *error;
    end(TuneOutcome::End::kStopped);
    return std::move(outcome_);
  }
  progress_.add_replayed_seconds(record_.seconds_at_end());
  if (options_.evaluate_start && goes_on()) try_all({{problem_.start, "the start", -1}});
  if (!record_.first_error() && outcome_.start && !outcome_.start->evaluation.ok() &&
      !problem_.is_mapping()) {
    if (!options_.resume) record_.withdraw();
    const GuideFeedback& feedback = outcome_.start->evaluation.feedback;
    std::string help = feedback.explain.empty() ? "" : feedback.explain.front();
    for (const std::string& line : feedback.last_lines) help += "\n    " + line;
    return Error{Error::Code::kMalformed,
                 fmt::format("the text to begin with cannot be used: {}", feedback.execution),
                 std::move(help)};
  }
  while (!record_.first_error() && goes_on()) {
    begin_round();
    if (record_.first_error()) break;
    std::vector<Proposal> proposals = proposer_.propose(*this);
    if (record_.first_error()) break;
    // If the search was stopped, some questions and estimates have no answer, and the proposals are
    // dropped. A resumed search asks again and may make other proposals.
    if (channel_.was_interrupted() || stop()) proposals.clear();
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
  keep_start_unless_worth_it();
  if (record_.first_error()) return *record_.first_error();
  outcome_.steps = steps_;
  if (front_) outcome_.front = front_->steps();
  // A resumed search that does nothing new has not written the front yet.
  if (!record_.replaying()) keep_front();
  if (record_.first_error()) return *record_.first_error();
  // A search that was resumed after its budget was spent did nothing new. Its time is then the
  // recorded one, without the time of the replay.
  outcome_.spent_before =
      options_.resume && outcome_.end == TuneOutcome::End::kBudget && !progress_.worked;
  outcome_.spent = progress_.spent;
  outcome_.spent.seconds = outcome_.spent_before ? progress_.seconds_before() : progress_.seconds();
  if (progress_.worked) record_.write_end(outcome_.spent.seconds);
  if (record_.first_error()) return *record_.first_error();
  if (auto error = report()) return *error;
  return std::move(outcome_);
}

// Writes nothing for a search without a directory, or while recorded lines remain. The reports of
// the recorded search then stay.
std::optional<Error> SearchLoop::report() {
  if (options_.directory.empty() || record_.replaying()) return std::nullopt;
  if (auto error = groma::tuning::write_reports(options_.directory, problem_, evaluator_, outcome_))
    return error;
  if (const std::string findings = proposer_.findings(); !findings.empty()) {
    record_.replace("findings.txt", findings);
  }
  return record_.first_error();
}

}  // namespace

Result<TuneOutcome> tune(const SearchProblem& problem, Evaluator& evaluator, Proposer& proposer,
                         llm::ChatClient* model, Evaluator* estimator, const TuneOptions& options) {
  return SearchLoop(problem, evaluator, proposer, model, estimator, options).run();
}

}  // namespace groma::tuning
