// The evaluator that runs the user's command. It writes each text to a folder of its own and lets
// the correctness command check the text. Then it runs the command on the text and on the incumbent
// in turn.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/median.h"
#include "groma/evaluators.h"
#include "groma/harmless.h"
#include "guide/scanner.h"
#include "tune/command_options.h"
#include "tune/command_runs.h"
#include "tune/metric.h"
#include "tune/output_check.h"
#include "tune/run_comparison.h"

namespace groma::tuning {
namespace {

using Status = Evaluation::Status;
using CommandEnd = CommandOutcome::End;

// The deadline of a run is ten times what the incumbent's run took, but at least one second.
constexpr std::int64_t kLeastDeadlineMs = 1000;
constexpr double kSlowerThanIncumbent = 10;

// The value that the metric read from one run, and the run's time in seconds.
struct Measured {
  double value = 0, seconds = 0;
};

class CommandEvaluator final : public Evaluator {
 public:
  CommandEvaluator(CommandEvaluatorOptions options, Metric metric, GuideRules rules)
      : commands_(std::move(options)), metric_(std::move(metric)), rules_(std::move(rules)) {}

  std::vector<std::string> inputs() const override {
    return options().inputs.empty() ? std::vector<std::string>{"the command"} : options().inputs;
  }
  std::string unit() const override { return options().unit; }
  bool higher_is_better() const override { return options().higher_is_better; }

  // Measures the text with every input. For each input, runs of the incumbent (the best text so
  // far) alternate with runs of the text. The first failure ends the evaluation.
  Evaluation evaluate(const EvaluationRequest& request) override {
    auto text = commands_.write_and_check(request.text, request.stop);
    if (!text) return failed(text.error(), request.detail);
    const CommandRunner::TextPointer incumbent = incumbent_of(request);
    std::vector<RunComparison> all;
    for (const std::string& input : commands_.inputs()) {
      auto compared = compare(**text, incumbent.get(), input, request);
      if (!compared) {
        CommandFailure failure = compared.error();
        failure.input = input;
        return failed(failure, request.detail);
      }
      all.push_back(std::move(*compared));
    }
    Evaluation evaluation = score_of(all, request);
    // The text may be the incumbent of the next evaluations.
    commands_.keep_candidate(evaluation.score < request.incumbent_score ? *std::move(text)
                                                                        : nullptr);
    return evaluation;
  }

 private:
  const CommandEvaluatorOptions& options() const { return commands_.options(); }

  // Runs the command once on the text and reads the value from its output. Fails if the command
  // fails or exceeds the deadline, if the output has no value, or if the output has other results
  // than expected.
  Result<Measured, CommandFailure> measure(const TextInFile& text, const std::string& input,
                                           std::int64_t deadline_ms,
                                           const EvaluationRequest& request) {
    const auto outcome = commands_.run(text, input, deadline_ms, request.stop);
    if (!outcome) return CommandFailure{Status::kFailed, outcome.error().message, {}};
    if (!outcome->ended_well()) {
      const Status status =
          outcome->end == CommandEnd::kDeadline ? Status::kTimedOut : Status::kFailed;
      return CommandFailure{status, "the command " + how_it_ended(*outcome), *outcome};
    }
    const auto value = metric_.read(*outcome);
    if (!value) return CommandFailure{Status::kFailed, value.error(), *outcome, true};
    if (auto failure = output_check_.why_output_is_wrong(text, input, *outcome, request.stop)) {
      return *std::move(failure);
    }
    return Measured{*value, outcome->seconds};
  }

  // Returns the file of the incumbent (the best text so far), which is measured again beside the
  // text. Returns null if there is no incumbent, if it is the text itself, or if the correctness
  // command now refuses it.
  CommandRunner::TextPointer incumbent_of(const EvaluationRequest& request) {
    const bool scored = std::isfinite(request.incumbent_score) && request.incumbent_score > 0;
    if (!scored || request.incumbent.empty() || request.incumbent == request.text) return nullptr;
    auto text = commands_.write_and_check(request.incumbent, request.stop);
    if (!text) return nullptr;
    commands_.keep_incumbent(*text);
    return *std::move(text);
  }

  // Returns the values of the runs for one input. The incumbent runs before and after each run of
  // the text, so that a machine that gets slower affects both. If the incumbent fails, the text is
  // measured alone.
  Result<RunComparison, CommandFailure> compare(const TextInFile& text, const TextInFile* incumbent,
                                                const std::string& input,
                                                const EvaluationRequest& request) {
    RunComparison compared;
    std::int64_t deadline_ms = options().timeout_ms;
    // `run_incumbent` also sets the deadline of the next run of the text from the incumbent's time.
    const auto run_incumbent = [&](bool counts) {
      if (incumbent == nullptr) return;
      const auto measured = measure(*incumbent, input, options().timeout_ms, request);
      if (!measured) {
        incumbent = nullptr;
        compared.incumbent.clear();
        return;
      }
      const double ms = kSlowerThanIncumbent * measured->seconds * 1000;
      deadline_ms =
          std::min(options().timeout_ms, std::max(kLeastDeadlineMs, static_cast<std::int64_t>(ms)));
      if (counts) compared.incumbent.push_back(measured->value);
    };
    const auto many =
        static_cast<int>(std::min<std::int64_t>(2 * options().repeats + 1, kMaxCommandRuns));
    const int repeats = request.again ? many : options().repeats;
    // Negative numbers are the warm-up runs, whose values are not kept.
    for (int i = -options().warmup; i < repeats; ++i) {
      run_incumbent(i >= 0);
      const auto measured = measure(text, input, deadline_ms, request);
      if (!measured) return measured.error();
      if (i >= 0) compared.text.push_back(measured->value);
    }
    run_incumbent(true);
    return compared;
  }

