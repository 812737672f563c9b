// The grammar of formatted programs as data: one table of productions. groma::grammar prints it in
// three notations. The tests generate sentences from it and parse programs with it.
//
// It describes the output of `print_tree` (printer.h) byte for byte, except comments in the middle
// of a statement. It has these restrictions, so that constrained decoding gives valid programs:
//
// * free names begin with a small letter or `_`; any other task or region can be quoted;
// * members, and the option of `decompose`, are those of docs/language.md; a function has a
//   `return`;
// * integers have up to 18 digits, positions up to four, alignments are powers of two.
//
// No production is left-recursive or can be empty.
#pragma once

#include <string>
#include <vector>

#include "base/characters.h"
#include "groma/syntax.h"

namespace groma::syntax {

using CharRange = CharacterRange;

// A part of the right-hand side of a production of the grammar.
struct GrammarItem {
  enum class Kind {
    // The item is the fixed text `text`, which is not empty.
    kText,
    // The item is one character from the ascending ranges in `chars`.
    kChars,
    // The item is the production with the name `text`.
    kRule,
    // The item is at least two items, one after the other.
    kSequence,
    // The item is one of at least two items.
    kChoice,
    // The item is items[0] or nothing.
    kOptional,
    // The item is items[0], zero or more times.
    kMany,
    // The item is items[0], one or more times.
    kSome,
    // The item is at most `max_count` characters from the ranges of items[0], which is kChars.
    kUpTo,
  };
  Kind kind = Kind::kText;
  std::string text;
  std::vector<CharRange> chars;
  std::vector<GrammarItem> items;
  int max_count = 0;
};

// A named rule of the grammar.
struct Production {
  // The name, of small letters, digits and `-`.
  std::string name;
  GrammarItem item;
  // True if the production contains only characters and tokens. Notations that have terminals write
  // it as a terminal.
  bool is_terminal = false;
  // The title of the part of the grammar that begins with this production. Empty if none begins
  // here.
  std::string heading;
};

// Returns the productions of the grammar, with the start production first. The grammar allows only
// the task, region and kind names in `names`. Every production in use is defined exactly once, and
// every production is used.
std::vector<Production> grammar_productions(const GrammarNames& names = {});

}  // namespace groma::syntax
