// Parses the parts of statements: names, regions, places, kinds, layout constraints and parameters.
// The grammar rule of a function stands above it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "syntax/parser_impl.h"

namespace groma::syntax {
namespace {

// Returns the comparison of an `Align` constraint, or nothing if the token is not a comparison.
std::optional<AlignOp> align_operator(TokenKind kind) {
  switch (kind) {
    case TokenKind::kEqual:
      return AlignOp::kEq;
    case TokenKind::kNotEqual:
      return AlignOp::kNe;
    case TokenKind::kLess:
      return AlignOp::kLt;
    case TokenKind::kLessEqual:
      return AlignOp::kLe;
    case TokenKind::kGreater:
      return AlignOp::kGt;
    case TokenKind::kGreaterEqual:
      return AlignOp::kGe;
    default:
      return std::nullopt;
  }
}

}  // namespace

// NAMES : '*' | name (',' name)*
// `kind_follows`: the statement's next word is a processor kind. A kind directly before `,`, `;` or
// the end is then more likely that word, so the name is missing.
List Parser::names(std::string_view of_what, bool kind_follows) {
  List list{static_cast<std::uint32_t>(tree_.names.size()), 0};
  if (panic_) return list;
  if (at(TokenKind::kStar)) {
    tree_.names.push_back({kStarName, token_.range});
    advance();
    list.count = 1;
    if (at(TokenKind::kComma)) report_expected("nothing after `*`, which means all");
    return list;
  }
  const bool name_missing =
      kind_follows &&
      (next_.kind == TokenKind::kSemicolon || next_.kind == TokenKind::kEnd || next_.line_start ||
       next_.kind == TokenKind::kInt || next_.kind == TokenKind::kScopeWord);
  if (name_missing) {
    report_expected(fmt::format("the name of a {} or `*`", of_what));
    return list;
  }
  do {
    if (list.count == kMaxListItems) report_too_large(kMaxListItems, "names in a list");
    const bool ends = next_.kind == TokenKind::kSemicolon || next_.line_start;
    if (list.count > 0 && at(TokenKind::kProcWord) && ends) {
      report_expected(fmt::format("the name of a {}", of_what));
    }
    if (panic_) break;
    tree_.names.push_back(path_name(of_what));
    ++list.count;
  } while (!panic_ && accept(TokenKind::kComma));
  return list;
}

// name : WORD (('.' | '::') WORD)* | STRING
Name Parser::path_name(std::string_view of_what) {
  Name name;
  name.range = token_.range;
  if (at_next_statement()) {
    report_expected(fmt::format("the name of a {}", of_what));
    return name;
  }
  if (at(TokenKind::kString)) {
    name.id = tree_.table.own(string_value(text(token_.range)));
    if (name.id == kStarName) report(DiagId::kKindAsName, token_.range, "*", of_what);
    advance();
    return name;
  }
  const bool path = next_.kind == TokenKind::kDot || next_.kind == TokenKind::kColonColon;
  if (!at(TokenKind::kName) && !(is_word(token_.kind) && path)) return bad_name(of_what);
  advance();
  // The text of a path without white space is the name itself. Any other path is joined into a new
  // text.
  bool contiguous = true;
  while (at(TokenKind::kDot) || at(TokenKind::kColonColon)) {
    contiguous =
        contiguous && token_.range.begin == last_end_ && next_.range.begin == token_.range.end;
    advance();
    if (!is_word(token_.kind)) {
      report_expected("a name");
      return name;
    }
    advance();
  }
  name.range.end = last_end_;
  name.id = contiguous ? tree_.table.intern(text(name.range)) : spaced_path(name.range);
  return name;
}

// Returns the name of a path that has white space or comments inside: its text without them.
NameId Parser::spaced_path(Range range) {
  std::string joined;
  const Source piece("", std::string(text(range)));
  Diagnostics silent(piece);
  Lexer pieces(piece, silent, nullptr);
  for (Token t = pieces.next(); t.kind != TokenKind::kEnd; t = pieces.next()) {
    joined += piece.text(t.range);
  }
  return tree_.table.own(joined);
}

// Reports a reserved word in the place of a name, and reads it as if it were quoted. Any other
// token is an ordinary mistake.
Name Parser::bad_name(std::string_view of_what) {
  Name name;
  name.range = token_.range;
  if (!is_word(token_.kind)) {
    report_expected(fmt::format("the name of a {}", of_what));
    return name;
  }
  // Continue as if the word were quoted.
  const std::string_view word = text(token_.range);
  if (!panic_) {
    diags_.report(DiagId::kKindAsName, token_.range, word, of_what)
        .help(fmt::format("quote it: `\"{}\"`", word))
        .fix({"quote it", {{token_.range, quoted(word)}}, true});
  }
  name.id = tree_.table.intern(word);
  advance();
  return name;
}

// Reads the name of a variable, parameter or function. A reserved word is a mistake.
Name Parser::plain_name(Named what) {
  // The words are in the order of Named.
  constexpr std::string_view kWords[] = {"function", "parameter", "variable"};
  const std::string_view of_what = kWords[static_cast<std::size_t>(what)];
  Name name;
  name.range = token_.range;
  if (panic_) return name;
  if (at(TokenKind::kName) && !(at_next_statement() && what == Named::kFunction)) {
    name.id = tree_.table.intern(text(token_.range));
    advance();
  } else if (is_word(token_.kind) && (!at_next_statement() || what == Named::kVariable)) {
    report(DiagId::kReservedName, token_.range, text(token_.range), of_what)
        ->help("choose another name");
    advance();
  } else {
    report_expected(fmt::format("the name of a {}", of_what));
  }
  return name;
}

// WHICH : '*' | (INT | name) (',' (INT | name))*
List Parser::which() {
  List list{static_cast<std::uint32_t>(tree_.which.size()), 0};
  if (panic_) return list;
  if (at(TokenKind::kStar)) {
    tree_.which.push_back({false, kStarName, token_.range});
    advance();
    list.count = 1;
    return list;
  }
  do {
    if (list.count == kMaxListItems) report_too_large(kMaxListItems, "regions in a list");
    if (panic_) break;
    tree_.which.push_back(region_ref());
    ++list.count;
  } while (!panic_ && accept(TokenKind::kComma));
  return list;
}

// Reads one region of WHICH: a requirement's position (at most kMaxPosition) or a region's name.
RegionRef Parser::region_ref() {
  if (!at(TokenKind::kInt)) {
    // A processor kind directly before a memory is the third word of the statement, so the region,
    // its second word, is missing.
    const bool left_out = at(TokenKind::kProcWord) && next_.kind == TokenKind::kMemWord;
    if (left_out || at_next_statement() || (!at(TokenKind::kString) && !is_word(token_.kind))) {
      report_expected("a region's name or position, or `*`");
      return {};
    }
    const Name name = path_name("region");
    return {false, name.id, name.range};
  }
  const Range range = token_.range;
  const std::int64_t position = integer("a position");
  if (position > kMaxPosition) {
    report(DiagId::kPositionTooLarge, range, position, kMaxPosition);
  }
  return {true, static_cast<std::uint32_t>(std::min(position, kMaxPosition)), range};
}

// PLACE : '*' | PROC | MEM
// A memory is allowed only if `memory_too`. VIRTUAL cannot have a layout.
Place Parser::place(bool memory_too) {
  Place place;
  place.word.range = token_.range;
  if (panic_ || accept(TokenKind::kStar)) return place;
  if (at(TokenKind::kMemWord) && !memory_too) {
    report_expected("a processor kind or `*` before the memories");
    return place;
  }
  const bool memory =
      at(TokenKind::kMemWord) || (memory_too && looks_like_word(TokenKind::kMemWord) &&
                                  !looks_like_word(TokenKind::kProcWord));
  place.word = kind_word(memory ? TokenKind::kMemWord : TokenKind::kProcWord, false);
  place.kind = memory ? Place::Kind::kMem : Place::Kind::kProc;
  if (memory && static_cast<MemKind>(place.word.value) == MemKind::kVirtual) {
    report(DiagId::kVirtualLayout, place.word.range);
  }
  return place;
}

// Reads one PROC or MEM. An unknown word is reported and counts as a kind if the text after it
// fits, so that the rest of the statement can be read:
//
// * For the `last` kinds of a statement, a comma or the end of the statement must follow.
// * For an earlier kind, something else must follow that is not a kind of the same sort.
KindWord Parser::kind_word(TokenKind kind, bool last) {
  KindWord word{token_.value, token_.range};
  if (panic_) return word;
  const bool processor = kind == TokenKind::kProcWord;
  if (at(kind)) {
    advance();
  } else if (at(TokenKind::kName) && !at_next_statement()) {
    word.value = 0;
    suggest(diags_.report(processor ? DiagId::kUnknownProcessor : DiagId::kUnknownMemory,
                          token_.range, text(token_.range)),
            token_.range, kind);
    advance();
    const bool ends = at(TokenKind::kSemicolon) || token_.line_start || at(TokenKind::kRightBrace);
    panic_ = last ? !ends && !at(TokenKind::kComma) : ends || at(kind) || at(TokenKind::kComma);
  } else {
    report_expected(processor ? "a processor kind" : "a memory kind");
  }
  return word;
}

// kinds : PROC (',' PROC)* | MEM (',' MEM)*
// Two kinds without a comma are reported with a fix, and reading continues.
List Parser::word_list(TokenKind kind) {
  List list{static_cast<std::uint32_t>(tree_.words.size()), 0};
  while (!panic_) {
    if (list.count == kMaxListItems) report_too_large(kMaxListItems, "kinds in a list");
    if (panic_) break;
    tree_.words.push_back(kind_word(kind, true));
    ++list.count;
    if (at(kind) && !token_.line_start && !panic_) {
      diags_.report(DiagId::kExpectedToken, token_.range, "`,`", describe(token_))
          .fix({"insert `,`", {{{last_end_, last_end_}, ","}}, true});
    } else if (!accept(TokenKind::kComma)) {
      break;
    }
  }
  return list;
}

// constraint : SOA | AOS | C_order | F_order | Compact | Exact | No_Align
//            | Align ('==' | '!=' | '<' | '<=' | '>' | '>=') INT
List Parser::constraints() {
  List list{static_cast<std::uint32_t>(tree_.constraints.size()), 0};
  while (!panic_) {
    if (at(TokenKind::kName) && !token_.line_start) {
      suggest(diags_.report(DiagId::kUnknownConstraint, token_.range, text(token_.range)),
              token_.range, TokenKind::kConstraintWord);
      advance();
      // The tokens that follow may belong to the unknown word, so the parser continues only at the
      // end of the statement, a name or a constraint.
      const bool ends = token_.line_start || at(TokenKind::kSemicolon);
      panic_ = !ends && !at(TokenKind::kName) && !at(TokenKind::kConstraintWord);
      continue;
    }
    if (!at(TokenKind::kConstraintWord)) break;
    if (list.count == kMaxListItems) report_too_large(kMaxListItems, "constraints");
    if (panic_) break;
    Constraint constraint;
    constraint.word = static_cast<ConstraintWord>(token_.value);
    constraint.range = token_.range;
    advance();
    if (constraint.word == ConstraintWord::kAlign) alignment(constraint);
    constraint.range.end = last_end_;
    tree_.constraints.push_back(constraint);
    ++list.count;
  }
  return list;
}

// Reads the comparison and the number of bytes after `Align`. The number must be a power of two.
void Parser::alignment(Constraint& constraint) {
  const auto op = align_operator(token_.kind);
  if (!op) {
    const bool assigned = at(TokenKind::kAssign);
    const Range sign = token_.range;
    if (Diagnostic* diagnostic = report(DiagId::kExpectedToken, sign,
                                        "`==`, `!=`, `<`, `<=`, `>` or `>=`", describe(token_))) {
      if (assigned) diagnostic->fix({"write `==`", {{sign, "=="}}, true});
    }
    return;
  }
  constraint.op = *op;
  advance();
  const Range number = token_.range;
  constraint.bytes = integer("a number of bytes");
  const std::int64_t bytes = constraint.bytes;
  if (!panic_ && (bytes <= 0 || (bytes & (bytes - 1)) != 0)) {
    report(DiagId::kBadAlignment, number, bytes)->help("such as 16, 64 or 128");
  }
}

// Reads an integer. Returns 0 after reporting that `what` is missing.
std::int64_t Parser::integer(std::string_view what) {
  if (panic_) return 0;
  if (!at(TokenKind::kInt)) {
    report_expected(what);
    return 0;
  }
  const std::int64_t value = integer_value(token_.range);
  advance();
  return value;
}

// Returns the value of an integer's digits. Returns 0 and reports a number that exceeds 64 bits.
std::int64_t Parser::integer_value(Range range) {
  const std::string_view digits = text(range);
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status == std::errc()) return value;
  // This does not set panic_: the rest of the statement is read as usual.
  diags_
      .report(DiagId::kIntegerTooLarge, range,
              digits.size() <= 40 ? std::string(digits) : std::string(digits.substr(0, 37)) + "...")
      .note("the largest is 9223372036854775807");
  return 0;
}

