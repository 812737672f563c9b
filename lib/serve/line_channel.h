// Lines between the server and its client: LineReader splits the input into lines of limited
// length, and LineWriter writes whole lines without waiting for ever for a client that does not
// read.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace groma::serve {

// Reads lines from a file descriptor. One thread at a time.
class LineReader {
 public:
  enum class Status { kLine, kTooLong, kEnd, kStopped };

  // The descriptor must outlive the reader.
  LineReader(int input, std::size_t max_bytes) : input_(input), max_bytes_(max_bytes) {}
  // Waits for the next line and puts it into *line, without its line end. The last line may lack
  // its line end. A line that is too long is skipped: kTooLong. `stop` is asked several times a
  // second; kStopped once it returns true.
  Status next(std::string* line, const std::function<bool()>& stop);

 private:
  // Takes a line out of `buffer_`, if there is one.
  bool take_line(std::string* line, Status* status);
  // Reads the bytes that are there. Returns false at the end of the input.
  bool read_some();

  int input_;
  std::size_t max_bytes_;
  std::string buffer_;
  // The bytes of `buffer_` that are known to have no line end.
  std::size_t searched_ = 0;
  // True while the rest of a line that is too long is skipped.
  bool skipping_ = false;
  bool at_end_ = false;
};

// Writes lines to a file descriptor. Any number of threads.
class LineWriter {
 public:
  // The descriptors must outlive the writer. `input` is where the client writes; `stop` is asked
  // while the client does not read.
  LineWriter(int output, int input, std::function<bool()> stop)
      : output_(output), input_(input), stop_(std::move(stop)) {}
  // Writes the line and a line end. If the client has gone, or does not read any more while the
  // server has to end, nothing more is written.
  void write_line(std::string_view line);
  // Returns true if nothing more can be written.
  bool is_broken() const { return broken_; }

 private:
  // Waits until some bytes can be written without waiting. Returns false if that will never be.
  bool wait_for_room();

  int output_, input_;
  std::function<bool()> stop_;
  std::mutex mutex_;
  std::atomic<bool> broken_{false};
};

}  // namespace groma::serve
