// The table of reserved words, the lookup in it, and the spelling of signs.
#include "syntax/token.h"

#include <array>

#include "groma/kinds.h"

namespace groma::syntax {
namespace {

// Returns an entry of the table of reserved words: the word's text, its token kind, and an
// enumerator that tells words of one kind apart. Such enumerators fit in a byte.
template <typename Value>
constexpr ReservedWord word(std::string_view text, TokenKind kind, Value value) {
  return {text, kind, static_cast<std::uint8_t>(value)};
}

constexpr auto kStatement = TokenKind::kStatementWord;
constexpr auto kConstraint = TokenKind::kConstraintWord;

constexpr ReservedWord kWords[] = {
    word("Task", kStatement, StatementKind::kTask),
    word("Region", kStatement, StatementKind::kRegion),
    word("Layout", kStatement, StatementKind::kLayout),
    word("InstanceLimit", kStatement, StatementKind::kInstanceLimit),
    word("CollectMemory", kStatement, StatementKind::kCollectMemory),
    word("IndexTaskMap", kStatement, StatementKind::kIndexTaskMap),
    word("SingleTaskMap", kStatement, StatementKind::kSingleTaskMap),
    word("ControlReplicate", kStatement, StatementKind::kControlReplicate),
    word("TaskSteal", kStatement, StatementKind::kTaskSteal),
    word("print", kStatement, StatementKind::kPrint),
    word("def", kStatement, StatementKind::kDef),
    word("return", kStatement, StatementKind::kReturn),
    word("CPU", TokenKind::kProcWord, ProcKind::kCpu),
    word("GPU", TokenKind::kProcWord, ProcKind::kGpu),
    word("OMP", TokenKind::kProcWord, ProcKind::kOmp),
    word("IO", TokenKind::kProcWord, ProcKind::kIo),
    word("PY", TokenKind::kProcWord, ProcKind::kPy),
    word("PROC", TokenKind::kProcWord, ProcKind::kProc),
    word("SYSMEM", TokenKind::kMemWord, MemKind::kSysmem),
    word("FBMEM", TokenKind::kMemWord, MemKind::kFbmem),
    word("ZCMEM", TokenKind::kMemWord, MemKind::kZcmem),
    word("SOCKMEM", TokenKind::kMemWord, MemKind::kSockmem),
    word("RDMEM", TokenKind::kMemWord, MemKind::kRdmem),
    word("REGSOCKMEM", TokenKind::kMemWord, MemKind::kRegsockmem),
    word("VIRTUAL", TokenKind::kMemWord, MemKind::kVirtual),
    word("SOA", kConstraint, ConstraintWord::kSoa),
    word("AOS", kConstraint, ConstraintWord::kAos),
    word("C_order", kConstraint, ConstraintWord::kCOrder),
    word("F_order", kConstraint, ConstraintWord::kFOrder),
    word("Compact", kConstraint, ConstraintWord::kCompact),
    word("Exact", kConstraint, ConstraintWord::kExact),
    word("No_Align", kConstraint, ConstraintWord::kNoAlign),
    word("Align", kConstraint, ConstraintWord::kAlign),
    word("SAME_NODE", TokenKind::kScopeWord, StealScope::kSameNode),
    word("ANY_NODE", TokenKind::kScopeWord, StealScope::kAnyNode),
    word("int", TokenKind::kTypeWord, ParamType::kInt),
    word("bool", TokenKind::kTypeWord, ParamType::kBool),
    word("IPoint", TokenKind::kTypeWord, ParamType::kIPoint),
    word("ISpace", TokenKind::kTypeWord, ParamType::kISpace),
    word("MSpace", TokenKind::kTypeWord, ParamType::kMSpace),
    word("for", TokenKind::kFor, 0),
    word("in", TokenKind::kIn, 0),
    word("True", TokenKind::kTrue, 0),
    word("False", TokenKind::kFalse, 0),
    word("true", TokenKind::kTrue, 0),
    word("false", TokenKind::kFalse, 0),
    word("Machine", TokenKind::kMachine, 0),
};

// The reserved words are found through an open-addressed hash table that is filled at compile time.
// It is about a fifth full, so the search for a free name mostly ends at the first slot.
constexpr std::size_t kSlots = 256;

// Hashes the length and three characters of a word. `text` must not be empty.
constexpr std::size_t slot_of(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<std::size_t>(text[i]); };
  return (text.size() * 7 + at(0) * 29 + at(text.size() - 1) * 5 + at(text.size() / 2) * 13) %
         kSlots;
}

// Builds the hash table of the reserved words: 0 for an empty slot, otherwise the index in kWords
// plus 1. Collisions go to the next free slot.
constexpr std::array<std::uint8_t, kSlots> make_slots() {
  std::array<std::uint8_t, kSlots> slots{};
  for (std::size_t i = 0; i < std::size(kWords); ++i) {
    std::size_t at = slot_of(kWords[i].text);
    while (slots[at] != 0) at = (at + 1) % kSlots;
    slots[at] = static_cast<std::uint8_t>(i + 1);
  }
  return slots;
}

constexpr std::array<std::uint8_t, kSlots> kSlotTable = make_slots();

}  // namespace

std::span<const ReservedWord> reserved_words() { return kWords; }

// Returns the reserved word with this text, or null if the text is free.
const ReservedWord* find_reserved_word(std::string_view text) {
  if (text.empty()) return nullptr;
  for (std::size_t at = slot_of(text); kSlotTable[at] != 0; at = (at + 1) % kSlots) {
    const ReservedWord& candidate = kWords[kSlotTable[at] - 1];
    if (candidate.text == text) return &candidate;
  }
  return nullptr;
}

// Returns a sign as it is written. The order of kSigns follows TokenKind from kPlus on.
std::string_view spelling_of(TokenKind kind) {
  constexpr std::string_view kSigns[] = {
      "+", "-",  "*",  "/",  "%",  "=",  ",",  ";", "!", "?", ":", "::", ".", "<",
      ">", "<=", ">=", "==", "!=", "&&", "||", "(", ")", "{", "}", "[",  "]"};
  if (kind < TokenKind::kPlus) return "";
  return kSigns[static_cast<std::size_t>(kind) - static_cast<std::size_t>(TokenKind::kPlus)];
}

namespace {

// Returns the reserved word of a kind and value, or "" if there is none.
std::string_view word_of(TokenKind kind, std::uint8_t value) {
  for (const ReservedWord& word : kWords) {
    if (word.kind == kind && word.value == value) return word.text;
  }
  return "";
}

}  // namespace

std::string_view spelling_of(StatementKind kind) {
  return word_of(TokenKind::kStatementWord, static_cast<std::uint8_t>(kind));
}

std::string_view spelling_of(ConstraintWord word) {
  return word_of(TokenKind::kConstraintWord, static_cast<std::uint8_t>(word));
}

std::string_view spelling_of(ParamType type) {
  if (type == ParamType::kTask) return spelling_of(StatementKind::kTask);
  return word_of(TokenKind::kTypeWord, static_cast<std::uint8_t>(type));
}

// Returns the word that selects a scope. A limit per processor is the default and has no word.
std::string_view spelling_of(LimitScope scope) {
  switch (scope) {
    case LimitScope::kProcessor:
      return "";
    case LimitScope::kNode:
      return word_of(TokenKind::kScopeWord, static_cast<std::uint8_t>(StealScope::kSameNode));
    case LimitScope::kMachine:
      return word_of(TokenKind::kMachine, 0);
  }
  return "";
}

}  // namespace groma::syntax
