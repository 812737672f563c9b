// What a Legion program was seen to do (`groma record`), as an application.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "groma/app.h"
#include "groma/result.h"

namespace groma {

inline constexpr std::size_t kMaxRecordedBytes = std::size_t{64} << 20;

struct Recording {
  Application app;  // Workload::make takes it
  // What it does not say, or not as it was; a sentence each.
  std::vector<std::string> notes;
};

// The application, under that name, of what the preloaded library wrote at the end of a run. What
// repeats itself becomes loops; pieces of partitions and what each launch works on become formulas.
// The same text gives the same application. Fails (kMalformed, kTooLarge) on any other text;
// bounded in time and memory by its size.
Result<Recording> recorded_application(std::string_view recorded, const std::string& name);

}  // namespace groma
