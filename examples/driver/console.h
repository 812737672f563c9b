// What all subcommands share to talk to the user: terminals and colour, Ctrl-C, progress lines,
// exit codes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/harmless.h"
#include "groma/layout_overrides.h"
#include "groma/log.h"
#include "groma/machine.h"
#include "groma/result.h"
#include "groma/source.h"
#include "groma/workload.h"

namespace driver {

// The exit codes of the command. kInterrupted is what shells report for a program that Ctrl-C
// ended.
enum ExitCode : int { kFine = 0, kWrongInput = 1, kWrongUsage = 2, kInterrupted = 130 };

// Return true if the stream is a terminal and NO_COLOR is unset or empty.
bool color_on_stdout();
bool color_on_stderr();
// Returns the width of the terminal on standard output, or 100 if there is none.
int terminal_columns();
// Returns true if a line on standard error can be overwritten: standard error is a terminal that is
// not dumb.
bool can_rewrite_lines();
// Returns the width of the terminal on standard error, or 100 if there is none.
std::size_t error_columns();

using groma::visible;

// Write to standard output and to standard error, through the filter of groma/harmless.h (JSON
// stays JSON). print() returns kWrongInput when it fails (a full disk), with the reason on standard
// error.
int print(std::string_view text);
void print_error(std::string_view text);
// Write like print() and print_error(), but keep colours if the stream is a terminal that takes
// them.
int print_painted(std::string_view text);
void print_painted_error(std::string_view text);
// Prints the diagnostics on standard error.
void show_diagnostics(const groma::Diagnostics& diags);
// Overwrites the line of standard error at the cursor with the filtered text. Call this only if
// can_rewrite_lines() is true.
void rewrite_line(std::string_view text);
// Writes the output of a program that Groma runs, byte for byte, as if the program had the terminal
// to itself. Returns the same as print().
int pass_on(std::string_view bytes);
void pass_on_error(std::string_view bytes);
// Shows the diagnostics of an input: as JSON on standard output, or as text on standard error.
// Returns kWrongInput.
int fail(const groma::Diagnostics& diags, bool json);

// Prints on standard error why something cannot be done, and how to cure that. Returns kWrongInput.
int refuse(std::string_view message, std::string_view help);
inline int refuse(const groma::Error& error) { return refuse(error.message, error.help); }

// Returns the sink for log lines. It writes to standard error through spdlog.
groma::LogSink& log();

// After catch_interrupts(), Ctrl-C (or SIGTERM, SIGHUP) ends the process with exit code 130 after
// the current step. Progress callbacks call interrupted() to find out.
void catch_interrupts();
bool interrupted();

// A time limit: tells whether a number of seconds has passed since the object was made.
class Deadline {
 public:
  explicit Deadline(double seconds);
  bool over() const;
  // Returns the seconds until the deadline; 0 after it.
  double seconds_left() const;

 private:
  std::int64_t end_ms_;
};

// A progress line on standard error, for work that takes longer than two seconds. The line is shown
// only on a terminal, and the destructor removes it.
class ProgressLine {
 public:
  explicit ProgressLine(std::string_view what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  // Shows how much of the work is done. `all` must be above 0.
  void update(std::int64_t done, std::int64_t all);
  // Shows the current state and the elapsed time. This is for work of unknown size.
  void update(std::string_view state);

 private:
  // Returns true if the line should be drawn again now.
  bool due();
  void show(std::string_view state);

  std::string what_;
  std::int64_t begin_ms_;
  std::int64_t shown_ms_ = 0;
};

}  // namespace driver
