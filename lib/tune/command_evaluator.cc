// The evaluator that runs the user's command. Each text is written to its own folder, checked, and
// then run alternately with the incumbent.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/median.h"
#include "groma/evaluators.h"
#include "groma/harmless.h"
#include "groma/system.h"
#include "guide/scanner.h"
#include "legion_run/comparable.h"
#include "tune/metric.h"

namespace groma {
namespace {

namespace fs = std::filesystem;
using tuning::Metric;
using Status = Evaluation::Status;
using End = CommandOutcome::End;

constexpr std::size_t kMaxOutputBytes = std::size_t{1} << 20;
constexpr std::int64_t kMostRuns = 1000;  // limit of warm-up runs, and of repeats
constexpr std::int64_t kLeastDeadlineMs = 1000;
constexpr double kSlowerThanIncumbent = 10;
constexpr int kMostReferences = 16;  // runs whose results are kept, per input
constexpr int kMoreReferences = 2;   // further reference runs before a difference is reported

// A text in a file in its own folder. The destructor removes both.
class Placed {
 public:
  static Result<std::shared_ptr<const Placed>> make(const std::string& text,
                                                    const std::string& suffix) {
    auto folder = ScratchFolder::make();
    if (!folder) return folder.error();
    auto placed = std::make_shared<Placed>(std::move(folder).value(), text, suffix);
    if (auto error = write_file(placed->file_, text)) return *error;
    return std::shared_ptr<const Placed>(placed);
  }
  Placed(ScratchFolder folder, std::string text, const std::string& suffix)
      : folder_(std::move(folder)),
        file_(folder_.path() + "/text" + suffix),
        text_(std::move(text)) {}

  const std::string& text() const { return text_; }
  const std::string& file() const { return file_; }

 private:
  ScratchFolder folder_;
  std::string file_, text_;
};

// The reason that a text has no score.
struct Failure {
  Status status = Status::kFailed;
  std::string what;  // a sentence without full stop, used if the output says no more
  CommandOutcome outcome;
  bool has_ended_well = false;  // only the output lacks something
  std::string input = {};       // the input, if there are several
};

struct Measured {
  double value = 0, seconds = 0;
};

using Lines = std::set<std::string, std::less<>>;

// The expected results of the command for one input.
struct Expected {
  Results results;
  std::string text;  // the text that gave these results
  int runs = 0;
};

// The measurements for one input.
struct Comparison {
  std::vector<double> text, incumbent;  // the incumbent has one run more, or none

  // Returns the text's value divided by the incumbent's: the median over all pairs of their runs
  // (Hodges and Lehmann). The quotient of the two medians is wrong if the machine changes between
  // the runs: half of the incumbent's runs are then affected, but never half of the text's.
  double quotient() const { return std::exp(median(logarithms())); }

  // Returns the noise. With fewer than kManyRuns runs it is half the range of the comparisons with
  // the neighbouring runs. With more runs, where one disturbed run would make that useless, it is
  // at most the distance to the upper bound of the quotient (Moses). With seven runs beside eight,
  // the bound is exceeded by chance once in a hundred times.
  double noise() const {
    if (incumbent.empty()) return half_width(interval_of(text), text);
    std::vector<double> beside;  // each run relative to its two neighbours
    for (std::size_t i = 0; i < text.size(); ++i) {
      beside.push_back(text[i] / std::sqrt(incumbent[i] * incumbent[i + 1]));
    }
    const auto [least, most] = std::minmax_element(beside.begin(), beside.end());
    const double half = half_width({*least, *most}, beside);
    if (text.size() < kManyRuns) return half;
    const std::vector<double> all = logarithms();
    const double upper = all[all.size() - 1 - all.size() / 7];
    return std::min(half, 1 - std::exp(median(all) - upper));
  }

 private:
  // Returns the logarithms of all quotients, in ascending order.
  std::vector<double> logarithms() const {
    std::vector<double> all;
    for (const double value : text) {
      for (const double other : incumbent) all.push_back(std::log(value / other));
    }
    std::sort(all.begin(), all.end());
    return all;
  }
};

class CommandEvaluator final : public Evaluator {
 public:
  CommandEvaluator(CommandEvaluatorOptions options, Metric metric, GuideRules rules)
      : options_(std::move(options)), metric_(std::move(metric)), rules_(std::move(rules)) {
    check_for_each_ = options_.check_command.find("{input}") != std::string::npos;
    for (std::string* command : {&options_.command, &options_.check_command}) {
      replace(*command, "{file}", "\"$GROMA_FILE\"");
      replace(*command, "{input}", "\"$GROMA_INPUT\"");
    }
  }

