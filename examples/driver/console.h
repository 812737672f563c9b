// Shared by all subcommands: terminals and colour, reading inputs, Ctrl-C, progress lines, exit
// codes.
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

enum ExitCode : int { kFine = 0, kWrongInput = 1, kWrongUsage = 2, kInterrupted = 130 };

// Return true if the stream is a terminal and NO_COLOR is unset or empty.
bool color_on_stdout();
bool color_on_stderr();
int terminal_columns();
// Returns true if a line on standard error can be overwritten: standard error is a terminal that is
// not dumb.
bool can_rewrite_lines();
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

// Reads the source at `path` into `*diags`, which is created for it. Returns false, with the
// diagnostic kUnreadableFile in `*diags`, if the file cannot be read.
bool read_source(const std::string& path, std::optional<groma::Diagnostics>* diags);
// Reads the file (`-`: standard input) piece by piece and passes each piece to `hear`. Stops at the
// end of the file, on Ctrl-C, or when `hear` returns false. Returns false, with the reason on
// standard error, if the file cannot be read.
bool read_pieces(const std::string& path, const std::function<bool(std::string_view)>& hear);
// Returns the name for messages about an input. `-`, and for an application also `-:n=4`, is shown
// as standard input.
std::string shown_name(const std::string& spec);
// The inputs that `--machine M` and `--app A` name. Each is empty if its option is empty.
struct Inputs {
  std::optional<groma::Machine> machine;
  std::optional<groma::Application> app;  // its parameters are not set yet
  std::optional<groma::Workload> workload;
};
struct ReadOptions {
  // Called repeatedly while the application is read; true: stop; null: never stop.
  std::function<bool()> stop = {};
  // The demands of the program's own mapper on the layouts of these tasks are dropped.
  groma::LayoutOverrides override_layouts = {};
};
// Returns nothing, with the reason in `*diags`, if an input cannot be read. `*diags` is created by
// this function.
std::optional<Inputs> read_inputs(const std::string& machine, const std::string& app,
                                  std::optional<groma::Diagnostics>* diags,
                                  const ReadOptions& options = {});

// Returns the program at `path`, bound to the machine. Returns nothing, with the reason in
// `*diags`, if that fails. `*diags` is created by this function and sends its prints to log().
std::optional<groma::BoundProgram> read_mapping(const std::string& path,
                                                const groma::Machine& machine,
                                                std::optional<groma::Diagnostics>* diags);

// Returns an empty program, which stands for the default mapper.
std::optional<groma::BoundProgram> bind_default(const groma::Machine& machine,
                                                std::optional<groma::Diagnostics>* diags);

// Checks for option values. Each returns an error message, or an empty string if the value is
// valid.
std::string not_empty(const std::string& text);
// Rejects `nan`, which would pass every range check.
std::string is_number(const std::string& text);
std::string is_count(const std::string& text);    // below 10^18
std::string is_seed(const std::string& text);     // 64 bits
std::string is_above_0(const std::string& text);  // also finite

// Fails with wrong usage if more than one input is standard input, which can be read only once.
// Standard input is written `-`, or also `-:n=4` for an application.
void check_standard_input(const std::vector<std::string>& inputs);

// A file that a command writes, and the option that names the file. The paths `-` and empty do not
// stand for a file.
struct WrittenFile {
  const char* option;
  std::string path;
};
// Fails with wrong usage if one of the written files is also read or is written twice. For an
// application with parameter values, the part before the colon is compared. An entry of `read` need
// not be the name of a file.
void check_written(const std::vector<WrittenFile>& written, const std::vector<std::string>& read);
// Returns the error for the first file that cannot be written, if any. Call this before a long run.
std::optional<groma::Error> unwritable(const std::vector<WrittenFile>& written);

// Returns the sink for log lines. It writes to standard error through spdlog.
groma::LogSink& log();

// After catch_interrupts(), Ctrl-C (or SIGTERM, SIGHUP) ends the process with exit code 130 after
// the current step. Progress callbacks call interrupted() to find out.
void catch_interrupts();
bool interrupted();

// Tells whether a number of seconds has passed.
class Deadline {
 public:
  explicit Deadline(double seconds);
  bool over() const;
  double seconds_left() const;  // 0 after the end

 private:
  std::int64_t end_ms_;
};

// A progress line on standard error, for work that takes longer than two seconds. Shown only on a
// terminal.
class ProgressLine {
 public:
  explicit ProgressLine(std::string_view what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void update(std::int64_t done, std::int64_t all);
  // For work of unknown size: shows the current state and the elapsed time.
  void update(std::string_view state);

 private:
  bool due();  // true if the line should be drawn again now
  void show(std::string_view state);

  std::string what_;
  std::int64_t begin_ms_;
  std::int64_t shown_ms_ = 0;
};

}  // namespace driver
