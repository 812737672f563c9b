// AutoGuide: what a run's output means, and which statement of the mapping to change. Rules are
// data (docs/guide.md); a whole log is read in one pass, piece by piece, in bounded memory: it may
// be huge, binary, one endless line, or still being written. After "AutoGuide" of Wei et al.,
// Agent-System Interfaces (sections 4.3 and A.5), whose keyword matching this grew from.
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
class Scanner;
}  // namespace guide

// How much of a Feedback is wanted: each level adds to those before it. The paper's ablation.
enum class GuideDetail : std::uint8_t { kNone, kExecution, kExplain, kSuggest, kProfile };
std::optional<GuideDetail> guide_detail(std::string_view name);  // "none", ..., "profile"

// What a run measured of itself.
struct Score {
  double value = 0;
  std::string unit;  // "s", "GFLOPS"
  bool higher_is_better = false;
};

// Where a run's time went, as far as the guide speaks of it. Shares are parts of the critical path,
// 0 to 1; where the application measures a phase, of what of the path lies within that.
struct ProfileFacts {
  struct Cause {
    std::string doing;         // "task", "copy", "reduction", "runtime"; "start": not started yet
    std::string task, region;  // what ran; what was moved
    std::string from, to;      // kinds of memory
    std::string statement, place;  // that had it moved there; empty: the default mapper
    bool other_node = false;       // moved from one node to another
    double share = 0;
    double waiting = 0;        // of it, where the next waited for the same processor or channel
    bool same_memory = false;  // moved within one memory
  };
  struct Kind {
    std::string kind;
    std::int64_t processors = 0, used = 0;
    double busy = 0;       // part of the time of those of the kind
    double imbalance = 1;  // the busiest over the mean
  };
  struct Task {
    std::string task, kind;
    double share = 0;       // of the time of all tasks
    std::int64_t runs = 0;  // 0: not known
  };
  struct Memory {
    std::string kind;
    double full = 0;  // the fullest of the kind: its peak by its capacity
  };
  std::string title;
  std::string mapping;   // mapping_mark() of the program, "default"; empty: not known
  double seconds = 0;    // of the whole run
  std::string measured;  // the phase that the application measures; empty: the whole run
  double measured_seconds = 0;
  double tasks = 0, copies = 0, runtime = 0;  // shares; copies with reductions
  std::vector<Cause> causes;                  // the largest first; at most 8
  std::vector<Kind> kinds;
  std::vector<Task> by_task;  // the longest first; at most 8
  std::vector<Memory> memories;
  // What guide_run() suggested for this run, having tried it: then nothing else is suggested, but
  // for another mapping.
  std::optional<std::vector<std::string>> tried;
};
// Of the JSON that `groma run --json` prints, or of its "profile" alone. Fails (kMalformed) on what
// is neither, and on figures that none can be (negative, more than the whole, no number), with a
// JSON pointer to the first; what is missing is left out.
Result<ProfileFacts> read_profile_facts(std::string_view json);
// What such a run printed where it failed and so has no profile: a log. Nothing of other texts.
std::optional<std::string> failure_of_run(std::string_view json);
ProfileFacts facts_of(const Profile& profile, const ProfileWords& words);

// A rule that something in the output matched.
struct GuideMatch {
  std::string rule;
  std::string log;         // the log's name, as it was given
  std::int64_t line = 0;   // of the first, counted from 1; 0: no line but the way the run ended
  std::int64_t count = 1;  // how often
  std::string text;        // of the first, cut, fit for a terminal
};

// That a memory had no room for a region argument of a task.
struct Shortage {
  std::string task;
  std::int64_t requirement = 0;  // its number, from 0
};

struct Feedback {
  enum class Status : std::uint8_t { kOk, kError, kUnknown } status = Status::kUnknown;
  bool known = false;                // whether anything was found, or given beside the output
  std::string execution;             // what happened, in a line of the output's own words
  std::vector<std::string> explain;  // what that means; sentences
  std::vector<std::string> suggest;  // what to change; sentences
  std::optional<Score> score;
  std::optional<ProfileFacts> profile;
  std::optional<Shortage> shortage;     // the first, of a failure that comes of one
  bool tried = false;                   // so `suggest` is what guide_run() tried, nothing else
  std::vector<Fix> fixes;               // edits of the program
  std::vector<GuideMatch> matches;      // those that were explained first
  std::vector<std::string> last_lines;  // of the output, where nothing in it was known
};

// What is known of the run beside its output. What is pointed at is read, not kept.
struct GuideContext {
  std::optional<int> exit_code;  // as a shell gives it: 134 for an abort; -6 is taken for that too
  bool timed_out = false;
  std::optional<Score> score;          // else the output's own figures
  const Program* program = nullptr;    // so that advice names statements
  const Diagnostics* diags = nullptr;  // what our own check or run had to say
  const ProfileFacts* profile = nullptr;
  // Kinds of processors and memories that the machine does not have ("GPU", "FBMEM"), as far as it
  // is known: advice that would have them written is left out.
  std::vector<std::string> lacking = {};
  // What has Legion check a mapping, as advice calls it; empty: it did, and advice to do so is left
  // out.
  std::string checks = "-lg:safe_mapper";
  bool maps_itself = false;  // no mapping program decides: advice to change one is left out
  GuideDetail detail = GuideDetail::kProfile;
};

// Immutable; cheap to copy; any threads may share it.
class GuideRules {
 public:
  // Those that come with Groma (25 ms), after those of `own`, which therefore win. Fails
  // (kMalformed, kTooLarge) with the rule that cannot be used and why.
  static Result<GuideRules> make(std::span<const Source> own = {});

  std::size_t size() const;
  const guide::RuleSet& set() const { return *set_; }  // lib/guide/rules.h

 private:
  explicit GuideRules(std::shared_ptr<const guide::RuleSet> set) : set_(std::move(set)) {}
  std::shared_ptr<const guide::RuleSet> set_;
};

// Reads a run's output as it comes. Holds less than 2 MB beside what RE2 keeps for the rules, at
// most 1 MB for each that the log makes it ask, however much is read. One thread at a time.
class GuideReader {
 public:
  explicit GuideReader(GuideRules rules);
  ~GuideReader();
  GuideReader(GuideReader&&) noexcept;
  GuideReader& operator=(GuideReader&&) noexcept;

  // What follows is of another log; its lines are counted anew.
  void begin(std::string name);
  // The next bytes, cut anywhere.
  void read(std::string_view bytes);
  // What all of it means. Reading may go on afterwards; a line without its end counts as ended.
  Feedback feedback(const GuideContext& context = {});

 private:
  GuideRules rules_;
  std::unique_ptr<guide::Scanner> scanner_;
};

// All at once, of an output that is in memory: of a RunResult, its `raw`.
Feedback guide_log(const GuideRules& rules, std::string_view log, const GuideContext& context = {});

// Of a run that ended well, what its profile says alone; needs no rules. Where `program` is not the
// one that ran, that is said, and advice names no lines.
Feedback guide_profile(const ProfileFacts& facts, const Program* program = nullptr);

// `explain` and `suggest` alone, for a person: each begins with an empty line; empty without both.
// A function that is to be written stands beneath its sentence.
std::string draw_advice(const Feedback& feedback, bool color = false);
// For a person. Ends with a line end; no control characters but these and, with `color`, ANSI's.
std::string draw(const Feedback& feedback, bool color = false);
// What docs/commands.md says of `groma guide --json`: one line with its end. `source` is the
// program's that fixes are for, else null.
std::string to_json(const Feedback& feedback, const Source* source = nullptr);

}  // namespace groma
