// The language as text: formatting, and the grammar in the notations that other tools read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/kinds.h"
#include "groma/source.h"

namespace groma {

// Returns `source` in the standard style: one statement on a line, always with `;` and braces, with
// comments kept in place. Idempotent. Returns nullopt if the text has syntax errors; `diags` then
// has them.
std::optional<std::string> format(const Source& source, Diagnostics& diags);

// The notation of a grammar: EBNF, GBNF of llama.cpp, or Lark.
enum class GrammarFormat { kEbnf, kGbnf, kLark };

// Names to which a grammar is narrowed, so that constrained decoding names only things that exist.
// Statements are limited to these tasks and regions and to this number of requirements; kinds are
// limited everywhere. An empty member does not limit anything. Names that a program cannot contain
// are left out.
struct GrammarNames {
  std::vector<std::string> tasks, regions;
  // The largest number of region requirements of any task.
  std::optional<int> requirements;
  std::vector<ProcKind> processors;
  std::vector<MemKind> memories;
};

// Returns the grammar of the formatted language: for people (ISO-like EBNF), for constrained
// decoding (llama.cpp's GBNF), or for Lark's Earley parser. All three come from one table.
std::string grammar(GrammarFormat format, const GrammarNames& names = {});

}  // namespace groma
