// The evaluators that come with the tuner (tune.h): the embedded runtime, and a command of the
// user's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "groma/machine.h"
#include "groma/result.h"
#include "groma/simulate.h"
#include "groma/tune.h"
#include "groma/workload.h"

namespace groma {

// Mappings of these applications in the embedded runtime. A value is the simulated seconds of what
// the application measures. check() is `groma check` with machine and application. From any
// threads.
std::unique_ptr<Evaluator> make_simulated_evaluator(std::shared_ptr<const Machine> machine,
                                                    std::vector<Workload> inputs,
                                                    SimulateOptions options = {});

// A program that is run on a text: for sh, `{file}` is the name of a file with the text.
struct CommandEvaluatorOptions {
  std::string command;             // "make -s FILE={file} && ./bench {input}"
  std::string check_command = {};  // run first; fails: the text is refused
  // What `{input}` stands for, one value for each; none: the command is run once.
  std::vector<std::string> inputs = {};
  // Where the value stands in what the command prints: an RE2 pattern with one group, whose last
  // match counts, or a JSON pointer into the standard output. Neither: the seconds that it took.
  std::string metric_pattern = {}, metric_pointer = {};
  std::string unit = "s";
  bool higher_is_better = false;
  int warmup = 0, repeats = 3;        // runs that do not count, that do; the median counts
  std::int64_t timeout_ms = 600'000;  // of a run; ten times the best so far where that is less
  std::int64_t memory_bytes = 0;      // of each process of a run (its address space); 0: no bound
  std::string file_suffix = {};       // of the file's name: ".cc"
  std::string folder = {};            // where the commands run; empty: where we are
};
Result<std::unique_ptr<Evaluator>> make_command_evaluator(CommandEvaluatorOptions options);

}  // namespace groma
