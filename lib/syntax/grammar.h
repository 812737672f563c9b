// The grammar of formatted programs as data: one table of productions. groma::grammar prints it in
// three notations. The tests generate sentences from it and parse programs with it.
//
// It describes the output of `print` (printer.h) byte for byte, except comments in the middle of a
// statement. It has these restrictions, so that constrained decoding gives valid programs:
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

// A part of the right-hand side of a production.
struct GrammarItem {
  enum class Kind {
    kText,      // text, never empty
    kChars,     // one character from the ascending ranges in `chars`
    kRule,      // the production named `text`
    kSequence,  // items one after the other; at least two
    kChoice,    // one of the items; at least two
    kOptional,  // items[0] or nothing
    kMany,      // items[0], zero or more times
    kSome,      // items[0], one or more times
    kUpTo,      // the characters of items[0], which is kChars, at most `most` times
  };
  Kind kind = Kind::kText;
  std::string text;
  std::vector<CharRange> chars;
  std::vector<GrammarItem> items;
  int most = 0;
};

// A named rule of the grammar.
struct Production {
  // The name, of small letters, digits and `-`.
  std::string name;
  GrammarItem item;
  // True if the production contains only characters and tokens. Notations that have terminals write
  // it as a terminal.
  bool token = false;
  // The title, if the production begins a part of the grammar.
  std::string heading;
};

// Returns the table, narrowed to `names`, with the start production first. Every name in use has
// exactly one production, and every production is used.
std::vector<Production> productions(const GrammarNames& names = {});

}  // namespace groma::syntax
