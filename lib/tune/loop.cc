// tune(): the loop between proposer and evaluator.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <unordered_map>

#include "base/names.h"
#include "groma/system.h"
#include "groma/tune.h"
#include "groma/version.h"
#include "tune/journal.h"
#include "tune/recent.h"
#include "tune/report.h"

namespace groma {
namespace {

using tuning::Journal;
using tuning::Json;
using Clock = std::chrono::steady_clock;

constexpr int kMostRejected = 5;             // rounds without a proposal, in a row
constexpr int kMostRepeated = 200;           // proposals that cost nothing, in a row
constexpr int kMostAsked = 8;                // at once
constexpr std::size_t kUnbounded = 1 << 20;  // proposals

// What a prompt and its answer may cost at most: a token for three bytes.
std::int64_t most_tokens(const ChatRequest& request) {
  std::size_t bytes = request.constraint.json_schema.size();
  for (const ChatMessage& message : request.messages) bytes += message.text.size();
  return static_cast<std::int64_t>(bytes / 3) + request.max_tokens;
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

// Results of texts that were tried; of many the last.
class Tried {
 public:
  struct Known {
    std::int64_t number = 0;
    Evaluation evaluation;  // without feedback
  };

  const Known* find(const std::string& canonical) const { return known_.find(key_of(canonical)); }
  void add(const std::string& canonical, const Step& step) {
    Known known{step.number, step.evaluation};
    known.evaluation.feedback = {};
    known_.add(key_of(canonical), std::move(known));
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
  bool stop() const override {
    return failed_ || (options_.stop && options_.stop()) || out_of_time();
  }

 private:
  std::optional<Error> open_journal();
  std::string path_of(const std::string& name) const { return options_.directory + "/" + name; }
  std::string best_name() const { return problem_.is_mapping() ? "best.mapper" : "best.txt"; }

  // Whether to go on; sets the end where not.
  bool goes_on();
  bool end(TuneOutcome::End end, std::string why = "") {
    outcome_.end = end;
    outcome_.why = std::move(why);
    return false;
  }
  std::vector<Result<ChatReply, ChatError>> answers(std::span<const ChatRequest> requests);
  // Sets how many proposals may be tried: as many as then, where the round was written down.
  void begin_round();
  void try_all(std::vector<Proposal> proposals);
  // A proposal and what became of it.
  struct Trial {
    Proposal proposal;
    std::string canonical;
    std::optional<Evaluation> evaluation;
    bool repeated = false, free = false, recorded = false;
  };
  std::optional<Trial> replayed(Proposal proposal);
  Trial looked_at(Proposal proposal) const;
  void take(Trial trial);
  void write(const char* about, const Json& value, bool lasting) {
    if (!failed_) failed_ = journal_.write(about, value, lasting);
  }
  void keep_best();

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
    if (history_.best() != nullptr) event.best_score = history_.best()->evaluation.score;
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
  double seconds_before_ = 0;  // of the search that is resumed

  std::optional<FileLock> lock_;
  Journal journal_;
  History history_;
  Tried tried_;
  TuneOutcome outcome_;
  std::size_t most_ = 1;
  std::int64_t steps_ = 0;
  int rejections_ = 0, repeated_ = 0;    // in a row
  std::optional<std::string> rejected_;  // in this round
  std::optional<ChatError> hopeless_;    // of the model
  bool spent_tokens_ = false;
  std::optional<Error> failed_;
};

// --------------------------------------------------------------------------------------- the model

std::vector<Result<ChatReply, ChatError>> Search::ask(std::span<const ChatRequest> requests) {
  std::vector<Result<ChatReply, ChatError>> all;
  while (!requests.empty()) {
    const auto some = requests.first(std::min<std::size_t>(requests.size(), kMostAsked));
    for (auto& answer : answers(some)) all.push_back(std::move(answer));
    requests = requests.subspan(some.size());
  }
  return all;
}

std::vector<Result<ChatReply, ChatError>> Search::answers(std::span<const ChatRequest> requests) {
  const auto all = [&](const ChatError& error) {
    return std::vector<Result<ChatReply, ChatError>>(requests.size(), error);
  };
  Json asked = Json::array();
  std::int64_t most = 0;
  for (const ChatRequest& request : requests) {
    asked.push_back(tuning::json_of(request));
    most += most_tokens(request);
  }
  const bool was_asked = journal_.replaying();
  if (was_asked) {
    auto line = journal_.next("asked");
    if (line && *line != asked) {
      line = tuning::another_way("the search now asks the model something else");
    }
    if (!line) failed_ = line.error();
    // Whoever sent it off may not have lived to read the answer: it may have been paid for.
    if (!journal_.replaying()) outcome_.spent.tokens += most;
  }
  const bool was_answered = journal_.replaying();
  if (!was_answered && !failed_ && model_ == nullptr) {
    hopeless_ = ChatError{ChatError::Code::kUnsupported, "there is no model to ask"};
    return all(*hopeless_);
  }
  if (!was_asked && !failed_) {
    const TuneSpending& spent = outcome_.spent;
    const bool tokens = options_.budget.tokens > 0 && spent.tokens + most > options_.budget.tokens;
    const bool money = options_.budget.money > 0 && spent.money >= options_.budget.money;
    if (tokens || money) {
      spent_tokens_ = true;
      return all({ChatError::Code::kCeiling, "the budget is used up"});
    }
    write("asked", asked, false);
  }
  if (failed_) return all({ChatError::Code::kStopped, failed_->message});

  std::vector<Result<ChatReply, ChatError>> replies =
      all({ChatError::Code::kStopped, "it was stopped"});
  if (was_answered) {
    const auto line = journal_.next("replies");
    if (!line || line->size() != requests.size()) {
      failed_ = line ? Error{Error::Code::kMalformed, "the journal lacks replies"} : line.error();
      return replies;
    }
    for (std::size_t i = 0; i < replies.size(); ++i) replies[i] = tuning::reply_of((*line)[i]);
  } else {
    say(TuneEvent::Kind::kAsking, [](TuneEvent*) {});
    const ChatClient::Watch watch{[this] { return stop(); }, {}};
    in_parallel(requests.size(), kMostAsked,
                [&](std::size_t i) { replies[i] = model_->ask(requests[i], watch); });
    Json lines = Json::array();
    for (const auto& reply : replies) lines.push_back(tuning::json_of(reply));
    if (stop() && !out_of_time() && !failed_) return replies;  // asked again when it is resumed
    write("replies", lines, true);
  }
  outcome_.spent.model_calls += static_cast<std::int64_t>(replies.size());
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (replies[i]) {
      outcome_.spent.tokens += replies[i]->usage.input_tokens + replies[i]->usage.output_tokens;
      outcome_.spent.money += replies[i]->money.value_or(0);
    } else if (replies[i].error().code == ChatError::Code::kCeiling) {
      spent_tokens_ = true;
    } else if (will_fail_again(replies[i].error().code)) {
      hopeless_ = replies[i].error();
    }
  }
  return replies;
}

std::vector<Evaluation> Search::estimate(std::span<const std::string> texts, GuideDetail detail) {
  std::vector<Evaluation> all;
  if (estimator_ == nullptr) return all;
  std::size_t count = texts.size();
  if (options_.budget.estimates > 0) {
    const std::int64_t left = options_.budget.estimates - outcome_.spent.estimates;
    count = std::min(count, static_cast<std::size_t>(std::max<std::int64_t>(left, 0)));
  }
  all.resize(count);
  in_parallel(count, threads_of(*estimator_), [&](std::size_t i) {
    if (stop()) return;
    EvaluationRequest request{texts[i], detail};
    request.stop = [this] { return stop(); };
    all[i] = estimator_->evaluate(request);
  });
  outcome_.spent.estimates += static_cast<std::int64_t>(count);
  return all;
}

// -------------------------------------------------------------------------------------- proposals

// As it is written down; nothing where the journal ends here.
std::optional<Search::Trial> Search::replayed(Proposal proposal) {
  if (!journal_.replaying()) return std::nullopt;
  auto line = journal_.next("step");
  Trial trial{std::move(proposal), {}, {}, false, false, true};
  if (line) {
    Step step = tuning::step_of(*line);
    if (step.proposal.text == trial.proposal.text) {
      trial.evaluation = std::move(step.evaluation);
      trial.repeated = line->value("repeated", false);
      trial.free = line->value("free", false);
      seconds_before_ = std::max(seconds_before_, line->value("seconds", 0.0));
      return trial;
    }
    line = tuning::another_way("the search now proposes something else than it did");
  }
  failed_ = line.error();
  return trial;
}

// Evaluated as far as that takes no run.
Search::Trial Search::looked_at(Proposal proposal) const {
  Trial trial{std::move(proposal), {}, {}};
  trial.canonical = evaluator_.canonical(trial.proposal.text);
  if (const Tried::Known* known = tried_.find(trial.canonical)) {
    trial.evaluation = known->evaluation;
    trial.evaluation->feedback.explain = {
        fmt::format("This was tried before, as number {}.", known->number)};
    trial.repeated = true;
  } else {
    trial.evaluation = evaluator_.check(trial.proposal.text, wanted());
  }
  trial.free = trial.evaluation.has_value() && !options_.compare;
  return trial;
}

void Search::begin_round() {
  rejected_.reset();
  hopeless_.reset();
  spent_tokens_ = false;
  if (journal_.replaying()) {
    const auto line = journal_.next("round");
    if (!line) failed_ = line.error();
    if (line && line->is_number_unsigned())
      most_ = std::max<std::size_t>(line->get<std::size_t>(), 1);
    return;
  }
  const std::int64_t left = options_.budget.evaluations - outcome_.spent.evaluations;
  most_ = options_.budget.evaluations == 0
              ? kUnbounded
              : static_cast<std::size_t>(std::max<std::int64_t>(left, 1));
  write("round", most_, false);
}

void Search::try_all(std::vector<Proposal> proposals) {
  proposals.resize(std::min(proposals.size(), most()));
  std::vector<Trial> trials;
  std::vector<std::size_t> open;  // that must be run
  std::unordered_map<std::string, std::size_t> batch;
  for (Proposal& proposal : proposals) {
    if (!options_.compare) proposal.text = evaluator_.repaired(proposal.text);
    auto trial = replayed(proposal);
    if (failed_) return;
    trials.push_back(trial ? *std::move(trial) : looked_at(std::move(proposal)));
    Trial& last = trials.back();
    if (last.recorded) last.canonical = evaluator_.canonical(last.proposal.text);
    if (!last.evaluation && batch.emplace(last.canonical, trials.size() - 1).second) {
      open.push_back(trials.size() - 1);
    }
    if (!last.recorded) {
      say(TuneEvent::Kind::kProposed, [&](TuneEvent* event) { event->proposal = &last.proposal; });
    }
  }
  const int threads = threads_of(evaluator_);
  std::size_t taken = 0;
  for (std::size_t first = 0; taken < trials.size();) {
    const std::size_t count = std::min(open.size() - first, static_cast<std::size_t>(threads));
    in_parallel(count, threads, [&](std::size_t i) {
      Trial& trial = trials[open[first + i]];
      EvaluationRequest request{trial.proposal.text, wanted()};
      if (outcome_.best) {
        request.incumbent = outcome_.best->proposal.text;
        request.incumbent_score = outcome_.best->evaluation.score;
      }
      request.stop = [this] { return stop(); };
      trial.evaluation = evaluator_.evaluate(request);
      if (stop()) trial.evaluation.reset();  // it may have been broken off
    });
    first += count;
    for (; taken < trials.size(); ++taken) {
      Trial& trial = trials[taken];
      if (!trial.evaluation) {  // in the batch twice
        if (batch.at(trial.canonical) == taken) break;
        trial = looked_at(std::move(trial.proposal));
      }
      take(std::move(trial));
      if (failed_) return;
    }
    if (stop()) return;
  }
}

void Search::take(Trial trial) {
  Step step{++steps_, std::move(trial.proposal), *std::move(trial.evaluation)};
  Feedback& feedback = step.evaluation.feedback;
  feedback.fixes.clear();  // as it is where a journal gives it
  feedback.matches.clear();
  feedback.last_lines.clear();
  feedback.score.reset();
  if (!trial.recorded) {
    Json line = tuning::json_of(step);
    if (trial.repeated) line["repeated"] = true;
    if (trial.free) line["free"] = true;
    line["seconds"] = seconds();
    write("step", line, !evaluator_.simulated());
    if (failed_) return;
  }
  if (!trial.repeated) tried_.add(trial.canonical, step);
  repeated_ = trial.free ? repeated_ + 1 : 0;
  if (!trial.free) ++outcome_.spent.evaluations;
  const Evaluation& evaluation = step.evaluation;
  bool is_best = evaluation.ok() && !outcome_.best;
  if (evaluation.ok() && outcome_.best) {
    const Evaluation& best = outcome_.best->evaluation;
    is_best = evaluation.score < best.score * (1 - std::max(evaluation.noise, best.noise));
  }
  if (step.number == 1 && options_.evaluate_start) outcome_.start = step;
  if (is_best) {
    outcome_.best = step;
    outcome_.trajectory.emplace_back(outcome_.spent.evaluations, evaluation.score);
    if (!journal_.replaying()) keep_best();
  }
  history_.add(step);
  proposer_.learn(step);
  if (trial.recorded) {
    if (!journal_.replaying()) {
      if (outcome_.best) keep_best();
      say(TuneEvent::Kind::kResumed, [](TuneEvent*) {});
    }
    return;
  }
  say(TuneEvent::Kind::kEvaluated, [&](TuneEvent* event) {
    event->step = &step;
    event->is_best = is_best;
    event->from_cache = trial.repeated;
  });
}

void Search::keep_best() {
  if (options_.directory.empty() || failed_) return;
  failed_ = write_file(path_of(best_name()), outcome_.best->proposal.text);
}

// ------------------------------------------------------------------------------------- the search

std::optional<Error> Search::open_journal() {
  if (options_.directory.empty()) return std::nullopt;
  if (!options_.resume && mkdir(options_.directory.c_str(), 0777) != 0 && errno != EEXIST) {
    return Error{Error::Code::kUnreadable, fmt::format("cannot make the directory `{}`: {}",
                                                       options_.directory, std::strerror(errno))};
  }
  if (!options_.resume || std::filesystem::is_directory(options_.directory)) {
    auto lock = FileLock::take(path_of("lock"));
    if (!lock) return lock.error();
    lock_ = std::move(lock).value();
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
                 {"of", options_.fingerprint}};
  auto journal = Journal::open(path_of("journal.jsonl"), search, options_.resume);
  if (!journal) return journal.error();
  journal_ = std::move(journal).value();
  return std::nullopt;
}

bool Search::goes_on() {
  using End = TuneOutcome::End;
  const TuneBudget& budget = options_.budget;
  if (journal_.replaying()) return true;
  if (out_of_time()) return end(End::kBudget);
  if (stop()) return end(End::kStopped);
  if (budget.evaluations > 0 && outcome_.spent.evaluations >= budget.evaluations) {
    return end(End::kBudget);
  }
  if (repeated_ >= kMostRepeated) return end(End::kExhausted);
  return true;
}

Result<TuneOutcome> Search::run() {
  using End = TuneOutcome::End;
  if (auto error = open_journal()) return *error;
  if (options_.evaluate_start && goes_on()) try_all({{problem_.start, "the start", -1}});
  if (!failed_ && outcome_.start && !outcome_.start->evaluation.ok() && !problem_.is_mapping()) {
    // Nothing says then whether the texts or the evaluator are at fault.
    const Feedback& feedback = outcome_.start->evaluation.feedback;
    return Error{Error::Code::kMalformed,
                 fmt::format("the text to begin with cannot be used: {}", feedback.execution),
                 feedback.explain.empty() ? "" : feedback.explain.front()};
  }
  while (!failed_ && goes_on()) {
    begin_round();
    if (failed_) break;
    std::vector<Proposal> proposals = proposer_.propose(*this);
    if (failed_) break;
    if (!proposals.empty()) {
      rejections_ = 0;
      try_all(std::move(proposals));
      continue;
    }
    if (stop()) continue;
    if (spent_tokens_) {
      end(End::kBudget);
    } else if (hopeless_) {
      end(End::kModel, hopeless_->message);
    } else if (!rejected_) {
      end(End::kExhausted);
    } else if (++rejections_ >= kMostRejected) {
      end(End::kRejected, *rejected_);
    } else {
      continue;
    }
    break;
  }
  if (failed_) return *failed_;
  outcome_.spent.seconds = seconds();
  if (!options_.directory.empty()) {
    const std::string report =
        tuning::report(path_of("journal.jsonl"), problem_, evaluator_, outcome_);
    if (auto error = write_file(path_of("report.txt"), report)) return *error;
  }
  return std::move(outcome_);
}

}  // namespace

Result<TuneOutcome> tune(const Problem& problem, Evaluator& evaluator, Proposer& proposer,
                         ChatClient* model, Evaluator* estimator, const TuneOptions& options) {
  return Search(problem, evaluator, proposer, model, estimator, options).run();
}

}  // namespace groma
