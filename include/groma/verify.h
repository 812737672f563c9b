// Verification: runs a real Legion program without a mapping and under the mappings that a search
// found, compares times and results, and says which mapping is the fastest (`groma tune --verify`).
// docs/commands.md describes the table and the JSON.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "groma/app.h"
#include "groma/evaluators.h"
#include "groma/machine.h"
#include "groma/result.h"
#include "groma/results.h"
#include "groma/run_program.h"
#include "groma/search.h"
#include "groma/tune.h"

namespace groma::tuning {

// A mapping to measure with the real program.
struct VerifyCandidate {
  // The name of the mapping in reports, such as "start" or "step 17".
  std::string name;
  std::string text;
  // The value of the mapping in the embedded runtime, in the evaluator's unit. NaN: the mapping was
  // not simulated.
  double simulated = std::numeric_limits<double>::quiet_NaN();
  // True if the search began with this mapping.
  bool is_start = false;
};

// The best steps of a search, the best first, each text once. Pass it every step of the search
// (TuneEvent::Kind::kEvaluated); it keeps the kMost best.
class BestSteps {
 public:
  static constexpr std::size_t kMost = 3;
  void add(const Step& step);
  const std::vector<Step>& all() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

// Returns the mappings of a search in the embedded runtime that are worth a verification: the
// start, the best steps, and the best of the search if it is not among them. `outcome` has a best.
std::vector<VerifyCandidate> candidates_of(const TuneOutcome& outcome, const BestSteps& best,
                                           const Evaluator& evaluator);
// Returns the mappings of a search with measured runs that are worth a verification: the start, if
// it ran, and the best.
std::vector<VerifyCandidate> candidates_of(const TuneOutcome& outcome);

// The program to run, and the value to measure.
struct VerifyOptions {
  // The program. Set `words`, `library`, `timeout_ms`, `override_layouts`, `stop` and
  // `compare_failures_only`; verify() sets or ignores the other members.
  ProgramRun run;
  // The options with which results are compared. verify() sets `measure`.
  ResultsOptions results = {};
  // The number of measured runs of each mapping, at least 1.
  int repeats = 3;
  // The measured value: a metric and its unit; the other members are not used. Without a metric,
  // the time in seconds of the program's last line such as `elapsed 12.34 ms` or `ELAPSED TIME =
  // 0.012 s` counts. If there is no such line, the run time of the whole process counts.
  CommandEvaluatorOptions metric = {};
  // The application that the program is taken to be, and the machine of the search. Null: unknown.
  // The application must outlive the call.
  const Application* app = nullptr;
  std::shared_ptr<const Machine> machine = {};
  // Called before each run, with the name of the candidate and the number of its run. Run 0 is not
  // measured.
  std::function<void(const std::string& name, int run)> on_run = {};
};

// Returns why the options cannot be used: there is no such program, or the metric is not valid.
// Nothing is run.
std::optional<Error> wrong_verify_options(const VerifyOptions& options);

// Runs the program once with its own mapping, before a search. Returns warnings if the program
// fails or does not do what the application describes. Fails on options that cannot be used, and on
// a metric that does not occur in the output. Also fails if the program cannot be run or contains
// no Legion that Groma can take over.
Result<std::vector<std::string>> look_at_program(const VerifyOptions& options);

// The measured runs of a real program under one mapping.
struct VerifiedMapping {
  VerifyCandidate candidate;
  // One value for each run. Empty if the program failed.
  std::vector<double> runs = {};
  // The reason of the failure, in one line.
  std::string why = {};
  // True if the printed results differ from those without a mapping.
  bool is_wrong = false;
  // Returns the median of the runs. There must be at least one run.
  double median() const;
};

// The comparison of the runs of one mapping with the runs of another.
struct VerifyComparison {
  // The quotient of the medians. Above 1, the first mapping is better.
  double speedup = 1;
  // The noise of the measurements: half the width of the interval of a mapping's runs
  // (interval_of), relative to their median. Of the two mappings, the larger value counts.
  double noise = 0;
  // True if the intervals of the runs of both mappings (interval_of) do not overlap.
  bool differs = false;
  // True if one of the mappings has only one measured run, which does not show the noise.
  bool one_run = false;
};

// The result of verify(): the measurements of all candidates and of the program without a mapping.
struct Verification {
  enum class ComparedValue : std::uint8_t {
    // The mappings are compared by the value that the metric finds in the output.
    kMetric,
    // The mappings are compared by the time that the program prints.
    kElapsed,
    // The mappings are compared by the run time of the whole process.
    kProcess,
  } measure = ComparedValue::kProcess;
  std::string unit = "s";
  bool higher_is_better = false;
  // The number of measured runs of each mapping.
  int repeats = 0;
  // The measured runs of the program without a mapping.
  VerifiedMapping without;
  // One entry for each candidate, in the same order.
  std::vector<VerifiedMapping> all;
  // The results that were not compared, because they vary from run to run.
  UnsteadyResults unsteady = {};

  // Returns the mapping with the best median, or null if no mapping ran.
  const VerifiedMapping* fastest() const;
  // Returns the candidate with which the search began, or null if it did not run.
  const VerifiedMapping* start() const;
  // Compares the runs of two mappings. Returns nullopt if one of them did not run.
  std::optional<VerifyComparison> compare(const VerifiedMapping& one,
                                          const VerifiedMapping& other) const;
};

// Runs the program without a mapping and under each mapping. The first run of each has Legion's
// checks on and is not measured. Then `repeats` measured runs follow in turn, forwards and
// backwards, so that other load on the computer affects all mappings alike. The output is
// discarded. A mapping is wrong, however fast, if the program prints other results than without a
// mapping (groma/results.h). If `run.stop` ends it, the result is incomplete. Fails if no program
// can be started at all, and on options that cannot be used.
Result<Verification> verify(const std::vector<VerifyCandidate>& candidates,
                            const VerifyOptions& options);

// Returns the table and the conclusions for a person. `program` is the title. `unit` is the unit of
// the simulated values, if there are any. `phase` names the part of the run that they belong to
// (empty: the whole run). Ends with a line end.
std::string draw(const Verification& verified, const std::string& program, const std::string& unit,
                 const std::string& phase);
// Returns one line of JSON with its line end (docs/commands.md). `warnings` come from
// look_at_program().
std::string to_json(const Verification& verified, const std::vector<std::string>& warnings);

}  // namespace groma::tuning
