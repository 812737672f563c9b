// marks: a proposer that varies a text in which comments list the alternatives of a value, such as
// `// groma: one of 16 32 64` behind the value 32. The proposer changes one value of the best text
// so far at a time, the nearest values first. When all such texts were tried, it draws untried
// combinations at random.
#include <variant>

#include "base/random.h"
#include "propose/marked_lines.h"
#include "propose/proposers.h"
#include "search/recent.h"

namespace groma::tuning {
namespace {

// The limit on consecutive random draws that were all tried before.
constexpr int kMaxDraws = 1000;

// Proposes texts that differ in the values of the marked lines.
class MarkedLineProposer : public Proposer {
 public:
  MarkedLineProposer(MarkedText text, std::uint64_t seed) : text_(std::move(text)), seed_(seed) {}

  std::string_view name() const override { return "marks"; }

  // Proposes the start first, then texts that differ from the best one in one value, then random
  // combinations. Ends after kMaxDraws random draws in a row that were tried before. Proposes as
  // many texts at once as are measured at once. Simulated texts take no time, so one at a time is
  // better: each then begins from the best text so far.
  std::vector<Proposal> propose(SearchRound& round) override {
    if (round.history().last() == nullptr) return {proposal(text_.chosen, text_.chosen)};
    tried(text_.chosen);
    const Choice from = choice_of(round.history().best());
    const Evaluator& evaluator = round.evaluator();
    const auto at_once =
        static_cast<std::size_t>(evaluator.simulated() ? 1 : std::max(evaluator.parallel(), 1));
    std::vector<Proposal> proposals;
    while (proposals.size() < std::min(at_once, round.max_proposals())) {
      const auto next = untried(from);
      if (!next) break;
      proposals.push_back(proposal(from, *next));
    }
    return proposals;
  }

 private:
  using Choice = MarkedText::Choice;

  // Returns an untried choice: a neighbour of `from` if there is one, otherwise a random one.
  // Returns nullopt if all draws were tried before.
  std::optional<Choice> untried(const Choice& from) {
    if (auto near = neighbour(from)) return near;
    for (int i = 0; i < kMaxDraws; ++i) {
      Choice drawn = draw();
      if (!was_tried(drawn)) return drawn;
    }
    return std::nullopt;
  }

  // Returns a hash of the choice, which is the key under which the choice is remembered as tried.
  static std::uint64_t key_of(const Choice& choice) {
    std::uint64_t key = 0;
    for (const std::uint32_t value : choice) key = mix_bits(key ^ value) + 1;
    return key;
  }
  void tried(const Choice& choice) { tried_.add(key_of(choice), {}); }
  bool was_tried(const Choice& choice) const { return tried_.find(key_of(choice)) != nullptr; }

  // Returns the values that a step's text has in its marked lines. If this proposer cannot have
  // made the text, returns the values of the start.
  Choice choice_of(const Step* step) const {
    if (step == nullptr) return text_.chosen;
    const auto read = read_marks(step->proposal.text);
    return read && read->between == text_.between ? read->chosen : text_.chosen;
  }

  // Returns the proposal for the choice `to`. Its description lists the changes since `from`: "line
  // 3: 64 for 32".
  Proposal proposal(const Choice& from, const Choice& to) {
    tried(to);
    return {text_.text_of(to), text_.changes(from, to)};
  }

  // Returns an untried choice that differs from `from` in one marked line; nullopt if all were
  // tried. Begins with a random line. First tries the values next to the chosen one in each line's
  // list, then values two positions away, and so on.
  std::optional<Choice> neighbour(const Choice& from) {
    const std::size_t first = random_at(seed_, next_++) % from.size();
    for (std::size_t distance = 1; distance < MarkedText::kMaxValues; ++distance) {
      for (std::size_t i = 0; i < from.size(); ++i) {
        const std::size_t m = (first + i) % from.size();
        const std::size_t count = text_.marks[m].values.size();
        for (const std::size_t value : {from[m] + distance, from[m] - distance}) {
          if (value >= count) continue;
          Choice choice = from;
          choice[m] = static_cast<std::uint32_t>(value);
          if (!was_tried(choice)) return choice;
        }
      }
    }
    return std::nullopt;
  }

  // Returns a choice with a random value for each marked line.
  Choice draw() {
    Choice choice;
    for (const MarkedLine& mark : text_.marks) {
      choice.push_back(static_cast<std::uint32_t>(random_at(seed_, next_++) % mark.values.size()));
    }
    return choice;
  }

  MarkedText text_;
  std::uint64_t seed_, next_ = 0;
  RecentMap<std::monostate> tried_;
};

}  // namespace

// Checks the marked lines before the search begins.
Result<std::unique_ptr<Proposer>> make_marks_proposer(const SearchProblem& problem,
                                                      std::uint64_t seed) {
  auto text = read_marks_of(problem);
  if (!text) return text.error();
  return std::unique_ptr<Proposer>(std::make_unique<MarkedLineProposer>(std::move(*text), seed));
}

}  // namespace groma::tuning
