// Converts diagnostics, fixes and statements to JSON. Invalid UTF-8 becomes replacement characters.
#include "explain/json.h"

#include "explain/words.h"
#include "groma/harmless.h"

namespace groma {
namespace {

using Json = OrderedJson;

// Returns the line and column of a byte offset in the source, as JSON.
Json position_json(const Source& source, std::uint32_t offset) {
  const Position position = source.position(offset);
  return {{"line", position.line}, {"column", position.column}};
}

// Adds the start and the end of a range to `json`. Adds nothing if there is no range.
void add_range(const Source& source, const std::optional<Range>& range, Json& json) {
  if (!range) return;
  json["start"] = position_json(source, range->begin);
  json["end"] = position_json(source, range->end);
}

// Converts one diagnostic with its location, notes, helps and fixes.
Json diagnostic_json(const Source& source, const Diagnostic& diagnostic) {
  Json json = {{"id", name_of(diagnostic.id)},
               {"severity", name_of(diagnostic.severity)},
               {"message", diagnostic.message},
               {"file", source.name()}};
  add_range(source, diagnostic.range, json);
  json["notes"] = Json::array();
  for (const DiagNote& note : diagnostic.notes) {
    Json one = {{"message", note.message}};
    add_range(source, note.range, one);
    json["notes"].push_back(std::move(one));
  }
  json["help"] = diagnostic.helps;
  json["fixes"] = Json::array();
  for (const Fix& fix : diagnostic.fixes) json["fixes"].push_back(json_of(source, fix));
  return json;
}

// Appends all diagnostics to `list`, in the order of the source text.
void append(const Diagnostics& diags, Json& list) {
  for (const Diagnostic& diagnostic : diags.sorted()) {
    list.push_back(diagnostic_json(diags.source(), diagnostic));
  }
}

}  // namespace

// Returns a fix with its edits. The places are lines and columns of `source`.
Json json_of(const Source& source, const Fix& fix) {
  Json edits = Json::array();
  for (const Edit& edit : fix.edits) {
    Json one = Json::object();
    add_range(source, edit.range, one);
    one["text"] = edit.text;
    edits.push_back(std::move(one));
  }
  return {{"title", fix.title}, {"edits", std::move(edits)}, {"sure", fix.sure}};
}

Json json_of(const Diagnostics& diags) {
  Json list = Json::array();
  append(diags, list);
  return list;
}

// Returns the place and the text of a statement, or null for the default mapper.
OrderedJson json_of(const Program& program, DecisionOrigin origin) {
  if (!origin) return nullptr;
  const Position at = program.source().position(program.range(origin).begin);
  Json json = {{"file", program.source().name()},
               {"line", at.line},
               {"column", at.column},
               {"text", statement_text(program, origin)}};
  if (const std::string when = condition_text(program, origin); !when.empty()) json["when"] = when;
  return json;
}

// Characters that could control a terminal are replaced, too, because the JSON contains foreign
// text.
std::string json_line(const Json& json) {
  return harmless_lines(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace groma
