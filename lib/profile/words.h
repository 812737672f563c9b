// Formats quantities and names for people. All forms in which a profile is written use these
// functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/quantities.h"
#include "groma/profile.h"

namespace groma::profile {

// Formats a time, given in picoseconds, with three digits and a suitable unit: "12.3 ms".
std::string format_time(RunTime time);
using groma::format_bytes;
// Return the name of a processor or memory: its kind, its node and its index, "GPU (0, 3)".
std::string name_of(const RunRecord::Processor& processor);
std::string name_of(const RunRecord::Memory& memory);
// Returns the name of a link: its channel, its node, its number and its direction, "pcie (0, 2)
// out".
std::string name_of(const RunRecord::Link& link);
// Returns the name of the runtime processor of a node: "runtime (0)".
std::string name_of_runtime_processor(std::int64_t node);
// Return the name of the task or region with this number in the record, or "?" if the number is not
// valid.
std::string task_name(const RunRecord& record, std::int32_t task);
std::string region_name(const RunRecord& record, std::int32_t region);

// Return the word that JSON uses for an activity or for a reason of waiting.
std::string_view name_of(Profile::Doing doing);
std::string_view name_of(Profile::Reason reason);
// Describes why the run waited for a segment of the critical path: "the next step needed its data".
std::string_view words_of(Profile::Doing doing, Profile::Reason reason);
// Describes which data was moved between which memories: "copy of rp_shared, SYSMEM to FBMEM".
std::string words_of(const Profile& profile, const Profile::CopyGroup& move);
// Describes what took time on the critical path: "task step", "copy of rp_shared, SYSMEM to FBMEM"
// or "launching and mapping step".
std::string words_of(const Profile& profile, const Profile::PathCause& cause);
// Describes the mapping statement with this number: "a.mapper:6:1: Region * * GPU FBMEM". Returns
// "the default mapper" for 0, and words for an unknown statement if the number is negative.
std::string describe_statement(const ProfileWords& words, std::int32_t statement);

// Returns the end of a path behind its last `/`: "a.mapper:6:1" for "maps/a.mapper:6:1".
std::string_view without_folders(std::string_view path);

// Adds `value` to `sum`. If the sum overflows, it becomes the largest or the smallest number.
void add_saturating(std::int64_t& sum, std::int64_t value);
// Returns part / whole, or 0 if `whole` is not positive.
double fraction_of(RunTime part, RunTime whole);

}  // namespace groma::profile
