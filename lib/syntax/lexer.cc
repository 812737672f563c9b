// The lexer: turns the bytes of a mapping into tokens, one at a time. Each function moves at_ past
// the text that it has read. Mistakes become diagnostics and kError tokens.
#include "syntax/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/characters.h"

namespace groma::syntax {
namespace {

// The classes of bytes. The class of its first byte decides how the lexer reads a token.
enum CharClass : std::uint8_t { kOther, kSpace, kNewline, kLetter, kDigit };

// Builds the class of each byte. kLetter and kDigit come last, because in_word compares classes.
constexpr std::array<CharClass, 256> make_classes() {
  std::array<CharClass, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    const auto i = static_cast<std::size_t>(c);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') classes[i] = kLetter;
    if (c >= '0' && c <= '9') classes[i] = kDigit;
  }
  // White space is space, tab, carriage return and the bell; the original language includes the
  // bell.
  for (std::size_t c : {0x20U, 0x09U, 0x0DU, 0x07U}) classes[c] = kSpace;
  classes['\n'] = kNewline;
  return classes;
}

constexpr std::array<CharClass, 256> kClasses = make_classes();

CharClass class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }
// Returns true if a word may contain the byte: a letter, a digit or `_`.
bool in_word(char c) { return class_of(c) >= kLetter; }

// Returns the length of the first character, or 0 for invalid UTF-8.
std::size_t utf8_length(std::string_view text) { return first_character(text).length; }

// Returns true if the last character of `text` is a bracket or sign that often ends a line of a
// program. The `}` of a placeholder `{}` does not count.
bool closes_line(std::string_view text) {
  if (text.ends_with("{}")) return false;
  return std::string_view(")]}; \t\r").find(text.back()) != std::string_view::npos;
}

Range range_of(std::size_t begin, std::size_t end) {
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

}  // namespace

// Skips a byte order mark, so that files saved by editors on Windows are read.
Lexer::Lexer(const Source& source, Diagnostics& diags, std::vector<SourceComment>* comments)
    : text_(source.text()), diags_(diags), comments_(comments) {
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
}

// Makes a token from `begin` to at_ and notes whether it is the first of its line.
Token Lexer::make_token(TokenKind kind, std::size_t begin, std::uint8_t value) {
  const Token token{kind, value, line_start_, range_of(begin, at_)};
  line_start_ = false;
  return token;
}

// Returns the next token, or kEnd. Comments, white space and foreign text are skipped on the way.
Token Lexer::next_token() {
  while (at_ < text_.size()) {
    const std::size_t begin = at_;
    const char c = text_[begin];
    switch (class_of(c)) {
      case kNewline:
        line_start_ = true;
        [[fallthrough]];
      case kSpace:
        ++at_;
        continue;
      case kLetter:
        return read_word(begin);
      case kDigit:
        return read_number(begin);
      case kOther:
        break;
    }
    if (c == '#' || text_.substr(begin, 2) == "//") {
      skip_comment(begin);
    } else if (c == '"') {
      return read_string(begin);
    } else {
      const Token found = read_sign(begin);
      if (found.kind != TokenKind::kEnd) return found;
      if (c == '/' || text_.substr(begin, 3) == "```") {
        skip_foreign_text(begin);
        continue;
      }
      report_unexpected_character(begin, false);
      return make_token(TokenKind::kError, begin);
    }
  }
  // The end of the text counts as a line's end, so a statement may end there without `;`.
  line_start_ = true;
  return make_token(TokenKind::kEnd, text_.size());
}

// Skips a comment to the end of its line and keeps it, without trailing white space, if the caller
// asked for comments.
void Lexer::skip_comment(std::size_t begin) {
  const std::size_t line_end = text_.find('\n', begin);
  at_ = line_end == std::string_view::npos ? text_.size() : line_end;
  report_hidden_characters(begin, at_);
  if (comments_ == nullptr) return;
  std::size_t end = at_;
  while (end > begin && class_of(text_[end - 1]) == kSpace) --end;
  comments_->push_back({range_of(begin, end), line_start_});
}

