// The part of `guided` that searches with a cheaper evaluator, which gives estimates. It keeps the
// drafts with the best estimates, the elite, and proposes them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "propose/guided.h"

namespace groma::tuning {
namespace {

// The number of mappings that are estimated in one batch.
constexpr std::size_t kBatch = 16;
// The limit on the number of changes of many tasks that are estimated for a draft, and the number
// of them from which the search goes on.
constexpr std::size_t kMaxWide = 128, kBeginnings = 3;
// A change is an improvement only if the new score is at most this share of the old score.
constexpr double kWorthIt = 0.999;
// The number of single changes that are sampled for estimates after random changes.
constexpr std::size_t kSampled = 64;
// The number of best drafts that are kept.
constexpr std::size_t kEliteDrafts = 32;
// Two estimates that differ by at most this share are the same.
constexpr double kSameEstimate = 1e-3;
// The share of the remaining estimates, as a divisor, that a round of the search uses after the
// first round.
constexpr std::int64_t kLaterShare = 5;
// The search with estimates ends after this number of random jumps in a row without a better one.
constexpr std::size_t kMaxVainJumps = 1000;
// A mapping is worth a run only if its estimate is at most this many times the best one.
constexpr double kWorthARun = 1.05;
// A decision is removed from a draft if the estimate then grows at most by this share.
constexpr double kWorthAStatement = 5e-4;

}  // namespace

// Inserts a draft into the elite, a list of the kEliteDrafts drafts with the best estimates that
// were not proposed. Drafts that were proposed stay in it, so that their results can be learnt.
void Guided::remember(const KnownMapping& known) {
  const auto place = std::upper_bound(
      elite_.begin(), elite_.end(), known,
      [](const KnownMapping& a, const KnownMapping& b) { return a.score < b.score; });
  elite_.insert(place, known);
  std::size_t open = 0;
  std::erase_if(elite_, [&](const KnownMapping& each) {
    return each.tag == kPassedOver || (each.tag == 0 && ++open > kEliteDrafts);
  });
}

// Estimates a draft, and stores its score, its profile and its shortage of memory. If the round
// gets no more estimates, sets `exhausted_`.
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
  sort_by_promise(at, moves);
  for (std::size_t first = 0; first < moves.size() && may_estimate(round); first += kBatch) {
    const auto begin = moves.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(kBatch, moves.size() - first));
    std::vector<KnownMapping> better = estimate_moves(
        round, at, {std::make_move_iterator(begin), std::make_move_iterator(end)}, kBatch);
    // The estimates may be for another machine than the real one. So the best draft that the real
    // evaluator accepts is taken.
    const auto fine = std::find_if(better.begin(), better.end(), [&](const KnownMapping& each) {
      return is_fine(round, drafts_.text_of(each.draft));
    });
    if (fine == better.end()) continue;
    at = std::move(*fine);
    return true;
  }
  return false;
}

// Puts the most promising changes first: by the share of the time that they affect according to the
// profile, times a random factor.
void Guided::sort_by_promise(const KnownMapping& from, std::vector<DraftChange>& moves) {
  for (DraftChange& move : moves) {
    if (!from.facts) move.weight = usual_weight(move.aspect);
    move.weight *= jitter();
  }
  std::stable_sort(moves.begin(), moves.end(),
                   [](const DraftChange& a, const DraftChange& b) { return a.weight > b.weight; });
}

// Returns the drafts from which the search goes on: the best few changes of many tasks at once,
// with different estimates, or `at` itself if none is better. Such changes come first, because
// tasks share data: if only one of them moves, data must be copied.
std::vector<Guided::KnownMapping> Guided::beginnings(SearchRound& round, const KnownMapping& at) {
  std::vector<DraftChange> moves =
      drafts_.single_changes(at.draft, at.facts ? &*at.facts : nullptr);
  std::erase_if(moves, [](const DraftChange& move) { return !is_wide(move.aspect); });
  sort_by_promise(at, moves);
  std::vector<KnownMapping> chosen;
  for (KnownMapping& found : estimate_moves(round, at, std::move(moves), kMaxWide)) {
    if (chosen.size() == kBeginnings) break;
    const bool same = !chosen.empty() && found.score <= chosen.back().score * (1 + kSameEstimate);
    if (!same && is_fine(round, drafts_.text_of(found.draft))) chosen.push_back(std::move(found));
  }
  if (chosen.empty()) chosen.push_back(at);
  return chosen;
}

// Returns those of the first `most` changes whose estimates are better than that of `from`, the
// best first.
std::vector<Guided::KnownMapping> Guided::estimate_moves(SearchRound& round,
                                                         const KnownMapping& from,
                                                         std::vector<DraftChange> moves,
                                                         std::size_t most) {
  most = std::min(most, static_cast<std::size_t>(
                            std::max<std::int64_t>(round.estimates_left() - keep_estimates_, 0)));
  std::vector<std::string> texts;
  std::vector<DraftChange*> tried;
  for (DraftChange& move : moves) {
    if (texts.size() == most) break;
    std::string text = drafts_.text_of(move.draft);
    if (!is_new(text)) continue;
    texts.push_back(std::move(text));
    tried.push_back(&move);
  }
  const auto estimates = round.estimate(texts, GuideDetail::kNone);
  exhausted_ = estimates.size() < texts.size();
  std::vector<KnownMapping> better;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    if (!estimates[i].ok() || estimates[i].score > kWorthIt * from.score) continue;
    better.push_back(
        {std::move(tried[i]->draft), std::move(tried[i]->description), estimates[i].score, {}});
    better.back().parents = parents_of(from);
  }
  std::stable_sort(better.begin(), better.end(),
                   [](const auto& a, const auto& b) { return a.score < b.score; });
  return better;
}

