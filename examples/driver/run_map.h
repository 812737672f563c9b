// Runs a Legion program under a mapping: `groma run --map FILE -- PROGRAM ARGS...` and `groma run
// --on legion --app A`. Also holds what other commands need to run a Legion program.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "groma/layout_overrides.h"
#include "groma/profile.h"
#include "groma/results.h"
#include "groma/run_program.h"
#include "groma/workload.h"

namespace driver {

// A Legion program and how it is run.
struct ProgramArguments {
  // The words of the command line that starts the Legion program: the program and its arguments.
  std::vector<std::string> words;
  // Path of the preload library; empty: the library that belongs to this command.
  std::string library;
  // When Legion checks the decisions of the mapping: "first", "always" or "never".
  std::string checks = "first";
  // The run is ended after this time in seconds. 0 stands for no limit.
  double timeout_s = 600;
  // Patterns for the lines of the output that are results. If there is none, all lines are results.
  std::vector<std::string> same;
  // Two numbers that are not integers are equal if they differ by at most this fraction.
  double tolerance = groma::ResultsOptions().tolerance;
  groma::LayoutOverrides override_layouts;
};
// Adds --timeout, --checks, --library and --override-layouts. Their help texts begin with `when`.
void add_program_options(CLI::App& command, ProgramArguments* arguments, const std::string& when);
// Adds the option --library to the command. Its help text begins with `when`.
void add_library_option(CLI::App& command, ProgramArguments* arguments, const std::string& when);
// Adds --same and --tolerance. Their help texts begin with `when`.
void add_results_options(CLI::App& command, ProgramArguments* arguments, const std::string& when);
// Returns how to run the program. Fails if this build has no library for Legion programs. From this
// call on, Ctrl-C is caught.
groma::Result<groma::ProgramRun> program_run(const ProgramArguments& arguments);

// Returns the options that --same and --tolerance set.
groma::ResultsOptions results_options(const ProgramArguments& arguments);

// Says where the standard output of the program goes while it runs: to standard output, to standard
// error, or nowhere. The program's standard error always goes to standard error of this command.
enum class Output : std::uint8_t { kOn, kToErrors, kNowhere };
// Directs the output of a run to `output`. The run ends on Ctrl-C. It also ends when the reader of
// the output closes the pipe; reader_closed_pipe() is then true. This object must outlive the run.
class OutputRelay {
 public:
  OutputRelay(groma::ProgramRun& run, Output output);
  bool reader_closed_pipe() const { return unheard_; }
  OutputRelay(const OutputRelay&) = delete;
  OutputRelay& operator=(const OutputRelay&) = delete;

 private:
  bool unheard_ = false;
};

// If the program started Legion more than once, prints a note that `what` ("the log is") comes from
// one of these runs.
void say_runs(const groma::ProgramResult& result, std::string_view what);

// The files that a profile is written to, in addition to standard output. An empty path stands for
// no file.
struct ProfileFiles {
  std::string trace, report;
  bool any() const { return !trace.empty() || !report.empty(); }
};
// Returns false, with the reason on standard error, if a file cannot be written.
bool write_files(const groma::Profile& profile, const groma::ProfileWords& words,
                 const groma::RunSummary& summary, const ProfileFiles& files);

// What run_under_mapping() runs and what it writes.
struct MapArguments {
  // The path of the mapping. If it is empty, there is no mapping and the default mapper decides.
  std::string file;
  ProgramArguments program;
  // The application that describes what the program does. Null if there is none.
  const groma::Workload* app = nullptr;
  // True if the profile of the run is printed as well.
  bool profile = false;
  // The files to which the profile is written.
  ProfileFiles files;
  // The file for the decisions of the mappers. Empty for no file.
  std::string log;
  bool json = false;
};

// Fails with wrong usage if an output path is not a separate file, or is also read. Returns the
// reason if an output file cannot be written; call this before a long run.
std::optional<groma::Error> check_files(const MapArguments& arguments,
                                        const std::vector<std::string>& read);

// Runs the program under the mapping. Returns the exit code for this command.
int run_under_mapping(const MapArguments& arguments);

}  // namespace driver
