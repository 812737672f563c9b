// The reports of a search: the summary that the command prints, report.txt and steps.txt. All
// foreign texts pass a filter before they are written.
#include "tune/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "edit/segment_marks.h"
#include "groma/diff.h"
#include "groma/evaluate.h"
#include "groma/harmless.h"
#include "groma/line_edits.h"
#include "groma/system.h"
#include "tune/journal.h"
#include "tune/recorded.h"

namespace groma::tuning {
namespace {

// Limit on the characters of the trajectory.
constexpr std::size_t kMostBars = 60;
// Limits on the steps in steps.txt, on the scores for the trajectory, and on the improvements in
// report.txt.
constexpr std::size_t kMostStepsShown = 1000, kMostScores = 100'000, kMostImprovements = 30;
// Time limit for the comparison of the start with the best mapping.
constexpr auto kLongestDiff = std::chrono::seconds(2);
// The limit on the number of changed lines that are shown.
constexpr std::size_t kMostChanged = 40;
// The limit on the bytes that are shown of a line.
constexpr std::size_t kMostOfLine = 200;
// Limit on the work of line_edits(): the number of lines of one text times that of the other. Work
// of this size takes about a millisecond.
constexpr std::size_t kMostCells = 250'000;

// A measured gain above this factor deserves a look at the text.
constexpr double kSurprisingGain = 10;

// Returns a value with its unit. Seconds below 1 use the largest unit in which the value is at
// least 1, as in all reports.
std::string number_words(double value, const std::string& unit, int digits) {
  constexpr std::array<std::string_view, 4> kUnits = {"s", "ms", "us", "ns"};
  if (unit != kUnits.front()) return fmt::format("{:.{}g} {}", value, digits, harmless(unit));
  std::size_t i = 0;
  for (; value < 1 && i + 1 < kUnits.size(); ++i) value *= 1000;
  return fmt::format("{:.{}g} {}", value, digits, kUnits[i]);
}

// Returns the value of a text's evaluation, or why it has none. If the text was evaluated with
// several inputs, the value for each input follows in brackets.
std::string outcome_words(const Evaluation& evaluation, const Evaluator& evaluator) {
  if (!evaluation.ok()) {
    constexpr std::array kWords = {"", "refused", "failed", "timed out"};
    return kWords[static_cast<std::size_t>(evaluation.status)];
  }
  std::string words = value_words(evaluator, evaluation.score);
  const std::vector<std::string> inputs = evaluator.inputs();
  if (inputs.size() < 2 || evaluation.values.size() != inputs.size()) return words;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    words += fmt::format("{}{} {}", i == 0 ? " (" : ", ", harmless(inputs[i]),
                         number_words(evaluation.values[i], evaluator.unit(), 4));
  }
  return words + ")";
}

// Returns how much better a text is than another, as words behind its value: a percentage below
// 1 %, and otherwise the factor. `higher`: higher values are better.
std::string gain_words(double gained, bool higher) {
  if (gained > 1 && gained < 1.01) {
    return fmt::format(", {:.2g} % {}", 100 * (gained - 1), higher ? "higher" : "faster");
  }
  return fmt::format(", {} times as {}",
                     gained < 1000 ? fmt::format("{:.2f}", gained) : fmt::format("{:.3g}", gained),
                     higher ? "high" : "fast");
}

// Returns a drift (Evaluation::Measurement) as "4.2 % slower" or "0.3 % faster".
std::string drift_words(double drift) {
  return fmt::format("{:.1f} % {}", 100 * std::abs(drift - 1), drift < 1 ? "faster" : "slower");
}

}  // namespace

std::string value_words(const Evaluator& evaluator, double score, int digits) {
  return number_words(evaluator.value_of(score), evaluator.unit(), digits);
}

