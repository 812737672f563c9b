// Writes diagnostics and placements as JSON. Invalid UTF-8 becomes replacement characters.
#include "inspect/json.h"

#include "groma/harmless.h"
#include "groma/inspect.h"
#include "inspect/words.h"

namespace groma {
namespace {

using Json = OrderedJson;

Json position_json(const Source& source, std::uint32_t offset) {
  const Position position = source.position(offset);
  return {{"line", position.line}, {"column", position.column}};
}

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

void append(const Diagnostics& diags, Json& list) {
  for (const Diagnostic& diagnostic : diags.sorted()) {
    list.push_back(diagnostic_json(diags.source(), diagnostic));
  }
}

Json pair_json(const Processor& processor) { return {processor.node, processor.index}; }

Json coordinates_json(const Point& point) {
  Json list = Json::array();
  for (std::int64_t coordinate : point.coordinates()) list.push_back(coordinate);
  return list;
}

}  // namespace

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

OrderedJson json_of(const Program& program, Origin origin) {
  if (!origin) return nullptr;
  const Position at = program.source().position(program.range(origin).begin);
  return {{"file", program.source().name()},
          {"line", at.line},
          {"column", at.column},
          {"text", statement_text(program, origin)}};
}

std::string json_line(const Json& json) {
  return harmless_lines(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string to_json(const std::vector<const Diagnostics*>& all) {
  Json list = Json::array();
  for (const Diagnostics* diags : all) append(*diags, list);
  return json_line({{"diagnostics", std::move(list)}});
}

std::string to_json(const Placement& placement, const Diagnostics& diags) {
  Json json;
  json["task"] = placement.task.empty() ? Json(nullptr) : Json(placement.task);
  json["function"] = placement.function_name;
  json["kind"] = name_of(placement.kind);
  json["domain"] = coordinates_json(placement.domain.extents);
  json["lower"] = coordinates_json(placement.domain.lower);
  json["points"] = Json::array();
  for (const Processor& processor : placement.points)
    json["points"].push_back(pair_json(processor));
  if (!placement.sets.empty()) {
    json["sets"] = Json::array();
    for (const auto& set : placement.sets) {
      Json one = Json::array();
      for (const Processor& processor : set) one.push_back(pair_json(processor));
      json["sets"].push_back(std::move(one));
    }
  }
  json["loads"] = {{"max", placement.max_load()},
                   {"min", placement.min_load()},
                   {"processors", placement.processor_count()}};
  json["diagnostics"] = json_of(diags);
  return json_line(json);
}

}  // namespace groma
