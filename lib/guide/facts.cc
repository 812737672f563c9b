// Reads the facts that the guide needs from the JSON of a run's profile. docs/commands.md describes
// the format. The JSON may come from an untrusted source, so every value is checked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/json_bounds.h"
#include "groma/geometry.h"
#include "groma/guide.h"
#include "groma/harmless.h"
#include "profile/json_text.h"

namespace groma {
namespace {

using Json = profile::Json;

// Limits on the causes and tasks of a profile that are kept. The most important ones come first.
constexpr std::size_t kMaxCauses = 8;
constexpr std::size_t kMaxTasks = 8;
// Limit on the processor kinds of a profile that are kept, and on the memory kinds.
constexpr std::size_t kMaxKinds = 16;
// Limits on the streams, on the spreads, and on the region requirements of a spread that are kept.
constexpr std::size_t kMaxStreams = 16;
constexpr std::size_t kMaxSpreads = 16;
constexpr std::size_t kMaxData = 32;
constexpr std::size_t kMaxPoints = 8;
constexpr std::size_t kMaxHeavyPoints = 16;
constexpr std::size_t kMaxPointBytes = 200;
// Limit on the pairs of tasks with points on different nodes.
constexpr std::size_t kMaxPairs = 16;
// Limit on the number of a statement.
constexpr double kMostStatements = 0x1p31;
// The relative error of a sum of times that were converted between units.
constexpr double kRounding = 1e-6;
constexpr std::size_t kShownValue = 60;
// Limits on a number and on a count in a profile, so that sums and conversions do not overflow.
constexpr double kMostFigure = 0x1p63, kMostCount = 0x1p53;

// Returns the member of a JSON object with this key, or a JSON null if there is none.
const Json& member(const Json& json, const char* key) {
  static const Json kNothing;
  if (!json.is_object()) return kNothing;
  const auto found = json.find(key);
  return found == json.end() ? kNothing : *found;
}
// Returns the string with this key in a JSON object, with control characters escaped. Returns an
// empty text if the member is missing or has another type.
std::string text(const Json& json, const char* key) {
  const Json& value = member(json, key);
  return value.is_string() ? harmless(value.get_ref<const std::string&>()) : "";
}
std::int64_t count(const Json& json, const char* key) {
  const Json& value = member(json, key);
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

// Returns the strings in a JSON list, with control characters escaped. Skips other elements.
std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> all;
  for (const Json& one : list) {
    if (one.is_string()) all.push_back(harmless(one.get_ref<const std::string&>()));
  }
  return all;
}

// One JSON value of a profile, with its location as a JSON pointer such as "/path/causes/3" for
// error messages. A missing value counts as empty or 0. Only the first wrong value is reported, in
// the `error` that all values share.
class ProfileJsonValue {
 public:
  ProfileJsonValue(const Json& json, std::string place, std::optional<Error>& error)
      : json_(json), place_(std::move(place)), error_(error) {}

