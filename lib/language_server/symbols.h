// Symbols: every name of a program with all places where it stands. They are found in the syntax
// tree, so they exist also for a text with mistakes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/source.h"
#include "syntax/tree.h"

namespace groma::language_server {

enum class SymbolKind : std::uint8_t { kFunction, kGlobal, kParameter, kLocal, kTask, kRegion };

// A thing that has a name. Names of tasks and regions are defined by the application, so their
// symbols have no definition in the text.
struct Symbol {
  SymbolKind kind = SymbolKind::kGlobal;
  std::string name;
  std::optional<Range> definition;
  // The function in which a parameter or a local variable lives: its number among the definitions.
  std::optional<std::uint32_t> function;
  // The type that a parameter is declared with.
  syntax::ParamType type = syntax::ParamType::kAny;
};

// One place where a symbol stands.
struct Occurrence {
  Range range;
  // The index of the symbol.
  std::uint32_t symbol = 0;
  // True if the symbol gets a value here: a definition, a parameter or an assignment.
  bool writes = false;
};

struct Symbols {
  std::vector<Symbol> symbols;
  // In the order of the text.
  std::vector<Occurrence> occurrences;
  // The ranges of the functions, by their numbers.
  std::vector<Range> functions;

  // Returns the occurrence at an offset; the end of a name counts as part of it. Null: there is
  // none.
  const Occurrence* at(std::size_t offset) const;
  // Returns the number of the last function that begins before an offset, or nullopt.
  std::optional<std::uint32_t> function_before(std::size_t offset) const;
  // Returns all occurrences of a symbol, in the order of the text.
  std::vector<Occurrence> of(std::uint32_t symbol) const;
};

Symbols find_symbols(const syntax::Tree& tree);

// The edits that give a symbol another name, or the reason why that is not possible.
struct Renaming {
  std::vector<Range> places;
  // The new name as the text writes it, such as `"my task"`.
  std::string text;
  std::string problem;
};
// Renames the symbol at `offset`. Refuses a name that would change which symbol another name means.
Renaming rename_symbol(const Source& source, const Symbols& symbols, const Occurrence& at,
                       const std::string& new_name);

}  // namespace groma::language_server
