// Writes the profile of a run as JSON. docs/commands.md describes the format. Times are in
// picoseconds.
#include "groma/harmless.h"
#include "profile/json_text.h"
#include "profile/timeline.h"
#include "profile/words.h"

namespace groma {
namespace {

using namespace profile;

// Builds the JSON of the profile of one run.
class JsonWriter {
 public:
  JsonWriter(const Profile& profile, const ProfileWords& words, ProfileExtent extent)
      : profile_(profile),
        record_(*profile.record),
        words_(words),
        whole_(extent == ProfileExtent::kAll) {}

  // Returns the JSON of the profile. Members whose names end in `_ps` are times in picoseconds, and
  // members whose names end in `_bytes` are sizes.
  Json write() {
    Json json = {{"title", words_.title},
                 {"mapping", words_.mapping.empty() ? Json(nullptr) : Json(words_.mapping)},
                 {"time_ps", profile_.total},
                 {"tasks", profile_.task_runs},
                 {"copies", profile_.copies},
                 {"reductions", profile_.reductions},
                 {"moved_bytes", profile_.moved_bytes},
                 {"task_ps", profile_.task_time},
                 {"copy_ps", profile_.copy_time}};
    json["path"] = path();
    json["phases"] = list(profile_.phases, [](const Profile::Phase& phase) {
      return Json{{"phase", phase.name}, {"times", phase.times}, {"time_ps", phase.time}};
    });
    json["by_task"] = list(profile_.tasks, [&](const Profile::Task& task) {
      return Json{{"task", task_name(record_, task.task)},
                  {"kind", task.kind},
                  {"runs", task.runs},
                  {"time_ps", task.time},
                  {"longest_ps", task.longest},
                  {"waited_ps", task.waited}};
    });
    const std::vector<RunTime> measured = measured_busy();
    json["by_kind"] = list(profile_.kinds, [&](const Profile::Kind& kind) {
      return Json{{"kind", kind.kind},    {"processors", kind.processors},
                  {"used", kind.used},    {"runs", kind.runs},
                  {"busy_ps", kind.busy}, {"measured_busy_ps", sum_over_kind(measured, kind.kind)},
                  {"idle_ps", kind.idle}, {"least_ps", kind.least},
                  {"most_ps", kind.most}, {"imbalance", Profile::imbalance(kind)}};
    });
    // A processor, a memory or a channel is written as a list that begins with its kind and its
    // node. All parts of the JSON name it by this list.
    if (whole_) add_processors(json);
    json["by_memory"] = list(profile_.memories, [&](const Profile::Memory& memory) {
      const auto& one = record_.memories[static_cast<std::size_t>(memory.memory)];
      return Json{{"memory", memory_json(memory.memory)}, {"capacity_bytes", one.capacity_bytes},
                  {"peak_bytes", one.peak_bytes},         {"peak_ps", memory.peak_time},
                  {"in_bytes", memory.in_bytes},          {"out_bytes", memory.out_bytes}};
    });
    if (whole_) add_channels(json);
    json["moves"] =
        list(profile_.moves, [&](const Profile::CopyGroup& move) { return move_json(move); });
    add_data_streams(profile_, words_, json);
    if (whole_) flows(json);
    json["notes"] = record_.notes;
    return json;
  }

 private:
  // Returns how long each processor worked within the phase that the application measures. Returns
  // an empty list without such a phase.
  std::vector<RunTime> measured_busy() const {
    std::vector<RunTime> busy;
    for (const RunRecord::Phase& phase : record_.phases) {
      if (words_.measured.empty() || !record_.has_name(phase, words_.measured)) continue;
      busy.resize(record_.processors.size());
      for (const RunRecord::Event& event : record_.events) {
        if (event.kind != RunRecord::Event::Kind::kTask || event.where < 0) continue;
        busy[static_cast<std::size_t>(event.where)] += std::max<RunTime>(
            0, std::min(event.end, phase.end) - std::max(event.start, phase.begin));
      }
    }
    return busy;
  }

  // Returns the sum of the times in `busy`, which has one for each processor, over the processors
  // of this kind. Returns null if the list is empty.
  Json sum_over_kind(const std::vector<RunTime>& busy, std::string_view kind) const {
    if (busy.empty()) return nullptr;
    RunTime sum = 0;
    for (std::size_t i = 0; i < busy.size(); ++i) {
      if (record_.processors[i].kind == kind) sum += busy[i];
    }
    return sum;
  }

  void add_processors(Json& json) const {
    json["by_processor"] = list(profile_.processors, [&](const Profile::Processor& processor) {
      const auto& one = record_.processors[static_cast<std::size_t>(processor.processor)];
      return Json{{"processor", {one.kind, one.node, one.index}},
                  {"runs", processor.runs},
                  {"busy_ps", processor.busy},
                  {"idle_ps", profile_.total - processor.busy}};
    });
    json["by_runtime"] = list(profile_.runtimes, [](const Profile::Runtime& runtime) {
      return Json{{"node", runtime.node}, {"mapped", runtime.mapped}, {"busy_ps", runtime.busy}};
    });
  }

  void add_channels(Json& json) const {
    json["by_channel"] = list(profile_.channels, [&](const Profile::Channel& channel) {
      const auto& one = record_.links[static_cast<std::size_t>(channel.link)];
      return Json{{"channel", {one.channel, one.node, one.number, one.out ? "out" : "in"}},
                  {"copies", channel.copies},
                  {"bytes", channel.bytes},
                  {"busy_ps", channel.busy}};
    });
  }