// Spends a share of the estimates that are left: on changes of the best measured mapping if it is
// new, whose profile tells which changes are worth an estimate, then on random jumps. The first
// round takes three quarters of them. If there is a start, a third of this goes to the default
// mapper, in case the start is far from every good mapping.
void Guided::search(SearchRound& round) {
  const std::int64_t left = round.estimates_left();
  exhausted_ = false;
  const bool first = searched_from_.empty() && elite_.empty();
  const std::int64_t share = std::max<std::int64_t>(first ? left * 3 / 4 : left / kLaterShare, 1);
  keep_estimates_ = left - share;
  const Step* const best = round.history().best();
  const std::string& text = best == nullptr ? start_.base->text : best->proposal.text;
  if (first && !start_.base->text.empty()) {
    keep_estimates_ = left - share / 3;
    search_from(round, {drafts_.draft_without_decisions(), "the default mapper", HUGE_VAL, {}});
    keep_estimates_ = left - share;
  }
  if (first || text != searched_from_) {
    searched_from_ = text;
    KnownMapping at{start_, start_words(), HUGE_VAL, {}};
    at.parents = start_parents(round);
    if (best != nullptr) {
      at.step = best->number;
      at.draft = draft_of(*best);
      at.facts = best->evaluation.feedback.profile;
    }
    search_from(round, std::move(at));
  }
  search_around_best(round);
}

// Improves a draft by the best single changes, and adds the result to the elite.
void Guided::search_from(SearchRound& round, KnownMapping at) {
  const std::optional<ProfileFacts> measured = at.facts;
  look_at(round, at);
  // A rehearsal gives no profile.
  const bool has_profiles = at.facts.has_value();
  if (!has_profiles) at.facts = measured;
  const Step* const best = round.history().best();
  gives_none_ = !std::isfinite(at.score) && !exhausted_ && best != nullptr &&
                best->proposal.text == drafts_.text_of(at.draft);
  if (gives_none_) return;
  is_new(drafts_.text_of(at.draft));
  // If the draft does not fit into memory, it first gets more memories to choose from.
  while (!std::isfinite(at.score) && may_estimate(round) && make_room(round, at)) {
    look_at(round, at);
    is_new(drafts_.text_of(at.draft));
  }
  const double before = at.score;
  std::vector<KnownMapping> from = beginnings(round, at);
  const std::int64_t keep = keep_estimates_;
  for (std::size_t i = 0; i < from.size(); ++i) {
    // Each of the drafts that are left gets an equal part of the estimates.
    const auto parts = static_cast<std::int64_t>(from.size() - i);
    keep_estimates_ = round.estimates_left() - (round.estimates_left() - keep) / parts;
    KnownMapping each = std::move(from[i]);
    while (may_estimate(round) &&
           improve(round, each,
                   drafts_.single_changes(each.draft, each.facts ? &*each.facts : nullptr))) {
      if (has_profiles) look_at(round, each);
    }
    if (std::isfinite(each.score) && (each.score < before || elite_.empty())) remember(each);
  }
  keep_estimates_ = keep;
}

