// AutoGuide: explains the output of a run and names the statement of the mapping to change. The
// rules are data (docs/guide.md). A log is read in one pass, piece by piece, in bounded memory. It
// may be huge or binary, be one endless line, or still be growing.
// Source: "AutoGuide" of Wei et al., Agent-System Interfaces (sections 4.3 and A.5), whose keyword
// matching was the starting point.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/profile.h"
#include "groma/program.h"
#include "groma/result.h"
#include "groma/source.h"

namespace groma {

namespace guide {
class RuleSet;
class LogScanner;
}  // namespace guide

// The amount of feedback. Each level adds to the levels before it. The levels are those of the
// paper's ablation.
enum class GuideDetail : std::uint8_t { kNone, kExecution, kExplain, kSuggest, kProfile };
// Returns the level of feedback with this name ("none", "execution", "explain", "suggest" or
// "profile"), or nullopt.
std::optional<GuideDetail> guide_detail(std::string_view name);

// The value that a run measured for itself.
struct MeasuredScore {
  double value = 0;
  // The unit of the value, such as "s" or "GFLOPS".
  std::string unit;
  bool higher_is_better = false;
};

// The parts of a run's profile that the guide uses. Shares are fractions (0 to 1) of the critical
// path. If the application measures a phase, they are fractions of the part of the path within that
// phase.
struct ProfileFacts {
  // One cause of time on the critical path.
  struct Cause {
    // The activity: "task", "copy", "reduction" or "runtime". "start" means that the next event was
    // ready but had not started.
    std::string doing;
    // The task that ran, and the region that was moved.
    std::string task, region;
    // The memory kinds between which the region was moved.
    std::string from, to;
    // The text and the place of the statement because of which the data was moved; empty: the
    // default mapper decided.
    std::string statement, place;
    // True if the data was moved from one node to another.
    bool other_node = false;
    double share = 0;
    // The part of `share` in which the next event of the critical path waited for the same
    // processor or channel.
    double waiting = 0;
    // True if the data was moved within one memory.
    bool same_memory = false;
    // The bytes that were moved for this cause in the whole run.
    std::int64_t bytes = 0;
    // If a task ran: the other task that came next on the critical path for more than half of the
    // time of one cause in the profile. May be empty.
    std::string before = {};
  };
  // Tasks that stream the data of one region requirement from one kind of memory.
  struct Stream {
    std::string task;
    // The kind of the processors.
    std::string kind;
    // The position of the requirement, and the names by which statements can refer to its data.
    std::int64_t requirement = 0;
    std::vector<std::string> names;
    // The kind of memory.
    std::string memory;
    // The statement that placed the data: its number (DecisionOrigin), text and place. 0: the
    // default mapper.
    std::int64_t statement_number = 0;
    std::string statement, place;
    // The share in which this memory is the bottleneck because of this requirement, and the bytes
    // per second that the requirement moves in this time.
    double share = 0, bytes_per_s = 0;
    // What another kind of memory would save as a share of the time; negative if it would cost
    // time. The estimate does not count copies.
    struct Elsewhere {
      std::string memory;
      double saves = 0;
      // True if the memory has room for the data.
      bool has_room = false;
    };
    std::vector<Elsewhere> elsewhere;
  };
  // How a task is spread over the processors of one kind.
  struct Spread {
    std::string task, kind;
    // The kinds of processors of the machine for which the task has a variant.
    std::vector<std::string> kinds;
    std::int64_t processors = 0, used = 0;
    // The number of points of the task's index launches and of their dimensions; 0: single tasks.
    std::int64_t points = 0, dimensions = 0;
    // True if points with the same coordinates ran on different processors in different launches.
    // Then `points` and `busiest_point_count` count a point once for each launch that has it.
    bool counts_all_launches = false;
    // The number of runs of a single task that points of an index launch launch; otherwise 0.
    std::int64_t nested_runs = 0;
    // The processor that works longest on the task, such as "GPU 3 of node 0".
    std::string busiest;
    // At most 8 of the points that it runs, as "(0, 1)", those with the longest time first, and the
    // number of all its points.
    std::vector<std::string> busiest_points;
    std::int64_t busiest_point_count = 0;
    // At most 16 points whose runs take at least 1.25 times as long as a run of the task does in
    // the mean, with this factor, the longest first.
    struct HeavyPoint {
      std::string point;
      double weight = 1;
    };
    std::vector<HeavyPoint> heavy_points;
    // The share that an even spread of the points would save on the busiest processor.
    double lost = 0;
    // The data of the task's region requirements, by position.
    struct Data {
      std::vector<std::string> names;
      std::string region;
      // The kinds of memories in which the data was.
      std::vector<std::string> memories;
    };
    std::vector<Data> data;
  };
  // Two tasks that use some of the same regions and are launched over the same points. `apart` of
  // the `points` run on one node for one task and on another node for the other task.
  struct TasksApart {
    std::string task, other;
    std::int64_t points = 0, apart = 0;
    std::vector<std::string> regions;
  };
  struct Kind {
    std::string kind;
    std::int64_t processors = 0, used = 0;
    // The fraction of the time of all processors of the kind in which they worked.
    double busy = 0;
    // The time of the busiest processor divided by the mean.
    double imbalance = 1;
    // How long all processors of the kind worked within the measured phase, in seconds. 0 if the
    // application measures no phase.
    double measured_busy_seconds = 0;
  };
  struct Task {
    std::string task, kind;
    // The task's fraction of the time of all tasks.
    double share = 0;
    // The number of runs of the task. 0 if it is unknown.
    std::int64_t runs = 0;
  };
  struct Memory {
    std::string kind;
    // The peak of the used bytes divided by the capacity, for the memory of this kind where the
    // quotient is largest.
    double full = 0;
  };
  std::string title;
  // The mapping_mark() of the program, or "default". Empty if the mapping is unknown.
  std::string mapping;
  // The duration of the whole run.
  double seconds = 0;
  // The phase that the application measures. If it is empty, the whole run is measured.
  std::string measured;
  double measured_seconds = 0;
  // The shares of the critical path that tasks, copies (with reductions) and the runtime have.
  double tasks = 0, copies = 0, runtime = 0;
  // At most 8 causes, the largest first.
  std::vector<Cause> causes;
  std::vector<Kind> kinds;
  // At most 8 tasks, the longest first.
  std::vector<Task> by_task;
  std::vector<Memory> memories;
  // At most 16 streams, those with the largest share first. Empty for a run that was not simulated.
  std::vector<Stream> streams;
  // At most 16 tasks, those with the largest lost share first. Empty for a run that was not
  // simulated.
  std::vector<Spread> spreads;
  // At most 16 pairs of tasks, those with the most points on different nodes first.
  std::vector<TasksApart> apart;
  // The number of nodes, and the top-level task if it can be replicated but was not. Known only for
  // a simulated run.
  std::int64_t nodes = 0;
  std::string could_replicate;
  // The number of tasks that some node maps, that the node with most of them maps, and that node.
  // All are 0 for a run that was not simulated.
  std::int64_t mapped = 0, most_mapped = 0, busiest_mapper = 0;
  // The suggestions that guide_run() has tried for this run. If they are set, the guide suggests
  // nothing else, unless the facts belong to another mapping than the given program.
  std::optional<std::vector<std::string>> tried;
};
// Reads the profile from the JSON that `groma run --json` prints, or from its "profile" alone. A
// missing value is left out. Fails with kMalformed on any other text and on impossible figures
// (negative, more than the whole, not a number). The message has a JSON pointer to the first one.
Result<ProfileFacts> read_profile_facts(std::string_view json);
// Returns the log of a failed run, which has no profile, from the JSON of that run. Returns nullopt
// for any other text.
std::optional<std::string> log_of_failed_run(std::string_view json);
// Returns the facts of a profile in memory. read_profile_facts() reads the same facts from JSON.
ProfileFacts facts_of(const Profile& profile, const ProfileWords& words);

// A rule that matched something in the output.
struct GuideMatch {
  enum class MatchSource : std::uint8_t {
    // The rule matched a text that the program, Legion or a tool printed.
    kProgram,
    // The rule matched a message of Groma about the mapping or its run. The message was printed, or
    // it is in GuideContext::diags.
    kGroma,
    // The rule matched the way in which the run ended.
    kEnd,
  };
  std::string rule;
  // The name of the log, as it was given.
  std::string log;
  // The line of the first match, from 1. 0 if the match is about the way in which the run ended.
  std::int64_t line = 0;
  // The number of places in the output that the rule matched.
  std::int64_t count = 1;
  // The text of the first match, cut and safe for a terminal.
  std::string text;
  MatchSource from = MatchSource::kProgram;
};

// A memory had no room for a region argument of a task.
struct MemoryShortage {
  std::string task;
  // The position of the region argument, from 0.
  std::int64_t requirement = 0;
};

// The feedback of the guide about a run.
struct GuideFeedback {
  enum class Status : std::uint8_t { kOk, kError, kUnknown } status = Status::kUnknown;
  // True if a rule matched, or if GuideContext has facts that explain the run.
  bool known = false;
  // A line of the output that says what happened.
  std::string execution;
  // Sentences that explain what happened.
  std::vector<std::string> explain;
  // Sentences that say what to change.
  std::vector<std::string> suggest;
  std::optional<MeasuredScore> score;
  std::optional<ProfileFacts> profile;
  // The first shortage of memory, if the failure comes from one.
  std::optional<MemoryShortage> shortage;
  // True if `suggest` holds only what guide_run() tried.
  bool tried = false;
  // Edits of the mapping program that carry out suggestions.
  std::vector<Fix> fixes;
  // The matches. Those that were explained come first.
  std::vector<GuideMatch> matches;
  // The last lines of the output, set if no rule matched anything in it.
  std::vector<std::string> last_lines;
};

// Facts about the run beside its output. The guide reads what the pointers point at and does not
// keep the pointers.
struct GuideContext {
  // The exit code as a shell reports it, such as 134 for an abort. -6 is accepted for 134.
  std::optional<int> exit_code;
  bool timed_out = false;
  // The score of the run. nullopt if the figures in the output are to be used.
  std::optional<MeasuredScore> score;
  // The mapping of the run. With it, advice can name statements. May be null.
  const Program* program = nullptr;
  // The messages of Groma's own check or run. May be null.
  const Diagnostics* diags = nullptr;
  const ProfileFacts* profile = nullptr;
  // Kinds of processors and memories that the machine is known not to have ("GPU", "FBMEM"). Advice
  // to write these kinds is left out.
  std::vector<std::string> lacking = {};
  // The option with which Legion checks a mapping, as advice names it. Empty: the checks were on,
  // so the advice to turn them on is left out.
  std::string checks = "-lg:safe_mapper";
  // True if no mapping program decides. Advice to change one is then left out.
  bool maps_itself = false;
  GuideDetail detail = GuideDetail::kProfile;
};

// The rules of the guide. Immutable, cheap to copy, and safe to share between threads.
class GuideRules {
 public:
  // Returns the rules of `own` followed by those that come with Groma (takes 25 ms). Earlier rules
  // win. Fails with kMalformed or kTooLarge; the message names the rule that cannot be used and the
  // reason.
  static Result<GuideRules> make(std::span<const Source> own = {});

