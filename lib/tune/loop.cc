// tune(): the loop between proposer and evaluator, with its budget, its journal and its reports.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

#include "base/names.h"
#include "groma/system.h"
#include "groma/tune.h"
#include "groma/version.h"
#include "guide/detail.h"
#include "model/reply_text.h"
#include "search/recent.h"
#include "space/statements.h"
#include "system/sync.h"
#include "tune/journal.h"
#include "tune/report.h"

namespace groma {
namespace {

using tuning::Journal;
using tuning::Json;
using tuning::RecordedReply;
using Clock = std::chrono::steady_clock;

constexpr int kMostRejected = 5;             // limit of rounds without a proposal in a row
constexpr int kMostRepeated = 200;           // limit of free proposals in a row
constexpr int kMostAsked = 8;                // limit of concurrent questions
constexpr double kTimeToEstimate = 1.0 / 3;  // share of the remaining time, per round
constexpr auto kLongestTidying = std::chrono::seconds(10);
constexpr std::size_t kUnbounded = 1 << 20;  // proposals
// Files of the search's directory that are replaced as a whole, also by the command.
constexpr const char* kReplaced[] = {"best.mapper", "best.txt", "findings.txt", "report.txt",
                                     "verified.mapper"};
// Level of detail for the reports, even if the proposer reads less. More detail about simulated
// runs would cost more time.
constexpr GuideDetail kOfSimulated = GuideDetail::kExecution, kOfMeasured = GuideDetail::kExplain;

using Reply = Result<ChatReply, ChatError>;

// Cuts a reply at the limit, at a whole character.
void cut(std::string* text) {
  if (text->size() <= tuning::kMaxReplyBytes) return;
  std::size_t end = tuning::kMaxReplyBytes;
  while (end > 0 && (static_cast<unsigned char>((*text)[end]) & 0xC0U) == 0x80U) --end;
  *text = text->substr(0, end) + fmt::format("\n[{} further bytes]\n", text->size() - end);
}

// Returns an upper estimate of the cost of a request: one token for three bytes. Unusual texts may
// exceed it.
TuneSpending most_of(const ChatRequest& request, const ChatClient* model) {
  std::size_t bytes = request.constraint.json_schema.size();
  for (const ChatMessage& message : request.messages) bytes += message.text.size();
  const auto input = static_cast<std::int64_t>(bytes / 3);
  TuneSpending most;
  most.model_calls = 1;
  most.tokens = input + request.max_tokens;
  if (model != nullptr && model->options().price) {
    const ChatPrice price = *model->options().price;
    most.money =
        (static_cast<double>(input) * price.input + request.max_tokens * price.output) / 1e6;
  }
  return most;
}

ChatError unanswered() {
  return {ChatError::Code::kStopped, "it was stopped before the answer came"};
}

Json asked_line(std::span<const ChatRequest> requests) {
  Json asked = Json::array();
  for (const ChatRequest& request : requests) asked.push_back(tuning::json_of(request));
  return asked;
}

bool will_fail_again(ChatError::Code code) {
  using Code = ChatError::Code;
  for (Code hopeless : {Code::kUnreachable, Code::kCertificate, Code::kKey, Code::kNotFound,
                        Code::kQuota, Code::kUnsupported, Code::kReplay}) {
    if (code == hopeless) return true;
  }
  return false;
}

// Calls work(0), ..., work(count - 1) on at most `threads` threads, including the caller's.
template <typename Work>
void in_parallel(std::size_t count, int threads, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  const auto most = std::min(static_cast<std::size_t>(std::clamp(threads, 1, 64)), count);
  for (std::size_t t = 1; t < most; ++t) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
}

// Removes the parts of an evaluation that a journal does not record, so that a resumed search sees
// the same.
void keep_what_is_written(Evaluation* evaluation) {
  Feedback& feedback = evaluation->feedback;
  feedback.fixes.clear();
  feedback.matches.clear();
  feedback.score.reset();
}

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

  tuning::Recent<Known, Key, Hash> known_;
};

class Search : public Round {
 public:
  Search(const Problem& problem, Evaluator& evaluator, Proposer& proposer, ChatClient* model,
         Evaluator* estimator, const TuneOptions& options)
      : problem_(problem),
        evaluator_(evaluator),
        proposer_(proposer),
        model_(model),
        estimator_(estimator),
        options_(options),
        begin_(Clock::now()) {}

