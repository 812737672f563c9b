// Writes the streams of tasks and how tasks are spread over processors as JSON.
#include <algorithm>
#include <set>

#include "profile/data_streams.h"
#include "profile/json_text.h"
#include "profile/task_spreads.h"
#include "profile/words.h"

namespace groma::profile {
namespace {

// Limits on the streams and on the spreads in the JSON. The ones with the most time come first.
constexpr std::size_t kMaxStreams = 16;
constexpr std::size_t kMaxSpreads = 16;

// Returns the description of a task in the record; an empty one if the record has none.
const RunRecord::TaskDescription& description_of(const RunRecord& record, std::int32_t task) {
  static const RunRecord::TaskDescription kNone;
  return is_index_of(task, record.descriptions)
             ? record.descriptions[static_cast<std::size_t>(task)]
             : kNone;
}

// Returns the names by which statements can refer to a region requirement.
const std::vector<std::string>& names_of(const RunRecord& record, std::int32_t task,
                                         std::int32_t requirement) {
  static const std::vector<std::string> kNone;
  const auto& requirements = description_of(record, task).requirements;
  return is_index_of(requirement, requirements)
             ? requirements[static_cast<std::size_t>(requirement)].names
             : kNone;
}

Json stream_json(const RunRecord& record, const ProfileWords& words, const DataStream& stream) {
  Json json = {{"task", task_name(record, stream.task)},
               {"kind", stream.kind},
               {"requirement", stream.requirement},
               {"names", names_of(record, stream.task, stream.requirement)},
               {"memory", stream.memory},
               {"by", statement_json(words, stream.statement)},
               {"time_ps", stream.time},
               {"bytes", stream.bytes},
               {"task_ps", stream.task_time},
               {"elsewhere", Json::array()}};
  for (const DataStream::Alternative& each : stream.alternatives) {
    json["elsewhere"].push_back(
        {{"memory", each.memory}, {"task_ps", each.task_time}, {"room", each.has_room}});
  }
  return json;
}

// Returns the kinds of the memories in which the data of each requirement of the task was, by the
// position of the requirement.
std::vector<std::set<std::string>> memories_of(const RunRecord& record, const TaskSpread& spread) {
  std::vector<std::set<std::string>> memories;
  std::set<std::int32_t> seen;
  for (const RunRecord::Event& event : record.events) {
    if (event.name != spread.task || !is_index_of(event.cost, record.costs) ||
        !is_index_of(event.where, record.processors) ||
        record.processors[static_cast<std::size_t>(event.where)].kind != spread.kind ||
        !seen.insert(event.cost).second) {
      continue;
    }
    for (const auto& stream : record.costs[static_cast<std::size_t>(event.cost)].streams) {
      const auto position = static_cast<std::size_t>(stream.requirement);
      if (!is_index_of(stream.requirement, description_of(record, spread.task).requirements) ||
          !is_index_of(stream.memory, record.memories)) {
        continue;
      }
      memories.resize(std::max(memories.size(), position + 1));
      memories[position].insert(record.memories[static_cast<std::size_t>(stream.memory)].kind);
    }
  }
  return memories;
}

Json spread_json(const RunRecord& record, const TaskSpread& spread) {
  const RunRecord::Processor& busiest = record.processors[static_cast<std::size_t>(spread.busiest)];
  const RunRecord::TaskDescription& description = description_of(record, spread.task);
  Json json = {{"task", task_name(record, spread.task)},
               {"kind", spread.kind},
               {"kinds", description.kinds},
               {"processors", spread.processors},
               {"used", spread.used},
               {"points", spread.points},
               {"all_launches", spread.counts_all_launches},
               {"dimensions", spread.dimensions},
               {"nested_runs", spread.nested_runs},
               {"busiest", {busiest.kind, busiest.node, busiest.index}},
               {"busiest_points", Json::array()},
               {"busiest_point_count", spread.busiest_point_count},
               {"heavy_points", Json::array()},
               {"lost_ps", spread.lost},
               {"data", Json::array()}};
  for (std::int32_t point : spread.busiest_points) {
    json["busiest_points"].push_back(record.points[static_cast<std::size_t>(point)]);
  }
  for (const TaskSpread::HeavyPoint& heavy : spread.heavy_points) {
    json["heavy_points"].push_back({{"point", record.points[static_cast<std::size_t>(heavy.point)]},
                                    {"weight", heavy.weight}});
  }
  const auto memories = memories_of(record, spread);
  for (std::size_t r = 0; r < description.requirements.size(); ++r) {
    const auto& requirement = description.requirements[r];
    json["data"].push_back({{"names", requirement.names},
                            {"region", region_name(record, requirement.region)},
                            {"memories", r < memories.size() ? Json(memories[r]) : Json::array()}});
  }
  return json;
}

}  // namespace

void add_data_streams(const Profile& profile, const ProfileWords& words, Json& json) {
  const RunRecord& record = *profile.record;
  if (record.costs.empty()) return;
  const std::vector<TimeSpan> spans = measured_spans(profile, words.measured);
  json["streams"] = Json::array();
  for (const DataStream& stream : data_streams(profile, spans)) {
    if (json["streams"].size() == kMaxStreams) break;
    json["streams"].push_back(stream_json(record, words, stream));
  }
  json["spreads"] = Json::array();
  for (const TaskSpread& spread : task_spreads(profile, spans)) {
    if (json["spreads"].size() == kMaxSpreads) break;
    json["spreads"].push_back(spread_json(record, spread));
  }
  json["apart"] = Json::array();
  for (const TasksApart& pair : tasks_apart(record)) {
    Json regions = Json::array();
    for (std::int32_t region : pair.regions) regions.push_back(region_name(record, region));
    json["apart"].push_back(
        {{"tasks", {task_name(record, pair.task), task_name(record, pair.other)}},
         {"points", pair.points},
         {"apart", pair.apart},
         {"regions", std::move(regions)}});
  }
  const auto last = std::max_element(record.processors.begin(), record.processors.end(),
                                     [](const auto& a, const auto& b) { return a.node < b.node; });
  json["nodes"] = last == record.processors.end() ? 0 : last->node + 1;
  std::int64_t mapped = 0;
  for (const Profile::Runtime& each : profile.runtimes) add_saturating(mapped, each.mapped);
  const auto busiest =
      std::max_element(profile.runtimes.begin(), profile.runtimes.end(),
                       [](const auto& a, const auto& b) { return a.mapped < b.mapped; });
  if (busiest != profile.runtimes.end()) {
    json["most_mapped"] = {{"node", busiest->node}, {"mapped", busiest->mapped}, {"of", mapped}};
  }
  json["could_replicate"] =
      record.could_replicate < 0 ? Json(nullptr) : Json(task_name(record, record.could_replicate));
}

}  // namespace groma::profile
