// Converts an explanation to JSON. docs/commands.md describes the format.
#include "explain/json.h"
#include "explain/words.h"
#include "groma/explain.h"

namespace groma {
namespace {

using Json = OrderedJson;
using Reason = OverruledStatement::Reason;

// Returns the word for a reason in JSON. The words are in the order of the enumerators.
std::string_view name_of(Reason reason) {
  constexpr std::string_view kNames[] = {"less-specific", "shadowed",  "nothing-new", "inner",
                                         "virtual",       "privilege", "condition"};
  return kNames[static_cast<std::size_t>(reason)];
}

// Converts the parts of an explanation to JSON.
class JsonWriter {
 public:
  explicit JsonWriter(const Program& program) : program_(program) {}

  // Returns the whole explanation of a mapping as a JSON object, without the diagnostics.
  Json write(const Explanation& explanation) const {
    Json json = {{"application", explanation.application}, {"machine", explanation.machine}};
    json["tasks"] = Json::array();
    for (const ExplainedTask& task : explanation.tasks) json["tasks"].push_back(write(task));
    json["all_launches"] = explanation.all_launches;
    json["unmatched"] = list(explanation.unmatched);
    json["never_decide"] = list(explanation.never_decide);
    if (program_.has_conditions()) json["inactive"] = list(explanation.inactive);
    return json;
  }

 private:
  // Returns the location and the text of a statement as JSON, or null for the default mapper.
  Json statement(DecisionOrigin origin) const { return json_of(program_, origin); }
  Json list(const std::vector<DecisionOrigin>& origins) const {
    Json json = Json::array();
    for (DecisionOrigin origin : origins) json.push_back(statement(origin));
    return json;
  }
  // Returns as a JSON list the statements that matched but did not decide, each with the reason why
  // it did not decide.
  Json over(const std::vector<OverruledStatement>& others) const {
    Json json = Json::array();
    for (const OverruledStatement& other : others) {
      Json one = statement(other.origin);
      one["why"] = name_of(other.reason);
      json.push_back(std::move(one));
    }
    return json;
  }
  // Returns a decision with its statement: {"value": ..., "by": ..., "over": [...]}.
  Json decision(Json value, const DecidingStatement& decided) const {
    return {
        {"value", std::move(value)}, {"by", statement(decided.by)}, {"over", over(decided.beaten)}};
  }

  // Returns all decisions about a task as JSON. If no processor can run the task, the JSON has only
  // the decision about its kind of processor.
  Json write(const ExplainedTask& task) const {
    Json json = {{"task", task.name}};
    if (!task.selected.empty()) json["selected"] = task.selected;
    json["kind"] =
        decision(task.kind.kind ? Json(groma::name_of(*task.kind.kind)) : Json(nullptr), task.kind);
    json["kind"]["passed"] = Json::array();
    for (const ExplainedKind::SkippedKind& passed : task.kind.passed) {
      json["kind"]["passed"].push_back(
          {{"kind", groma::name_of(passed.kind)}, {"why", passed.why}});
    }
    if (!task.kind.kind) return json;
    json["launches"] = Json::array();
    for (const ExplainedLaunch& launch : task.launches) json["launches"].push_back(write(launch));
    json["requirements"] = Json::array();
    for (const ExplainedRequirement& requirement : task.requirements) {
      json["requirements"].push_back(write(requirement));
    }
    json["limit"] =
        decision(task.limit == 0 ? Json(nullptr) : Json(task.limit), task.limit_decided);
    if (task.limit_scope != LimitScope::kProcessor) {
      json["limit"]["scope"] = task.limit_scope == LimitScope::kNode ? "SAME_NODE" : "Machine";
    }
    json["replicate"] = decision(task.replicated, task.replication);
    if (!task.why_not_replicated.empty()) json["replicate"]["why"] = task.why_not_replicated;
    const auto steal = [&]() -> Json {
      if (!task.steal) return nullptr;
      return task.steal == StealScope::kSameNode ? "SAME_NODE" : "ANY_NODE";
    };
    json["steal"] = decision(steal(), task.stealing);
    return json;
  }

  static Json coordinates(const Point& point) {
    Json json = Json::array();
    for (std::int64_t coordinate : point.coordinates()) json.push_back(coordinate);
    return json;
  }

  // Returns as JSON where the points of a launch run. `loads` and `example` exist only if they are
  // known.
  Json write(const ExplainedLaunch& launch) const {
    Json json = {{"form", launch.is_index ? "index" : "single"}, {"depth", launch.depth}};
    if (!launch.parent.empty()) json["parent"] = launch.parent;
    if (launch.domain) {
      json["domain"] = coordinates(launch.domain->box.extents);
      json["lower"] = coordinates(launch.domain->box.lower);
      if (launch.domain->points) json["launched"] = launch.domain->count();
    }
    json["function"] =
        decision(launch.function.empty() ? Json(nullptr) : Json(launch.function), launch);
    if (launch.loads) {
      json["loads"] = {{"points", launch.loads->points},
                       {"max", launch.loads->max},
                       {"min", launch.loads->min},
                       {"used", launch.loads->used},
                       {"processors", launch.loads->processors}};
    }
    if (launch.example) json["example"] = {launch.example->node, launch.example->index};
    return json;
  }

  // Returns the memories and the early collection of a requirement as JSON. `node` exists only if
  // nodes differ.
  Json write(const ExplainedRequirement& requirement) const {
    Json json = {{"position", requirement.position},
                 {"names", requirement.names},
                 {"privilege", groma::name_of(requirement.privilege)}};
    if (requirement.node) json["node"] = *requirement.node;
    json["mapped"] = requirement.is_mapped;
    json["virtual"] = requirement.is_virtual;
    json["inner"] = requirement.inner;
    json["memories"] = Json::array();
    for (const ExplainedMemory& memory : requirement.memories) {
      json["memories"].push_back(write(memory));
    }
    json["over"] = over(requirement.beaten);
    json["collect"] = decision(requirement.collected, requirement.collection);
    return json;
  }

  // Returns a memory of a requirement as JSON. A memory that is passed over or virtual has no
  // layout.
  Json write(const ExplainedMemory& memory) const {
    constexpr std::string_view kStates[] = {"passed", "taken", "fallback"};
    Json json = {{"memory", groma::name_of(memory.memory)},
                 {"state", kStates[static_cast<std::size_t>(memory.state)]}};
    if (!memory.why.empty()) json["why"] = memory.why;
    json["by"] = statement(memory.by);
    const bool laid_out =
        memory.state != ExplainedMemory::State::kPassed && memory.memory != MemKind::kVirtual;
    if (laid_out) {
      json["layout"] = decision(layout_words(memory.layout), memory.layout_decided);
      if (memory.demanded_by_mapper) json["layout"]["demanded_by_mapper"] = true;
      for (const LayoutSpec& other : memory.other_layouts) {
        json["layout"]["other_layouts"].push_back(layout_words(other));
      }
    }
    return json;
  }

  const Program& program_;
};

}  // namespace

OrderedJson json_of(const Explanation& explanation, const Program& program) {
  return JsonWriter(program).write(explanation);
}

// The diagnostics stand beside the explanation in the same object.
std::string to_json(const Explanation& explanation, const Program& program,
                    const Diagnostics& diags) {
  Json json = json_of(explanation, program);
  json["diagnostics"] = json_of(diags);
  return json_line(json);
}

}  // namespace groma
