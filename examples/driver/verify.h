// groma tune --verify -- PROGRAM ARGS...: runs the real program under the best mappings that a
// search in the embedded runtime found.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "groma/evaluators.h"
#include "groma/result.h"
#include "groma/results.h"
#include "run_map.h"

namespace driver {

// A mapping to measure with the real program.
struct Candidate {
  std::string name;  // "start", "step 17"
  std::string text;
  // Score in the embedded runtime; smaller is better. NaN: the mapping was not simulated.
  double simulated = 0;
};

struct Verified {
  Candidate candidate;
  std::vector<double> runs;  // one value for each run; empty: the program failed
  std::string why;           // the reason of the failure, in one line
  bool is_wrong = false;     // true: the printed results differ from those without a mapping
  double median() const;
};

// How the runs of one mapping compare with the runs of another.
struct Comparison {
  double speedup = 1;    // quotient of the medians; above 1: the first mapping is better
  double noise = 0;      // half of each interval relative to its median; the larger value
  bool differs = false;  // true: the two intervals do not overlap
  bool one_run = false;  // true: one of them ran once, which does not show the noise
};

struct VerifyOptions {
  ProgramArguments program;
  int repeats = 3;
  // The measured value: a metric and its unit. Without a metric, the time in seconds of the
  // program's last line such as `elapsed 12.34 ms` or `ELAPSED TIME = 0.012 s` counts. If there is
  // no such line, the run time of the whole process counts.
  groma::CommandEvaluatorOptions metric;
  // The application that the program is taken to be; must outlive the call.
  const groma::Application* app = nullptr;
  std::shared_ptr<const groma::Machine> machine;
};

// Runs the program once with its own mapping, before a search. Returns warnings if the program
// fails or does not do what the application describes. Fails on a metric that is not valid or that
// does not occur in the output. Also fails if the program cannot be run or contains no Legion that
// Groma can take over.
groma::Result<std::vector<std::string>> look_at_program(const VerifyOptions& options);

struct Verification {
  Verified without;           // the program without a mapping
  std::vector<Verified> all;  // one entry for each candidate, in the same order
  std::string measure;        // "metric", "elapsed", "process"
  std::string unit;
  bool higher_is_better = false;
  groma::UnsteadyResults unsteady;  // what the comparison of results left out

  // Returns the mapping with the best median, or null if no mapping ran.
  const Verified* fastest() const;
  // Returns the first candidate if it is the start and ran, otherwise null.
  const Verified* start() const;
  // Returns nothing if one of the two did not run.
  std::optional<Comparison> compare(const Verified& one, const Verified& other) const;
};

// Runs the program without a mapping and under each mapping. The first run of each has Legion's
// checks on and is not measured. Then `repeats` measured runs follow in turn, forwards and
// backwards, so that other load on the computer affects all mappings alike. The output is
// discarded. A mapping is wrong, however fast, if the program prints other results than without a
// mapping (groma/results.h). Fails if no program can be started at all.
groma::Result<Verification> verify(const std::vector<Candidate>& candidates,
                                   const VerifyOptions& options);

// draw() writes the verification for a person, to_json() as one line of JSON. `unit` is the unit of
// the simulated values, if there are any. `phase` names the part of the run that they belong to
// (empty: the whole run). `warnings` come from look_at_program().
std::string draw(const Verification& verified, const std::string& program, int repeats,
                 const std::string& unit, const std::string& phase);
std::string to_json(const Verification& verified, const std::vector<std::string>& warnings);

}  // namespace driver
