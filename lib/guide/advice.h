// What a match and a profile mean for the mapping at hand: statements to change, and how.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "groma/guide.h"
#include "guide/words.h"

namespace groma::guide {

// Adds which statements of the program a rule blames, with the edit that mends them where there is
// one.
void advise(const Rule& rule, const Groups& groups, const Program& program, Feedback* feedback);

// The index of a machine view that stands there, kept inside of it: `i % m.size[0]`. Nothing where
// none does, or the view has no name.
std::optional<Edit> wrapped_index(const Program& program, Range item);

// Whether all tasks run on GPUs where they can.
bool prefers_gpus(const Program& program);

// Adds what took the time, and what would change that.
void explain_profile(const ProfileFacts& facts, const Program* program, Feedback* feedback);

}  // namespace groma::guide
