// Evaluates texts at one place: checks each text, runs the command on it and on the incumbent in
// turn, and explains failures.
#include "tune/command_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/median.h"
#include "groma/harmless.h"
#include "groma/line_edits.h"
#include "guide/scanner.h"
#include "search/lines.h"
#include "tune/command_options.h"

namespace groma::tuning {
namespace {

using Status = Evaluation::Status;
using CommandEnd = CommandOutcome::End;

// The deadline of a run is ten times what the incumbent's run took, but at least one second.
constexpr std::int64_t kLeastDeadlineMs = 1000;
constexpr double kSlowerThanIncumbent = 10;
// The least deadline of a run that only shows whether the worker is broken, and the number of such
// runs that must fail.
constexpr std::int64_t kLeastProofMs = 10'000;
constexpr int kProofs = 2;
// Limits on the lines that explain a failure, on their bytes, and the lines that belong to an
// error.
constexpr std::size_t kTellingLines = 16, kTellingBytes = 300, kLinesOfError = 4;

bool is_stopped(const EvaluationRequest& request) { return request.stop && request.stop(); }

// Returns true if the request names an incumbent that is not the text itself.
bool has_incumbent(const EvaluationRequest& request) {
  const bool scored = std::isfinite(request.incumbent_score) && request.incumbent_score > 0;
  return scored && !request.incumbent.empty() && request.incumbent != request.text;
}

}  // namespace

CommandWorker::CommandWorker(const CommandEvaluatorOptions& options, const Metric& metric,
                             const GuideRules& rules, std::unique_ptr<CommandPlace> place,
                             std::string name, bool must_compare)
    : name_(std::move(name)),
      must_compare_(must_compare),
      place_(*place),
      commands_(options, std::move(place)),
      metric_(metric),
      rules_(rules),
      output_check_(commands_, rules) {}

// What the commands returned after the connection was lost is ignored.
Result<Evaluation, WorkerFailure> CommandWorker::evaluate(const EvaluationRequest& request) {
  text_is_suspect_ = false;
  auto evaluation = evaluate_at_place(request);
  if (auto why = place_.why_lost()) return WorkerFailure{*std::move(why), text_is_suspect_};
  return evaluation;
}

// A text that the correctness command refuses says nothing about the worker, which may lack
// nothing but a compiler for this text. Any other failure is the text's only if a good text runs.
Result<Evaluation, WorkerFailure> CommandWorker::evaluate_at_place(
    const EvaluationRequest& request) {
  auto text = commands_.write_and_check(request.text, request.stop);
  if (!text) {
    // A text that does not build or is wrong mostly ends the check with exit code 1. Any other end
    // may have its cause in the device.
    const CommandOutcome& outcome = text.error().outcome;
    const bool may_be_device = outcome.end != CommandEnd::kExited || outcome.code != 1;
    if (may_be_device && !is_stopped(request) && !place_.why_lost()) {
      if (auto why = why_broken(request, commands_.inputs().front())) {
        return WorkerFailure{*std::move(why)};
      }
    }
    return failed(text.error(), request.detail);
  }
  const CommandRunner::TextPointer incumbent = incumbent_of(request);
  std::vector<RunComparison> all;
  for (const std::string& input : commands_.inputs()) {
    auto compared = compare(**text, incumbent.get(), input, request);
    const bool text_failed = !compared && compared.error().status != Status::kRefused;
    const bool is_alone = compared && compared->incumbent.empty();
    const bool incomparable = is_alone && must_compare_ && has_incumbent(request);
    if ((text_failed || incomparable) && !is_stopped(request) && !place_.why_lost()) {
      if (auto why = why_broken(request, input)) return WorkerFailure{*std::move(why)};
    }
    if (incomparable) return WorkerFailure{"the best text, which ran well before, failed once"};
    if (!compared) {
      CommandFailure failure = compared.error();
      failure.input = input;
      return failed(failure, request.detail);
    }
    all.push_back(std::move(*compared));
  }
  Evaluation evaluation = score_of(all, request);
  good_text_ = incumbent == nullptr ? request.text : request.incumbent;
  // The text may be the incumbent of the next evaluations.
  commands_.keep_candidate(evaluation.score < request.incumbent_score ? *std::move(text) : nullptr);
  return evaluation;
}

// Both tries must fail, because a text that ran well may fail now and then.
std::optional<std::string> CommandWorker::why_broken(const EvaluationRequest& request,
                                                     const std::string& input) {
  const std::optional<std::string> good =
      has_incumbent(request) ? std::optional(request.incumbent) : good_text_;
  if (!good || *good == request.text) return std::nullopt;
  const auto enough_ms = static_cast<std::int64_t>(kSlowerThanIncumbent * good_seconds_ * 1000);
  const std::int64_t deadline_ms =
      good_seconds_ > 0 ? std::min(options().timeout_ms, std::max(kLeastProofMs, enough_ms))
                        : options().timeout_ms;
  std::string why;
  for (int i = 0; i < kProofs; ++i) {
    const auto text = commands_.write_and_check(*good, request.stop);
    if (text) {
      const auto measured = measure(**text, input, deadline_ms, request);
      if (measured) return std::nullopt;
      why = measured.error().reason;
      const auto words = last_lines_of(measured.error().outcome.out.text + "\n" +
                                       measured.error().outcome.err.text);
      if (!words.empty()) why += ": " + harmless(words.back());
    } else {
      why = text.error().reason;
    }
    if (is_stopped(request) || place_.why_lost()) return std::nullopt;
  }
  return "a text that ran well before now fails, too: " + why;
}

// A command that exits with 0 has also failed if its output gives no value.
Result<CommandWorker::Measured, CommandFailure> CommandWorker::measure(
    const TextInFile& text, const std::string& input, std::int64_t deadline_ms,
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
  return Measured{*value, outcome->seconds, options().keeps_output ? outcome->out.text : ""};
}

// The file of the incumbent is kept, so that it is built only once.
CommandRunner::TextPointer CommandWorker::incumbent_of(const EvaluationRequest& request) {
  if (!has_incumbent(request)) return nullptr;
  auto text = commands_.write_and_check(request.incumbent, request.stop);
  if (!text) return nullptr;
  commands_.keep_incumbent(*text);
  return *std::move(text);
}

// The incumbent also sets the time limit of the text.
Result<RunComparison, CommandFailure> CommandWorker::compare(const TextInFile& text,
                                                             const TextInFile* incumbent,
                                                             const std::string& input,
                                                             const EvaluationRequest& request) {
  RunComparison compared;
  std::int64_t deadline_ms = options().timeout_ms;
  // `run_incumbent` also sets the deadline of the next run of the text from the incumbent's time.
  const auto run_incumbent = [&](bool counts) {
    text_is_suspect_ = false;
    if (incumbent == nullptr) return;
    const auto measured = measure(*incumbent, input, options().timeout_ms, request);
    if (!measured) {
      incumbent = nullptr;
      compared.incumbent.clear();
      return;
    }
    good_seconds_ = std::max(good_seconds_, measured->seconds);
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
    text_is_suspect_ = incumbent != nullptr;
    const auto measured = measure(text, input, deadline_ms, request);
    if (!measured) return measured.error();
    if (i >= 0) compared.text.push_back(measured->value);
    if (options().keeps_output) last_printed_ = measured->printed;
  }
  run_incumbent(true);
  return compared;
}

// Several inputs count equally.
Evaluation CommandWorker::score_of(const std::vector<RunComparison>& all,
                                   const EvaluationRequest& request) {
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
  Evaluation::Measurement measured;
  measured.worker = name_;
  // If the incumbent ran with every input, the values are scaled to its earlier score.
  if (incumbent.size() == all.size()) {
    measured.incumbent_value = geometric_mean(incumbent);
    measured.drift = drift_of(request.incumbent, measured.incumbent_value);
    const double scale =
        (options().higher_is_better ? 1 / request.incumbent_score : request.incumbent_score) /
        measured.incumbent_value;
    for (double& value : values) value *= scale;
  }
  const double mean = geometric_mean(values);
  if (measured.incumbent_value == 0) measured.drift = drift_of(request.text, mean);
  evaluation.measured = measured;
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
  if (options().keeps_output) feedback.last_lines = last_lines_of(last_printed_);
  return evaluation;
}

// A text that is new here has no earlier value at this worker. Its first value is taken as if the
// worker had not changed since the text before it ran.
double CommandWorker::drift_of(const std::string& text, double value) {
  const bool higher = options().higher_is_better;
  if (drift_text_ != text) {
    drift_text_ = text;
    first_value_ = higher ? value * drift_ : value / drift_;
    return drift_;
  }
  drift_ = higher ? first_value_ / value : value / first_value_;
  return drift_;
}

// The caller puts the result behind a sentence.
std::string CommandWorker::of_input(const std::string& input) const {
  return options().inputs.size() > 1 && !input.empty() ? fmt::format(" (of {})", harmless(input))
                                                       : "";
}

// The guide itself returns these lines only if it recognises nothing in the output.
std::vector<std::string> CommandWorker::last_lines_of(const std::string& output) const {
  guide::LogScanner scanner(rules_.set());
  scanner.read(output);
  scanner.finish_log();
  return scanner.is_binary() ? std::vector<std::string>() : scanner.last_lines();
}

// Compilers print the cause first. The last lines of a long output are then only consequences.
std::vector<std::string> CommandWorker::telling_lines_of(const std::string& output) const {
  std::vector<std::string> last = last_lines_of(output);
  if (last.empty()) return last;
  std::vector<std::string> lines;
  std::size_t follow = 0;
  for (const std::string_view line : lines_of(output)) {
    if (lines.size() == kTellingLines) break;
    const bool is_error = line.find("error:") != line.npos;
    // A linker says what is wrong above its own last line.
    if (is_error && lines.empty() && line.starts_with("collect2:")) return last;
    if (is_error) follow = kLinesOfError;
    if (follow == 0 || trimmed(line).empty()) continue;
    --follow;
    const std::size_t end = line.find_last_not_of("\r\n");
    lines.push_back(harmless(line.substr(0, end + 1), kTellingBytes));
  }
  return lines.empty() ? last : lines;
}

// The command and the input that failed are named.
Evaluation CommandWorker::failed(const CommandFailure& failure, GuideDetail detail) const {
  const CommandOutcome& outcome = failure.outcome;
  GuideContext context;
  context.detail = detail;
  context.lacking = options().lacking;
  context.exit_code = outcome.end == CommandEnd::kSignalled ? 128 + outcome.code : outcome.code;
  context.timed_out = outcome.end == CommandEnd::kDeadline;
  Evaluation evaluation;
  evaluation.status = failure.status;
  GuideFeedback& feedback = evaluation.feedback;
  const std::string output =
      output_check_.without_usual_lines(outcome.out.text + "\n" + outcome.err.text, failure.input);
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
  feedback.last_lines = telling_lines_of(output);
  if (detail < GuideDetail::kExplain || feedback.last_lines.empty()) return evaluation;
  feedback.explain.emplace_back(failure.status == Status::kRefused && failure.has_exited_with_zero
                                    ? "A mapping must not change what the program prints."
                                : failure.has_exited_with_zero
                                    ? "The command ended well, but what it printed gives no value."
                                    : "What it printed last may say why.");
  return evaluation;
}

}  // namespace groma::tuning
