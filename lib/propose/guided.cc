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
#include "propose/winning_decisions.h"
#include "search/recent.h"
#include "space/draft.h"

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
// The number of changes of one mapping that are tried before the search moves to the best of them,
// if the proposer works alone or takes turns.
constexpr int kBreadthAlone = 3, kBreadthInTurns = 1;
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
// The number of proposed texts with which a draft is compared before it is proposed.
constexpr std::size_t kMaxCompared = 12;
// The limit on the number of memory shortages that are solved in a row.
constexpr int kMostShort = 64;

class Guided : public Proposer {
 public:
  // `breadth` is the number of changes of one mapping that are tried before the search moves to the
  // best of them.
  Guided(const SearchProblem& problem, std::uint64_t seed, int breadth)
      : problem_(problem),
        breadth_(breadth),
        drafts_(*problem.machine, problem.inputs.front()),
        start_(drafts_.draft_without_decisions(problem.start)),
        draws_(seed) {
    own_.add(hash_of(problem.start), {});
  }

  std::string_view name() const override { return "guided"; }
  GuideDetail reads() const override { return GuideDetail::kProfile; }

  // Proposes the next mapping of the search. If another proposer made the best mapping, changes
  // that take its decisions back are proposed only if nothing else is left.
  std::vector<Proposal> propose(SearchRound& round) override {
    note_best(round.history());
    std::vector<Proposal> proposals = next_proposals(round);
    if (proposals.empty() && won_ && !round.stop()) {
      won_.reset();
      queues_stale_ = true;
      proposals = next_proposals(round);
    }
    for (const Proposal& proposal : proposals) own_.add(hash_of(proposal.text), {});
    return proposals;
  }

  void learn(const Step& step) override;

 private:
  // Proposes the start first, since its profile tells where the time goes. While no mapping has run
  // because memory is short, proposes mappings that make room. Then proposes the drafts with the
  // best estimates, and then one change at a time.
  std::vector<Proposal> next_proposals(SearchRound& round) {
    const bool estimates =
        round.has_estimates() && round.history().last() != nullptr && !gives_none_;
    std::vector<Proposal> proposals = with_room(round);
    if (!proposals.empty()) return proposals;
    if (estimates) search(round);
    if (!estimates || elite_.empty()) return next_change(round);
    proposals = next_of_elite(round);
    repeats_ = proposals.empty() ? 0 : repeats_;
    if (proposals.empty()) proposals = next_schedule_change(round);
    return proposals.empty() ? next_likely_change(round) : proposals;
  }

  // A mapping with its measured result or its estimated result.
  struct KnownMapping {
    MappingDraft draft;
    std::string why;
    double score = HUGE_VAL;
    std::optional<ProfileFacts> facts;
    // The shortage of memory that made the mapping fail; nullopt if there was none.
    std::optional<MemoryShortage> shortage = {};
    // The tag of the proposal that was made from this draft of the elite. 0: none was made yet;
    // kPassedOver: none will be made.
    std::int64_t tag = 0;
    // The numbers of the steps from which the draft was made, and of the step that tried it (0: it
    // was not tried).
    std::vector<std::int64_t> parents = {};
    std::int64_t step = 0;
  };
  static constexpr std::int64_t kPassedOver = -1;
  // Returns Proposal::parents for a change of this mapping. A draft that was only estimated is not
  // a step, so its own parents are returned.
  static std::vector<std::int64_t> parents_of(const KnownMapping& changed) {
    return changed.step > 0 ? std::vector{changed.step} : changed.parents;
  }
  // Returns Proposal::parents for a change of the text with which the search begins.
  static std::vector<std::int64_t> start_parents(const SearchRound& round) {
    return round.history().parents_of(nullptr);
  }

  // ---- Functions for the results of other proposers
  void note_best(const History& history);
  bool was_tried_by_other(const SearchRound& round, const std::string& text) const;
  bool takes_back_a_win(const std::string& text) const { return won_ && won_->are_undone_by(text); }

