// Constructs the objects that a run and a rehearsal have in common.
#include "simulate/run_parts.h"

#include <utility>

#include "simulate/machine_index.h"

namespace groma::sim {

// The objects refer to each other in the order in which they are made.
RunParts::RunParts(const app::Data& data, const DataSpaces& spaces,
                   std::shared_ptr<const Machine> machine, const MapperFactory& make,
                   const Outcome::Limits& limits)
    : input(data, spaces, std::move(machine)),
      outcome(data.name, limits),
      store(data.regions.size(), spaces, input.memories, outcome.budget()),
      valid_data(data.regions.size(), spaces, ops, store, lists, limits.max_bytes,
                 outcome.budget()),
      views(data, spaces),
      calls(*this),
      mappers(input, make, outcome),
      instances(input, store, views, mappers, outcome, calls),
      launcher(input, views, mappers, outcome, calls, lists),
      given_bytes_(spaces.bytes() + machine_bytes(*input.machine)) {}

std::int64_t RunParts::bytes() const {
  return given_bytes_ + ops.bytes() + store.bytes() + valid_data.bytes() + launcher.bytes() +
         instances.bytes();
}

}  // namespace groma::sim