  Result<TuneOutcome> run();

  // ---- Round
  const Problem& problem() const override { return problem_; }
  const History& history() const override { return history_; }
  std::size_t most() const override { return most_; }
  GuideDetail detail() const override { return options_.feedback; }
  const Evaluator& evaluator() const override { return evaluator_; }
  std::vector<Result<ChatReply, ChatError>> ask(std::span<const ChatRequest> requests) override;
  bool has_estimates() const override { return estimator_ != nullptr; }
  std::vector<Evaluation> estimate(std::span<const std::string> texts, GuideDetail detail) override;
  void reject(std::string why) override {
    rejected_ = why;
    say(TuneEvent::Kind::kRejected, [&](TuneEvent* event) { event->text = std::move(why); });
  }
  void reject_proposal(std::string why) override {
    ++unusable_;
    reject(std::move(why));
  }
  // Returns false while the journal is replayed, so that a replay repeats the recorded search.
  bool stop() const override {
    if (!failed_ && journal_.replaying()) return false;
    if (failed_ || interrupted() || out_of_time()) stopped_ = true;
    return stopped_;
  }

 private:
  std::optional<Error> open_journal();
  std::string path_of(const std::string& name) const { return options_.directory + "/" + name; }
  std::string best_name() const { return problem_.is_mapping() ? "best.mapper" : "best.txt"; }

  void forget_rejections() {
    rejections_ = 0;
    answered_ = false;
    no_reply_.reset();
  }
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
  std::vector<Reply> answers(std::span<const ChatRequest> requests);
  std::vector<RecordedReply> asked_now(std::span<const ChatRequest> requests);
  std::vector<RecordedReply> asked_then(std::span<const ChatRequest> requests);
  std::optional<ChatError> ceiling_of(std::span<const ChatRequest> requests) const;
  void count(const RecordedReply& exchange);
  std::vector<Evaluation> estimated_now(std::span<const std::string> texts, GuideDetail detail);
  std::vector<Evaluation> estimated_then(std::size_t count, std::uint64_t texts);
  // Sets how many proposals may be tried in this round; a replayed round has the recorded number.
  void begin_round();
  // With `compare`, counts the unusable replies of this round as evaluations, as far as the budget
  // allows. Returns true if it counted any.
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
  // Checks the text and evaluates it unless the check refuses it. Thread-safe.
  void evaluate(Trial& trial) const;
  std::optional<Evaluation> evaluated(EvaluationRequest request) const;
  // Evaluates a text that looks better than the best again: among many texts some look better by
  // chance.
  void make_sure(Trial& trial) const;
  void take(Trial trial);
  void compare_with_start();
  void write(const char* about, const Json& value, bool lasting) {
    if (!failed_) failed_ = journal_.write(about, value, lasting);
  }
  void keep_best();
  // Removes statements that do not help from the best mapping. The journal does not record this.
  void tidy();
  // Called before new work: ends the replay once the whole journal is replayed.
  void go_on();