// Reports and skips text of other notations: a C comment `/* */`, or a Markdown fence and the rest
// of its line. A C comment that is never closed is skipped up to the end of its line.
void Lexer::skip_foreign_text(std::size_t begin) {
  const bool comment = text_[begin] == '/';
  at_ = comment ? text_.find("*/", begin + 2) : std::string_view::npos;
  if (at_ != std::string_view::npos) {
    at_ += 2;
    line_start_ = line_start_ || text_.substr(begin, at_ - begin).find('\n') != std::string::npos;
  } else {
    at_ = std::min(text_.find('\n', begin), text_.size());
  }
  // A text may have many Markdown fences, so only the first one is reported.
  if (!comment && std::exchange(fence_seen_, true)) return;
  const std::size_t length = comment ? 2 : 3;
  diags_
      .report(DiagId::kUnexpectedCharacter, range_of(begin, begin + length),
              comment ? "`/*`" : "```")
      .help(comment ? "a comment runs from `#` or `//` to the end of its line"
                    : "remove the lines that begin with it; they belong to Markdown");
}

// Reads a name or a reserved word.
Token Lexer::read_word(std::size_t begin) {
  while (at_ < text_.size() && in_word(text_[at_])) ++at_;
  const ReservedWord* reserved = find_reserved_word(text_.substr(begin, at_ - begin));
  if (reserved == nullptr) return make_token(TokenKind::kName, begin);
  return make_token(reserved->kind, begin, reserved->value);
}

// Reads an integer. A fraction such as `1.5`, or digits with letters such as `3x`, is one mistake.
Token Lexer::read_number(std::size_t begin) {
  while (at_ < text_.size() && class_of(text_[at_]) == kDigit) ++at_;
  const bool fraction =
      at_ + 1 < text_.size() && text_[at_] == '.' && class_of(text_[at_ + 1]) == kDigit;
  const bool broken = fraction || (at_ < text_.size() && in_word(text_[at_]));
  if (broken) {
    if (fraction) ++at_;
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    const std::string_view shown = text_.substr(begin, std::min<std::size_t>(at_ - begin, 40));
    diags_.report(DiagId::kNotAnInteger, range_of(begin, at_), shown)
        .help("integers are decimal digits and nothing else; a name begins with a letter or `_`");
  }
  return make_token(broken ? TokenKind::kError : TokenKind::kInt, begin);
}

// Returns true if `print (` stands before the string at `begin`, so that the string is a text to
// print.
bool Lexer::is_text_of_print(std::size_t begin) const {
  std::string_view before = text_.substr(0, begin);
  const auto strip = [&before] {
    while (!before.empty() && class_of(before.back()) == kSpace) before.remove_suffix(1);
  };
  strip();
  if (!before.ends_with('(')) return false;
  before.remove_suffix(1);
  strip();
  return before.ends_with("print");
}

// Reads a string up to its closing quote. The escapes `\"` and `\\` are recognised. A string must
// end on its line; hidden characters in it are errors.
Token Lexer::read_string(std::size_t begin) {
  ++at_;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
    const bool escape = text_[at_] == '\\' && at_ + 1 < text_.size() &&
                        (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\');
    at_ += escape ? 2 : 1;
  }
  std::size_t end = std::min(at_, text_.size());
  const bool open = end == text_.size() || text_[end] == '\n';
  // The original language has no escapes, so the text of a `print` may end in a backslash.
  if (open && is_text_of_print(begin)) end = std::min(text_.find_first_of("\"\n", begin + 1), end);
  const bool hides = report_hidden_characters(begin, end);
  at_ = end;
  const bool closed = end < text_.size() && text_[end] == '"';
  if (closed) {
    ++at_;
  } else {
    // Brackets and `;` at the line's end probably belong to the program, not to the string.
    while (at_ > begin + 1 && closes_line(text_.substr(begin, at_ - begin))) --at_;
    diags_.report(DiagId::kUnterminatedString, range_of(begin, at_))
        .help("close it with `\"` before the end of the line");
  }
  return make_token(closed && !hides ? TokenKind::kString : TokenKind::kError, begin);
}

