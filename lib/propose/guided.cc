// guided: the proposer that needs no language model. From the feedback about a run, it reads why
// the run failed or where its time went, and changes what did not fit or what costs the most. It
// can use the whole language. If a cheaper evaluator gives estimates, guided tries thousands of
// changes with it and proposes the best ones.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "base/random.h"
#include "propose/proposers.h"
#include "search/recent.h"
#include "space/draft.h"

namespace groma::tuning {
namespace {

// The number of mappings that are estimated in one batch.
constexpr std::size_t kBatch = 16;
// A change is an improvement only if the new score is at most this share of the old score.
constexpr double kWorthIt = 0.999;
// The number of single changes that are sampled for estimates after random changes.
constexpr std::size_t kSampled = 96;
// The number of changes of one mapping that are tried before the search moves to the best of them.
constexpr int kBreadth = 3;
// The number of best drafts that are kept.
constexpr std::size_t kEliteDrafts = 32;
// The limit on the number of memory shortages that are solved in a row.
constexpr int kMostShort = 64;

class Guided : public Proposer {
 public:
  Guided(const SearchProblem& problem, std::uint64_t seed)
      : drafts_(*problem.machine, problem.inputs.front()),
        start_(drafts_.draft_without_decisions(problem.start)),
        draws_(seed) {}

  std::string_view name() const override { return "guided"; }
  GuideDetail reads() const override { return GuideDetail::kProfile; }

  // While no mapping has run because memory is short, proposes mappings that make room. Then
  // proposes the drafts with the best estimates, and then one change at a time.
  std::vector<Proposal> propose(SearchRound& round) override {
    if (round.has_estimates() && !searched_) {
      search(round);
      searched_ = true;
    }
    std::vector<Proposal> proposals = with_room(round);
    if (proposals.empty() && round.has_estimates()) proposals = next_of_elite(round);
    return proposals.empty() ? next_change(round) : proposals;
  }

  void learn(const Step& step) override;

 private:
  // A mapping with its measured result or its estimated result.
  struct KnownMapping {
    MappingDraft draft;
    std::string why;
    double score = HUGE_VAL;
    std::optional<ProfileFacts> facts;
    // The shortage of memory that made the mapping fail; nullopt if there was none.
    std::optional<MemoryShortage> shortage = {};
  };

  // ---- Functions for a search that has a cheaper evaluator, which gives estimates
  void search(SearchRound& round);
  bool improve(SearchRound& round, KnownMapping& at, std::vector<DraftChange> moves);
  std::vector<Proposal> next_of_elite(SearchRound& round);
  void remember(const KnownMapping& known);
  // Returns the entry of the elite (the drafts with the best estimates) from which a proposal was
  // made; null if the proposal was made otherwise.
  const KnownMapping* liked_as(const Proposal& proposal) const {
    const bool known =
        proposal.tag >= 1 && proposal.tag <= static_cast<std::int64_t>(elite_.size());
    return known ? &elite_[static_cast<std::size_t>(proposal.tag - 1)] : nullptr;
  }
  void look_at(SearchRound& round, KnownMapping& known);

  // ---- Functions for the time in which no mapping has run, because memory is short
  std::vector<Proposal> with_room(const SearchRound& round);
  bool make_room(const SearchRound& round, KnownMapping& known) const;
  static std::optional<MemoryShortage> shortage_of(const SearchRound& round,
                                                   const std::string& text);

  // ---- Functions for a search without a cheaper evaluator
  std::vector<Proposal> next_change(SearchRound& round);
  void begin_with_the_best(const History& history);
  std::vector<Proposal> jump(SearchRound& round);
  void fill_queues();
  double prior(DraftChange::Aspect what) const;

  std::uint64_t random() { return draws_.bits(); }
  double jitter() { return 0.5 + draws_.next_fraction(); }
  // Returns true if a run of the text should succeed. A text that may fail is accepted only while
  // `risky_` is true: the best mapping may fail too, or no other change is left.
  bool is_fine(const SearchRound& round, const std::string& text) const {
    const Evaluator& evaluator = round.evaluator();
    return !evaluator.check(text, GuideDetail::kNone) && (risky_ || !evaluator.may_fail(text));
  }
  // Returns true if the text was not estimated or proposed before, and remembers it.
  bool is_new(const std::string& text) { return seen_.add(hash_of(text), {}); }
  // Returns true if a run of the text should succeed, the text was not tried, and it makes other
  // decisions than the best mapping.
  bool is_worth_it(const SearchRound& round, const std::string& text) {
    return seen_.find(hash_of(text)) == nullptr && is_fine(round, text) && is_new(text) &&
           !round.evaluator().acts_alike(drafts_.text_of(best_.draft), text);
  }

