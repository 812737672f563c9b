// tune(): the loop between proposer and evaluator.
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
#include "system/sync.h"
#include "tune/journal.h"
#include "tune/recent.h"
#include "tune/reply_text.h"
#include "tune/report.h"
#include "tune/statements.h"

namespace groma {
namespace {

using tuning::Journal;
using tuning::Json;
using tuning::RecordedReply;
using Clock = std::chrono::steady_clock;

constexpr int kMostRejected = 5;             // rounds without a proposal, in a row
constexpr int kMostRepeated = 200;           // proposals that cost nothing, in a row
constexpr int kMostAsked = 8;                // at once
constexpr double kTimeToEstimate = 1.0 / 3;  // of what is left, in a round
constexpr auto kLongestTidying = std::chrono::seconds(10);
constexpr std::size_t kUnbounded = 1 << 20;  // proposals
// The files of a search's directory that are replaced whole, also by the command.
constexpr const char* kReplaced[] = {"best.mapper", "best.txt", "findings.txt", "report.txt",
                                     "verified.mapper"};
// Asked for whoever reads it, since people do; of what is simulated more would cost more.
constexpr GuideDetail kOfSimulated = GuideDetail::kExecution, kOfMeasured = GuideDetail::kExplain;

using Reply = Result<ChatReply, ChatError>;

// As much of it as is looked at, whole characters.
void cut(std::string* text) {
  if (text->size() <= tuning::kMaxReplyBytes) return;
  std::size_t end = tuning::kMaxReplyBytes;
  while (end > 0 && (static_cast<unsigned char>((*text)[end]) & 0xC0U) == 0x80U) --end;
  *text = text->substr(0, end) + fmt::format("\n[{} further bytes]\n", text->size() - end);
}

// What a prompt and its answer may cost: a token for three bytes, which odd texts may exceed.
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

// work(0), ..., work(count - 1), so many at once; the caller's thread is one of them.
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

// As it is where a journal gives it.
void keep_what_is_written(Evaluation* evaluation) {
  Feedback& feedback = evaluation->feedback;
  feedback.fixes.clear();
  feedback.matches.clear();
  feedback.score.reset();
}

// Results of texts that were tried; of many the last.
class Tried {
 public:
  struct Known {  // of an Evaluation that without feedback: there are many
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
  // Not while the journal is gone through, which goes as it went.
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
  // Whether to go on; sets the end where not.
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
  // Sets how many proposals may be tried: as many as then, where the round was written down.
  void begin_round();
  // Counts the replies of this round that were of no use beside so many proposals, in a comparison,
  // as far as the budget goes. Returns whether there are any.
  bool count_unusable(std::size_t proposals);
  void try_all(std::vector<Proposal> proposals);
  // A proposal and what became of it.
  struct Trial {
    Proposal proposal;
    std::string canonical;
    std::optional<Evaluation> evaluation;
    bool repeated = false, free = false, recorded = false, again = false;
  };
  std::optional<Trial> replayed(const Proposal& proposal);
  // What is known of it where it was tried before.
  Trial looked_up(Proposal proposal) const;
  // Checks it, and runs it unless it is refused; from any thread.
  void evaluate(Trial& trial) const;
  std::optional<Evaluation> evaluated(EvaluationRequest request) const;
  // Evaluates what looks better once more: of many texts some look so by chance.
  void make_sure(Trial& trial) const;
  void take(Trial trial);
  void compare_with_start();
  void write(const char* about, const Json& value, bool lasting) {
    if (!failed_) failed_ = journal_.write(about, value, lasting);
  }
  void keep_best();
  // Takes out of the best mapping what is worth nothing; of this the journal knows nothing.
  void tidy();
  // From here on all is new, where the journal has been gone through.
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
  double seconds_before_ = 0;   // of the search that is resumed
  double estimates_until_ = 0;  // seconds, of this round

