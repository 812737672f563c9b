// Converts what a journal records to JSON and back: evaluations, steps, questions and replies. A
// journal may come from a stranger, so every value is checked when it is read.
#include "tune/recorded.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

namespace groma::tuning {

// Returns a reference to the member of the JSON, or to a static null.
const Json& member(const Json& json, const char* name) {
  static const Json kNothing;
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() ? *found : kNothing;
}

namespace {

// Writes a profile. Its lists become arrays of values without names, because a journal holds many
// profiles.
Json json_of(const ProfileFacts& facts) {
  Json json = {{"title", facts.title},
               {"mapping", facts.mapping},
               {"seconds", facts.seconds},
               {"measured", facts.measured},
               {"measured_seconds", facts.measured_seconds},
               {"tasks", facts.tasks},
               {"copies", facts.copies},
               {"runtime", facts.runtime}};
  for (const auto& cause : facts.causes) {
    json["causes"].push_back({cause.doing, cause.task, cause.region, cause.from, cause.to,
                              cause.statement, cause.place, cause.other_node, cause.share,
                              cause.waiting, cause.same_memory, cause.bytes});
  }
  for (const auto& kind : facts.kinds) {
    json["kinds"].push_back({kind.kind, kind.processors, kind.used, kind.busy, kind.imbalance});
  }
  for (const auto& task : facts.by_task) {
    json["by_task"].push_back({task.task, task.kind, task.share, task.runs});
  }
  for (const auto& memory : facts.memories) json["memories"].push_back({memory.kind, memory.full});
  // Prompts need only these values of a stream. The suggestions were made when the mapping ran, so
  // a journal needs neither the other values nor the spreads.
  for (const auto& stream : facts.streams) {
    json["streams"].push_back({stream.task, stream.kind, stream.requirement,
                               stream.names.empty() ? "" : stream.names.front(), stream.memory,
                               stream.share, stream.bytes_per_s});
  }
  return json;
}

// Returns the number if it has the type T and lies within the bounds; nullopt for anything else.
template <typename T>
std::optional<T> number(const Json& json, T least, T most) {
  std::optional<T> found;
  if constexpr (std::is_floating_point_v<T>) {
    if (json.is_number()) found = json.get<T>();
  } else if (json.is_number_unsigned()) {
    const auto value = json.get<std::uint64_t>();
    if (std::in_range<T>(value)) found = static_cast<T>(value);
  } else if (json.is_number_integer()) {
    const auto value = json.get<std::int64_t>();
    if (std::in_range<T>(value)) found = static_cast<T>(value);
  }
  return found && *found >= least && *found <= most ? found : std::nullopt;
}

// Reads the items of a JSON list in their order. If an item is missing or has another type, take()
// returns the default value of its type.
class Items {
 public:
  explicit Items(const Json& list) : list_(list) {}
  template <typename T>
  T take() {
    const std::size_t at = at_++;
    if (!list_.is_array() || at >= list_.size()) return T{};
    if constexpr (std::is_same_v<T, std::string>) {
      return list_[at].is_string() ? list_[at].template get<T>() : T{};
    } else if constexpr (std::is_same_v<T, bool>) {
      return list_[at].is_boolean() && list_[at].template get<T>();
    } else {
      using Limits = std::numeric_limits<T>;
      return number<T>(list_[at], Limits::lowest(), Limits::max()).value_or(T{});
    }
  }

 private:
  const Json& list_;
  std::size_t at_ = 0;
};

// Returns a member, or the default value of its type if the member is missing or has another type.
template <typename T>
T value(const Json& json, const char* name) {
  return Items(Json::array({member(json, name)})).take<T>();
}

// Reads the members of a JSON object. A missing member gives the default value of its type. good()
// returns false if the JSON is not an object, or if some member has another type or is out of
// bounds.
class Members {
 public:
  explicit Members(const Json& json) : json_(json), good_(json.is_object()) {}
  bool good() const { return good_; }

  bool has(const char* name) const { return json_.is_object() && json_.contains(name); }
  // Returns a number between `least` and `most`.
  template <typename T>
  T in(const char* name, T least, T most) {
    return of(name, number<T>(member(json_, name), least, most));
  }
  bool flag(const char* name) {
    const Json& found = member(json_, name);
    return of(name, found.is_boolean() ? std::optional(found.get<bool>()) : std::nullopt);
  }
  std::string text(const char* name) {
    const Json& found = member(json_, name);
    return of(name, found.is_string() ? std::optional(found.get<std::string>()) : std::nullopt);
  }
  // Returns the elements of a list member, each converted by `read`, which returns an optional.
  template <typename Read>
  auto list(const char* name, const Read& read) {
    std::vector<typename decltype(read(json_))::value_type> all;
    if (!has(name)) return all;
    good_ = good_ && json_[name].is_array();
    if (!good_) return all;
    for (const Json& each : json_[name]) {
      const auto one = read(each);
      good_ = good_ && one.has_value();
      if (one) all.push_back(*one);
    }
    return all;
  }

