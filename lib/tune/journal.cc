// The journal of a search: reading, writing and replaying its lines, and their JSON.
#include "tune/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/json_bounds.h"
#include "base/regular_file.h"
#include "groma/harmless.h"
#include "llm/text.h"
#include "system/sync.h"

namespace groma::tuning {
namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{64} << 20;
// Smaller, because the first line is parsed before anything else about the search is known.
constexpr std::size_t kMaxFirstLineBytes = std::size_t{8} << 20;

const Json& member(const Json& json, const char* name) {
  static const Json kNothing;
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() ? *found : kNothing;
}

Error cannot(const char* what, const std::string& path, int code) {
  return {Error::Code::kUnreadable,
          fmt::format("cannot {} `{}`: {}", what, path, std::strerror(code))};
}

constexpr std::string_view kFirst = "{\"search\":";

// Returns true if a journal ends within its first line, because the process ended or the disk was
// full.
bool is_broken_off(const std::string& journal) {
  auto lines = Lines::open(journal);
  if (!lines) return false;
  std::string line;
  if (!lines->next(&line)) return true;
  return !lines->whole() && !lines->too_long() &&
         (line.starts_with(kFirst) || kFirst.starts_with(line));
}

Error malformed(const std::string& path, std::int64_t line, std::string_view why,
                std::string help) {
  return {Error::Code::kMalformed, fmt::format("{}:{}: {}", path, line, why), std::move(help)};
}

Error damaged_line(const std::string& path, std::int64_t line, std::string_view what) {
  return malformed(path, line, fmt::format("the journal is damaged here{}", what),
                   fmt::format("what stands before line {} can be used: remove the rest", line));
}

// Marks a text that has one character for each byte: U+10FFFD, a private-use character.
constexpr std::string_view kBytes = "\xF4\x8F\xBF\xBD";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

std::string characters_of(const std::string& bytes) {
  if (!bytes.starts_with(kBytes) && llm::valid_utf8(bytes) == bytes) return bytes;
  std::string text(kBytes);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) text += static_cast<char>(0xC0U | byte >> 6U);
    text += byte < 0x80 ? c : static_cast<char>(0x80U | (byte & 0x3FU));
  }
  return text;
}

namespace {

// Undoes characters_of().
std::string bytes_of(const std::string& text) {
  if (!text.starts_with(kBytes)) return text;
  std::string bytes;
  for (std::size_t i = kBytes.size(); i < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    if (first < 0x80 || i + 1 == text.size()) {
      bytes += text[i];
    } else {
      bytes +=
          static_cast<char>((first & 3U) << 6U | (static_cast<unsigned char>(text[++i]) & 63U));
    }
  }
  return bytes;
}

// Returns an error if a file that the search depends on, such as the machine, has changed since the
// search began.
std::optional<Error> changed(const std::string& path, const Json& then, const Json& now) {
  for (const auto& [name, mark] : now.items()) {
    const Json& before = member(then, name.c_str());
    if (!before.is_string() || before == mark) continue;
    return malformed(
        path, 1,
        fmt::format("`{}` is not what it was when this search began", visible(bytes_of(name))),
        "what was found would not be about it: begin another search");
  }
  return std::nullopt;
}

template <typename Change>
void change_texts(Json& json, const Change& change) {
  if (json.is_string()) json = change(json.get_ref<const std::string&>());
  if (!json.is_structured()) return;
  for (Json& each : json) change_texts(each, change);
}

}  // namespace

Json parsed(const std::string& line) {
  if (!within_json_bounds(line)) return {Json::value_t::discarded};
  Json json = Json::parse(line, nullptr, false);
  if (line.find(kBytes) != line.npos) change_texts(json, bytes_of);
  return json;
}

