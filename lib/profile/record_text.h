// RunRecords as text: what the library in a Legion program hands to the command that started it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "groma/result.h"
#include "groma/run_record.h"

namespace groma::profile {

// Of a real run: what is more is counted in a note.
inline constexpr std::size_t kMaxRecordedEvents = std::size_t{1} << 18;
inline constexpr std::size_t kMaxRecordedAllocations = std::size_t{1} << 17;
inline constexpr std::size_t kMaxRecordBytes = std::size_t{128} << 20;

std::string text_of(const RunRecord& record);

// The inverse. Times are not negative and in their order, causes come before what they caused.
// Fails (kMalformed) on any other text; bounded in time and memory by its size.
Result<RunRecord> run_record_from(std::string_view text);

}  // namespace groma::profile
