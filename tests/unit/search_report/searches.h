// Real small searches, and forged journals, for the tests of the report.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "groma/search.h"
#include "groma/search_setup.h"
#include "support/temporary_folder.h"

namespace groma::test {

// The benchmark `cannon` on p100x4, and the setup with which `groma tune` would begin its search.
tuning::SearchProblem cannon_problem();
tuning::SearchSetup cannon_setup(std::string_view proposer, std::int64_t evaluations);

// Runs a search in `directory`, whose folder is a folder of the test. Proposers that ask a model
// get replies from a script.
void search(const TemporaryFolder& folder, const std::string& directory, std::string_view proposer,
            std::int64_t evaluations);

// Makes a directory with this journal and returns its path.
std::string forged_search(const TemporaryFolder& folder, const std::string& lines);
// The first line of a journal, for a search of values in seconds that begins with `start`.
std::string first_line(const std::string& start = "");
// Returns the line of a step. A score of 0 makes a step that failed.
std::string step_line(std::int64_t number, double score, const std::string& text,
                      const std::string& why = "a change",
                      const std::vector<std::int64_t>& parents = {});

}  // namespace groma::test
