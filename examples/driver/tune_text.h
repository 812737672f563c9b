// Reads what a search for another text than a mapping begins with.
#pragma once

#include <optional>

#include "groma/result.h"
#include "groma/search.h"
#include "tune.h"

namespace driver {

// Completes the setup of a new search for a text: runs the command of --probe, and sets the limit
// on a reply by the size of the text unless the user gives it. Returns the error if the command
// fails or a file cannot be read.
std::optional<groma::Error> complete_text_setup(TuneArguments* arguments);

// Reads the files and the documents of a search for a text into the problem. A resumed search has
// its text already. Paths are relative to the current folder. Returns the error of a file that
// cannot be read, is too large or is not a text.
std::optional<groma::Error> read_text(const TuneArguments& arguments,
                                      groma::tuning::SearchProblem* problem);

// Returns notes for the user about what a model will not see: a part of --about, or parts of a text
// that is too long for a prompt.
std::vector<std::string> notes_about_prompts(const TuneArguments& arguments,
                                             const groma::tuning::SearchProblem& problem);

}  // namespace driver
