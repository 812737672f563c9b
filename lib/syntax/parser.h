// Parser: the second stage, from tokens to a Tree. Recursive descent, a function for each rule of
// the language; goes on after a mistake at the next statement, so that each mistake is reported
// once.
#pragma once

#include "groma/diagnostics.h"
#include "groma/source.h"
#include "syntax/tree.h"

namespace groma::syntax {

// Always returns a tree: of what could be read when diags has errors. Comments are kept for
// the printer when `keep_comments`.
Tree parse(const Source& source, Diagnostics& diags, bool keep_comments = false);

}  // namespace groma::syntax
