// What a match and a profile mean for the mapping at hand: statements to change, and how.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "groma/guide.h"
#include "guide/words.h"

namespace groma::guide {

bool has_any(const Program& program, const std::vector<MappingStatement>& statements);

// Adds which statements of the program a rule blames, with the edit that mends them where there is
// one.
void advise(const Rule& rule, const Groups& groups, const Program& program, Feedback* feedback);

// The index of a machine view that stands there, kept inside of it: `i % m.size[0]`, of one that
// may be below 0 `(i % m.size[0] + m.size[0]) % m.size[0]`, since `%` keeps the sign. Nothing where
// none does, or the view has no name.
std::optional<Edit> wrapped_index(const Program& program, Range item, bool negative);

// Whether all tasks run on GPUs where they can.
bool prefers_gpus(const Program& program);

// Adds what took the time, and what would change that. `has_gpus`: the machine may have some.
void explain_profile(const ProfileFacts& facts, const Program* program, bool has_gpus,
                     Feedback* feedback);

}  // namespace groma::guide
