// Parser: the second stage, from tokens to a Tree. It is a recursive descent parser with one
// function for each rule of the language. After an error it goes on at the next statement, so that
// each error is reported once.
#pragma once

#include "groma/diagnostics.h"
#include "groma/source.h"
#include "syntax/tree.h"

namespace groma::syntax {

// Parses the text of `source`. Always returns a tree; if `diags` has errors, the tree holds what
// could be read. Comments are kept for the printer if `keep_comments` is set.
Tree parse(const Source& source, Diagnostics& diags, bool keep_comments = false);

}  // namespace groma::syntax
