// marks: a proposer that varies a text in which comments list the alternatives of a value, such as
// `// groma: one of 16 32 64` behind the value 32. The proposer changes one value of the best text
// so far at a time, the nearest values first. When all such texts were tried, it draws untried
// combinations at random.
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "base/random.h"
#include "edit/segment_marks.h"
#include "groma/segments.h"
#include "propose/proposers.h"
#include "search/recent.h"

namespace groma::tuning {
namespace {

constexpr std::string_view kMark = "groma: one of";
constexpr std::size_t kMaxMarks = 64, kMaxValues = 64;
// The limit on consecutive random draws that were all tried before.
constexpr int kMaxDraws = 1000;

// For each marked line, the index of its chosen value in the list of alternatives.
using Choice = std::vector<std::uint32_t>;

// A marked line of the text: it has a value, and lists the values that may replace that value.
struct MarkedLine {
  // The number of the line in the text, from 1.
  std::size_t line = 0;
  std::vector<std::string> values;
};

// Returns true if the character may be part of a word or number.
bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Returns the values that follow the words `groma: one of`, up to the end of the comment or line.
std::vector<std::string> values_in(std::string_view rest) {
  for (std::string_view closing : {"*/", "-->"}) rest = rest.substr(0, rest.find(closing));
  std::vector<std::string> values;
  constexpr std::string_view kSpace = " \t\r";
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
    if (rest.empty()) return values;
    const std::string_view word = rest.substr(0, rest.find_first_of(kSpace));
    values.emplace_back(word);
    rest.remove_prefix(word.size());
  }
}

// An occurrence of one of the listed values in a line, as a whole word.
struct ValueOccurrence {
  std::size_t at;
  std::uint32_t value;
};
// Returns the occurrences of the listed values in a line. If several values match at one position,
// takes the longest: `1.5` and not `1`.
std::vector<ValueOccurrence> places_in(std::string_view line,
                                       const std::vector<std::string>& values) {
  std::vector<ValueOccurrence> places;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t longest = 0;
    for (std::size_t v = 0; v < values.size(); ++v) {
      const std::string& value = values[v];
      const bool begins = at == 0 || !in_word(line[at - 1]) || !in_word(value.front());
      const std::size_t end = at + value.size();
      const bool ends = end >= line.size() || !in_word(line[end]) || !in_word(value.back());
      if (value.size() <= longest || !begins || !ends || !line.substr(at).starts_with(value)) {
        continue;
      }
      if (longest > 0) places.pop_back();
      longest = value.size();
      places.push_back({at, static_cast<std::uint32_t>(v)});
    }
    at += std::max<std::size_t>(longest, 1);
  }
  return places;
}

// A text that is split at the values that may be replaced.
struct MarkedText {
  std::vector<MarkedLine> marks;
  // The parts of the text before, between and after the values.
  std::vector<std::string> between;
  Choice chosen;

  // Returns the text with the chosen values.
  std::string text_of(const Choice& choice) const {
    std::string text = between.front();
    for (std::size_t m = 0; m < marks.size(); ++m) {
      text += marks[m].values[choice[m]] + between[m + 1];
    }
    return text;
  }
};

// Finds the marked lines of a text. Fails with the number of the wrong line: kMalformed if a line
// lists too few or too many values or does not have exactly one of them, kTooLarge if there are too
// many marked lines.
Result<MarkedText> read_marks(std::string_view text) {
  const auto failure = [](std::size_t line, std::string_view what) {
    return Error{Error::Code::kMalformed, fmt::format("line {}: {}", line, what)};
  };
  MarkedText made;
  std::size_t kept = 0, line = 1;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view all = text.substr(at, end - at);
    const std::size_t found = all.find(kMark);
    if (found != all.npos) {
      MarkedLine mark{line, values_in(all.substr(found + kMark.size()))};
      if (mark.values.size() < 2 || mark.values.size() > kMaxValues) {
        return failure(line,
                       fmt::format("`{}` has {} value{}, not 2 to {}", kMark, mark.values.size(),
                                   mark.values.size() == 1 ? "" : "s", kMaxValues));
      }
      if (made.marks.size() == kMaxMarks) {
        return Error{
            Error::Code::kTooLarge,
            fmt::format("line {}: there are more than {} lines with `{}`", line, kMaxMarks, kMark)};
      }
      const std::vector<ValueOccurrence> places = places_in(all.substr(0, found), mark.values);
      if (places.size() != 1) {
        return failure(line, places.empty()
                                 ? fmt::format("none of the values of `{}` stands before it as a "
                                               "word of its own; spaces part values",
                                               kMark)
                                 : fmt::format("{} of the values of `{}` stand before it, not one",
                                               places.size(), kMark));
      }
      const std::size_t begin = at + places[0].at;
      made.between.emplace_back(text.substr(kept, begin - kept));
      made.chosen.push_back(places[0].value);
      kept = begin + mark.values[places[0].value].size();
      made.marks.push_back(std::move(mark));
    }
    at = end + 1;
  }
  made.between.emplace_back(text.substr(kept));
  return made;
}

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
    std::string why;
    for (std::size_t m = 0; m < to.size(); ++m) {
      if (from[m] == to[m]) continue;
      const MarkedLine& mark = text_.marks[m];
      why += fmt::format("{}line {}: {} for {}", why.empty() ? "" : ", ", mark.line,
                         mark.values[to[m]], mark.values[from[m]]);
    }
    return {text_.text_of(to), why.empty() ? "as it is" : why};
  }

  // Returns an untried choice that differs from `from` in one marked line; nullopt if all were
  // tried. Begins with a random line. First tries the values next to the chosen one in each line's
  // list, then values two positions away, and so on.
  std::optional<Choice> neighbour(const Choice& from) {
    const std::size_t first = random_at(seed_, next_++) % from.size();
    for (std::size_t distance = 1; distance < kMaxValues; ++distance) {
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

// Checks the marked lines before the search begins. The error for a text without marked lines shows
// how to write one.
Result<std::unique_ptr<Proposer>> make_marks_proposer(const SearchProblem& problem,
                                                      std::uint64_t seed) {
  const Source source(problem.file.empty() ? "text" : problem.file, problem.start);
  if (edit::has_segment_mark(source.text())) {
    if (const auto segments = Segments::of_marked(source); !segments) return segments.error();
  }
  auto text = read_marks(problem.start);
  if (!text) {
    Error error = text.error();
    if (!problem.file.empty()) error.message = fmt::format("`{}`: {}", problem.file, error.message);
    return error;
  }
  if (text->marks.empty()) {
    const std::string of =
        problem.file.empty() ? std::string("the text") : fmt::format("`{}`", problem.file);
    return Error{
        Error::Code::kUnknown, fmt::format("no line of {} has `{}`", of, kMark),
        fmt::format("write behind a value what else may stand there: `n = 4;  // {} 2 4 8`",
                    kMark)};
  }
  return std::unique_ptr<Proposer>(std::make_unique<MarkedLineProposer>(std::move(*text), seed));
}

}  // namespace groma::tuning
