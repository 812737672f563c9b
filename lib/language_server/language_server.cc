// serve_language(): reads messages in the calling thread, handles them in a second one, and
// examines texts in a third one.
#include "groma/language_server.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "language_server/background.h"
#include "language_server/protocol.h"
#include "language_server/session.h"

namespace groma {
namespace language_server {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;

// What happens in a session, in its order.
struct Cancelled {
  Json id;
};
struct Problem {
  std::string text;
};
struct EndOfInput {};
using Event =
    std::variant<Json, Cancelled, Problem, EndOfInput, std::shared_ptr<const BackgroundResult>>;

// The events that wait for the session. A full queue makes the reader wait.
class EventQueue {
 public:
  // Adds an event. `bytes` is the size of its message; the queue holds messages of at most twice
  // kMaxLanguageMessageBytes.
  void push(Event event, std::size_t bytes) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] {
      return closed_ || bytes_ == 0 || bytes_ + bytes <= 2 * kMaxLanguageMessageBytes;
    });
    if (closed_) return;
    bytes_ += bytes;
    events_.emplace_back(std::move(event), bytes);
    filled_.notify_one();
  }
  // Replaces a request that waits by the note that the editor cancelled it.
  void cancel(const Json& id) {
    const std::lock_guard lock(mutex_);
    for (auto& [event, bytes] : events_) {
      const Json* message = std::get_if<Json>(&event);
      const Json* found = message == nullptr ? nullptr : find(*message, {"id"});
      if (found == nullptr || *found != id || find(*message, {"method"}) == nullptr) continue;
      event = Cancelled{id};
      return;
    }
  }
  // Returns the next event. Returns nullopt if there is none until `deadline`; without a deadline
  // it waits.
  std::optional<Event> pop(std::optional<Session::Clock::time_point> deadline) {
    std::unique_lock lock(mutex_);
    const auto is_filled = [this] { return !events_.empty(); };
    if (!deadline) {
      filled_.wait(lock, is_filled);
    } else if (!filled_.wait_until(lock, *deadline, is_filled)) {
      return std::nullopt;
    }
    auto [event, bytes] = std::move(events_.front());
    events_.pop_front();
    bytes_ -= bytes;
    room_.notify_one();
    return std::move(event);
  }
  // Drops all events from now on, because nobody handles them any more.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    events_.clear();
    room_.notify_all();
  }
  bool empty() {
    const std::lock_guard lock(mutex_);
    return events_.empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_, room_;
  std::deque<std::pair<Event, std::size_t>> events_;
  std::size_t bytes_ = 0;
  bool closed_ = false;
};

// Handles events until the session ends. Returns the exit code.
int run_session(EventQueue& queue, const WriteBytes& write, const LanguageServerOptions& options) {
  bool heard = true;
  Background background(
      [&queue](std::shared_ptr<const BackgroundResult> result) {
        queue.push(std::move(result), 0);
      },
      options.log);
  Session session([&](const Json& message) { heard = heard && write(framed(message)); }, background,
                  options);
  while (heard && !session.ended()) {
    const auto event = queue.pop(session.next_deadline());
    try {
      if (!event) {
        session.expire(Session::Clock::now());
      } else if (const auto* message = std::get_if<Json>(&*event)) {
        session.handle(*message);
      } else if (const auto* cancelled = std::get_if<Cancelled>(&*event)) {
        session.handle_cancelled(cancelled->id);
      } else if (const auto* problem = std::get_if<Problem>(&*event)) {
        session.handle_problem(problem->text);
      } else if (const auto* result =
                     std::get_if<std::shared_ptr<const BackgroundResult>>(&*event)) {
        session.take(*result);
      } else {
        break;
      }
      if (queue.empty()) session.settle();
    } catch (const std::bad_alloc&) {
      // The computer has too little memory for this message. A later one may need less.
      session.handle_problem("this computer has too little memory for that");
    }
  }
  queue.close();
  return session.exit_code();
}

// Reads messages and passes them to the queue until `exit` or the end of the input.
void read_messages(const ReadBytes& read, EventQueue& queue) {
  FrameReader frames;
  std::vector<char> buffer(kReadBytes);
  int wrong = 0;
  const auto refuse = [&](std::string problem) {
    const std::size_t bytes = problem.size();
    queue.push(Problem{std::move(problem)}, bytes);
    return ++wrong < kMaxWrongFrames;
  };
  while (const std::size_t size = read(buffer.data(), buffer.size())) {
    frames.add({buffer.data(), size});
    while (auto frame = frames.next()) {
      std::string problem = std::move(frame->problem);
      std::optional<Json> message;
      if (problem.empty()) message = parse_message(frame->text, &problem);
      if (!message) {
        if (!refuse(std::move(problem))) return;
        continue;
      }
      const auto method = find_text(*message, {"method"});
      const bool is_exit = method == "exit";
      if (method == "$/cancelRequest") {
        if (const Json* id = find(*message, {"params", "id"})) queue.cancel(*id);
      }
      queue.push(std::move(*message), frame->text.size());
      if (is_exit) return;
    }
  }
}

}  // namespace
}  // namespace language_server

int serve_language(const ReadBytes& read, const WriteBytes& write,
                   const LanguageServerOptions& options) {
  language_server::EventQueue queue;
  int exit_code = 1;
  std::thread session([&] { exit_code = language_server::run_session(queue, write, options); });
  try {
    language_server::read_messages(read, queue);
  } catch (const std::bad_alloc&) {
    // Without memory for a message, the session cannot go on.
  }
  queue.push(language_server::EndOfInput{}, 0);
  session.join();
  return exit_code;
}

}  // namespace groma
