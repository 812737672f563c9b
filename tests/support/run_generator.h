// Random runs from a seed: a tiny application, a machine of up to three nodes with little memory,
// and a mapper that draws its answers. For comparing two runtimes on what nobody wrote. The same
// seed gives the same runs everywhere.
#pragma once

#include <cstdint>
#include <memory>

#include "groma/app.h"
#include "groma/machine.h"
#include "groma/simulate.h"

namespace groma::testing {

// What the mappers of a run did.
struct Drawn {
  std::int64_t stolen = 0;  // given to thieves
  std::int64_t named = 0;   // instances that they made or found themselves
};

struct GeneratedRun {
  Application app;
  std::shared_ptr<const Machine> machine;
  RuntimeCosts costs;
  TimeModel model;
  // Mappers of one run; what they answer is drawn from the task, point and requirement alone, so
  // that each call of this gives the same. They use neither ids, but those of instances, nor times.
  MapperFactory mappers(Drawn* drawn = nullptr) const;
  std::uint64_t seed = 0;
  bool loops = false;
};

GeneratedRun generate_run(std::uint64_t seed);
// Returns a run whose top-level task has loops of 4 to 10 times `times` iterations, and whose
// mappers repeat their answers.
GeneratedRun generate_loops(std::uint64_t seed, std::int64_t times = 1);

}  // namespace groma::testing