  // ---- Functions for a search that has a cheaper evaluator, which gives estimates
  void search(SearchRound& round);
  void search_from(SearchRound& round, KnownMapping at);
  void search_around_best(SearchRound& round);
  bool may_estimate(const SearchRound& round) const {
    return !exhausted_ && round.estimates_left() > keep_estimates_ && !round.stop();
  }
  bool improve(SearchRound& round, KnownMapping& at, std::vector<DraftChange> moves);
  std::vector<KnownMapping> beginnings(SearchRound& round, const KnownMapping& at);
  std::vector<KnownMapping> estimate_moves(SearchRound& round, const KnownMapping& from,
                                           std::vector<DraftChange> moves, std::size_t most);
  void sort_by_promise(const KnownMapping& from, std::vector<DraftChange>& moves);
  // Returns true if changes of this kind are about many tasks, or about where single tasks run.
  static bool is_wide(DraftChange::Aspect what) {
    return what == DraftChange::Aspect::kPlaceAlike || what == DraftChange::Aspect::kSinglePlace ||
           what == DraftChange::Aspect::kTogether || what == DraftChange::Aspect::kReplicate;
  }
  std::vector<Proposal> next_of_elite(SearchRound& round);
  std::vector<Proposal> next_schedule_change(SearchRound& round);
  std::vector<Proposal> next_likely_change(SearchRound& round);
  void simplify(SearchRound& round, KnownMapping& known);
  bool was_tried(const SearchRound& round, const std::string& text) const;
  void remember(const KnownMapping& known);
  // Returns the entry of the elite (the drafts with the best estimates) from which a proposal was
  // made; null if the proposal was made otherwise.
  KnownMapping* liked_as(const Proposal& proposal) {
    const auto liked = std::find_if(elite_.begin(), elite_.end(), [&](const KnownMapping& each) {
      return each.tag == proposal.tag && each.tag > 0;
    });
    return liked == elite_.end() ? nullptr : &*liked;
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
  void use_better();
  MappingDraft draft_of(const Step& step);
  std::vector<Proposal> jump(SearchRound& round);
  void fill_queues();
  double prior(DraftChange::Aspect what) const;
  static double usual_weight(DraftChange::Aspect what);

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
  // decisions than the best mapping and than those that other proposers tried.
  bool is_worth_it(const SearchRound& round, const std::string& text) {
    return seen_.find(hash_of(text)) == nullptr && is_fine(round, text) &&
           !takes_back_a_win(text) && is_new(text) &&
           !round.evaluator().acts_alike(drafts_.text_of(best_.draft), text) &&
           !was_tried_by_other(round, text);
  }

  const char* start_words() const {
    return start_.base->text.empty() ? "the default mapper" : "the start";
  }

  const SearchProblem& problem_;
  const int breadth_;
  DraftMaker drafts_;
  const MappingDraft start_;
  RandomNumbers draws_;
  // The hashes of the texts that were estimated or proposed by this proposer.
  RecentMap<std::monostate> seen_;
  // The hashes of the start and of the texts that this proposer proposed.
  RecentMap<std::monostate> own_;
  // The text of the best step when note_best() was called last; nullopt if there was none.
  std::optional<std::string> known_best_;
  // The decisions by which the best mapping won, as note_best() noted them; nullopt if changes may
  // take them back.
  std::optional<WinningDecisions> won_;
  // The drafts with the best estimates, the best first.
  std::vector<KnownMapping> elite_;
  // True if the present round of the search gets no more estimates.
  bool exhausted_ = false;
  // True if the evaluator could not estimate a mapping that ran, so it is not asked again. The
  // application may be too large for it.
  bool gives_none_ = false;
  // The number of estimates that the present round of the search leaves to later rounds.
  std::int64_t keep_estimates_ = 0;
  // The number of random jumps in a row that brought no better estimate.
  std::size_t vain_jumps_ = 0;
  // The text of the measured mapping from which the search with estimates began last.
  std::string searched_from_;
  // The number of drafts of the elite that were proposed, and the estimate of the last one.
  std::int64_t proposed_ = 0;
  double last_estimate_ = 0;
  // The number of last proposals from the elite whose estimate was that of the proposal before.
  int repeats_ = 0;
  // The texts that were proposed from the elite.
  std::vector<std::string> tried_;

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

// --------------------------------------------------------------------------- search with estimates

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

}  // namespace

std::unique_ptr<Proposer> make_guided_proposer(const SearchProblem& problem, std::uint64_t seed) {
  return std::make_unique<Guided>(problem, seed, kBreadthAlone);
}
std::unique_ptr<Proposer> make_guided_proposer_in_turns(const SearchProblem& problem,
                                                        std::uint64_t seed) {
  return std::make_unique<Guided>(problem, seed, kBreadthInTurns);
}

}  // namespace groma::tuning
