// Parses a regular expression and finds literals of which each of its matches contains at least
// one.
#include "guide/literals.h"

#include <algorithm>
#include <cctype>

namespace groma::guide {
namespace {

// Limits on the number of literals for one pattern, and on the depth of its groups.
constexpr std::size_t kMaxChoices = 12;
constexpr std::size_t kMaxNesting = 32;

// Every match contains one of these literals. An empty list means that none is known.
using Choices = std::vector<std::string>;

// Returns how well the choices exclude lines: the length of the shortest choice, which is the
// weakest. Returns 0 for unusable choices.
std::size_t weight(const Choices& choices) {
  if (choices.empty() || choices.size() > kMaxChoices) return 0;
  std::size_t shortest = std::string::npos;
  for (const std::string& one : choices) shortest = std::min(shortest, one.size());
  return shortest;
}

// Parses one pattern from left to right. The parser knows only the syntax that the rules use.
class Reader {
 public:
  explicit Reader(std::string_view pattern) : pattern_(pattern) {}

  // Parses `a|b|c`. Returns the choices of all branches together; none if one branch has none.
  Choices alternation(std::size_t depth = 0) {
    Choices all;
    bool known = true;
    while (true) {
      const Choices branch = sequence(depth);
      known = known && !branch.empty();
      all.insert(all.end(), branch.begin(), branch.end());
      if (!at('|')) break;
      ++at_;
    }
    if (!known || all.size() > kMaxChoices) all.clear();
    return all;
  }

  bool done() const { return at_ >= pattern_.size(); }

 private:
  enum class Item { kLiteral, kNothing, kOpaque, kGroup };

  // Returns true if the next character is `c`.
  bool at(char c) const { return !done() && pattern_[at_] == c; }

  // Parses the items of one branch. Each run of plain characters is a literal, and each group has
  // its own choices. Returns the choices with the greatest weight.
  Choices sequence(std::size_t depth) {
    Choices best;
    std::string run;
    const auto offer = [&](Choices choices) {
      if (weight(choices) > weight(best)) best = std::move(choices);
    };
    const auto end_run = [&] {
      if (!run.empty()) offer({run});
      run.clear();
    };
    while (!done() && !at('|') && !at(')')) {
      char literal = 0;
      Choices group;
      const Item item = read_item(depth, &literal, &group);
      bool optional = false, repeated = false;
      read_quantifier(&optional, &repeated);
      if (item == Item::kNothing) continue;
      if (item == Item::kLiteral && !optional) run += literal;
      if (item != Item::kLiteral || optional || repeated) end_run();
      if (item == Item::kGroup && !optional) offer(std::move(group));
    }
    end_run();
    return best;
  }

  // Reads one item: a character, a class, a group or an escape. Spaces and anchors count as
  // nothing, because the prefilter ignores spaces.
  Item read_item(std::size_t depth, char* literal, Choices* group) {
    const char c = pattern_[at_++];
    switch (c) {
      case '^':
      case '$':
      case ' ':
      case '\t':
        return Item::kNothing;
      case '.':
        return Item::kOpaque;
      case '[':
        skip_class();
        return Item::kOpaque;
      case '(':
        return read_group(depth, group);
      case '\\':
        return read_escape(literal);
      default:
        *literal = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        return Item::kLiteral;
    }
  }

  // Reads the rest of an escape such as `\s`, `\x41` or `\.`, after its backslash.
  Item read_escape(char* literal) {
    if (done()) return Item::kOpaque;
    const char c = pattern_[at_++];
    if (c == 's' || c == 'b' || c == 'A' || c == 'z') return Item::kNothing;
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      if (c == 'x' || c == 'p' || c == 'P') skip_code(c == 'x' ? 2 : 1);
      return Item::kOpaque;
    }
    *literal = c;
    return Item::kLiteral;
  }

  // Skips the argument of \x or \p: `length` characters, or a text in braces.
  void skip_code(std::size_t length) {
    if (at('{')) {
      while (!done() && !at('}')) ++at_;
      length = 1;
    }
    at_ = std::min(at_ + length, pattern_.size());
  }

  // Reads the rest of a group, after its `(`. A group that only sets flags has no content.
  Item read_group(std::size_t depth, Choices* group) {
    if (at('?')) {  // a group that begins with (?:, (?P<name> or (?i)
      while (!done() && !at(':') && !at('>') && !at(')')) ++at_;
      if (at(')')) {
        ++at_;
        return Item::kNothing;
      }
      if (!done()) ++at_;
    }
    // A pattern that is nested too deep gets no literals, because done() is then true too early.
    if (depth >= kMaxNesting) {
      at_ = pattern_.size();
      return Item::kOpaque;
    }
    *group = alternation(depth + 1);
    if (at(')')) ++at_;
    return Item::kGroup;
  }

  // Skips a character class, after its `[`. A `]` in first position belongs to the class.
  void skip_class() {
    if (at('^')) ++at_;
    if (at(']')) ++at_;
    while (!done() && !at(']')) at_ += at('\\') ? std::size_t{2} : std::size_t{1};
    if (!done()) ++at_;
  }

  // Reads `?`, `*`, `+` or `{m,n}` after an item, if there is one. `optional`: the item may occur
  // zero times.
  void read_quantifier(bool* optional, bool* repeated) {
    if (at('?') || at('*')) {
      *optional = true;
      ++at_;
    } else if (at('+')) {
      *repeated = true;
      ++at_;
    } else if (at('{') && at_ + 1 < pattern_.size() &&
               std::isdigit(static_cast<unsigned char>(pattern_[at_ + 1])) != 0) {
      *optional = pattern_[at_ + 1] == '0';
      *repeated = true;
      while (!done() && !at('}')) ++at_;
      if (!done()) ++at_;
    } else {
      return;
    }
    if (at('?')) ++at_;
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
};

}  // namespace

// If the parser stopped early, the pattern has a syntax that it does not know, and no literal is
// certain.
std::vector<std::string> required_literals(std::string_view pattern) {
  Reader reader(pattern);
  Choices choices = reader.alternation();
  if (!reader.done()) choices.clear();
  return choices;
}

std::string folded(std::string_view literal) {
  std::string text;
  for (const char c : literal) {
    if (c != ' ' && c != '\t') {
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return text;
}

}  // namespace groma::guide