  std::vector<std::string> inputs() const override {
    return options_.inputs.empty() ? std::vector<std::string>{"the command"} : options_.inputs;
  }
  std::string unit() const override { return options_.unit; }
  bool higher_is_better() const override { return options_.higher_is_better; }

  // Checks the text, then measures it with every input beside the incumbent.
  Evaluation evaluate(const EvaluationRequest& request) override {
    std::shared_ptr<const Placed> text = kept(request.text);
    if (text == nullptr) {
      auto placed = Placed::make(request.text, options_.file_suffix);
      if (!placed) return failed({Status::kFailed, placed.error().message, {}}, request.detail);
      text = std::move(placed).value();
      if (const auto failure = checked(*text, request)) return failed(*failure, request.detail);
    }
    const std::shared_ptr<const Placed> incumbent = incumbent_of(request);
    std::vector<Comparison> all;
    for (const std::string& input : runs()) {
      auto compared = compare(*text, incumbent.get(), input, request);
      if (!compared) {
        Failure failure = compared.error();
        failure.input = input;
        return failed(failure, request.detail);
      }
      all.push_back(std::move(*compared));
    }
    Evaluation evaluation = score_of(all, request);
    // The text may be the incumbent of the next evaluations.
    kept_.back() = evaluation.score < request.incumbent_score ? std::move(text) : nullptr;
    return evaluation;
  }

 private:
  static void replace(std::string& command, std::string_view what, std::string_view by) {
    for (std::size_t at = command.find(what); at != command.npos;
         at = command.find(what, at + by.size())) {
      command.replace(at, what.size(), by);
    }
  }

  std::vector<std::string> runs() const {
    return options_.inputs.empty() ? std::vector<std::string>{""} : options_.inputs;
  }

  // Runs a shell command with GROMA_FILE and GROMA_INPUT set, and without GROMA_API_KEY.
  Result<CommandOutcome> run(const std::string& script, const Placed& placed,
                             const std::string& input, std::int64_t deadline_ms,
                             const EvaluationRequest& request) const {
    Command command;
    command.words = {"sh", "-c", script};
    command.folder = options_.folder;
    command.environment = {"GROMA_API_KEY", "GROMA_FILE=" + placed.file(), "GROMA_INPUT=" + input};
    command.deadline_ms = deadline_ms;
    command.memory_bytes = options_.memory_bytes;
    command.max_output_bytes = kMaxOutputBytes;
    command.stop = request.stop;
    return run_command(command);
  }

  static std::string how_it_ended(const CommandOutcome& outcome) {
    if (outcome.end == End::kExited) return fmt::format("ended with exit code {}", outcome.code);
    if (outcome.end == End::kSignalled) {
      return fmt::format("was ended by signal {} ({})", outcome.code, strsignal(outcome.code));
    }
    if (outcome.end == End::kStopped) return "was stopped";
    return fmt::format("was still running at its time limit, after {:.3g} s", outcome.seconds);
  }

  // Runs the check command. Returns nullopt if the text is correct as far as that command knows.
  std::optional<Failure> checked(const Placed& placed, const EvaluationRequest& request) const {
    if (options_.check_command.empty()) return std::nullopt;
    for (const std::string& input : runs()) {
      const auto outcome = run(options_.check_command, placed, input, options_.timeout_ms, request);
      if (!outcome) return Failure{Status::kRefused, outcome.error().message, {}};
      if (outcome->end != End::kExited || outcome->code != 0) {
        return Failure{Status::kRefused, "the correctness command " + how_it_ended(*outcome),
                       *outcome, false, check_for_each_ ? input : ""};
      }
      if (!check_for_each_) break;
    }
    return std::nullopt;
  }

