// OutputCheck: compares the output of a run with the expected results, and lets the guide look for
// failures in the output.
#include "tune/output_check.h"

#include <re2/re2.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "legion_run/comparable.h"

namespace groma::tuning {
namespace {

using Status = Evaluation::Status;

// Limit on the reference runs for each input.
constexpr int kMaxReferences = 16;
// The number of further reference runs that are made before a difference is reported.
constexpr int kMoreReferences = 2;

// Calls `use` with each line, without its line end.
template <typename Use>
void for_each_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Returns the output without diagnostics about the text from Groma or a compiler: `{file}:8: ...`
// and the source line, notes and help below it.
std::string without_diagnostics(std::string_view printed) {
  static const RE2 begins(R"(^\{file\}:[0-9]+:)"), continues(R"(^(?: *[0-9]* \| |note: |help: ))");
  std::string rest;
  // `inside` is true while the lines belong to a diagnostic.
  bool inside = false;
  for_each_line(printed, [&](std::string_view line) {
    const re2::StringPiece piece(line.data(), line.size());
    inside = RE2::PartialMatch(piece, begins) || (inside && RE2::PartialMatch(piece, continues));
    if (!inside) (rest += line) += '\n';
  });
  return rest;
}

}  // namespace

// A match of kind kEnd says only that the output stopped, which is not a recognised failure.
bool is_known_failure(const GuideFeedback& feedback) {
  const bool is_silent = std::any_of(
      feedback.matches.begin(), feedback.matches.end(),
      [](const GuideMatch& match) { return match.from == GuideMatch::MatchSource::kEnd; });
  return feedback.status == GuideFeedback::Status::kError && !is_silent;
}

bool OutputCheck::reports_failure(const std::string& printed) const {
  return is_known_failure(guide_log(rules_, printed, {}));
}

// First looks for a failure that the output reports, then compares the results. The first text that
// ran defines the expected results of the input. A difference is reported only if it remains after
// further reference runs.
std::optional<CommandFailure> OutputCheck::why_output_is_wrong(const TextInFile& text,
                                                               const std::string& input,
                                                               const CommandOutcome& outcome,
                                                               const CommandRunner::Stop& stop) {
  if (!commands_.options().results) return std::nullopt;
  std::string out = text.without_file_name(outcome.out.text);
  std::string err = text.without_file_name(outcome.err.text);
  const std::string both = out + "\n" + err;
  // The output may always contain words that look like a failure. Such lines are found by a run of
  // the empty text and are then ignored.
  if (reports_failure(both)) {
    find_usual_lines(input, stop);
    if (reports_failure(without_usual_lines(both, input))) {
      return CommandFailure{Status::kFailed, "the command ended well, but said that it failed",
                            outcome};
    }
  }
  if (!inspect::is_comparable(outcome)) return std::nullopt;
  out = without_diagnostics(out);
  err = without_diagnostics(err);
  auto known = expected_.find(input);
  if (known == expected_.end()) {
    ResultsOptions options = *commands_.options().results;
    options.measure = commands_.options().metric_pattern;
    auto results = Results::make(std::move(options));
    if (!results) return CommandFailure{Status::kFailed, results.error().message, {}};
    known = expected_.emplace(input, ExpectedOutput{std::move(*results), text.text()}).first;
  }
  ExpectedOutput& expected = known->second;
  // A further run of the reference text shows which values change from run to run.
  if (expected.text == text.text()) {
    if (expected.runs++ < kMaxReferences) expected.results.add_reference(out, err);
    return std::nullopt;
  }
  auto difference = expected.results.compare(out, err);
  for (int more = 0; difference && more < kMoreReferences; ++more) {
    if (!add_reference(expected, input, stop)) break;
    difference = expected.results.compare(out, err);
  }
  if (!difference) return std::nullopt;
  return CommandFailure{
      Status::kRefused,
      "other results than those of the first text that ran: " + to_text(*difference), outcome,
      true};
}

// The reference text may have been removed from its file meanwhile, so the file is prepared again.
bool OutputCheck::add_reference(ExpectedOutput& expected, const std::string& input,
                                const CommandRunner::Stop& stop) const {
  if (expected.runs >= kMaxReferences) return false;
  const auto text = commands_.write_and_check(expected.text, stop);
  if (!text) return false;
  const auto outcome = commands_.run_successfully(**text, input, stop);
  if (!outcome || !inspect::is_comparable(*outcome)) return false;
  const auto printed = [&](const CommandOutput& output) {
    return without_diagnostics((*text)->without_file_name(output.text));
  };
  expected.results.add_reference(printed(outcome->out), printed(outcome->err));
  ++expected.runs;
  return true;
}

// The command runs for the empty text at most once for each input.
void OutputCheck::find_usual_lines(const std::string& input, const CommandRunner::Stop& stop) {
  if (!usual_.contains(input)) usual_.emplace(input, lines_for_empty_text(input, stop));
}

// Takes the lines of standard output and of standard error. The correctness command does not run
// for the empty text.
OutputCheck::Lines OutputCheck::lines_for_empty_text(const std::string& input,
                                                     const CommandRunner::Stop& stop) const {
  const auto text = commands_.write("", stop);
  if (!text) return {};
  const auto outcome = commands_.run_successfully(**text, input, stop);
  if (!outcome) return {};
  Lines lines;
  for (const CommandOutput* output : {&outcome->out, &outcome->err}) {
    for_each_line((*text)->without_file_name(output->text),
                  [&](std::string_view line) { lines.emplace(line); });
  }
  return lines;
}

// Removes every usual line, wherever it stands in the output.
std::string OutputCheck::without_usual_lines(const std::string& printed,
                                             const std::string& input) const {
  const auto usual = usual_.find(input);
  if (usual == usual_.end()) return printed;
  std::string rest;
  for_each_line(printed, [&](std::string_view line) {
    if (!usual->second.contains(line)) (rest += line) += '\n';
  });
  return rest;
}

}  // namespace groma::tuning
