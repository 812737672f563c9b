// Parses the parts of statements: names, regions, places, kinds, layout constraints and parameters.
// The grammar rule of a function stands above it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "groma/geometry.h"
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

// NAMES : '*' | task (',' task)*
// `kind_follows` is true if the word after the names must be a processor kind. A processor kind
// directly before `,`, `;` or the end is then more likely that word than a name, so a name is
// reported as missing.
IndexRange Parser::parse_names(NameList list_kind, bool kind_follows) {
  IndexRange list{static_cast<std::uint32_t>(tree_.names.size()), 0};
  if (panic_) return list;
  if (at_token(TokenKind::kStar) && !continues_selector(next_.kind)) {
    tree_.names.push_back({kStarName, token_.range});
    advance_token();
    star_before_name_ = star_before_name_ || at_adjacent(TokenKind::kName);
    list.count = 1;
    if (at_token(TokenKind::kComma)) report_expected("nothing after `*`, which means all");
    return list;
  }
  const bool name_missing =
      kind_follows &&
      (next_.kind == TokenKind::kSemicolon || next_.kind == TokenKind::kEnd || next_.line_start ||
       next_.kind == TokenKind::kInt || next_.kind == TokenKind::kScopeWord);
  if (name_missing) {
    report_expected("the name of a task or `*`");
    return list;
  }
  do {
    if (list.count == kMaxListItems) report_exceeded_limit(kMaxListItems, "names in a list");
    const bool ends = next_.kind == TokenKind::kSemicolon || next_.line_start;
    if (list.count > 0 && at_token(TokenKind::kProcWord) && ends) {
      report_expected("the name of a task");
    }
    if (panic_) break;
    tree_.names.push_back(parse_task(list_kind));
    ++list.count;
  } while (!panic_ && accept_token(TokenKind::kComma));
  return list;
}

bool Parser::continues_selector(TokenKind kind) {
  return kind == TokenKind::kGreater || kind == TokenKind::kLeftBracket;
}

// task : ('*' | name) ('>' ('*' | name))* ('[' 'dim' '=' INT ']')?
NameUse Parser::parse_task(NameList list_kind) {
  // A `*` alone stands for all tasks, so it is no item of a list.
  NameUse task = at_token(TokenKind::kStar) && !continues_selector(next_.kind)
                     ? parse_path_name("task", list_kind)
                     : parse_task_word(list_kind);
  if (panic_ || separate_star_ || !continues_selector(token_.kind)) return task;
  TaskSelector selector{{task.id}};
  const auto written = [&](const NameUse& word) {
    const std::string_view text = source_text(word.range);
    return text.starts_with('"') ? text : tree_.name_table.text(word.id);
  };
  std::string text(written(task));
  tree_.selected_names.push_back(task);
  while (!panic_ && accept_token(TokenKind::kGreater)) {
    const NameUse word = parse_task_word(list_kind);
    if (panic_) return task;
    if (selector.path.size() == kMaxSelectorPath) {
      report(DiagId::kProgramTooLarge, word.range, kMaxSelectorPath, "tasks in one path");
      return task;
    }
    selector.path.push_back(word.id);
    text += fmt::format(" > {}", written(word));
    tree_.selected_names.push_back(word);
  }
  if (accept_token(TokenKind::kLeftBracket)) {
    if (!at_token(TokenKind::kName) || source_text(token_.range) != "dim") {
      report_expected("`dim=` and the number of dimensions of the launch, such as `[dim=2]`");
      return task;
    }
    advance_token();
    expect_token(TokenKind::kAssign);
    const Range range = token_.range;
    const std::int64_t dimensions = parse_integer("the number of dimensions");
    if (!panic_ && (dimensions < 0 || dimensions > kMaxDimensions)) {
      report(DiagId::kExpectedToken, range, fmt::format("a number from 0 to {}", kMaxDimensions),
             fmt::format("`{}`", dimensions));
    }
    expect_token(TokenKind::kRightBracket);
    if (at_token(TokenKind::kGreater)) {
      report_expected("the end of the path, because `[dim=...]` stands behind its last task");
    }
    if (panic_) return task;
    selector.dimensions = static_cast<int>(dimensions);
    text += fmt::format("[dim={}]", dimensions);
  }
  task.range.end = last_end_;
  task.id = tree_.name_table.intern_selector(std::move(selector), std::move(text));
  if (tree_.name_table.patterns().size() > kMaxPatterns) {
    report_exceeded_limit(kMaxPatterns, "name patterns and selectors");
  }
  return task;
}

