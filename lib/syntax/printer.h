// Printer: writes a Tree in the standard style of the language. `groma format` prints its result.
#pragma once

#include <string>
#include <string_view>

#include "syntax/tree.h"

namespace groma::syntax {

// Returns the formatted text of a tree that was parsed without errors. Kept comments stay between
// the same words. Every statement is on its own line with its `;`, bodies are in braces, and there
// is at most one blank line in a row. Idempotent.
std::string print_tree(const Tree& tree);

// Returns the text of one expression, without comments.
std::string print_tree(const Tree& tree, ExprId id);

// Return the word for a scope, and the sign of an alignment, as statements write them.
// AlignOp::kNone has no sign.
std::string_view spelling_of(StealScope scope);
std::string_view spelling_of(AlignOp op);

// Returns the tree as nested lists, such as `(task (foo) (GPU))`. Texts with the same meaning have
// the same dump: parentheses that change nothing are left out.
std::string dump_tree(const Tree& tree);

}  // namespace groma::syntax
