// What all JSON of this folder shares.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "groma/diagnostics.h"
#include "groma/explain.h"
#include "groma/program.h"

namespace groma {

using OrderedJson = nlohmann::ordered_json;

// An edit of the source: {"title": ..., "edits": [...], "sure": ...}.
OrderedJson json_of(const Source& source, const Fix& fix);
// The diagnostics, in the order of the text.
OrderedJson json_of(const Diagnostics& diags);
// {"file": ..., "line": ..., "column": ..., "text": ...}; null where the default mapper decides.
OrderedJson json_of(const Program& program, Origin origin);
// Without its diagnostics.
OrderedJson json_of(const Explanation& explanation, const Program& program);
// One line with its end; what is no UTF-8 becomes replacement characters.
std::string json_line(const OrderedJson& json);

}  // namespace groma