// Reads `*` or a name in the path of a selector.
NameUse Parser::parse_task_word(NameList list_kind) {
  if (!at_token(TokenKind::kStar)) return parse_path_name("task", list_kind);
  const NameUse star{kStarName, token_.range};
  advance_token();
  star_before_name_ = star_before_name_ || at_adjacent(TokenKind::kName);
  return star;
}

// name : WORD (('.' | '::') WORD)* | STRING
// A name without quotes may also be a pattern: a `*` stands directly behind a word, or behind `.`
// or
// `::`, and more of the name directly behind the `*`.
NameUse Parser::parse_path_name(std::string_view of_what, NameList list_kind) {
  NameUse name;
  name.range = token_.range;
  if (at_next_statement()) {
    report_expected(fmt::format("the name of a {}", of_what));
    return name;
  }
  if (at_token(TokenKind::kString)) {
    name.id = tree_.name_table.intern_copy(unescape_string(source_text(token_.range)));
    if (name.id == kStarName) report(DiagId::kKindAsName, token_.range, "*", of_what);
    advance_token();
    return name;
  }
  const bool path = next_.kind == TokenKind::kDot || next_.kind == TokenKind::kColonColon;
  if (!at_token(TokenKind::kName) && !(is_word(token_.kind) && path))
    return parse_reserved_name(of_what);
  advance_token();
  // If a path such as `a.b` has no white space inside, its text in the source is the name.
  // Otherwise its parts are joined into a new text.
  bool contiguous = true, pattern = false;
  while (true) {
    name.range.end = last_end_;
    if (at_token(TokenKind::kDot) || at_token(TokenKind::kColonColon)) {
      contiguous =
          contiguous && token_.range.begin == last_end_ && next_.range.begin == token_.range.end;
      advance_token();
      if (at_token(TokenKind::kStar)) {
        pattern = true;
      } else if (!is_word(token_.kind)) {
        report_expected("a name");
        return name;
      }
      advance_token();
    } else if (last_kind_ != TokenKind::kStar && at_adjacent(TokenKind::kStar)) {
      if (!accept_pattern_star(name.range, list_kind)) break;
      pattern = true;
    } else if (last_kind_ == TokenKind::kStar &&
               (at_adjacent(TokenKind::kName) || at_adjacent(TokenKind::kInt))) {
      advance_token();
    } else {
      break;
    }
  }
  const std::string_view text = source_text(name.range);
  if (pattern) {
    name.id = tree_.name_table.intern_pattern(contiguous ? std::string(text)
                                                         : joined_path_name(name.range));
    if (tree_.name_table.patterns().size() > kMaxPatterns) {
      report_exceeded_limit(kMaxPatterns, "name patterns and selectors");
    }
  } else {
    name.id = contiguous ? tree_.name_table.intern_name(text)
                         : tree_.name_table.intern_copy(joined_path_name(name.range));
  }
  return name;
}

// Returns true if the token has this kind and stands directly behind the token before it.
bool Parser::at_adjacent(TokenKind kind) const {
  return at_token(kind) && token_.range.begin == last_end_;
}

// Reads the `*` directly behind a name. Returns true if it belongs to the name, which is then a
// pattern. Otherwise it is the next word of the statement, as in the original language.
bool Parser::accept_pattern_star(Range name, NameList list_kind) {
  const Range star = token_.range;
  advance_token();
  if (!star_stands_alone(list_kind)) return true;
  separate_star_ = star;
  const std::string_view text = source_text(name);
  diags_.report(DiagId::kSeparateStar, Range{name.begin, star.end}, text, text)
      .note("as a pattern it would leave a word of the statement missing")
      .fix({"write a space", {{{star.begin, star.begin}, " "}}, true});
  return false;
}

