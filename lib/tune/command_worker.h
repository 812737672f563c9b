// CommandWorker: evaluates texts with the user's commands at one place. It compares each text with
// the incumbent at the same place, and notices when the place itself is broken.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "groma/evaluators.h"
#include "groma/guide.h"
#include "groma/search.h"
#include "tune/command_runs.h"
#include "tune/metric.h"
#include "tune/output_check.h"
#include "tune/run_comparison.h"

namespace groma::tuning {

// Why a worker could not evaluate a text, which says nothing about the text.
struct WorkerFailure {
  // A sentence without a full stop, about the worker.
  std::string reason;
  // True if the worker died while it ran the text, just after it had run the incumbent well.
  bool during_text = false;
};

// One worker. It evaluates one text at a time.
class CommandWorker {
 public:
  // `metric` and `rules` must outlive the worker. `must_compare`: an evaluation without the
  // incumbent is of no use, because other workers measure as well.
  CommandWorker(const CommandEvaluatorOptions& options, const Metric& metric,
                const GuideRules& rules, std::unique_ptr<CommandPlace> place, std::string name,
                bool must_compare);

  // Returns the name for people: the number, and the command that connects to it.
  const std::string& name() const { return name_; }
  // Connects to the place, or connects again.
  std::optional<Error> start(const CommandRunner::Stop& stop) { return place_.start(stop); }
  // Begins to disconnect.
  void hang_up() { place_.hang_up(); }

  // Measures the text with every input. For each input, runs of the incumbent (the best text so
  // far) alternate with runs of the text. The first failure ends the evaluation.
  Result<Evaluation, WorkerFailure> evaluate(const EvaluationRequest& request);
  // Returns the evaluation of a run that failed. The feedback explains the output of the run by the
  // rules of AutoGuide.
  Evaluation failed(const CommandFailure& failure, GuideDetail detail) const;

 private:
  // The value that the metric read from one run, and the run's time in seconds.
  struct Measured {
    double value = 0, seconds = 0;
    // The standard output, if the options keep it.
    std::string printed = {};
  };

  const CommandEvaluatorOptions& options() const { return commands_.options(); }
  Result<Evaluation, WorkerFailure> evaluate_at_place(const EvaluationRequest& request);
  // Runs the command once on the text and reads the value from its output. Fails if the command
  // fails or exceeds the deadline, if the output has no value, or if the output has other results
  // than expected.
  Result<Measured, CommandFailure> measure(const TextInFile& text, const std::string& input,
                                           std::int64_t deadline_ms,
                                           const EvaluationRequest& request);
  // Returns the file of the incumbent (the best text so far), which is measured again beside the
  // text. Returns null if there is no incumbent, if it is the text itself, or if the correctness
  // command now refuses it.
  CommandRunner::TextPointer incumbent_of(const EvaluationRequest& request);
  // Returns the values of the runs for one input. The incumbent runs before and after each run of
  // the text, so that a machine that gets slower affects both. If the incumbent fails, the text is
  // measured alone.
  Result<RunComparison, CommandFailure> compare(const TextInFile& text, const TextInFile* incumbent,
                                                const std::string& input,
                                                const EvaluationRequest& request);
  // Runs a text again that ran well before. Returns why the worker is broken if that text now fails
  // twice; nullopt if it runs well or if no such text is known.
  std::optional<std::string> why_broken(const EvaluationRequest& request, const std::string& input);
  // Returns the evaluation with its score, which is the geometric mean over the inputs. If the
  // incumbent ran with every input, the values are first scaled: the incumbent's score was measured
  // earlier, or by another worker.
  Evaluation score_of(const std::vector<RunComparison>& all, const EvaluationRequest& request);
  // Returns how the worker's speed has changed, from the value of a text that runs beside others.
  double drift_of(const std::string& text, double value);
  // Returns " (of INPUT)" if the options have several inputs, and otherwise an empty text.
  std::string of_input(const std::string& input) const;
  // Returns the last lines of the output, or none if the output is binary.
  std::vector<std::string> last_lines_of(const std::string& output) const;
  // Returns the lines of the output that explain a failure best: the errors of a compiler with the
  // lines below them, or else the last lines.
  std::vector<std::string> telling_lines_of(const std::string& output) const;

  std::string name_;
  // What the last run of a text printed, if the options keep it.
  std::string last_printed_;
  bool must_compare_;
  CommandPlace& place_;
  CommandRunner commands_;
  const Metric& metric_;
  const GuideRules& rules_;
  OutputCheck output_check_;
  // A text that ran well here, and the longest time of a run of such a text.
  std::optional<std::string> good_text_;
  double good_seconds_ = 0;
  // The text whose repeated runs show the drift, the value that it would have had at the worker's
  // first measurement, and the last known drift.
  std::optional<std::string> drift_text_;
  double first_value_ = 0, drift_ = 1;
  // True while the text runs, after the incumbent has run well.
  bool text_is_suspect_ = false;
};

}  // namespace groma::tuning
