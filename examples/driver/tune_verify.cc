// Runs a real Legion program under the mappings that a search found, and prints the comparison.

#include "tune_verify.h"

#include <fmt/format.h>

#include <utility>

#include "console.h"
#include "groma/search_directory.h"
#include "groma/system.h"
#include "legion_app.h"
#include "tune_display.h"

namespace driver {
namespace {

// Returns the options of the verification: the program, how it is measured, and how its output is
// compared. Fails if the program or the metric cannot be used, or if this build has no library for
// Legion programs.
groma::Result<groma::tuning::VerifyOptions> verify_options(
    const TuneArguments& arguments, const Subject& subject, ProgramArguments program,
    groma::tuning::CommandEvaluatorOptions metric) {
  groma::tuning::VerifyOptions options;
  options.run.words = program.words;
  options.metric = std::move(metric);
  if (auto error = groma::tuning::wrong_verify_options(options)) return *std::move(error);
  program.override_layouts = arguments.setup.override_layouts;
  program.timeout_s = static_cast<double>(arguments.setup.command.timeout_ms) / 1e3;
  auto run = program_run(program);
  if (!run) return run.error();
  options.run = *std::move(run);
  options.run.compare_failures_only = program.checks == "never";
  options.run.stop = [] { return interrupted(); };
  options.results = results_options(program);
  options.repeats = arguments.setup.command.repeats;
  options.app = &*subject.app;
  options.machine = subject.problem.machine;
  return options;
}

// Verifies the mappings and shows the progress.
groma::Result<groma::tuning::Verification> verify(
    const std::vector<groma::tuning::VerifyCandidate>& candidates,
    groma::tuning::VerifyOptions options, bool json) {
  if (!json) {
    print_error(
        fmt::format("groma: now running the program without a mapping and under {} mapping{}, {} "
                    "times each; the first run does not count\n",
                    candidates.size(), candidates.size() == 1 ? "" : "s", options.repeats + 1));
  }
  ProgressLine line("verifying");
  options.on_run = [&line, repeats = options.repeats](const std::string& name, int run) {
    line.update(fmt::format("{}, run {} of {}", name, run, repeats));
  };
  return groma::tuning::verify(candidates, options);
}

}  // namespace

groma::Result<std::vector<std::string>> look_at_program(const TuneArguments& arguments,
                                                        const Subject& subject) {
  const auto options =
      verify_options(arguments, subject, arguments.program, arguments.setup.command);
  if (!options) return options.error();
  auto warnings = groma::tuning::look_at_program(*options);
  // With --json, the warnings become a part of the result.
  if (interrupted() || !warnings || arguments.json) return warnings;
  for (const std::string& warning : *warnings) {
    print_error(fmt::format("groma: warning: {}\n", warning));
  }
  return warnings;
}

// Prints the table of measured times and writes verified.mapper.
int verify_search(const TuneArguments& arguments, const groma::tuning::TuneOutcome& outcome,
                  const groma::tuning::BestSteps& best, const Subject& subject,
                  const std::string& directory, const std::vector<std::string>& warnings) {
  const groma::tuning::Evaluator& evaluator = subject.evaluator();
  auto options = verify_options(arguments, subject, arguments.program, arguments.setup.command);
  if (!options) return refuse_search(options.error(), arguments.json);
  const auto verified = verify(groma::tuning::candidates_of(outcome, best, evaluator),
                               *std::move(options), arguments.json);
  if (interrupted()) return kInterrupted;
  if (!verified) return refuse_search(verified.error(), arguments.json);
  const groma::tuning::VerifiedMapping* const winner = verified->fastest();
  std::string text = arguments.json
                         ? groma::tuning::to_json(*verified, warnings)
                         : groma::tuning::draw(*verified, arguments.program.words.front(),
                                               evaluator.unit(), subject.app->metric.phase);
  // The fastest mapping is written to the directory. Nothing is written if no mapping ran.
  if (winner != nullptr) {
    const std::string file = directory + "/" + groma::tuning::kVerifiedFile;
    const std::string content = groma::tuning::mapping_file_content(winner->candidate.text);
    if (const auto error = groma::replace_file(file, content)) {
      return refuse_search(*error, arguments.json);
    }
    if (!arguments.json) text += fmt::format("in     {}\n", file);
  }
  return print(text) == kFine && winner != nullptr ? kFine : kWrongInput;
}

// Runs one verification for each application, and prints each table.
int compare_without_mapping(const TuneArguments& arguments,
                            const groma::tuning::TuneOutcome& outcome, const Subject& subject) {
  const std::vector<groma::tuning::VerifyCandidate> candidates =
      groma::tuning::candidates_of(outcome);
  for (std::size_t i = 0; i < arguments.setup.apps.size(); ++i) {
    const auto path = benchmark_program(arguments.setup.apps[i]);
    if (!path) return refuse_search(path.error(), arguments.json);
    ProgramArguments program = arguments.program;
    program.words = {*path};
    for (const auto& more : {parameters_of(subject.problem.inputs[i]), arguments.setup.flags}) {
      program.words.insert(program.words.end(), more.begin(), more.end());
    }
    // The benchmarks' programs check their results themselves.
    program.checks = "never";
    auto options = verify_options(arguments, subject, std::move(program), {});
    if (!options) return refuse_search(options.error(), arguments.json);
    const auto verified = verify(candidates, *std::move(options), arguments.json);
    if (interrupted()) return kInterrupted;
    if (!verified) return refuse_search(verified.error(), arguments.json);
    const std::string text = arguments.json
                                 ? groma::tuning::to_json(*verified, {})
                                 : groma::tuning::draw(*verified, arguments.setup.apps[i], "", "");
    if (print(text) != kFine) return kWrongInput;
  }
  return kFine;
}

}  // namespace driver
