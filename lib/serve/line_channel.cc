// Reads and writes lines with poll(), so that neither side can block the server for ever.
#include "serve/line_channel.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <optional>

namespace groma::serve {
namespace {

using Clock = std::chrono::steady_clock;

// The longest wait between two looks at whether the server has to end.
constexpr int kLookMs = 100;
// How long a client that has closed our input, or whose server has to end, may take until it reads
// our output again.
constexpr auto kMaxUnread = std::chrono::seconds(2);

}  // namespace

bool LineReader::take_line(std::string* line, Status* status) {
  const std::size_t end = buffer_.find('\n', searched_);
  if (end == buffer_.npos) {
    // The beginning of a line that is too long is dropped at once, so that memory stays bounded.
    if (buffer_.size() > max_bytes_) skipping_ = true;
    if (skipping_) buffer_.clear();
    searched_ = buffer_.size();
    if (!at_end_ || (buffer_.empty() && !skipping_)) return false;
  }
  *line = buffer_.substr(0, end);
  buffer_.erase(0, end == buffer_.npos ? end : end + 1);
  searched_ = 0;
  const bool too_long = skipping_ || line->size() > max_bytes_;
  skipping_ = false;
  if (too_long) line->clear();
  *status = too_long ? Status::kTooLong : Status::kLine;
  return true;
}

bool LineReader::read_some() {
  std::array<char, 65536> bytes;
  const ssize_t count = read(input_, bytes.data(), bytes.size());
  if (count > 0) buffer_.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

LineReader::Status LineReader::next(std::string* line, const std::function<bool()>& stop) {
  Status status = Status::kEnd;
  for (;;) {
    if (stop()) return Status::kStopped;
    if (take_line(line, &status)) return status;
    if (at_end_) return Status::kEnd;
    pollfd file{input_, POLLIN, 0};
    const int ready = poll(&file, 1, kLookMs);
    if (ready > 0) at_end_ = !read_some();
  }
}

// A pipe takes PIPE_BUF bytes without waiting if poll() says that it can be written.
bool LineWriter::wait_for_room() {
  std::optional<Clock::time_point> unread_since;
  for (;;) {
    // Without events, poll() only tells whether the client has closed its end.
    std::array<pollfd, 2> files = {pollfd{output_, POLLOUT, 0}, pollfd{input_, 0, 0}};
    const int ready = poll(files.data(), files.size(), kLookMs);
    if (ready < 0 && errno != EINTR) return false;
    if ((files[0].revents & (POLLERR | POLLNVAL)) != 0) return false;
    if ((files[0].revents & POLLOUT) != 0) return true;
    const bool must_end = (files[1].revents & (POLLHUP | POLLERR)) != 0 || (stop_ && stop_());
    if (!must_end) {
      unread_since.reset();
      // A client that has closed its end is reported at once, so this loop must not spin.
    } else if (!unread_since) {
      unread_since = Clock::now();
    } else if (Clock::now() - *unread_since > kMaxUnread) {
      return false;
    }
    if (files[1].revents != 0) poll(nullptr, 0, kLookMs / 4);
  }
}

void LineWriter::write_line(std::string_view line) {
  std::string text(line);
  text += '\n';
  std::string_view rest = text;
  const std::lock_guard lock(mutex_);
  while (!broken_ && !rest.empty()) {
    if (!wait_for_room()) {
      broken_ = true;
      return;
    }
    const ssize_t count = write(output_, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
    if (count < 0 && errno != EINTR && errno != EAGAIN) broken_ = true;
    if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace groma::serve