  // Returns a JSON list that has `make(value)` for each of the values.
  template <typename List, typename Make>
  static Json list(const List& values, const Make& make) {
    Json json = Json::array();
    for (const auto& value : values) json.push_back(make(value));
    return json;
  }

  // Returns a memory as a JSON list of its kind, its node and its index.
  Json memory_json(std::int32_t number) const {
    const auto& one = record_.memories[static_cast<std::size_t>(number)];
    return {one.kind, one.node, one.index};
  }

  // Returns one move as JSON. A move is the sum of all copies or reductions of one region between
  // the same memory kinds that the same mapping statement caused.
  Json move_json(const Profile::CopyGroup& move) const {
    return {{"kind", move.reduction ? "reduction" : "copy"},
            {"region", region_name(record_, move.region)},
            {"from", move.from},
            {"to", move.to},
            {"other_node", move.other_node},
            {"same_memory", move.same_memory},
            {"by", statement_json(words_, move.statement)},
            {"number", move.number},
            {"bytes", move.bytes},
            {"time_ps", move.time},
            {"waited_ps", move.waited}};
  }

  // Returns the critical path as JSON: its time by activity and reason, its causes, and its longest
  // segments. If a phase is measured, each cause also has its time within that phase.
  Json path() const {
    Json json = {{"by_reason", Json::array()}};
    for (std::size_t d = 0; d < profile_.path_time.size(); ++d) {
      for (std::size_t r = 0; r < profile_.path_time[d].size(); ++r) {
        if (profile_.path_time[d][r] == 0) continue;
        json["by_reason"].push_back({{"doing", name_of(static_cast<Profile::Doing>(d))},
                                     {"reason", name_of(static_cast<Profile::Reason>(r))},
                                     {"time_ps", profile_.path_time[d][r]}});
      }
    }
    std::vector<RunTime> measured;
    if (!words_.measured.empty()) {
      // The times within the measured phase stand in the order of the causes.
      measured = profile_.path_times_in_phase(words_.measured);
      json["measured"] = words_.measured;
    }
    std::size_t number = 0;
    json["causes"] = list(profile_.path_causes, [&](const Profile::PathCause& cause) {
      Json one = {{"doing", name_of(cause.doing)},
                  {"reason", name_of(cause.reason)},
                  {"segments", cause.segments},
                  {"time_ps", cause.time}};
      if (cause.task >= 0) one["task"] = task_name(record_, cause.task);
      if (cause.before >= 0) one["before"] = task_name(record_, cause.before);
      if (cause.move >= 0) one["move"] = cause.move;
      if (!measured.empty()) one["measured_ps"] = measured[number++];
      return one;
    });
    if (whole_) segments(json);
    return json;
  }

  // Adds the longest kMaxPathSegments segments of the critical path in the order of time, and the
  // number and the total time of the other segments.
  void segments(Json& json) const {
    const std::vector<std::size_t> shown = longest_path_segments(profile_, kMaxPathSegments);
    RunTime left = profile_.total;
    for (std::size_t i : shown) left -= profile_.path[i].end - profile_.path[i].begin;
    json["left_out"] = {{"segments", profile_.path.size() - shown.size()}, {"time_ps", left}};
    json["segments"] = list(shown, [&](std::size_t i) {
      const Profile::Segment& segment = profile_.path[i];
      Json one = {{"doing", name_of(segment.doing)},
                  {"reason", name_of(segment.reason)},
                  {"begin_ps", segment.begin},
                  {"end_ps", segment.end}};
      // A segment of the critical path in which the runtime worked may belong to no event. Its
      // `event` is then negative.
      if (segment.event < 0) return one;
      const RunRecord::Event& event = record_.events[static_cast<std::size_t>(segment.event)];
      one["event"] = segment.event;
      one["task"] = task_name(record_, event.name);
      return one;
    });
  }

  // Adds how many bytes were copied from each memory to each other memory. Beyond kMaxProfileFlows
  // pairs of memories, only the sum is written.
  void flows(Json& json) const {
    json["flows"] = Json::array();
    std::int64_t bytes = 0, number = 0;
    for (std::size_t i = 0; i < profile_.flows.size(); ++i) {
      const Profile::Flow& flow = profile_.flows[i];
      if (i >= kMaxProfileFlows) {
        add_saturating(bytes, flow.bytes);
        add_saturating(number, flow.number);
        continue;
      }
      json["flows"].push_back({{"from", memory_json(flow.from)},
                               {"to", memory_json(flow.to)},
                               {"number", flow.number},
                               {"bytes", flow.bytes}});
    }
    json["flows_left_out"] = {{"number", number}, {"bytes", bytes}};
  }

  const Profile& profile_;
  const RunRecord& record_;
  const ProfileWords& words_;
  const bool whole_;
};

}  // namespace

profile::Json profile::statement_json(const ProfileWords& words, std::int32_t statement) {
  if (statement == 0) return nullptr;
  if (statement < 0) return {{"statement", nullptr}, {"text", "not known"}, {"place", ""}};
  const StatementText text = words.statement ? words.statement(statement) : StatementText{};
  return {{"statement", statement}, {"text", text.text}, {"place", text.place}};
}

profile::Json profile::json_of(const Profile& profile, const ProfileWords& words,
                               ProfileExtent extent) {
  return JsonWriter(profile, words, extent).write();
}

// Returns the profile as one line of JSON. Hidden characters in names are escaped, and invalid
// UTF-8 is replaced.
std::string to_json(const Profile& profile, const ProfileWords& words) {
  Json json;
  json["profile"] = profile::json_of(profile, words);
  return harmless_lines(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + '\n';
}

}  // namespace groma
