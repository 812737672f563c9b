// Makes one exchange over HTTP with libcurl. A loop in this file drives the transfer. The loop can
// tell a silent server from a slow one, and can stop the transfer at any time.
#include <arpa/inet.h>
#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <mutex>

#include "groma/version.h"
#include "llm/text.h"
#include "llm/wire.h"

namespace groma::llm {
namespace {

// The time between two checks of the limits of a transfer, in milliseconds.
constexpr int kPollMs = 40;
// The length at which the texts of headers and errors are cut, in bytes.
constexpr std::size_t kMostHeaderBytes = 1000;

// The handles of libcurl for one transfer at a time. They keep the connection open for later
// requests.
struct Channel {
  CURLM* multi = curl_multi_init();
  CURL* easy = curl_easy_init();
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }
};

// Owns a list of request headers of libcurl.
struct HeaderList {
  curl_slist* list = nullptr;
  explicit HeaderList(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) list = curl_slist_append(list, line.c_str());
  }
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;
  ~HeaderList() { curl_slist_free_all(list); }
};

// The headers of a reply that are about retries, as the server wrote them.
struct RawHeaders {
  std::string retry_after, retry_after_ms, should_retry, date;
};

// The state of one transfer, which the callbacks of libcurl write.
struct Transfer {
  CURL* easy = nullptr;
  const ExchangeControl* watch = nullptr;
  std::size_t most_bytes = 0;
  WireReply reply;
  RawHeaders headers;
  // The time at which text arrived last. Not set before the first text.
  Clock::time_point last_text;
  // How many bytes of a stream were passed to on_body.
  std::size_t given = 0;
  bool too_large = false;
};

// Returns the text without white space and control characters at both ends.
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

// Callback of libcurl for each header line of a reply: stores the headers that are needed.
std::size_t take_header(char* bytes, std::size_t, std::size_t count, void* user) {
  auto* transfer = static_cast<Transfer*>(user);
  const std::string_view line(bytes, count);
  // An interim reply (status 1xx) with headers of its own may come before the reply. Its headers
  // are dropped.
  if (line.starts_with("HTTP/")) {
    transfer->reply.content_type.clear();
    transfer->reply.server.clear();
    transfer->reply.location.clear();
    transfer->headers = {};
  }
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return count;
  std::string name(line.substr(0, colon));
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  const std::string value(trimmed(line.substr(colon + 1)));
  RawHeaders& headers = transfer->headers;
  if (name == "content-type") transfer->reply.content_type = value;
  if (name == "server") transfer->reply.server = value;
  if (name == "location") transfer->reply.location = value;
  if (name == "retry-after") headers.retry_after = value;
  if (name == "retry-after-ms") headers.retry_after_ms = value;
  if (name == "x-should-retry") headers.should_retry = value;
  if (name == "date") headers.date = value;
  return count;
}

// Callback of libcurl for the bytes of the body: appends them to the reply and, in a stream, passes
// them to on_body. Fails the transfer if the reply is larger than allowed.
std::size_t take_body(char* bytes, std::size_t, std::size_t count, void* user) {
  auto* transfer = static_cast<Transfer*>(user);
  WireReply& reply = transfer->reply;
  if (count > transfer->most_bytes - reply.body.size()) {
    transfer->too_large = true;
    return 0;
  }
  const std::string_view text(bytes, count);
  reply.body += text;
  long status = 0;
  curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
  // White space does not count as text, because some servers send it only to keep a connection
  // open.
  bool came = !trimmed(text).empty();
  if (status / 100 == 2 && reply.is_stream() && transfer->watch->on_body) {
    came = transfer->watch->on_body(std::string_view(reply.body).substr(transfer->given));
    transfer->given = reply.body.size();
  }
  if (came) transfer->last_text = Clock::now();
  return count;
}

// Opens a socket that child processes do not inherit. They would inherit a socket that libcurl
// opens by itself.
curl_socket_t open_socket(void*, curlsocktype, curl_sockaddr* address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Returns the whole text as a number; nullopt if it is not a finite number of at least 0.
std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
    return std::nullopt;
  return value;
}

