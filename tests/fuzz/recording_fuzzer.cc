// What the preloaded library wrote of a run, or a stranger: it becomes an application that
// Workload::make takes, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "groma/recording.h"
#include "groma/workload.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto recorded = groma::recorded_application(text, "fuzz");
  if (recorded.ok() && !groma::Workload::make(recorded->app).ok()) std::abort();
  return 0;
}
