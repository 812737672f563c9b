// A Legion program on this computer under a mapping for which it was not built: `groma run --map`;
// what it does, recorded: `groma record`.
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
#include "groma/program.h"
#include "groma/result.h"
#include "groma/results.h"
#include "groma/system.h"
#include "groma/workload.h"

namespace groma {

struct ProgramRun {
  std::vector<std::string> words;  // the program, looked for in PATH unless it has a `/`, and more
  // libgroma_preload.so of a Groma that was built with the program's Legion; what else that brings
  // lies beside it.
  std::string library;
  std::int64_t timeout_ms = 600'000;  // 0: none
  // Legion's own checks of a mapper's answers (-lg:safe_mapper), which cost time. kFirst: until the
  // program has once run well under the mapping.
  enum class Checks : std::uint8_t { kFirst, kAlways, kNever } checks = Checks::kFirst;
  // Where kFirst remembers that, for 7 days; empty: nowhere.
  std::string checked_file = {};
  LayoutOverrides override_layouts = {};  // legion::Options::override_layouts
  // Compares what the program prints with its runs without the mapping; null: nothing is compared.
  // Such a run is made where this has none yet, and up to two others while results differ, since a
  // number that changes from run to run may be the same in two runs by chance. These are more runs
  // of the program, with all that the program does. Left out where kFirst has nothing to check
  // any more, unless the program prints a failure that the guide knows, and where a launcher
  // started this process, whose program cannot be started twice. Outlives the call.
  Results* results = nullptr;
  // Results are compared only where the program ends well but prints a failure that the guide
  // knows: the failure does not count if the program prints the same without the mapping.
  bool compare_failures_only = false;
  // The file into which the run is recorded (recorded_application reads it); empty: it is not.
  std::string record_file = {};
  // Has Legion measure tasks and copies (ProgramResult::record), which costs time.
  bool profile = false;
  // The file into which goes what the mappers decide, in the form of Legion's LoggingWrapper
  // (read_mapper_log of explain_log.h); empty: it is not written. Not of a program that maps
  // itself.
  std::string log_file = {};
  // What the program is, where that is known: then it says `elapsed 12.34 ms` in a line, the time
  // of what this measures. Outlives the call.
  const Workload* app = nullptr;
  // Both as Command's (system.h).
  std::function<void(std::string_view bytes, bool is_error)> on_output = {};
  std::function<bool()> stop = {};
};

struct ProgramResult {
  // kMap: it was not mapped, or an answer of the mapping was refused.
  enum class Stage : std::uint8_t { kDone, kMap, kExecute } stage = Stage::kDone;
  bool stopped = false;    // by `stop`
  bool timed_out = false;  // at its deadline
  bool checked = false;    // with Legion's checks
  std::string machine;     // of what was recorded, as load_machine() reads it; empty: not known
  int legion_runs = 0;     // that were taken over; what is recorded or logged is of one of them
  // A launcher started several of these, and the first process of the program, which another one
  // has, is recorded.
  bool recorded_elsewhere = false;
  int exit_code = 0;   // as a shell gives it: 134 for an abort
  double seconds = 0;  // by the clock, from the program's start to its end
  Feedback feedback;   // what its output means
  // With ProgramRun::results: whether the program printed what it prints without the mapping.
  // kUnknown: it does not run without one. kTooLong: it prints more than can be compared. kKnown:
  // it has run well under the mapping in the last 7 days (ProgramRun::checked_file). kLaunched: a
  // launcher started this process.
  enum class Same : std::uint8_t {
    kNotCompared,
    kSame,
    kDifferent,
    kUnknown,
    kTooLong,
    kKnown,
    kLaunched
  };
  Same same_results = Same::kNotCompared;
  UnsteadyResults unsteady;  // what was not compared, of kSame and kDifferent
  // Of a ProgramRun::app that ran well.
  struct Measured {
    double seconds = 0;     // as the program says
    double throughput = 0;  // the metric's work by these seconds
    std::string unit;       // of the throughput
  };
  std::optional<Measured> measured;
  // Of a ProgramRun::profile: what was measured of a run that came to its end; null, and why, where
  // that is not to be had. Of the first process.
  std::shared_ptr<const RunRecord> record;
  std::string why_no_record;
  bool ok() const { return stage == Stage::kDone; }
};

// Runs the program in a process group of its own, which ends with it, at its deadline, or when it
// is stopped. It gets the mapping's text through its environment (of more than 96 KB the path),
// nothing on its standard input, and what brings Legion's last messages home (-logfile stderr,
// unless it names another). Where there is no CUDA driver and Legion wants one, a stand-in takes
// its place; not below launchers such as srun, since there may be one where the program then runs.
//
// A program that starts no Legion that could be taken over, or one of another version, is a failure
// with its reason; so is one with an `app` that says no time. Fails where it cannot be started at
// all: no such program or library (kUnreadable, kUnknown), a library whose path LD_PRELOAD cannot
// hold (kMalformed), a mapping that is too large and no file (kTooLarge). `rules`: null takes those
// that come with Groma.
Result<ProgramResult> run_program(const Program& mapping, const ProgramRun& run,
                                  const GuideRules* rules = nullptr);
// The same under no mapping of ours: the program maps itself. It is there to be recorded, and never
// checked.
Result<ProgramResult> run_program(const ProgramRun& run, const GuideRules* rules = nullptr);

// The program as it is, without Groma, its library and its measurements. Its output goes nowhere
// else, and is added to ProgramRun::results, which may be null, if it ended well and can be
// compared. Fails where it cannot be started.
Result<CommandOutcome> run_without_mapping(const ProgramRun& run);

// The name of the program that a command line starts, without its folder: launchers (`mpirun -np 4
// ./circuit` is `circuit`) and interpreters (`python3 solve.py` is `solve`) are passed over, as far
// as they are known. `words` is not empty. Looks for programs in PATH.
std::string program_name(const std::vector<std::string>& words);

// What a profile of the run says of itself and of statements. `mapping` must outlive the answer.
ProfileWords words_of(const ProgramRun& run, const Program& mapping);

// {"status": "ok", "seconds": ..., "runtime": "legion", ...} or {"status": "error", ...}
// (docs/commands.md), with "profile" where it is not null. One line. `diags` is of the mapping's
// source.
std::string to_json(const ProgramResult& result, const Diagnostics& diags,
                    const Profile* profile = nullptr, const ProfileWords& words = {});
// For a person, a line: how long the run took, and whether its results were compared. Empty if it
// failed.
std::string time_line(const ProgramResult& result, const Program& mapping, const ProgramRun& run);
// For a person: how the run failed, and what its output means; then the profile where it is not
// null.
std::string draw(const ProgramResult& result, const Program& mapping, const ProgramRun& run,
                 const Profile* profile = nullptr, bool color = false);

}  // namespace groma
