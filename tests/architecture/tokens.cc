#include "architecture/tokens.h"

#include <algorithm>
#include <cctype>

namespace groma::architecture {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Tokens {
 public:
  explicit Tokens(std::string_view code) : code_(code) {
    while (at_ < code_.size()) next();
  }

  const std::vector<Token>& all() const { return all_; }

 private:
  bool at(std::string_view text) const { return code_.substr(at_).starts_with(text); }
  void skip_behind(std::string_view end) {
    at_ = std::min(code_.find(end, at_), code_.size() - end.size()) + end.size();
  }
  void add(Token::Kind kind, std::string_view text) {
    if (kind == Token::Kind::kString && !all_.empty() && all_.back().kind == kind) {
      all_.back().text += text;
    } else {
      all_.push_back({kind, std::string(text)});
    }
  }

  void next() {
    const char c = code_[at_];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else if (at("//") || c == '#') {
      skip_behind("\n");
    } else if (at("/*")) {
      skip_behind("*/");
    } else if (at("R\"")) {
      raw_string();
    } else if (c == '"' || c == '\'') {
      quoted(c);
    } else if (is_word(c)) {
      // A digit separator, as in 1'000, is not the beginning of a character literal.
      const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0;
      std::size_t end = at_;
      while (end < code_.size() && (is_word(code_[end]) || (number && code_[end] == '\''))) ++end;
      add(Token::Kind::kWord, code_.substr(at_, end - at_));
      at_ = end;
    } else {
      const std::size_t length = at("==") || at("!=") ? 2 : 1;
      add(Token::Kind::kSign, code_.substr(at_, length));
      at_ += length;
    }
  }

  void quoted(char quote) {
    const std::size_t begin = ++at_;
    while (at_ < code_.size() && code_[at_] != quote) at_ += code_[at_] == '\\' ? 2U : 1U;
    if (quote == '"') add(Token::Kind::kString, code_.substr(begin, at_ - begin));
    ++at_;
  }

  void raw_string() {
    const std::size_t open = std::min(code_.find('(', at_), code_.size() - 1);
    const std::string close = ")" + std::string(code_.substr(at_ + 2, open - at_ - 2)) + "\"";
    at_ = open + 1;
    const std::size_t begin = at_;
    skip_behind(close);
    add(Token::Kind::kString, code_.substr(begin, at_ - close.size() - begin));
  }

  std::string_view code_;
  std::size_t at_ = 0;
  std::vector<Token> all_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view code) { return Tokens(code).all(); }

}  // namespace groma::architecture