  std::size_t size() const;
  const guide::RuleSet& set() const { return *set_; }  // lib/guide/rules.h

 private:
  explicit GuideRules(std::shared_ptr<const guide::RuleSet> set) : set_(std::move(set)) {}
  std::shared_ptr<const guide::RuleSet> set_;
};

// Reads the output of a run as it comes. It holds less than 2 MB, however much is read. In addition
// RE2 keeps at most 1 MB for each rule that the log makes it match. One thread at a time.
class GuideReader {
 public:
  explicit GuideReader(GuideRules rules);
  ~GuideReader();
  GuideReader(GuideReader&&) noexcept;
  GuideReader& operator=(GuideReader&&) noexcept;

  // Starts another log with this name. The bytes that are read afterwards belong to it, and its
  // lines are counted from 1.
  void begin(std::string name);
  // Reads the next bytes, which may be cut anywhere.
  void read(std::string_view bytes);
  // Returns the feedback on everything that was read. Reading may go on afterwards. An unfinished
  // last line counts as a line.
  GuideFeedback feedback(const GuideContext& context = {});

 private:
  GuideRules rules_;
  std::unique_ptr<guide::LogScanner> scanner_;
};

// Explains an output that is in memory as a whole; for a RunResult, its `raw`.
GuideFeedback guide_log(const GuideRules& rules, std::string_view log,
                        const GuideContext& context = {});

// Explains the profile of a run that ended well; needs no rules. If `program` is not the program
// that ran, the feedback says so and its advice names no lines.
GuideFeedback guide_profile(const ProfileFacts& facts, const Program* program = nullptr);

// Returns only `explain` and `suggest`, as text for a person. Each part begins with an empty line;
// the text is empty if both are. A function that the user should write stands below its sentence.
std::string draw_advice(const GuideFeedback& feedback, bool color = false);
// Returns the feedback as text for a person, which ends with a line end. It has no control
// characters except line ends and, with `color`, ANSI colours.
std::string draw(const GuideFeedback& feedback, bool color = false);
// Returns one line of JSON with its line end, as docs/commands.md describes for `groma guide
// --json`. `source` is the source of the program that the fixes are for, or null.
std::string to_json(const GuideFeedback& feedback, const Source* source = nullptr);

}  // namespace groma
