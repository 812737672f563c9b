// Printer: the one style of the language, from a Tree. What `groma format` prints.
#pragma once

#include <string>

#include "syntax/tree.h"

namespace groma::syntax {

// The formatted text of a tree that was parsed without errors, with the comments that it kept, each
// where it stood between the words around it. Every statement on its own line with its `;`, bodies
// in braces, at most one blank line. Formatting its result again changes nothing.
std::string print(const Tree& tree);

// An expression alone, without comments.
std::string print(const Tree& tree, ExprId id);

// The tree as nested lists, `(task (foo) (GPU))`: what two texts share when they mean the same.
// Parentheses that change nothing are left out.
std::string dump(const Tree& tree);

}  // namespace groma::syntax