  bool interrupted() const { return options_.stop && options_.stop(); }
  int threads_of(const Evaluator& evaluator) const {
    return options_.threads > 0 ? std::min(options_.threads, evaluator.parallel())
                                : evaluator.parallel();
  }
  bool out_of_time() const {
    return options_.budget.seconds > 0 && seconds() >= options_.budget.seconds;
  }
  double seconds() const {
    return seconds_before_ + std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  GuideDetail wanted() const { return std::min(proposer_.reads(), options_.feedback); }
  template <typename Fill>
  void say(TuneEvent::Kind kind, const Fill& fill) {
    if (!options_.on_event) return;
    TuneEvent event;
    event.kind = kind;
    event.spent = outcome_.spent;
    event.spent.seconds = seconds();
    if (outcome_.best) event.best_score = outcome_.best->evaluation.score;
    fill(&event);
    options_.on_event(event);
  }

  const Problem& problem_;
  Evaluator& evaluator_;
  Proposer& proposer_;
  ChatClient* model_;
  Evaluator* estimator_;
  const TuneOptions& options_;
  Clock::time_point begin_;
  double seconds_before_ = 0;   // seconds used before the search was resumed
  double estimates_until_ = 0;  // time until which this round may estimate, in seconds

  std::optional<FileLock> lock_;
  Journal journal_;
  History history_;
  Tried tried_;
  TuneOutcome outcome_;
  std::size_t most_ = 1;
  std::int64_t steps_ = 0;
  int rejections_ = 0, repeated_ = 0;    // rounds without a proposal, free proposals, in a row
  std::optional<std::string> rejected_;  // last rejection of this round
  std::size_t unusable_ = 0;             // unusable replies of this round
  std::optional<ChatError> hopeless_;    // an error of the model that a retry cannot cure
  bool answered_ = false;                // the model replied since the last proposal
  std::optional<ChatError> no_reply_;    // last missing reply since the last proposal
  std::optional<ChatError> ceiling_;     // the budget error that prevented a question in this round
  bool resuming_ = false;                // a resumed search that has not yet begun new work
  bool worked_ = false;                  // something was tried, asked or estimated anew
  bool replayed_round_ = false;          // the journal answered all questions of this round
  bool broken_off_ = false;  // unanswered questions remain; a resumed search asks them again
  std::optional<Error> failed_;
  mutable std::atomic<bool> stopped_ = false;  // once true, stays true
};

// --------------------------------------------------------------------------------------- the model

std::vector<Reply> Search::ask(std::span<const ChatRequest> requests) {
  std::vector<Reply> all;
  while (!requests.empty()) {
    const auto some = requests.first(std::min<std::size_t>(requests.size(), kMostAsked));
    for (auto& answer : answers(some)) all.push_back(std::move(answer));
    requests = requests.subspan(some.size());
  }
  return all;
}

// Writes {"asked": [request, ...]} and one line for each reply as it arrives. A request that was
// interrupted is asked once more.
std::vector<Reply> Search::answers(std::span<const ChatRequest> requests) {
  std::vector<Reply> replies(requests.size(), unanswered());
  std::vector<ChatRequest> open(requests.begin(), requests.end());
  std::vector<std::size_t> places(open.size());  // index of each open request in `replies`
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  while (!open.empty() && !failed_ && !broken_off_) {
    if (!journal_.replaying() && model_ == nullptr) {
      hopeless_ = ChatError{ChatError::Code::kUnsupported, "there is no model to ask"};
      replayed_round_ = false;
      return std::vector<Reply>(requests.size(), *hopeless_);
    }
    std::vector<RecordedReply> more = journal_.replaying() ? asked_then(open) : asked_now(open);
    if (failed_) break;
    std::vector<ChatRequest> again;
    std::vector<std::size_t> again_places;
    for (std::size_t i = 0; i < more.size(); ++i) {
      count(more[i]);
      Reply& reply = replies[places[i]] = std::move(more[i].reply);
      if (reply || reply.error().code != ChatError::Code::kStopped) continue;
      again.push_back(std::move(open[i]));
      again_places.push_back(places[i]);
    }
    open = std::move(again);
    places = std::move(again_places);
    broken_off_ = !open.empty() && stop();
  }
  return replies;
}

// Asks the model concurrently, and records each reply with its cost as it arrives.
std::vector<RecordedReply> Search::asked_now(std::span<const ChatRequest> requests) {
  go_on();
  worked_ = true;
  replayed_round_ = false;
  write("asked", asked_line(requests), false);
  if (failed_) return {};
  std::vector<RecordedReply> exchanges(requests.size());
  std::mutex mutex;  // guards the journal and the variables below
  std::optional<Error> failed;
  const ChatSpending begin = model_->spent();
  TuneSpending said, before;  // said: sum of the replies; before: counted so far, the larger of
                              // `said` and the client's count
  const auto settle = [&](std::size_t i, Reply reply) {
    const std::lock_guard lock(mutex);
    const ChatSpending now = model_->spent();
    RecordedReply& exchange = exchanges[i];
    exchange.of = i;
    if (reply) said.tokens += reply->usage.input_tokens + reply->usage.output_tokens;
    if (reply) said.money += reply->money.value_or(0);
    exchange.reply = std::move(reply);
    const std::int64_t tokens =
        now.input_tokens + now.output_tokens - begin.input_tokens - begin.output_tokens;
    exchange.tokens = std::max(tokens, said.tokens) - before.tokens;
    exchange.money = std::max(now.money - begin.money, said.money) - before.money;
    before.tokens += exchange.tokens;
    before.money += exchange.money;
    if (!failed) failed = journal_.write("reply", tuning::json_of(exchange), true);
    if (failed) stopped_ = true;  // do not wait for the other replies
  };
  if (const auto ceiling = ceiling_of(requests)) {
    for (std::size_t i = 0; i < requests.size(); ++i) settle(i, *ceiling);
  } else {
    say(TuneEvent::Kind::kAsking, [](TuneEvent*) {});
    const ChatClient::Watch watch{[this] { return stop(); }, {}};
    in_parallel(requests.size(), kMostAsked, [&](std::size_t i) {
      Reply reply = model_->ask(requests[i], watch);
      if (reply) cut(&reply->text);
      if (reply) cut(&reply->reasoning);
      settle(i, std::move(reply));
    });
  }
  failed_ = std::move(failed);
  return exchanges;
}

// Returns an error if the requests could exceed the budget of tokens or money.
std::optional<ChatError> Search::ceiling_of(std::span<const ChatRequest> requests) const {
  TuneSpending most;
  for (const ChatRequest& request : requests) {
    const TuneSpending one = most_of(request, model_);
    most.tokens += one.tokens;
    most.money += one.money;
  }
  const TuneBudget& budget = options_.budget;
  const TuneSpending& spent = outcome_.spent;
  const std::string next = requests.size() == 1
                               ? std::string("the next question")
                               : fmt::format("the next {} questions at once", requests.size());
  if (budget.tokens > 0 && spent.tokens + most.tokens > budget.tokens) {
    return ChatError{ChatError::Code::kCeiling,
                     fmt::format("{} may take {} tokens, {} of {} are spent", next, most.tokens,
                                 spent.tokens, budget.tokens)};
  }
  if (budget.money > 0 && spent.money + most.money > budget.money) {
    ChatError error{ChatError::Code::kCeiling,
                    fmt::format("{} may cost {:.6g}, {:.6g} of {:.6g} are spent", next, most.money,
                                spent.money, budget.money)};
    error.of_money = true;
    return error;
  }
  return std::nullopt;
}

// Returns the recorded replies. Sets failed_ if the journal records other requests.
std::vector<RecordedReply> Search::asked_then(std::span<const ChatRequest> requests) {
  std::vector<std::optional<RecordedReply>> known(requests.size());
  auto line = journal_.next("asked");
  if (line && *line != asked_line(requests)) {
    line = journal_.another_way("the search now asks the model something else");
  }
  if (!line) failed_ = line.error();
  for (std::size_t left = known.size(); left > 0 && !failed_ && journal_.replaying(); --left) {
    line = journal_.next("reply");
    const auto recorded = line ? tuning::reply_of(*line) : std::nullopt;
    if (!line) {
      failed_ = line.error();
    } else if (!recorded || recorded->of >= known.size() || known[recorded->of]) {
      failed_ = journal_.damaged(fmt::format("a reply to one of {} questions is due", left));
    } else {
      known[recorded->of] = recorded;
    }
  }
  std::vector<RecordedReply> all;
  for (std::size_t i = 0; i < known.size() && !failed_; ++i) {
    if (!known[i]) {
      // The recorded process ended before the reply arrived. The reply may have been paid for.
      const TuneSpending most = most_of(requests[i], model_);
      known[i] = {i, unanswered(), most.tokens, most.money};
      write("reply", tuning::json_of(*known[i]), true);
    }
    all.push_back(*std::move(known[i]));
  }
  return all;
}

// Adds the cost of a reply to the spending, and notes errors.
void Search::count(const RecordedReply& exchange) {
  TuneSpending& spent = outcome_.spent;
  spent.tokens += exchange.tokens;
  spent.money += exchange.money;
  const Reply& reply = exchange.reply;
  const bool ceiling = !reply && reply.error().code == ChatError::Code::kCeiling;
  // A request stopped by the budget was not sent, unless an earlier attempt failed and cost tokens.
  if (!ceiling || exchange.tokens > 0) ++spent.model_calls;
  if (ceiling) ceiling_ = reply.error();
  if (!reply && will_fail_again(reply.error().code)) hopeless_ = reply.error();
  if (reply) answered_ = true;
  if (!reply) no_reply_ = reply.error();
}

// Estimates texts within the budget, or returns the recorded estimates during a replay.
std::vector<Evaluation> Search::estimate(std::span<const std::string> texts, GuideDetail detail) {
  if (estimator_ == nullptr || failed_) return {};
  std::size_t count = texts.size();
  if (options_.budget.estimates > 0) {
    const std::int64_t left = options_.budget.estimates - outcome_.spent.estimates;
    count = std::min(count, static_cast<std::size_t>(std::max<std::int64_t>(left, 0)));
  }
  if (count == 0) return {};
  std::uint64_t hash = 0;
  for (const std::string& text : texts) hash = mix(hash ^ tuning::hash_of(text)) + 1;
  const bool recorded = journal_.replaying();
  outcome_.spent.estimates += static_cast<std::int64_t>(count);
  std::vector<Evaluation> all =
      recorded ? estimated_then(count, hash) : estimated_now(texts.first(count), detail);
  outcome_.spent.estimates -= static_cast<std::int64_t>(count - all.size());
  if (recorded || stop()) return all;  // after a stop, results may be incomplete
  Json results = Json::array();
  for (const Evaluation& evaluation : all) results.push_back(tuning::json_of(evaluation));
  Json line = {{"texts", hash}, {"results", std::move(results)}};
  if (all.size() < count) line["out_of_time"] = true;
  write("estimated", line, false);
  return all;
}

// Estimates concurrently. Results from the first estimate that was not started are dropped.
std::vector<Evaluation> Search::estimated_now(std::span<const std::string> texts,
                                              GuideDetail detail) {
  go_on();
  worked_ = true;
  say(TuneEvent::Kind::kEstimating,
      [&](TuneEvent* event) { event->most_estimates = options_.budget.estimates; });
  std::vector<Evaluation> all(texts.size());
  std::atomic<std::size_t> late = texts.size();  // index of the first estimate that was not started
  in_parallel(texts.size(), threads_of(*estimator_), [&](std::size_t i) {
    if (stop()) return;
    if (options_.budget.seconds > 0 && seconds() >= estimates_until_) {
      for (std::size_t first = late; i < first && !late.compare_exchange_weak(first, i);) {
      }
      return;
    }
    EvaluationRequest request{texts[i], detail};
    request.stop = [this] { return stop(); };
    all[i] = estimator_->evaluate(request);
    keep_what_is_written(&all[i]);
  });
  all.resize(late);
  return all;
}

// Returns the recorded estimates. Sets failed_ if the journal records other texts or another number
// of them.
std::vector<Evaluation> Search::estimated_then(std::size_t count, std::uint64_t texts) {
  std::vector<Evaluation> all;
  const auto line = journal_.next("estimated");
  if (!line) {
    failed_ = line.error();
    return {};
  }
  const auto results = line->is_object() ? line->find("results") : line->end();
  const bool out_of_time = line->is_object() && line->contains("out_of_time");
  if (results == line->end() || !results->is_array() ||
      (out_of_time ? results->size() >= count : results->size() != count)) {
    failed_ = journal_.damaged(fmt::format("{} estimates are due", count));
  } else if (!line->contains("texts") || (*line)["texts"] != texts) {
    failed_ = journal_.another_way("the search now estimates something else");
  }
  for (std::size_t i = 0; !failed_ && i < results->size(); ++i) {
    const auto evaluation = tuning::evaluation_of((*results)[i]);
    if (evaluation) all.push_back(*evaluation);
    if (!evaluation) failed_ = journal_.damaged(fmt::format("estimate {} is none", i + 1));
  }
  return failed_ ? std::vector<Evaluation>() : all;
}

// -------------------------------------------------------------------------------------- proposals

// Returns the recorded trial of a proposal; nullopt at the end of the journal.
std::optional<Search::Trial> Search::replayed(const Proposal& proposal) {
  if (!journal_.replaying()) return std::nullopt;
  const auto line = journal_.next("step");
  auto recorded = line ? tuning::step_of(*line) : std::nullopt;
  if (!line) {
    failed_ = line.error();
  } else if (!recorded || recorded->step.number != steps_ + 1) {
    failed_ = journal_.damaged(fmt::format("it should be step {}", steps_ + 1));
  } else if (recorded->step.proposal.text != proposal.text) {
    failed_ = journal_.another_way("the search now proposes something else than it did");
  }
  if (failed_) return std::nullopt;
  seconds_before_ = std::max(seconds_before_, recorded->seconds);
  return Trial{proposal,
               evaluator_.canonical(proposal.text),
               std::move(recorded->step.evaluation),
               recorded->repeated,
               recorded->free,
               true,
               recorded->again};
}

// A repeated text is free, except in a comparison.
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
  if (!tuning::sound(evaluation)) {
    Evaluation none;
    none.status = Evaluation::Status::kFailed;
    none.feedback.execution = fmt::format(
        "The evaluator gave the score {}, not a finite number above 0.", evaluation.score);
    evaluation = std::move(none);
  }
  if (stop()) return std::nullopt;
  return evaluation;
}

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
  hopeless_.reset();
  ceiling_.reset();
  estimates_until_ = seconds() + kTimeToEstimate * (options_.budget.seconds - seconds());
  replayed_round_ = journal_.replaying();
  if (replayed_round_) {
    const auto line = journal_.next("round");
    if (!line) {
      failed_ = line.error();
    } else if (!line->is_number_unsigned() || *line < 1 || *line > kUnbounded) {
      failed_ = journal_.damaged("it is not a number of proposals");
    } else {
      most_ = line->get<std::size_t>();
    }
    return;
  }
  const std::int64_t left = options_.budget.evaluations - outcome_.spent.evaluations;
  most_ = options_.budget.evaluations == 0
              ? kUnbounded
              : std::clamp<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(left, 1)),
                                        1, kUnbounded);
  write("round", most_, false);
}

