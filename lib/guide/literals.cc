// Parses a regular expression and finds a list of literals such that every match of the expression
// contains at least one of them.
#include "guide/literals.h"

#include <algorithm>
#include <cctype>

namespace groma::guide {
namespace {

// Limits on the number of literals for one pattern, and on the depth of its groups.
constexpr std::size_t kMaxChoices = 12;
constexpr std::size_t kMaxNesting = 32;

// A list of literals such that every match of a pattern contains at least one of them. An empty
// list means that no such literals are known.
using Choices = std::vector<std::string>;

// Returns the length of the shortest literal, which measures how well the literals exclude lines
// that do not match. Returns 0 if there are no literals or too many.
std::size_t weight(const Choices& choices) {
  if (choices.empty() || choices.size() > kMaxChoices) return 0;
  std::size_t shortest = std::string::npos;
  for (const std::string& one : choices) shortest = std::min(shortest, one.size());
  return shortest;
}

// Parses one regular expression from left to right. The parser knows only the syntax that the
// guide's rules use.
class Reader {
 public:
  explicit Reader(std::string_view pattern) : pattern_(pattern) {}

  // Parses the alternatives `a|b|c` of a regular expression. Returns the literals of all branches
  // together, or none if one branch has none.
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
  // Returns true if the whole pattern was read.
  bool has_read_all() const { return done() && !too_deep_; }

 private:
  enum class Item { kLiteral, kNothing, kOpaque, kGroup };

  // Returns true if the next character of the pattern is `c`.
  bool at(char c) const { return !done() && pattern_[at_] == c; }

  // Parses one alternative of a regular expression. Each run of plain characters is a literal, and
  // each group has its own list of literals. Returns the list with the greatest weight().
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

  // Reads one item of a regular expression: a character, a class, a group or an escape. Spaces and
  // anchors are Item::kNothing, because the search for literals ignores spaces.
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

  // Reads the rest of an escape such as `\s`, `\x41` or `\.`, after its backslash. Sets `*literal`
  // if the escape stands for a punctuation character.
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

  // Skips the argument of the escape \x, \p or \P: `length` characters, or a text in braces.
  void skip_code(std::size_t length) {
    if (at('{')) {
      while (!done() && !at('}')) ++at_;
      length = 1;
    }
    at_ = std::min(at_ + length, pattern_.size());
  }

  // Reads the rest of a group of a regular expression, after its `(`, and returns its literals in
  // `*group`. A group that only sets flags, such as `(?i)`, is Item::kNothing.
  Item read_group(std::size_t depth, Choices* group) {
    // A group with a `?` begins with `(?:`, `(?P<name>` or `(?i)`.
    if (at('?')) {
      while (!done() && !at(':') && !at('>') && !at(')')) ++at_;
      if (at(')')) {
        ++at_;
        return Item::kNothing;
      }
      if (!done()) ++at_;
    }
    // Parsing stops in a pattern that is nested too deep. The pattern then has no literals.
    if (depth >= kMaxNesting) {
      too_deep_ = true;
      at_ = pattern_.size();
      return Item::kOpaque;
    }
    *group = alternation(depth + 1);
    if (at(')')) ++at_;
    return Item::kGroup;
  }

  // Skips a character class of a regular expression, after its `[`. A `]` in first position belongs
  // to the class.
  void skip_class() {
    if (at('^')) ++at_;
    if (at(']')) ++at_;
    while (!done() && !at(']')) at_ += at('\\') ? std::size_t{2} : std::size_t{1};
    if (!done()) ++at_;
  }

  // Reads the quantifier `?`, `*`, `+` or `{m,n}` after an item, if there is one. Sets `*optional`
  // if the item may occur zero times, and `*repeated` after `+` and `{m,n}`.
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
  bool too_deep_ = false;
};

}  // namespace

// If the parser stopped before the end of the pattern, the pattern has a syntax that the parser
// does not know. No literal is certain then, and the list is empty.
std::vector<std::string> required_literals(std::string_view pattern) {
  Reader reader(pattern);
  Choices choices = reader.alternation();
  if (!reader.has_read_all()) choices.clear();
  return choices;
}

std::string lower_case_without_spaces(std::string_view literal) {
  std::string text;
  for (const char c : literal) {
    if (c != ' ' && c != '\t') {
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return text;
}

}  // namespace groma::guide
