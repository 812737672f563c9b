// Writes and reads RunRecords as text, which the library in a Legion program passes to the command
// that started it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "groma/result.h"
#include "groma/run_record.h"

namespace groma::profile {

// Limits on the record of a real run. Events and allocations beyond them are counted in a note.
inline constexpr std::size_t kMaxRecordedEvents = std::size_t{1} << 18;
inline constexpr std::size_t kMaxRecordedAllocations = std::size_t{1} << 17;
inline constexpr std::size_t kMaxRecordBytes = std::size_t{128} << 20;

// Returns the record as text.
std::string text_of(const RunRecord& record);

// Reads the text of text_of(). In the result, times are not negative and are ordered, and causes
// precede their effects. Fails with kMalformed on any other text. Time and memory are bounded by
// the size of the text.
Result<RunRecord> run_record_from(std::string_view text);

}  // namespace groma::profile
