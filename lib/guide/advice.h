// Turns the match of a rule, or the profile of a run, into advice: which statements of the mapping
// to change, and how to change them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "groma/guide.h"
#include "guide/words.h"

namespace groma::guide {

// Returns true if the program has a statement of one of these kinds.
bool has_statement_of_kinds(const Program& program,
                            const std::vector<MappingStatement>& statements);

// Adds a suggestion to `feedback` that names the statements of the program which the rule blames.
// If the rule can correct exactly one of them, adds that fix too.
void suggest_statement_changes(const Rule& rule, const CapturedGroups& groups,
                               const Program& program, GuideFeedback* feedback);

// Returns an edit that keeps one index of an indexed machine view, such as `m[i, j]`, within its
// bounds: `i` becomes `i % m.size[0]`. `item` is the source range of the index. If `negative` is
// true, `i` may be below 0, and the new index is `(i % m.size[0] + m.size[0]) % m.size[0]`, because
// `%` keeps the sign. Returns nullopt if no index stands at `item` or the view has no name.
std::optional<Edit> edit_keeping_index_in_bounds(const Program& program, Range item, bool negative);

// Returns true if the Task statements of the mapping prefer GPUs for all tasks.
bool prefers_gpus(const Program& program);

// Adds to `feedback` which events took most of the run's time, and which changes would reduce that
// time. `program` is the mapping if it is known, else null. `has_gpus`: the machine may have GPUs.
void explain_profile(const ProfileFacts& facts, const Program* program, bool has_gpus,
                     GuideFeedback* feedback);

}  // namespace groma::guide