// Reads an operator or a bracket. Returns a token of kind kEnd, without moving at_, if there is
// none.
Token Lexer::read_sign(std::size_t begin) {
  const char c = text_[begin];
  const char after = begin + 1 < text_.size() ? text_[begin + 1] : '\0';
  const auto one = [&](TokenKind kind) {
    at_ = begin + 1;
    return make_token(kind, begin);
  };
  // If the next character is `second`, makes a token of kind `with` from both characters. Otherwise
  // makes a token of kind `without` from one character; if `without` is kEnd, there is no token.
  const auto two = [&](char second, TokenKind with, TokenKind without) {
    if (after != second) return without == TokenKind::kEnd ? Token{} : one(without);
    at_ = begin + 2;
    return make_token(with, begin);
  };
  switch (c) {
    case '+':
      return one(TokenKind::kPlus);
    case '-':
      return one(TokenKind::kMinus);
    case '*':
      return one(TokenKind::kStar);
    case '/':
      return after == '*' ? Token{} : one(TokenKind::kSlash);
    case '%':
      return one(TokenKind::kPercent);
    case ',':
      return one(TokenKind::kComma);
    case ';':
      return one(TokenKind::kSemicolon);
    case '?':
      return one(TokenKind::kQuestion);
    case '.':
      return one(TokenKind::kDot);
    case '(':
      return one(TokenKind::kLeftParen);
    case ')':
      return one(TokenKind::kRightParen);
    case '{':
      return one(TokenKind::kLeftBrace);
    case '}':
      return one(TokenKind::kRightBrace);
    case '[':
      return one(TokenKind::kLeftBracket);
    case ']':
      return one(TokenKind::kRightBracket);
    case '=':
      return two('=', TokenKind::kEqual, TokenKind::kAssign);
    case '!':
      return two('=', TokenKind::kNotEqual, TokenKind::kBang);
    case '<':
      return two('=', TokenKind::kLessEqual, TokenKind::kLess);
    case '>':
      return two('=', TokenKind::kGreaterEqual, TokenKind::kGreater);
    case ':':
      return two(':', TokenKind::kColonColon, TokenKind::kColon);
    case '&':
      return two('&', TokenKind::kAnd, TokenKind::kEnd);
    case '|':
      return two('|', TokenKind::kOr, TokenKind::kEnd);
    default:
      return Token{};
  }
}

// Reports the character at `begin`, which cannot begin a token, and skips it. If the same character
// follows at once, its repetitions are part of the same mistake. `in_text` is true if the character
// stands in a comment or a string.
void Lexer::report_unexpected_character(std::size_t begin, bool in_text) {
  const std::size_t length = utf8_length(text_.substr(begin));
  if (length == 0) {
    at_ = begin + 1;
    while (at_ < text_.size() && utf8_length(text_.substr(at_)) == 0) ++at_;
    diags_
        .report(DiagId::kBadUtf8, range_of(begin, begin + 1),
                fmt::format("{:02x}", static_cast<unsigned char>(text_[begin])))
        .help("save the file as UTF-8");
    return;
  }
  const std::string_view character = text_.substr(begin, length);
  const char32_t code = first_character(character).code;
  at_ = begin + length;
  while (text_.substr(at_, length) == character) at_ += length;
  if (is_hidden(code)) {
    const std::string shown = length == 1 ? fmt::format("0x{:02x}", static_cast<unsigned>(code))
                                          : fmt::format("U+{:04X}", static_cast<unsigned>(code));
    diags_.report(DiagId::kUnexpectedCharacter, range_of(begin, begin + length), shown)
        .help("remove it: nobody sees it, and a terminal may obey it")
        .fix({"remove it", {{range_of(begin, at_), ""}}, in_text});
    return;
  }
  skip_rest_of_mistake(character);
  std::string shown = fmt::format("`{}`", character);
  if (length > 1) shown += fmt::format(" (U+{:04X})", static_cast<unsigned>(code));
  Diagnostic& diagnostic =
      diags_.report(DiagId::kUnexpectedCharacter, range_of(begin, begin + length), shown);
  if (character == "&" || character == "|") {
    diagnostic.help(fmt::format("write `{0}{0}`", character));
  } else if (character == "\xE2\x80\x9C" || character == "\xE2\x80\x9D" || character == "'") {
    diagnostic.help("strings stand between straight double quotes, `\"`");
  } else if (length > 1) {
    diagnostic.help("names are made of ASCII letters, digits and `_`; quote other task names");
  }
}

