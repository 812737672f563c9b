// The evaluators that come with the tuner (tune.h): the embedded runtime, and a command of the
// user.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "groma/machine.h"
#include "groma/result.h"
#include "groma/results.h"
#include "groma/simulate.h"
#include "groma/system.h"
#include "groma/tune.h"
#include "groma/workload.h"

namespace groma::tuning {

// Returns the geometric mean of `values`: at least one value, all above 0. It is the score of
// several inputs.
double geometric_mean(std::span<const double> values);

// ---- Noise of measured runs: how far repeated runs of one text differ. `runs` has at least one
// value, all above 0.

// From this number of runs on, one disturbed run does not count as noise.
inline constexpr std::size_t kManyRuns = 7;
// Returns the interval in which the runs lie: the least and the greatest value. From kManyRuns on,
// the lowest and the highest quarter of the values are left out first.
std::pair<double, double> interval_of(std::vector<double> runs);
// Returns half the width of an interval, as a part of the median of the runs.
double half_width(const std::pair<double, double>& interval, const std::vector<double>& runs);

// Makes an evaluator that runs mappings of these applications in the embedded runtime. A value is
// the simulated time, in seconds, of the part that the application measures. check() does what
// `groma check` does with a machine and an application.
// May be used from any thread. All concurrent runs together take at most `options.max_bytes` of
// memory. `options.stop` ends checks. A run ends as its request says, or after 60 seconds of
// wall-clock time.
std::unique_ptr<Evaluator> make_simulated_evaluator(std::shared_ptr<const Machine> machine,
                                                    std::vector<Workload> inputs,
                                                    SimulateOptions options = {});

// Makes an evaluator that estimates the simulated time of mappings from a rehearsal of the run
// (check_run in groma/inspect.h), which takes about half the time of a simulated run. Its scores
// are rough, and it gives no feedback: it is meant as the `estimator` of tune() for a search whose
// evaluator is make_simulated_evaluator(). Noise in the options is ignored.
// May be used from any thread.
std::unique_ptr<Evaluator> make_rehearsed_estimator(std::shared_ptr<const Machine> machine,
                                                    std::vector<Workload> inputs,
                                                    SimulateOptions options = {});

// How long a command evaluator waits for its workers. The defaults suit a network.
struct WorkerPatience {
  // The longest time without an answer of a worker's shell, beyond the time limit of a run.
  std::int64_t answer_ms = 60'000;
  // A worker that died is started again, at most `restarts` times without an evaluation in between.
  // The pauses before that grow: first_pause_ms, then four times the one before.
  std::int64_t first_pause_ms = 2'000;
  int restarts = 3;
};

// Limit on the workers of a command evaluator.
inline constexpr int kMaxWorkers = 64;

// Options of an evaluator that runs a command on a text. Commands are for sh. In a command,
// `{file}` is the name of a file with the text, and `{input}` is one of the inputs. The file has
// its own folder, in which a command may leave files for the next command (`g++ {file} -o
// {file}.out`).
// File and input reach the shell as "$GROMA_FILE" and "$GROMA_INPUT", so their contents are never
// run as commands. The commands have the environment of this process, except the key of the
// language model. They run with the user's rights: to confine them, put a container or another user
// into the command.
struct CommandEvaluatorOptions {
  // The command, such as "{file}.out {input}". It must contain `{file}`.
  std::string command;
  // Runs before `command`, once for each input if it contains `{input}`. If it does not exit with 0
  // in time, the evaluated mapping or text is refused, and `command` does not run.
  std::string check_command = {};
  // The values for `{input}`. Empty: the command runs once.
  std::vector<std::string> inputs = {};
  // How to find the value in the output of the command. `metric_pattern` is an RE2 pattern with one
  // group. Its last match counts; standard error is searched only if standard output has no match.
  // `metric_pointer` is a JSON pointer into the standard output. If both are empty, the value is
  // the run time in seconds. A value must be finite and above 0.
  std::string metric_pattern = {}, metric_pointer = {};
  std::string unit = "s";
  bool higher_is_better = false;
  // The number of warm-up runs, which do not count, and of measured runs, whose median counts. A
  // request for certainty (EvaluationRequest::again) makes 2 * repeats + 1 measured runs.
  int warmup = 0, repeats = 3;
  // Timeout of one run. The limit is ten times the incumbent's time (but at least one second) if
  // that is less.
  std::int64_t timeout_ms = 600'000;
  // The limit on the address space of each process. 0 stands for no limit.
  std::int64_t memory_bytes = 0;
  // A mapping must not change what a program prints. If `results` is set, the output under each
  // text is compared with the output of the first text that ran to its end, for each input.
  // * If they differ, the command runs under that first text again: up to twice for a difference,
  //   and up to 16 times in all. Output that changes from run to run does not count.
  // * A text with different output is refused.
  // * A text whose output reports a failure that the guide knows is refused. Failure lines that the
  //   command also prints under an empty text do not count. The command runs once under an empty
  //   text if it reports a failure.
  // * Diagnostics of the text's file are ignored: lines that begin with `FILE:8:`, and the source
  //   lines, notes and help below them.
  // * Lines that the metric matches are ignored, and the name of the text's file may differ.
  // nullopt: the output is not compared.
  std::optional<ResultsOptions> results = {};
  // The name of the text's file, such as "kernel.cc", without folders. If it is empty, the name is
  // "text". The files of a text that stands for several ones have their own names.
  std::string file_name = {};
  // True if the feedback on a text that ran has the last lines of its standard output.
  bool keeps_output = false;
  // The working folder of the commands. If it is empty, the current folder is used.
  std::string folder = {};
  // The workers, which evaluate texts at the same time, one text each. An element is a number N,
  // for N workers on this computer, or a shell command that starts a POSIX shell on another
  // computer or device, such as "ssh host sh". That shell must read its standard input. All workers
  // together are numbered from 0, and the commands have the number in the variable GROMA_WORKER. If
  // the list is empty, there is one worker on this computer. There are at most kMaxWorkers.
  std::vector<std::string> workers = {};
  WorkerPatience patience = {};
  // The kinds of processors and memories that are missing on the machine where the commands run, as
  // in GuideContext::lacking.
  std::vector<std::string> lacking = {};
};

// Returns how many workers CommandEvaluatorOptions::workers has: at least 1, and kMaxWorkers + 1
// for any number above kMaxWorkers.
int worker_count(const std::vector<std::string>& workers);

// Returns the value of a finished command by the metric in `options`, or its run time in seconds.
// Fails with kUnknown if the command has no value: the message is a sentence without a full stop
// that says why. Fails with kMalformed if the metric is not valid.
Result<double> measured_value(const CommandEvaluatorOptions& options,
                              const CommandOutcome& outcome);

// Makes an evaluator that runs a command. Each of its workers runs one command at a time;
// parallel() is the number of workers.
//
// A worker of another computer is started when the first text is evaluated. The shell there stores
// the texts in a temporary folder and runs the commands, in `folder` if that computer has such a
// folder. Time limits, memory limits and outputs are bounded there.
//
// A worker dies if its connection ends or does not answer. It counts as broken if a run of a text
// fails or times out, and then the incumbent (without one: the last text that ran well there)
// fails twice as well. With several workers, it also counts as broken if only the incumbent fails,
// because scores of different workers are comparable only through the incumbent. In all cases the
// worker is started again, and the text is evaluated from the start by the next free worker. If no
// worker is left, error() has the reason. A text fails only if three workers in a row die during
// its own run, after the incumbent has run well beside it.
//
// If the request has an incumbent, the evaluator measures the incumbent again beside the text, for
// each input: incumbent, text, incumbent, text, ..., incumbent. The score is then
//     incumbent_score * q, q the median of text / incumbent over all pairs of their runs
// with the geometric mean of q over the inputs. The values are scaled in the same way, to what they
// would have been when the incumbent got its score. With two repeats or more, the result does not
// depend on a machine that has become slower since then, on one that becomes slower during the runs
// (at once or steadily), or on one disturbed run. An incumbent that now fails is left out.
//
// The noise is half the range of the ratios text / neighbouring incumbent. With seven repeats or
// more it is limited by the upper bound of q that chance exceeds once in a hundred times. Without
// an incumbent it is half_width() of the runs' interval_of().
//
// The files of the incumbent and of a better text are kept until the next text or the end of the
// evaluator. All other files are removed at once, also those of texts that fail. At most 1 MB of
// each output of a command is read: its beginning and its end. A stop takes effect within 50 ms.
//
// The feedback on a failure comes from the guide (guide.h). If the guide does not know the output,
// the feedback says how the command ended.
//
// Fails with kMalformed if the options are not valid, and with kUnknown if the folder does not
// exist.
Result<std::unique_ptr<Evaluator>> make_command_evaluator(CommandEvaluatorOptions options);

// Returns the options with commands that measure the Legion programs of benchmarks on this
// computer: `groma run --on legion`, first under Legion's checks. `groma` is the path of the
// command. `apps` are as for its option --app. `flags` are Legion's.
CommandEvaluatorOptions with_legion_commands(CommandEvaluatorOptions options,
                                             const std::string& groma,
                                             std::vector<std::string> apps,
                                             const std::vector<std::string>& flags);

// Makes an evaluator of mappings that measures with `measure`, such as a command evaluator. It asks
// `runtime`, an evaluator that simulates, for everything that needs no run: what is wrong with a
// text, and which texts are the same. So a mapping that is certainly refused is not measured.
// `runtime` must outlive the evaluator.
std::unique_ptr<Evaluator> make_measured_mappings_evaluator(std::unique_ptr<Evaluator> measure,
                                                            const Evaluator& runtime);

}  // namespace groma::tuning
