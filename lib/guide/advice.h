// Turns a rule match or a run's profile into advice: which statements of the mapping to change, and
// how to change them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "groma/guide.h"
#include "guide/words.h"

namespace groma::guide {

bool has_any(const Program& program, const std::vector<MappingStatement>& statements);

// Adds to `feedback` the statements of the program that the rule blames. If the rule knows a
// correction, the edit is added too.
void advise(const Rule& rule, const Groups& groups, const Program& program, Feedback* feedback);

// Returns an edit that keeps the machine-view index at `item` within its bounds. The new index is
// `i % m.size[0]`. If `negative` is true (the index may be below 0) it is `(i % m.size[0] +
// m.size[0]) % m.size[0]`, because `%` keeps the sign. Returns nothing if there is no index at
// `item` or the view has no name.
std::optional<Edit> wrapped_index(const Program& program, Range item, bool negative);

// Returns true if the Task statements prefer GPUs for all tasks.
bool prefers_gpus(const Program& program);

// Adds to `feedback` what took the time of the run, and which changes would reduce that time.
// `has_gpus`: the machine may have GPUs.
void explain_profile(const ProfileFacts& facts, const Program* program, bool has_gpus,
                     Feedback* feedback);

}  // namespace groma::guide
