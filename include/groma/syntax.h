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

// `source` in the one style: a statement a line, `;` and braces always, comments kept where they
// belong. Idempotent. Nothing when the text has syntax errors, which are then in `diags`.
std::optional<std::string> format(const Source& source, Diagnostics& diags);

enum class GrammarFormat { kEbnf, kGbnf, kLark };

// What a grammar is narrowed to, so that who decodes by it names only what there is: in statements
// these tasks, regions and as many requirements, everywhere these kinds. What is empty stays open;
// names that no program can hold are left out.
struct GrammarNames {
  std::vector<std::string> tasks, regions;
  std::optional<int> requirements;  // the most that a task has
  std::vector<ProcKind> processors;
  std::vector<MemKind> memories;
};

// The grammar of the formatted language: for people (ISO-like EBNF), for constrained decoding
// (llama.cpp's GBNF), and for Lark's Earley parser. All three from one table.
std::string grammar(GrammarFormat format, const GrammarNames& names = {});

}  // namespace groma