std::string line_of(const Json& json) {
  return harmless_lines(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

Result<Lines> Lines::open(const std::string& path) {
  const auto file = open_regular_file(path, "read", O_RDONLY);
  if (!file) return file.error();
  Lines lines;
  lines.file_.reset(fdopen(*file, "r"));
  if (lines.file_ != nullptr) return lines;
  const int code = errno;
  close(*file);
  return cannot("read", path, code);
}

bool Lines::next(std::string* line) {
  line->clear();
  whole_ = too_long_ = false;
  const std::size_t most = std::exchange(is_first_, false) ? kMaxFirstLineBytes : kMaxLineBytes;
  for (int c = 0; !whole_ && !too_long_ && (c = getc_unlocked(file_.get())) != EOF;) {
    whole_ = c == '\n';
    too_long_ = !whole_ && line->size() == most;
    if (!whole_ && !too_long_) *line += static_cast<char>(c);
  }
  return whole_ || too_long_ || !line->empty();
}

bool Lines::at_end() {
  const int c = getc_unlocked(file_.get());
  if (c != EOF) std::ungetc(c, file_.get());
  return c == EOF;
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
  std::swap(left_out_, other.left_out_);
  std::swap(beside_start_, other.beside_start_);
  return *this;
}

// Checks the first line, finds the end of the last whole line and cuts off the rest.
Result<Journal> Journal::open(const std::string& path, const Json& search, bool resume) {
  Journal journal;
  journal.path_ = path;
  struct stat status {};
  if (!resume && lstat(path.c_str(), &status) == 0) {
    if (!is_broken_off(path)) {
      return Error{Error::Code::kUnreadable, fmt::format("`{}` holds a search already", path),
                   "resume it, or name another directory"};
    }
    unlink(path.c_str());
  }
  const auto file = open_regular_file(path, resume ? "read" : "write",
                                      O_RDWR | O_APPEND | (resume ? 0 : O_CREAT | O_EXCL));
  if (!file) return file.error();
  journal.file_ = *file;

  std::int64_t number = 0, left_out = 0;
  if (resume) {
    auto lines = Lines::open(path);
    if (!lines) return lines.error();
    for (std::string line; lines->next(&line); ++number) {
      if (lines->too_long()) {
        return damaged_line(path, number + 1, ": the line is too long");
      }
      if (!lines->whole()) break;  // the line was incomplete
      const Json read = parsed(line);
      if (!read.is_object() || read.empty()) {
        if (lines->at_end()) break;
        return damaged_line(path, number + 1, "");
      }
      const Json& begun_by = member(member(read, "search"), "version");
      if (number == 0 && begun_by.is_string() && begun_by != search["version"]) {
        return malformed(path, 1,
                         fmt::format("version {} began this search, this is {}",
                                     harmless(begun_by.get_ref<const std::string&>()),
                                     search["version"].get_ref<const std::string&>()),
                         "go on with that version, which searches as it did, or begin another");
      }
      if (number == 0) {
        if (auto error = changed(path, member(member(read, "search"), "marks"), search["marks"])) {
          return *error;
        }
      }
      if (number == 0 && read != Json{{"search", search}}) {
        return malformed(path, 1, "this is the journal of another search",
                         "resume with the options that it was begun with");
      }
      if (read.contains(kBesideStart)) {
        journal.beside_start_ = read[kBesideStart];
        ++left_out;
      }
      journal.size_ += static_cast<std::int64_t>(line.size()) + 1;
    }
    if (ftruncate(journal.file_, journal.size_) != 0) return cannot("write", path, errno);
  }
  if (number == 0) {  // the file is empty or ends within its first line
    if (auto error = journal.write("search", search, true)) {
      if (!resume) unlink(path.c_str());  // so that the search can be started again
      return *error;
    }
    const int code = system::sync_folder(std::filesystem::path(path).parent_path());
    if (code != 0) return cannot("write", path, code);
    number = 1;
  }
  journal.recorded_ = number - 1 - left_out;
  if (journal.recorded_ > 0) {
    auto lines = Lines::open(path);
    if (!lines) return lines.error();
    journal.lines_ = std::move(lines).value();
    std::string first;
    journal.lines_->next(&first);
  }
  return journal;
}

// Skips lines that are not part of the replay.
Result<Json> Journal::next(const char* about) {
  std::string line;
  Json read;
  while (lines_->next(&line)) {
    read = parsed(line);
    if (!read.is_object() || !read.contains(kBesideStart)) break;
    ++left_out_;
  }
  ++replayed_;
  if (!read.is_object() || !read.contains(about)) {
    return another_way(fmt::format("the search now comes to `{}` here", about));
  }
  return Json(std::move(read[about]));
}

Error Journal::damaged(std::string_view what) const {
  return damaged_line(path_, replayed_ + left_out_ + 1, fmt::format(": {}", what));
}

Error Journal::another_way(std::string_view what) const {
  return malformed(path_, replayed_ + left_out_ + 1, what,
                   "it was begun by another version, or what it evaluates has changed");
}

std::optional<Error> Journal::write(const char* about, const Json& value, bool lasting) {
  if (file_ < 0) return std::nullopt;
  std::string line = line_of({{about, value}});
  if (line.find(kReplacement) != line.npos || line.find(kBytes) != line.npos) {
    Json bytes = {{about, value}};
    change_texts(bytes, characters_of);
    line = line_of(bytes);
  }
  const std::size_t most = size_ == 0 ? kMaxFirstLineBytes : kMaxLineBytes;
  if (line.size() > most) {  // open() could not read such a line
    return Error{
        Error::Code::kTooLarge,
        fmt::format("`{}` cannot hold a text that takes more than {} MB in it", path_, most >> 20)};
  }
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

// The lists of a profile become arrays of values without names.
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
    json["by_task"].push_back({task.task, task.kind, task.share, task.runs});
  }
  for (const auto& memory : facts.memories) json["memories"].push_back({memory.kind, memory.full});
  return json;
}

// Returns a number within the bounds; nullopt for anything else.
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

// Takes the items of a JSON list in turn. A missing item, or one of another type, is a default
// value.
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

template <typename T>
T value(const Json& json, const char* name) {
  return Items(Json::array({member(json, name)})).take<T>();
}

// Takes the members of a JSON object. A missing member is a default value. good() is false if the
// JSON is not an object or a member has another type or is out of bounds.
class Members {
 public:
  explicit Members(const Json& json) : json_(json), good_(json.is_object()) {}
  bool good() const { return good_; }

  bool has(const char* name) const { return json_.is_object() && json_.contains(name); }
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
  template <typename T>
  T of(const char* name, std::optional<T> found) {
    if (has(name) && !found) good_ = false;
    return found ? *std::move(found) : T{};
  }

  const Json& json_;
  bool good_;
};

std::optional<std::string> text_of(const Json& json) {
  return json.is_string() ? std::optional(json.get<std::string>()) : std::nullopt;
}

constexpr double kMostSeconds = 1e10, kMostMoney = 1e15, kMostNumber = 1e300;
constexpr std::int64_t kMostTokens = 1'000'000'000'000;  // limit of the tokens of a reply
constexpr std::size_t kMostOf = 1'000;                   // limit of questions asked together
constexpr std::int64_t kMostRequirements = 1'000'000'000;

// Reads a profile; anything missing is a default value.
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
    task.runs = items.take<std::int64_t>();
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

bool sound(const Evaluation& evaluation) {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  return !evaluation.ok() ||
         (std::isfinite(evaluation.score) && evaluation.score > 0 && evaluation.noise >= 0 &&
          std::isfinite(evaluation.noise) &&
          std::all_of(evaluation.values.begin(), evaluation.values.end(), is_finite));
}

namespace {

void add(const Evaluation& evaluation, Json* json) {
  const Feedback& feedback = evaluation.feedback;
  Json& to = *json;
  to["status"] = kStatuses[static_cast<int>(evaluation.status)];
  to["values"] = evaluation.values;
  if (evaluation.ok()) to["score"] = evaluation.score;
  if (evaluation.noise > 0) to["noise"] = evaluation.noise;
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
  Feedback& feedback = evaluation.feedback;
  feedback.status = evaluation.ok() ? Feedback::Status::kOk : Feedback::Status::kError;
  feedback.execution = members.text("execution");
  feedback.last_lines = members.list("last_lines", text_of);
  feedback.explain = members.list("explain", text_of);
  feedback.suggest = members.list("suggest", text_of);
  if (members.has("profile")) feedback.profile = facts_of(member(json, "profile"));
  if (members.has("no_room")) {
    Members shortage(member(json, "no_room"));
    feedback.shortage = {shortage.text("task"),
                         shortage.in("requirement", std::int64_t{0}, kMostRequirements)};
    if (!shortage.good()) return std::nullopt;
  }
  if (!members.good() || !sound(evaluation)) return std::nullopt;
  return evaluation;
}

Json json_of(const Step& step) {
  Json json = {{"number", step.number}, {"text", step.proposal.text}, {"why", step.proposal.why}};
  add(step.evaluation, &json);
  if (step.proposal.tag != 0) json["tag"] = step.proposal.tag;
  return json;
}

std::optional<RecordedStep> step_of(const Json& json) {
  using Limits = std::numeric_limits<std::int64_t>;
  auto evaluation = evaluation_of(json);
  Members members(json);
  RecordedStep recorded;
  recorded.step.number = members.in("number", std::int64_t{1}, Limits::max());
  recorded.step.proposal.text = members.text("text");
  recorded.step.proposal.why = members.text("why");
  recorded.step.proposal.tag = members.in("tag", Limits::min(), Limits::max());
  recorded.within_noise = members.flag("within_noise");
  recorded.repeated = members.flag("repeated");
  recorded.free = members.flag("free");
  recorded.again = members.flag("again");
  recorded.seconds = members.in("seconds", 0.0, kMostSeconds);
  if (!evaluation || !members.good()) return std::nullopt;
  recorded.step.evaluation = *std::move(evaluation);
  return recorded;
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

Json json_of(const RecordedReply& recorded) {
  Json json = {{"of", recorded.of}};
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
  return json;
}

std::vector<std::string> messages_of(const Json& request) {
  std::vector<std::string> all;
  for (const Json& message : member(request, "messages")) {
    Items items(message);
    items.take<std::string>();  // the role
    all.push_back(items.take<std::string>());
  }
  return all;
}

std::optional<RecordedReply> reply_of(const Json& json) {
  Members members(json);
  RecordedReply recorded;
  recorded.of = members.in("of", std::size_t{0}, kMostOf);
  recorded.tokens = members.in("spent_tokens", std::int64_t{0}, kMostTokens);
  recorded.money = members.in("spent_money", 0.0, kMostMoney);
  if (members.has("error")) {
    ChatError error;
    error.code = static_cast<ChatError::Code>(
        members.in("error", 0, static_cast<int>(ChatError::Code::kReplay)));
    error.message = members.text("message");
    recorded.reply = std::move(error);
  } else {
    ChatReply reply;
    reply.text = members.text("text");
    reply.reasoning = members.text("reasoning");
    reply.finish = static_cast<ChatReply::Finish>(
        members.in("finish", 0, static_cast<int>(ChatReply::Finish::kOther)));
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

namespace groma {

bool holds_no_search_yet(const std::string& directory) {
  return tuning::is_broken_off(directory + "/journal.jsonl");
}

Result<RecordedSearch> recorded_search(const std::string& directory) {
  const std::string path = directory + "/journal.jsonl";
  auto lines = tuning::Lines::open(path);
  if (!lines && std::filesystem::exists(path)) return lines.error();
  std::string line;
  if (lines && lines->next(&line) && lines->too_long()) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("the search in `{}` says in more than {} MB what it is", directory,
                             tuning::kMaxFirstLineBytes >> 20)};
  }
  const tuning::Json first = tuning::parsed(line);
  const tuning::Json& search = tuning::member(first, "search");
  if (!search.is_object()) {
    const bool begins = holds_no_search_yet(directory);
    return Error{
        Error::Code::kUnreadable, fmt::format("there is no search in `{}`", directory),
        begins ? "it ended before it had begun: begin it again, in the same directory" : ""};
  }
  return RecordedSearch{tuning::value<std::string>(search, "of"),
                        tuning::value<std::string>(search, "start")};
}

}  // namespace groma