// Returns how long the server asks to wait, in milliseconds. Its headers hold milliseconds,
// seconds, or a date. A date is compared with the clock of the server itself, if the server sent
// its time.
std::optional<std::int64_t> retry_after_ms(const RawHeaders& headers) {
  constexpr double kMostMs = 1e12;
  if (const auto ms = number_in(headers.retry_after_ms)) {
    return static_cast<std::int64_t>(std::min(*ms, kMostMs));
  }
  if (headers.retry_after.empty()) return std::nullopt;
  if (const auto seconds = number_in(headers.retry_after)) {
    return static_cast<std::int64_t>(std::min(*seconds * 1000, kMostMs));
  }
  const std::time_t then = curl_getdate(headers.retry_after.c_str(), nullptr);
  if (then < 0) return std::nullopt;
  const std::time_t sent = headers.date.empty() ? -1 : curl_getdate(headers.date.c_str(), nullptr);
  const std::time_t now = sent < 0 ? std::time(nullptr) : sent;
  return std::max<std::int64_t>(0, std::int64_t{then} - now) * 1000;
}

// Returns which failure a result of libcurl means.
TransportFailure failure_of(CURLcode code, const Transfer& transfer) {
  switch (code) {
    case CURLE_OK:
      return TransportFailure::kNone;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return TransportFailure::kUnknownHost;
    case CURLE_COULDNT_CONNECT:
      return TransportFailure::kRefused;
    case CURLE_OPERATION_TIMEDOUT:
      // A timeout of libcurl is always one of connecting, because set_up() sets no other timeout.
      return TransportFailure::kConnectTimeout;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return TransportFailure::kCertificate;
    case CURLE_SSL_CONNECT_ERROR:
      return TransportFailure::kTls;
    case CURLE_GOT_NOTHING:
      return TransportFailure::kClosed;
    case CURLE_PARTIAL_FILE:
      return TransportFailure::kCut;
    case CURLE_WRITE_ERROR:
      return transfer.too_large ? TransportFailure::kTooLarge : TransportFailure::kEncoding;
    case CURLE_BAD_CONTENT_ENCODING:
      return TransportFailure::kEncoding;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return TransportFailure::kNotHttp;
    default:
      return TransportFailure::kReset;
  }
}

// Returns true if the host is this computer. Accepts only names that need no name server and that
// libcurl reads in the same way.
bool is_this_computer(const std::string& host) {
  in_addr address{};
  const bool numbers = inet_pton(AF_INET, host.c_str(), &address) == 1;
  return host == "localhost" || host == "[::1]" || (numbers && ntohl(address.s_addr) >> 24 == 127);
}

// A URL that libcurl has parsed.
struct Address {
  std::unique_ptr<CURLU, void (*)(CURLU*)> url{curl_url(), curl_url_cleanup};

  // Returns false if the text is not a URL.
  bool set(const std::string& text) const {
    return curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK;
  }
  // Returns a part of the URL; an empty text if it is missing.
  std::string part(CURLUPart which) const {
    char* text = nullptr;
    curl_url_get(url.get(), which, &text, 0);
    std::string copy = text == nullptr ? "" : text;
    curl_free(text);
    return copy;
  }
};

// Sends requests over HTTP. Each request uses a Channel of its own, which is then kept for later
// requests.
class HttpTransport final : public Transport {
 public:
  HttpTransport(const ChatOptions& options, std::vector<std::string> headers)
      : options_(options), headers_(std::move(headers)) {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    const Address address;
    near_ = address.set(options.endpoint) && is_this_computer(address.part(CURLUPART_HOST));
  }

