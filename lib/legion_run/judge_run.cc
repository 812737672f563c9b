// Decides whether a run of a program under a mapping was right: by its exit code, by its results,
// and by the failures that the guide recognises in its output.
#include "legion_run/judge_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guide/words.h"
#include "legion_run/comparable.h"
#include "legion_run/run_environment.h"

namespace groma::inspect {
namespace {

using End = CommandOutcome::End;
using Same = ProgramResult::ResultComparison;
using Stage = ProgramResult::Stage;

// The beginning of a line that is added to the output to tell the guide that the results differ. A
// rule in lib/guide/rules matches it.
constexpr std::string_view kOtherResults = "groma: other results than without the mapping: ";
// The largest number of runs without the mapping with which the results are compared before a
// difference counts. Some programs print different results each time.
constexpr int kMaxReferences = 3;

// Returns true if the command line of the run contains this word.
bool has_word(const ProgramRun& run, std::string_view word) {
  return std::find(run.words.begin(), run.words.end(), word) != run.words.end();
}

// Returns the kinds of processors and memories that Legion provides only with a command-line flag
// that the command does not have. The list is empty for a program that is not a known application,
// because such a program may set the flags by other means.
std::vector<std::string> lacking(const ProgramRun& run) {
  std::vector<std::string> kinds;
  if (run.app == nullptr) return kinds;
  for (const char* kind : {"GPU", "FBMEM", "ZCMEM", "OMP", "SOCKMEM", "RDMEM"}) {
    const std::string_view flag = guide::legion_flag_for_kind(kind);
    if (!has_word(run, flag.substr(0, flag.find(' ')))) kinds.emplace_back(kind);
  }
  return kinds;
}

// Returns how a program ended, as the end of a sentence. The sentence is needed if no Legion
// runtime explained the end.
std::string words_of_end(const CommandOutcome& outcome) {
  if (outcome.end == End::kDeadline) return " before its time limit";
  if (outcome.end == End::kSignalled) return fmt::format("; signal {} ended it", outcome.code);
  if (outcome.end == End::kExited && outcome.code != 0) {
    return fmt::format("; it ended with exit code {}", outcome.code);
  }
  return "";
}

// Returns true if Groma refused the mapping. Such a refusal ends the process with a diagnostic of
// Groma.
bool is_refusal(const GuideFeedback& feedback) {
  return !feedback.matches.empty() &&
         feedback.matches.front().from == GuideMatch::MatchSource::kGroma;
}

// Compares the results of a run with those of runs without the mapping, which it starts if there
// are none yet. Returns how the results differ, or "" if they do not differ or cannot be compared,
// and sets `result.same_results`. A difference counts only if it remains after kMaxReferences runs,
// because the difference between two runs without the mapping shows which lines change each time.
Result<std::string> other_results(const CommandOutcome& outcome, const ProgramRun& run,
                                  ProgramResult& result) {
  const auto cannot = [&result](Same why) {
    result.same_results = why;
    return std::string();
  };
  if (!is_comparable(outcome)) return cannot(Same::kTooLong);
  std::optional<ResultsDifference> difference;
  for (int references = run.results->has_reference() ? 1 : 0;; ++references) {
    if (references > 0) {
      difference = run.results->compare(outcome.out.text, outcome.err.text);
      if (!difference || references == kMaxReferences) break;
    }
    const auto without = run_without_mapping(run);
    if (!without) return without.error();
    if (without->end == End::kStopped) {
      result.stopped = true;
      return cannot(Same::kUnknown);
    }
    // A program may fail now and then. If an earlier run without the mapping succeeded, its results
    // are enough.
    if (!without->ended_well() && references > 0) break;
    if (!without->ended_well()) return cannot(Same::kUnknown);
    if (!is_comparable(*without)) return cannot(Same::kTooLong);
  }
  if (!difference && !run.results->has_results()) return cannot(Same::kNothing);
  result.unsteady = run.results->unsteady();
  result.same_results = difference ? Same::kDifferent : Same::kSame;
  return difference ? to_text(*difference) : "";
}

// Judges one run. Callers call the public functions in the order in which they are declared.
class RunJudge {
 public:
  RunJudge(const EndedRun& ended, const GuideRules& rules, ProgramResult& result)
      : ended_(ended), run_(ended.run), rules_(rules), result_(result) {}

  // Compares the results of a run that ended without an error. Does nothing if the caller does not
  // want this, if a launcher started Groma, or if the program ran well under the mapping in the
  // last 7 days.
  std::optional<Error> compare_if_wanted() {
    if (!ended_.is_well()) return std::nullopt;
    result_.same_results = why_not_compared();
    return result_.same_results == Same::kUnknown ? compare() : std::nullopt;
  }