  // Runs the command once and reads its value.
  Result<Measured, Failure> measure(const Placed& placed, const std::string& input,
                                    std::int64_t deadline_ms, const EvaluationRequest& request) {
    const auto outcome = run(options_.command, placed, input, deadline_ms, request);
    if (!outcome) return Failure{Status::kFailed, outcome.error().message, {}};
    if (outcome->end != End::kExited || outcome->code != 0) {
      const Status status = outcome->end == End::kDeadline ? Status::kTimedOut : Status::kFailed;
      return Failure{status, "the command " + how_it_ended(*outcome), *outcome};
    }
    const auto value = metric_.read(*outcome);
    if (!value) return Failure{Status::kFailed, value.error(), *outcome, true};
    if (auto failure = why_wrong(placed, input, *outcome, request)) return std::move(*failure);
    return Measured{*value, outcome->seconds};
  }

  // Returns why a run that exited normally is wrong: it reports a failure or prints other results.
  // Returns nullopt if it is right, or if there is nothing to compare with yet.
  std::optional<Failure> why_wrong(const Placed& placed, const std::string& input,
                                   const CommandOutcome& outcome,
                                   const EvaluationRequest& request) {
    if (!options_.results) return std::nullopt;
    auto [out, err] = printed(placed, outcome);
    const std::string both = out + "\n" + err;
    if (says_failure(both) && says_failure(without_usual_lines(both, input, request))) {
      return Failure{Status::kFailed, "the command ended well, but said that it failed", outcome};
    }
    if (!inspect::is_comparable(outcome)) return std::nullopt;
    for (std::string* text : {&out, &err}) *text = without_diagnostics(*text);
    auto known = expected_.find(input);
    if (known == expected_.end()) {
      ResultsOptions options = *options_.results;
      options.measure = options_.metric_pattern;
      auto results = Results::make(std::move(options));
      if (!results) return Failure{Status::kFailed, results.error().message, {}};
      known = expected_.emplace(input, Expected{std::move(*results), placed.text()}).first;
    }
    Expected& expected = known->second;
    if (expected.text == placed.text()) {
      if (expected.runs++ < kMostReferences) expected.results.add_reference(out, err);
      return std::nullopt;
    }
    auto difference = expected.results.compare(out, err);
    for (int more = 0; difference && more < kMoreReferences; ++more) {
      if (!add_reference(expected, input, request)) break;
      difference = expected.results.compare(out, err);
    }
    if (!difference) return std::nullopt;
    return Failure{Status::kRefused,
                   "other results than those of the first text that ran: " + to_text(*difference),
                   outcome, true};
  }

  // Returns both outputs, with `{file}` in place of the text's file name.
  static std::pair<std::string, std::string> printed(const Placed& placed,
                                                     const CommandOutcome& outcome) {
    std::pair<std::string, std::string> both(outcome.out.text, outcome.err.text);
    for (std::string* text : {&both.first, &both.second}) replace(*text, placed.file(), "{file}");
    return both;
  }

  // Runs the command again with the reference text, because values that vary from run to run may
  // have been equal by chance. Returns false if the run fails or the limit is reached.
  bool add_reference(Expected& expected, const std::string& input,
                     const EvaluationRequest& request) const {
    if (expected.runs >= kMostReferences) return false;
    std::shared_ptr<const Placed> placed = kept(expected.text);
    if (placed == nullptr) {
      auto made = Placed::make(expected.text, options_.file_suffix);
      if (!made || checked(**made, request)) return false;
      placed = *std::move(made);
    }
    const auto outcome = run(options_.command, *placed, input, options_.timeout_ms, request);
    if (!outcome || outcome->end != End::kExited || outcome->code != 0) return false;
    if (!inspect::is_comparable(*outcome)) return false;
    const auto [out, err] = printed(*placed, *outcome);
    expected.results.add_reference(without_diagnostics(out), without_diagnostics(err));
    ++expected.runs;
    return true;
  }

  // Returns the output without diagnostics about the text from Groma or a compiler: `{file}:8: ...`
  // and the source line, notes and help below it.
  static std::string without_diagnostics(const std::string& printed) {
    static const RE2 begins(R"(^\{file\}:[0-9]+:)"),
        continues(R"(^(?: *[0-9]* \| |note: |help: ))");
    std::string rest;
    bool inside = false;
    for_each_line(printed, [&](std::string_view line) {
      const re2::StringPiece piece(line.data(), line.size());
      inside = RE2::PartialMatch(piece, begins) || (inside && RE2::PartialMatch(piece, continues));
      if (!inside) (rest += line) += '\n';
    });
    return rest;
  }

