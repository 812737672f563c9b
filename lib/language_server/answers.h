// The answers to questions about one document, as JSON of the protocol.
#pragma once

#include <string>

#include "language_server/open_document.h"
#include "language_server/protocol.h"

namespace groma::language_server {

// Limit on the inlay hints and document symbols of one answer.
inline constexpr std::size_t kMaxAnswerItems = 5000;

// Returns the parameters of `textDocument/publishDiagnostics`.
Json diagnostics_json(OpenDocument& document, PositionEncoding encoding);

// Returns the edits that write the text in the standard style: none if it is. Null if the text has
// syntax errors.
Json formatting_json(OpenDocument& document, PositionEncoding encoding);

// Returns the fixes of the diagnostics in a range, and one action that makes all sure fixes. `only`
// (may be null) is the list of the kinds that the client wants.
Json code_actions_json(OpenDocument& document, Range range, const Json* only,
                       PositionEncoding encoding);

// Returns the functions, globals and statements of the text. Without `as_tree`, in the older form
// that some clients need.
Json symbols_json(OpenDocument& document, bool as_tree, PositionEncoding encoding);

// Returns the hints in a range: statements that are shadowed, match nothing, or never decide.
Json inlay_hints_json(OpenDocument& document, Range range, PositionEncoding encoding);

// Returns what may stand at an offset.
Json completion_json(OpenDocument& document, std::size_t offset, PositionEncoding encoding);

// Returns what is known about the word at an offset, or null. A client that does not take Markdown
// gets the same text.
Json hover_json(OpenDocument& document, std::size_t offset, bool markdown,
                PositionEncoding encoding);

}  // namespace groma::language_server
