#include "domain/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/characters.h"
#include "groma/harmless.h"

namespace groma::domains {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The signs; longer ones stand before those with which they begin.
constexpr std::string_view kSigns[] = {"=>", "<=", ">=", "==", "!=", "&&", "||", "<<", ">>", "+",
                                       "-",  "*",  "/",  "%",  "<",  ">",  "=",  "&",  "|",  "^",
                                       "~",  "!",  "?",  ":",  "(",  ")",  "[",  "]",  ",",  ";"};

}  // namespace

std::vector<Token> tokens_of(Diagnostics& diags) {
  const std::string_view text = diags.source().text();
  std::vector<Token> tokens;
  std::size_t at = 0;
  const auto range_to = [&](std::size_t end) {
    return Range{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)};
  };
  while (at < text.size() && !diags.full()) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at;
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    std::size_t end = at;
    if (is_letter(c) || is_digit(c)) {
      while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
      Token token{is_letter(c) ? Token::Kind::kName : Token::Kind::kNumber, range_to(end),
                  text.substr(at, end - at), 0};
      if (token.kind == Token::Kind::kNumber) {
        const auto [next, status] =
            std::from_chars(token.text.data(), token.text.data() + token.text.size(), token.number);
        if (status == std::errc::result_out_of_range) {
          diags.report(DiagId::kIntegerTooLarge, token.range, token.text);
        } else if (next != token.text.data() + token.text.size()) {
          const auto digits = static_cast<std::size_t>(next - token.text.data());
          diags.report(DiagId::kNotAnInteger, token.range, token.text)
              .help(fmt::format("write `{} * {}` for a product", token.text.substr(0, digits),
                                token.text.substr(digits)));
        }
      }
      tokens.push_back(token);
      at = end;
      continue;
    }
    const auto* const sign =
        std::find_if(std::begin(kSigns), std::end(kSigns),
                     [&](std::string_view each) { return text.substr(at).starts_with(each); });
    if (sign != std::end(kSigns)) {
      tokens.push_back({Token::Kind::kSign, range_to(at + sign->size()), *sign, 0});
      at += sign->size();
      continue;
    }
    end = at + std::max<std::size_t>(1, first_character(text.substr(at)).length);
    diags.report(DiagId::kUnexpectedCharacter, range_to(end),
                 "`" + harmless(text.substr(at, end - at)) + "`");
    at = end;
  }
  at = text.size();
  tokens.push_back({Token::Kind::kEnd, range_to(text.size()), {}, 0});
  return tokens;
}

}  // namespace groma::domains
