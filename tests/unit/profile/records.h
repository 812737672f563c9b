// Records of runs: drawn at random, nonsense, and of real simulations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "groma/profile.h"

namespace groma::test {

// A run by the rules of docs/simulator.md's events, with all causes, made without the simulator:
// everything starts as early as it can.
std::shared_ptr<RunRecord> random_run(std::uint64_t seed, std::int64_t events);

// Fields drawn from anything, also numbers of what is not there.
std::shared_ptr<RunRecord> nonsense(std::uint64_t seed, std::int64_t events);

// Simulated under the default mapper: a stencil of `pieces` tiles, `steps` steps in a loop;
// or, `nested`, a task that launches such stencils, waits for their futures, and launches again.
std::shared_ptr<const RunRecord> simulated(const std::string& machine, int pieces, int steps,
                                           bool nested);

// Names that would do harm if they were not escaped.
extern const char* const kHostileNames[6];

}  // namespace groma::test
