// Suggests changes of a mapping from the facts about a run's time: which data tasks stream from
// which memory, which copies are made, and how tasks are spread over processors. guide_run(),
// `groma guide` and `groma tune` all take their suggestions from here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "groma/guide.h"
#include "guide/program_editor.h"

namespace groma::guide {

// A suggestion that a mapping can carry out on the machine of the run.
struct ProfileSuggestion {
  // An upper bound of what the change saves, as a share of the time.
  double saves = 0;
  // The decision that the change is about. Of two suggestions with a common subject, only the one
  // that saves more is made.
  std::vector<std::string> subjects;
  // The change, with its reason and its aim. The fix has no edits, and its title says only which
  // statement to write, if the mapping of the run is not known.
  ProposedChange change;
};

// Returns true if the facts say enough for profile_suggestions(): they come from a simulated run.
bool are_detailed(const ProfileFacts& facts);

// Returns the suggestions, those that may save most first. No two of them are about the same
// decision. `program` is the mapping of the run; an empty program if the default mapper decided;
// null if it is not known.
std::vector<ProfileSuggestion> profile_suggestions(const ProfileFacts& facts,
                                                   const Program* program);

// Returns the mapping program that suggestions change: `program`, or an empty program if the
// default mapper mapped the run. Returns null if the mapping is not known.
const Program* program_to_edit(const ProfileFacts& facts, const Program* program);

// Returns the suggestion as a sentence without its full stop: the reason, what to write and the
// share that this may save.
std::string sentence_of(const ProfileSuggestion& suggestion);

// Describes a stream: "22 % of the time tasks of `update` stream `ghost` from ZCMEM at 16 GB/s".
std::string describe_stream(const ProfileFacts::Stream& stream);

}  // namespace groma::guide
