// What the guide takes from a profile, in the form that docs/commands.md gives its JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/harmless.h"
#include "groma/guide.h"
#include "profile/json_text.h"

namespace groma {
namespace {

using Json = profile::Json;

constexpr std::size_t kMaxCauses = 8;
constexpr std::size_t kMaxTasks = 8;

const Json& member(const Json& json, const char* key) {
  static const Json kNothing;
  if (!json.is_object()) return kNothing;
  const auto found = json.find(key);
  return found == json.end() ? kNothing : *found;
}
std::string text(const Json& json, const char* key) {
  const Json& value = member(json, key);
  return value.is_string() ? harmless(value.get_ref<const std::string&>()) : "";
}
double number(const Json& json, const char* key) {
  const Json& value = member(json, key);
  return value.is_number() ? value.get<double>() : 0;
}
std::int64_t count(const Json& json, const char* key) {
  const Json& value = member(json, key);
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> all;
  for (const Json& one : list) {
    if (one.is_string()) all.push_back(harmless(one.get_ref<const std::string&>()));
  }
  return all;
}

// Causes of one thing, whyever the next had to wait for it, are one here.
void add_cause(const Json& json, const Json& moves, const char* time, double total,
               ProfileFacts* facts) {
  ProfileFacts::Cause cause;
  cause.doing = text(json, "doing");
  cause.task = text(json, "task");
  cause.share = number(json, time) / total;
  if (cause.share <= 0) return;  // not measured
  const std::string reason = text(json, "reason");
  if (reason == "channel" || reason == "processor") cause.waiting = cause.share;
  const Json& index = member(json, "move");
  const std::int64_t at = index.is_number_integer() ? index.get<std::int64_t>() : -1;
  if (at >= 0 && moves.is_array() && static_cast<std::size_t>(at) < moves.size()) {
    const Json& move = moves[static_cast<std::size_t>(at)];
    const Json& by = member(move, "by");
    cause.region = text(move, "region");
    cause.from = text(move, "from");
    cause.to = text(move, "to");
    cause.other_node = member(move, "other_node") == Json(true);
    cause.same_memory = member(move, "same_memory") == Json(true);
    cause.statement = text(by, "text");
    cause.place = text(by, "place");
  }
  for (ProfileFacts::Cause& other : facts->causes) {
    if (other.doing == cause.doing && other.task == cause.task && other.region == cause.region &&
        other.from == cause.from && other.to == cause.to && other.place == cause.place &&
        other.other_node == cause.other_node && other.same_memory == cause.same_memory) {
      other.share += cause.share;
      other.waiting += cause.waiting;
      return;
    }
  }
  facts->causes.push_back(std::move(cause));
}

ProfileFacts facts_of_json(const Json& json) {
  ProfileFacts facts;
  facts.title = text(json, "title");
  double total = std::max(number(json, "time_ps"), 1.0);
  facts.seconds = facts.measured_seconds = number(json, "time_ps") * kPicosecond;
  const Json& path = member(json, "path");
  const Json& causes = member(path, "causes");
  double measured = 0;
  for (const Json& cause : causes) measured += number(cause, "measured_ps");
  if (measured > 0) {
    facts.measured = text(path, "measured");
    total = measured;
    facts.measured_seconds = measured * kPicosecond;
  }
  const char* time = measured > 0 ? "measured_ps" : "time_ps";
  for (const Json& part : measured > 0 ? causes : member(path, "by_reason")) {
    const std::string doing = text(part, "doing");
    (doing == "task"      ? facts.tasks
     : doing == "runtime" ? facts.runtime
                          : facts.copies) += number(part, time) / total;
  }
  for (const Json& cause : causes) {
    add_cause(cause, member(json, "moves"), time, total, &facts);
  }
  std::stable_sort(facts.causes.begin(), facts.causes.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
  facts.causes.resize(std::min(facts.causes.size(), kMaxCauses));
  for (const Json& one : member(json, "by_kind")) {
    const double busy = number(one, "busy_ps");
    facts.kinds.push_back({text(one, "kind"), count(one, "processors"), count(one, "used"),
                           busy / std::max(busy + number(one, "idle_ps"), 1.0),
                           number(one, "imbalance")});
  }
  const double all_tasks = std::max(number(json, "task_ps"), 1.0);
  for (const Json& one : member(json, "by_task")) {
    if (facts.by_task.size() == kMaxTasks) break;
    facts.by_task.push_back(
        {text(one, "task"), text(one, "kind"), number(one, "time_ps") / all_tasks});
  }
  for (const Json& one : member(json, "by_memory")) {
    const Json& memory = member(one, "memory");
    if (!memory.is_array() || memory.empty() || !memory[0].is_string()) continue;
    const std::string kind = harmless(memory[0].get_ref<const std::string&>());
    const double full = number(one, "peak_bytes") / std::max(number(one, "capacity_bytes"), 1.0);
    const auto same = std::find_if(facts.memories.begin(), facts.memories.end(),
                                   [&](const auto& other) { return other.kind == kind; });
    if (same == facts.memories.end()) {
      facts.memories.push_back({kind, full});
    } else {
      same->full = std::max(same->full, full);
    }
  }
  return facts;
}

}  // namespace

Result<ProfileFacts> read_profile_facts(std::string_view json) {
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  const Json& profile = member(document, "profile");
  const Json& found = profile.is_object() ? profile : document;
  if (!member(found, "path").is_object() || !member(found, "time_ps").is_number()) {
    return Error{Error::Code::kMalformed, "it is no profile of a run",
                 "`groma run --json` prints one"};
  }
  ProfileFacts facts = facts_of_json(found);
  const Json& tried = member(document, "suggest");
  if (tried.is_array()) facts.tried = texts(tried);
  return facts;
}

std::optional<std::string> failure_of_run(std::string_view json) {
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
    for (const std::string& help : helps) log += fmt::format("help: {}\n", help);
    helps.clear();
  }
  return log.empty() ? text(document, "raw") + "\n" : log;
}

ProfileFacts facts_of(const Profile& profile, const ProfileWords& words) {
  return facts_of_json(profile::json_of(profile, words));
}

}  // namespace groma
