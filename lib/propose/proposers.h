// The functions that make the proposers of the tuner. A proposer chooses the texts (mostly
// mappings) to try next. Each proposer has a source file with its name.
#pragma once

#include <cstdint>
#include <memory>

#include "groma/proposers.h"

namespace groma::tuning {

// guided: finds in a profile where the run time goes, and changes the mapping decisions that cause
// it.
std::unique_ptr<Proposer> make_guided_proposer(const SearchProblem& problem, std::uint64_t seed);
// The same proposer for a search in which it takes turns with another proposer: each of its changes
// is a change of the best mapping so far.
std::unique_ptr<Proposer> make_guided_proposer_in_turns(const SearchProblem& problem,
                                                        std::uint64_t seed);
// anneal: simulated annealing over the search space, in cycles of increasing length.
std::unique_ptr<Proposer> make_anneal_proposer(const SearchProblem& problem, std::uint64_t seed);
// ccd: AutoMap's constrained coordinate-wise descent over the search space. Uses no random numbers.
std::unique_ptr<Proposer> make_ccd_proposer(const SearchProblem& problem, std::uint64_t seed);
// opentuner: OpenTuner's default ensemble over the search space, or over the values that a text
// that is not a mapping lists. Fails for such a text if no line lists alternatives.
Result<std::unique_ptr<Proposer>> make_opentuner_proposer(const SearchProblem& problem,
                                                          std::uint64_t seed);
// marks: varies a text in which lines list the alternatives of a value. Fails if no line lists
// alternatives.
Result<std::unique_ptr<Proposer>> make_marks_proposer(const SearchProblem& problem,
                                                      std::uint64_t seed);
// random: draws mappings from the search space. Every option of a decision is equally likely.
std::unique_ptr<Proposer> make_random_proposer(const SearchProblem& problem, std::uint64_t seed);

// Make the proposers that ask a language model. The source file of each proposer names the paper or
// program that it follows.
std::unique_ptr<Proposer> make_trace_proposer(const SearchProblem& problem, std::uint64_t seed,
                                              const AskOptions& options);
std::unique_ptr<Proposer> make_opro_proposer(const SearchProblem& problem, std::uint64_t seed,
                                             const AskOptions& options);
std::unique_ptr<Proposer> make_scientist_proposer(const SearchProblem& problem, std::uint64_t seed,
                                                  const AskOptions& options);
std::unique_ptr<Proposer> make_evolve_proposer(const SearchProblem& problem, std::uint64_t seed,
                                               const AskOptions& options);
std::unique_ptr<Proposer> make_hybrid_proposer(const SearchProblem& problem, std::uint64_t seed,
                                               const AskOptions& options);

}  // namespace groma::tuning
