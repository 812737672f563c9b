// Session: the state of a conversation with one editor, from `initialize` to `exit`. It handles one
// message at a time and never waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "groma/language_server.h"
#include "language_server/background.h"
#include "language_server/open_document.h"
#include "language_server/protocol.h"
#include "language_server/workspace_file.h"

namespace groma::language_server {

// How long a hover waits for the explanation of the decisions. After this time the answer has only
// what is known without them.
inline constexpr std::chrono::milliseconds kMaxHoverWait{1500};
// How long a known `groma.toml` counts as unchanged while a text is edited.
inline constexpr std::chrono::milliseconds kWorkspaceFileAge{1000};
// Limit on the work for the changes in one message: the bytes of the text, once for each change.
inline constexpr std::size_t kMaxChangeBytes = std::size_t{2} << 30;

class Session {
 public:
  using Clock = std::chrono::steady_clock;
  using Send = std::function<void(const Json& message)>;

  // `send` writes a message to the editor. `background` examines texts; its results are given to
  // take().
  Session(Send send, Background& background, LanguageServerOptions options);

  // Handles a message. Wrong messages are answered with an error or, if they expect no answer,
  // ignored.
  void handle(const Json& message);
  // Tells the editor that a frame or its text cannot be read.
  void handle_problem(const std::string& problem);
  // Answers a request that the editor cancelled before it was handled.
  void handle_cancelled(const Json& id);
  void take(const std::shared_ptr<const BackgroundResult>& result);
  // Publishes the diagnostics of texts that changed. Called when no message is waiting.
  void settle();
  // Answers requests that waited too long.
  void expire(Clock::time_point now);
  // Returns the time of the next expire(), if any request waits.
  std::optional<Clock::time_point> next_deadline() const;

  // Returns true after `exit`.
  bool ended() const { return ended_; }
  // Returns 0 after `shutdown` and `exit`, otherwise 1.
  int exit_code() const { return ended_ && shut_down_ ? 0 : 1; }

 private:
  // The answer to a request: a result, an error, or neither because it is answered later.
  struct Answer {
    Json result;
    std::optional<ErrorCode> error;
    std::string message;
    bool later = false;
  };
  using Request = Answer (Session::*)(const Json& id, const Json& params);
  using Notification = void (Session::*)(const Json& params);
  static const std::map<std::string, Request, std::less<>>& requests();
  static const std::map<std::string, Notification, std::less<>>& notifications();
  static Answer failed(ErrorCode code, std::string message);

  void handle_request(const std::string& method, const Json& id, const Json& params);
  void reply(const Json& id, const Answer& answer);
  void notify(const char* method, Json params);
  void ask(const char* method);

  // Requests.
  Answer initialize(const Json& id, const Json& params);
  Answer shutdown(const Json& id, const Json& params);
  Answer hover(const Json& id, const Json& params);
  Answer completion(const Json& id, const Json& params);
  Answer definition(const Json& id, const Json& params);
  Answer references(const Json& id, const Json& params);
  Answer highlights(const Json& id, const Json& params);
  Answer prepare_rename(const Json& id, const Json& params);
  Answer rename(const Json& id, const Json& params);
  Answer document_symbols(const Json& id, const Json& params);
  Answer formatting(const Json& id, const Json& params);
  Answer code_actions(const Json& id, const Json& params);
  Answer inlay_hints(const Json& id, const Json& params);

  // Notifications.
  void exit(const Json& params);
  void cancel(const Json& params);
  void open(const Json& params);
  void change(const Json& params);
  void close(const Json& params);
  void files_changed(const Json& params);

  // Returns the document that the parameters name, or null with the error in `*answer`.
  OpenDocument* document_of(const Json& params, Answer* answer);
  // A place in a document, which most requests have. `document` is null if the parameters are
  // wrong; `answer` then has the error.
  struct PlaceInDocument {
    OpenDocument* document = nullptr;
    std::size_t offset = 0;
    Answer answer;
  };
  PlaceInDocument place_of(const Json& params);
  // A place in a document, the symbols of the document, and the name at the place. `at` is null if
  // no name is at the place. The document owns what `symbols` and `at` point to.
  struct NameInDocument : PlaceInDocument {
    const Symbols* symbols = nullptr;
    const Occurrence* at = nullptr;
  };
  NameInDocument name_of(const Json& params);
  std::optional<Range> range_of(const OpenDocument& document, const Json& params) const;
  Json locations(const OpenDocument& document, const std::vector<Occurrence>& places) const;

  void take_text(OpenDocument& document, std::string text);
  void refuse_large_document(OpenDocument& document);
  void refuse_document(OpenDocument& document, std::string why);
  void submit(OpenDocument& document);
  // Finds the `groma.toml` of a document and what it says. Returns true if that is news.
  bool find_specs(OpenDocument& document);
  void refresh_specs();
  // Returns a `groma.toml` in its current state.
  const WorkspaceFile& workspace_file(const std::string& path);
  // Publishes the problems of a `groma.toml`, and of the inputs that it names.
  void publish_workspace_file(const std::string& path);
  void report_inputs(const OpenDocument& document, const LoadedInputs& inputs);
  void answer_waiting(const std::string& uri);

  Send send_;
  Background& background_;
  LanguageServerOptions options_;
  PositionEncoding encoding_ = PositionEncoding::kUtf16;
  bool initialized_ = false, shut_down_ = false, ended_ = false;
  bool hover_markdown_ = false, symbol_tree_ = false, refresh_hints_ = false;
  std::int64_t last_own_id_ = 0;
  std::uint64_t last_revision_ = 0;
  std::map<std::string, OpenDocument> documents_;
  Clock::time_point specs_found_at_;

  struct KnownWorkspaceFile {
    std::string stamp;
    WorkspaceFile file;
    // The problems of the inputs that the file names, by document.
    std::map<std::string, std::vector<WorkspaceProblem>> input_problems;
    // The diagnostics that were published last.
    std::string published;
  };
  std::map<std::string, KnownWorkspaceFile> workspace_files_;
  // Problems that were shown as a message, because they belong to no file.
  std::set<std::string> shown_problems_;

  // A hover that waits for the explanation of the decisions.
  struct WaitingHover {
    Json id;
    std::string uri;
    std::size_t offset = 0;
    Clock::time_point deadline;
  };
  std::vector<WaitingHover> waiting_;
};

}  // namespace groma::language_server
