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
  std::vector<std::string> words;  // the program and its arguments
  // Path of the preload library; empty: the library that belongs to this command.
  std::string library;
  std::string checks = "first";
  double timeout_s = 600;
  std::vector<std::string> same;  // which lines are results; empty: all lines
  double tolerance = groma::ResultsOptions().tolerance;
  groma::LayoutOverrides override_layouts;
};
// Adds --timeout, --checks, --library and --override-layouts. Their help texts begin with `when`.
void add_program_options(CLI::App& command, ProgramArguments* arguments, const std::string& when);
// Adds only --library.
void add_library_option(CLI::App& command, ProgramArguments* arguments, const std::string& when);
// Adds --same and --tolerance. Their help texts begin with `when`.
void add_results_options(CLI::App& command, ProgramArguments* arguments, const std::string& when);
// Returns how to run the program. Fails if this build has no library for Legion programs. From this
// call on, Ctrl-C is caught.
groma::Result<groma::ProgramRun> program_run(const ProgramArguments& arguments);

// Returns the options that --same and --tolerance set.
groma::ResultsOptions results_options(const ProgramArguments& arguments);

// Where the standard output of a run goes while the program runs. Its standard error goes to
// standard error of this command.
enum class Output : std::uint8_t { kOn, kToErrors, kNowhere };
// Directs a run's output to `output`. The run ends on Ctrl-C, and also when the reader of the
// output closes the pipe (unheard() is then true).
class Hearing {
 public:
  Hearing(groma::ProgramRun& run, Output output);
  bool unheard() const { return unheard_; }
  Hearing(const Hearing&) = delete;
  Hearing& operator=(const Hearing&) = delete;

 private:
  bool unheard_ = false;
};

// If more than one Legion process ran, prints that `what` ("the log is") comes from one of them.
void say_runs(const groma::ProgramResult& result, std::string_view what);

// The files that a profile is written to, besides what is printed. Empty: no file.
struct ProfileFiles {
  std::string trace, report;
  bool any() const { return !trace.empty() || !report.empty(); }
};
// Returns false, with the reason on standard error, if a file cannot be written.
bool write_files(const groma::Profile& profile, const groma::ProfileWords& words,
                 const ProfileFiles& files);

struct MapArguments {
  std::string file;  // path of the mapping; empty: no mapping, the default mapper decides
  ProgramArguments program;
  const groma::Workload* app = nullptr;  // describes what the program does; null: unknown
  bool profile = false;                  // print the profile as well
  ProfileFiles files;                    // files for the profile
  std::string log;                       // file for the decisions of the mappers
  bool json = false;
};

// Fails with wrong usage if an output path is not a separate file, or is also read. Returns the
// reason if an output file cannot be written; call this before a long run.
std::optional<groma::Error> check_files(const MapArguments& arguments,
                                        const std::vector<std::string>& read);

// Runs the program under the mapping. Returns the exit code for this command.
int run_under_mapping(const MapArguments& arguments);

}  // namespace driver
