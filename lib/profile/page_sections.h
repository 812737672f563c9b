// The sections of the HTML page of a run. Each function appends HTML in which the texts of other
// programs are escaped.
#pragma once

#include <string>

#include "groma/profile_page.h"

namespace groma::profile {

// Appends what ran, its times, what it waited for, and the sentences of the guide.
void add_page_head(const Profile& profile, const ProfileWords& words, const RunSummary& summary,
                   std::string* html);

// Appends the legend and the timeline, with the data for the script. `measured` is the name of the
// phase that the application measures, or empty.
void add_page_timeline(const Profile& profile, const std::string& measured, std::string* html);

// Append the tables about the critical path, and those about tasks, processors, channels and moved
// data. Rows are sorted by time, and small ones are folded.
void add_page_path_tables(const Profile& profile, const ProfileWords& words, std::string* html);
void add_page_tables(const Profile& profile, const ProfileWords& words, std::string* html);

// Appends how full each memory was over time, relative to its capacity.
void add_page_memories(const Profile& profile, std::string* html);

// Appends a matrix of the bytes that were moved between memories. Appends nothing if none were.
void add_page_matrix(const Profile& profile, std::string* html);

// Returns a sentence that says for what the run waited, or the phase `measured` of the run. Names
// are in backticks. Returns "" for a run without time.
std::string waited_sentence(const Profile& profile, const std::string& measured);

}  // namespace groma::profile
