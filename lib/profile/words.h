// Writes quantities and names for people. All forms of a profile use these functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/quantities.h"
#include "groma/profile.h"

namespace groma::profile {

// Returns a time with three digits and a suitable unit: "12.3 ms".
std::string time_words(RunTime time);
using groma::bytes_words;
// Return the kind, the node and the index: "GPU (0, 3)".
std::string name_of(const RunRecord::Processor& processor);
std::string name_of(const RunRecord::Memory& memory);
// Returns the channel, the node, the number and the direction of a link: "pcie (0, 2) out".
std::string name_of(const RunRecord::Link& link);
// Returns the name of the runtime processor of a node: "runtime (0)".
std::string runtime_name(std::int64_t node);
// Return the name in the record; "?" if the number is not valid.
std::string task_name(const RunRecord& record, std::int32_t task);
std::string region_name(const RunRecord& record, std::int32_t region);

// Return the words for an activity and a reason that JSON uses.
std::string_view name_of(Profile::Doing doing);
std::string_view name_of(Profile::Reason reason);
// Returns why a segment is on the critical path: "its data was needed".
std::string_view words_of(Profile::Reason reason);
// Returns what was moved and where: "copy of rp_shared, SYSMEM to FBMEM".
std::string words_of(const Profile& profile, const Profile::Move& move);
// Returns what took the time: "task step", the words for a move, or "launching and mapping step".
std::string words_of(const Profile& profile, const Profile::PathCause& cause);
// Returns the statement with its place: "a.mapper:6:1: Region * * GPU FBMEM". Returns "the default
// mapper" for 0, and words for an unknown statement if the number is negative.
std::string statement_words(const ProfileWords& words, std::int32_t statement);

// Adds `value` to `sum`. An overflow gives the largest or the smallest number.
void add(std::int64_t& sum, std::int64_t value);
// Returns part / whole, or 0 if `whole` is 0.
double share(RunTime part, RunTime whole);

}  // namespace groma::profile