  // Returns true if the guide recognises a failure in the output.
  bool says_failure(const std::string& printed) const {
    const Feedback heard = guide_log(rules_, printed, {});
    return heard.status == Feedback::Status::kError && !is_silent(heard);
  }

  // Returns the output without the lines that the command also prints for an empty text. An empty
  // mapping decides nothing, so a failure among these lines is normal for the command.
  std::string without_usual_lines(const std::string& printed, const std::string& input,
                                  const EvaluationRequest& request) {
    auto known = usual_.find(input);
    if (known == usual_.end()) {
      known = usual_.emplace(input, lines_under_nothing(input, request)).first;
    }
    return without(known->second, printed);
  }

  static std::string without(const Lines& lines, const std::string& printed) {
    std::string rest;
    for_each_line(printed, [&](std::string_view line) {
      if (!lines.contains(line)) (rest += line) += '\n';
    });
    return rest;
  }

  // Returns the lines that the command prints for an empty text; empty if the command fails.
  Lines lines_under_nothing(const std::string& input, const EvaluationRequest& request) const {
    const auto placed = Placed::make("", options_.file_suffix);
    if (!placed) return {};
    const auto outcome = run(options_.command, **placed, input, options_.timeout_ms, request);
    if (!outcome || outcome->end != End::kExited || outcome->code != 0) return {};
    Lines lines;
    for (std::string text : {outcome->out.text, outcome->err.text}) {
      replace(text, (*placed)->file(), "{file}");
      for_each_line(text, [&](std::string_view line) { lines.emplace(line); });
    }
    return lines;
  }

