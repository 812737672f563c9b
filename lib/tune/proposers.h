// The proposers that come with the tuner, each in a file of its name; proposers.cc lists them.
#pragma once

#include <cstdint>
#include <memory>

#include "groma/tune.h"

namespace groma::tuning {

// Reads where the time goes and changes that (draft.h).
std::unique_ptr<Proposer> make_guided(const Problem& problem, std::uint64_t seed);
// Simulated annealing over the search space, in longer and longer cycles.
std::unique_ptr<Proposer> make_anneal(const Problem& problem, std::uint64_t seed);
// AutoMap's constrained coordinate-wise descent over the search space. Draws nothing.
std::unique_ptr<Proposer> make_ccd(const Problem& problem, std::uint64_t seed);
// OpenTuner's default ensemble, over the search space.
std::unique_ptr<Proposer> make_opentuner(const Problem& problem, std::uint64_t seed);
// Changes the values that lines of the text say may stand there. Fails where none does.
Result<std::unique_ptr<Proposer>> make_marks(const Problem& problem, std::uint64_t seed);
// Draws from the search space (search_space.h), every option of every decision alike.
std::unique_ptr<Proposer> make_random(const Problem& problem, std::uint64_t seed);

// These ask a model; each says in its file after which source.
std::unique_ptr<Proposer> make_trace(const Problem& problem, std::uint64_t seed,
                                     const AskOptions& options);
std::unique_ptr<Proposer> make_opro(const Problem& problem, std::uint64_t seed,
                                    const AskOptions& options);
std::unique_ptr<Proposer> make_scientist(const Problem& problem, std::uint64_t seed,
                                         const AskOptions& options);
std::unique_ptr<Proposer> make_evolve(const Problem& problem, std::uint64_t seed,
                                      const AskOptions& options);
std::unique_ptr<Proposer> make_hybrid(const Problem& problem, std::uint64_t seed,
                                      const AskOptions& options);

}  // namespace groma::tuning
