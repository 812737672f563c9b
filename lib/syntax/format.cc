// Formats the text of a mapping: parses it, then prints the tree. Returns nothing if it has errors.
#include "groma/syntax.h"
#include "syntax/parser.h"
#include "syntax/printer.h"

namespace groma {

std::optional<std::string> format(const Source& source, Diagnostics& diags) {
  const syntax::Tree tree = syntax::parse(source, diags, /*keep_comments=*/true);
  if (diags.has_errors()) return std::nullopt;
  return syntax::print_tree(tree);
}

}  // namespace groma
