// random: draws mappings from the search space, like the random mappers with which the paper on
// agent-system interfaces compares its results.
#include "base/random.h"

#include <algorithm>

#include "groma/search_space.h"
#include "propose/proposers.h"

namespace groma::tuning {
namespace {

class Random : public Proposer {
 public:
  Random(const SearchProblem& problem, std::uint64_t seed)
      : space_(*problem.machine, problem.inputs.front()), seed_(seed) {}

  std::string_view name() const override { return "random"; }

  // Draws up to four mappings at once, so that they can be tried concurrently.
  std::vector<Proposal> propose(SearchRound& round) override {
    std::vector<Proposal> proposals;
    while (proposals.size() < std::min<std::size_t>(round.max_proposals(), 4)) {
      proposals.push_back({space_.text_of(space_.sample(seed_of(next_))), "drawn at random"});
      ++next_;
    }
    return proposals;
  }

 private:
  // Returns the random seed of the draw with the number `drawn`. Two searches with neighbouring
  // seeds have no draws in common.
  std::uint64_t seed_of(std::uint64_t drawn) const { return random_at(seed_, drawn); }

  SearchSpace space_;
  std::uint64_t seed_, next_ = 0;
};

}  // namespace

std::unique_ptr<Proposer> make_random_proposer(const SearchProblem& problem, std::uint64_t seed) {
  return std::make_unique<Random>(problem, seed);
}

}  // namespace groma::tuning
