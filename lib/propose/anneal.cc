// anneal: simulated annealing over the search space. The search begins at the first of several
// starting points that runs, or else at random ones. A neighbour of a mapping differs from it in a
// few decisions, sometimes for all tasks or regions alike. A neighbour that is slower by a share x
// of the score is accepted with probability exp(-x / temperature). The temperature falls from kHot
// to kCold within a cycle. The next cycle begins at the best mapping and is twice as long. The
// cycles do not depend on the budget, so a search can be resumed with a larger budget.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "groma/search_space.h"
#include "propose/beginnings.h"
#include "propose/proposers.h"
#include "propose/score_memory.h"

namespace groma::tuning {
namespace {

constexpr double kHot = 0.2, kCold = 0.0005;
// The probability that a neighbour changes yet another decision.
constexpr double kMore = 0.3;
// The probability that a change applies to all tasks or regions.
constexpr double kWide = 0.3;
// The limit on the number of decisions that change together.
constexpr std::size_t kMost = 4;
// The number of proposals in the first annealing cycle.
constexpr std::int64_t kFirstCycle = 10;
// From this cycle length on, four proposals are made at once, so that they can be tried
// concurrently.
constexpr std::int64_t kMany = 160;
// The limit on attempts to find a mapping that was not tried before.
constexpr int kTries = 1000;

class Anneal : public Proposer {
 public:
  Anneal(const SearchProblem& problem, std::uint64_t seed)
      : space_(*problem.machine, problem.inputs.front()),
        draws_(seed),
        beginnings_(starting_points(space_)) {
    for (std::size_t d = 0; d < space_.decisions().size(); ++d) {
      if (space_.decisions()[d].options.size() > 1) open_.push_back(d);
    }
  }

  std::string_view name() const override { return "anneal"; }
  std::vector<Proposal> propose(SearchRound& round) override;
  void learn(const Step& step) override;

 private:
  // A mapping, given by the chosen option of each decision, its score, and the number of the step
  // that tried it. The score is infinite if the mapping did not run.
  struct ScoredMapping {
    Choice choice;
    double score = std::numeric_limits<double>::infinity();
    std::int64_t step = 0;
    bool runs() const { return std::isfinite(score); }
  };

  bool next(Choice& choice);
  Choice neighbour();
  void widen(std::size_t d, Choice& choice) const;
  void go_on(Choice choice, double score, std::int64_t step);