// Repeatedly improves the best draft of the elite after one to three random changes, until the
// estimates of the round are used up or many attempts in a row bring nothing.
void Guided::search_around_best(SearchRound& round) {
  while (!elite_.empty() && may_estimate(round) && vain_jumps_ < kMaxVainJumps) {
    const double best = elite_.front().score;
    KnownMapping at = elite_.front();
    at.tag = 0;
    at.parents = parents_of(at);
    at.step = 0;
    const std::size_t jumps = 1 + random() % 3;
    for (std::size_t j = 0; j < jumps; ++j) {
      DraftChange move = drafts_.random_change(at.draft, random());
      at.draft = std::move(move.draft);
      at.why = std::move(move.description);
    }
    const std::string text = drafts_.text_of(at.draft);
    if (!is_new(text)) {
      ++vain_jumps_;
      continue;
    }
    look_at(round, at);
    // A draft that is much worse after the random changes is not improved further.
    if (!std::isfinite(at.score) || at.score > 1.3 * best) {
      ++vain_jumps_;
      continue;
    }
    for (bool better = true; better && may_estimate(round);) {
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
    vain_jumps_ = at.score < kWorthIt * best ? 0 : vain_jumps_ + 1;
    remember(at);
  }
}

// Removes the decisions of a draft that gain nothing by the estimates: first all that gain nothing
// by themselves, or else one after the other.
void Guided::simplify(SearchRound& round, KnownMapping& known) {
  const std::vector<DraftDecision> decisions = decisions_of(known.draft);
  // The check of all removals together needs one more estimate.
  if (round.estimates_left() <= std::ssize(decisions)) return;
  const double most = known.score * (1 + kWorthAStatement);
  const auto is_as_good = [&](const Evaluation& estimate, const std::string& text) {
    return estimate.ok() && estimate.score <= most && is_fine(round, text);
  };
  std::vector<std::string> texts;
  for (const DraftDecision& decision : decisions) {
    MappingDraft without = known.draft;
    remove_decision(without, decision);
    texts.push_back(drafts_.text_of(without));
  }
  const std::vector<Evaluation> alone = round.estimate(texts, GuideDetail::kNone);
  MappingDraft all = known.draft;
  std::vector<DraftDecision> useless;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    if (!is_as_good(alone[i], texts[i])) continue;
    useless.push_back(decisions[i]);
    remove_decision(all, decisions[i]);
  }
  if (useless.empty()) return;
  const auto try_draft = [&](const MappingDraft& draft) {
    const std::string text = drafts_.text_of(draft);
    const auto estimates = round.estimate({&text, 1}, GuideDetail::kNone);
    if (estimates.empty() || !is_as_good(estimates.front(), text)) return false;
    known.draft = draft;
    return true;
  };
  if (try_draft(all) || useless.size() == 1) return;
  for (const DraftDecision& decision : useless) {
    MappingDraft without = known.draft;
    remove_decision(without, decision);
    try_draft(without);
  }
}

// Proposes a change of the instance limits or of stealing of the best mapping, those of the tasks
// with the largest share of the time first. Estimates do not know what such a change does.
std::vector<Proposal> Guided::next_schedule_change(SearchRound& round) {
  begin_with_the_best(round.history());
  use_better();
  if (!std::isfinite(best_.score)) return {};
  if (queues_stale_) fill_queues();
  auto& queue = queues_[static_cast<std::size_t>(DraftChange::Aspect::kSchedule)];
  while (!queue.empty()) {
    DraftChange move = std::move(queue.back());
    queue.pop_back();
    std::string text = drafts_.text_of(move.draft);
    if (!is_worth_it(round, text)) continue;
    pending_ = KnownMapping{std::move(move.draft), move.description, HUGE_VAL, {}};
    pending_what_ = static_cast<std::size_t>(DraftChange::Aspect::kSchedule);
    ++tries_[pending_what_];
    return {{std::move(text), move.description, 0, parents_of(best_)}};
  }
  return {};
}

// Proposes one change of the best mapping whose estimate is not much worse than the best one.
std::vector<Proposal> Guided::next_likely_change(SearchRound& round) {
  while (!round.stop()) {
    std::vector<Proposal> proposals = next_change(round);
    if (proposals.empty() || elite_.empty()) return proposals;
    const auto estimates = round.estimate({&proposals.front().text, 1}, GuideDetail::kNone);
    if (estimates.empty() || estimates.front().score <= kWorthARun * elite_.front().score) {
      return proposals;
    }
    pending_.reset();
  }
  return {};
}

// Returns true if the mapping decides everything as one does that was proposed from the elite, or
// as the best one.
bool Guided::was_tried(const SearchRound& round, const std::string& text) const {
  const Step* const best = round.history().best();
  const auto alike = [&](const std::string& other) {
    return round.evaluator().acts_alike(other, text);
  };
  return (best != nullptr && alike(best->proposal.text)) ||
         std::any_of(tried_.begin(), tried_.end(), alike);
}

// Proposes the best draft of the elite (the drafts with the best estimates) that should run and was
// not proposed. A draft with another estimate than the last one comes first, since drafts with the
// same estimate often differ only in names of processors. Returns nothing if the estimates of all
// others are much worse.
std::vector<Proposal> Guided::next_of_elite(SearchRound& round) {
  for (const bool any : {false, true}) {
    // The last proposal had the same estimate as the one before.
    if (any && repeats_ > 0) break;
    for (KnownMapping& known : elite_) {
      const bool same = std::abs(known.score - last_estimate_) <= kSameEstimate * last_estimate_;
      if (known.tag != 0 || (same && !any)) continue;
      if (known.score > kWorthARun * elite_.front().score) break;
      // Such a draft may be proposed later, when no other change is left.
      if (takes_back_a_win(drafts_.text_of(known.draft))) continue;
      simplify(round, known);
      std::string text = drafts_.text_of(known.draft);
      if (!is_fine(round, text) || was_tried(round, text) || was_tried_by_other(round, text)) {
        known.tag = kPassedOver;
        continue;
      }
      if (takes_back_a_win(text)) continue;
      known.tag = ++proposed_;
      repeats_ = same ? repeats_ + 1 : 0;
      last_estimate_ = known.score;
      if (tried_.size() == kMaxCompared) tried_.erase(tried_.begin());
      tried_.push_back(text);
      return {{std::move(text), known.why, known.tag, parents_of(known)}};
    }
  }
  return {};
}

}  // namespace groma::tuning
