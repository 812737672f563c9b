// Guided: the class of the proposer `guided`. guided.cc has the search without estimates, and
// guided_estimates.cc the search with estimates.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/random.h"
#include "groma/proposers.h"
#include "propose/winning_decisions.h"
#include "search/recent.h"
#include "space/draft.h"

namespace groma::tuning {

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
  // The number of proposed texts with which a draft is compared before it is proposed.
  static constexpr std::size_t kMaxCompared = 12;
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

}  // namespace groma::tuning