// params : '(' [param (',' param)*] ')'
// param : [TYPE] NAME
List Parser::params() {
  List list{static_cast<std::uint32_t>(tree_.params.size()), 0};
  const std::uint32_t open = token_.range.begin;
  if (!expect(TokenKind::kLeftParen)) return list;
  ++brackets_;
  while (!panic_ && !at(TokenKind::kRightParen)) {
    if (list.count == kMaxListItems) report_too_large(kMaxListItems, "parameters");
    if (panic_) break;
    Param param;
    if (at(TokenKind::kTypeWord)) {
      param.type = static_cast<ParamType>(token_.value);
      advance();
    } else if (at_word(StatementKind::kTask)) {
      param.type = ParamType::kTask;
      advance();
    } else if (at(TokenKind::kName) && next_.kind == TokenKind::kName) {
      // Two names in a row are a misspelt type and the parameter.
      constexpr std::array<std::string_view, 6> kTypes = {"int",    "bool",   "IPoint",
                                                          "ISpace", "MSpace", "Task"};
      suggest(*report(DiagId::kExpectedToken, token_.range, "a type", describe(token_)),
              token_.range, kTypes);
      break;
    }
    param.name = plain_name(Named::kParameter);
    tree_.params.push_back(param);
    ++list.count;
    if (!accept(TokenKind::kComma)) break;
    if (at(TokenKind::kRightParen)) report_expected("another parameter");
  }
  close_bracket(TokenKind::kRightParen, open);
  return list;
}

}  // namespace groma::syntax
