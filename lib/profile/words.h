// Writes quantities and names for people, for all forms of a profile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/quantities.h"
#include "groma/profile.h"

namespace groma::profile {

// Returns text such as "12.3 ms", with three digits.
std::string time_words(RunTime time);
using groma::bytes_words;
// Returns text such as "GPU (0, 3)": kind, node and index.
std::string name_of(const RunRecord::Processor& processor);
std::string name_of(const RunRecord::Memory& memory);
// Returns text such as "pcie (0, 2) out".
std::string name_of(const RunRecord::Link& link);
// Returns text such as "runtime (0)".
std::string runtime_name(std::int64_t node);
// Return the name in the record, or "?".
std::string task_name(const RunRecord& record, std::int32_t task);
std::string region_name(const RunRecord& record, std::int32_t region);

std::string_view name_of(Profile::Doing doing);
std::string_view name_of(Profile::Reason reason);
// Returns why a step is on the critical path: "its data was needed".
std::string_view words_of(Profile::Reason reason);
// Returns text such as "copy of rp_shared, SYSMEM to FBMEM".
std::string words_of(const Profile& profile, const Profile::Move& move);
// Returns "task step", the text of a move, or "launching and mapping step".
std::string words_of(const Profile& profile, const Profile::PathCause& cause);
// Returns the statement with its place: "a.mapper:6:1: Region * * GPU FBMEM". Returns "the default
// mapper" for 0, and says that the statement is unknown for a negative number.
std::string statement_words(const ProfileWords& words, std::int32_t statement);

// Adds `value` to `sum`; saturates at the largest number.
void add(std::int64_t& sum, std::int64_t value);
// Returns part / whole, or 0 if `whole` is 0.
double share(RunTime part, RunTime whole);

}  // namespace groma::profile
