#include "support/program_tokens.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

namespace groma::testing {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Whether the tokens may touch. Signs that would make one do not.
bool may_touch(const std::string& left, const std::string& right) {
  if (left.empty() || right.empty()) return true;
  if (left.size() > 1 && left.back() == '*') return !in_word(right.front());  // A name pattern.
  if (in_word(left.back()) || left.back() == '"')
    return !in_word(right.front()) && right.front() != '"' && right.front() != '.';
  constexpr std::string_view kAlone = "()[]{},;";
  return kAlone.find(left.back()) != std::string_view::npos ||
         kAlone.find(right.front()) != std::string_view::npos || in_word(right.front());
}

std::string comment(Random& random) {
  return random.pick({"# a comment\n", "// another\n", "#\n", "//; } ) \"\n", "# \xC3\xA9\n"});
}

// Between two tokens of a statement; a line may end inside brackets, and after what needs more.
std::string gap(Random& random, const std::string& left, const std::string& right, int brackets) {
  if (brackets > 0 && random.chance(3))
    return random.chance(70) ? "\n    " : "  " + comment(random);
  if (left == "," && random.chance(4)) return "\n  ";
  if (random.chance(3)) return random.chance(50) ? "  " : "\t";
  return may_touch(left, right) && random.chance(60) ? "" : " ";
}

std::string end_of_statement(Random& random, bool before_brace) {
  if (before_brace && random.chance(15)) return " ";
  switch (random.below(6)) {
    case 0:
      return "\n";
    case 1:
      return "; ";
    case 2:
      return ";  " + comment(random);
    case 3:
      return ";\n" + (random.chance(50) ? comment(random) : std::string("\n"));
    case 4:
      return random.chance(50) ? ";\r\n" : "  " + comment(random);
    default:
      return ";\n";
  }
}

std::string stray_token(Random& random, const Tokens& tokens) {
  if (random.chance(40)) return random.pick(tokens);
  return random.pick({"(",      ")",        "[",
                      "]",      "{",        "}",
                      ",",      ";",        ":",
                      "::",     ".",        "?",
                      "*",      "=",        "==",
                      "!",      "&",        "|",
                      "@",      "$",        "\"",
                      "'",      "\xC3\xA9", "\xFF",
                      "12ab",   "1.5",      "Task",
                      "GPU",    "FBMEM",    "def",
                      "return", "for",      "in",
                      "tuple",  "Machine",  "Align",
                      "int",    "x",        "9223372036854775808",
                      "Tasks",  "gpu",      "Regoin",
                      "print",  "True"});
}

}  // namespace

std::string lay_out(const Tokens& tokens, Random& random) {
  std::string text = random.chance(2) ? "\xEF\xBB\xBF" : "";
  if (random.chance(10)) text += comment(random);
  int brackets = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& token = tokens[i];
    const std::string next = i + 1 < tokens.size() ? tokens[i + 1] : "";
    if (token == kEnd) {
      text += end_of_statement(random, next == "}");
      brackets = 0;
      continue;
    }
    if (token == "(" || token == "[") ++brackets;
    if (token == ")" || token == "]") --brackets;
    text += token;
    if (token == "{" || token == "}" || (token == ":" && brackets == 0 && next == "return")) {
      text += random.chance(60) ? "\n" : " ";
    } else if (next != kEnd) {
      text += gap(random, token, next, brackets);
    }
  }
  return text;
}

void break_tokens(Tokens& tokens, Random& random) {
  const std::size_t at = random.below(tokens.size());
  switch (random.below(6)) {
    case 0:
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1:
      tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(at), std::string(tokens[at]));
      break;
    case 2:
      std::swap(tokens[at], tokens[random.below(tokens.size())]);
      break;
    case 3:
      tokens[at] = stray_token(random, tokens);
      break;
    case 4: {
      const std::size_t count = std::min(tokens.size() - at, 1 + random.below(5));
      const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(at);
      tokens.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
      break;
    }
    default:
      tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(at), stray_token(random, tokens));
  }
  if (tokens.empty()) tokens.emplace_back(kEnd);
}

}  // namespace groma::testing
