// The evaluators that come with the tuner (tune.h): the embedded runtime, and a command of the
// user's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "groma/machine.h"
#include "groma/result.h"
#include "groma/results.h"
#include "groma/simulate.h"
#include "groma/system.h"
#include "groma/tune.h"
#include "groma/workload.h"

namespace groma {

// Of at least one value above 0: the score of several inputs.
double geometric_mean(std::span<const double> values);

// Mappings of these applications in the embedded runtime. A value is the simulated seconds of what
// the application measures. check() is `groma check` with machine and application. From any
// threads: all runs that go on at once take at most `options.max_bytes` of memory together.
// `options.stop` ends checks; a run ends as its request says, or after 60 seconds by the clock.
std::unique_ptr<Evaluator> make_simulated_evaluator(std::shared_ptr<const Machine> machine,
                                                    std::vector<Workload> inputs,
                                                    SimulateOptions options = {});

// A program that is run on a text. Commands are for sh, in which `{file}` is the name of a file
// with the text, in a folder of its own where a command may leave what the next one needs
// (`g++ {file} -o {file}.out`), and `{input}` one of the inputs. They reach the shell as
// "$GROMA_FILE" and "$GROMA_INPUT", so nothing in them is ever read as a command. The commands have
// our environment but for the key of the language model. They run with our rights: put what keeps
// them in (a container, another user) into the command.
struct CommandEvaluatorOptions {
  std::string command;             // "{file}.out {input}"; has `{file}`
  std::string check_command = {};  // run first, for each input if it has `{input}`; an exit with
                                   // anything but 0 or no end in time: the text is refused
  // What `{input}` stands for, one value for each; none: the command is run once.
  std::vector<std::string> inputs = {};
  // Where the value stands in what the command prints: an RE2 pattern with one group, whose last
  // match counts, in the standard output or, without one there, in the other; or a JSON pointer
  // into the standard output. Neither: the seconds that it took. A value is finite and above 0.
  std::string metric_pattern = {}, metric_pointer = {};
  std::string unit = "s";
  bool higher_is_better = false;
  // Runs that do not count, that do; the median counts. To be sure (EvaluationRequest::again) they
  // are twice as many and one more.
  int warmup = 0, repeats = 3;
  std::int64_t timeout_ms = 600'000;  // of a run; ten times the incumbent's where that is less, but
                                      // no less than a second
  std::int64_t memory_bytes = 0;      // of each process of a run (its address space); 0: no bound
  // A mapping must not change what a program prints. If this is set, what the command prints under
  // a text is compared, for each input, with what it printed under the first text that ran to its
  // end. Where they differ, the command runs under that first text again, up to twice, and up to 16
  // times in all: what changes from run to run does not count. Nor do diagnostics of the text's file
  // (lines that begin with `FILE:8:` and what belongs to them). A text under which it prints
  // something else is refused, and one under which it says that
  // it failed, as far as the guide knows. Lines that the command also prints under an empty text,
  // under which it runs once if it says that it failed, are no such failure. Lines that the metric
  // matches are left out; the name of the text's file may differ. nullopt: the output is not looked
  // at.
  std::optional<ResultsOptions> results = {};
  std::string file_suffix = {};           // of the file's name: ".cc"
  std::string folder = {};                // where the commands run; empty: where we are
  std::vector<std::string> lacking = {};  // GuideContext::lacking of where they run
};

// The value of what was run, by the metric of the options, or its seconds. Fails (kUnknown) with
// why there is none, a sentence without its full stop, and (kMalformed) on a metric that is none.
Result<double> measured_value(const CommandEvaluatorOptions& options,
                              const CommandOutcome& outcome);

// Runs one thing at a time. Where the request has an incumbent, that is measured again beside the
// text, for each input: incumbent, text, incumbent, text, ..., incumbent. The score is then
//     incumbent_score * q, q the median of text / incumbent over all pairs of their runs
// with the geometric mean of q over the inputs, and the values are scaled alike: what they would
// have been when the incumbent got its score. So neither a machine that has become slower since,
// nor one that becomes slower while they run, at once or steadily, decides, nor a single disturbed
// run; that takes two repeats or more. The noise is half the range of text / neighbouring
// incumbents, of seven repeats or more no more than to the upper bound of q that chance passes once
// in a hundred times. An incumbent that now fails is left out. The files of the incumbent, and of a
// text that is better, are kept until the next text or the evaluator's end; all others, also of
// texts that fail, are removed at once. What a command prints is read up to 1 MB of each output,
// its beginning and its end. A stop is noticed within 50 ms.
//
// A failure's feedback is the guide's (guide.h), but for ends without a known text: there it says
// how the command ended.
//
// Fails (kMalformed) on options that cannot be meant, and (kUnknown) for no such folder.
Result<std::unique_ptr<Evaluator>> make_command_evaluator(CommandEvaluatorOptions options);

}  // namespace groma
