#include "tune/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/json_bounds.h"

namespace groma::tuning {
namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{64} << 20;

Error cannot(const char* what, const std::string& path, int code) {
  return {Error::Code::kUnreadable,
          fmt::format("cannot {} `{}`: {}", what, path, std::strerror(code))};
}

Error malformed(const std::string& path, std::int64_t line, const std::string& why,
                std::string help) {
  return {Error::Code::kMalformed, fmt::format("{}:{}: {}", path, line, why), std::move(help)};
}

}  // namespace

Error another_way(std::string message) {
  return {Error::Code::kMalformed, std::move(message),
          "it was begun by another version, or what it evaluates has changed"};
}

Json parsed(const std::string& line) {
  return within_json_bounds(line) ? Json::parse(line, nullptr, false)
                                  : Json(Json::value_t::discarded);
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Journal::~Journal() {
  if (file_ >= 0) close(file_);
}

Journal::Journal(Journal&& other) noexcept { *this = std::move(other); }

Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(size_, other.size_);
  std::swap(lines_, other.lines_);
  std::swap(replayed_, other.replayed_);
  std::swap(recorded_, other.recorded_);
  return *this;
}

Result<Journal> Journal::open(const std::string& path, const Json& search, bool resume) {
  Journal journal;
  journal.path_ = path;
  const int how = resume ? 0 : O_CREAT | O_EXCL;
  journal.file_ = ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | how, 0666);
  if (journal.file_ < 0 && !resume && errno == EEXIST) {
    return Error{Error::Code::kUnreadable, fmt::format("`{}` holds a search already", path),
                 "resume it, or name another directory"};
  }
  if (journal.file_ < 0) return cannot(resume ? "read" : "write", path, errno);

  std::int64_t number = 0;
  if (resume) {
    std::ifstream lines(path, std::ios::binary);
    for (std::string line; std::getline(lines, line); ++number) {
      if (lines.eof()) break;  // without its end: it was being written
      if (line.size() > kMaxLineBytes) {
        return malformed(path, number + 1, "the line is too long", "");
      }
      const Json read = parsed(line);
      if (!read.is_object() || read.empty()) {
        const bool last = lines.peek() == std::ifstream::traits_type::eof();
        if (last) break;
        return malformed(
            path, number + 1, "the journal is damaged here",
            fmt::format("what stands before line {} can be used: remove the rest", number + 1));
      }
      if (number == 0 && read != Json{{"search", search}}) {
        return malformed(path, 1, "this is the journal of another search",
                         "resume with the options that it was begun with");
      }
      journal.size_ += static_cast<std::int64_t>(line.size()) + 1;
    }
    if (ftruncate(journal.file_, journal.size_) != 0) return cannot("write", path, errno);
  }
  if (number == 0) {  // nothing, or not even the first line
    if (auto error = journal.write("search", search, true)) return *error;
    number = 1;
  }
  journal.recorded_ = number - 1;
  if (journal.recorded_ > 0) {
    journal.lines_.open(path, std::ios::binary);
    std::string first;
    std::getline(journal.lines_, first);
  }
  return journal;
}

Result<Json> Journal::next(const char* about) {
  std::string line;
  std::getline(lines_, line);
  ++replayed_;
  Json read = parsed(line);
  if (!read.is_object() || !read.contains(about)) {
    return another_way(
        fmt::format("{}:{}: the search now comes to `{}` here", path_, replayed_ + 1, about));
  }
  return Json(std::move(read[about]));
}

std::optional<Error> Journal::write(const char* about, const Json& value, bool lasting) {
  if (file_ < 0) return std::nullopt;
  const std::string line = line_of({{about, value}});
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t count = ::write(file_, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int code = errno;
      if (ftruncate(file_, size_) != 0) return cannot("write", path_, errno);
      return cannot("write", path_, code);
    }
    done += static_cast<std::size_t>(count);
  }
  if (lasting && fdatasync(file_) != 0 && errno != EINVAL) return cannot("write", path_, errno);
  size_ += static_cast<std::int64_t>(line.size());
  return std::nullopt;
}

// ------------------------------------------------------------------------------------------- JSON

namespace {

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
                              cause.waiting, cause.same_memory});
  }
  for (const auto& kind : facts.kinds) {
    json["kinds"].push_back({kind.kind, kind.processors, kind.used, kind.busy, kind.imbalance});
  }
  for (const auto& task : facts.by_task) {
    json["by_task"].push_back({task.task, task.kind, task.share});
  }
  for (const auto& memory : facts.memories) json["memories"].push_back({memory.kind, memory.full});
  return json;
}

// Of a list of such, in which what is not of the expected type counts as nothing.
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
      return list_[at].is_number() ? list_[at].template get<T>() : T{};
    }
  }

 private:
  const Json& list_;
  std::size_t at_ = 0;
};

const Json& member(const Json& json, const char* name) {
  static const Json kNothing;
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() ? *found : kNothing;
}