// Reports hidden characters and invalid UTF-8 between `begin` and `end`, in a comment or a string.
// Returns true if there are any. All other characters are allowed there.
bool Lexer::report_hidden_characters(std::size_t begin, std::size_t end) {
  const std::string_view text = text_.substr(0, end);
  const std::size_t first = find_hidden(text, begin);
  for (std::size_t at = first; at < end && !diags_.full(); at = find_hidden(text, at_)) {
    report_unexpected_character(at, true);
  }
  at_ = end;
  return first < end;
}

// After the report of an unexpected character, skips the text that belongs to the same mistake: a
// text in foreign quotes up to the closing quote on the same line (at most 200 bytes), or the rest
// of a word with letters beyond ASCII.
void Lexer::skip_rest_of_mistake(std::string_view character) {
  constexpr std::size_t kLongest = 200;
  const bool curly = character == "\xE2\x80\x9C";
  if (curly || character == "'" || character == "`") {
    const std::string_view closing = curly ? "\xE2\x80\x9D" : character;
    std::string_view rest = text_.substr(at_, kLongest);
    rest = rest.substr(0, rest.find('\n'));
    const std::size_t found = rest.find(closing);
    if (found != std::string_view::npos) at_ += found + closing.size();
  } else if (character.size() > 1) {
    while (at_ < text_.size() && (in_word(text_[at_]) || utf8_length(text_.substr(at_)) > 1)) {
      at_ += utf8_length(text_.substr(at_));
    }
  }
}

// Removes the quotes and replaces `\"` and `\\`; every other character is kept.
std::string unescape_string(std::string_view quoted_text) {
  std::string value;
  if (!quoted_text.empty()) quoted_text.remove_prefix(1);
  for (std::size_t i = 0; i < quoted_text.size() && quoted_text[i] != '"'; ++i) {
    const bool escape = quoted_text[i] == '\\' && i + 1 < quoted_text.size() &&
                        (quoted_text[i + 1] == '"' || quoted_text[i + 1] == '\\');
    if (escape) ++i;
    value += quoted_text[i];
  }
  return value;
}

// Returns the value as a string literal of the mapping language, with quotes and escapes.
// unescape_string() does the reverse.
std::string quote_string(std::string_view value) {
  std::string text = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

namespace {

// Returns true if a string in a program may contain `name`: no hidden characters, tabs or line
// ends.
bool is_shown(std::string_view name) {
  return find_hidden(name, 0) == name.size() && name.find_first_of("\t\n\r") == name.npos;
}

}  // namespace

// Returns a name plain if it is an ordinary word, otherwise in quotes. Returns nothing for the
// empty name, `*`, and names that a string cannot contain.
std::optional<std::string> name_as_written(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto plain = [&](char c) { return letter(c) || digit(c); };
  if (name.empty() || name == "*" || !is_shown(name)) return std::nullopt;
  const bool word = letter(name.front()) && std::all_of(name.begin(), name.end(), plain);
  if (word && find_reserved_word(name) == nullptr) return std::string(name);
  return quote_string(name);
}

}  // namespace groma::syntax
