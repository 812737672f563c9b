// Recording: describes what a Legion program did in one run (`groma record`) as an application.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "groma/app.h"
#include "groma/result.h"

namespace groma {

inline constexpr std::size_t kMaxRecordedBytes = std::size_t{64} << 20;

// The application of a recorded run.
struct Recording {
  // The application that describes the run. Workload::make accepts it.
  Application app;
  // Sentences that say what the application leaves out, or describes differently from the run.
  std::vector<std::string> notes;
};

// Makes the application, with this name, from the text that the preloaded library wrote at the end
// of a run. Repetitions become loops. Pieces of partitions and the data of each launch become
// formulas. The result is deterministic. Fails with kMalformed or kTooLarge on any other text. Time
// and memory are bounded by the size of the text.
Result<Recording> recorded_application(std::string_view recorded, const std::string& name);

}  // namespace groma
