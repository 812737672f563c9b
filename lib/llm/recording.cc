// Records exchanges as lines of JSON while they happen, and replays a recording without a network.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <unordered_map>

#include "llm/json.h"
#include "llm/text.h"

namespace groma::llm {
namespace {

// The names of ChatApi, in their order.
constexpr const char* kApiNames[] = {"openai", "anthropic"};
// Limit on the size of a recording, in bytes.
constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
// Limit on the status of a recorded reply, because an HTTP status has three digits.
constexpr std::int64_t kMostStatus = 999;

// Returns a request as a recording holds it, without the key.
json request_json(const WireRequest& request, const std::string& key) {
  json made = {{"method", request.post ? "POST" : "GET"}, {"path", request.path}};
  const json body = parse_json(redacted_request(request.body, key));
  if (request.post && !body.is_discarded()) made["body"] = body;
  return made;
}

// Returns a reply as a recording holds it. Members with their default values are not written.
json reply_json(const WireReply& reply) {
  json made = {{"status", reply.status}, {"body", reply.body}, {"elapsed_ms", reply.elapsed_ms}};
  const auto add = [&made](const char* name, const std::string& text) {
    if (!text.empty()) made[name] = text;
  };
  add("content_type", reply.content_type);
  add("server", reply.server);
  add("location", reply.location);
  add("failure", std::string(kFailureNames[static_cast<int>(reply.failure)]));
  add("detail", reply.detail);
  if (reply.is_reply_text) made["plain"] = true;
  if (!reply.sent) made["sent"] = false;
  if (reply.retry_after_ms) made["retry_after_ms"] = *reply.retry_after_ms;
  if (reply.should_retry) made["should_retry"] = *reply.should_retry;
  return made;
}

// Reads a reply back from a recording. An unknown failure becomes kReset.
WireReply reply_from(const json& value) {
  WireReply reply;
  reply.status = static_cast<int>(count_in(value, "status"));
  reply.body = text_in(value, "body");
  reply.elapsed_ms = count_in(value, "elapsed_ms");
  reply.content_type = text_in(value, "content_type");
  reply.server = text_in(value, "server");
  reply.location = text_in(value, "location");
  reply.detail = text_in(value, "detail");
  const auto* name =
      std::find(std::begin(kFailureNames), std::end(kFailureNames), text_in(value, "failure"));
  reply.failure = name == std::end(kFailureNames)
                      ? TransportFailure::kReset
                      : static_cast<TransportFailure>(name - std::begin(kFailureNames));
  const auto flag = [&value](const char* key) {
    const json* found = member(value, key);
    return found != nullptr && found->is_boolean() ? std::optional<bool>(found->get<bool>())
                                                   : std::nullopt;
  };
  reply.is_reply_text = flag("plain").value_or(false);
  reply.sent = flag("sent").value_or(true);
  reply.should_retry = flag("should_retry");
  if (member(value, "retry_after_ms") != nullptr) {
    reply.retry_after_ms = count_in(value, "retry_after_ms");
  }
  return reply;
}

// Passes exchanges on to another transport, and appends each one to the file.
class Recorder final : public Transport {
 public:
  Recorder(int file, std::string path, std::string key, std::unique_ptr<Transport> inner)
      : file_(file), path_(std::move(path)), key_(std::move(key)), inner_(std::move(inner)) {}
  ~Recorder() override { close(file_); }

  // Makes the exchange and records it. If the recording cannot be written, the exchange fails, too.
  WireReply exchange(const WireRequest& request, const ExchangeControl& watch) override {
    WireReply reply = inner_->exchange(request, watch);
    // An exchange that the caller stopped is not recorded.
    if (reply.failure == TransportFailure::kStopped) return reply;
    const std::string line =
        dump({{"request", request_json(request, key_)}, {"reply", reply_json(reply)}}) + "\n";
    if (!append(line)) {
      reply.failure = TransportFailure::kRecording;
      reply.detail = fmt::format("cannot write `{}`: {}", path_, std::strerror(errno));
    }
    return reply;
  }
  bool waits_between_attempts() const override { return inner_->waits_between_attempts(); }