template <typename T>
T value(const Json& json, const char* name) {
  return Items(Json::array({member(json, name)})).take<T>();
}

std::vector<std::string> texts(const Json& json, const char* name) {
  std::vector<std::string> all;
  for (const Json& each : member(json, name)) {
    if (each.is_string()) all.push_back(each.get<std::string>());
  }
  return all;
}

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
  }
  for (const Json& each : member(json, "memories")) {
    Items items(each);
    auto& memory = facts.memories.emplace_back();
    memory.kind = items.take<std::string>();
    memory.full = items.take<double>();
  }
  return facts;
}

constexpr const char* kStatuses[] = {"ok", "refused", "failed", "timed out"};

}  // namespace

Json json_of(const Step& step) {
  const Evaluation& evaluation = step.evaluation;
  const Feedback& feedback = evaluation.feedback;
  Json json = {{"number", step.number},
               {"text", step.proposal.text},
               {"why", step.proposal.why},
               {"status", kStatuses[static_cast<int>(evaluation.status)]},
               {"values", evaluation.values}};
  if (evaluation.ok()) json["score"] = evaluation.score;
  if (evaluation.noise > 0) json["noise"] = evaluation.noise;
  if (step.proposal.tag != 0) json["tag"] = step.proposal.tag;
  if (!feedback.execution.empty()) json["execution"] = feedback.execution;
  if (!feedback.explain.empty()) json["explain"] = feedback.explain;
  if (!feedback.suggest.empty()) json["suggest"] = feedback.suggest;
  if (feedback.profile) json["profile"] = json_of(*feedback.profile);
  return json;
}

Step step_of(const Json& json) {
  Step step;
  step.number = value<std::int64_t>(json, "number");
  step.proposal.text = value<std::string>(json, "text");
  step.proposal.why = value<std::string>(json, "why");
  step.proposal.tag = value<std::int64_t>(json, "tag");
  Evaluation& evaluation = step.evaluation;
  const std::string status = value<std::string>(json, "status");
  for (int i = 0; i < 4; ++i) {
    if (status == kStatuses[i]) evaluation.status = static_cast<Evaluation::Status>(i);
  }
  for (const Json& each : member(json, "values")) {
    if (each.is_number()) evaluation.values.push_back(each.get<double>());
  }
  if (evaluation.ok()) evaluation.score = value<double>(json, "score");
  evaluation.noise = value<double>(json, "noise");
  Feedback& feedback = evaluation.feedback;
  feedback.status = evaluation.ok() ? Feedback::Status::kOk : Feedback::Status::kError;
  feedback.execution = value<std::string>(json, "execution");
  feedback.explain = texts(json, "explain");
  feedback.suggest = texts(json, "suggest");
  if (member(json, "profile").is_object()) feedback.profile = facts_of(member(json, "profile"));
  return step;
}

namespace {
constexpr const char* kRoles[] = {"system", "user", "assistant"};
}

Json json_of(const ChatRequest& request) {
  Json json;
  for (const ChatMessage& message : request.messages) {
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

Json json_of(const Result<ChatReply, ChatError>& reply) {
  if (!reply) {
    return {{"error", static_cast<int>(reply.error().code)}, {"message", reply.error().message}};
  }
  Json json = {{"text", reply->text},
               {"finish", static_cast<int>(reply->finish)},
               {"input_tokens", reply->usage.input_tokens},
               {"output_tokens", reply->usage.output_tokens}};
  if (!reply->reasoning.empty()) json["reasoning"] = reply->reasoning;
  if (reply->money) json["money"] = *reply->money;
  return json;
}

Result<ChatReply, ChatError> reply_of(const Json& json) {
  if (member(json, "error").is_number()) {
    ChatError error;
    error.code = static_cast<ChatError::Code>(value<int>(json, "error"));
    error.message = value<std::string>(json, "message");
    return error;
  }
  ChatReply reply;
  reply.text = value<std::string>(json, "text");
  reply.reasoning = value<std::string>(json, "reasoning");
  reply.finish = static_cast<ChatReply::Finish>(value<int>(json, "finish"));
  reply.usage.input_tokens = value<std::int64_t>(json, "input_tokens");
  reply.usage.output_tokens = value<std::int64_t>(json, "output_tokens");
  if (member(json, "money").is_number()) reply.money = value<double>(json, "money");
  return reply;
}

}  // namespace groma::tuning

namespace groma {

Result<RecordedSearch> recorded_search(const std::string& directory) {
  const std::string path = directory + "/journal.jsonl";
  std::ifstream lines(path, std::ios::binary);
  std::string line;
  std::getline(lines, line);
  const tuning::Json first = tuning::parsed(line);
  const tuning::Json& search = tuning::member(first, "search");
  if (!search.is_object()) {
    return Error{Error::Code::kUnreadable, fmt::format("there is no search in `{}`", directory)};
  }
  return RecordedSearch{tuning::value<std::string>(search, "of"),
                        tuning::value<std::string>(search, "start")};
}

}  // namespace groma