  bool has(const char* key) const { return !member(json_, key).is_null(); }
  ProfileJsonValue object(const char* key) const {
    ProfileJsonValue part = at(key);
    part.must_be(part.json_.is_object(), "object");
    return part;
  }
  // Returns the elements of the JSON list with this key, or an empty list if the key is missing.
  std::vector<ProfileJsonValue> list(const char* key) const {
    const ProfileJsonValue all = at(key);
    std::vector<ProfileJsonValue> parts;
    if (!all.must_be(all.json_.is_array(), "list")) return parts;
    for (std::size_t i = 0; i < all.json_.size(); ++i) {
      parts.emplace_back(all.json_[i], fmt::format("{}/{}", all.place_, i), error_);
      if (!all.json_[i].is_object()) parts.back().refuse_kind("object");
    }
    return parts;
  }
  // Returns the strings of the JSON list with this key.
  std::vector<std::string> texts(const char* key) const {
    const ProfileJsonValue part = at(key);
    std::vector<std::string> all;
    if (!part.must_be(part.json_.is_array(), "list")) return all;
    for (std::size_t i = 0; i < part.json_.size(); ++i) {
      const ProfileJsonValue one(part.json_[i], fmt::format("{}/{}", part.place_, i), error_);
      if (one.must_be(one.json_.is_string(), "text")) {
        all.push_back(harmless(one.json_.get_ref<const std::string&>()));
      }
    }
    return all;
  }
  std::string text(const char* key) const {
    const ProfileJsonValue part = at(key);
    return part.must_be(part.json_.is_string(), "text")
               ? harmless(part.json_.get_ref<const std::string&>())
               : "";
  }
  bool flag(const char* key) const {
    const ProfileJsonValue part = at(key);
    return part.must_be(part.json_.is_boolean(), "true or false") && part.json_.get<bool>();
  }
  // Returns the number with this key, which must be from 0 to `most`. Returns 0 if the number is
  // missing or wrong. An error message describes `most` by the text `limit`.
  double figure(const char* key, double most = kMostFigure, const char* limit = "2^63") const {
    const ProfileJsonValue part = at(key);
    if (!part.must_be(part.json_.is_number(), "number")) return 0;
    const auto value = part.json_.get<double>();
    if (value >= 0 && value <= most) return value;
    part.refuse(fmt::format("it is {}, {}", part.shown(),
                            value < 0 ? "a negative number" : fmt::format("more than {}", limit)));
    return 0;
  }
  // Returns the integer with this key, which must be from 0 to `most`. Returns 0 if it is missing
  // or wrong.
  std::int64_t count(const char* key, double most = kMostCount, const char* limit = "2^53") const {
    const double value = figure(key, most, limit);
    if (value == std::floor(value)) return static_cast<std::int64_t>(value);
    const ProfileJsonValue part = at(key);
    part.refuse(fmt::format("it is {}, no whole number", part.shown()));
    return 0;
  }
  // Returns the name of the processor in the JSON member `key`, which is a list of a kind, a node
  // and an index.
  std::string processor(const char* key) const {
    const ProfileJsonValue part = at(key);
    if (!part.must_be(part.json_.is_array(), "list") || part.json_.size() != 3) return "";
    if (!part.json_[0].is_string() || !part.json_[1].is_number_integer() ||
        !part.json_[2].is_number_integer()) {
      part.refuse("it is not a kind, a node and an index");
      return "";
    }
    return fmt::format("{} {} of node {}", harmless(part.json_[0].get_ref<const std::string&>()),
                       part.json_[2].get<std::int64_t>(), part.json_[1].get<std::int64_t>());
  }
  // Returns the memory kind from the JSON member `memory`, which is a list of a kind, a node and an
  // index.
  std::string kind_of_memory() const {
    const ProfileJsonValue part = at("memory");
    if (!part.must_be(part.json_.is_array(), "list") || part.json_.empty()) return "";
    const ProfileJsonValue kind(part.json_[0], part.place_ + "/0", error_);
    return kind.must_be(kind.json_.is_string(), "text")
               ? harmless(kind.json_.get_ref<const std::string&>())
               : "";
  }
  // Reports an error about this JSON value, unless an error was reported before.
  void refuse(const std::string& why) const {
    if (error_) return;
    error_ = Error{Error::Code::kMalformed, fmt::format("{}: {}", place_, why),
                   "take what `groma run --json` prints as it is"};
  }

 private:
  ProfileJsonValue at(const char* key) const {
    return {member(json_, key), fmt::format("{}/{}", place_, key), error_};
  }
  // Returns `right`, which the caller sets to true if this JSON value has the right type. If it is
  // false and the value is not missing, reports an error that names the expected type `kind`.
  bool must_be(bool right, const char* kind) const {
    if (!right && !json_.is_null()) refuse_kind(kind);
    return right;
  }
  void refuse_kind(const char* kind) const {
    refuse(fmt::format("it is {}, where {} {} is due", shown(),
                       std::string_view(kind).starts_with('o') ? "an" : "a", kind));
  }
  std::string shown() const {
    if (json_.is_structured()) return json_.is_array() ? "a list" : "an object";
    const std::string text = json_.dump(-1, ' ', false, Json::error_handler_t::replace);
    return harmless(text, kShownValue);
  }

