// The earlier steps of a search in a prompt: every step in its order, with its change and verdict.
#pragma once

#include "groma/search.h"
#include "model/prompt.h"

namespace groma::tuning {

// Adds the steps of the search to a prompt, the oldest first. Each step has its result, the
// comparison with the best step before it, what took the time or why it failed, and its difference
// from the text of that best step, if the history still keeps that text. If steps are left out, a
// line says how many and which ones are shown. A prompt that is too long keeps one line for each
// step.
void add_step_history(Prompt& prompt, const SearchRound& round, GuideDetail detail);

}  // namespace groma::tuning
