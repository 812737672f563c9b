// groma tune --verify -- PROGRAM ARGS...: what a search found in the embedded runtime, run for
// real.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "groma/result.h"
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
  std::vector<double> seconds;  // of the whole program, one for each run; none: it failed
  std::string why;              // it failed, in a line
  double median() const;
};

// Runs the program under each mapping: once under Legion's checks, which does not count, then
// `repeats` times, all in turn, so that what else the computer does falls on all alike. Its
// output goes nowhere. Fails where no program can be started at all.
groma::Result<std::vector<Verified>> verify(const std::vector<Candidate>& candidates,
                                            const ProgramArguments& program, int repeats);

// The one with the least median; null: none ran.
const Verified* fastest(const std::vector<Verified>& all);

// For a person, and one line of JSON; `unit` is that of the simulated values.
std::string draw(const std::vector<Verified>& all, const std::string& program, int repeats,
                 const std::string& unit);
std::string to_json(const std::vector<Verified>& all);

}  // namespace driver
