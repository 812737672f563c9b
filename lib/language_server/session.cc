// The life of a session, and the dispatch of messages. The requests about documents are in
// session_requests.cc, the documents themselves in session_documents.cc.
#include "language_server/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "groma/harmless.h"
#include "groma/version.h"

namespace groma::language_server {
namespace {

constexpr std::size_t kMaxMethodBytes = 100;

bool is_id(const Json& id) { return id.is_string() || id.is_number_integer(); }

// Returns the encoding of positions: UTF-8 if the client knows it, otherwise the default.
PositionEncoding choose_encoding(const Json& params) {
  const Json* offered = find(params, {"capabilities", "general", "positionEncodings"});
  if (offered == nullptr || !offered->is_array()) return PositionEncoding::kUtf16;
  for (const auto encoding :
       {PositionEncoding::kUtf8, PositionEncoding::kUtf16, PositionEncoding::kUtf32}) {
    for (const Json& each : *offered) {
      if (each.is_string() && each.get_ref<const std::string&>() == name_of(encoding)) {
        return encoding;
      }
    }
  }
  return PositionEncoding::kUtf16;
}

// Returns true if the list behind the path contains the text.
bool lists(const Json& params, std::initializer_list<const char*> path, std::string_view text) {
  const Json* list = find(params, path);
  return list != nullptr && list->is_array() &&
         std::any_of(list->begin(), list->end(), [&](const Json& each) {
           return each.is_string() && each.get_ref<const std::string&>() == text;
         });
}

Json capabilities(PositionEncoding encoding) {
  return {
      {"positionEncoding", name_of(encoding)},
      {"textDocumentSync", {{"openClose", true}, {"change", 2}, {"save", true}}},
      {"hoverProvider", true},
      {"completionProvider", {{"triggerCharacters", {"."}}}},
      {"definitionProvider", true},
      {"referencesProvider", true},
      {"documentHighlightProvider", true},
      {"renameProvider", {{"prepareProvider", true}}},
      {"documentSymbolProvider", true},
      {"documentFormattingProvider", true},
      {"codeActionProvider", {{"codeActionKinds", {"quickfix", "source.fixAll"}}}},
      {"inlayHintProvider", true},
  };
}

}  // namespace

Session::Session(Send send, Background& background, LanguageServerOptions options)
    : send_(std::move(send)), background_(background), options_(std::move(options)) {}

const std::map<std::string, Session::Request, std::less<>>& Session::requests() {
  static const std::map<std::string, Request, std::less<>> all = {
      {"initialize", &Session::initialize},
      {"shutdown", &Session::shutdown},
      {"textDocument/hover", &Session::hover},
      {"textDocument/completion", &Session::completion},
      {"textDocument/definition", &Session::definition},
      {"textDocument/references", &Session::references},
      {"textDocument/documentHighlight", &Session::highlights},
      {"textDocument/prepareRename", &Session::prepare_rename},
      {"textDocument/rename", &Session::rename},
      {"textDocument/documentSymbol", &Session::document_symbols},
      {"textDocument/formatting", &Session::formatting},
      {"textDocument/codeAction", &Session::code_actions},
      {"textDocument/inlayHint", &Session::inlay_hints},
  };
  return all;
}

const std::map<std::string, Session::Notification, std::less<>>& Session::notifications() {
  static const std::map<std::string, Notification, std::less<>> all = {
      {"exit", &Session::exit},
      {"$/cancelRequest", &Session::cancel},
      {"textDocument/didOpen", &Session::open},
      {"textDocument/didChange", &Session::change},
      {"textDocument/didSave", &Session::files_changed},
      {"textDocument/didClose", &Session::close},
      {"workspace/didChangeWatchedFiles", &Session::files_changed},
  };
  return all;
}

Session::Answer Session::failed(ErrorCode code, std::string message) {
  Answer answer;
  answer.error = code;
  answer.message = std::move(message);
  return answer;
}

void Session::handle(const Json& message) {
  if (ended_) return;
  const auto method = find_text(message, {"method"});
  const Json* id = find(message, {"id"});
  const Json* version = find(message, {"jsonrpc"});
  const bool is_message = message.is_object() && version != nullptr && *version == "2.0";
  // A reply of the editor, such as to a refresh of hints, needs no answer.
  if (is_message && !method && id != nullptr &&
      (message.contains("result") || message.contains("error"))) {
    return;
  }
  if (!is_message || !method || (id != nullptr && !is_id(*id))) {
    const Json for_id = id != nullptr && is_id(*id) ? *id : Json();
    return reply(for_id, failed(ErrorCode::kInvalidRequest, "not a message of JSON-RPC 2.0"));
  }
  const Json* found = find(message, {"params"});
  const Json params = found != nullptr ? *found : Json();
  if (id != nullptr) return handle_request(*method, *id, params);
  const auto handler = notifications().find(*method);
  if (handler == notifications().end()) return;
  // Before `initialize` and after `shutdown`, everything except `exit` is ignored.
  if (handler->second != &Session::exit && (!initialized_ || shut_down_)) return;
  (this->*handler->second)(params);
}

void Session::handle_request(const std::string& method, const Json& id, const Json& params) {
  const auto handler = requests().find(method);
  const bool is_initialize = method == "initialize";
  Answer answer;
  if (shut_down_) {
    answer = failed(ErrorCode::kInvalidRequest, "the server was shut down");
  } else if (!initialized_ && !is_initialize) {
    answer = failed(ErrorCode::kServerNotInitialized, "`initialize` comes first");
  } else if (initialized_ && is_initialize) {
    answer = failed(ErrorCode::kInvalidRequest, "`initialize` was sent before");
  } else if (handler == requests().end()) {
    answer = failed(ErrorCode::kMethodNotFound,
                    fmt::format("there is no method `{}`", harmless(method, kMaxMethodBytes)));
  } else {
    answer = (this->*handler->second)(id, params);
  }
  if (!answer.later) reply(id, answer);
}

void Session::handle_problem(const std::string& problem) {
  reply(nullptr, failed(ErrorCode::kParseError, problem));
}

void Session::handle_cancelled(const Json& id) {
  reply(id, failed(ErrorCode::kRequestCancelled, "cancelled"));
}

void Session::reply(const Json& id, const Answer& answer) {
  Json message = {{"jsonrpc", "2.0"}, {"id", id}};
  if (answer.error) {
    message["error"] = {{"code", static_cast<int>(*answer.error)}, {"message", answer.message}};
  } else {
    message["result"] = answer.result;
  }
  send_(message);
}

void Session::notify(const char* method, Json params) {
  send_({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

void Session::ask(const char* method) {
  send_({{"jsonrpc", "2.0"}, {"id", fmt::format("groma-{}", ++last_own_id_)}, {"method", method}});
}

Session::Answer Session::initialize(const Json&, const Json& params) {
  if (!params.is_object()) return failed(ErrorCode::kInvalidParams, "parameters are missing");
  initialized_ = true;
  encoding_ = choose_encoding(params);
  hover_markdown_ =
      lists(params, {"capabilities", "textDocument", "hover", "contentFormat"}, "markdown");
  symbol_tree_ = find_flag(params, {"capabilities", "textDocument", "documentSymbol",
                                    "hierarchicalDocumentSymbolSupport"});
  refresh_hints_ = find_flag(params, {"capabilities", "workspace", "inlayHint", "refreshSupport"});
  if (const auto machine = find_text(params, {"initializationOptions", "machine"})) {
    options_.machine = *machine;
  }
  if (const auto app = find_text(params, {"initializationOptions", "app"})) options_.app = *app;
  Answer answer;
  answer.result = {{"capabilities", capabilities(encoding_)},
                   {"serverInfo", {{"name", "groma"}, {"version", kVersion}}}};
  return answer;
}

Session::Answer Session::shutdown(const Json&, const Json&) {
  shut_down_ = true;
  for (auto& [uri, document] : documents_) background_.forget(uri);
  while (!waiting_.empty()) {
    handle_cancelled(waiting_.back().id);
    waiting_.pop_back();
  }
  return {};
}

void Session::exit(const Json&) { ended_ = true; }

// Ends the wait of a hover. All other requests are answered at once.
void Session::cancel(const Json& params) {
  const Json* id = find(params, {"id"});
  if (id == nullptr) return;
  const auto waiting = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const WaitingHover& each) { return each.id == *id; });
  if (waiting == waiting_.end()) return;
  handle_cancelled(waiting->id);
  waiting_.erase(waiting);
}

}  // namespace groma::language_server