// If there are more scores than characters, a character stands for the smallest score of several
// consecutive steps. `·` means that none of them succeeded. The scale is logarithmic, from the
// smallest to the greatest score.
std::string sparkline(std::span<const double> scores, std::size_t most, bool higher_is_better) {
  static constexpr std::array<std::string_view, 8> kLetters = {"▁", "▂", "▃", "▄",
                                                               "▅", "▆", "▇", "█"};
  std::vector<double> shown;
  const std::size_t count = std::min(scores.size(), most);
  for (std::size_t i = 0; i < count; ++i) {
    const auto from = scores.begin() + static_cast<std::ptrdiff_t>(i * scores.size() / count);
    const auto to = scores.begin() + static_cast<std::ptrdiff_t>((i + 1) * scores.size() / count);
    shown.push_back(*std::min_element(from, to));
  }
  double least = HUGE_VAL, greatest = 0;
  for (const double score : shown) {
    if (!std::isfinite(score) || score <= 0) continue;
    least = std::min(least, score);
    greatest = std::max(greatest, score);
  }
  // If all scores are equal, the range is 0 and every bar has the same height.
  const double range = std::log(greatest / least);
  std::string line;
  for (const double score : shown) {
    if (!std::isfinite(score) || score <= 0) {
      line += "·";
      continue;
    }
    const double worse = range > 0 ? std::log(score / least) / range : 0;
    line +=
        kLetters[static_cast<std::size_t>(std::lround((higher_is_better ? 1 - worse : worse) * 7))];
  }
  return line;
}

// Returns a summary of the search for people. Each line begins with a word of five letters: the
// start, the best text, the spending, and how the search ended unless the reason is obvious.
std::string draw(const TuneOutcome& outcome, const Evaluator& evaluator) {
  std::string text;
  const bool higher = evaluator.higher_is_better();
  if (outcome.start) {
    const Evaluation& start = outcome.start->evaluation;
    const std::string why = start.ok() ? "" : harmless(start.feedback.execution);
    text += fmt::format("start  {}{}{}\n", outcome_words(start, evaluator), why.empty() ? "" : ": ",
                        why);
  }
  if (!outcome.best) {
    text += outcome.steps == 0 ? "best   none: nothing was tried\n"
                               : "best   none: nothing that was tried is valid\n";
  } else {
    const Evaluation& best = outcome.best->evaluation;
    std::string gain;
    // The factor by which the best is better than the start; 1 if they cannot be compared.
    double gained = 1;
    // The measurements beside the start count more than those during the search, since the machine
    // may have changed in between.
    const std::optional<Evaluation>& beside = outcome.beside_start;
    if (outcome.too_little) {
      const double share = 1 - outcome.too_little->evaluation.score / best.score;
      gain = fmt::format(", nothing is worth changing: step {} gains {:.1f} % ({})",
                         outcome.too_little->number, std::max(0.0, 100 * share),
                         harmless(outcome.too_little->proposal.why));
    } else if (outcome.start && outcome.start->number == outcome.best->number) {
      gain = ", nothing is better";
    } else if (outcome.start && outcome.start->evaluation.ok() && !(beside && !beside->ok())) {
      gained = outcome.start->evaluation.score / (beside ? *beside : best).score;
      gain = gain_words(gained, higher);
    }
    text += fmt::format("best   {}{} (step {}: {})\n", outcome_words(best, evaluator), gain,
                        outcome.best->number, harmless(outcome.best->proposal.why));
    if (!evaluator.simulated() && gained > kSurprisingGain) {
      text +=
          "       so large a gain may come from work that is left out: look at the difference from "
          "the start\n";
    }
    if (beside && !beside->ok()) {
      text += fmt::format("       it {} when it was measured beside the start again\n",
                          outcome_words(*beside, evaluator));
    } else if (beside && outcome.start) {
      History start;
      start.add(*outcome.start);
      text += start.is_better(*beside)
                  ? "       measured beside the start again\n"
                  : "       measured beside the start again: no better than measurements differ\n";
    }
  }
  if (const std::size_t dropped = outcome.dropped.size(); dropped > 0) {
    text += fmt::format("       without {} statement{} worth nothing\n", dropped,
                        dropped == 1 ? " that was" : "s that were");
  }
  const TuneSpending& spent = outcome.spent;
  text +=
      fmt::format("spent  {} evaluation{}", spent.evaluations, spent.evaluations == 1 ? "" : "s");
  if (spent.unusable > 0) {
    text += fmt::format(", {} of them replies of no use", spent.unusable);
  }
  if (spent.failed > 0) text += fmt::format(", {} of them without a result", spent.failed);
  if (spent.again > 0) text += fmt::format(", {} of them made twice", spent.again);
  if (spent.estimates > 0) text += fmt::format(", {} estimates beside them", spent.estimates);
  if (spent.model_calls > 0) {
    const char* about = spent.estimated ? "about " : "";
    text += fmt::format(", {} question{} to the model ({}{} tokens", spent.model_calls,
                        spent.model_calls == 1 ? "" : "s", about, spent.tokens);
    text += spent.money > 0 ? fmt::format(", {}{:.4f})", about, spent.money) : ")";
  }
  text += fmt::format(", {:.1f} s\n", spent.seconds);
  // A single measurement shows no drift.
  for (const TuneOutcome::Worker& worker : outcome.workers) {
    if (worker.evaluations < 2) continue;
    text += fmt::format("drift  worker {}: {} than at first ({} to {} in {} measurements)\n",
                        harmless(worker.name), drift_words(worker.drift),
                        drift_words(worker.least_drift), drift_words(worker.greatest_drift),
                        worker.evaluations);
  }
  using End = TuneOutcome::End;
  if (outcome.end == End::kExhausted) {
    text += fmt::format("ended  {}\n",
                        outcome.why.empty() ? "the proposer has nothing new" : outcome.why);
  }
  if (outcome.spent_before) {
    text += fmt::format("ended  nothing is left to do: the budget of {} was spent before\n",
                        outcome.budget);
  } else if (outcome.end == End::kBudget && (!outcome.why.empty() || !outcome.best)) {
    text += fmt::format("ended  by the budget of {}{}{}\n", outcome.budget,
                        outcome.why.empty() ? "" : ": ", harmless(outcome.why));
  }
  if (outcome.end == End::kStopped) text += "ended  stopped\n";
  if (outcome.end == End::kRejected) {
    text += fmt::format("ended  the model's replies are no use: {}\n", harmless(outcome.why));
  }
  if (outcome.end == End::kModel) {
    text += fmt::format("ended  the model cannot be asked: {}\n", harmless(outcome.why));
  }
  return text;
}