  // Writes the line as a whole under a lock, since several threads may append. Returns false on an
  // error, whose number is in errno.
  bool append(std::string_view line) {
    const std::lock_guard lock(mutex_);
    while (!line.empty()) {
      const ssize_t written = write(file_, line.data(), line.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      line.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

 private:
  int file_;
  std::string path_, key_;
  std::unique_ptr<Transport> inner_;
  std::mutex mutex_;
};

// Returns where two requests differ, in at most three places: "/messages/0/content: recorded
// "..a..", now "..b.."". The developer of a prompt can see from it why a replay does not match.
std::string difference(const json& recorded, const json& now) {
  const auto value_at = [](const json& value, const std::string& place) {
    const json::json_pointer pointer(place);
    return value.contains(pointer) ? dump(value[pointer]) : std::string("nothing");
  };
  // Returns the text from a little before the first character that differs.
  const auto window = [](const std::string& text, std::size_t first) {
    const std::size_t from = first > 20 ? first - 20 : 0;
    return (from > 0 ? ".." : "") + printable_line(std::string_view(text).substr(from), 60);
  };
  std::string text;
  int places = 0;
  for (const json& change : json::diff(recorded, now)) {
    if (++places > 3) return text + "; ...";
    const std::string place = change["path"].get<std::string>();
    const std::string before = value_at(recorded, place), after = value_at(now, place);
    const auto at = std::mismatch(before.begin(), before.end(), after.begin(), after.end()).first;
    const auto first = static_cast<std::size_t>(at - before.begin());
    text += fmt::format("{}{}: recorded {}, now {}", places > 1 ? "; " : "",
                        place.empty() ? "/" : printable_line(place, 60), window(before, first),
                        window(after, first));
  }
  return text;
}

// Answers requests from a recording. A request gets the reply that was recorded for an equal
// request.
class Replay final : public Transport {
 public:
  Replay(std::string path, std::string key) : path_(std::move(path)), key_(std::move(key)) {}

  // Adds a recorded exchange. If the server refused a field of the request, notes the field.
  void add(json request, WireReply reply) {
    places_[dump(request)].push_back(lines_.size());
    const json* body = member(request, "body");
    const bool wrong = reply.status == 400 || reply.status == 422;
    const auto error = wrong ? read_error(reply.body) : std::nullopt;
    const std::string field = error && body != nullptr ? refused_field(*error, dump(*body)) : "";
    if (!field.empty()) refused_.insert(field);
    lines_.push_back({std::move(request), std::move(reply), false});
  }

  // Returns the reply of the first equal request that was not used yet. Threads may ask in another
  // order than in the recording. A list of models may be used any number of times.
  WireReply exchange(const WireRequest& request, const ExchangeControl& watch) override {
    const json wanted = request_json(request, key_);
    const std::lock_guard lock(mutex_);
    Line* line = find(dump(wanted), !request.post);
    if (line == nullptr) return missing(wanted);
    line->used = true;
    const WireReply& reply = line->reply;
    if (reply.is_stream() && reply.status / 100 == 2 && watch.on_body) watch.on_body(reply.body);
    return reply;
  }
  bool waits_between_attempts() const override { return false; }
  std::optional<std::size_t> position_of_answer(const WireRequest& request) override {
    const std::string wanted = dump(request_json(request, key_));
    const std::lock_guard lock(mutex_);
    const Line* line = find(wanted, !request.post);
    return line == nullptr ? std::nullopt : std::optional<std::size_t>(line - lines_.data());
  }
  std::vector<std::string> refused_fields() const override {
    return {refused_.begin(), refused_.end()};
  }

 private:
  // One recorded exchange. `used` is true once its reply was given.
  struct Line {
    json request;
    WireReply reply;
    bool used = false;
  };

  // Returns the first unused line with this request; null if there is none. With `again`, may
  // return a used line.
  Line* find(const std::string& wanted, bool again) {
    const auto found = places_.find(wanted);
    if (found == places_.end()) return nullptr;
    std::deque<std::size_t>& places = found->second;
    while (places.size() > 1 && lines_[places.front()].used) places.pop_front();
    Line& line = lines_[places.front()];
    return line.used && !again ? nullptr : &line;
  }

  // Returns the unused line whose request is most similar to `wanted`; null if all lines were used.
  // The similarity is the number of equal characters at the beginning and at the end.
  const Line* nearest(const json& wanted) const {
    const std::string text = dump(wanted);
    const Line* best = nullptr;
    std::ptrdiff_t most = -1;
    for (const Line& line : lines_) {
      if (line.used) continue;
      const std::string other = dump(line.request);
      const auto first = std::mismatch(text.begin(), text.end(), other.begin(), other.end());
      const auto last = std::mismatch(text.rbegin(), text.rend(), other.rbegin(), other.rend());
      const auto alike = (first.first - text.begin()) + (last.first - text.rbegin());
      if (alike > most) best = &line;
      most = std::max(most, alike);
    }
    return best;
  }

  // Returns the failure for a request that is not in the recording. Its detail says how the most
  // similar recorded request differs.
  WireReply missing(const json& wanted) const {
    WireReply reply;
    reply.failure = TransportFailure::kRecording;
    const Line* line = nearest(wanted);
    reply.detail =
        line == nullptr
            ? fmt::format("`{}` holds {} exchanges, and all were given", path_, lines_.size())
            : fmt::format("this request is not the one recorded in `{}` line {}: {}", path_,
                          line - lines_.data() + 2, difference(line->request, wanted));
    return reply;
  }

  std::vector<Line> lines_;
  // The numbers of the lines with each request.
  std::unordered_map<std::string, std::deque<std::size_t>> places_;
  std::set<std::string> refused_;
  std::string path_, key_;
  std::mutex mutex_;
};

// Reads the first line of a recording. Returns nullopt if the file is not a recording by Groma.
std::optional<RecordingOrigin> head_of(std::string_view line) {
  const json head = parse_json(line);
  if (count_in(head, "groma_chat_recording") != 1) return std::nullopt;
  RecordingOrigin recorded;
  if (text_in(head, "api") == kApiNames[1]) recorded.api = ChatApi::kAnthropic;
  recorded.endpoint = text_in(head, "endpoint");
  return recorded;
}

}  // namespace

// Creates the file and writes its first line. Fails if the file exists.
Result<std::unique_ptr<Transport>> make_recording_transport(const ChatOptions& options,
                                                            std::unique_ptr<Transport> inner) {
  const std::string& path = options.record;
  // A recording is never overwritten, because it may have cost money. Only the user may read the
  // file.
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("cannot record to `{}`: {}", path, std::strerror(errno))};
  }
  const std::string& key = ChatKeyText::text_of(options.key);
  auto recorder = std::make_unique<Recorder>(file, path, key, std::move(inner));
  const json head = {{"groma_chat_recording", 1},
                     {"api", kApiNames[static_cast<int>(options.api)]},
                     {"endpoint", options.endpoint}};
  if (!recorder->append(dump(head) + "\n")) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("cannot write `{}`: {}", path, std::strerror(errno))};
  }
  return std::unique_ptr<Transport>(std::move(recorder));
}

