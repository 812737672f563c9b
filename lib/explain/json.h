// Conversions to JSON that the code of this folder shares.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "groma/diagnostics.h"
#include "groma/explain.h"
#include "groma/program.h"

namespace groma {

using OrderedJson = nlohmann::ordered_json;

// Returns a fix of the source as JSON: {"title": ..., "edits": [...], "sure": ...}.
OrderedJson json_of(const Source& source, const Fix& fix);
// Returns the diagnostics as a JSON list, in the order of the source text.
OrderedJson json_of(const Diagnostics& diags);
// Returns a statement as JSON: {"file": ..., "line": ..., "column": ..., "text": ...}. Null if
// `origin` is empty, because the default mapper decides.
OrderedJson json_of(const Program& program, DecisionOrigin origin);
// Returns an explanation as JSON, without its diagnostics.
OrderedJson json_of(const Explanation& explanation, const Program& program);
// Returns the JSON as one line with its line end; invalid UTF-8 becomes replacement characters.
std::string json_line(const OrderedJson& json);

}  // namespace groma