// Returns true if the `*` that was just read is a word of its own, because the tokens after it fit
// the statement only then.
bool Parser::star_stands_alone(NameList list_kind) const {
  const bool path = next_.kind == TokenKind::kDot || next_.kind == TokenKind::kColonColon;
  const bool proc = at_token(TokenKind::kProcWord) && !path;
  const bool memory = at_token(TokenKind::kMemWord) && !path;
  const bool star = at_token(TokenKind::kStar);
  const bool next_ends = next_.kind == TokenKind::kSemicolon || next_.kind == TokenKind::kEnd ||
                         next_.kind == TokenKind::kRightBrace || next_.line_start;
  switch (list_kind) {
    case NameList::kTasks:
    case NameList::kCollectRegions:
      return false;
    case NameList::kRegionTasks:
      return proc || (star && next_.kind == TokenKind::kMemWord);
    case NameList::kRegionRegions:
      return memory;
    case NameList::kLayoutTasks:
      return proc || memory || (star && (next_.kind == TokenKind::kConstraintWord || next_ends));
    case NameList::kLayoutRegions:
      return at_token(TokenKind::kConstraintWord) || at_statement_end();
    case NameList::kCollectTasks:
      return at_statement_end();
  }
  return false;
}

// Returns true if the statement can only end before the token.
bool Parser::at_statement_end() const {
  return at_token(TokenKind::kSemicolon) || at_token(TokenKind::kEnd) ||
         at_token(TokenKind::kRightBrace) || token_.line_start;
}

// Returns the name of a path that has white space or comments inside: its text without them.
std::string Parser::joined_path_name(Range range) const {
  std::string joined;
  const Source piece("", std::string(source_text(range)));
  Diagnostics silent(piece);
  Lexer pieces(piece, silent, nullptr);
  for (Token t = pieces.next_token(); t.kind != TokenKind::kEnd; t = pieces.next_token()) {
    joined += piece.text(t.range);
  }
  return joined;
}

// Reports a reserved word in the place of a name, and reads it as if it were quoted. Any other
// token is an ordinary mistake.
NameUse Parser::parse_reserved_name(std::string_view of_what) {
  NameUse name;
  name.range = token_.range;
  if (!is_word(token_.kind)) {
    report_expected(fmt::format("the name of a {}", of_what));
    return name;
  }
  // Parsing continues as if the word were quoted.
  const std::string_view word = source_text(token_.range);
  if (!panic_) {
    diags_.report(DiagId::kKindAsName, token_.range, word, of_what)
        .help(fmt::format("quote it: `\"{}\"`", word))
        .fix({"quote it", {{token_.range, quote_string(word)}}, true});
  }
  name.id = tree_.name_table.intern_name(word);
  advance_token();
  return name;
}

// Reads the name of a variable, parameter or function. A reserved word is a mistake.
NameUse Parser::parse_identifier(NamedThing what) {
  // These words name the enumerators of NamedThing in messages, in their order.
  constexpr std::string_view kWords[] = {"function", "parameter", "variable"};
  const std::string_view of_what = kWords[static_cast<std::size_t>(what)];
  NameUse name;
  name.range = token_.range;
  if (panic_) return name;
  if (at_token(TokenKind::kName) && !(at_next_statement() && what == NamedThing::kFunction)) {
    name.id = tree_.name_table.intern_name(source_text(token_.range));
    advance_token();
  } else if (is_word(token_.kind) && (!at_next_statement() || what == NamedThing::kVariable)) {
    report(DiagId::kReservedName, token_.range, source_text(token_.range), of_what)
        ->help("choose another name");
    advance_token();
  } else {
    report_expected(fmt::format("the name of a {}", of_what));
  }
  return name;
}

// WHICH : '*' | (INT | name) (',' (INT | name))*
IndexRange Parser::parse_regions(NameList list_kind) {
  IndexRange list{static_cast<std::uint32_t>(tree_.region_refs.size()), 0};
  if (panic_) return list;
  if (separate_star_) {
    tree_.region_refs.push_back({false, kStarName, *separate_star_});
    separate_star_.reset();
    list.count = 1;
    return list;
  }
  if (at_token(TokenKind::kStar)) {
    tree_.region_refs.push_back({false, kStarName, token_.range});
    advance_token();
    star_before_name_ = star_before_name_ || at_adjacent(TokenKind::kName);
    list.count = 1;
    return list;
  }
  do {
    if (list.count == kMaxListItems) report_exceeded_limit(kMaxListItems, "regions in a list");
    if (panic_) break;
    tree_.region_refs.push_back(parse_region_ref(list_kind));
    ++list.count;
  } while (!panic_ && accept_token(TokenKind::kComma));
  return list;
}

