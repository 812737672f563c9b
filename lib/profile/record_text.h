// Writes RunRecords (records of measured runs) as text and reads them. The library inside a Legion
// program passes its record in this form to the command that started the program.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "groma/result.h"
#include "groma/run_record.h"

namespace groma::profile {

// Limits on the record of a real run. A note in the record says how many events and allocations
// exceed the limits.
inline constexpr std::size_t kMaxRecordedEvents = std::size_t{1} << 18;
inline constexpr std::size_t kMaxRecordedAllocations = std::size_t{1} << 17;
inline constexpr std::size_t kMaxRecordBytes = std::size_t{128} << 20;

// Returns the record of a run as text.
std::string text_of(const RunRecord& record);

// Reads the record of a run from a text that text_of() wrote. In the result, no time is negative,
// no interval ends before it begins, and the cause of an event is an earlier event. Fails with
// kMalformed on any other text. The time and the memory for reading are proportional to the size of
// the text.
Result<RunRecord> run_record_from(std::string_view text);

}  // namespace groma::profile