  // Sends the request and returns the reply or the failure. The key is removed from the reply.
  WireReply exchange(const WireRequest& request, const ExchangeControl& watch) override {
    std::unique_ptr<Channel> channel = take_channel();
    const HeaderList headers(headers_for(request));
    Transfer transfer;
    transfer.easy = channel->easy;
    transfer.watch = &watch;
    transfer.most_bytes = options_.max_reply_bytes;
    char why[CURL_ERROR_SIZE] = "";
    set_up(channel->easy, headers.list, request, &transfer, why);
    const auto begin = Clock::now();
    curl_multi_add_handle(channel->multi, channel->easy);
    drive(*channel, begin, &transfer, why);
    finish(*channel, begin, &transfer);
    curl_multi_remove_handle(channel->multi, channel->easy);
    curl_easy_reset(channel->easy);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(channel));
    return std::move(transfer.reply);
  }

 private:
  // Returns a channel that no other thread uses: a kept one, or a new one.
  std::unique_ptr<Channel> take_channel() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Channel>();
    std::unique_ptr<Channel> channel = std::move(free_.back());
    free_.pop_back();
    return channel;
  }

  // Returns the headers of a request. With an empty `Expect`, libcurl sends the body without
  // waiting for the permission of the server.
  std::vector<std::string> headers_for(const WireRequest& request) const {
    std::vector<std::string> lines = headers_;
    if (request.post) lines.emplace_back("Content-Type: application/json");
    if (request.stream) lines.emplace_back("Accept: text/event-stream");
    lines.emplace_back("Expect:");
    return lines;
  }

  // Sets all options of the transfer. `why` is the buffer for the error text of libcurl.
  void set_up(CURL* easy, curl_slist* headers, const WireRequest& request, Transfer* transfer,
              char* why) const {
    curl_easy_setopt(easy, CURLOPT_URL, (options_.endpoint + request.path).c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    // Redirections are not followed, because the key must not go to another address.
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    // Requests to this computer use no proxy, because a proxy would see the key.
    if (near_) curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    // With this option, a stopped transfer does not wait for the answer of a name server.
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, long{options_.connect_timeout_ms});
    // The empty text accepts every content encoding that libcurl can decode.
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_USERAGENT, fmt::format("groma/{}", kVersion).c_str());
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, why);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    if (!options_.ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, options_.ca_file.c_str());
    if (request.post) {
      curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
      curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
    }
  }

  // Stores in the reply of the transfer why the transfer failed.
  void fail(Transfer* transfer, TransportFailure failure, std::string detail) const {
    transfer->reply.failure = failure;
    transfer->reply.detail = std::move(detail);
  }

  // Runs the transfer until it ends, its deadline is over, the server is silent for too long, or
  // the caller stops it.
  void drive(const Channel& channel, Clock::time_point begin, Transfer* transfer, char* why) const {
    const auto idle = std::chrono::milliseconds(options_.idle_timeout_ms);
    if (begin >= transfer->watch->deadline) {
      return fail(transfer, TransportFailure::kTotal, "no time was left to ask");
    }
    // Each turn lets libcurl work, then checks the limits, then waits for new bytes.
    for (int running = 1;;) {
      curl_multi_perform(channel.multi, &running);
      int left = 0;
      if (const CURLMsg* message = curl_multi_info_read(channel.multi, &left)) {
        const CURLcode code = message->data.result;
        const TransportFailure failure = failure_of(code, *transfer);
        if (failure != TransportFailure::kNone)
          fail(transfer, failure, why[0] != 0 ? why : curl_easy_strerror(code));
        return;
      }
      const auto now = Clock::now();
      if (transfer->watch->stop && transfer->watch->stop()) {
        return fail(transfer, TransportFailure::kStopped, "stopped");
      }
      if (now >= transfer->watch->deadline) {
        const auto waited = std::chrono::duration<double>(now - begin).count();
        return fail(transfer, TransportFailure::kTotal,
                    fmt::format("not done after {:.1f} s", waited));
      }
      if (transfer->last_text != Clock::time_point() && now - transfer->last_text >= idle) {
        return fail(transfer, TransportFailure::kIdle,
                    fmt::format("silent for {:.1f} s", options_.idle_timeout_ms / 1e3));
      }
      curl_multi_poll(channel.multi, nullptr, 0, kPollMs, nullptr);
    }
  }

  // Fills in the rest of the reply. All texts become valid UTF-8 without the key.
  void finish(const Channel& channel, Clock::time_point begin, Transfer* transfer) const {
    WireReply& reply = transfer->reply;
    long status = 0, sent_bytes = 0;
    curl_easy_getinfo(channel.easy, CURLINFO_REQUEST_SIZE, &sent_bytes);
    reply.sent = sent_bytes > 0;
    curl_easy_getinfo(channel.easy, CURLINFO_RESPONSE_CODE, &status);
    reply.status = static_cast<int>(status);
    if (reply.failure == TransportFailure::kReset && reply.status != 0)
      reply.failure = TransportFailure::kCut;
    reply.retry_after_ms = retry_after_ms(transfer->headers);
    const std::string& word = transfer->headers.should_retry;
    if (word == "true" || word == "false") reply.should_retry = word == "true";
    const std::string& key = ChatKeyText::text_of(options_.key);
    for (std::string* text : {&reply.detail, &reply.location, &reply.server, &reply.content_type}) {
      *text = printable_line(redacted(valid_utf8(*text), key), kMostHeaderBytes);
    }
    reply.body = valid_utf8(reply.body);
    reply.body =
        reply.is_stream() ? redacted_stream(reply.body, key) : redacted_body(reply.body, key);
    reply.elapsed_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
  }

  ChatOptions options_;
  // True if the endpoint is on this computer.
  bool near_ = false;
  // The headers of every request. One of them contains the key.
  std::vector<std::string> headers_;
  std::mutex mutex_;
  // The channels (connections of libcurl) that no request uses at the moment.
  std::vector<std::unique_ptr<Channel>> free_;
};

}  // namespace

