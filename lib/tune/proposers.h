// The proposers that come with the tuner, each in a file of its name; proposers.cc lists them.
#pragma once

#include <cstdint>
#include <memory>

#include "groma/tune.h"

namespace groma::tuning {

// Simulated annealing over the search space, in longer and longer cycles.
std::unique_ptr<Proposer> make_anneal(const Problem& problem, std::uint64_t seed);
// AutoMap's constrained coordinate-wise descent over the search space. Draws nothing.
std::unique_ptr<Proposer> make_ccd(const Problem& problem, std::uint64_t seed);
// OpenTuner's default ensemble, over the search space.
std::unique_ptr<Proposer> make_opentuner(const Problem& problem, std::uint64_t seed);
// Draws from the search space (search_space.h), every option of every decision alike.
std::unique_ptr<Proposer> make_random(const Problem& problem, std::uint64_t seed);

}  // namespace groma::tuning