  template <typename Use>
  static void for_each_line(std::string_view text, const Use& use) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      use(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  // Returns the incumbent to measure again; null if there is none or it fails now.
  std::shared_ptr<const Placed> incumbent_of(const EvaluationRequest& request) {
    const bool scored = std::isfinite(request.incumbent_score) && request.incumbent_score > 0;
    if (!scored || request.incumbent.empty() || request.incumbent == request.text) return nullptr;
    if (auto known = kept(request.incumbent)) return kept_.front() = std::move(known);
    const auto placed = Placed::make(request.incumbent, options_.file_suffix);
    if (!placed || checked(**placed, request)) return nullptr;
    return kept_.front() = *placed;
  }

  // Returns a kept text; null if it is not kept or its file was removed.
  std::shared_ptr<const Placed> kept(const std::string& text) const {
    for (const std::shared_ptr<const Placed>& placed : kept_) {
      std::error_code none;
      if (placed != nullptr && placed->text() == text &&
          std::filesystem::exists(placed->file(), none)) {
        return placed;
      }
    }
    return nullptr;
  }

  // Runs the incumbent first and last, and the text between two runs of the incumbent.
  Result<Comparison, Failure> compare(const Placed& text, const Placed* incumbent,
                                      const std::string& input, const EvaluationRequest& request) {
    Comparison compared;
    std::int64_t deadline_ms = options_.timeout_ms;
    const auto run_incumbent = [&](bool counts) {
      if (incumbent == nullptr) return;
      const auto measured = measure(*incumbent, input, options_.timeout_ms, request);
      if (!measured) {
        incumbent = nullptr;
        compared.incumbent.clear();
        return;
      }
      const double ms = kSlowerThanIncumbent * measured->seconds * 1000;
      deadline_ms =
          std::min(options_.timeout_ms, std::max(kLeastDeadlineMs, static_cast<std::int64_t>(ms)));
      if (counts) compared.incumbent.push_back(measured->value);
    };
    const auto many = static_cast<int>(std::min<std::int64_t>(2 * options_.repeats + 1, kMostRuns));
    const int repeats = request.again ? many : options_.repeats;
    for (int i = -options_.warmup; i < repeats; ++i) {
      run_incumbent(i >= 0);
      const auto measured = measure(text, input, deadline_ms, request);
      if (!measured) return measured.error();
      if (i >= 0) compared.text.push_back(measured->value);
    }
    run_incumbent(true);
    return compared;
  }

  // Computes the score: the geometric mean over the inputs. If the incumbent ran with every input,
  // the values are scaled to its earlier score.
  Evaluation score_of(const std::vector<Comparison>& all, const EvaluationRequest& request) const {
    std::vector<double> values, incumbent;
    double squares = 0;
    for (const Comparison& one : all) {
      const bool alone = one.incumbent.empty();
      if (!alone) incumbent.push_back(median(one.incumbent));
      values.push_back(alone ? median(one.text) : one.quotient() * incumbent.back());
      squares += one.noise() * one.noise();
    }
    Evaluation evaluation;
    evaluation.status = Status::kOk;
    evaluation.noise = std::sqrt(squares) / static_cast<double>(all.size());
    if (incumbent.size() == all.size()) {  // the incumbent ran with every input
      const double scale = value_of(request.incumbent_score) / geometric_mean(incumbent);
      for (double& value : values) value *= scale;
    }
    const double mean = geometric_mean(values);
    evaluation.score = options_.higher_is_better ? 1 / mean : mean;
    evaluation.values = std::move(values);
    Feedback& feedback = evaluation.feedback;
    feedback.status = Feedback::Status::kOk;
    if (request.detail >= GuideDetail::kExecution) {
      const double first = evaluation.values.front();
      feedback.score = Score{first, options_.unit, options_.higher_is_better};
      feedback.execution = fmt::format("Performance Metric: {:.6g} {}{}", first, options_.unit,
                                       of_input(runs().front()));
    }
    return evaluation;
  }

  // Names the input, if there are several.
  std::string of_input(const std::string& input) const {
    return options_.inputs.size() > 1 && !input.empty() ? fmt::format(" (of {})", harmless(input))
                                                        : "";
  }

  // Returns the last lines of the output. The guide itself gives them only if it recognises nothing
  // at all.
  std::vector<std::string> last_lines_of(const std::string& output) const {
    guide::Scanner scanner(rules_.set());
    scanner.read(output);
    scanner.finish();
    return scanner.is_binary() ? std::vector<std::string>() : scanner.last_lines();
  }

  // Returns true if the guide found only that the log ended.
  static bool is_silent(const Feedback& feedback) {
    return std::any_of(
        feedback.matches.begin(), feedback.matches.end(),
        [](const GuideMatch& match) { return match.from == GuideMatch::From::kEnd; });
  }

  // Returns the evaluation of a failure, with the guide's feedback about the output.
  Evaluation failed(const Failure& failure, GuideDetail detail) const {
    const CommandOutcome& outcome = failure.outcome;
    GuideContext context;
    context.detail = detail;
    context.lacking = options_.lacking;
    context.exit_code = outcome.end == End::kSignalled ? 128 + outcome.code : outcome.code;
    context.timed_out = outcome.end == End::kDeadline;
    Evaluation evaluation;
    evaluation.status = failure.status;
    Feedback& feedback = evaluation.feedback;
    std::string output = outcome.out.text + "\n" + outcome.err.text;
    const auto usual = usual_.find(failure.input);
    if (usual != usual_.end()) output = without(usual->second, output);
    feedback = guide_log(rules_, output, context);
    // A failure known here says more than the guide's general message.
    const bool known = feedback.status == Feedback::Status::kError && !is_silent(feedback);
    feedback.status = Feedback::Status::kError;
    if (detail == GuideDetail::kNone) return evaluation;
    if (known) {
      feedback.execution += of_input(failure.input);
      return evaluation;
    }
    feedback.execution =
        fmt::format("Execution Error: {}{}", failure.what, of_input(failure.input));
    feedback.score.reset();
    feedback.explain.clear();
    feedback.suggest.clear();
    feedback.last_lines = last_lines_of(output);
    if (detail < GuideDetail::kExplain || feedback.last_lines.empty()) return evaluation;
    feedback.explain.emplace_back(
        failure.status == Status::kRefused && failure.has_ended_well
            ? "A mapping must not change what the program prints."
        : failure.has_ended_well ? "The command ended well, but what it printed gives no value."
                                 : "What it printed last may say why.");
    return evaluation;
  }

  CommandEvaluatorOptions options_;
  Metric metric_;
  GuideRules rules_;
  bool check_for_each_ = false;
  std::map<std::string, Expected> expected_;  // by input
  std::map<std::string, Lines> usual_;        // by input: lines printed for an empty text
  // The incumbent of the last evaluation, and the last text if it looked better, with the files
  // that their commands left.
  std::array<std::shared_ptr<const Placed>, 2> kept_;
};

// Returns an error if the commands and the inputs do not fit together.
std::optional<Error> wrong_commands(const CommandEvaluatorOptions& options) {
  const auto wrong = [](std::string message, std::string help = "") {
    return Error{Error::Code::kMalformed, std::move(message), std::move(help)};
  };
  if (options.command.find("{file}") == options.command.npos) {
    return wrong("the command has no `{file}`, so no text would reach it");
  }
  const bool takes = options.command.find("{input}") != options.command.npos;
  if (takes && options.inputs.empty()) return wrong("the command has `{input}`, but no inputs");
  if (!takes && !options.inputs.empty()) {
    return wrong("there are inputs, but the command has no `{input}`");
  }
  if (!takes && options.check_command.find("{input}") != options.check_command.npos) {
    return wrong("the correctness command has `{input}`, but there are no inputs");
  }
  for (const std::string* text : {&options.command, &options.check_command}) {
    if (text->find('\0') != text->npos) return wrong("a command has a NUL byte in it");
  }
  for (const std::string& input : options.inputs) {
    if (input.find('\0') != input.npos) return wrong("an input has a NUL byte in it");
    if (std::count(options.inputs.begin(), options.inputs.end(), input) > 1) {
      return wrong(fmt::format("the input `{}` is there twice", input));
    }
  }
  return std::nullopt;
}

// Returns an error if an option is out of its range.
std::optional<Error> wrong_options(const CommandEvaluatorOptions& options) {
  const auto wrong = [](std::string message, Error::Code code = Error::Code::kMalformed) {
    return Error{code, std::move(message)};
  };
  if (options.repeats < 1 || options.repeats > kMostRuns) {
    return wrong(fmt::format("there are 1 to {} repeats, not {}", kMostRuns, options.repeats));
  }
  if (options.warmup < 0 || options.warmup > kMostRuns) {
    return wrong(fmt::format("there are 0 to {} warm-up runs, not {}", kMostRuns, options.warmup));
  }
  if (options.results) {
    if (const auto results = Results::make(*options.results); !results) return results.error();
  }
  if (options.timeout_ms <= 0) return wrong("the time limit of a run is above 0");
  if (options.memory_bytes < 0) return wrong("the memory of a run is not below 0");
  const bool measures = !options.metric_pattern.empty() || !options.metric_pointer.empty();
  if (options.higher_is_better && !measures) {
    return wrong("of seconds fewer are better; a metric is missing");
  }
  if (options.file_suffix.size() > 100 ||
      std::any_of(options.file_suffix.begin(), options.file_suffix.end(), [](unsigned char c) {
        return std::isalnum(c) == 0 && c != '.' && c != '_' && c != '-';
      })) {
    return wrong(fmt::format("`{}` cannot end a file's name", options.file_suffix));
  }
  std::error_code code;
  if (!options.folder.empty() && !fs::is_directory(options.folder, code)) {
    return wrong(fmt::format("`{}` is not a folder", options.folder), Error::Code::kUnknown);
  }
  return std::nullopt;
}

}  // namespace

std::pair<double, double> interval_of(std::vector<double> runs) {
  std::sort(runs.begin(), runs.end());
  const std::size_t left_out = runs.size() < kManyRuns ? 0 : runs.size() / 4;
  return {runs[left_out], runs[runs.size() - 1 - left_out]};
}

double half_width(const std::pair<double, double>& interval, const std::vector<double>& runs) {
  return (interval.second - interval.first) / 2 / median(runs);
}

Result<double> measured_value(const CommandEvaluatorOptions& options,
                              const CommandOutcome& outcome) {
  const auto metric = Metric::make(options.metric_pattern, options.metric_pointer);
  if (!metric) return metric.error();
  const auto value = metric->read(outcome);
  if (!value) return Error{Error::Code::kUnknown, value.error()};
  return *value;
}

Result<std::unique_ptr<Evaluator>> make_command_evaluator(CommandEvaluatorOptions options) {
  if (auto error = wrong_commands(options)) return *error;
  if (auto error = wrong_options(options)) return *error;
  auto metric = Metric::make(options.metric_pattern, options.metric_pointer);
  if (!metric) return metric.error();
  auto rules = GuideRules::make();
  if (!rules) return rules.error();
  return std::unique_ptr<Evaluator>(
      new CommandEvaluator(std::move(options), std::move(*metric), std::move(*rules)));
}

}  // namespace groma
