// Completion: the words that may stand at a place of a mapping.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "groma/source.h"
#include "groma/syntax.h"
#include "language_server/symbols.h"

namespace groma::language_server {

// Limit on the items of one completion. A client asks again when more letters are known.
inline constexpr std::size_t kMaxCompletions = 500;

enum class CompletionKind : std::uint8_t {
  kKeyword,
  kTask,
  kRegion,
  kProcessor,
  kMemory,
  kLayout,
  kFunction,
  kVariable,
  kOperation,
  kMember,
  kType,
};

struct CompletionEntry {
  // The text that is inserted, and shown.
  std::string text;
  CompletionKind kind = CompletionKind::kKeyword;
  // The form of an operation or statement. May be empty.
  std::string detail;
  std::string description;
};

struct Completion {
  std::vector<CompletionEntry> entries;
  // The part of the name before the cursor, which an entry replaces.
  Range replaced;
  // False if there are more entries than kMaxCompletions.
  bool complete = true;
};

// The names from which complete() chooses.
struct CompletionNames {
  // The names and kinds of the application and the machine (grammar_names).
  GrammarNames known;
  // The symbols of the text, or of its last version that could be read.
  const Symbols* symbols = nullptr;
};

// Returns what may stand at `offset`. The text may have mistakes; only what stands before the
// offset decides.
Completion complete(const Source& source, std::size_t offset, const CompletionNames& names);

}  // namespace groma::language_server