  const Json& json_;
  std::string place_;
  std::optional<Error>& error_;
};

// Causes of run time are merged if they have the same key. The members of the key are: what was
// done (a task, a copy and so on), the task, the region, both memory kinds, the position of the
// mapping statement, other_node and same_memory.
using CauseKey = std::tuple<std::string, std::string, std::string, std::string, std::string,
                            std::string, bool, bool>;

// Adds a cause of run time with its share of the time. If the same copy or task waited for
// different reasons, a cause with the same key exists already, and the shares are added up.
void add_cause(const ProfileJsonValue& part, const std::vector<ProfileJsonValue>& moves,
               double share, std::map<CauseKey, std::size_t>* known, ProfileFacts* facts) {
  if (share <= 0) return;
  ProfileFacts::Cause cause;
  cause.doing = part.text("doing");
  cause.task = part.text("task");
  cause.before = part.text("before");
  cause.share = share;
  const std::string reason = part.text("reason");
  // Only time spent waiting for a busy channel or processor counts as waiting. A late start does
  // not.
  if (reason == "channel" || reason == "processor") cause.waiting = share;
  if (reason == "start") cause.doing = reason;
  if (part.has("move")) {
    const double last = static_cast<double>(moves.size()) - 1;
    const std::int64_t at = part.count("move", last, "the number of the last of `moves`");
    if (at < static_cast<std::int64_t>(moves.size())) {
      const ProfileJsonValue& move = moves[static_cast<std::size_t>(at)];
      cause.region = move.text("region");
      cause.from = move.text("from");
      cause.to = move.text("to");
      cause.other_node = move.flag("other_node");
      cause.same_memory = move.flag("same_memory");
      cause.statement = move.object("by").text("text");
      cause.place = move.object("by").text("place");
      cause.bytes = move.count("bytes", kMostFigure, "2^63");
    }
  }
  const auto [at, is_new] =
      known->emplace(CauseKey(cause.doing, cause.task, cause.region, cause.from, cause.to,
                              cause.place, cause.other_node, cause.same_memory),
                     facts->causes.size());
  if (is_new) {
    facts->causes.push_back(std::move(cause));
    return;
  }
  facts->causes[at->second].share += cause.share;
  facts->causes[at->second].waiting += cause.waiting;
}

// Reads the activities and causes of the run's critical path from the profile. If the application
// measures a phase, only the time within that phase counts.
void read_path(const ProfileJsonValue& profile, double whole, ProfileFacts* facts) {
  const ProfileJsonValue path = profile.object("path");
  const std::vector<ProfileJsonValue> causes = path.list("causes"), moves = profile.list("moves");
  double measured = 0, all = 0;
  for (const ProfileJsonValue& cause : causes) {
    const double time = cause.figure("time_ps", whole, "`time_ps`");
    measured += cause.figure("measured_ps", time, "its `time_ps`");
    all += time;
  }
  // If the causes take more time than the whole run, the JSON was not written by Groma. The factor
  // allows for rounding.
  if (all > whole * (1 + 1e-9)) {
    path.refuse("the times of its `causes` add up to more than `time_ps`");
  }
  if (measured > 0) {
    facts->measured = path.text("measured");
    facts->measured_seconds = measured * kPicosecond;
  }
  const double total = measured > 0 ? measured : whole;
  const char* time = measured > 0 ? "measured_ps" : "time_ps";
  for (const ProfileJsonValue& part : measured > 0 ? causes : path.list("by_reason")) {
    const std::string doing = part.text("doing");
    (doing == "task"      ? facts->tasks
     : doing == "runtime" ? facts->runtime
                          : facts->copies) += part.figure(time, whole, "`time_ps`") / total;
  }
  std::map<CauseKey, std::size_t> known;
  for (const ProfileJsonValue& cause : causes) {
    add_cause(cause, moves, cause.figure(time) / total, &known, facts);
  }
  std::stable_sort(facts->causes.begin(), facts->causes.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
  facts->causes.resize(std::min(facts->causes.size(), kMaxCauses));
}

// Reads which data the tasks stream from which memories. `total` is the time of which shares are
// parts, in picoseconds.
void read_streams(const ProfileJsonValue& profile, double total, ProfileFacts* facts) {
  for (const ProfileJsonValue& one : profile.list("streams")) {
    if (facts->streams.size() == kMaxStreams) break;
    ProfileFacts::Stream& stream = facts->streams.emplace_back();
    stream.task = one.text("task");
    stream.kind = one.text("kind");
    stream.requirement = one.count("requirement");
    stream.names = one.texts("names");
    stream.memory = one.text("memory");
    const ProfileJsonValue by = one.object("by");
    stream.statement_number = by.count("statement", kMostStatements, "2^31");
    stream.statement = by.text("text");
    stream.place = by.text("place");
    const double time = one.figure("time_ps", total, "the measured time");
    stream.share = time / total;
    stream.bytes_per_s = one.figure("bytes") / std::max(time * kPicosecond, kPicosecond);
    const double now = one.figure("task_ps", total, "the measured time");
    for (const ProfileJsonValue& each : one.list("elsewhere")) {
      if (stream.elsewhere.size() == kMaxKinds) break;
      stream.elsewhere.push_back(
          {each.text("memory"), (now - each.figure("task_ps")) / total, each.flag("room")});
    }
  }
}

// Reads how the tasks are spread over processors. `total` is as in read_streams().
void read_spreads(const ProfileJsonValue& profile, double total, ProfileFacts* facts) {
  for (const ProfileJsonValue& one : profile.list("spreads")) {
    if (facts->spreads.size() == kMaxSpreads) break;
    ProfileFacts::Spread& spread = facts->spreads.emplace_back();
    spread.task = one.text("task");
    spread.kind = one.text("kind");
    spread.kinds = one.texts("kinds");
    spread.processors = one.count("processors");
    spread.used = one.count("used", static_cast<double>(spread.processors), "its `processors`");
    spread.points = one.count("points");
    spread.counts_all_launches = one.flag("all_launches");
    spread.dimensions = one.count("dimensions", kMaxDimensions, "the most dimensions");
    spread.nested_runs = one.count("nested_runs");
    spread.busiest = one.processor("busiest");
    for (const std::string& point : one.texts("busiest_points")) {
      if (spread.busiest_points.size() == kMaxPoints) break;
      spread.busiest_points.push_back(point.substr(0, kMaxPointBytes));
    }
    spread.busiest_point_count =
        one.count("busiest_point_count", static_cast<double>(spread.points), "its `points`");
    for (const ProfileJsonValue& each : one.list("heavy_points")) {
      if (spread.heavy_points.size() == kMaxHeavyPoints) break;
      spread.heavy_points.push_back(
          {each.text("point").substr(0, kMaxPointBytes), each.figure("weight")});
    }
    spread.lost = std::min(1.0, one.figure("lost_ps") / total);
    for (const ProfileJsonValue& each : one.list("data")) {
      if (spread.data.size() == kMaxData) break;
      spread.data.push_back({each.texts("names"), each.text("region"), each.texts("memories")});
    }
  }
  for (const ProfileJsonValue& one : profile.list("apart")) {
    const std::vector<std::string> tasks = one.texts("tasks");
    if (facts->apart.size() == kMaxPairs) break;
    if (tasks.size() != 2) {
      one.refuse("its `tasks` are not two tasks");
      break;
    }
    const std::int64_t points = one.count("points");
    facts->apart.push_back({tasks[0], tasks[1], points,
                            one.count("apart", static_cast<double>(points), "its `points`"),
                            one.texts("regions")});
  }
  const ProfileJsonValue busiest = profile.object("most_mapped");
  facts->busiest_mapper = busiest.count("node");
  facts->mapped = busiest.count("of");
  facts->most_mapped = busiest.count("mapped", static_cast<double>(facts->mapped), "its `of`");
  facts->nodes = profile.count("nodes");
  facts->could_replicate = profile.text("could_replicate");
}

// Reads all facts from the JSON object of a profile. Times are picoseconds in the JSON and seconds
// in the facts.
ProfileFacts facts_of_json(const ProfileJsonValue& profile) {
  ProfileFacts facts;
  facts.title = profile.text("title");
  facts.mapping = profile.text("mapping");
  const double whole = std::max(profile.figure("time_ps"), 1.0);
  facts.seconds = facts.measured_seconds = profile.figure("time_ps") * kPicosecond;
  read_path(profile, whole, &facts);
  const double total = std::max(facts.measured_seconds / kPicosecond, 1.0);
  read_streams(profile, total * (1 + kRounding), &facts);
  read_spreads(profile, total, &facts);
  for (const ProfileJsonValue& one : profile.list("by_kind")) {
    const double busy = one.figure("busy_ps");
    const std::int64_t processors = one.count("processors");
    const auto most = static_cast<double>(processors);
    ProfileFacts::Kind kind{one.text("kind"),
                            processors,
                            one.count("used", most, "its `processors`"),
                            busy / std::max(busy + one.figure("idle_ps"), 1.0),
                            one.figure("imbalance"),
                            one.figure("measured_busy_ps") * kPicosecond};
    if (facts.kinds.size() < kMaxKinds) facts.kinds.push_back(std::move(kind));
  }
  const double all_tasks = std::max(profile.figure("task_ps"), 1.0);
  for (const ProfileJsonValue& one : profile.list("by_task")) {
    const double time = one.figure("time_ps");
    if (facts.by_task.size() == kMaxTasks) continue;
    facts.by_task.push_back(
        {one.text("task"), one.text("kind"), time / all_tasks, one.count("runs")});
  }
  // If there are several memories of one kind, keep only the one that was fullest.
  for (const ProfileJsonValue& one : profile.list("by_memory")) {
    const std::string kind = one.kind_of_memory();
    const double capacity = one.figure("capacity_bytes");
    const double full =
        one.figure("peak_bytes", capacity, "its `capacity_bytes`") / std::max(capacity, 1.0);
    const auto same = std::find_if(facts.memories.begin(), facts.memories.end(),
                                   [&](const auto& other) { return other.kind == kind; });
    if (same == facts.memories.end()) {
      if (facts.memories.size() < kMaxKinds) facts.memories.push_back({kind, full});
    } else {
      same->full = std::max(same->full, full);
    }
  }
  return facts;
}

// Returns an error about a text that is not a profile. The error names a command that prints one.
Error no_profile(const std::string& why) {
  return {Error::Code::kMalformed, why, "`groma run --json` prints one"};
}

}  // namespace

// Accepts the whole output of `groma run --json` or only its member `profile`. Fails if the text is
// not JSON, is nested too deep, is not a profile, or has a wrong value.
Result<ProfileFacts> read_profile_facts(std::string_view json) {
  if (!within_json_bounds(json)) return no_profile("it is nested too deep or too wide");
  Json document;
  try {
    document = Json::parse(json);
  } catch (const Json::exception& error) {
    // The message of nlohmann-json has a prefix such as "[json.exception...]", which is removed.
    const std::string_view what = error.what();
    return no_profile(fmt::format("it is not JSON: {}",
                                  harmless(what.substr(what.find(']') + 2), 2 * kShownValue)));
  }
  const bool whole = member(document, "profile").is_object();
  const Json& found = whole ? member(document, "profile") : document;
  if (!member(found, "path").is_object() || member(found, "time_ps").is_null()) {
    return no_profile("it is not a profile of a run");
  }
  std::optional<Error> error;
  ProfileFacts facts = facts_of_json({found, whole ? "/profile" : "", error});
  if (error) return *error;
  // `tried` says that the suggestions in the JSON were tried in the simulator.
  if (member(document, "tried") == Json(true)) facts.tried = texts(member(document, "suggest"));
  return facts;
}

// Returns the diagnostics of a failed run as the lines of a log, which the guide can read as any
// other log. Returns nullopt if the JSON is not about a failed run.
std::optional<std::string> log_of_failed_run(std::string_view json) {
  if (!within_json_bounds(json)) return std::nullopt;
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (member(document, "status") != Json("error")) return std::nullopt;
  std::string log;
  std::vector<std::string> helps = texts(member(document, "suggest"));
  for (const Json& diagnostic : member(document, "diagnostics")) {
    const Json& start = member(diagnostic, "start");
    const std::string place = start.is_object()
                                  ? fmt::format("{}:{}:{}", text(diagnostic, "file"),
                                                count(start, "line"), count(start, "column"))
                                  : text(diagnostic, "file");
    log += fmt::format("{}: {}: {} [{}]\n", place, text(diagnostic, "severity"),
                       text(diagnostic, "message"), text(diagnostic, "id"));
    for (const Json& note : member(diagnostic, "notes")) {
      log += fmt::format("note: {}\n", text(note, "message"));
    }
    if (text(diagnostic, "severity") != "error") continue;
    // The JSON has the suggestions separately from the diagnostics. In the log, they follow the
    // first error.
    for (const std::string& help : helps) log += fmt::format("help: {}\n", help);
    helps.clear();
  }
  return log.empty() ? text(document, "raw") + "\n" : log;
}

// Writes the profile as JSON and reads the facts from the JSON, so that a profile in memory and a
// profile from another process give the same facts.
ProfileFacts facts_of(const Profile& profile, const ProfileWords& words) {
  const Json json = profile::json_of(profile, words, profile::ProfileExtent::kSums);
  std::optional<Error> error;
  return facts_of_json({json, "", error});
}

}  // namespace groma