bool Search::count_unusable(std::size_t proposals) {
  if (!options_.compare || failed_ || broken_off_) return false;
  const std::size_t room = most_ - std::min(most_, proposals);
  const auto count = static_cast<std::int64_t>(std::min(unusable_, room));
  outcome_.spent.evaluations += count;
  outcome_.spent.unusable += count;
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
    if (failed_) return;
    go_on();
    trials.push_back(looked_up(std::move(proposal)));
    Trial& last = trials.back();
    const bool is_first = batch.emplace(last.canonical, trials.size() - 1).second;
    if (!last.evaluation && is_first) open.push_back(trials.size() - 1);
    say(TuneEvent::Kind::kProposed, [&](TuneEvent* event) { event->proposal = &last.proposal; });
  }
  const int threads = threads_of(evaluator_);
  std::size_t taken = 0;
  for (std::size_t first = 0; taken < trials.size();) {
    const std::size_t count = std::min(open.size() - first, static_cast<std::size_t>(threads));
    in_parallel(count, threads, [&](std::size_t i) { evaluate(trials[open[first + i]]); });
    first += count;
    for (; taken < trials.size(); ++taken) {
      Trial& trial = trials[taken];
      if (!trial.evaluation) {  // duplicate within the batch
        if (batch.at(trial.canonical) == taken) break;
        trial = looked_up(std::move(trial.proposal));
      }
      make_sure(trial);
      if (!trial.evaluation) break;
      take(std::move(trial));
      if (failed_) return;
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
  keep_what_is_written(&step.evaluation);
  const Evaluation& evaluation = step.evaluation;
  const bool is_best = history_.is_better(evaluation);
  const bool within_noise =
      !is_best && evaluation.ok() && evaluation.score < history_.best()->evaluation.score;
  if (!trial.recorded) {
    Json line = tuning::json_of(step);
    if (within_noise) line["within_noise"] = true;
    if (trial.repeated) line["repeated"] = true;
    if (trial.free) line["free"] = true;
    if (trial.again) line["again"] = true;
    line["seconds"] = seconds();
    write("step", line, !evaluator_.simulated());
    if (failed_) return;
  }
  if (!trial.repeated) tried_.add(trial.canonical, step);
  repeated_ = trial.free ? repeated_ + 1 : 0;
  if (!trial.free) ++outcome_.spent.evaluations;
  if (trial.again) ++outcome_.spent.again;
  if (is_best) {
    outcome_.best = step;
    outcome_.trajectory.emplace_back(outcome_.spent.evaluations, evaluation.score);
    if (!trial.recorded) keep_best();
  }
  Step seen = step;
  if (!trial.repeated) cut_to(wanted(), &seen.evaluation.feedback);
  history_.add(seen);
  proposer_.learn(seen);
  if (trial.recorded) return;
  worked_ = true;
  say(TuneEvent::Kind::kEvaluated, [&](TuneEvent* event) {
    event->step = &step;
    event->is_best = is_best;
    event->within_noise = within_noise;
    event->from_cache = trial.repeated;
  });
}

void Search::keep_best() {
  if (options_.directory.empty() || failed_) return;
  const std::string& text = outcome_.best->proposal.text;
  const bool is_default = problem_.is_mapping() && text.empty();
  failed_ = replace_file(path_of(best_name()),
                         is_default ? "# No statement: the default mapper decides.\n" : text);
}

// Compares the best with the start once, also if the search is resumed later.
void Search::compare_with_start() {
  const std::optional<Step>&best = outcome_.best, &start = outcome_.start;
  if (evaluator_.simulated() || !best || !start || best->number == start->number) return;
  if (!start->evaluation.ok() || failed_ || journal_.replaying()) return;
  const Json& before = journal_.beside_start();
  if (const auto recorded = tuning::step_of(before)) {
    if (recorded->step.number == best->number) outcome_.beside_start = recorded->step.evaluation;
  }
  const bool over = outcome_.end == TuneOutcome::End::kStopped || out_of_time() || stop();
  if (outcome_.beside_start || over) return;
  auto evaluation = evaluated(
      {best->proposal.text, kOfMeasured, start->proposal.text, start->evaluation.score, true});
  if (!evaluation) return;
  keep_what_is_written(&*evaluation);
  outcome_.beside_start = *evaluation;
  write(tuning::kBesideStart, tuning::json_of(Step{best->number, {}, *evaluation}), true);
}

// Tries the last statements first, because statements use what stands before them.
void Search::tidy() {
  using End = TuneOutcome::End;
  const bool regular = outcome_.end == End::kBudget || outcome_.end == End::kExhausted;
  const bool free = problem_.is_mapping() && evaluator_.simulated() && !options_.compare;
  if (!regular || !free || !outcome_.best || failed_ || journal_.replaying()) return;
  std::set<std::string, std::less<>> given;
  for (const tuning::Stretch each : tuning::statements_in(problem_.start)) {
    given.insert(problem_.start.substr(each.begin, each.end - each.begin));
  }
  const auto end = Clock::now() + kLongestTidying;
  std::string& text = outcome_.best->proposal.text;
  Evaluation& best = outcome_.best->evaluation;
  const bool risky = evaluator_.may_fail(text);
  const std::vector<tuning::Stretch> statements = tuning::statements_in(text);
  for (auto each = statements.rbegin(); each != statements.rend(); ++each) {
    if (interrupted() || Clock::now() > end) break;
    std::string statement = text.substr(each->begin, each->end - each->begin);
    if (given.contains(statement)) continue;
    EvaluationRequest request{tuning::without(text, *each)};
    if (evaluator_.check(request.text, GuideDetail::kNone)) continue;
    if (!risky && evaluator_.may_fail(request.text)) continue;
    request.stop = [this] { return interrupted(); };
    const Evaluation without = evaluator_.evaluate(request);
    if (!tuning::sound(without) || !without.ok() || without.score > best.score) continue;
    if (without.score < best.score) {
      best.score = without.score;
      best.values = without.values;
      outcome_.trajectory.emplace_back(outcome_.spent.evaluations, best.score);
    }
    text = std::move(request.text);
    outcome_.dropped.push_back(std::move(statement));
  }
  if (!outcome_.dropped.empty()) keep_best();
}

void Search::go_on() {
  if (!resuming_ || journal_.replaying()) return;
  resuming_ = false;
  const TuneSpending& spent = outcome_.spent;
  if (model_ != nullptr) model_->add_spent(spent.tokens, spent.money);
  if (outcome_.best) keep_best();
  say(TuneEvent::Kind::kResumed, [](TuneEvent*) {});
}

// ------------------------------------------------------------------------------------- the search

// Locks the search's directory and opens the journal. The first line holds everything that must be
// the same when the search is resumed.
std::optional<Error> Search::open_journal() {
  if (options_.directory.empty()) return std::nullopt;
  if (!options_.resume && mkdir(options_.directory.c_str(), 0777) != 0 && errno != EEXIST) {
    return Error{Error::Code::kUnreadable, fmt::format("cannot make the directory `{}`: {}",
                                                       options_.directory, std::strerror(errno))};
  }
  if (!options_.resume) static_cast<void>(system::sync_folder(options_.directory + "/.."));
  if (!options_.resume || std::filesystem::is_directory(options_.directory)) {
    auto lock = FileLock::take(path_of("lock"));
    if (!lock) return lock.error();
    lock_ = std::move(lock).value();
    for (const char* name : kReplaced) remove_left_over(path_of(name));
  }
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
    search["marks"][tuning::characters_of(name)] = fmt::format("{:016x}", tuning::hash_of(content));
  }
  auto journal = Journal::open(path_of("journal.jsonl"), search, options_.resume);
  if (!journal) return journal.error();
  journal_ = std::move(journal).value();
  resuming_ = journal_.replaying();
  return std::nullopt;
}

