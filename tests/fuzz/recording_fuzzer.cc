// What the preloaded library wrote of a run, or a stranger: it becomes an application that
// Workload::make takes, or a profile, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "groma/profile.h"
#include "groma/recording.h"
#include "groma/workload.h"
#include "profile/record_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto recorded = groma::recorded_application(text, "fuzz");
  if (recorded.ok() && !groma::Workload::make(recorded->app).ok()) std::abort();
  auto run = groma::profile::run_record_from(text);
  if (run.ok()) {
    const auto record = std::make_shared<const groma::RunRecord>(std::move(run).value());
    const groma::Profile profile = groma::make_profile(record);
    groma::RunTime sum = 0;
    for (const auto& segment : profile.path) sum += segment.end - segment.begin;
    if (sum != profile.total) std::abort();
    if (groma::draw(profile, {}).empty() || groma::to_html(profile, {}).empty()) std::abort();
  }
  return 0;
}