  // Lets the guide explain the output. A program may print a failure and yet end with exit code 0.
  // Its results are then compared, unless this was done before. If the program prints the same
  // without the mapping, the failure is normal for the program.
  std::optional<Error> explain() {
    result_.feedback = feedback();
    const bool may_compare =
        ended_.mapping != nullptr && run_.results != nullptr && !was_started_by_launcher();
    const bool was_compared =
        result_.same_results != Same::kKnown && result_.same_results != Same::kNotCompared;
    if (!prints_failure() || !may_compare || was_compared) return std::nullopt;
    if (auto error = compare()) return error;
    result_.feedback = feedback();
    return std::nullopt;
  }

  // Returns the stage in which the run failed, or kDone. A program that Groma did not take over,
  // and a mapping that Groma refused, fail before the first task runs (kMap).
  Stage stage() const {
    if (!differs_.empty() || prints_failure()) return Stage::kExecute;
    if (ended_.is_well()) return Stage::kDone;
    return !ended_.taken_over || is_refusal(result_.feedback) ? Stage::kMap : Stage::kExecute;
  }

 private:
  // Returns true if the program ended well, but the guide recognises a failure in its output that
  // is not normal for the program.
  bool prints_failure() const {
    return ended_.is_well() && result_.feedback.status == GuideFeedback::Status::kError &&
           result_.same_results != Same::kSame;
  }

  // Returns the reason why the results of a successful run are not compared. Returns Same::kUnknown
  // if there is no such reason, so that they must be compared.
  Same why_not_compared() const {
    if (ended_.mapping == nullptr || run_.results == nullptr) return Same::kNotCompared;
    if (was_started_by_launcher()) return Same::kLaunched;
    if (run_.compare_failures_only) return Same::kNotCompared;
    return run_.checks == ProgramRun::Checks::kFirst && ended_.was_checked ? Same::kKnown
                                                                           : Same::kUnknown;
  }

  // Compares the results and stores how they differ. Returns an error if the program cannot be
  // started.
  std::optional<Error> compare() {
    auto difference = other_results(ended_.outcome, run_, result_);
    if (!difference) return difference.error();
    differs_ = std::move(difference).value();
    return std::nullopt;
  }

  // Returns the guide's feedback on the difference of the results and on both outputs. Where the
  // middle of an output was left out, a line break separates the two parts.
  GuideFeedback feedback() const {
    const CommandOutcome& outcome = ended_.outcome;
    GuideReader reader(rules_);
    if (!differs_.empty()) {
      reader.begin("groma run");
      reader.read(fmt::format("{}{}\n", kOtherResults, differs_));
    }
    for (const CommandOutput* output : {&outcome.out, &outcome.err}) {
      reader.begin(output == &outcome.out ? "standard output" : "standard error");
      reader.read(std::string_view(output->text).substr(0, output->cut_at));
      if (output->left_out_bytes > 0) reader.read("\n");
      reader.read(std::string_view(output->text).substr(output->cut_at));
    }
    // A shell ends with exit code 127 if it does not find the command. The program then never
    // began.
    const bool never_began = outcome.end == End::kExited && outcome.code == 127;
    if (!ended_.taken_over && !ended_.said_why_not && !never_began) {
      reader.begin("groma run");
      reader.read(fmt::format(
          "groma: no Legion: the program started no Legion that could be taken over{}\n",
          words_of_end(outcome)));
    }
    return reader.feedback(context());
  }

  // Returns the facts that the guide needs beside the output. A run that Groma did not take over
  // counts as failed even with exit code 0.
  GuideContext context() const {
    GuideContext context;
    context.exit_code = result_.exit_code == 0 && !ended_.taken_over ? 1 : result_.exit_code;
    context.timed_out = ended_.outcome.end == End::kDeadline;
    context.program = ended_.mapping;
    context.profile = ended_.profile;
    context.lacking = lacking(run_);
    // The guide suggests to repeat the run with Legion's checks, unless this run already had them.
    // An empty text means that the guide suggests nothing.
    if (result_.checked || has_word(run_, kCheckFlag)) {
      context.checks = "";
    } else if (ended_.mapping != nullptr) {
      context.checks = "`--checks always`";
    }
    context.maps_itself = ended_.mapping == nullptr;
    return context;
  }

  const EndedRun& ended_;
  const ProgramRun& run_;
  const GuideRules& rules_;
  ProgramResult& result_;
  // A text that says how the results differ from those without the mapping. Empty if they do not
  // differ.
  std::string differs_;
};

}  // namespace

// Judges a run. The results are compared before the guide explains the output, because the
// explanation includes a difference.
std::optional<Error> judge_run(const EndedRun& ended, const GuideRules& rules,
                               ProgramResult& result) {
  RunJudge judge(ended, rules, result);
  if (auto error = judge.compare_if_wanted()) return error;
  if (auto error = judge.explain()) return error;
  result.stage = judge.stage();
  return std::nullopt;
}

}  // namespace groma::inspect
