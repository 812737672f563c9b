// Tokens of the mapping language and its reserved words.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "groma/kinds.h"
#include "groma/source.h"

namespace groma::syntax {

enum class TokenKind : std::uint8_t {
  kEnd,
  kError,  // reported by the lexer already
  kName,
  kInt,
  kString,
  // Words. `value` of a Token says which one, where several share a kind.
  kStatementWord,   // value: StatementKind
  kProcWord,        // value: ProcKind
  kMemWord,         // value: MemKind
  kConstraintWord,  // value: ConstraintWord
  kScopeWord,       // value: StealScope
  kTypeWord,        // value: ParamType
  kFor,
  kIn,
  kTrue,
  kFalse,
  kMachine,
  // Signs.
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

// The statements, by the order of LANGUAGE's table. kReturn stands in bodies only.
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
  kAssign,  // has no word
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

// Types of parameters; kAny is a parameter without one. `Task` is written with a statement's word.
enum class ParamType : std::uint8_t { kAny, kInt, kBool, kIPoint, kISpace, kMSpace, kTask };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::uint8_t value = 0;
  bool line_start = false;  // the first token on its line
  Range range;
};

// A reserved word: no variable, function or unquoted task and region has such a name.
struct ReservedWord {
  std::string_view text;
  TokenKind kind;
  std::uint8_t value;
};
std::span<const ReservedWord> reserved_words();
// Null when `text` is free.
const ReservedWord* find_reserved(std::string_view text);

// A sign as it is written: "<=". Empty for what has no fixed text.
std::string_view spelling(TokenKind kind);
std::string_view spelling(StatementKind kind);
std::string_view spelling(ConstraintWord word);
std::string_view spelling(ParamType type);
std::string_view spelling(LimitScope scope);  // of kProcessor, which no word says, ""

}  // namespace groma::syntax
