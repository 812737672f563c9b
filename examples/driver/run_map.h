// groma run --map FILE -- PROGRAM ARGS... and groma run --on legion --app A: a Legion program under
// a mapping; what other commands share that run one.
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
  std::vector<std::string> words;  // it and its arguments
  std::string library;             // empty: the one that belongs to this command
  std::string checks = "first";
  double timeout_s = 600;
  std::vector<std::string> same;  // which lines are results; empty: all
  double tolerance = groma::ResultsOptions().tolerance;
  groma::LayoutOverrides override_layouts;
};
// --timeout, --checks, --library and --override-layouts; their help begins with `when`.
void add_program_options(CLI::App& command, ProgramArguments* arguments, const std::string& when);
// --library alone.
void add_library_option(CLI::App& command, ProgramArguments* arguments, const std::string& when);
// --same and --tolerance.
void add_results_options(CLI::App& command, ProgramArguments* arguments, const std::string& when);
// Fails where this build has no library for Legion programs. Ctrl-C is caught from now on.
groma::Result<groma::ProgramRun> program_run(const ProgramArguments& arguments);

// --same and --tolerance.
groma::ResultsOptions results_options(const ProgramArguments& arguments);

// Where a run's standard output goes while it lives; its standard error goes to ours.
enum class Output : std::uint8_t { kOn, kToErrors, kNowhere };
// Has a run's output go there; the run ends on Ctrl-C and where nobody hears it.
class Hearing {
 public:
  Hearing(groma::ProgramRun& run, Output output);
  bool unheard() const { return unheard_; }
  Hearing(const Hearing&) = delete;
  Hearing& operator=(const Hearing&) = delete;

 private:
  bool unheard_ = false;
};

// Says that more than one Legion ran, where that is so: `what` ("the log is") of one of them.
void say_runs(const groma::ProgramResult& result, std::string_view what);

// Where a profile goes, beside what is printed; empty: nowhere.
struct ProfileFiles {
  std::string trace, report;
  bool any() const { return !trace.empty() || !report.empty(); }
};
// False, with the reason on standard error, where one cannot be written.
bool write_files(const groma::Profile& profile, const groma::ProfileWords& words,
                 const ProfileFiles& files);

struct MapArguments {
  std::string file;  // the mapping; empty: none, so that the default mapper decides
  ProgramArguments program;
  const groma::Workload* app = nullptr;  // that the program is; null: nobody knows
  bool profile = false;                  // is printed, too
  ProfileFiles files;                    // of the profile
  std::string log;                       // what the mappers decide goes there
  bool json = false;
};

// Wrong usage where what it writes is no file of its own, or one that is read too; before a run of
// hours why one cannot be written.
std::optional<groma::Error> check_files(const MapArguments& arguments,
                                        const std::vector<std::string>& read);

// The exit code.
int run_under_mapping(const MapArguments& arguments);

}  // namespace driver
