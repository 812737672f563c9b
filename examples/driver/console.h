// What every subcommand shares: terminals and colour, reading inputs, Ctrl-C, progress, exit codes.
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

// Colour where the stream is a terminal and NO_COLOR is unset or empty.
bool color_on_stdout();
bool color_on_stderr();
int terminal_columns();
// Of standard error, where a line can be written over: on a terminal that is not dumb.
bool can_rewrite_lines();
std::size_t error_columns();

using groma::visible;

// Write to standard output and to standard error, through the filter of groma/harmless.h (JSON
// stays JSON). print() returns kWrongInput when it fails (a full disk), with the reason on standard
// error.
int print(std::string_view text);
void print_error(std::string_view text);
// As above, but keeps colours if the stream is a terminal that takes them.
int print_painted(std::string_view text);
void print_painted_error(std::string_view text);
// What is wrong with an input, on standard error.
void show_diagnostics(const groma::Diagnostics& diags);
// Writes over the line of standard error where the cursor stands; the text is filtered. Only where
// can_rewrite_lines().
void rewrite_line(std::string_view text);
// Writes what a program that runs under us wrote, byte for byte: it has the terminal as if it ran
// alone. Returns what print() does.
int pass_on(std::string_view bytes);
void pass_on_error(std::string_view bytes);
// Shows what is wrong with an input: as JSON on standard output, or as text on standard error.
// kWrongInput.
int fail(const groma::Diagnostics& diags, bool json);

// Why something cannot be done, and the cure, on standard error. kWrongInput.
int refuse(std::string_view message, std::string_view help);
inline int refuse(const groma::Error& error) { return refuse(error.message, error.help); }

// The source at `path`, or (with kUnreadableFile in `*diags`) none. `*diags` is made for it.
bool read_source(const std::string& path, std::optional<groma::Diagnostics>* diags);
// Everything that is or comes in the file (`-`: standard input), until its end, Ctrl-C or a `hear`
// that has enough (false). False, with the reason on standard error, where it cannot be read.
bool read_pieces(const std::string& path, const std::function<bool(std::string_view)>& hear);
// What is said to be wrong: `-`, of an application also `-:n=4`, is standard input.
std::string shown_name(const std::string& spec);
// What `--machine M` and `--app A` name, each nothing where it is empty.
struct Inputs {
  std::optional<groma::Machine> machine;
  std::optional<groma::Application> app;  // its parameters open
  std::optional<groma::Workload> workload;
};
struct ReadOptions {
  std::function<bool()> stop = {};  // asked now and then while the application is read; null: never
  // The application is read without what its program's own mapper asks of these tasks' layouts.
  groma::LayoutOverrides override_layouts = {};
};
// Nothing, with the reason in `*diags`, which is made for it.
std::optional<Inputs> read_inputs(const std::string& machine, const std::string& app,
                                  std::optional<groma::Diagnostics>* diags,
                                  const ReadOptions& options = {});

// The program at `path`, bound to the machine, or none, with the reason in `*diags`, which is made
// for it and gets what it prints to log().
std::optional<groma::BoundProgram> read_mapping(const std::string& path,
                                                const groma::Machine& machine,
                                                std::optional<groma::Diagnostics>* diags);

// An empty program, which stands for the default mapper.
std::optional<groma::BoundProgram> bind_default(const groma::Machine& machine,
                                                std::optional<groma::Diagnostics>* diags);

// Checks of values: what is wrong with one, or nothing.
std::string not_empty(const std::string& text);
std::string is_number(const std::string& text);   // not `nan`, which is in every range
std::string is_count(const std::string& text);    // below 10^18
std::string is_seed(const std::string& text);     // of 64 bits
std::string is_above_0(const std::string& text);  // and finite

// Wrong usage where more than one of them is standard input (`-`, of an application also `-:n=4`),
// since that can be read once.
void check_standard_input(const std::vector<std::string>& inputs);

// A file that a command writes, and the option that names it. `-` is no file; empty: none.
struct WrittenFile {
  const char* option;
  std::string path;
};
// Wrong usage where one of them is a file that the command reads too (of an application with values
// that before its colon), or is written twice. Whatever is read may be no file at all.
void check_written(const std::vector<WrittenFile>& written, const std::vector<std::string>& read);
// Before a run of hours: what stands in the way of writing the first that cannot be written.
std::optional<groma::Error> unwritable(const std::vector<WrittenFile>& written);

// The program's own prints, on standard error through spdlog.
groma::LogSink& log();

// Ctrl-C (or SIGTERM, SIGHUP) ends the process with 130 after the current step; asked from progress
// callbacks.
void catch_interrupts();
bool interrupted();

// True once so many seconds are over.
class Deadline {
 public:
  explicit Deadline(double seconds);
  bool over() const;
  double seconds_left() const;  // 0 where it is over

 private:
  std::int64_t end_ms_;
};

// A line on standard error for what takes longer than two seconds; only on a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(std::string_view what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void update(std::int64_t done, std::int64_t all);
  // Where nobody knows how much there is: what it is at, and since when.
  void update(std::string_view state);

 private:
  bool due();  // to be shown
  void show(std::string_view state);

  std::string what_;
  std::int64_t begin_ms_;
  std::int64_t shown_ms_ = 0;
};

}  // namespace driver