  SearchSpace space_;
  RandomNumbers draws_;
  std::vector<Choice> beginnings_;
  std::size_t next_beginning_ = 0;
  // The indices of the decisions that have more than one option.
  std::vector<std::size_t> open_;
  ScoredMapping current_, best_;
  // The number of the proposal at which the current cycle began, and the cycle's length.
  std::int64_t begin_ = 0, length_ = kFirstCycle;
  double temperature_ = kHot;
  // A proposal whose result is not known yet.
  struct PendingProposal {
    std::int64_t tag = 0;
    Choice choice;
  };
  std::vector<PendingProposal> pending_;
  std::int64_t tags_ = 0;
  ScoreMemory memory_;
};

// Begins the next annealing cycle if the current one is over. Proposes one neighbour of the current
// mapping, or up to four neighbours in long cycles.
std::vector<Proposal> Anneal::propose(SearchRound& round) {
  if (tags_ - begin_ >= length_) {
    begin_ = tags_;
    length_ *= 2;
    current_ = best_;
  }
  const double used = static_cast<double>(tags_ - begin_) / static_cast<double>(length_);
  temperature_ = kHot * std::pow(kCold / kHot, used);
  std::vector<Proposal> proposals;
  pending_.clear();
  const std::size_t wanted =
      length_ < kMany || !current_.runs() ? 1 : std::min<std::size_t>(4, round.max_proposals());
  while (proposals.size() < wanted) {
    Choice choice;
    if (!next(choice)) break;
    proposals.push_back(
        {space_.text_of(choice),
         current_.runs() ? "near the one that it stands on" : "to begin with", ++tags_,
         current_.runs() ? std::vector{current_.step} : std::vector<std::int64_t>()});
    pending_.push_back({tags_, std::move(choice)});
  }
  return proposals;
}

// Finds a mapping that was not tried before. A mapping that was tried is accepted or rejected again
// with its known score, so that the search moves on. Returns false after kTries attempts.
bool Anneal::next(Choice& choice) {
  for (int i = 0; i < kTries; ++i) {
    if (current_.runs()) {
      choice = neighbour();
    } else if (next_beginning_ < beginnings_.size()) {
      choice = beginnings_[next_beginning_++];
    } else {
      choice = space_.sample(draws_.bits());
    }
    const std::uint64_t hash = hash_of(choice);
    if (std::any_of(pending_.begin(), pending_.end(),
                    [&](const PendingProposal& tried) { return tried.choice == choice; })) {
      continue;
    }
    const TriedScore* known = memory_.find(hash);
    if (known == nullptr) return true;
    go_on(choice, known->score, known->step);
  }
  return false;
}

// Returns the current mapping with one to kMost random changes.
Choice Anneal::neighbour() {
  Choice choice = current_.choice;
  std::size_t changes = 1;
  while (changes < kMost && draws_.chance(kMore)) ++changes;
  for (std::size_t i = 0; i < changes && !open_.empty(); ++i) {
    const std::size_t d = open_[draws_.below(static_cast<std::uint32_t>(open_.size()))];
    const std::vector<std::string>& options = space_.decisions()[d].options;
    const auto count = static_cast<std::uint32_t>(options.size());
    choice[d] = (choice[d] + 1 + draws_.below(count - 1)) % count;
    if (draws_.chance(kWide)) widen(d, choice);
  }
  return choice;
}

// Gives the chosen option of decision d to the same decision of all other tasks or regions that
// have this option. Many good mappings treat all tasks alike.
void Anneal::widen(std::size_t d, Choice& choice) const {
  const Decision& from = space_.decisions()[d];
  if (from.statement == MappingStatement::kLayout) return;
  const std::string& wanted = from.options[choice[d]];
  for (std::size_t other = 0; other < choice.size(); ++other) {
    const Decision& decision = space_.decisions()[other];
    if (decision.statement != from.statement || decision.kind != from.kind) continue;
    const auto found = std::find(decision.options.begin(), decision.options.end(), wanted);
    if (found == decision.options.end()) continue;
    choice[other] = static_cast<std::uint32_t>(found - decision.options.begin());
  }
}

// Makes a mapping the current one if it is better than the current one, or else with probability
// exp(-worse / temperature). A mapping that failed is never accepted.
void Anneal::go_on(Choice choice, double score, std::int64_t step) {
  if (!std::isfinite(score)) return;
  const double worse = (score - current_.score) / std::max(std::abs(current_.score), 1e-300);
  if (!current_.runs() || worse <= 0 || draws_.chance(std::exp(-worse / temperature_))) {
    current_ = {std::move(choice), score, step};
  }
}

// Stores the score of a proposal, and makes the proposal the current mapping if it is accepted.
void Anneal::learn(const Step& step) {
  for (PendingProposal& tried : pending_) {
    if (tried.tag != step.proposal.tag) continue;
    const double score =
        step.evaluation.ok() ? step.evaluation.score : std::numeric_limits<double>::infinity();
    memory_.add(hash_of(tried.choice), {score, step.evaluation.ok(), false, step.number});
    if (score < best_.score) best_ = {tried.choice, score, step.number};
    go_on(tried.choice, score, step.number);
  }
}

}  // namespace

std::unique_ptr<Proposer> make_anneal_proposer(const SearchProblem& problem, std::uint64_t seed) {
  return std::make_unique<Anneal>(problem, seed);
}

}  // namespace groma::tuning
