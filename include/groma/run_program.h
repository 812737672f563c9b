// Runs a Legion program on this computer under a mapping for which it was not built (`groma run
// --map`), or records what it does (`groma record`).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/guide.h"
#include "groma/layout_overrides.h"
#include "groma/profile.h"
#include "groma/profile_page.h"
#include "groma/program.h"
#include "groma/result.h"
#include "groma/results.h"
#include "groma/system.h"
#include "groma/workload.h"

namespace groma {

// The program to run, and the options of the run.
struct ProgramRun {
  // The program and its arguments; the program is searched in PATH unless it has a `/`.
  std::vector<std::string> words;
  // libgroma_preload.so of a Groma that was built with the program's Legion. The other files that
  // it needs are beside it.
  std::string library;
  // The time limit of a run, in milliseconds. 0: no limit.
  std::int64_t timeout_ms = 600'000;
  // Legion's own checks of a mapper's answers (-lg:safe_mapper), which cost time. kFirst: until the
  // program has run well under the mapping once.
  enum class Checks : std::uint8_t { kFirst, kAlways, kNever } checks = Checks::kFirst;
  // The file in which kFirst remembers for 7 days that the program has run well under the mapping;
  // empty: it is not remembered.
  std::string checked_file = {};
  // Layout statements for these tasks may contradict what the program's own mapper asks for
  // (legion::Options::override_layouts).
  LayoutOverrides override_layouts = {};
  // Compares what the program prints with its runs without the mapping; null: no comparison. If it
  // has no such run yet, one is made, and up to two others while results differ, since a number
  // that changes from run to run may be the same in two runs by chance. Each is a complete run of
  // the program. Must outlive the call.
  // The comparison is left out if kFirst has nothing left to check, unless the program prints a
  // failure that the guide knows. It is also left out if a launcher started this process, since the
  // program cannot be started twice then.
  Results* results = nullptr;
  // Compares results only if the program ends well but prints a failure that the guide knows. The
  // failure does not count if the program prints the same without the mapping.
  bool compare_failures_only = false;
  // The file for the recording of the run (recorded_application reads it); empty: no recording.
  std::string record_file = {};
  // Makes Legion measure tasks and copies (ProgramResult::record), which costs time.
  bool profile = false;
  // The path of the file to which the decisions of the mappers are written, in the form of Legion's
  // LoggingWrapper (MapperLogReader of explain_log.h reads it); empty: no log. Not used for a
  // program that maps itself.
  std::string log_file = {};
  // The application of the program, if known. The program then prints `elapsed 12.34 ms` in a line:
  // the time of the part that the application measures. Must outlive the call.
  const Workload* app = nullptr;
  // `on_output` receives the output as it comes, and `stop` is asked every 50 ms whether to end the
  // run (Command::on_output and Command::stop of system.h).
  std::function<void(std::string_view bytes, bool is_error)> on_output = {};
  std::function<bool()> stop = {};
};

// The result of a run of the program.
struct ProgramResult {
  // The stage at which the program failed. kMap: the program was not mapped, or an answer of the
  // mapping was refused. kDone: the program did not fail.
  enum class Stage : std::uint8_t { kDone, kMap, kExecute } stage = Stage::kDone;
  // True if `stop` ended the run.
  bool stopped = false;
  // True if the run was ended at its deadline.
  bool timed_out = false;
  // True if Legion's checks of the mapper's answers were on.
  bool checked = false;
  // The machine of the recording, as load_machine() reads it. Empty if it is unknown.
  std::string machine;
  // The number of Legion runs that used the mapping. A recording or a log is of one of them.
  int legion_runs = 0;
  // True if the program is one of several processes of a job that a launcher started, and another
  // one, the first process of the job, makes the recording.
  bool recorded_elsewhere = false;
  // The exit code as a shell reports it, such as 134 for an abort.
  int exit_code = 0;
  // The wall-clock time from the program's start to its end.
  double seconds = 0;
  // The feedback of the guide about the output.
  GuideFeedback feedback;
  // With ProgramRun::results: whether the program printed the same under the mapping as without it.
  // kUnknown: the program failed without the mapping, or the comparison was stopped. kTooLong: the
  // output is too long to compare. kNothing: the program prints nothing that can be compared.
  // kKnown: the program has run well under the mapping in the last 7 days
  // (ProgramRun::checked_file). kLaunched: a launcher started this process.
  enum class ResultComparison : std::uint8_t {
    kNotCompared,
    kSame,
    kDifferent,
    kUnknown,
    kTooLong,
    kNothing,
    kKnown,
    kLaunched
  };
  ResultComparison same_results = ResultComparison::kNotCompared;
  // The results that were not compared because they vary from run to run. Set for kSame and
  // kDifferent.
  UnsteadyResults unsteady;
  // Set if ProgramRun::app names an application and the program ended without an error.
  struct MeasuredPart {
    // The time that the program prints for the part that the application measures.
    double seconds = 0;
    // The metric's work divided by this time.
    double throughput = 0;
    // The unit of the throughput.
    std::string unit;
  };
  std::optional<MeasuredPart> measured;
  // With ProgramRun::profile: the measurements of a run that came to its end. If they are not
  // available, null, with the reason in why_no_record. The measurements are those of the first
  // process.
  std::shared_ptr<const RunRecord> record;
  std::string why_no_record;
  bool ok() const { return stage == Stage::kDone; }
};

// Runs the program in its own process group. The group ends with the program, at its deadline, or
// when it is stopped. The program gets the text of the mapping through its environment (the path,
// if the text exceeds 96 KB) and an empty standard input. It also gets `-logfile stderr`, unless it
// names another log file, so that Legion's last messages are not lost. If there is no CUDA driver
// and Legion needs one, a stand-in takes its place. That is not done below launchers such as srun,
// since the program may run on a computer with a driver.
//
// It is a failure with a reason if the program starts no Legion that can use the mapping, starts a
// Legion of another version, or prints no time although `app` is set. Fails if the program cannot
// be started: kUnreadable or kUnknown for an unknown program or library, kMalformed for a library
// path that LD_PRELOAD cannot hold, kTooLarge for a mapping that is too large and not a file.
// `rules`: null means the rules that come with Groma.
Result<ProgramResult> run_program(const Program& mapping, const ProgramRun& run,
                                  const GuideRules* rules = nullptr);
// Runs the program without a mapping: the program maps itself. Use it to record a program. Legion's
// checks are never on.
Result<ProgramResult> run_program(const ProgramRun& run, const GuideRules* rules = nullptr);

// Runs the program without Groma, its library and its measurements. If the program ends well and
// its output can be compared, the output is added to ProgramRun::results, which may be null. Fails
// if the program cannot be started.
Result<CommandOutcome> run_without_mapping(const ProgramRun& run);

// Returns the name of the program that a command line starts, without its folder. Known launchers
// (`mpirun -np 4 ./circuit` is `circuit`) and interpreters (`python3 solve.py` is `solve`) are
// skipped. `words` is not empty. Programs are searched in PATH.
std::string program_name(const std::vector<std::string>& words);

// Returns the words for a profile of the run: its title, and the text and place of each statement.
// `mapping` must outlive the result.
ProfileWords profile_words_of(const ProgramRun& run, const Program& mapping);
// Returns what the page of a run that came to its end says beside the profile.
RunSummary summary_of(const ProgramResult& result, const Program& mapping, const ProgramRun& run);

// Returns one line of JSON (docs/commands.md): {"status": "ok", "seconds": ..., "runtime":
// "legion", ...} or {"status": "error", ...}. "profile" is added if it is not null. `diags` is of
// the mapping's source.
std::string to_json(const ProgramResult& result, const Diagnostics& diags,
                    const Profile* profile = nullptr, const ProfileWords& words = {});
// Returns a line for a person: how long the run took, and whether its results were compared. Empty
// if it failed.
std::string run_time_text(const ProgramResult& result, const Program& mapping,
                          const ProgramRun& run);
// Returns text for a person: how the run failed, and what its output means; then the profile if it
// is not null.
std::string draw(const ProgramResult& result, const Program& mapping, const ProgramRun& run,
                 const Profile* profile = nullptr, bool color = false);

}  // namespace groma