  const char* start_words() const {
    return start_.base->text.empty() ? "the default mapper" : "the start";
  }

  DraftMaker drafts_;
  const MappingDraft start_;
  RandomNumbers draws_;
  // The hashes of the texts that were estimated or proposed by this proposer.
  RecentMap<std::monostate> seen_;
  bool searched_ = false, exhausted_ = false;
  // The drafts with the best estimates, the best first.
  std::vector<KnownMapping> elite_;
  // The number of drafts at the front of `elite_` that were proposed or passed over.
  std::size_t proposed_ = 0;

  // The draft whose changes are proposed.
  KnownMapping best_;
  // The best draft so far that was made by changes of `best_`; nullopt if none of them is better
  // than `best_`.
  std::optional<KnownMapping> better_;
  // The number of changes of `best_` that were tried.
  int tried_here_ = 0;
  std::optional<KnownMapping> pending_;
  // The draft of this proposer that failed to run most recently. If none failed, with_room() sets
  // it to the start.
  std::optional<KnownMapping> failed_;
  std::size_t pending_what_ = DraftChange::kAspectCount;
  // The untried changes of `best_`, one queue for each DraftChange::Aspect. The last change of a
  // queue has the highest weight.
  std::array<std::vector<DraftChange>, DraftChange::kAspectCount> queues_;
  bool queues_stale_ = true, began_ = false, risky_ = false;
  std::array<int, DraftChange::kAspectCount> tries_{}, wins_{};
};

// --------------------------------------------------------------------------- search with estimates

// Inserts a draft into the elite, a list of the kEliteDrafts drafts with the best estimates.
void Guided::remember(const KnownMapping& known) {
  const auto place = std::upper_bound(
      elite_.begin(), elite_.end(), known,
      [](const KnownMapping& a, const KnownMapping& b) { return a.score < b.score; });
  elite_.insert(place, known);
  if (elite_.size() > kEliteDrafts) elite_.pop_back();
}

// Estimates a draft, and stores its score, its profile and its shortage of memory. If no estimates
// are left, sets `exhausted_`.
void Guided::look_at(SearchRound& round, KnownMapping& known) {
  const std::string text = drafts_.text_of(known.draft);
  const auto estimates = round.estimate({&text, 1}, std::min(round.detail(), reads()));
  if (estimates.empty()) {
    exhausted_ = true;
    return;
  }
  known.score = is_fine(round, text) ? estimates.front().score : HUGE_VAL;
  known.facts = estimates.front().feedback.profile;
  known.shortage = estimates.front().feedback.shortage;
}

// Estimates the changes of a draft in batches, the most promising ones first. Replaces `at` by the
// best draft of the first batch that has a better draft. Returns false if no batch has one.
bool Guided::improve(SearchRound& round, KnownMapping& at, std::vector<DraftChange> moves) {
  for (DraftChange& move : moves) move.weight *= jitter();
  std::stable_sort(moves.begin(), moves.end(),
                   [](const DraftChange& a, const DraftChange& b) { return a.weight > b.weight; });
  for (std::size_t first = 0; first < moves.size() && !exhausted_ && !round.stop();) {
    std::vector<std::string> texts;
    std::vector<std::size_t> tried;
    for (; first < moves.size() && texts.size() < kBatch; ++first) {
      std::string text = drafts_.text_of(moves[first].draft);
      if (!is_new(text)) continue;
      texts.push_back(std::move(text));
      tried.push_back(first);
    }
    const auto estimates = round.estimate(texts, GuideDetail::kNone);
    exhausted_ = estimates.size() < texts.size();
    // The estimates may be for another machine than the real one. So the best draft that the real
    // evaluator accepts is taken.
    std::vector<std::size_t> better;
    for (std::size_t i = 0; i < estimates.size(); ++i) {
      if (estimates[i].ok() && estimates[i].score <= kWorthIt * at.score) better.push_back(i);
    }
    std::stable_sort(better.begin(), better.end(), [&](std::size_t a, std::size_t b) {
      return estimates[a].score < estimates[b].score;
    });
    const auto fine = std::find_if(better.begin(), better.end(),
                                   [&](std::size_t i) { return is_fine(round, texts[i]); });
    if (fine == better.end()) continue;
    const std::size_t best = *fine;
    DraftChange& move = moves[tried[best]];
    at = {std::move(move.draft), std::move(move.description), estimates[best].score, {}};
    return true;
  }
  return false;
}

// Improves the start by the best single changes. Then repeatedly improves the best draft after one
// to three random changes. Ends when the estimates are used up, or when 1000 attempts bring
// nothing. An attempt that is much worse after the random changes does not count.
void Guided::search(SearchRound& round) {
  KnownMapping at{start_, start_words(), HUGE_VAL, {}};
  look_at(round, at);
  is_new(drafts_.text_of(at.draft));
  // If the start does not fit into memory, the draft first gets more memories to choose from.
  while (!std::isfinite(at.score) && !exhausted_ && !round.stop() && make_room(round, at)) {
    look_at(round, at);
    is_new(drafts_.text_of(at.draft));
  }
  while (!exhausted_ && !round.stop() &&
         improve(round, at, drafts_.single_changes(at.draft, at.facts ? &*at.facts : nullptr))) {
    look_at(round, at);
  }
  remember(at);
  KnownMapping best = at;
  for (std::size_t failed = 0; !exhausted_ && !round.stop() && failed < 1000;) {
    at = best;
    const std::size_t jumps = 1 + random() % 3;
    for (std::size_t j = 0; j < jumps; ++j) {
      DraftChange move = drafts_.random_change(at.draft, random());
      at.draft = std::move(move.draft);
      at.why = std::move(move.description);
    }
    const std::string text = drafts_.text_of(at.draft);
    if (!is_new(text)) {
      ++failed;
      continue;
    }
    look_at(round, at);
    // A draft that is much worse after the random changes is not improved further.
    if (exhausted_ || !std::isfinite(at.score) || at.score > 1.3 * best.score) continue;
    for (bool better = true; better && !exhausted_ && !round.stop();) {
      std::vector<DraftChange> moves =
          drafts_.single_changes(at.draft, at.facts ? &*at.facts : nullptr);
      // A draft has hundreds of moves. After a jump only a random sample is estimated, so that the
      // estimates suffice for many jumps.
      if (moves.size() > kSampled) {
        for (std::size_t i = 0; i < kSampled; ++i) {
          std::swap(moves[i], moves[i + random() % (moves.size() - i)]);
        }
        moves.resize(kSampled);
      }
      for (std::size_t i = 0; i < kSampled / 4; ++i) {
        moves.push_back(drafts_.random_change(at.draft, random()));
        moves.back().weight = kWorthIt;
      }
      better = improve(round, at, std::move(moves));
    }
    remember(at);
    failed = at.score < kWorthIt * best.score ? 0 : failed + 1;
    if (at.score < best.score) best = at;
  }
}

// Returns the shortage of memory that the evaluator's check() finds for the text; nullopt if it
// finds none. The feedback of the check has no more detail than the round allows.
std::optional<MemoryShortage> Guided::shortage_of(const SearchRound& round,
                                                  const std::string& text) {
  const auto refused =
      round.evaluator().check(text, std::min(round.detail(), GuideDetail::kExecution));
  return refused ? refused->feedback.shortage : std::nullopt;
}

// Lets the data that did not fit use further memories, until check() finds no more shortage. The
// last failure or check() names the data. Returns false if there is no shortage, or if no further
// memory helps.
bool Guided::make_room(const SearchRound& round, KnownMapping& known) const {
  KnownMapping at{known.draft, "", HUGE_VAL, {}, known.shortage};
  if (!at.shortage) at.shortage = shortage_of(round, drafts_.text_of(at.draft));
  for (int left = kMostShort; at.shortage && left > 0; --left) {
    std::optional<DraftChange> move = drafts_.change_for_memory_shortage(at.draft, *at.shortage);
    if (!move) return false;
    at.draft = std::move(move->draft);
    at.why += (at.why.empty() ? "" : "; ") + move->description;
    const std::string text = drafts_.text_of(at.draft);
    if (!round.evaluator().check(text, GuideDetail::kNone)) {
      known = std::move(at);
      return true;
    }
    at.shortage = shortage_of(round, text);
  }
  return false;
}

// While no mapping has run, proposes one in which the data that did not fit has further memories to
// choose from. Returns nothing if that is not possible.
std::vector<Proposal> Guided::with_room(const SearchRound& round) {
  const History& history = round.history();
  if (history.best() != nullptr || history.last() == nullptr) return {};
  // The first failure is that of the start, which this proposer did not propose.
  if (!failed_) {
    failed_ = KnownMapping{start_, "", HUGE_VAL, {}, {}};
    const std::string start = drafts_.text_of(start_);
    for (const Step& step : history.failures()) {
      if (step.proposal.text == start) failed_->shortage = step.evaluation.feedback.shortage;
    }
  }
  if (!make_room(round, *failed_) || !is_new(drafts_.text_of(failed_->draft))) return {};
  pending_ = *failed_;
  pending_what_ = DraftChange::kAspectCount;
  tried_here_ = kBreadth;
  return {{drafts_.text_of(failed_->draft), failed_->why}};
}

// Proposes the next draft of the elite (the drafts with the best estimates) that should run. The
// tag of the proposal is the position of the draft in the elite, from 1.
std::vector<Proposal> Guided::next_of_elite(SearchRound& round) {
  while (proposed_ < elite_.size()) {
    const KnownMapping& known = elite_[proposed_++];
    std::string text = drafts_.text_of(known.draft);
    if (!is_fine(round, text)) continue;
    return {{std::move(text), fmt::format("the estimates' number {}: {}", proposed_, known.why),
             static_cast<std::int64_t>(proposed_)}};
  }
  return {};
}

// ------------------------------------------------------------------------ search without estimates

// If the history has a better text than this proposer found, continues from that text. It may be
// the text of another proposer, as in `hybrid`.
void Guided::begin_with_the_best(const History& history) {
  const Step* best = history.best();
  const double known = better_ ? better_->score : best_.score;
  if (best == nullptr || best->evaluation.score >= known) return;
  const KnownMapping* liked = liked_as(best->proposal);
  best_.draft =
      liked != nullptr ? liked->draft : drafts_.draft_without_decisions(best->proposal.text);
  best_.score = best->evaluation.score;
  best_.facts = best->evaluation.feedback.profile;
  better_.reset();
  queues_stale_ = true;
}

// Proposes one change of the best mapping. After kBreadth changes, continues from the best of them
// if it is an improvement.
std::vector<Proposal> Guided::next_change(SearchRound& round) {
  if (!began_) {
    began_ = true;
    best_ = {start_, start_words(), HUGE_VAL, {}};
    is_new(drafts_.text_of(best_.draft));
    if (round.history().last() == nullptr) {
      tried_here_ = kBreadth;
      pending_ = best_;
      return {{drafts_.text_of(best_.draft), best_.why}};
    }
  }
  // If the start cannot run, the search continues from the default mapper.
  if (round.history().best() == nullptr && !best_.draft.base->text.empty() &&
      round.history().last() != nullptr) {
    best_ = {drafts_.draft_without_decisions(), "", HUGE_VAL, {}, {}};
    queues_stale_ = true;
  }
  begin_with_the_best(round.history());
  if (better_ && tried_here_ >= kBreadth) {
    best_ = *std::move(better_);
    better_.reset();
    queues_stale_ = true;
  }
  if (queues_stale_) {
    risky_ = std::isfinite(best_.score) && round.evaluator().may_fail(drafts_.text_of(best_.draft));
    fill_queues();
  }
  while (!round.stop()) {
    // Choose the kind of change that promises most: the share of the time that it affects, times
    // its rate of success so far.
    std::size_t chosen = DraftChange::kAspectCount;
    double most = -1;
    for (std::size_t w = 0; w < DraftChange::kAspectCount; ++w) {
      if (queues_[w].empty()) continue;
      const double promise =
          prior(static_cast<DraftChange::Aspect>(w)) * (1 + 2 * wins_[w]) / (1 + tries_[w]);
      if (promise > most) chosen = w;
      most = std::max(most, promise);
    }
    if (chosen == DraftChange::kAspectCount && better_) {
      tried_here_ = kBreadth;
      return next_change(round);
    }
    // All single changes were tried. Try random jumps, and after those also changes that may fail.
    if (chosen == DraftChange::kAspectCount) {
      std::vector<Proposal> proposals = jump(round);
      if (!proposals.empty() || risky_) return proposals;
      risky_ = true;
      fill_queues();
      continue;
    }
    DraftChange move = std::move(queues_[chosen].back());
    queues_[chosen].pop_back();
    std::string text = drafts_.text_of(move.draft);
    if (!is_worth_it(round, text)) continue;
    pending_ = KnownMapping{std::move(move.draft), move.description, HUGE_VAL, {}};
    pending_what_ = chosen;
    ++tries_[chosen];
    ++tried_here_;
    return {{std::move(text), move.description}};
  }
  return {};
}

// Proposes a mapping with two to four random changes of the best one. Used after every single
// change was tried.
std::vector<Proposal> Guided::jump(SearchRound& round) {
  pending_what_ = DraftChange::kAspectCount;
  for (int tries = 0; tries < 100 && !round.stop(); ++tries) {
    KnownMapping at{best_.draft, "", HUGE_VAL, {}};
    for (std::uint64_t left = 2 + random() % 3; left > 0; --left) {
      DraftChange move = drafts_.random_change(at.draft, random());
      at.draft = std::move(move.draft);
      at.why += (at.why.empty() ? "" : "; ") + move.description;
    }
    std::string text = drafts_.text_of(at.draft);
    if (!is_worth_it(round, text)) continue;
    pending_ = at;
    return {{std::move(text), at.why}};
  }
  return {};
}

// Fills one queue for each kind of change with the changes of the best mapping. The change with the
// highest weight stands last and is taken first.
void Guided::fill_queues() {
  queues_stale_ = false;
  tried_here_ = 0;
  for (auto& queue : queues_) queue.clear();
  for (DraftChange& move :
       drafts_.single_changes(best_.draft, best_.facts ? &*best_.facts : nullptr)) {
    move.weight *= jitter();
    queues_[static_cast<std::size_t>(move.aspect)].push_back(std::move(move));
  }
  for (auto& queue : queues_) {
    std::stable_sort(queue.begin(), queue.end(), [](const DraftChange& a, const DraftChange& b) {
      return a.weight < b.weight;
    });
  }
}

// Returns the share of the run's time that a kind of change may affect, according to the profile.
double Guided::prior(DraftChange::Aspect what) const {
  constexpr double kAlways = 0.02;
  if (!best_.facts) return kAlways;
  const ProfileFacts& facts = *best_.facts;
  double waiting = 0, imbalance = 0;
  for (const ProfileFacts::Cause& cause : facts.causes) waiting += cause.waiting;
  for (const ProfileFacts::Kind& kind : facts.kinds) {
    if (kind.busy > 0.05) imbalance = std::max(imbalance, 1 - 1 / std::max(kind.imbalance, 1.0));
  }
  switch (what) {
    // Changes of this kind are tried first, because there are few of them.
    case DraftChange::Aspect::kWithParent:
      return 2 * kAlways + facts.copies + waiting + imbalance;
    case DraftChange::Aspect::kPlaceAlike:
      return kAlways + facts.copies + waiting + imbalance;
    case DraftChange::Aspect::kPlace:
      return kAlways + (facts.copies + waiting + imbalance) / 2;
    case DraftChange::Aspect::kMemory:
      return kAlways + facts.copies;
    case DraftChange::Aspect::kKind:
      return kAlways + facts.tasks / 4;
    case DraftChange::Aspect::kLayout:
      return kAlways + facts.tasks / 8;
    case DraftChange::Aspect::kReplicate:
      return kAlways + facts.runtime;
    case DraftChange::Aspect::kSchedule:
      break;
  }
  return kAlways;
}

// Learns the result of the last proposal. A change that is better by more than the noise counts as
// a success of its kind. A failure is kept for with_room().
void Guided::learn(const Step& step) {
  const KnownMapping* liked = liked_as(step.proposal);
  if (!step.evaluation.ok() && (liked != nullptr || pending_)) {
    failed_ = liked != nullptr ? *liked : *pending_;
    failed_->shortage = step.evaluation.feedback.shortage;
  }
  if (!pending_) return;
  const double before = better_ ? better_->score : best_.score;
  if (step.evaluation.ok() && step.evaluation.score < before * (1 - step.evaluation.noise)) {
    better_ = std::move(pending_);
    better_->score = step.evaluation.score;
    better_->facts = step.evaluation.feedback.profile;
    if (pending_what_ < DraftChange::kAspectCount) ++wins_[pending_what_];
  }
  pending_.reset();
}

}  // namespace

std::unique_ptr<Proposer> make_guided_proposer(const SearchProblem& problem, std::uint64_t seed) {
  return std::make_unique<Guided>(problem, seed);
}

}  // namespace groma::tuning