// Reads a recording of at most 256 MiB. Its first line names the endpoint that was recorded.
Result<std::unique_ptr<Transport>> make_replay_transport(const ChatOptions& options,
                                                         RecordingOrigin* recorded) {
  const std::string& path = options.replay;
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("cannot read `{}`: {}", path,
                             unknown ? unknown.message() : std::string("it is not a file"))};
  }
  if (std::filesystem::file_size(path, unknown) > kMaxBytes) {
    return Error{Error::Code::kTooLarge, fmt::format("`{}` is larger than 256 MiB", path)};
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("cannot read `{}`: {}", path, std::strerror(errno))};
  }
  auto replay = std::make_unique<Replay>(path, ChatKeyText::text_of(options.key));
  std::size_t number = 0;
  for (std::string text; std::getline(file, text);) {
    const auto wrong = [&](std::string_view why) {
      return Error{Error::Code::kMalformed, fmt::format("`{}` line {}: {}", path, number, why)};
    };
    if (++number == 1) {
      const auto head = head_of(text);
      if (!head) return wrong("no recording of a chat");
      *recorded = *head;
      continue;
    }
    const json value = parse_json(text);
    const json* request = member(value, "request");
    const json* reply = member(value, "reply");
    // A killed recorder may have left half a line.
    if ((request == nullptr || reply == nullptr) && file.peek() == std::char_traits<char>::eof())
      break;
    if (request == nullptr || reply == nullptr || count_in(*reply, "status") > kMostStatus) {
      return wrong("no exchange");
    }
    replay->add(*request, reply_from(*reply));
  }
  if (number == 0) return Error{Error::Code::kMalformed, fmt::format("`{}` is empty", path)};
  return std::unique_ptr<Transport>(std::move(replay));
}

}  // namespace groma::llm
