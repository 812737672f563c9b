// Writes a placement as JSON. A processor is a pair of its node and its index on the node.
#include "explain/json.h"
#include "groma/inspect.h"

namespace groma {
namespace {

using Json = OrderedJson;

Json pair_json(const Processor& processor) { return {processor.node, processor.index}; }

Json coordinates_json(const Point& point) {
  Json list = Json::array();
  for (std::int64_t coordinate : point.coordinates()) list.push_back(coordinate);
  return list;
}

}  // namespace

// Returns the placement as one line of JSON. The member `sets` exists only if the mapping function
// returned a set of processors for some point.
std::string to_json(const Placement& placement, const Diagnostics& diags) {
  Json json;
  json["task"] = placement.task.empty() ? Json(nullptr) : Json(placement.task);
  json["function"] = placement.function_name;
  json["kind"] = name_of(placement.kind);
  json["domain"] = coordinates_json(placement.domain.box.extents);
  json["lower"] = coordinates_json(placement.domain.box.lower);
  if (placement.domain.points) {
    json["coordinates"] = Json::array();
    for (std::int64_t k = 0; k < placement.domain.count(); ++k) {
      json["coordinates"].push_back(coordinates_json(placement.domain.points->point(k)));
    }
  }
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
