// What all forms of a profile have in common: quantities and names for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/quantities.h"
#include "groma/profile.h"

namespace groma::profile {

// "12.3 ms": three digits.
std::string time_words(RunTime time);
using groma::bytes_words;
// "GPU (0, 3)": node, then index.
std::string name_of(const RunRecord::Processor& processor);
std::string name_of(const RunRecord::Memory& memory);
// "pcie (0, 2) out"
std::string name_of(const RunRecord::Link& link);
// "runtime (0)"
std::string runtime_name(std::int64_t node);
// As the record has it, or "?".
std::string task_name(const RunRecord& record, std::int32_t task);
std::string region_name(const RunRecord& record, std::int32_t region);

std::string_view name_of(Profile::Doing doing);
std::string_view name_of(Profile::Reason reason);
// Why it is on the critical path: "its data was needed"
std::string_view words_of(Profile::Reason reason);
// "copy of rp_shared, SYSMEM to FBMEM"
std::string words_of(const Profile& profile, const Profile::Move& move);
// "task step", a move, "launching and mapping step"
std::string words_of(const Profile& profile, const Profile::PathCause& cause);
// "a.mapper:6:1: Region * * GPU FBMEM", or "the default mapper", or that it is not known (below 0).
std::string statement_words(const ProfileWords& words, std::int32_t statement);

// Stops at the largest number.
void add(std::int64_t& sum, std::int64_t value);
// Part of whole, 0 where there is no whole.
double share(RunTime part, RunTime whole);

}  // namespace groma::profile
