// guided: the proposer that needs no language model. From the feedback about a run, it reads why
// the run failed or where its time went, and changes what did not fit or what costs the most. It
// can use the whole language. If a cheaper evaluator gives estimates, guided tries thousands of
// changes with it and proposes the best ones.
#include "propose/guided.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "propose/proposers.h"

namespace groma::tuning {
namespace {

// The number of changes of one mapping that are tried before the search moves to the best of them,
// if the proposer works alone or takes turns.
constexpr int kBreadthAlone = 3, kBreadthInTurns = 1;
// The limit on the number of memory shortages that are solved in a row.
constexpr int kMostShort = 64;

}  // namespace

// ------------------------------------------------------------------------ results of other
// proposers

// If there is a new best mapping, notes by which decisions it won, if another proposer made it or
// takes turns with this one. If another proposer made it, drops the drafts that were made from
// earlier mappings, because they lack these decisions. The search with estimates then begins again
// from the new best mapping.
void Guided::note_best(const History& history) {
  const Step* best = history.best();
  if (best == nullptr || (known_best_ && *known_best_ == best->proposal.text)) return;
  won_.reset();
  const bool is_own = own_.find(hash_of(best->proposal.text)) != nullptr;
  if (known_best_ && (!is_own || breadth_ == kBreadthInTurns)) {
    won_ = WinningDecisions::between(problem_, *known_best_, best->proposal.text);
  }
  if (known_best_ && !is_own) elite_.clear();
  known_best_ = best->proposal.text;
}

// Returns true if one of the last mappings that other proposers tried decides everything alike.
bool Guided::was_tried_by_other(const SearchRound& round, const std::string& text) const {
  const std::vector<Step>& steps = round.history().recent();
  std::size_t compared = 0;
  for (auto step = steps.rbegin(); step != steps.rend() && compared < kMaxCompared; ++step) {
    if (own_.find(hash_of(step->proposal.text)) != nullptr) continue;
    ++compared;
    if (round.evaluator().acts_alike(step->proposal.text, text)) return true;
  }
  return false;
}

// -------------------------------------------------------------------------------- short of memory

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
  KnownMapping at{known.draft, "", HUGE_VAL, {}, known.shortage, 0, parents_of(known)};
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
    failed_ = KnownMapping{start_, "", HUGE_VAL, {}, {}, 0, start_parents(round)};
    const std::string start = drafts_.text_of(start_);
    for (const Step& step : history.failures()) {
      if (step.proposal.text == start) failed_->shortage = step.evaluation.feedback.shortage;
    }
  }
  if (!make_room(round, *failed_) || !is_new(drafts_.text_of(failed_->draft))) return {};
  pending_ = *failed_;
  pending_what_ = DraftChange::kAspectCount;
  tried_here_ = breadth_;
  return {{drafts_.text_of(failed_->draft), failed_->why, 0, failed_->parents}};
}

// ------------------------------------------------------------------------ search without estimates

// If the history has a better text than this proposer found, continues from that text. It may be
// the text of another proposer, as in `hybrid`.
void Guided::begin_with_the_best(const History& history) {
  const Step* best = history.best();
  const double known = better_ ? better_->score : best_.score;
  if (best == nullptr || best->evaluation.score >= known) return;
  best_.draft = draft_of(*best);
  best_.score = best->evaluation.score;
  best_.facts = best->evaluation.feedback.profile;
  best_.step = best->number;
  better_.reset();
  queues_stale_ = true;
}

// Returns the draft whose text a step tried: one of this proposer, or the text as a base mapping.
MappingDraft Guided::draft_of(const Step& step) {
  if (const KnownMapping* liked = liked_as(step.proposal)) return liked->draft;
  if (better_ && drafts_.text_of(better_->draft) == step.proposal.text) return better_->draft;
  if (began_ && drafts_.text_of(best_.draft) == step.proposal.text) return best_.draft;
  return drafts_.draft_without_decisions(step.proposal.text);
}

// Continues from the best change of `best_`, if one was an improvement.
void Guided::use_better() {
  if (!better_) return;
  best_ = *std::move(better_);
  better_.reset();
  queues_stale_ = true;
}

// Proposes one change of the best mapping. After `breadth_` changes, continues from the best of
// them if it is an improvement.
std::vector<Proposal> Guided::next_change(SearchRound& round) {
  if (!began_) {
    began_ = true;
    best_ = {start_, start_words(), HUGE_VAL, {}, {}, 0, start_parents(round)};
    is_new(drafts_.text_of(best_.draft));
    if (round.history().last() == nullptr) {
      tried_here_ = breadth_;
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
  if (tried_here_ >= breadth_) use_better();
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
      tried_here_ = breadth_;
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
    return {{std::move(text), move.description, 0, parents_of(best_)}};
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
    return {{std::move(text), at.why, 0, parents_of(best_)}};
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
    case DraftChange::Aspect::kSinglePlace:
      return 2 * kAlways + facts.copies + waiting + imbalance;
    case DraftChange::Aspect::kPlaceAlike:
      return kAlways + facts.copies + waiting + imbalance;
    case DraftChange::Aspect::kPlace:
      return kAlways + (facts.copies + waiting + imbalance) / 2;
    case DraftChange::Aspect::kTogether:
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

// Returns the weight of a change if no profile tells where the time goes. Changes of which there
// are few and which affect many tasks have the most.
double Guided::usual_weight(DraftChange::Aspect what) {
  switch (what) {
    case DraftChange::Aspect::kSinglePlace:
    case DraftChange::Aspect::kTogether:
    case DraftChange::Aspect::kReplicate:
      return 4;
    case DraftChange::Aspect::kPlaceAlike:
    case DraftChange::Aspect::kMemory:
    case DraftChange::Aspect::kKind:
      return 2;
    case DraftChange::Aspect::kPlace:
      return 1.5;
    case DraftChange::Aspect::kLayout:
      return 1;
    case DraftChange::Aspect::kSchedule:
      break;
  }
  return 0.5;
}

// Learns the result of the last proposal. A change that is better by more than the noise counts as
// a success of its kind. A failure is kept for with_room().
void Guided::learn(const Step& step) {
  KnownMapping* liked = liked_as(step.proposal);
  if (liked != nullptr) liked->step = step.number;
  if (!step.evaluation.ok() && (liked != nullptr || pending_)) {
    failed_ = liked != nullptr ? *liked : *pending_;
    failed_->shortage = step.evaluation.feedback.shortage;
    failed_->step = step.number;
  }
  if (!pending_) return;
  const double before = better_ ? better_->score : best_.score;
  if (step.evaluation.ok() && step.evaluation.score < before * (1 - step.evaluation.noise)) {
    better_ = std::move(pending_);
    better_->score = step.evaluation.score;
    better_->facts = step.evaluation.feedback.profile;
    better_->step = step.number;
    if (pending_what_ < DraftChange::kAspectCount) ++wins_[pending_what_];
  }
  pending_.reset();
}

std::unique_ptr<Proposer> make_guided_proposer(const SearchProblem& problem, std::uint64_t seed) {
  return std::make_unique<Guided>(problem, seed, kBreadthAlone);
}
std::unique_ptr<Proposer> make_guided_proposer_in_turns(const SearchProblem& problem,
                                                        std::uint64_t seed) {
  return std::make_unique<Guided>(problem, seed, kBreadthInTurns);
}

}  // namespace groma::tuning
