// groma tune --verify -- PROGRAM ARGS...: what a search found in the embedded runtime, run for
// real.
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

// A mapping to be tried.
struct Candidate {
  std::string name;  // "start", "step 17"
  std::string text;
  double simulated = 0;  // its score in the embedded runtime, smaller is better
};

struct Verified {
  Candidate candidate;
  std::vector<double> runs;  // a value each; none: it failed
  std::string why;           // it failed, in a line
  bool is_wrong = false;     // it printed other results than the program prints without a mapping
  double median() const;
  // The least and the most of the runs; of seven or more without the quarter at either end.
  std::pair<double, double> interval() const;
};

// How the runs of one compare with those of another.
struct Comparison {
  double speedup = 1;    // the quotient of the medians, above 1 where the first one is better
  double noise = 0;      // the larger half of the two intervals, as a part of its median
  bool differs = false;  // the intervals have nothing in common
  bool one_run = false;  // one of them ran once, which does not show the noise
};

struct VerifyOptions {
  ProgramArguments program;
  int repeats = 3;
  // What counts: its metric and its unit; without a metric seconds, those of the program's last
  // `elapsed 12.34 ms` or `ELAPSED TIME = 0.012 s` where it prints one, else of the whole process.
  groma::CommandEvaluatorOptions metric;
  const groma::Application* app = nullptr;  // what the program is taken to be; outlives the call
  std::shared_ptr<const groma::Machine> machine;
};

// Before a search: runs the program once, as it maps itself, and says where it does not do what the
// application describes, or fails. Fails on a metric that cannot be meant or that finds nothing in
// what it prints, and where the program cannot be run or has no Legion that can be taken over.
groma::Result<std::vector<std::string>> look_at_program(const VerifyOptions& options);

struct Verification {
  Verified without;           // the program as it is, without a mapping
  std::vector<Verified> all;  // as the candidates
  std::string measure;        // "metric", "elapsed", "process"
  std::string unit;
  bool higher_is_better = false;
  groma::UnsteadyResults unsteady;  // what was left out when results were compared

  // The mapping with the best median; null: none ran.
  const Verified* fastest() const;
  // The first candidate, if that is the start and ran; else null.
  const Verified* start() const;
  // Nothing if one of them did not run.
  std::optional<Comparison> compare(const Verified& one, const Verified& other) const;
};

// Runs the program without a mapping and under each mapping: once, under Legion's checks, which
// does not count; then `repeats` times, all in turn, forwards and backwards, so that what else the
// computer does falls on all alike. Its output goes nowhere. A mapping under which it prints other
// results than without one is wrong, however fast (groma/results.h). Fails where no program can be
// started at all.
groma::Result<Verification> verify(const std::vector<Candidate>& candidates,
                                   const VerifyOptions& options);

// For a person, and one line of JSON; `unit` is that of the simulated values, `phase` what they are
// of (empty: of the whole run), `warnings` of look_at_program().
std::string draw(const Verification& verified, const std::string& program, int repeats,
                 const std::string& unit, const std::string& phase);
std::string to_json(const Verification& verified, const std::vector<std::string>& warnings);

}  // namespace driver
