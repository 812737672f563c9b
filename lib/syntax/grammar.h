// The grammar of formatted programs as data: one table of productions. groma::grammar prints it in
// three notations; the tests write sentences from it and read programs by it.
//
// It describes what `print` (printer.h) writes, byte for byte, but for comments in the middle of a
// statement, and with these restrictions, made so that who decodes by it writes valid programs:
//  * free names begin with a small letter or `_`; any other task or region can be quoted;
//  * members, and `decompose`'s option, are those of LANGUAGE; a function has a `return`;
//  * integers have up to 18 digits, positions up to four, alignments are powers of two.
// No production is left-recursive or can be empty.
#pragma once

#include <string>
#include <vector>

#include "base/characters.h"
#include "groma/syntax.h"

namespace groma::syntax {

using CharRange = CharacterRange;

// A piece of the right side of a production.
struct Item {
  enum class Kind {
    kText,      // text, never empty
    kChars,     // one character of chars, which ascend
    kRule,      // what the production named `text` describes
    kSequence,  // items one after the other, at least two
    kChoice,    // one of items, at least two
    kOptional,  // items[0] or nothing
    kMany,      // items[0], any number of times
    kSome,      // the same, at least once
    kUpTo,      // items[0], which is kChars, at most `most` times
  };
  Kind kind = Kind::kText;
  std::string text;
  std::vector<CharRange> chars;
  std::vector<Item> items;
  int most = 0;
};

struct Production {
  std::string name;  // small letters, digits and `-`
  Item item;
  bool token = false;   // made of characters and tokens only: a terminal where that is a difference
  std::string heading;  // begins a part of the grammar: its title
};

// The table, narrowed to `names`, the start first. Every name that is used has one production, and
// each is used.
std::vector<Production> productions(const GrammarNames& names = {});

}  // namespace groma::syntax