// The address must not have a password or a query. With a key, plain HTTP is accepted only to this
// computer. A missing path becomes /v1, and the name of a method at its end is dropped, since the
// client adds it.
Result<std::string> normalized_endpoint(const ChatOptions& options) {
  const std::string& given = options.endpoint;
  if (given.empty()) {
    return std::string(options.api == ChatApi::kOpenAi ? "https://api.openai.com/v1"
                                                       : "https://api.anthropic.com/v1");
  }
  if (given.starts_with("exec:")) {
    if (trimmed(given.substr(5)).empty()) {
      return Error{Error::Code::kMalformed, "`exec:` names no command"};
    }
    return given;
  }
  const Address url;
  const auto part = [&url](CURLUPart which) { return url.part(which); };
  // The error does not repeat the address, which may contain a password.
  const auto wrong = [](const std::string& why, std::string help) {
    return Error{Error::Code::kMalformed, "the endpoint " + why, std::move(help)};
  };
  const std::string example = "as in http://127.0.0.1:8080/v1 or exec:CMD";
  if (!url.set(given)) return wrong("is not an address", example);
  const std::string scheme = part(CURLUPART_SCHEME), host = part(CURLUPART_HOST);
  if (scheme != "http" && scheme != "https") return wrong("begins with no http or https", example);
  if (!part(CURLUPART_USER).empty() || !part(CURLUPART_PASSWORD).empty()) {
    return wrong("has a name or password in it", "a key goes into GROMA_API_KEY or a file");
  }
  if (!part(CURLUPART_QUERY).empty() || !part(CURLUPART_FRAGMENT).empty()) {
    return wrong("has a `?` or `#` in it", example);
  }
  if (!options.key.empty() && scheme == "http" && !is_this_computer(host)) {
    return wrong("is plain http to another computer, where the key could be read on the way",
                 "use https, or unset GROMA_API_KEY");
  }
  std::string path = part(CURLUPART_PATH);
  for (const std::string_view method : {"/chat/completions", "/messages"}) {
    while (path.ends_with('/')) path.pop_back();
    if (path.ends_with(method)) path.resize(path.size() - method.size());
  }
  if (path.empty()) path = "/v1";
  const std::string port = part(CURLUPART_PORT);
  return fmt::format("{}://{}{}{}{}", scheme, host, port.empty() ? "" : ":", port, path);
}

std::unique_ptr<Transport> make_http_transport(const ChatOptions& options,
                                               std::vector<std::string> headers) {
  return std::make_unique<HttpTransport>(options, std::move(headers));
}

}  // namespace groma::llm