namespace {

// Returns which decisions differ between two mappings, and what the difference costs on the first
// input. Returns an empty text if a mapping cannot be bound to the machine. `problem` is about a
// mapping.
std::string mapping_difference(const SearchProblem& problem, const std::string& from,
                               const std::string& to) {
  Diagnostics diags_from(Source("start", from)), diags_to(Source("best", to));
  const auto a = bind(compile(diags_from.source(), diags_from), *problem.machine, diags_from);
  const auto b = bind(compile(diags_to.source(), diags_to), *problem.machine, diags_to);
  if (!a || !b) return "";
  SimulateOptions options;
  const auto end = std::chrono::steady_clock::now() + kLongestDiff;
  options.stop = [end] { return std::chrono::steady_clock::now() > end; };
  const MappingDiff found = diff(*a, *b, problem.inputs.front(), options, diags_from, diags_to);
  return draw(found, a->program(), b->program());
}

// Writes a report file. Texts from strangers are filtered line by line, so that they cannot change
// a terminal or imitate other lines.
class Report {
 public:
  explicit Report(std::string path) : file_(std::move(path)) {}

  // Completes the file. Returns the error if it could not be written.
  std::optional<Error> done() { return file_.place(); }

  // Appends formatted text. The caller filters foreign texts.
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    file_.write(fmt::format(format, std::forward<Args>(args)...));
  }
  // Appends each line of a foreign text, filtered, with `before` in front of it.
  void add_indented(std::string_view text, std::string_view before) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      add("{}{}\n", before, harmless(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

 private:
  FileReplacement file_;
};

// Writes the lines by which two texts differ, with the number of the line and the name of the
// segment in front of each group.
void add_changed(const std::string& from, const std::string& to, Report& out) {
  // The number of the present line in `from`, and the number of changed lines so far.
  std::size_t line = 1, changed = 0;
  std::string segment;
  char before = ' ';
  for (const LineEdit& edit : line_edits(from, to, kMostCells)) {
    if (edit.sign != ' ' && ++changed <= kMostChanged) {
      if (before == ' ') {
        out.add("  | line {}{}\n", line, segment.empty() ? "" : " of " + segment);
      }
      const std::string_view text = edit.line.substr(0, edit.line.find('\n'));
      out.add("  | {} {}\n", edit.sign, harmless(text, kMostOfLine));
    }
    before = edit.sign;
    if (edit.sign != '+') ++line;
    // Segments are marked by comments in the text, which name the part that a proposer may change.
    const edit::SegmentMark mark = edit::segment_mark(edit.line);
    if (mark.begin) segment = harmless(mark.name);
    if (mark.end) segment.clear();
  }
  if (changed > kMostChanged) {
    out.add("  | and {} further lines\n", changed - kMostChanged);
  }
}

// Writes one step: its result, its feedback and its text. For a text that is not a mapping, only
// the lines that differ from the start.
void add_step(const RecordedStep& recorded, const SearchProblem& problem,
              const Evaluator& evaluator, Report& out) {
  const Step& step = recorded.step;
  out.add("\nStep {}: {}{}\n  {}{}\n", step.number, outcome_words(step.evaluation, evaluator),
          recorded.within_noise ? ", better than the best by no more than measurements differ" : "",
          harmless(step.proposal.why),
          recorded.repeated ? " (tried before)"
          : recorded.again  ? " (it looked better and was measured again)"
                            : "");
  const std::vector<std::int64_t>& parents = step.proposal.parents;
  if (!parents.empty()) out.add("  made from step {}\n", fmt::join(parents, " and "));
  if (const auto& measured = step.evaluation.measured) {
    out.add("  measured by worker {}", harmless(measured->worker));
    if (measured->incumbent_value > 0) {
      out.add(", {} than at first; beside it the best text had {}", drift_words(measured->drift),
              number_words(measured->incumbent_value, evaluator.unit(), 4));
      // A single run does not show the noise.
      if (step.evaluation.noise > 0) out.add("; noise {:.1f} %", 100 * step.evaluation.noise);
    }
    out.add("\n");
  }
  const GuideFeedback& feedback = step.evaluation.feedback;
  if (!feedback.execution.empty()) out.add_indented(feedback.execution, "  execution: ");
  for (const std::string& each : feedback.last_lines) out.add_indented(each, "  output: ");
  for (const std::string& each : feedback.explain) out.add_indented(each, "  explain: ");
  for (const std::string& each : feedback.suggest) out.add_indented(each, "  suggest: ");
  if (problem.is_mapping()) {
    out.add_indented(step.proposal.text, "  | ");
  } else {
    add_changed(problem.start, step.proposal.text, out);
  }
}

// Writes a question and its reply. `asked` is the list of questions that were asked together.
void add_exchange(const Json& asked, const RecordedReply& recorded, Report& out) {
  if (recorded.question >= asked.size()) return;
  out.add("\nAsked{}:\n",
          asked.size() > 1 ? fmt::format(" ({} of {})", recorded.question + 1, asked.size()) : "");
  for (const std::string& message : message_texts(asked[recorded.question])) {
    out.add_indented(message, "  > ");
  }
  out.add("Answered:\n");
  const auto& reply = recorded.reply;
  out.add_indented(reply ? reply->text : reply.error().message, "  < ");
}

// Calls `visit` with the name and the value of each line of the journal. Stops at a line that is
// too long.
template <typename Visit>
void each_line(const std::string& journal, const Visit& visit) {
  auto lines = JournalLineReader::open(journal);
  if (!lines) return;
  for (std::string line; lines->read_line(&line) && !lines->too_long();) {
    const Json read = parse_journal_line(line);
    if (read.is_object() && !read.empty()) visit(read.begin().key(), read.begin().value());
  }
}

// The improvements and scores of a whole search, read from its journal.
struct SearchProgress {
  struct Improvement {
    // The number of the step that was better than all earlier ones.
    std::int64_t number = 0;
    double score = 0;
    // What the proposal of the step changes.
    std::string why;
  };
  // The scores of the first kMostScores steps.
  std::vector<double> scores;
  std::vector<Improvement> improvements;

  // Adds the next step. A step counts as an improvement if it was better by more than the noise.
  void add(const RecordedStep& recorded) {
    const Step& step = recorded.step;
    if (scores.size() < kMostScores) scores.push_back(step.evaluation.score);
    const double best = improvements.empty() ? HUGE_VAL : improvements.back().score;
    const bool better = step.evaluation.ok() && step.evaluation.score < best;
    if (!better || recorded.within_noise) return;
    improvements.push_back({step.number, step.evaluation.score, step.proposal.why});
  }
};

// Writes the questions and steps in the order in which they happened, up to a limit for each.
// Returns the course of the search, so that the journal is read only once.
SearchProgress add_steps(const std::string& journal, const SearchProblem& problem,
                         const Evaluator& evaluator, Report& out) {
  SearchProgress course;
  std::size_t steps = 0, exchanges = 0;
  Json asked = Json::array();
  each_line(journal, [&](const std::string& about, const Json& value) {
    if (about == "asked" && value.is_array()) asked = value;
    if (about == "reply" && ++exchanges <= kMostStepsShown) {
      if (const auto recorded = reply_from_json(value)) add_exchange(asked, *recorded, out);
    }
    if (about != "step") return;
    ++steps;
    const auto recorded = step_from_json(value);
    if (!recorded) return;
    course.add(*recorded);
    if (steps <= kMostStepsShown) add_step(*recorded, problem, evaluator, out);
  });
  const auto left_out = [&](std::size_t count, const char* what) {
    if (count <= kMostStepsShown) return;
    out.add("\n{} further {} stand in the journal.\n", count - kMostStepsShown, what);
  };
  left_out(steps, "steps");
  left_out(exchanges, "exchanges");
  return course;
}

}  // namespace

// Writes steps.txt first, since reading the steps for it also finds the improvements.
std::optional<Error> write_reports(const std::string& directory, const SearchProblem& problem,
                                   const Evaluator& evaluator, const TuneOutcome& outcome) {
  const std::string journal = directory + "/journal.jsonl";
  Report steps(directory + "/steps.txt");
  steps.add("Every step: what was tried, and what came of it{}.\n",
            problem.is_mapping() ? "" : "; of the text the lines that are not the start's");
  const SearchProgress course = add_steps(journal, problem, evaluator, steps);
  Report out(directory + "/report.txt");
  out.add("{}{}\nImprovements, by their steps\n", draw(outcome, evaluator),
          draw_front(outcome, evaluator));
  // Only the last improvements are shown, because these lead to the best text.
  const std::size_t first =
      course.improvements.size() - std::min(course.improvements.size(), kMostImprovements);
  if (first > 0) out.add("  {} earlier ones stand in steps.txt\n", first);
  for (std::size_t i = first; i < course.improvements.size(); ++i) {
    const SearchProgress::Improvement& each = course.improvements[i];
    const std::string why = harmless(each.why);
    out.add("  {:>6}  {:>9}  {}{}\n", each.number, value_words(evaluator, each.score),
            why.substr(0, kMostOfLine), why.size() > kMostOfLine ? "..." : "");
  }
  if (!outcome.dropped.empty()) {
    out.add("\nWorth nothing, and so taken out of the best\n");
    for (const std::string& statement : outcome.dropped) out.add_indented(statement, "  - ");
  }
  if (outcome.best && problem.is_mapping()) {
    const std::string differs =
        mapping_difference(problem, problem.start, outcome.best->proposal.text);
    const auto inputs = evaluator.inputs();
    const std::string on = inputs.size() > 1 ? fmt::format(", on {}", harmless(inputs[0])) : "";
    if (!differs.empty()) out.add("\nThe best against the start{}\n{}", on, differs);
  } else if (outcome.best && outcome.best->proposal.text != problem.start) {
    out.add("\nThe best against the start\n");
    add_changed(problem.start, outcome.best->proposal.text, out);
  }
  const bool higher = evaluator.higher_is_better();
  out.add("\nTrajectory  {}  (the {} bar is the better)\n",
          sparkline(course.scores, kMostBars, higher), higher ? "higher" : "lower");
  out.add("\nEvery step stands in steps.txt.\n");
  if (auto error = out.done()) return error;
  return steps.done();
}

}  // namespace groma::tuning
