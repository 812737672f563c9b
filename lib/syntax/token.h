// Tokens of the mapping language, and its reserved words.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "groma/kinds.h"
#include "groma/source.h"

namespace groma::syntax {

enum class TokenKind : std::uint8_t {
  kEnd,
  // Invalid text, which the lexer has reported.
  kError,
  kName,
  kInt,
  kString,
  // A word that begins a statement. `value` is its StatementKind. This kind and the kinds up to
  // kMachine are reserved words. If several words share a kind, `value` of the Token says which one
  // it is.
  kStatementWord,
  // A word for a kind of processor. `value` is the ProcKind.
  kProcWord,
  // A word for a kind of memory. `value` is the MemKind.
  kMemWord,
  // A word for a property of a layout. `value` is its ConstraintWord.
  kConstraintWord,
  // A word that says from where tasks may be stolen. `value` is the StealScope.
  kScopeWord,
  // A word for the type of a parameter. `value` is the ParamType.
  kTypeWord,
  kFor,
  kIn,
  kTrue,
  kFalse,
  kMachine,
  // The kinds from here on are signs, such as `+`.
  kPlus,
  kMinus,
  kStar,
  kSlash,
  kPercent,
  kAssign,
  kComma,
  kSemicolon,
  kBang,
  kQuestion,
  kColon,
  kColonColon,
  kDot,
  kLess,
  kGreater,
  kLessEqual,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kAnd,
  kOr,
  kLeftParen,
  kRightParen,
  kLeftBrace,
  kRightBrace,
  kLeftBracket,
  kRightBracket,
};

// The kinds of statements, in the order of the table in docs/language.md. kReturn occurs only in
// bodies of functions.
enum class StatementKind : std::uint8_t {
  kTask,
  kRegion,
  kLayout,
  kInstanceLimit,
  kCollectMemory,
  kIndexTaskMap,
  kSingleTaskMap,
  kControlReplicate,
  kTaskSteal,
  kPrint,
  kDef,
  kReturn,
  // An assignment and a `when` block, which do not begin with a reserved word.
  kAssign,
  kWhen,
};

enum class ConstraintWord : std::uint8_t {
  kSoa,
  kAos,
  kCOrder,
  kFOrder,
  kCompact,
  kExact,
  kNoAlign,
  kAlign,
};

// Types of parameters. kAny is a parameter without a type. kTask is written `Task`, like the
// statement.
enum class ParamType : std::uint8_t { kAny, kInt, kBool, kIPoint, kISpace, kMSpace, kTask };

// A token of a program's text. `value` is 0 unless the comment of the token's kind says otherwise.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::uint8_t value = 0;
  // True for the first token of a line.
  bool line_start = false;
  Range range;
};

// A reserved word. It cannot be the name of a variable, of a function, or of an unquoted task or
// region.
struct ReservedWord {
  std::string_view text;
  TokenKind kind;
  std::uint8_t value;
};
// Returns all reserved words.
std::span<const ReservedWord> reserved_words();
// Returns the reserved word with this text, or null if `text` is not reserved.
const ReservedWord* find_reserved_word(std::string_view text);

// Return the text of a sign or word, such as "<=". Return "" if its text is not fixed, as for a
// name.
std::string_view spelling_of(TokenKind kind);
std::string_view spelling_of(StatementKind kind);
std::string_view spelling_of(ConstraintWord word);
std::string_view spelling_of(ParamType type);
// Returns the word for the scope of an instance limit, or "" for kProcessor, which has no word.
std::string_view spelling_of(LimitScope scope);

}  // namespace groma::syntax