  std::optional<FileLock> lock_;
  Journal journal_;
  History history_;
  Tried tried_;
  TuneOutcome outcome_;
  std::size_t most_ = 1;
  std::int64_t steps_ = 0;
  int rejections_ = 0, repeated_ = 0;    // in a row
  std::optional<std::string> rejected_;  // in this round
  std::size_t unusable_ = 0;             // replies of no use as proposals, in this round
  std::optional<ChatError> hopeless_;    // of the model
  bool answered_ = false;                // by the model, since the last proposal
  std::optional<ChatError> no_reply_;    // since then, the last
  std::optional<ChatError> ceiling_;     // that stood in a question's way, in this round
  bool resuming_ = false;                // there is more in the journal, or there was until now
  bool replayed_round_ = false;          // nobody was asked in it but the journal
  bool broken_off_ = false;  // questions are open, which are asked again when it is resumed
  std::optional<Error> failed_;
  mutable std::atomic<bool> stopped_ = false;  // once and for all, so that nobody waits for more
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

// {"asked": [request, ...]}, and then for each a line as its reply comes; what was stopped is asked
// once more.
std::vector<Reply> Search::answers(std::span<const ChatRequest> requests) {
  std::vector<Reply> replies(requests.size(), unanswered());
  std::vector<ChatRequest> open(requests.begin(), requests.end());
  std::vector<std::size_t> places(open.size());  // among the replies
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

std::vector<RecordedReply> Search::asked_now(std::span<const ChatRequest> requests) {
  go_on();
  replayed_round_ = false;
  write("asked", asked_line(requests), false);
  if (failed_) return {};
  std::vector<RecordedReply> exchanges(requests.size());
  std::mutex mutex;  // of the journal and all below
  std::optional<Error> failed;
  const ChatSpending begin = model_->spent();
  TuneSpending said, before;  // by the replies; by them or the client, which is more
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
    if (failed) stopped_ = true;  // nobody waits for the others
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

// Why these are not asked.
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

// What the journal has of it. Sets failed_ where that is something else.
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
      // Whoever sent it off did not live to read the answer: it may have been paid for.
      const TuneSpending most = most_of(requests[i], model_);
      known[i] = {i, unanswered(), most.tokens, most.money};
      write("reply", tuning::json_of(*known[i]), true);
    }
    all.push_back(*std::move(known[i]));
  }
  return all;
}

void Search::count(const RecordedReply& exchange) {
  TuneSpending& spent = outcome_.spent;
  spent.tokens += exchange.tokens;
  spent.money += exchange.money;
  const Reply& reply = exchange.reply;
  const bool ceiling = !reply && reply.error().code == ChatError::Code::kCeiling;
  // Not asked at all, unless it was in vain and only then could not be asked again.
  if (!ceiling || exchange.tokens > 0) ++spent.model_calls;
  if (ceiling) ceiling_ = reply.error();
  if (!reply && will_fail_again(reply.error().code)) hopeless_ = reply.error();
  if (reply) answered_ = true;
  if (!reply) no_reply_ = reply.error();
}

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
  if (recorded || stop()) return all;  // stopped, they may have been broken off
  Json results = Json::array();
  for (const Evaluation& evaluation : all) results.push_back(tuning::json_of(evaluation));
  Json line = {{"texts", hash}, {"results", std::move(results)}};
  if (all.size() < count) line["out_of_time"] = true;
  write("estimated", line, false);
  return all;
}

std::vector<Evaluation> Search::estimated_now(std::span<const std::string> texts,
                                              GuideDetail detail) {
  go_on();
  say(TuneEvent::Kind::kEstimating,
      [&](TuneEvent* event) { event->most_estimates = options_.budget.estimates; });
  std::vector<Evaluation> all(texts.size());
  std::atomic<std::size_t> late = texts.size();  // the first that was not begun
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

// What the journal has of it; sets failed_ where that is not of so many of these texts.
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

// As it is written down; nothing where the journal ends here.
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

// Nothing where it may have been broken off.
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
      failed_ = journal_.damaged("it is no number of proposals");
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

void Search::try_all(std::vector<Proposal> proposals) {
  proposals.resize(std::min(proposals.size(), most()));
  std::vector<Trial> trials;
  std::vector<std::size_t> open;  // that must be evaluated
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
      if (!trial.evaluation) {  // in the batch twice
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

void Search::take(Trial trial) {
  Step step{++steps_, std::move(trial.proposal), *std::move(trial.evaluation)};
  const bool is_start = step.number == 1 && options_.evaluate_start;
  if (is_start) outcome_.start = step;
  // A text of which nothing says whether it or the evaluator is at fault: tried again when it is
  // resumed.
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

// Once for each best, however often the search is resumed.
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

// The last statements first: what they use stands before them.
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
    if (broken_off_) proposals.clear();  // they may have been others with all the answers
    const bool counted = count_unusable(proposals.size());
    if (!proposals.empty()) {
      forget_rejections();
      try_all(std::move(proposals));
      continue;
    }
    if (stop()) continue;
    if (replayed_round_ && (ceiling_ || hopeless_)) continue;  // it ended then, for then
    if (ceiling_) {
      end_of_budget(ceiling_->of_money ? "money" : "tokens", ceiling_->message);
      if (outcome_.spent.model_calls == 0) outcome_.why += ": nothing was asked";
    } else if (hopeless_) {
      end(End::kModel, hopeless_->message);
      // NOLINTNEXTLINE(bugprone-branch-clone): the conditions are asked in this order
    } else if (counted && options_.budget.evaluations > 0) {  // which ends the search then
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
  outcome_.spent.seconds = seconds();
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