 private:
  // Returns the value that was found. A member that exists without a valid value makes good()
  // false.
  template <typename T>
  T of(const char* name, std::optional<T> found) {
    if (has(name) && !found) good_ = false;
    return found ? *std::move(found) : T{};
  }

  const Json& json_;
  bool good_;
};

// Returns the JSON as a text; nullopt if it is not one.
std::optional<std::string> text_in(const Json& json) {
  return json.is_string() ? std::optional(json.get<std::string>()) : std::nullopt;
}

// Limits of the values that a journal may hold, so that sums of them do not overflow.
constexpr double kMostSeconds = 1e10, kMostMoney = 1e15, kMostNumber = 1e300;
// The limit on the tokens of a reply.
constexpr std::int64_t kMostTokens = 1'000'000'000'000;
// The limit on the number of questions that are asked together.
constexpr std::size_t kMostOf = 1'000;
// Limit on the bytes of the name of a worker.
constexpr std::size_t kMaxWorkerName = 4096;
constexpr std::int64_t kMostRequirements = 1'000'000'000;

// Reads a profile. Anything that is missing gets its default value, because a profile is only shown
// and never decides.
ProfileFacts facts_of(const Json& json) {
  ProfileFacts facts;
  facts.title = value<std::string>(json, "title");
  facts.mapping = value<std::string>(json, "mapping");
  facts.seconds = value<double>(json, "seconds");
  facts.measured = value<std::string>(json, "measured");
  facts.measured_seconds = value<double>(json, "measured_seconds");
  facts.tasks = value<double>(json, "tasks");
  facts.copies = value<double>(json, "copies");
  facts.runtime = value<double>(json, "runtime");
  for (const Json& each : member(json, "causes")) {
    Items items(each);
    auto& cause = facts.causes.emplace_back();
    for (std::string* text : {&cause.doing, &cause.task, &cause.region, &cause.from, &cause.to,
                              &cause.statement, &cause.place}) {
      *text = items.take<std::string>();
    }
    cause.other_node = items.take<bool>();
    cause.share = items.take<double>();
    cause.waiting = items.take<double>();
    cause.same_memory = items.take<bool>();
    cause.bytes = items.take<std::int64_t>();
  }
  for (const Json& each : member(json, "kinds")) {
    Items items(each);
    auto& kind = facts.kinds.emplace_back();
    kind.kind = items.take<std::string>();
    kind.processors = items.take<std::int64_t>();
    kind.used = items.take<std::int64_t>();
    kind.busy = items.take<double>();
    kind.imbalance = items.take<double>();
  }
  for (const Json& each : member(json, "by_task")) {
    Items items(each);
    auto& task = facts.by_task.emplace_back();
    task.task = items.take<std::string>();
    task.kind = items.take<std::string>();
    task.share = items.take<double>();
    task.runs = items.take<std::int64_t>();
  }
  for (const Json& each : member(json, "memories")) {
    Items items(each);
    auto& memory = facts.memories.emplace_back();
    memory.kind = items.take<std::string>();
    memory.full = items.take<double>();
  }
  for (const Json& each : member(json, "streams")) {
    Items items(each);
    auto& stream = facts.streams.emplace_back();
    stream.task = items.take<std::string>();
    stream.kind = items.take<std::string>();
    stream.requirement = items.take<std::int64_t>();
    stream.names = {items.take<std::string>()};
    stream.memory = items.take<std::string>();
    stream.share = items.take<double>();
    stream.bytes_per_s = items.take<double>();
  }
  return facts;
}

// The words for Evaluation::Status, in the order of its values.
constexpr const char* kStatuses[] = {"ok", "refused", "failed", "timed out"};

}  // namespace

bool has_valid_numbers(const Evaluation& evaluation) {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  return !evaluation.ok() ||
         (std::isfinite(evaluation.score) && evaluation.score > 0 && evaluation.noise >= 0 &&
          std::isfinite(evaluation.noise) &&
          std::all_of(evaluation.values.begin(), evaluation.values.end(), is_finite));
}

// Keeps the first of several equal parents.
void keep_valid_parents(Step* step) {
  std::vector<std::int64_t> valid;
  for (const std::int64_t parent : step->proposal.parents) {
    if (valid.size() == Proposal::kMaxParents) break;
    const bool is_new = std::find(valid.begin(), valid.end(), parent) == valid.end();
    if (is_new && parent >= 1 && parent < step->number) valid.push_back(parent);
  }
  step->proposal.parents = std::move(valid);
}

// Removes the fixes, the matches and the score from the feedback, because they are only of use at
// the time of the run.
void drop_unrecorded_feedback(Evaluation* evaluation) {
  GuideFeedback& feedback = evaluation->feedback;
  feedback.fixes.clear();
  feedback.matches.clear();
  feedback.score.reset();
}

namespace {

// Adds the members of an evaluation to the JSON of a step or an estimate. Empty and default values
// are not written.
void add(const Evaluation& evaluation, Json* json) {
  const GuideFeedback& feedback = evaluation.feedback;
  Json& to = *json;
  to["status"] = kStatuses[static_cast<int>(evaluation.status)];
  to["values"] = evaluation.values;
  if (evaluation.ok()) to["score"] = evaluation.score;
  if (evaluation.noise > 0) to["noise"] = evaluation.noise;
  if (const auto& measured = evaluation.measured) {
    to["worker"] = measured->worker;
    if (measured->incumbent_value > 0) to["incumbent"] = measured->incumbent_value;
    to["drift"] = measured->drift;
  }
  if (!feedback.execution.empty()) to["execution"] = feedback.execution;
  if (!feedback.last_lines.empty()) to["last_lines"] = feedback.last_lines;
  if (!feedback.explain.empty()) to["explain"] = feedback.explain;
  if (!feedback.suggest.empty()) to["suggest"] = feedback.suggest;
  if (feedback.profile) to["profile"] = json_of(*feedback.profile);
  if (feedback.shortage) {
    to["no_room"] = {{"task", feedback.shortage->task},
                     {"requirement", feedback.shortage->requirement}};
  }
}

}  // namespace

Json json_of(const Evaluation& evaluation) {
  Json json;
  add(evaluation, &json);
  return json;
}

// Refuses evaluations with an unknown status, with numbers out of bounds, or with values for which
// has_valid_numbers() is false.
std::optional<Evaluation> evaluation_of(const Json& json) {
  Members members(json);
  Evaluation evaluation;
  const std::string status = members.text("status");
  const auto* known = std::find(std::begin(kStatuses), std::end(kStatuses), status);
  if (known == std::end(kStatuses)) return std::nullopt;
  evaluation.status = static_cast<Evaluation::Status>(known - std::begin(kStatuses));
  evaluation.values = members.list(
      "values", [](const Json& each) { return number<double>(each, -kMostNumber, kMostNumber); });
  if (evaluation.ok()) evaluation.score = members.in("score", 0.0, kMostNumber);
  evaluation.noise = members.in("noise", 0.0, kMostNumber);
  if (members.has("worker")) {
    evaluation.measured = {members.text("worker").substr(0, kMaxWorkerName),
                           members.in("incumbent", 0.0, kMostNumber),
                           members.in("drift", 0.0, kMostNumber)};
  }
  GuideFeedback& feedback = evaluation.feedback;
  feedback.status = evaluation.ok() ? GuideFeedback::Status::kOk : GuideFeedback::Status::kError;
  feedback.execution = members.text("execution");
  feedback.last_lines = members.list("last_lines", text_in);
  feedback.explain = members.list("explain", text_in);
  feedback.suggest = members.list("suggest", text_in);
  if (members.has("profile")) feedback.profile = facts_of(member(json, "profile"));
  if (members.has("no_room")) {
    Members shortage(member(json, "no_room"));
    feedback.shortage = {shortage.text("task"),
                         shortage.in("requirement", std::int64_t{0}, kMostRequirements)};
    if (!shortage.good()) return std::nullopt;
  }
  if (!members.good() || !has_valid_numbers(evaluation)) return std::nullopt;
  return evaluation;
}

// Writes the members of the evaluation into the same JSON object as those of the step.
Json json_of(const RecordedStep& recorded) {
  const Step& step = recorded.step;
  Json json = {{"number", step.number}, {"text", step.proposal.text}, {"why", step.proposal.why}};
  add(step.evaluation, &json);
  if (step.proposal.tag != 0) json["tag"] = step.proposal.tag;
  if (!step.proposal.parents.empty()) json["parents"] = step.proposal.parents;
  if (recorded.within_noise) json["within_noise"] = true;
  if (recorded.repeated) json["repeated"] = true;
  if (recorded.free) json["free"] = true;
  if (recorded.again) json["again"] = true;
  if (recorded.seconds > 0) json["seconds"] = recorded.seconds;
  return json;
}

// Refuses a step whose number is not at least 1, and parents that are not different earlier steps.
std::optional<RecordedStep> step_from_json(const Json& json) {
  using Limits = std::numeric_limits<std::int64_t>;
  auto evaluation = evaluation_of(json);
  Members members(json);
  RecordedStep recorded;
  recorded.step.number = members.in("number", std::int64_t{1}, Limits::max());
  recorded.step.proposal.text = members.text("text");
  recorded.step.proposal.why = members.text("why");
  recorded.step.proposal.tag = members.in("tag", Limits::min(), Limits::max());
  // The size is checked first, so that a forged list is not copied.
  if (member(json, "parents").size() > Proposal::kMaxParents) return std::nullopt;
  recorded.step.proposal.parents = members.list(
      "parents", [](const Json& each) { return number(each, std::int64_t{1}, Limits::max()); });
  recorded.within_noise = members.flag("within_noise");
  recorded.repeated = members.flag("repeated");
  recorded.free = members.flag("free");
  recorded.again = members.flag("again");
  recorded.seconds = members.in("seconds", 0.0, kMostSeconds);
  if (!evaluation || !members.good()) return std::nullopt;
  const std::size_t parents = recorded.step.proposal.parents.size();
  keep_valid_parents(&recorded.step);
  if (recorded.step.proposal.parents.size() != parents) return std::nullopt;
  recorded.step.evaluation = *std::move(evaluation);
  return recorded;
}

std::optional<double> end_from_json(const Json& json) {
  return number(member(json, "seconds"), 0.0, kMostSeconds);
}

namespace {
// The words for llm::ChatMessage::Role, in the order of its values.
constexpr const char* kRoles[] = {"system", "user", "assistant"};
}  // namespace

// Writes everything in a request that decides its reply. A resumed search compares this JSON with
// its own questions.
Json json_of(const llm::ChatRequest& request) {
  Json json;
  for (const llm::ChatMessage& message : request.messages) {
    json["messages"].push_back({kRoles[static_cast<int>(message.role)], message.text});
  }
  if (request.temperature) json["temperature"] = *request.temperature;
  if (request.seed) json["seed"] = *request.seed;
  json["max_tokens"] = request.max_tokens;
  if (request.no_thinking) json["no_thinking"] = true;
  if (!request.constraint.json_schema.empty()) json["schema"] = request.constraint.json_schema;
  if (!request.constraint.gbnf.empty()) json["gbnf"] = request.constraint.gbnf;
  if (!request.constraint.lark.empty()) json["lark"] = request.constraint.lark;
  return json;
}

// A reply has `text`; an error has `error` and `message`.
Json json_of(const RecordedReply& recorded) {
  Json json = {{"of", recorded.question}};
  if (const auto& reply = recorded.reply) {
    json["text"] = reply->text;
    json["finish"] = static_cast<int>(reply->finish);
    json["input_tokens"] = reply->usage.input_tokens;
    json["output_tokens"] = reply->usage.output_tokens;
    if (!reply->reasoning.empty()) json["reasoning"] = reply->reasoning;
    if (reply->money) json["money"] = *reply->money;
  } else {
    json["error"] = static_cast<int>(reply.error().code);
    json["message"] = reply.error().message;
  }
  if (recorded.tokens > 0) json["spent_tokens"] = recorded.tokens;
  if (recorded.money > 0) json["spent_money"] = recorded.money;
  if (recorded.estimated) json["estimated"] = true;
  return json;
}

// Each message of a question is written as a list of its role and its text.
std::vector<std::string> message_texts(const Json& request) {
  std::vector<std::string> all;
  for (const Json& message : member(request, "messages")) {
    Items items(message);
    // Skips the role of the message, which stands before its text.
    items.take<std::string>();
    all.push_back(items.take<std::string>());
  }
  return all;
}

// Refuses a reply that has neither a text nor an error, or that does not name its question.
std::optional<RecordedReply> reply_from_json(const Json& json) {
  Members members(json);
  RecordedReply recorded;
  recorded.question = members.in("of", std::size_t{0}, kMostOf);
  recorded.tokens = members.in("spent_tokens", std::int64_t{0}, kMostTokens);
  recorded.money = members.in("spent_money", 0.0, kMostMoney);
  recorded.estimated = members.flag("estimated");
  if (members.has("error")) {
    llm::ChatError error;
    error.code = static_cast<llm::ChatError::Code>(
        members.in("error", 0, static_cast<int>(llm::ChatError::Code::kReplay)));
    error.message = members.text("message");
    recorded.reply = std::move(error);
  } else {
    llm::ChatReply reply;
    reply.text = members.text("text");
    reply.reasoning = members.text("reasoning");
    reply.finish = static_cast<llm::ChatReply::Finish>(
        members.in("finish", 0, static_cast<int>(llm::ChatReply::Finish::kOther)));
    reply.usage.input_tokens = members.in("input_tokens", std::int64_t{0}, kMostTokens);
    reply.usage.output_tokens = members.in("output_tokens", std::int64_t{0}, kMostTokens);
    if (members.has("money")) reply.money = members.in("money", 0.0, kMostMoney);
    recorded.reply = std::move(reply);
  }
  if (!members.good() || !members.has("of")) return std::nullopt;
  if (!members.has("error") && !members.has("text")) return std::nullopt;
  return recorded;
}

}  // namespace groma::tuning
