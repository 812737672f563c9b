// The proposers that come with the tuner, each in a file of its name; proposers.cc lists them.
#pragma once

#include <cstdint>
#include <memory>

#include "groma/tune.h"

namespace groma::tuning {

// Reads where the time goes and changes that (draft.h).
std::unique_ptr<Proposer> make_guided(const Problem& problem, std::uint64_t seed);
// Changes the values that lines of the text say may stand there. Fails where none does.
Result<std::unique_ptr<Proposer>> make_marks(const Problem& problem, std::uint64_t seed);
// Draws from the search space (search_space.h), every option of every decision alike.
std::unique_ptr<Proposer> make_random(const Problem& problem, std::uint64_t seed);

}  // namespace groma::tuning