// Reads one region of WHICH: a requirement's position (at most kMaxPosition) or a region's name.
RegionRef Parser::parse_region_ref(NameList list_kind) {
  if (!at_token(TokenKind::kInt)) {
    // If a processor kind stands directly before a memory kind, it is the third word of the Region
    // statement, so the region, its second word, is missing.
    const bool left_out = at_token(TokenKind::kProcWord) && next_.kind == TokenKind::kMemWord;
    if (left_out || at_next_statement() ||
        (!at_token(TokenKind::kString) && !is_word(token_.kind))) {
      report_expected("a region's name or position, or `*`");
      return {};
    }
    const NameUse name = parse_path_name("region", list_kind);
    return {false, name.id, name.range};
  }
  const Range range = token_.range;
  const std::int64_t position = parse_integer("a position");
  if (position > kMaxPosition) {
    report(DiagId::kPositionTooLarge, range, position, kMaxPosition);
  }
  return {true, static_cast<std::uint32_t>(std::min(position, kMaxPosition)), range};
}

// PLACE : '*' | PROC | MEM
// A memory is allowed only if `memory_too`. VIRTUAL cannot have a layout.
StatementPlace Parser::parse_place(bool memory_too) {
  StatementPlace place;
  place.word.range = separate_star_.value_or(token_.range);
  if (separate_star_) {
    separate_star_.reset();
    return place;
  }
  if (panic_ || accept_token(TokenKind::kStar)) return place;
  if (at_token(TokenKind::kMemWord) && !memory_too) {
    report_expected("a processor kind or `*` before the memories");
    return place;
  }
  const bool memory =
      at_token(TokenKind::kMemWord) || (memory_too && looks_like_word(TokenKind::kMemWord) &&
                                        !looks_like_word(TokenKind::kProcWord));
  place.word = parse_kind_word(memory ? TokenKind::kMemWord : TokenKind::kProcWord, false);
  place.kind = memory ? StatementPlace::Kind::kMem : StatementPlace::Kind::kProc;
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
KindWord Parser::parse_kind_word(TokenKind kind, bool last) {
  KindWord word{token_.value, token_.range};
  if (panic_) return word;
  const bool processor = kind == TokenKind::kProcWord;
  if (at_token(kind)) {
    advance_token();
  } else if (at_token(TokenKind::kName) && !at_next_statement()) {
    word.value = 0;
    Diagnostic& diagnostic =
        diags_.report(processor ? DiagId::kUnknownProcessor : DiagId::kUnknownMemory, token_.range,
                      source_text(token_.range));
    if (!help_with_pattern(diagnostic)) suggest_spellings(diagnostic, token_.range, kind);
    advance_token();
    const bool ends =
        at_token(TokenKind::kSemicolon) || token_.line_start || at_token(TokenKind::kRightBrace);
    panic_ = last ? !ends && !at_token(TokenKind::kComma)
                  : ends || at_token(kind) || at_token(TokenKind::kComma);
  } else {
    report_expected(processor ? "a processor kind" : "a memory kind");
  }
  return word;
}

// kinds : PROC (',' PROC)* | MEM (',' MEM)*
// Two kinds without a comma are reported with a fix, and reading continues.
IndexRange Parser::parse_kind_words(TokenKind kind) {
  IndexRange list{static_cast<std::uint32_t>(tree_.kind_words.size()), 0};
  while (!panic_) {
    if (list.count == kMaxListItems) report_exceeded_limit(kMaxListItems, "kinds in a list");
    if (panic_) break;
    tree_.kind_words.push_back(parse_kind_word(kind, true));
    ++list.count;
    if (at_token(kind) && !token_.line_start && !panic_) {
      diags_.report(DiagId::kExpectedToken, token_.range, "`,`", describe_token(token_))
          .fix({"insert `,`", {{{last_end_, last_end_}, ","}}, true});
    } else if (!accept_token(TokenKind::kComma)) {
      break;
    }
  }
  return list;
}

// constraint : SOA | AOS | C_order | F_order | Compact | Exact | No_Align
//            | Align ('==' | '!=' | '<' | '<=' | '>' | '>=') INT
IndexRange Parser::parse_constraints() {
  IndexRange list{static_cast<std::uint32_t>(tree_.constraints.size()), 0};
  while (!panic_) {
    if (at_token(TokenKind::kName) && !token_.line_start) {
      suggest_spellings(
          diags_.report(DiagId::kUnknownConstraint, token_.range, source_text(token_.range)),
          token_.range, TokenKind::kConstraintWord);
      advance_token();
      // The tokens that follow may belong to the unknown word, so the parser continues only at the
      // end of the statement, a name or a constraint.
      const bool ends = token_.line_start || at_token(TokenKind::kSemicolon);
      panic_ = !ends && !at_token(TokenKind::kName) && !at_token(TokenKind::kConstraintWord);
      continue;
    }
    if (!at_token(TokenKind::kConstraintWord)) break;
    if (list.count == kMaxListItems) report_exceeded_limit(kMaxListItems, "constraints");
    if (panic_) break;
    LayoutConstraint constraint;
    constraint.word = static_cast<ConstraintWord>(token_.value);
    constraint.range = token_.range;
    advance_token();
    if (constraint.word == ConstraintWord::kAlign) parse_alignment(constraint);
    constraint.range.end = last_end_;
    tree_.constraints.push_back(constraint);
    ++list.count;
  }
  return list;
}

// Reads the comparison and the number of bytes after `Align`. The number must be a power of two.
void Parser::parse_alignment(LayoutConstraint& constraint) {
  const auto op = align_operator(token_.kind);
  if (!op) {
    const bool assigned = at_token(TokenKind::kAssign);
    const Range sign = token_.range;
    if (Diagnostic* diagnostic =
            report(DiagId::kExpectedToken, sign, "`==`, `!=`, `<`, `<=`, `>` or `>=`",
                   describe_token(token_))) {
      if (assigned) diagnostic->fix({"write `==`", {{sign, "=="}}, true});
    }
    return;
  }
  constraint.op = *op;
  advance_token();
  const Range number = token_.range;
  constraint.bytes = parse_integer("a number of bytes");
  const std::int64_t bytes = constraint.bytes;
  if (!panic_ && (bytes <= 0 || (bytes & (bytes - 1)) != 0)) {
    report(DiagId::kBadAlignment, number, bytes)->help("such as 16, 64 or 128");
  }
}

// Reads an integer. Returns 0 after reporting that `what` is missing.
std::int64_t Parser::parse_integer(std::string_view what) {
  if (panic_) return 0;
  if (!at_token(TokenKind::kInt)) {
    report_expected(what);
    return 0;
  }
  const std::int64_t value = integer_at(token_.range);
  advance_token();
  return value;
}

// Returns the value of an integer's digits. Returns 0 and reports a number that exceeds 64 bits.
std::int64_t Parser::integer_at(Range range) {
  const std::string_view digits = source_text(range);
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status == std::errc()) return value;
  // This error does not set panic_, so the rest of the statement is read as usual.
  diags_
      .report(DiagId::kIntegerTooLarge, range,
              digits.size() <= 40 ? std::string(digits) : std::string(digits.substr(0, 37)) + "...")
      .note("the largest is 9223372036854775807");
  return 0;
}