// Checks the budgets and the user's stop. A replay ignores the budgets.
bool Search::goes_on() {
  using End = TuneOutcome::End;
  const TuneBudget& budget = options_.budget;
  if (journal_.replaying()) return !interrupted() || end(End::kStopped);
  go_on();
  if (failed_) return false;
  if (out_of_time()) return end_of_budget("time");
  if (stop()) return end(End::kStopped);
  if (budget.evaluations > 0 && outcome_.spent.evaluations >= budget.evaluations) {
    return end_of_budget("evaluations");
  }
  if (repeated_ >= kMostRepeated) {
    return end(End::kExhausted,
               fmt::format("{} proposals in a row were refused or had been tried", kMostRepeated));
  }
  return true;
}

// Runs rounds until the budget, the proposer, the model or the user ends the search.
Result<TuneOutcome> Search::run() {
  using End = TuneOutcome::End;
  if (auto error = open_journal()) return *error;
  if (options_.evaluate_start && goes_on()) try_all({{problem_.start, "the start", -1}});
  if (!failed_ && outcome_.start && !outcome_.start->evaluation.ok() && !problem_.is_mapping()) {
    const Feedback& feedback = outcome_.start->evaluation.feedback;
    std::string help = feedback.explain.empty() ? "" : feedback.explain.front();
    for (const std::string& line : feedback.last_lines) help += "\n    " + line;
    return Error{Error::Code::kMalformed,
                 fmt::format("the text to begin with cannot be used: {}", feedback.execution),
                 std::move(help)};
  }
  while (!failed_ && goes_on()) {
    begin_round();
    if (failed_) break;
    std::vector<Proposal> proposals = proposer_.propose(*this);
    if (failed_) break;
    if (broken_off_) proposals.clear();  // with all replies the proposals might differ
    const bool counted = count_unusable(proposals.size());
    if (!proposals.empty()) {
      forget_rejections();
      try_all(std::move(proposals));
      continue;
    }
    if (stop()) continue;
    if (replayed_round_ && (ceiling_ || hopeless_)) continue;  // continue after the recorded end
    if (ceiling_) {
      end_of_budget(ceiling_->of_money ? "money" : "tokens", ceiling_->message);
      if (outcome_.spent.model_calls == 0) outcome_.why += ": nothing was asked";
    } else if (hopeless_) {
      end(End::kModel, hopeless_->message);
      // NOLINTNEXTLINE(bugprone-branch-clone): the conditions are asked in this order
    } else if (counted && options_.budget.evaluations > 0) {  // this ends the search
      forget_rejections();
      continue;
    } else if (!rejected_ && journal_.replaying()) {
      failed_ = journal_.another_way("the search now ends here");
    } else if (!rejected_) {
      end(End::kExhausted);
    } else if (++rejections_ >= kMostRejected && replayed_round_) {
      forget_rejections();
      continue;
    } else if (rejections_ >= kMostRejected && !answered_ && no_reply_) {
      end(End::kModel, no_reply_->message);
    } else if (rejections_ >= kMostRejected) {
      end(End::kRejected, *rejected_);
    } else {
      continue;
    }
    break;
  }
  tidy();
  compare_with_start();
  if (failed_) return *failed_;
  outcome_.steps = steps_;
  outcome_.spent_before = options_.resume && outcome_.end == End::kBudget && !worked_;
  outcome_.spent.seconds = outcome_.spent_before ? seconds_before_ : seconds();
  if (!options_.directory.empty() && !journal_.replaying()) {
    if (auto error = tuning::report(options_.directory, problem_, evaluator_, outcome_)) {
      return *error;
    }
    if (const std::string findings = proposer_.findings(); !findings.empty()) {
      if (auto error = replace_file(path_of("findings.txt"), findings)) return *error;
    }
  }
  return std::move(outcome_);
}

}  // namespace

Result<TuneOutcome> tune(const Problem& problem, Evaluator& evaluator, Proposer& proposer,
                         ChatClient* model, Evaluator* estimator, const TuneOptions& options) {
  return Search(problem, evaluator, proposer, model, estimator, options).run();
}

}  // namespace groma
