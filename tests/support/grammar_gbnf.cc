#include "support/grammar_gbnf.h"

#include <algorithm>
#include <cctype>

#include "support/grammar_recogniser.h"

namespace groma::testing {
namespace {

using syntax::GrammarItem;
using syntax::Production;
using Kind = GrammarItem::Kind;

bool in_name(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

class GbnfParser {
 public:
  explicit GbnfParser(std::string_view text) : text_(decode_utf8(text)) {}

  std::vector<Production> run(std::string* problem) {
    std::vector<Production> table;
    skip_space(true);
    while (problem_.empty() && at_ < text_.size()) {
      Production production;
      production.name = name();
      skip_space(false);
      expect("::=");
      skip_space(true);
      production.item = alternatives(false);
      if (problem_.empty() && peek() != '\n') fail("a definition does not end with its line");
      skip_space(true);
      table.push_back(std::move(production));
    }
    const auto root = std::find_if(table.begin(), table.end(),
                                   [](const Production& p) { return p.name == "root"; });
    if (problem_.empty() && root == table.end()) fail("no root");
    *problem = problem_;
    if (!problem_.empty()) return {};
    std::rotate(table.begin(), root, root + 1);
    return table;
  }

 private:
  char32_t peek() const { return at_ < text_.size() ? text_[at_] : U'\n'; }

  void fail(const std::string& why) {
    if (!problem_.empty()) return;
    problem_ = why + " at `" + encode_utf8(text_.substr(at_, 20)) + "`";
    at_ = text_.size();
  }

  void expect(std::string_view sign) {
    for (const char c : sign) {
      if (peek() != static_cast<char32_t>(c) || at_ >= text_.size()) {
        return fail("expected " + std::string(sign));
      }
      ++at_;
    }
  }

  void skip_space(bool lines) {
    while (at_ < text_.size()) {
      const char32_t c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == ' ' || c == '\t' || (lines && c == '\n')) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    if (begin == at_) fail("expected a name");
    return encode_utf8(text_.substr(begin, at_ - begin));
  }

  GrammarItem alternatives(bool nested) {
    GrammarItem choice{Kind::kChoice, "", {}, {}, 0};
    choice.items.push_back(sequence(nested));
    while (problem_.empty() && peek() == '|' && at_ < text_.size()) {
      ++at_;
      skip_space(true);
      choice.items.push_back(sequence(nested));
    }
    return choice.items.size() == 1 ? choice.items[0] : choice;
  }

  GrammarItem sequence(bool nested) {
    GrammarItem all{Kind::kSequence, "", {}, {}, 0};
    while (problem_.empty() && at_ < text_.size()) {
      const char32_t c = peek();
      if (c == '\n' || c == '|' || c == ')') break;
      all.items.push_back(suffixed(atom()));
      skip_space(nested);
    }
    if (all.items.empty()) fail("an empty alternative");
    return all.items.size() == 1 ? all.items[0] : all;
  }

  GrammarItem atom() {
    if (peek() == '"') return literal();
    if (peek() == '[') return char_class();
    if (peek() != '(') return {Kind::kRule, name(), {}, {}, 0};
    ++at_;
    skip_space(true);
    GrammarItem group = alternatives(true);
    expect(")");
    return group;
  }

  // Directly behind what it repeats.
  GrammarItem suffixed(GrammarItem item) {
    GrammarItem repeated{Kind::kOptional, "", {}, {std::move(item)}, 0};
    switch (peek()) {
      case '?':
        break;
      case '*':
        repeated.kind = Kind::kMany;
        break;
      case '+':
        repeated.kind = Kind::kSome;
        break;
      case '{':
        return counted(std::move(repeated));
      default:
        return std::move(repeated.items[0]);
    }
    ++at_;
    return repeated;
  }

  GrammarItem counted(GrammarItem repeated) {
    repeated.kind = Kind::kUpTo;
    expect("{0,");
    while (peek() >= '0' && peek() <= '9') {
      repeated.max_count = repeated.max_count * 10 + static_cast<int>(text_[at_++] - '0');
    }
    if (repeated.max_count >= 2000) fail("more repetitions than llama.cpp takes");
    expect("}");
    return repeated;
  }

  GrammarItem literal() {
    ++at_;
    GrammarItem item{Kind::kText, "", {}, {}, 0};
    while (problem_.empty() && peek() != '"') {
      if (peek() == '\n') fail("an unclosed literal");
      item.text += encode_utf8(std::u32string(1, character()));
    }
    ++at_;
    return item;
  }

  GrammarItem char_class() {
    ++at_;
    GrammarItem item{Kind::kChars, "", {}, {}, 0};
    if (peek() == '^') fail("a negated class");
    while (problem_.empty() && peek() != ']') {
      if (peek() == '\n') fail("an unclosed class");
      const char32_t first = character();
      char32_t last = first;
      if (peek() == '-') {
        ++at_;
        last = character();
      }
      if (last < first) fail("an empty range");
      item.chars.push_back({first, last});
    }
    ++at_;
    return item;
  }

  char32_t character() {
    const char32_t c = peek();
    ++at_;
    if (c != '\\') return c;
    const char32_t escape = peek();
    ++at_;
    switch (escape) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'x':
        return hex(2);
      case 'u':
        return hex(4);
      case 'U':
        return hex(8);
      case '\\':
      case '"':
      case '[':
      case ']':
        return escape;
      default:
        fail("an unknown escape");
        return 0;
    }
  }

  char32_t hex(int digits) {
    char32_t value = 0;
    for (int i = 0; i < digits; ++i) {
      const char32_t c = peek();
      if (c > 'f' || std::isxdigit(static_cast<int>(c)) == 0) fail("a bad escape");
      const char32_t digit = c <= '9' ? c - '0' : (c | 0x20U) - 'a' + 10;
      value = value << 4 | digit;
      ++at_;
    }
    return value;
  }

  std::u32string text_;
  std::size_t at_ = 0;
  std::string problem_;
};

}  // namespace

std::vector<Production> parse_gbnf(std::string_view text, std::string* problem) {
  return GbnfParser(text).run(problem);
}

}  // namespace groma::testing