  // Returns the evaluation with its score, which is the geometric mean over the inputs. If the
  // incumbent ran with every input, the values are first scaled: the incumbent's score was measured
  // earlier, when the machine may have been faster or slower than now.
  Evaluation score_of(const std::vector<RunComparison>& all,
                      const EvaluationRequest& request) const {
    std::vector<double> values, incumbent;
    double squares = 0;
    for (const RunComparison& one : all) {
      const bool alone = one.incumbent.empty();
      if (!alone) incumbent.push_back(median(one.incumbent));
      values.push_back(alone ? median(one.text) : one.text_to_incumbent_ratio() * incumbent.back());
      squares += one.noise() * one.noise();
    }
    Evaluation evaluation;
    evaluation.status = Status::kOk;
    evaluation.noise = std::sqrt(squares) / static_cast<double>(all.size());
    // If the incumbent ran with every input, the values are scaled to its earlier score.
    if (incumbent.size() == all.size()) {
      const double scale = value_of(request.incumbent_score) / geometric_mean(incumbent);
      for (double& value : values) value *= scale;
    }
    const double mean = geometric_mean(values);
    evaluation.score = options().higher_is_better ? 1 / mean : mean;
    evaluation.values = std::move(values);
    GuideFeedback& feedback = evaluation.feedback;
    feedback.status = GuideFeedback::Status::kOk;
    if (request.detail >= GuideDetail::kExecution) {
      const double first = evaluation.values.front();
      feedback.score = MeasuredScore{first, options().unit, options().higher_is_better};
      feedback.execution = fmt::format("Performance Metric: {:.6g} {}{}", first, options().unit,
                                       of_input(commands_.inputs().front()));
    }
    return evaluation;
  }

  // Returns " (of INPUT)" if the options have several inputs, and otherwise an empty text.
  std::string of_input(const std::string& input) const {
    return options().inputs.size() > 1 && !input.empty() ? fmt::format(" (of {})", harmless(input))
                                                         : "";
  }

  // Returns the last lines of the output, or none if the output is binary. The guide itself returns
  // these lines only if it recognises nothing in the output.
  std::vector<std::string> last_lines_of(const std::string& output) const {
    guide::LogScanner scanner(rules_.set());
    scanner.read(output);
    scanner.finish_log();
    return scanner.is_binary() ? std::vector<std::string>() : scanner.last_lines();
  }

  // Returns the evaluation of a run that failed. The feedback explains the output of the run by the
  // rules of AutoGuide.
  Evaluation failed(const CommandFailure& failure, GuideDetail detail) const {
    const CommandOutcome& outcome = failure.outcome;
    GuideContext context;
    context.detail = detail;
    context.lacking = options().lacking;
    context.exit_code = outcome.end == CommandEnd::kSignalled ? 128 + outcome.code : outcome.code;
    context.timed_out = outcome.end == CommandEnd::kDeadline;
    Evaluation evaluation;
    evaluation.status = failure.status;
    GuideFeedback& feedback = evaluation.feedback;
    const std::string output = output_check_.without_usual_lines(
        outcome.out.text + "\n" + outcome.err.text, failure.input);
    feedback = guide_log(rules_, output, context);
    // If the guide knows the failure, its feedback stays as it is. Otherwise the reason in
    // `failure` says more than the general message of the guide, and replaces the message.
    const bool known = is_known_failure(feedback);
    feedback.status = GuideFeedback::Status::kError;
    if (detail == GuideDetail::kNone) return evaluation;
    if (known) {
      feedback.execution += of_input(failure.input);
      return evaluation;
    }
    feedback.execution =
        fmt::format("Execution Error: {}{}", failure.reason, of_input(failure.input));
    feedback.score.reset();
    feedback.explain.clear();
    feedback.suggest.clear();
    feedback.last_lines = last_lines_of(output);
    if (detail < GuideDetail::kExplain || feedback.last_lines.empty()) return evaluation;
    feedback.explain.emplace_back(
        failure.status == Status::kRefused && failure.has_exited_with_zero
            ? "A mapping must not change what the program prints."
        : failure.has_exited_with_zero
            ? "The command ended well, but what it printed gives no value."
            : "What it printed last may say why.");
    return evaluation;
  }

  CommandRunner commands_;
  Metric metric_;
  GuideRules rules_;
  OutputCheck output_check_{commands_, rules_};
};

}  // namespace

// Reads the value with the evaluator's own metric. The verification uses the function for runs that
// it made itself.
Result<double> measured_value(const CommandEvaluatorOptions& options,
                              const CommandOutcome& outcome) {
  const auto metric = Metric::make(options.metric_pattern, options.metric_pointer);
  if (!metric) return metric.error();
  const auto value = metric->read(outcome);
  if (!value) return Error{Error::Code::kUnknown, value.error()};
  return *value;
}

// Reports invalid options before it runs anything.
Result<std::unique_ptr<Evaluator>> make_command_evaluator(CommandEvaluatorOptions options) {
  if (auto error = why_invalid(options)) return *error;
  auto metric = Metric::make(options.metric_pattern, options.metric_pointer);
  if (!metric) return metric.error();
  auto rules = GuideRules::make();
  if (!rules) return rules.error();
  return std::unique_ptr<Evaluator>(
      new CommandEvaluator(std::move(options), std::move(*metric), std::move(*rules)));
}

}  // namespace groma::tuning
