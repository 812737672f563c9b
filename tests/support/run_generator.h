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

struct GeneratedRun {
  Application app;
  std::shared_ptr<const Machine> machine;
  RuntimeCosts costs;
  // Mappers of one run; what they answer is drawn from the task, point and requirement alone, so
  // that each call of this gives the same. They use neither ids nor times.
  // `stolen`: where to count what they give to thieves.
  MapperFactory mappers(std::int64_t* stolen = nullptr) const;
  std::uint64_t seed = 0;
};

GeneratedRun generate_run(std::uint64_t seed);

}  // namespace groma::testing