// params : '(' [param (',' param)*] ')'
// param : [TYPE] NAME
IndexRange Parser::parse_params() {
  IndexRange list{static_cast<std::uint32_t>(tree_.params.size()), 0};
  const std::uint32_t open = token_.range.begin;
  if (!expect_token(TokenKind::kLeftParen)) return list;
  ++brackets_;
  while (!panic_ && !at_token(TokenKind::kRightParen)) {
    if (list.count == kMaxListItems) report_exceeded_limit(kMaxListItems, "parameters");
    if (panic_) break;
    Param param;
    if (at_token(TokenKind::kTypeWord)) {
      param.type = static_cast<ParamType>(token_.value);
      advance_token();
    } else if (at_statement_word(StatementKind::kTask)) {
      param.type = ParamType::kTask;
      advance_token();
    } else if (at_token(TokenKind::kName) && next_.kind == TokenKind::kName) {
      // If two names follow each other, the user misspelt the type of the parameter: the first name
      // stands for the type, and the second one names the parameter.
      constexpr std::array<std::string_view, 6> kTypes = {"int",    "bool",   "IPoint",
                                                          "ISpace", "MSpace", "Task"};
      suggest_spellings(
          *report(DiagId::kExpectedToken, token_.range, "a type", describe_token(token_)),
          token_.range, kTypes);
      break;
    }
    param.name = parse_identifier(NamedThing::kParameter);
    tree_.params.push_back(param);
    ++list.count;
    if (!accept_token(TokenKind::kComma)) break;
    if (at_token(TokenKind::kRightParen)) report_expected("another parameter");
  }
  close_bracket(TokenKind::kRightParen, open);
  return list;
}

}  // namespace groma::syntax
