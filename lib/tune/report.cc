#include "tune/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>

#include "groma/diff.h"
#include "groma/evaluate.h"
#include "tune/journal.h"

namespace groma {
namespace {

using tuning::Json;

constexpr std::size_t kMostStepsShown = 1000;
constexpr auto kLongestDiff = std::chrono::seconds(2);

std::string value_words(const Evaluation& evaluation, const Evaluator& evaluator) {
  if (!evaluation.ok()) {
    constexpr std::array kWords = {"", "refused", "failed", "timed out"};
    return kWords[static_cast<std::size_t>(evaluation.status)];
  }
  std::string words =
      fmt::format("{:.4g} {}", evaluator.value_of(evaluation.score), evaluator.unit());
  const std::vector<std::string> inputs = evaluator.inputs();
  if (inputs.size() < 2 || evaluation.values.size() != inputs.size()) return words;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    words += fmt::format("{}{} {:.4g}", i == 0 ? " (" : ", ", inputs[i], evaluation.values[i]);
  }
  return words + ")";
}

void add_indented(std::string_view text, std::string_view before, std::string* out) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    *out += fmt::format("{}{}\n", before, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::string sparkline(std::span<const double> scores, std::size_t most) {
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
  const double range = std::log(greatest / least);
  std::string line;
  for (const double score : shown) {
    if (!std::isfinite(score) || score <= 0) {
      line += "·";
      continue;
    }
    const double part = range > 0 ? std::log(score / least) / range : 0;
    line += kLetters[static_cast<std::size_t>(std::lround(part * 7))];
  }
  return line;
}

std::string draw(const TuneOutcome& outcome, const Evaluator& evaluator) {
  std::string text;
  const bool higher = evaluator.higher_is_better();
  if (outcome.start) {
    text += fmt::format("start  {}\n", value_words(outcome.start->evaluation, evaluator));
  }
  if (!outcome.best) {
    text += "best   none: nothing that was tried is valid\n";
  } else {
    const Evaluation& best = outcome.best->evaluation;
    std::string gain;
    if (outcome.start && outcome.start->evaluation.ok()) {
      gain = fmt::format(", {:.2f} times as {}", outcome.start->evaluation.score / best.score,
                         higher ? "high" : "fast");
    }
    text += fmt::format("best   {}{} (step {}: {})\n", value_words(best, evaluator), gain,
                        outcome.best->number, outcome.best->proposal.why);
  }
  const TuneSpending& spent = outcome.spent;
  text +=
      fmt::format("spent  {} evaluation{}", spent.evaluations, spent.evaluations == 1 ? "" : "s");
  if (spent.estimates > 0) text += fmt::format(", {} simulated runs beside them", spent.estimates);
  if (spent.model_calls > 0) {
    text += fmt::format(", {} questions to the model ({} tokens", spent.model_calls, spent.tokens);
    text += spent.money > 0 ? fmt::format(", {:.4f})", spent.money) : ")";
  }
  text += fmt::format(", {:.1f} s\n", spent.seconds);
  using End = TuneOutcome::End;
  if (outcome.end == End::kExhausted) text += "ended  the proposer has nothing new\n";
  if (outcome.end == End::kStopped) text += "ended  stopped\n";
  if (outcome.end == End::kRejected) {
    text += fmt::format("ended  the model's replies are no use: {}\n", outcome.why);
  }
  if (outcome.end == End::kModel) {
    text += fmt::format("ended  the model cannot be asked: {}\n", outcome.why);
  }
  return text;
}

namespace tuning {
namespace {

// Which decisions differ between two mappings, and what that costs on the first input.
std::string mapping_difference(const Problem& problem, const std::string& from,
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

void add_step(const Json& line, const Evaluator& evaluator, std::string* out) {
  const Step step = step_of(line);
  *out += fmt::format(
      "\nStep {}: {}{}\n  {}{}\n", step.number, value_words(step.evaluation, evaluator),
      line.contains("within_noise") ? ", better than the best by no more than measurements differ"
                                    : "",
      step.proposal.why, line.contains("repeated") ? " (tried before)" : "");
  const Feedback& feedback = step.evaluation.feedback;
  if (!feedback.execution.empty()) *out += fmt::format("  execution: {}\n", feedback.execution);
  for (const std::string& each : feedback.explain) *out += fmt::format("  explain: {}\n", each);
  for (const std::string& each : feedback.suggest) *out += fmt::format("  suggest: {}\n", each);
  add_indented(step.proposal.text, "  | ", out);
}

void add_exchange(const Json& asked, const Json& replies, std::string* out) {
  for (std::size_t i = 0; i < asked.size(); ++i) {
    *out += fmt::format("\nAsked{}:\n",
                        asked.size() > 1 ? fmt::format(" ({} of {})", i + 1, asked.size()) : "");
    const Json messages = asked[i].value("messages", Json::array());
    for (const Json& message : messages) {
      if (!message.is_array() || message.size() != 2 || !message[1].is_string()) continue;
      add_indented(message[1].get<std::string>(), "  > ", out);
    }
    *out += "Answered:\n";
    if (i >= replies.size()) continue;
    const auto reply = reply_of(replies[i]);
    add_indented(reply ? reply->text : reply.error().message, "  < ", out);
  }
}

}  // namespace

std::string report(const std::string& journal, const Problem& problem, const Evaluator& evaluator,
                   const TuneOutcome& outcome) {
  std::string text = draw(outcome, evaluator);
  std::vector<double> scores;
  text += "\nImprovements\n";
  for (const auto& [number, score] : outcome.trajectory) {
    Evaluation evaluation;
    evaluation.status = Evaluation::Status::kOk;
    evaluation.score = score;
    text += fmt::format("  {:>6}  {}\n", number, value_words(evaluation, evaluator));
  }
  if (outcome.best && problem.is_mapping()) {
    const std::string differs =
        mapping_difference(problem, problem.start, outcome.best->proposal.text);
    if (!differs.empty()) text += "\nThe best against the start\n" + differs;
  }
  std::ifstream lines(journal, std::ios::binary);
  std::string line;
  Json asked;
  std::string steps;
  std::size_t shown = 0, left_out = 0;
  while (std::getline(lines, line)) {
    const Json read = parsed(line);
    if (!read.is_object()) continue;
    if (read.contains("asked")) asked = read["asked"];
    if (read.contains("replies")) add_exchange(asked, read["replies"], &steps);
    if (!read.contains("step")) continue;
    if (scores.size() < 100'000) scores.push_back(step_of(read["step"]).evaluation.score);
    if (++shown > kMostStepsShown) {
      ++left_out;
      continue;
    }
    add_step(read["step"], evaluator, &steps);
  }
  text += fmt::format("\nTrajectory  {}\n", sparkline(scores)) + steps;
  if (left_out > 0) text += fmt::format("\n{} further steps stand in the journal.\n", left_out);
  return text;
}

}  // namespace tuning
}  // namespace groma
